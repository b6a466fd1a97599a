"""What the rules find in relations: a plan for each, with one thing wrong in it, and the sentence that says so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pyspark_substrait import validate
from pyspark_substrait.analysis.validation import rules
from pyspark_substrait.codes import Level
from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import masks as m
from pyspark_substrait.model import relations as r
from pyspark_substrait.model import types as t
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import NamedStruct, Struct
from tests.samples.expressions import AMOUNT, EXPRESSIONS, ID, column, sum_of_amounts, table
from tests.samples.literals import i32, i64, string
from tests.samples.relations import RELATIONS, SMALL
from tests.validation.checked import EXPRESSION, RELATION, around, around_relation, findings, only

ERROR, WARNING, INFO = Level.ERROR, Level.WARNING, Level.INFO
_TWO = Struct(types=(t.I32(), t.String(nullable=True)))
_SORT = e.SortField(expr=ID, sort_kind=e.SortDirection.ASC_NULLS_FIRST)


def read(*names: str, struct: Struct = _TWO) -> r.Read:
    return r.Read(base_schema=NamedStruct(names=names, struct=struct), read_type=r.NamedTable(names=("t",)))


def test_names_are_not_empty_and_differ() -> None:
    """types/named_structs: all fields must be named."""
    assert findings(around_relation(read("a", "b"))) == []
    assert only(around_relation(read("a", "")))[:3] == (4013, WARNING, f"{RELATION}.read.base_schema.names[1]")
    assert only(around_relation(read("a", "a")))[3] == "two fields of the same struct are named `a`"


def test_names_in_different_structs_may_be_the_same() -> None:
    inner = Struct(types=(t.I32(), t.I32()))
    struct = Struct(types=(t.I32(), t.List(type=inner)))
    assert findings(around_relation(read("a", "b", "a", "b", struct=struct))) == []
    found = only(around_relation(read("a", "b", "c", "c", struct=struct)))
    assert found[:3] == (4013, WARNING, f"{RELATION}.read.base_schema.names[3]")


def test_an_emit_of_all_columns_says_nothing() -> None:
    """relations/common_fields: an unset emit_kind outputs the columns as is."""
    everything = replace(SMALL, common=r.RelCommon(emit=(0, 1)))
    assert only(around_relation(everything))[:3] == (7007, INFO, f"{RELATION}.read.common.emit")
    assert findings(around_relation(replace(SMALL, common=r.RelCommon(emit=(1, 0))))) == []


def test_hints_name_all_fields() -> None:
    hinted = replace(SMALL, common=r.RelCommon(hint=r.Hint(output_names=("a",), stats=r.Stats(row_count=-1))))
    assert set(findings(around_relation(hinted))) == {
        (3, WARNING, f"{RELATION}.read.common.hint.stats.row_count"),
        (3, WARNING, f"{RELATION}.read.common.hint.output_names"),
    }


def test_a_table_has_a_name() -> None:
    nameless = replace(SMALL, read_type=r.NamedTable(names=()))
    assert only(around_relation(nameless))[:3] == (1002, ERROR, f"{RELATION}.read.named_table")


@pytest.mark.parametrize(("start", "end", "found"), [(1, 1, True), (2, 1, True), (0, 2, False), (1, -1, False)])
def test_slices_of_one_element_or_none(start: int, end: int, found: bool) -> None:
    list_ = m.ListSelect(selection=(m.ListSlice(start, end),))
    mask = m.MaskExpression(select=m.StructSelect(struct_items=(m.StructItem(field=5, child=list_),)))
    relation = replace(table(), projection=mask)
    place = f"{RELATION}.read.projection.select.struct_items[0].child.list.selection[0].slice"
    slices = [item for item in findings(around_relation(relation)) if item[0] == 7006]
    assert slices == ([(7006, INFO, place)] if found else [])


def test_numbers_of_records_are_non_negative_integers() -> None:
    """relations/logical_relations: an expression which evaluates to a non-negative integer or null."""
    null = Literal(type=t.I64(nullable=True), value=None)
    assert findings(around_relation(r.Fetch(input=SMALL, offset_expr=i64(0), count_expr=null))) == []
    fetch = r.Fetch(input=SMALL, offset_expr=i64(-1), count_expr=string("5"))
    assert set(findings(around_relation(fetch))) == {
        (2, ERROR, f"{RELATION}.fetch.offset_expr"),
        (4005, ERROR, f"{RELATION}.fetch.count_expr"),
    }


def test_sorts_that_decide_nothing() -> None:
    literal = replace(_SORT, expr=i32(1))
    sort = r.Sort(input=table(), sorts=(_SORT, literal, replace(_SORT, sort_kind=e.SortDirection.DESC_NULLS_LAST)))
    assert findings(around_relation(sort)) == [
        (7007, INFO, f"{RELATION}.sort.sorts[1]"),
        (7007, INFO, f"{RELATION}.sort.sorts[2]"),
    ]
    assert only(around_relation(r.Sort(input=table(), sorts=())))[:3] == (1002, WARNING, f"{RELATION}.sort")


def test_maps_have_no_order_but_can_be_clustered() -> None:
    counts = replace(_SORT, expr=column(7))
    assert only(around_relation(r.Sort(input=table(), sorts=(counts,))))[:2] == (6109, WARNING)
    clustered = replace(counts, sort_kind=e.SortDirection.CLUSTERED)
    assert findings(around_relation(r.Sort(input=table(), sorts=(clustered,)))) == []


def test_a_top_n_has_sorts_and_a_count() -> None:
    """relations/physical_relations: at least one sort field is required; the count is required."""
    assert findings(around_relation(r.TopN(input=SMALL, sorts=(), mode=r.FetchMode.ROWS_ONLY))) == [
        (1002, WARNING, f"{RELATION}.top_n"),
        (1002, WARNING, f"{RELATION}.top_n.count"),
    ]


def test_grouping_sets_have_each_expression_once() -> None:
    aggregate = r.Aggregate(input=table(), grouping_expressions=(ID,), groupings=(r.Grouping((0, 0)),))
    assert only(around_relation(aggregate))[:3] == (5100, WARNING, f"{RELATION}.aggregate.groupings[0]")
    twice = replace(aggregate, grouping_expressions=(ID, ID), groupings=(r.Grouping((0, 1)),))
    assert only(around_relation(twice))[:3] == (7007, INFO, f"{RELATION}.aggregate.grouping_expressions[1]")


def test_different_values_of_nothing() -> None:
    count = e.AggregateFunction(
        function=e.Function("extension:io.substrait:functions_aggregate_generic", "count", ""),
        arguments=(),
        output_type=t.I64(),
        derived_type=t.I64(),
        invocation=e.AggregationInvocation.DISTINCT,
    )
    aggregate = r.Aggregate(input=table(), measures=(r.Measure(measure=count),))
    assert only(around_relation(aggregate))[:2] == (2, WARNING)


def test_sorts_are_for_functions_that_are_sensitive_to_order() -> None:
    """AggregateFunction.sorts: only allowed if the aggregate function is defined to support sorting."""
    aggregate = r.Aggregate(input=table(), measures=(r.Measure(measure=sum_of_amounts(sorts=(_SORT,))),))
    assert only(around_relation(aggregate))[:3] == (6109, WARNING, f"{RELATION}.aggregate.measures[0].measure.sorts")


def window(lower: e.Bound, upper: e.Bound, *sorts: e.SortField) -> e.WindowFunction:
    return e.WindowFunction(
        function=e.Function("extension:io.substrait:functions_arithmetic", "sum", "i64"),
        arguments=(AMOUNT,),
        output_type=t.I64(nullable=True),
        derived_type=t.I64(nullable=True),
        sorts=sorts,
        bounds_type=e.BoundsType.ROWS,
        lower_bound=lower,
        upper_bound=upper,
    )


def test_frames_that_end_before_they_start() -> None:
    """expressions/window_functions: contradictory lower and upper bounds produce an empty frame."""
    place = f"{EXPRESSION}.window_function"
    empty = window(e.Following(i64(2)), e.Following(i64(1)), _SORT)
    assert only(around(empty))[:3] == (6104, WARNING, place)
    assert only(around(window(e.CurrentRow(), e.Preceding(i64(1)), _SORT)))[:3] == (6104, WARNING, place)
    assert findings(around(window(e.Preceding(i64(2)), e.Preceding(i64(1)), _SORT))) == []


def test_counted_records_need_an_order() -> None:
    """expressions/window_functions: if no ordering is declared, no row order is guaranteed."""
    assert only(around(window(e.Preceding(i64(1)), e.CurrentRow())))[0] == 6104
    assert findings(around(window(e.Unbounded(), e.Unbounded()))) == []


def test_options_and_clauses_that_stand_twice() -> None:
    place = f"{EXPRESSION}.singular_or_list.options"
    twice = e.SingularOrList(value=ID, options=(i32(1), i32(2), i32(1)))
    assert only(around(twice))[:3] == (7007, INFO, f"{place}[2]")
    switch = e.SwitchExpression(match=ID, ifs=(e.IfValue(i32(1), ID), e.IfValue(i32(1), ID)), else_=ID)
    assert only(around(switch))[:2] == (7007, WARNING)


def test_records_that_are_not_those_of_the_table() -> None:
    """WriteRel.input: the schema must match with table_schema."""
    schema = NamedStruct(names=("key", "label"), struct=_TWO)
    target = r.NamedObjectWrite(names=("t",))
    write = r.Write(write_type=target, table_schema=schema, op=r.WriteOp.INSERT, input=SMALL)
    assert findings(around_relation(write)) == []
    place = f"{RELATION}.write.table_schema"
    longer = replace(write, table_schema=NamedStruct(names=("a", "b", "c"), struct=Struct(types=(*_TWO.types, t.I8()))))
    assert only(around_relation(longer))[:3] == (5003, ERROR, place)
    other = Struct(types=(t.I64(), t.String()))
    found = findings(around_relation(replace(write, table_schema=NamedStruct(names=("a", "b"), struct=other))))
    assert found == [(4005, ERROR, place), (4008, WARNING, place)]


def test_default_values_are_those_of_the_columns() -> None:
    schema = NamedStruct(names=("key", "label"), struct=_TWO)
    ddl = r.Ddl(
        write_type=r.NamedObjectWrite(names=("t",)),
        object=r.DdlObject.TABLE,
        op=r.DdlOp.CREATE,
        table_schema=schema,
        table_defaults=(i32(1), string("x")),
    )
    assert findings(around_relation(ddl)) == []
    assert only(around_relation(replace(ddl, table_defaults=(i32(1),))))[:2] == (5003, ERROR)
    assert only(around_relation(replace(ddl, table_defaults=(i32(1), i32(2)))))[:2] == (4005, ERROR)
    assert only(around_relation(replace(ddl, table_schema=None, table_defaults=None)))[:2] == (1002, ERROR)
    assert findings(around_relation(replace(ddl, op=r.DdlOp.DROP, table_schema=None, table_defaults=None))) == []


def test_a_column_is_updated_once() -> None:
    change = r.TransformExpression(transformation=i32(1), column_target=0)
    update = r.Update(
        update_type=r.NamedTable(names=("t",)),
        table_schema=NamedStruct(names=("key", "label"), struct=_TWO),
        condition=Literal(type=t.Boolean(), value=True),
        transformations=(change, change),
    )
    assert only(around_relation(update))[:3] == (5003, ERROR, f"{RELATION}.update.transformations[1]")
    assert only(around_relation(replace(update, transformations=())))[0] == 1002


def test_buckets_are_numbers_and_partitions_are_there() -> None:
    """relations/physical_relations: a single i32 bucket number; a List<i32> of bucket numbers."""
    good = r.Exchange(input=table(), exchange_kind=r.SingleBucketExpression(expression=ID), partition_count=2)
    assert findings(around_relation(good)) == []
    amount = replace(good, exchange_kind=r.SingleBucketExpression(expression=AMOUNT))
    assert only(around_relation(amount))[:2] == (4005, ERROR)
    several = replace(good, exchange_kind=r.MultiBucketExpression(expression=ID))
    assert only(around_relation(several))[:2] == (4005, ERROR)
    targets = (r.ExchangeTarget(partition_id=(0, 2), target_type="file:///a"),)
    assert only(around_relation(replace(good, targets=targets)))[:2] == (2, ERROR)


def test_a_parameter_has_one_type_and_its_value_too() -> None:
    """expressions/dynamic_parameters: type specifies the expected data type of the parameter."""
    number = e.DynamicParameter(type=t.I32(), parameter_reference=1)
    text = e.DynamicParameter(type=t.String(), parameter_reference=1)
    message = around_relation(r.Project(input=SMALL, expressions=(number, text)))
    message.parameter_bindings.add(parameter_anchor=1).value.string = "one"
    message.parameter_bindings.add(parameter_anchor=2).value.i32 = 2
    assert set(findings(message)) == {
        (4005, WARNING, f"{RELATION}.project.expressions[1].dynamic_parameter"),
        (4005, ERROR, "parameter_bindings[0].value"),
        (7007, INFO, "parameter_bindings[1].value"),
    }


def test_samples_have_no_errors() -> None:
    for name, relation in RELATIONS.items():
        report = validate(around_relation(relation))
        if name != "extension leaf without detail":
            assert report.ok, (name, str(report))


def test_every_rule_is_for_nodes_that_are_visited() -> None:
    """Each class with rules of its own has a place in some sample."""
    kinds = set()
    for message in [
        *(around_relation(relation) for relation in RELATIONS.values()),
        *(around(node) for node in EXPRESSIONS.values()),
    ]:
        kinds |= {node.__class__ for node, _ in validate(message).places}
    assert set(rules._OWN) <= kinds
