"""Plans that read and write tables of PostgreSQL through JDBC, and what PostgreSQL itself says of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, datetime, timezone
from decimal import Decimal as D
from itertools import count
from typing import Any

import pytest

from pyspark_substrait.errors import ExecutionError, SubstraitError, TableError, UnsupportedPlanError
from pyspark_substrait.model.expressions import Cast, FailureBehavior, SortDirection
from pyspark_substrait.model.relations import (
    CreateMode,
    Ddl,
    DdlObject,
    DdlOp,
    Fetch,
    NamedObjectWrite,
    OutputMode,
    Relation,
    Sort,
    Write,
    WriteOp,
)
from pyspark_substrait.model.types import (
    Binary,
    Date,
    Decimal,
    FixedChar,
    List,
    NamedStruct,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    Type,
    VarChar,
)
from tests.integration import postgresql
from tests.integration.session import Session, session, spark_for
from tests.spark import plans
from tests.spark.plans import BOOL_, INT, INT_, LONG, LONG_, REAL_, TEXT_, aggregate, call, col, long, number, text

pytestmark = pytest.mark.sweep(sample=0)

NAMES = count(1)
MOMENT = PrecisionTimestampTZ(nullable=True, precision=6)


@pytest.fixture(scope="module")
def server() -> Iterator[postgresql.Server]:
    spark_for("jdbc")
    with postgresql.server() as found:
        yield found


@pytest.fixture(scope="module")
def jdbc(server: postgresql.Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    settings = {
        f"spark.sql.catalog.{name}{option}": value
        for name in ("pg", "unpushed")
        for option, value in (
            ("", "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog"),
            (".url", server.url),
            (".driver", "org.postgresql.Driver"),
        )
    }
    settings["spark.sql.catalog.unpushed.pushDownPredicate"] = "false"
    with session("jdbc", tmp_path_factory.mktemp("jdbc"), settings) as found:
        yield found


class Place:
    """A table of PostgreSQL, which Spark knows as a table of a catalog or as a temporary view."""

    def __init__(self, server: postgresql.Server, jdbc: Session, *, by_view: bool) -> None:
        self.server, self.jdbc, self.by_view = server, jdbc, by_view
        self.name = f"t{next(NAMES)}"
        self.names = (f"view_{self.name}",) if by_view else ("pg", "public", self.name)

    def made(self, columns: str, values: str, **options: str) -> None:
        """Make the table in PostgreSQL, and let Spark know it."""
        self.server.run(f"CREATE TABLE {self.name} ({columns}); INSERT INTO {self.name} VALUES {values}")
        if self.by_view:
            self.view(f"public.{self.name}", **options)

    def view(self, table: str, **options: str) -> None:
        given = {"url": self.server.url, "dbtable": table, "driver": "org.postgresql.Driver", **options}
        listed = ", ".join(f"{key} {json.dumps(value)}" for key, value in given.items())
        self.jdbc.sql(f"CREATE OR REPLACE TEMPORARY VIEW view_{self.name} USING jdbc OPTIONS ({listed})")

    def read(self, **columns: Type) -> Any:
        return plans.stored(self.names, columns)

    def asked(self, node: Relation) -> tuple[list[tuple[Any, ...]], str]:
        """The records of a relation, and the query that PostgreSQL saw."""
        with self.server.asked() as queries:
            found = self.jdbc.rows(node)
        assert len(queries) == 1, queries
        return found, queries[0]


@pytest.fixture(params=["catalog", "view"])
def place(request: pytest.FixtureRequest, server: postgresql.Server, jdbc: Session) -> Place:
    return Place(server, jdbc, by_view=request.param == "view")


@pytest.fixture
def in_catalog(server: postgresql.Server, jdbc: Session) -> Place:
    return Place(server, jdbc, by_view=False)


@pytest.fixture
def by_view(server: postgresql.Server, jdbc: Session) -> Place:
    return Place(server, jdbc, by_view=True)


# queries --------------------------------------------------------------------------------------------------------------


def test_plans_of_queries(in_catalog: Place) -> None:
    in_catalog.made("a INT, b TEXT", "(1, 'x'), (2, NULL), (3, 'y')")
    jdbc, name = in_catalog.jdbc, f"pg.public.{in_catalog.name}"
    jdbc.has_a_plan_of(f"SELECT a, b FROM {name} WHERE a > 1")
    # a table of Spark's own catalog, whose data is there
    options = f"url '{in_catalog.server.url}', dbtable 'public.{in_catalog.name}', driver 'org.postgresql.Driver'"
    jdbc.sql(f"CREATE TABLE listed_{in_catalog.name} USING jdbc OPTIONS ({options})")
    jdbc.has_a_plan_of(f"SELECT count(b), max(a) FROM listed_{in_catalog.name}")


# values ---------------------------------------------------------------------------------------------------------------


def test_types(place: Place) -> None:
    place.made(
        "i INT NOT NULL, b BIGINT, p NUMERIC(9, 2), t TEXT, d DATE, tz TIMESTAMPTZ, f FLOAT8, o BOOLEAN, y BYTEA, "
        "u UUID, a INT[]",
        "(1, 9223372036854775807, 12.34, 'x  ', '2020-02-29', '2020-02-29 23:30:00.123456+02', 'NaN', true, "
        "'\\x00ff', '00112233-4455-6677-8899-aabbccddeeff', '{1,NULL}'), "
        "(2, NULL, NULL, '', '1500-03-01', '1500-03-01 00:00:00+00', '-Infinity', false, NULL, NULL, NULL), "
        "(3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
    )
    price, day = Decimal(nullable=True, precision=9, scale=2), Date(nullable=True)
    exact = place.read(i=INT, b=LONG_, p=price, t=TEXT_, d=day, tz=MOMENT, o=BOOL_, y=Binary(nullable=True), u=TEXT_)
    utc = timezone.utc
    assert place.jdbc.rows(exact) == [
        (
            1,
            9223372036854775807,
            D("12.34"),
            "x  ",
            date(2020, 2, 29),
            datetime(2020, 2, 29, 21, 30, 0, 123456, utc),
            True,
            b"\x00\xff",
            "00112233-4455-6677-8899-aabbccddeeff",
        ),
        (2, None, None, "", date(1500, 3, 1), datetime(1500, 3, 1, tzinfo=utc), False, None, None),
        (3, None, None, None, None, None, None, None, None),
    ]
    floats = place.jdbc.rows(place.read(i=INT, f=REAL_))
    assert repr(floats) == "[(1, nan), (2, -inf), (3, None)]"
    numbers = List(nullable=True, type=INT_)
    assert place.jdbc.rows(place.read(i=INT, a=numbers)) == [(1, [1, None]), (2, None), (3, None)]
    with pytest.raises(TableError, match="p is decimal"):
        place.jdbc.rows(place.read(p=Decimal(nullable=True, precision=9, scale=1)))


def test_char_and_varchar(place: Place) -> None:
    place.made("i INT, c CHAR(5), v VARCHAR(5)", "(1, 'ab', 'ab '), (2, 'abcde', 'ab'), (3, NULL, NULL)")
    table = place.read(i=INT_, c=FixedChar(nullable=True, length=5), v=VarChar(nullable=True, length=5))
    assert place.jdbc.rows(table) == [(1, "ab   ", "ab "), (2, "abcde", "ab"), (3, None, None)]
    # the value itself is padded, and PostgreSQL pads it too
    padded = plans.lit(FixedChar(length=5), "ab   ")
    assert place.jdbc.rows(plans.where(table, call("equal", col(table, 1), padded))) == [(1, "ab   ", "ab ")]
    assert place.server.run(f"SELECT i FROM {place.name} WHERE c = 'ab   '") == [("1",)]
    exact = place.read(i=INT_, v=TEXT_)
    found, query = place.asked(plans.where(exact, call("equal", col(exact, 1), text("ab"))))
    assert found == [(2, "ab")]
    assert "\"v\" = 'ab'" in query


def test_a_char_column_read_as_text_is_text(place: Place) -> None:
    """In SQL, a CHAR equals a text that is shorter; two values of the type string are equal or not."""
    place.made("i INT, c CHAR(5)", "(1, 'ab'), (2, 'abcde')")
    table = place.read(i=INT_, c=TEXT_)
    assert place.jdbc.rows(plans.where(table, call("equal", col(table, 1), text("ab")))) == []
    assert place.jdbc.rows(plans.where(table, call("equal", col(table, 1), text("ab   ")))) == [(1, "ab   ")]


def test_numeric_without_precision_has_18_digits_behind_the_point(place: Place) -> None:
    """Spark rounds what has more; the page says so, and how to read all digits."""
    place.made("i INT, n NUMERIC", "(1, 1.5), (2, 0.12345678901234567890), (3, NULL)")
    table = place.read(i=INT_, n=Decimal(nullable=True, precision=38, scale=18))
    assert place.jdbc.rows(table) == [(1, D("1.5")), (2, D("0.123456789012345679")), (3, None)]
    place.server.run(f"INSERT INTO {place.name} VALUES (4, 1e30)")
    with pytest.raises(ExecutionError):
        place.jdbc.rows(table)
    place.view(f"(SELECT i, n::NUMERIC(38, 20) AS n FROM {place.name} WHERE i < 4) AS t")
    exact = plans.stored(f"view_{place.name}", {"i": INT_, "n": Decimal(nullable=True, precision=38, scale=20)})
    assert place.jdbc.rows(exact) == [(1, D("1.5")), (2, D("0.12345678901234567890")), (3, None)]


def test_timestamps_without_time_zone(by_view: Place) -> None:
    at = "2020-02-29 23:30:00.123456"
    by_view.made("i INT, ts TIMESTAMP, tz TIMESTAMPTZ", f"(1, '{at}', '{at}+02'), (2, NULL, NULL)")
    local = PrecisionTimestamp(nullable=True, precision=6)
    # Spark takes it for a moment of the session's time zone, unless the table's option says otherwise
    with pytest.raises(TableError, match="ts is timestamp"):
        by_view.jdbc.rows(by_view.read(i=INT_, ts=local))
    by_view.view(f"public.{by_view.name}", preferTimestampNTZ="true")
    found = by_view.jdbc.rows(by_view.read(i=INT_, ts=local))
    assert found == [(1, datetime(2020, 2, 29, 23, 30, 0, 123456)), (2, None)]
    both = by_view.read(i=INT_, ts=local, tz=MOMENT)
    if by_view.jdbc.spark == "3.5":
        # there, the option is about both types
        with pytest.raises(TableError, match="tz is timestamp_ntz"):
            by_view.jdbc.rows(both)
        return
    wanted = datetime(2020, 2, 29, 21, 30, 0, 123456, timezone.utc)
    assert by_view.jdbc.rows(both) == [(1, datetime(2020, 2, 29, 23, 30, 0, 123456), wanted), (2, None, None)]


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo"])
def test_moments_are_compared_as_such_in_any_time_zone(place: Place, zone: str) -> None:
    place.made("i INT, tz TIMESTAMPTZ", "(1, '2020-02-29 11:30:00+00'), (2, '2020-02-29 23:30:00+00'), (3, NULL)")
    table = place.read(i=INT_, tz=MOMENT)
    place.jdbc.set("spark.sql.session.timeZone", zone)
    try:
        noon = plans.lit(PrecisionTimestampTZ(precision=6), 1582977600_000000)
        later = plans.where(table, call("gte", col(table, 1), noon))
        assert [row[0] for row in place.jdbc.rows(later)] == [2]
        earlier = plans.where(table, call("lt", col(table, 1), noon))
        assert [row[0] for row in place.jdbc.rows(earlier)] == [1]
    finally:
        place.jdbc.set("spark.sql.session.timeZone", "UTC")


def test_names_and_required_columns(place: Place) -> None:
    place.made('"Mixed Case" INT, plain INT', "(1, 2), (3, NULL)")
    mixed = {"mixed case": INT_, "PLAIN": INT_}
    assert place.jdbc.rows(place.read(**mixed)) == [(1, 2), (3, None)]
    with pytest.raises(TableError, match="has no column other"):
        place.jdbc.rows(place.read(other=INT_))
    # Spark doesn't know which columns of PostgreSQL are NOT NULL: they are looked at
    with pytest.raises(ExecutionError, match="plain is null"):
        place.jdbc.rows(place.read(plain=INT))


def test_what_is_not_there(jdbc: Session) -> None:
    for names in (("pg", "public", "nothing"), ("pg", "nothing", "nothing")):
        with pytest.raises(TableError, match="there is no table"):
            jdbc.rows(plans.stored(names, {"i": INT_}))


# what reaches PostgreSQL ----------------------------------------------------------------------------------------------

SALES = "id INT, city TEXT, amount NUMERIC(9, 2), day DATE"
SOLD = (
    "(1, 'a', 10.50, '2026-01-01'), (2, 'b', 20.00, '2026-01-02'), (3, 'a', NULL, '2026-01-03'), "
    "(4, NULL, 1.25, NULL), (5, 'b', 99.99, '2026-01-05')"
)
AMOUNT = Decimal(nullable=True, precision=9, scale=2)


def sold(place: Place) -> Any:
    place.made(SALES, SOLD)
    return place.read(id=INT_, city=TEXT_, amount=AMOUNT, day=Date(nullable=True))


def days(*ymd: int) -> int:
    return (date(*ymd) - date(1970, 1, 1)).days


@pytest.mark.parametrize(
    ("condition", "reaches", "wanted"),
    [
        (lambda t: call("gt", col(t, 0), number(3)), '"id" > 3', [4, 5]),
        (lambda t: call("equal", col(t, 1), text("a")), "\"city\" = 'a'", [1, 3]),
        (lambda t: call("is_null", col(t, 1)), '"city" IS NULL', [4]),
        (lambda t: call("gte", col(t, 2), plans.lit(Decimal(precision=9, scale=2), "20.00")), '"amount" >= 20', [2, 5]),
        (lambda t: call("lt", col(t, 3), plans.lit(Date(), days(2026, 1, 3))), "\"day\" < '2026-01-03'", [1, 2]),
        (
            lambda t: call("or", call("equal", col(t, 1), text("b")), call("lt", col(t, 0), number(2))),
            " OR ",
            [1, 2, 5],
        ),
    ],
    ids=["integers", "texts", "null", "decimals", "dates", "or"],
)
def test_filters(place: Place, condition: Any, reaches: str, wanted: list[int]) -> None:
    table = sold(place)
    found, query = place.asked(plans.project(plans.where(table, condition(table)), col(table, 0)))
    assert [row[0] for row in found] == wanted
    assert reaches in query
    asked_for = query.partition(" WHERE ")[2]
    assert [int(str(row[0])) for row in place.server.run(f"SELECT id FROM {place.name} WHERE {asked_for}")] == wanted


def test_only_needed_columns_are_asked_for(place: Place) -> None:
    table = sold(place)
    _, query = place.asked(plans.project(table, col(table, 1)))
    assert query.startswith('SELECT "city" FROM')


def test_limits_and_aggregates_reach_a_table_of_a_catalog(in_catalog: Place) -> None:
    table = sold(in_catalog)
    above = plans.where(table, call("gt", col(table, 0), number(1)))
    found, query = in_catalog.asked(Fetch(input=above, count_expr=long(2)))
    assert len(found) == 2
    assert query.endswith(" LIMIT 2")
    by_city = plans.group(table, [col(table, 1)], [aggregate("sum", col(table, 2)), aggregate("max", col(table, 0))])
    found, query = in_catalog.asked(by_city)
    assert "GROUP BY" in query and "SUM(" in query
    own = in_catalog.server.run(f"SELECT city, sum(amount), max(id) FROM {in_catalog.name} GROUP BY city")
    expected = [(city, None if total is None else D(total), int(str(last))) for city, total, last in own]
    assert found == plans.ordered(expected)
    ordered = Sort(input=table, sorts=(plans.sort(col(table, 2), SortDirection.DESC_NULLS_LAST),))
    first = plans.project(Fetch(input=ordered, count_expr=long(2)), col(table, 0))
    found, query = in_catalog.asked(first)
    assert found == [(2,), (5,)]
    assert "LIMIT 2" in query and "DESC NULLS LAST" in query


def test_limits_of_a_view_are_sparks(by_view: Place) -> None:
    table = sold(by_view)
    found, query = by_view.asked(Fetch(input=table, count_expr=long(2)))
    assert len(found) == 2
    assert "LIMIT" not in query


def test_the_order_of_texts_is_that_of_postgresql(place: Place) -> None:
    """Comparisons of texts that reach PostgreSQL are made there: the page says how they become those of the plan."""
    if not place.server.run("SELECT 1 FROM pg_collation WHERE collname = 'en-x-icu'"):
        pytest.skip("this PostgreSQL has no ICU")
    place.made('id INT, x TEXT COLLATE "en-x-icu"', "(1, 'a'), (2, 'B'), (3, 'b'), (4, 'A'), (5, NULL)")
    table = place.read(id=INT_, x=TEXT_)
    below = plans.where(table, call("lt", col(table, 1), text("b")))
    found, query = place.asked(below)
    assert "\"x\" < 'b'" in query
    assert [row[0] for row in found] == [1, 4]  # of the plan's bytes, it would be 1, 2 and 4
    place.view(f'(SELECT id, x COLLATE "C" AS x FROM {place.name}) AS t')
    exact = plans.stored(f"view_{place.name}", {"id": INT_, "x": TEXT_})
    assert [row[0] for row in place.jdbc.rows(plans.where(exact, call("lt", col(exact, 1), text("b"))))] == [1, 2, 4]


@pytest.mark.parametrize(
    ("name", "operator", "literal"),
    [
        ("equal", "=", "00112233-4455-6677-8899-AABBCCDDEEFF"),
        ("equal", "=", "00112233-4455-6677-8899-aabbccddeeff"),
        ("equal", "=", "no uuid"),
        ("gt", ">", "low"),
        ("lt", "<", "zzz"),
        ("equal", "=", '{"a":1}'),
        ("equal", "=", "24:00:00"),
    ],
)
def test_what_is_read_as_text_is_compared_as_text(place: Place, name: str, operator: str, literal: str) -> None:
    """Not as a uuid, an enumeration, a document, a duration: the plan says that they are texts."""
    if place.jdbc.spark in ("3.5", "4.0"):
        pytest.skip("Spark says what the columns are in the database since 4.1")
    place.server.run("DROP TYPE IF EXISTS height CASCADE; CREATE TYPE height AS ENUM ('low', 'middle', 'high')")
    place.made(
        "id INT, u UUID, e height, j JSONB, i INTERVAL",
        """(1, '00112233-4455-6677-8899-aabbccddeeff', 'high', '{"a": 1}', '1 day'), (2, NULL, 'middle', NULL, NULL)""",
    )
    for column in "ueji":
        table = place.read(id=INT_, **{column: TEXT_})
        found = place.jdbc.rows(plans.where(table, call(name, col(table, 1), text(literal))))
        wanted = place.server.run(
            f"SELECT id, {column} FROM {place.name} WHERE {column}::text COLLATE \"C\" {operator} '{literal}'"
        )
        assert found == plans.ordered([(int(str(id)), value) for id, value in wanted]), column


def test_casts_are_those_of_the_plan_where_they_are_not_sent(place: Place) -> None:
    """A catalog sends them, and PostgreSQL rounds; a view doesn't, nor does a catalog that is told so."""
    place.made("id INT, n NUMERIC(5, 2)", "(1, 2.50), (2, 3.50), (3, NULL)")
    names = place.names if place.by_view else ("unpushed", "public", place.name)
    table = plans.stored(names, {"id": INT_, "n": Decimal(nullable=True, precision=5, scale=2)})
    whole = Cast(type=INT_, input=col(table, 1), failure_behavior=FailureBehavior.THROW_EXCEPTION)
    is_3 = plans.project(plans.where(table, call("equal", whole, number(3))), col(table, 0))
    found, query = place.asked(is_3)
    assert found == [(2,)]
    assert "CAST" not in query


# writing --------------------------------------------------------------------------------------------------------------

RECORD = plans.schema((INT_, TEXT_), ("id", "title"))


def records(*rows: tuple[Any, ...]) -> Any:
    return plans.values((INT_, TEXT_), rows)


def write(place: Place, op: WriteOp, input: Relation, schema: NamedStruct = RECORD, **more: Any) -> Write:
    target = NamedObjectWrite(names=place.names)
    return Write(write_type=target, table_schema=schema, op=op, input=input, **more)


def test_insert(in_catalog: Place) -> None:
    place = in_catalog
    place.made("title VARCHAR(5), id INT NOT NULL, more BIGINT", "('z', 0, 1)")
    assert place.jdbc.rows(write(place, WriteOp.INSERT, records((1, "a"), (2, None), (3, "")))) == []
    returned = write(place, WriteOp.INSERT, records((4, "c")), output=OutputMode.MODIFIED_RECORDS)
    assert place.jdbc.rows(returned) == [(4, "c")]
    own = f"SELECT id, title, more FROM {place.name} ORDER BY id"
    content = [("0", "z", "1"), ("1", "a", None), ("2", None, None), ("3", "", None), ("4", "c", None)]
    assert place.server.run(own) == content
    with pytest.raises(ExecutionError, match="takes 5 characters"):
        place.jdbc.rows(write(place, WriteOp.INSERT, records((5, "ok"), (6, "too long"))))
    with pytest.raises(ExecutionError, match="null"):
        place.jdbc.rows(write(place, WriteOp.INSERT, records((7, "ok"), (None, "x"))))
    assert place.server.run(own) == content


def test_values_of_the_database_are_not_replaced_by_null(in_catalog: Place) -> None:
    """Spark writes null to columns that an INSERT leaves out, where PostgreSQL would have a value."""
    place = in_catalog
    place.made("id SERIAL, title TEXT, n INT DEFAULT 5, plain INT, twice INT GENERATED ALWAYS AS (3 + 4) STORED", "(0)")
    for columns in ({"id": INT_, "n": INT_}, {"id": INT_}, {"n": INT_}):
        schema = plans.schema(tuple(columns.values()), tuple(columns))
        rows = plans.values(tuple(columns.values()), [(1,) * len(columns)])
        with pytest.raises(TableError, match="Spark would write null instead of what the database has"):
            place.jdbc.rows(write(place, WriteOp.INSERT, rows, schema))
    assert place.server.run(f"SELECT * FROM {place.name}") == [("0", None, "5", None, "7")]
    place.server.run(f"ALTER TABLE {place.name} DROP COLUMN twice")
    both = plans.schema((INT_, INT_), ("id", "n"))
    assert place.jdbc.rows(write(place, WriteOp.INSERT, plans.values((INT_, INT_), [(1, None)]), both)) == []
    assert place.server.run(f"SELECT * FROM {place.name} ORDER BY id") == [
        ("0", None, "5", None),
        ("1", None, None, None),
    ]


def test_an_insert_that_fails_leaves_nothing(in_catalog: Place) -> None:
    """The records of all partitions are one transaction."""
    place = in_catalog
    place.made("id BIGINT CHECK (id <> 900)", "(0)")
    place.jdbc.sql("CREATE OR REPLACE TEMPORARY VIEW thousand AS SELECT id FROM range(1, 1001, 1, 4)")
    schema = plans.schema((LONG,), ("id",))
    many = plans.stored("thousand", {"id": LONG})
    with pytest.raises(ExecutionError, match="check"):
        place.jdbc.rows(write(place, WriteOp.INSERT, many, schema))
    assert place.server.run(f"SELECT count(*) FROM {place.name}") == [("1",)]


def test_tables_of_the_catalog(in_catalog: Place) -> None:
    place = in_catalog
    schema = plans.schema((LONG, TEXT_), ("id", "title"))
    values = plans.values((LONG, TEXT_), [(1, "a"), (2, None)])
    assert place.jdbc.rows(write(place, WriteOp.CTAS, values, schema)) == []
    columns = (
        "SELECT column_name, data_type, is_nullable FROM information_schema.columns "
        f"WHERE table_name = '{place.name}' ORDER BY ordinal_position"
    )
    assert place.server.run(columns) == [("id", "bigint", "NO"), ("title", "text", "YES")]
    assert place.server.run(f"SELECT * FROM {place.name} ORDER BY id") == [("1", "a"), ("2", None)]
    with pytest.raises(TableError, match="already"):
        place.jdbc.rows(write(place, WriteOp.CTAS, values, schema))
    appended = write(place, WriteOp.CTAS, values, schema, create_mode=CreateMode.APPEND_IF_EXISTS)
    assert place.jdbc.rows(appended) == []
    assert place.server.run(f"SELECT count(*) FROM {place.name}") == [("4",)]
    dropped = Ddl(
        write_type=NamedObjectWrite(names=place.names), object=DdlObject.TABLE, op=DdlOp.DROP, table_schema=None
    )
    place.jdbc.plan(plans.plan(dropped))
    assert place.server.run(columns) == []


def test_records_are_only_added(place: Place) -> None:
    place.made("id INT, title TEXT", "(1, 'a')")
    table = place.read(id=INT_, title=TEXT_)
    some = plans.where(table, call("equal", col(table, 0), number(1)))
    with pytest.raises(UnsupportedPlanError):
        place.jdbc.rows(write(place, WriteOp.DELETE, some))
    replaced = write(place, WriteOp.CTAS, records((2, "b")), create_mode=CreateMode.REPLACE_IF_EXISTS)
    with pytest.raises(UnsupportedPlanError):
        place.jdbc.rows(replaced)
    if place.by_view:
        with pytest.raises(SubstraitError, match="is a session view"):
            place.jdbc.rows(write(place, WriteOp.INSERT, records((2, "b"))))
    assert place.server.run(f"SELECT * FROM {place.name}") == [("1", "a")]
