"""Plans fitted to tables: names, columns, widths, nullability, and types that the plan leaves open."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
import pytest

import pyspark_substrait as ps
from pyspark_substrait.builder import read
from pyspark_substrait.errors import InvalidPlanError, TableError, UnsupportedPlanError
from pyspark_substrait.model.plan import RelRoot
from tests.agreement import assert_same_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: a table in another order, with other widths and a column more than the plans below say
ORDERS = pa.table(
    {
        "Note": pa.array(["a", None, "c", "ü"]),
        "quantity": pa.array([5, 2, None, 9], pa.int64()),
        "extra": pa.array([1.5, 2.5, 3.5, 4.5]),
        "id": pa.array([1, 2, 3, 4], pa.int16()),
        "price": pa.array([Decimal("1.5"), Decimal("2.5"), None, Decimal("4.5")], pa.decimal128(6, 1)),
    }
)
STATED = pa.schema(
    [
        pa.field("ID", pa.int64(), nullable=False),
        pa.field("QUANTITY", pa.int32()),
        pa.field("PRICE", pa.decimal128(10, 2)),
        pa.field("NOTE", pa.string()),
    ]
)


def plan() -> Any:
    """A plan of a producer that writes all names in upper case."""
    frame = read("ORDERS", STATED).filter(lambda t: (t.QUANTITY > 1) | t.NOTE.is_null())
    return frame.select("ID", lambda t: (t.PRICE * 2).alias("twice"), "NOTE", "QUANTITY").to_plan()


def in_duckdb(text: str, **tables: pa.Table) -> pa.Table:
    with duckdb.connect() as connection:
        for name, table in tables.items():
            connection.register(name, table)
        return connection.sql(text).to_arrow_table()


QUERY = "SELECT id, price * 2, note, quantity FROM orders WHERE quantity > 1 OR note IS NULL"


def rules(bound: Any) -> list[tuple[str, str, str]]:
    return [(note.rule, note.before, note.after) for note in bound.notes if note.rule.startswith(("bound", "unbound"))]


def test_a_bound_plan_reads_the_table_as_it_is(spark: SparkSession) -> None:
    bound = ps.bind(plan(), {"orders": ORDERS})
    node = next(node for node in _reads(bound))
    assert node.base_schema.names == ("Note", "quantity", "extra", "id", "price")
    assert [str(type) for type in node.base_schema.struct.types] == [
        "string?",
        "i64?",
        "fp64?",
        "i16?",
        "decimal?<6, 1>",
    ]
    assert rules(bound) == [
        ("bound-table", "the table ORDERS", "the table orders"),
        ("bound-column", "ID as i64", "cast from i16?, as it is in the table orders"),
        ("bound-column", "QUANTITY as i32?", "cast from i64?, as it is in the table orders"),
        ("bound-column", "PRICE as decimal?<10, 2>", "cast from decimal?<6, 1>, as it is in the table orders"),
    ]
    found = ps.run_query(bound, tables={"orders": ORDERS}, spark=spark)
    assert found.schema.names == ["ID", "twice", "NOTE", "QUANTITY"]
    assert_same_rows(found, in_duckdb(QUERY, orders=ORDERS))
    assert ps.validate(bound).ok
    assert ps.bind(bound, {"orders": ORDERS}).relations == bound.relations


def test_it_runs_on_the_engine_whose_session_was_asked(spark: SparkSession) -> None:
    datafusion = pytest.importorskip("datafusion")
    substrait = pytest.importorskip("datafusion.substrait")
    context = datafusion.SessionContext()
    context.from_arrow(ORDERS, name="orders")
    made = ps.for_target(plan(), "datafusion", tables=context)
    logical = substrait.Consumer.from_substrait_plan(context, substrait.Serde.deserialize_bytes(made.to_bytes()))
    found = context.create_dataframe_from_logical_plan(logical).to_arrow_table()
    assert_same_rows(found, in_duckdb(QUERY, orders=ORDERS))


def test_the_schema_of_a_folder_is_that_of_its_first_file_of_data(tmp_path: Path) -> None:
    hidden = tmp_path / "_checks"
    hidden.mkdir()
    (hidden / "0.json").write_text("{}")
    (tmp_path / ".part.crc").write_text("")
    pq.write_table(ORDERS, tmp_path / "part.parquet")
    assert ps.bind(plan(), {"orders": tmp_path}) == ps.bind(plan(), {"orders": ORDERS.schema})
    csv = tmp_path / "csv"
    csv.mkdir()
    pcsv.write_csv(ORDERS.select(["id"]), csv / "part.csv")
    found = ps.from_sql("SELECT * FROM t", tables={"t": csv}, engine="datafusion")
    (root,) = found.relations
    assert isinstance(root, RelRoot) and root.names == ("id",)


def test_a_folder_of_a_table_with_a_log_is_refused(tmp_path: Path) -> None:
    (tmp_path / "_delta_log").mkdir()
    pq.write_table(ORDERS, tmp_path / "part.parquet")
    with pytest.raises(TableError, match="given for orders, belongs to a table of Delta"):
        ps.bind(plan(), {"orders": tmp_path})


def test_tables_may_be_given_in_every_form(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "orders.parquet"
    pq.write_table(ORDERS, file)
    frame = spark.read.parquet(str(file))
    frame.createOrReplaceTempView("orders")
    connection = duckdb.connect()
    connection.execute(f"CREATE VIEW orders AS FROM '{file}'")
    try:
        forms: list[Any] = [
            {"orders": ORDERS.schema},
            {"orders": ORDERS},
            {"orders": file},
            {("orders",): str(tmp_path)},
            {"orders": frame},
            {"orders": frame.schema},
            {"orders": ORDERS.to_reader()},
            spark,
            connection,
        ]
        expected = next(_reads(ps.bind(plan(), {"orders": ORDERS})))
        for form in forms:
            found = next(_reads(ps.bind(plan(), form)))
            assert found.base_schema == expected.base_schema, form
            # Spark's own catalog finds names in any case
            assert found.read_type.names == (("ORDERS",) if form is spark else ("orders",))
    finally:
        connection.close()
        spark.catalog.dropTempView("orders")


def test_a_folder_is_of_the_format_of_its_first_file(tmp_path: Path) -> None:
    pq.write_table(ORDERS, tmp_path / "part.parquet")
    (tmp_path / "_SUCCESS.csv").write_text("x\n1\n")
    (tmp_path / "summary.csv").write_text("x\n1\n")
    assert ps.bind(plan(), {"orders": tmp_path}).relations == ps.bind(plan(), {"orders": ORDERS}).relations


def test_the_table_may_have_another_name() -> None:
    bound = ps.bind(plan(), {"sales.facts": ORDERS}, rename={"ORDERS": "sales.facts"})
    assert [node.read_type.names for node in _reads(bound)] == [("sales", "facts")]


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"lines": ORDERS}, r"there is no table ORDERS.*Tables given: lines"),
        ({"orders": ORDERS, "Orders": ORDERS}, r"ORDERS may be each of Orders, orders"),
        (
            {"orders": ORDERS.drop_columns("price")},
            r"the table orders has no column PRICE.*Its columns: Note, quantity",
        ),
        (
            {"orders": ORDERS.set_column(1, "quantity", pa.array(["x"] * 4))},
            r"QUANTITY is string\? in the table orders, and i32\? in the plan",
        ),
        (
            {"orders": ORDERS.set_column(4, "price", pa.array([Decimal("1.234")] * 4))},
            r"PRICE is decimal\?<4, 3> in the table orders, and decimal\?<10, 2> in the plan",
        ),
        ({"orders": 7}, r"the table orders is given as a int"),
        ({"orders": "nowhere.parquet"}, r"the schema of the table orders cannot be read from nowhere.parquet"),
        (3, r"the tables are given as a int"),
    ],
)
def test_what_does_not_fit_is_said(tables: Any, message: str) -> None:
    with pytest.raises(TableError, match=message):
        ps.bind(plan(), tables)


def test_a_value_that_does_not_fit_is_an_error(spark: SparkSession) -> None:
    large = ORDERS.set_column(1, "quantity", pa.array([5, 2, None, 2**40]))
    with pytest.raises(ps.ExecutionError):
        ps.run_query(ps.bind(plan(), {"orders": large}), tables={"orders": large}, spark=spark)


#: a plan with filters inside its read and a mask over the columns, as its message
FILTERED = {
    "version": {"minorNumber": 100},
    "extensionUrns": [{"extensionUrnAnchor": 1, "urn": "extension:io.substrait:functions_comparison"}],
    "extensions": [{"extensionFunction": {"extensionUrnReference": 1, "functionAnchor": 1, "name": "gt:any_any"}}],
    "relations": [
        {
            "root": {
                "names": ["note", "id"],
                "input": {
                    "read": {
                        "common": {"emit": {"outputMapping": [1, 0]}},
                        "baseSchema": {
                            "names": ["id", "quantity", "note"],
                            "struct": {
                                "nullability": "NULLABILITY_REQUIRED",
                                "types": [
                                    {"i64": {"nullability": "NULLABILITY_NULLABLE"}},
                                    {"i32": {"nullability": "NULLABILITY_NULLABLE"}},
                                    {"unbound": {}},
                                ],
                            },
                        },
                        "filter": {
                            "scalarFunction": {
                                "functionReference": 1,
                                "outputType": {"bool": {"nullability": "NULLABILITY_NULLABLE"}},
                                "arguments": [
                                    {
                                        "value": {
                                            "selection": {
                                                "directReference": {"structField": {"field": 1}},
                                                "rootReference": {},
                                            }
                                        }
                                    },
                                    {"value": {"literal": {"i32": 2}}},
                                ],
                            }
                        },
                        "projection": {
                            "select": {"structItems": [{"field": 0}, {"field": 2}]},
                            "maintainSingularStruct": True,
                        },
                        "namedTable": {"names": ["orders"]},
                    }
                },
            }
        }
    ],
}


def test_filters_and_masks_of_a_read_follow_its_columns(spark: SparkSession) -> None:
    bound = ps.bind(FILTERED, {"orders": ORDERS})
    expected = in_duckdb("SELECT note, id FROM orders WHERE quantity > 2", orders=ORDERS)
    assert_same_rows(ps.run_query(bound, tables={"orders": ORDERS}, spark=spark), expected)
    assert next(_reads(bound)).filter is not None
    # the plan leaves a type open, so that a run binds by itself
    assert_same_rows(ps.run_query(FILTERED, tables={"orders": ORDERS}, spark=spark), expected)


def nameless() -> dict[str, Any]:
    """A plan whose columns have names and no types, as older releases of DataFusion wrote it."""
    message = json.loads(plan().to_json())
    schema = message["relations"][0]["root"]["input"]
    while "read" not in schema:
        schema = next(iter(schema.values()))["input"]
    del schema["read"]["baseSchema"]["struct"]
    text = json.dumps(message)
    return dict(json.loads(text))


def test_a_plan_without_types_loads_and_says_so(spark: SparkSession) -> None:
    loaded = ps.load(nameless())
    assert ("unbound-columns", "a schema of 4 names, without types", "columns whose types are unbound") in rules(loaded)
    assert "unbound" in str(ps.explain(loaded))
    found = [finding for finding in ps.validate(nameless()).findings if finding.code == ps.Code.TYPE_UNBOUND]
    assert len(found) == 1
    assert "ID, QUANTITY, PRICE, NOTE" in found[0].what
    with pytest.raises(UnsupportedPlanError, match=r"leaves types of the columns of ORDERS open.*bind\(plan, tables\)"):
        ps.to_sql(loaded)
    with pytest.raises(InvalidPlanError, match="without types"):
        ps.load(nameless(), strict=True)
    # written, its types are unbound, and so they are read
    assert ps.load(loaded.to_bytes()).relations == loaded.relations
    table = ORDERS.rename_columns(["NOTE", "QUANTITY", "EXTRA", "ID", "PRICE"])
    expected = in_duckdb(QUERY, orders=ORDERS)
    assert_same_rows(ps.run_query(loaded, tables={"ORDERS": table}, spark=spark), expected)
    assert_same_rows(
        ps.run_query(ps.bind(loaded, {"orders": ORDERS}), tables={"orders": ORDERS}, spark=spark), expected
    )


def test_a_profile_takes_the_types_as_well(spark: SparkSession) -> None:
    table = ORDERS.rename_columns(["NOTE", "QUANTITY", "EXTRA", "ID", "PRICE"])
    assert "ORDERS" in str(ps.profile(nameless(), spark, tables={"ORDERS": table}))


def test_two_columns_of_a_name_are_refused_where_one_is_needed() -> None:
    table = pa.Table.from_arrays([ORDERS[0], *ORDERS.columns], ["id", *ORDERS.column_names])
    with pytest.raises(TableError, match="the table orders has 2 columns ID"):
        ps.bind(plan(), {"orders": table.schema})


def test_wide_tables_take_no_longer_than_their_width_warrants() -> None:
    names = [f"C{number}" for number in range(5000)]
    stated = read("WIDE", pa.schema([(name, pa.int64()) for name in names])).select("C7").to_plan()
    bound = ps.bind(stated, {"wide": pa.schema([(name.lower(), pa.int64()) for name in reversed(names)])})
    assert next(_reads(bound)).base_schema.names[0] == "c4999"


def test_a_run_without_the_table_says_so(spark: SparkSession) -> None:
    spark.range(1).createOrReplaceTempView("one_more")
    try:
        with pytest.raises(TableError, match="there is no table ORDERS") as caught:
            ps.run_query(nameless(), tables={"others": ORDERS}, spark=spark)
    finally:
        spark.catalog.dropTempView("one_more")
    assert "one_more, others" in str(caught.value)


def test_nested_columns_keep_their_names(spark: SparkSession) -> None:
    inner = pa.struct([("city", pa.string()), ("zip", pa.int32())])
    table = pa.table(
        {
            "n": pa.array([1, 2], pa.int32()),
            "address": pa.array([{"city": "Rome", "zip": 1}, None], inner),
            "tags": pa.array([["x"], []], pa.list_(pa.string())),
        }
    )
    frame = read("people", pa.schema([("tags", pa.list_(pa.string())), ("address", inner)]))
    stated = frame.select("address", "tags").to_plan()
    bound = ps.bind(stated, {"People": table})
    found = ps.run_query(bound, tables={"People": table}, spark=spark)
    assert found.to_pylist() == [
        {"address": {"city": "Rome", "zip": 1}, "tags": ["x"]},
        {"address": None, "tags": []},
    ]
    message = json.loads(stated.to_json())
    root = message["relations"][0]["root"]["input"]["project"]["input"]["read"]["baseSchema"]
    assert root["names"] == ["tags", "address", "city", "zip"]
    del root["struct"]  # the names of the fields inside stay
    assert ps.run_query(message, tables={"people": table}, spark=spark).to_pylist() == found.to_pylist()


@pytest.mark.sweep
def test_the_plans_of_isthmus_run_on_datafusion(tpch: dict[str, Path], shared: Path, spark: SparkSession) -> None:
    """21 plans whose tables and columns are in upper case, with a width that differs; Spark's rows are the measure."""
    datafusion = pytest.importorskip("datafusion")
    substrait = pytest.importorskip("datafusion.substrait")
    context = datafusion.SessionContext()
    for name, path in tpch.items():
        context.register_parquet(name, str(path))
    files = sorted((shared / "plans/tpch/isthmus").glob("*.json"))
    assert len(files) == 21
    tables = {name: str(path) for name, path in tpch.items()}
    for file in files:
        made = ps.for_target(file, "datafusion", tables=context)
        logical = substrait.Consumer.from_substrait_plan(context, substrait.Serde.deserialize_bytes(made.to_bytes()))
        found = context.create_dataframe_from_logical_plan(logical).to_arrow_table()
        assert_same_rows(found, ps.run_query(ps.bind(file, tables), tables=tables, spark=spark), places=6)


def _reads(plan: Any) -> Any:
    from pyspark_substrait.model.relations import Read
    from pyspark_substrait.model.walk import relations_within

    return (node for node in relations_within(*(tree.input for tree in plan.relations)) if isinstance(node, Read))
