"""What relations put out. The expected types are those of the specification's text and tables."""

from __future__ import annotations

import pytest

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import relations as r
from pyspark_substrait.model import types as t
from pyspark_substrait.model.expressions import FieldReference, StructField
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.masks import ListItem, ListSelect, MaskExpression, StructItem, StructSelect
from pyspark_substrait.model.relations import JoinType, SetOp
from pyspark_substrait.model.types import NamedStruct, OpenStruct, Struct, Type

TRUE = Literal(type=t.Boolean(), value=True)


def table(*types: Type, names: tuple[str, ...] | None = None, **common: object) -> r.Read:
    names = names or tuple(f"c{position}" for position in range(t.name_count(Struct(types=types))))
    return r.Read(
        common=r.RelCommon(**common),  # type: ignore[arg-type]
        base_schema=NamedStruct(names=names, struct=Struct(types=types)),
        read_type=r.NamedTable(names=("t",)),
    )


def text(relation: r.Relation) -> str:
    return str(relation.schema)


def column(position: int, type: Type) -> FieldReference:
    return FieldReference(root=e.RootReference(), reference=(StructField(position),), type=type)


LEFT, RIGHT = table(t.I32(), t.String()), table(t.I64(), t.Date())


# "Join Types": outer sides get nulls, semi and anti joins keep one side, mark joins add a nullable boolean behind it.
@pytest.mark.parametrize(
    ("type", "expected"),
    [
        (JoinType.INNER, "struct<i32, string, i64, date>"),
        (JoinType.OUTER, "struct<i32?, string?, i64?, date?>"),
        (JoinType.LEFT, "struct<i32, string, i64?, date?>"),
        (JoinType.RIGHT, "struct<i32?, string?, i64, date>"),
        (JoinType.LEFT_SEMI, "struct<i32, string>"),
        (JoinType.RIGHT_SEMI, "struct<i64, date>"),
        (JoinType.LEFT_ANTI, "struct<i32, string>"),
        (JoinType.RIGHT_ANTI, "struct<i64, date>"),
        (JoinType.LEFT_SINGLE, "struct<i32, string, i64?, date?>"),
        (JoinType.RIGHT_SINGLE, "struct<i32?, string?, i64, date>"),
        (JoinType.LEFT_MARK, "struct<i32, string, boolean?>"),
        (JoinType.RIGHT_MARK, "struct<i64, date, boolean?>"),
    ],
)
def test_joins(type: JoinType, expected: str) -> None:
    keys = (r.ComparisonJoinKey(left=column(0, t.I32()), right=column(0, t.I64())),)
    for join in (
        r.Join(left=LEFT, right=RIGHT, type=type, expression=TRUE),
        r.HashJoin(left=LEFT, right=RIGHT, type=type, keys=keys),
        r.MergeJoin(left=LEFT, right=RIGHT, type=type, keys=keys),
        r.NestedLoopJoin(left=LEFT, right=RIGHT, type=type),
    ):
        assert text(join) == expected
        assert str(join.input_schema) == "struct<i32, string, i64, date>"
        assert len(join.names) == len(join.schema.types)


# "Valid Join Types for LateralJoinRel"
@pytest.mark.parametrize("type", JoinType)
def test_lateral_joins(type: JoinType) -> None:
    join = r.LateralJoin(left=LEFT, right=RIGHT, type=type)
    if type in {
        JoinType.INNER,
        JoinType.LEFT,
        JoinType.LEFT_SEMI,
        JoinType.LEFT_ANTI,
        JoinType.LEFT_SINGLE,
        JoinType.LEFT_MARK,
    }:
        assert text(join) == text(r.Join(left=LEFT, right=RIGHT, type=type, expression=TRUE))
    else:
        with pytest.raises(InvalidPlanError, match="lateral join"):
            _ = join.schema


def test_cross() -> None:
    cross = r.Cross(left=LEFT, right=RIGHT)
    assert text(cross) == "struct<i32, string, i64, date>"
    assert cross.names == ("c0", "c1", "c0", "c1")


# "Output Type Derivation Examples": R is required, N nullable.
@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (SetOp.MINUS_PRIMARY, "RRRRNNNN"),
        (SetOp.MINUS_PRIMARY_ALL, "RRRRNNNN"),
        (SetOp.MINUS_MULTISET, "RRRRNNNN"),
        (SetOp.INTERSECTION_PRIMARY, "RRRRRNNN"),
        (SetOp.INTERSECTION_MULTISET, "RRRRRRRN"),
        (SetOp.INTERSECTION_MULTISET_ALL, "RRRRRRRN"),
        (SetOp.UNION_DISTINCT, "RNNNNNNN"),
        (SetOp.UNION_ALL, "RNNNNNNN"),
    ],
)
def test_set_operations(op: SetOp, expected: str) -> None:
    inputs = tuple(
        table(*(t.I32(nullable=mark == "N") for mark in marks)) for marks in ("RRRRNNNN", "RRNNRRNN", "RNRNRNRN")
    )
    output = r.Set(members=inputs, op=op)
    assert "".join("N" if type.nullable else "R" for type in output.schema.types) == expected


def test_set_inputs_must_agree() -> None:
    with pytest.raises(InvalidPlanError, match="2 columns, the primary input 1") as error:
        _ = r.Set(members=(table(t.I32()), table(t.I32(), t.I32())), op=SetOp.UNION_ALL).schema
    assert error.value.path == "inputs[1]"
    with pytest.raises(InvalidPlanError, match="i64, in the primary input i32"):
        _ = r.Set(members=(table(t.I32()), table(t.I64())), op=SetOp.UNION_ALL).schema
    with pytest.raises(InvalidPlanError, match="at least two"):
        _ = r.Set(members=(table(t.I32()),), op=SetOp.UNION_ALL).schema


def measure(type: Type) -> r.Measure:
    function = e.Function("extension:org.example:x", "f", "")
    call = e.AggregateFunction(function=function, arguments=(), output_type=type, derived_type=type)
    return r.Measure(measure=call)


# "Aggregate Operation": keys, measures, and an i32 when there is more than one set; keys not in all sets are nullable.
@pytest.mark.parametrize(
    ("sets", "expected"),
    [
        ([(0, 1)], "struct<i32, string, i64?>"),
        ([(0, 1), (0,)], "struct<i32, string?, i64?, i32>"),
        ([(0, 1), (0,), ()], "struct<i32?, string?, i64?, i32>"),
        ([(0,), (1,)], "struct<i32?, string?, i64?, i32>"),
        ([(0, 1), (1, 0)], "struct<i32, string, i64?, i32>"),
    ],
)
def test_grouping_sets(sets: list[tuple[int, ...]], expected: str) -> None:
    aggregate = r.Aggregate(
        input=LEFT,
        groupings=tuple(map(r.Grouping, sets)),
        grouping_expressions=(column(0, t.I32()), column(1, t.String())),
        measures=(measure(t.I64(nullable=True)),),
    )
    assert text(aggregate) == expected
    assert aggregate.names[:2] == ("c0", "c1")


def test_aggregates_without_keys() -> None:
    assert text(r.Aggregate(input=LEFT, measures=(measure(t.I64()),))) == "struct<i64>"
    assert text(r.Aggregate(input=LEFT, groupings=(r.Grouping(()),), measures=(measure(t.I64()),))) == "struct<i64>"


def test_expand() -> None:
    """The fields, then an i32; a switching field is nullable when one of its expressions is."""
    expand = r.Expand(
        input=LEFT,
        fields=(
            r.SwitchingField((column(0, t.I32()), Literal(type=t.I32(nullable=True), value=None))),
            column(1, t.String()),
        ),
    )
    assert text(expand) == "struct<i32?, string, i32>"
    assert expand.names == (None, "c1", None)
    # "Any fields beyond the provided definitions will be emitted as is": they are those of the input
    wide = r.Join(left=LEFT, right=LEFT, expression=Literal(type=t.Boolean(), value=True), type=r.JoinType.INNER)
    assert wide.names == ("c0", "c1", "c0", "c1")
    rest = r.Expand(input=wide, fields=(column(3, t.String()),))
    assert text(rest) == "struct<string, string, i32, string, i32>"
    assert rest.names == ("c1", "c1", "c0", "c1", None)


def test_window() -> None:
    """As a projection: the input, then each function."""
    function = r.WindowRelFunction(
        function=e.Function("extension:io.substrait:functions_arithmetic", "row_number", ""),
        arguments=(),
        output_type=t.I64(nullable=True),
        derived_type=t.I64(nullable=True),
    )
    assert text(r.ConsistentPartitionWindow(input=LEFT, window_functions=(function,))) == "struct<i32, string, i64?>"


def test_project_and_emit() -> None:
    project = r.Project(input=LEFT, expressions=(TRUE, column(1, t.String())))
    assert text(project) == "struct<i32, string, boolean, string>"
    assert project.names == ("c0", "c1", None, "c1")
    chosen = r.Project(common=r.RelCommon(emit=(2, 0, 0)), input=LEFT, expressions=(TRUE,))
    assert text(chosen) == "struct<boolean, i32, i32>"
    assert chosen.names == (None, "c0", "c0")
    assert text(r.Project(common=r.RelCommon(emit=()), input=LEFT, expressions=())) == "struct<>"
    for emit in ((3,), (-1,)):
        with pytest.raises(InvalidPlanError, match=f"column {emit[0]}, but there are 3 columns") as error:
            _ = r.Project(common=r.RelCommon(emit=emit), input=LEFT, expressions=(TRUE,)).schema
        assert error.value.path == "common.emit.output_mapping"


def test_names_of_hints() -> None:
    """Hinted names are those of all fields, depth first; only the outermost are columns."""
    nested = table(t.Struct(types=(t.I8(), t.I8())), t.I32(), names=("s", "a", "b", "n"))
    assert nested.names == ("s", "n")
    hinted = r.Filter(
        common=r.RelCommon(emit=(1, 0), hint=r.Hint(output_names=("count", "pair", "x", "y"))),
        input=nested,
        condition=TRUE,
    )
    assert hinted.names == ("count", "pair")


def test_pass_through() -> None:
    for relation in (
        r.Filter(input=LEFT, condition=TRUE),
        r.Sort(input=LEFT, sorts=()),
        r.Fetch(input=LEFT),
        r.TopN(input=LEFT, sorts=()),
        r.Exchange(input=LEFT, exchange_kind=r.Broadcast()),
        r.DetachedRel(relation=LEFT),
        r.Reference(subtree_ordinal=0, subtree=LEFT),
    ):
        assert text(relation) == "struct<i32, string>"
        assert relation.names == ("c0", "c1")


def test_relations_that_write() -> None:
    target = r.NamedObjectWrite(names=("t",))
    write = r.Write(write_type=target, table_schema=LEFT.base_schema, op=r.WriteOp.INSERT, input=LEFT)
    assert text(write) == "struct<>"
    echo = r.Write(
        write_type=target,
        table_schema=LEFT.base_schema,
        op=r.WriteOp.INSERT,
        input=LEFT,
        output=r.OutputMode.MODIFIED_RECORDS,
    )
    assert text(echo) == "struct<i32, string>"
    assert text(r.Ddl(write_type=target, object=r.DdlObject.TABLE, op=r.DdlOp.DROP)) == "struct<>"
    assert text(r.Update(update_type=r.NamedTable(names=("t",)), table_schema=LEFT.base_schema)) == "struct<i64>"


def test_reads_with_a_projection() -> None:
    """The example of a mask in field_references, "Masked Complex Expression": 0:[0,1:[..5:[0,2]]],2,3."""
    item = t.Struct(types=(t.I32(), t.String(), t.String()))
    schema = Struct(types=(t.Struct(types=(t.I32(), t.List(type=item), t.I32())), t.I16(), t.I32(), t.I64()))
    mask = MaskExpression(
        select=StructSelect(
            (
                StructItem(
                    0,
                    StructSelect(
                        (
                            StructItem(0),
                            StructItem(1, ListSelect((), StructSelect((StructItem(0), StructItem(2))))),
                        )
                    ),
                ),
                StructItem(2),
                StructItem(3),
            )
        )
    )
    names = ("a", "b", "c", "d", "e", "f", "g", "h", "i", "j")
    read = r.Read(
        base_schema=NamedStruct(names=names, struct=schema), read_type=r.NamedTable(names=("t",)), projection=mask
    )
    assert text(read) == "struct<struct<i32, list<struct<i32, string>>>, i32, i64>"
    assert read.projected.names == ("a", "b", "c", "d", "f", "i", "j")
    assert read.names == ("a", "i", "j")


def test_masks_unwrap_what_is_alone() -> None:
    schema = Struct(types=(t.Struct(types=(t.I8(), t.I16()), nullable=True), t.List(type=t.I32())))
    select = StructSelect((StructItem(0, StructSelect((StructItem(1),))), StructItem(1, ListSelect((ListItem(0),)))))

    def masked(maintain: bool) -> r.Read:
        return r.Read(
            base_schema=NamedStruct(names=("s", "x", "y", "l"), struct=schema),
            read_type=r.NamedTable(names=("t",)),
            projection=MaskExpression(select=select, maintain_singular_struct=maintain),
        )

    assert text(masked(False)) == "struct<i16?, i32?>"
    # an element that isn't there is null
    assert text(masked(True)) == "struct<struct?<i16>, list<i32?>>"
    assert masked(True).projected.names == ("s", "y", "l")


def test_extensions_are_open() -> None:
    leaf = r.ExtensionLeaf()
    assert isinstance(leaf.schema, OpenStruct)
    assert isinstance(r.Cross(left=LEFT, right=leaf).schema, OpenStruct)
    assert isinstance(r.Project(input=leaf, expressions=(TRUE,)).schema, OpenStruct)
    emitted = r.ExtensionSingle(common=r.RelCommon(emit=(4, 0)), input=LEFT)
    assert text(emitted) == "struct<unbound?, unbound?>"


# expressions ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("segments", "expected"),
    [
        ((StructField(0),), "struct?<i32, list<i64>>"),
        ((StructField(0), StructField(0)), "i32?"),
        ((StructField(0), StructField(1), e.ListElement(-1)), "i64?"),
        ((StructField(1), e.MapKey(Literal(type=t.String(), value="k"))), "date?"),
        ((StructField(2),), "i8"),
    ],
)
def test_referenced_types(segments: tuple[e.ReferenceSegment, ...], expected: str) -> None:
    record = Struct(
        types=(
            t.Struct(types=(t.I32(), t.List(type=t.I64())), nullable=True),
            t.Map(key=t.String(), value=t.Date()),
            t.I8(),
        )
    )
    assert str(e.referenced_type(record, segments)) == expected


def test_references_out_of_range() -> None:
    with pytest.raises(InvalidPlanError, match="no field 2; the struct has 2"):
        e.referenced_type(Struct(types=(t.I8(), t.I8())), (StructField(2),))
    with pytest.raises(InvalidPlanError, match="list element cannot be taken from i8"):
        e.referenced_type(Struct(types=(t.I8(),)), (StructField(0), e.ListElement(0)))


def test_types_of_expressions() -> None:
    null = Literal(type=t.I32(nullable=True), value=None)
    one = Literal(type=t.I32(), value=1)
    assert str(e.IfThen(ifs=(e.IfClause(TRUE, one),)).type) == "i32?"
    assert str(e.IfThen(ifs=(e.IfClause(TRUE, one),), else_=one).type) == "i32"
    assert str(e.SwitchExpression(match=one, ifs=(e.IfValue(one, one),), else_=null).type) == "i32?"
    assert str(e.SingularOrList(value=one, options=(one, null)).type) == "boolean?"
    assert str(e.MultiOrList(value=(one, one), options=((one, one),)).type) == "boolean"
    assert str(e.NestedList(values=(one, null)).type) == "list<i32?>"
    assert str(e.NestedMap(key_values=((one, null),), nullable=True).type) == "map?<i32, i32?>"
    assert str(e.ScalarSubquery(input=table(t.I64())).type) == "i64?"
    assert str(e.SetPredicate(predicate_op=e.PredicateOp.EXISTS, tuples=LEFT).type) == "boolean"
    assert str(e.InPredicate(needles=(one,), haystack=table(t.I32(nullable=True))).type) == "boolean?"
    increment = e.Lambda(parameters=Struct(types=(t.I32(), t.I8())), body=TRUE)
    assert str(increment.type) == "func<(i32, i8) -> boolean>"
    assert str(e.LambdaInvocation(lambda_=increment, arguments=(one, one)).type) == "boolean"
    with pytest.raises(InvalidPlanError, match="one column, this one has 2"):
        _ = e.ScalarSubquery(input=LEFT).type
