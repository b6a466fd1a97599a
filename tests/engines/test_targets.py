"""Plans made for other engines: what the descriptions say, and what becomes of plans."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from datafusion import SessionContext
from datafusion.substrait import Consumer, Serde
from pyarrow import parquet

import pyspark_substrait as ps
from pyspark_substrait.builder import call as call_of
from pyspark_substrait.builder import read
from pyspark_substrait.documents import Plan, as_document
from pyspark_substrait.engines import TARGETS
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model import plan as model
from pyspark_substrait.model.expressions import (
    Cast,
    EnumArgument,
    Expression,
    FieldReference,
    Function,
    FunctionOption,
    IfClause,
    IfThen,
    OuterReference,
    PredicateOp,
    ScalarFunction,
    SetPredicate,
    StructField,
    WindowFunction,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import (
    Aggregate,
    Cross,
    Filter,
    Grouping,
    Join,
    JoinType,
    LocalFiles,
    Measure,
    NamedTable,
    Project,
    Read,
    Reference,
    Relation,
    RelCommon,
    Set,
    SetOp,
)
from pyspark_substrait.model.relations.reads import FileOrFiles, ParquetReadOptions
from pyspark_substrait.model.types import I32, I64, Boolean, Date, Decimal, NamedStruct, String, Struct, Type
from pyspark_substrait.model.walk import relations_within
from tests.spark import plans
from tests.spark.plans import aggregate, col, lit, stored

RECORD = Struct(types=(I64(), String(nullable=True), Date(nullable=True), Boolean(nullable=True)))
TABLE = stored("t", dict(zip("isdb", RECORD.types, strict=True)))
NUMBER, TEXT, DAY, TRUTH = (col(RECORD, position) for position in range(4))


def call(name: str, *arguments: Expression, **options: str) -> ScalarFunction:
    made = plans.call(name, *arguments)
    return replace(made, options=tuple(FunctionOption(option, (value,)) for option, value in options.items()))


def plan(input: Relation) -> Plan:
    names = tuple(f"c{position}" for position in range(len(input.schema.types)))
    made = as_document(model.Plan(relations=(model.RelRoot(input=input, names=names),)), deep=False)
    assert isinstance(made, Plan)
    return made


def root(made: Plan) -> Relation:
    tree = made.relations[-1]
    assert isinstance(tree, model.RelRoot)
    return tree.input


def projected(*expressions: Expression) -> Project:
    emit = tuple(range(4, 4 + len(expressions)))
    return Project(common=RelCommon(emit=emit), input=TABLE, expressions=expressions)


@pytest.mark.parametrize("name", TARGETS)
def test_a_description_names_functions_of_the_specification(name: str) -> None:
    known = {function for _, function, _ in Registry.default().functions()}
    assert set(TARGETS[name].functions) <= known


@pytest.mark.parametrize("name", TARGETS)
def test_a_description_names_functions_of_the_extension(name: str) -> None:
    registry = Registry.default()
    for urn, functions in TARGETS[name].others.items():
        for function, spellings in functions.items():
            known = {definition.function.signature for definition in registry.overloads(urn, function)}
            assert known, (urn, function)
            for spelling in spellings:
                for overload in (*spelling.overloads, *spelling.cast, *spelling.quotient_digits):
                    assert overload in known, (urn, function, overload, known)


@pytest.mark.parametrize("name", TARGETS)
def test_what_a_spelling_delivers_are_options_that_the_function_has(name: str) -> None:
    options: dict[str, dict[str, set[str]]] = {}
    for _, function, definitions in Registry.default().functions():
        for definition in definitions:
            for option, values in definition.options:
                options.setdefault(function, {}).setdefault(option, set()).update(values)
    for function, spellings in TARGETS[name].functions.items():
        for spelling in spellings:
            for option, values in spelling.delivers.items():
                if option in options.get(function, {}):
                    assert set(values) <= options[function][option], (function, option)


def test_a_function_has_the_name_of_the_engine() -> None:
    day = ScalarFunction(
        function=Function("extension:io.substrait:functions_datetime", "extract", "req_date"),
        arguments=(EnumArgument("YEAR"), DAY),
        output_type=I64(nullable=True),
        derived_type=I64(nullable=True),
    )
    made = ps.for_target(plan(projected(day)), "datafusion")
    node = root(made)
    assert isinstance(node, Project)
    cast = node.expressions[0]
    assert isinstance(cast, Cast)  # it is an i32 there
    found = cast.input
    assert isinstance(found, ScalarFunction)
    assert found.function.name == "date_part"
    assert found.arguments == (Literal(type=String(), value="year"), DAY)


def test_an_option_that_the_engine_does_not_look_at_is_noted() -> None:
    made = ps.for_target(plan(projected(call("add", NUMBER, NUMBER, overflow="ERROR"))), "datafusion")
    assert [(note.rule, note.before) for note in made.notes] == [("target-option", "add:i64_i64 with overflow=ERROR")]
    assert "overflow" not in ps.explain(made)
    kept = ps.for_target(plan(projected(call("add", NUMBER, NUMBER, overflow="ERROR"))), "acero")
    assert kept.notes == ()
    assert "overflow" in ps.explain(kept)


def test_a_projection_computes_every_column_it_puts_out() -> None:
    given = Project(
        common=RelCommon(emit=(1, 4)), input=TABLE, expressions=(call("add", NUMBER, NUMBER, overflow="ERROR"),)
    )
    node = root(ps.for_target(plan(given), "datafusion"))
    assert isinstance(node, Project)
    assert node.common.emit == (4, 5)
    assert node.expressions[0] == TEXT
    assert node.schema == given.schema


def test_columns_are_chosen_by_projections_alone_where_the_engine_wants_it() -> None:
    given = Filter(common=RelCommon(emit=(1, 0)), input=TABLE, condition=TRUTH)
    node = root(ps.for_target(plan(given), "duckdb"))
    assert isinstance(node, Project)
    assert isinstance(node.input, Filter)
    assert node.input.common.emit is None
    assert node.schema == given.schema
    assert node.expressions == (TEXT, NUMBER)


def test_subtrees_are_repeated_where_the_engine_knows_no_references() -> None:
    both = Cross(left=Reference(subtree_ordinal=0, subtree=TABLE), right=Reference(subtree_ordinal=0, subtree=TABLE))
    made = as_document(model.Plan(relations=(TABLE, model.RelRoot(input=both, names=tuple("abcdefgh")))), deep=False)
    assert isinstance(made, Plan)
    adapted = ps.for_target(made, "datafusion")
    assert len(adapted.relations) == 1
    assert root(adapted) == Cross(left=TABLE, right=TABLE)
    assert len(ps.for_target(made, "duckdb").relations) == 2


def test_a_choice_says_what_holds_otherwise() -> None:
    given = projected(IfThen(ifs=(IfClause(TRUTH, NUMBER),)))
    node = root(ps.for_target(plan(given), "acero"))
    assert isinstance(node, Project)
    choice = node.expressions[0]
    assert isinstance(choice, IfThen)
    assert choice.else_ == Literal(type=I64(nullable=True), value=None)
    assert node.schema == given.schema


def test_acero_joins_by_one_pair_of_keys() -> None:
    from pyspark_substrait.model.relations import JoinType
    from pyspark_substrait.model.relations.base import joined

    record = joined(RECORD, RECORD)
    keys = call("and", call("equal", col(record, 0), col(record, 4)), call("equal", col(record, 1), col(record, 5)))
    node = root(ps.for_target(plan(Join(left=TABLE, right=TABLE, type=JoinType.INNER, expression=keys)), "acero"))
    assert isinstance(node, Filter)
    assert isinstance(node.input, Join)
    assert node.input.expression == call("equal", col(record, 0), col(record, 4))
    with pytest.raises(UnsupportedPlanError, match="joins by one equality"):
        ps.for_target(plan(Join(left=TABLE, right=TABLE, type=JoinType.LEFT, expression=keys)), "acero")


def test_of_relations_that_replace_one_a_single_one_has_its_anchor() -> None:
    from pyspark_substrait.model.relations import JoinType, RelCommon
    from pyspark_substrait.model.relations.base import joined

    record = joined(RECORD, RECORD)
    keys = call("and", call("equal", col(record, 0), col(record, 4)), call("equal", col(record, 1), col(record, 5)))
    common = RelCommon(rel_anchor=7)
    made = ps.for_target(
        plan(Join(common=common, left=TABLE, right=TABLE, type=JoinType.INNER, expression=keys)), "acero"
    )
    node = root(made)
    assert isinstance(node, Filter)
    assert [node.common.rel_anchor, node.input.common.rel_anchor] == [7, None]
    assert ps.load(made.to_bytes()).relations == made.relations


def test_limits_and_groupings_stand_where_older_engines_look_for_them() -> None:
    from pyspark_substrait.model.relations import Fetch

    given = Fetch(
        input=Aggregate(input=TABLE, groupings=(Grouping((0,)),), grouping_expressions=(NUMBER,)),
        count_expr=lit(I64(), 3),
    )
    made = ps.for_target(plan(given), "acero")
    message = made.to_message()
    fetch = message.relations[0].root.input.fetch  # type: ignore[attr-defined]
    assert fetch.count == 3
    assert len(fetch.input.aggregate.groupings[0].grouping_expressions) == 1
    again = ps.load(made.to_bytes())
    assert isinstance(again, Plan)
    assert again.relations == made.relations


def test_a_computed_limit_has_no_older_form() -> None:
    from pyspark_substrait.model.relations import Fetch

    given = replace(
        plan(Fetch(input=TABLE, count_expr=call("abs", lit(I64(), 3)))),
        removed_fields=frozenset({"AggregateRel", "FetchRel"}),
    )
    fetch = given.to_message().relations[0].root.input.fetch  # type: ignore[attr-defined]
    assert fetch.HasField("count_expr"), "a count of -1 in its place would be no limit"
    again = ps.load(given.to_bytes())
    assert again.relations == given.relations


@pytest.mark.parametrize(
    ("target", "input", "message"),
    [
        (
            "datafusion",
            projected(call("center", TEXT, lit(I32(), 9), lit(String(), " "))),
            "DataFusion 55 has no function center",
        ),
        ("acero", Cross(left=TABLE, right=TABLE), "does not take Cross"),
        ("duckdb", projected(call("regexp_match_substring", TEXT, lit(String(), "a"))), "has no function"),
    ],
)
def test_what_the_engine_has_not_got_is_an_error(target: str, input: Relation, message: str) -> None:
    with pytest.raises(UnsupportedPlanError, match=message):
        ps.for_target(plan(input), target)


@pytest.mark.parametrize(
    ("target", "type"), [("acero", I32()), ("duckdb", I64()), ("duckdb", Decimal(precision=9, scale=2))]
)
def test_an_average_that_is_a_double_there_is_refused_where_it_is_none(target: str, type: Type) -> None:
    record = Struct(types=(type,))
    measure = Measure(measure=aggregate("avg", col(record, 0)))
    with pytest.raises(UnsupportedPlanError, match="no form for avg"):
        ps.for_target(plan(Aggregate(input=stored("t", {"x": type}), measures=(measure,))), target)


@pytest.mark.parametrize("urn", ["extension:org.example:numbers", "extension:pyspark_substrait:functions_datafusion"])
def test_a_function_of_another_extension_is_not_that_of_the_specification(urn: str) -> None:
    other = replace(call("abs", NUMBER), function=Function(urn, "abs", "i64"))
    with pytest.raises(UnsupportedPlanError, match=f"abs:i64 of `{urn}`"):
        ps.for_target(plan(projected(other)), "acero")


@pytest.mark.parametrize("type", [JoinType.LEFT_SEMI, JoinType.LEFT_ANTI])
def test_acero_chooses_the_columns_of_a_semi_join(type: JoinType) -> None:
    """Its semi joins have the columns of both inputs, as before release 0.72 of the specification."""
    condition = call("equal", NUMBER, col(Struct(types=(*RECORD.types, *RECORD.types)), 4))
    given = Join(left=TABLE, right=TABLE, type=type, expression=condition)
    node = root(ps.for_target(plan(given), "acero"))
    assert node.common.emit == (0, 1, 2, 3)
    assert node.schema == given.schema
    swapped = replace(given, type=JoinType.RIGHT_SEMI)
    with pytest.raises(UnsupportedPlanError, match="right semi"):
        ps.for_target(plan(swapped), "acero")


def test_the_inputs_of_a_set_have_the_same_names_in_acero() -> None:
    """A column is named by its expression there, `FieldPath(0)`, and a union is refused where names differ."""
    other = projected(call("abs", NUMBER), TEXT, DAY, TRUTH)
    node = root(ps.for_target(plan(Set(members=(TABLE, other), op=SetOp.UNION_ALL)), "acero"))
    assert isinstance(node, Set)
    for member in node.members:
        assert isinstance(member, Project)
        assert all(isinstance(expression, FieldReference) for expression in member.expressions)
        assert member.schema.types == TABLE.schema.types


@pytest.mark.parametrize(("word", "taken"), [("POPULATION", True), ("SAMPLE", False)])
def test_acero_has_the_deviation_of_a_population_alone(word: str, taken: bool) -> None:
    frame = read("t", {"x": "fp64?"}).agg(s=lambda t: call_of("std_dev", word, t.x))
    if taken:
        node = root(ps.for_target(frame.to_plan(), "acero"))
        assert isinstance(node, Aggregate)
        assert len(node.measures[0].measure.arguments) == 1
    else:
        with pytest.raises(UnsupportedPlanError, match="with SAMPLE"):
            ps.for_target(frame.to_plan(), "acero")


def test_there_are_no_other_targets() -> None:
    with pytest.raises(UnsupportedPlanError, match="no target `velox`"):
        ps.for_target(plan(TABLE), "velox")


def test_windows_go_to_datafusion_but_not_to_acero() -> None:
    window = WindowFunction(
        function=aggregate("count").function,
        arguments=(),
        output_type=I64(),
        derived_type=I64(),
        partitions=(TEXT,),
    )
    node = root(ps.for_target(plan(projected(window)), "datafusion"))
    assert isinstance(node, Project)
    with pytest.raises(UnsupportedPlanError, match="WindowFunction"):
        ps.for_target(plan(projected(window)), "acero")


def grouped(*sets: tuple[int, ...], emit: tuple[int, ...] | None = None) -> Aggregate:
    return Aggregate(
        common=RelCommon(emit=emit),
        input=TABLE,
        groupings=tuple(map(Grouping, sets)),
        grouping_expressions=(NUMBER, TEXT),
        measures=(Measure(measure=aggregate("count")),),
    )


@pytest.mark.parametrize("emit", [None, (2, 3, 0)])
@pytest.mark.parametrize("sets", [((0, 1), (0,)), ((0, 1), (0,), ()), ((1,), (), (1,), (0, 1), ())])
def test_datafusion_gets_no_aggregate_of_several_grouping_sets(
    sets: tuple[tuple[int, ...], ...], emit: tuple[int, ...] | None
) -> None:
    """It counts a number before the measures; by the specification there is the position of the set behind them."""
    given = grouped(*sets, emit=emit)
    node = root(ps.for_target(plan(given), "datafusion"))
    assert node.schema == given.schema
    assert all(len(each.groupings) < 2 for each in relations(node) if isinstance(each, Aggregate))
    assert root(ps.for_target(plan(given), "duckdb")).schema == given.schema


def test_one_grouping_set_stays_as_it_is() -> None:
    given = grouped((0, 1))
    assert root(ps.for_target(plan(given), "datafusion")) == given


@pytest.mark.parametrize("op", [SetOp.INTERSECTION_MULTISET_ALL, SetOp.MINUS_PRIMARY_ALL])
def test_datafusion_gets_set_operations_on_distinct_records(op: SetOp) -> None:
    given = Set(members=(TABLE, TABLE, TABLE), op=op, common=RelCommon(emit=(2, 0)))
    node = root(ps.for_target(plan(given), "datafusion"))
    assert node.schema == given.schema
    found = {each.op for each in relations(node) if isinstance(each, Set)} - {SetOp.UNION_ALL}
    assert found <= {SetOp.INTERSECTION_MULTISET, SetOp.MINUS_PRIMARY}


def test_the_outer_columns_of_a_subquery_have_names_of_their_own_for_datafusion() -> None:
    """DataFusion finds outer columns by name, and names what is computed by its expression."""
    outer = FieldReference(root=OuterReference(steps_out=1), reference=(StructField(0),), type=I64())
    inner = Filter(input=TABLE, condition=call("equal", NUMBER, outer))
    given = Filter(input=TABLE, condition=SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=inner))
    node = root(ps.for_target(plan(given), "datafusion"))
    assert isinstance(node, Filter)
    assert isinstance(node.input, Project)
    assert node.schema == given.schema
    assert not any(isinstance(column, FieldReference) for column in node.input.expressions)
    alone = Filter(input=TABLE, condition=SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=TABLE))
    assert root(ps.for_target(plan(alone), "datafusion")) == alone


def relations(node: Relation) -> list[Relation]:
    return [node, *(below for input in node.inputs for below in relations(input))]


def files(*items: FileOrFiles) -> Read:
    return replace(TABLE, read_type=LocalFiles(items=items))


PARQUET = FileOrFiles(path_type="uri_file", path="file:///data/Order%20lines.parquet", file_format=ParquetReadOptions())


def test_a_file_is_a_table_of_its_name_where_an_engine_takes_tables_only() -> None:
    exists = SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=files(PARQUET))
    made = ps.for_target(plan(Filter(input=files(PARQUET), condition=exists)), "datafusion")
    assert [node.read_type for node in relations_within(root(made)) if isinstance(node, Read)] == [
        NamedTable(names=("Order lines.parquet",))
    ] * 2
    assert [(note.rule, note.before) for note in made.notes if note.rule == "target-files"] == [
        ("target-files", f"a read of {PARQUET.path}")
    ]
    kept = root(ps.for_target(plan(files(PARQUET)), "acero"))
    assert isinstance(kept, Read) and kept.read_type == LocalFiles(items=(PARQUET,))


@pytest.mark.parametrize(
    "items",
    [(PARQUET, PARQUET), (replace(PARQUET, length=100),), (replace(PARQUET, path_type="uri_path_glob"),)],
    ids=["two files", "a part", "a pattern"],
)
def test_files_without_a_name_of_their_own_are_refused(items: tuple[FileOrFiles, ...]) -> None:
    with pytest.raises(UnsupportedPlanError, match="takes tables by name"):
        ps.for_target(plan(files(*items)), "datafusion")


def test_a_file_runs_in_datafusion_as_a_table_or_under_another_name(tmp_path: Path) -> None:
    table = pa.table({"a": pa.array([1, 2, None], pa.int32())})
    parquet.write_table(table, tmp_path / "Orders.parquet")
    context = SessionContext()
    context.from_arrow(table, name='"Orders.parquet"')
    context.from_arrow(table, name="orders")
    schema = NamedStruct(names=("a",), struct=Struct(types=(I64(nullable=True),)))
    item = FileOrFiles(path_type="uri_file", path=(tmp_path / "Orders.parquet").as_uri())
    made = plan(Read(base_schema=schema, read_type=LocalFiles(items=(item,))))
    for rename in (None, {"Orders.parquet": "orders"}):
        fitted = ps.for_target(made, "datafusion", tables=context, rename=rename)
        logical = Consumer.from_substrait_plan(context, Serde.deserialize_bytes(fitted.to_bytes()))
        rows = context.create_dataframe_from_logical_plan(logical).to_arrow_table()
        assert rows.column(0).to_pylist() == [1, 2, None]


def test_marks_in_each_other_do_not_double_the_plan_again_and_again() -> None:
    node: Relation = stored("t", {"a": I64(nullable=True)})
    for _ in range(30):
        left = stored("u", {"a": I64(nullable=True)})
        both = Struct(types=(*left.schema.types, *node.schema.types))
        condition = plans.call("equal", col(both, 0), col(both, 1))
        node = Join(left=left, right=node, type=JoinType.LEFT_MARK, expression=condition)
    with pytest.raises(UnsupportedPlanError, match="so deep in each other that DataFusion 55 would get more"):
        ps.for_target(plans.plan(node), "datafusion")
