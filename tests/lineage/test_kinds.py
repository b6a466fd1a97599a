"""What the columns of each kind of relation are made of, worked out by hand from what the specification says of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import pytest

from pyspark_substrait.analysis.lineage import lineage
from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import relations as r
from pyspark_substrait.model import types as t
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.masks import MaskExpression, StructItem, StructSelect
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.relations.extension import ExtensionSchema
from pyspark_substrait.model.relations.generate import Generator, GeneratorKind
from pyspark_substrait.model.types import NamedStruct, Struct
from tests.lineage.small import (
    FUNCTION,
    ONE,
    by,
    col,
    columns_of,
    conditions_of,
    emit,
    f,
    measure,
    outer,
    plan,
    table,
)
from tests.samples import PLANS

A, B, Q = table("a"), table("b", 2), table("q", 2)
LISTS = r.Read(
    base_schema=NamedStruct(
        names=("x0", "x1", "x2"), struct=Struct(types=(t.I64(), t.Map(key=t.I64(), value=t.I8()), t.String()))
    ),
    read_type=r.NamedTable(names=("a",)),
)
MESSAGE = AnyMessage("type.googleapis.com/org.example.Thing", b"")
THREE = NamedStruct(names=("u", "v"), struct=Struct(types=(t.I64(), t.I64())))
EQUAL = f(col(0), col(3))


@dataclass(frozen=True)
class Case:
    """A relation, what its columns are made of, and what decides which records there are."""

    relation: Relation
    columns: list[str]
    conditions: str = ""


def join(kind: type[r.Join] | type[r.LateralJoin], type: r.JoinType, **parts: object) -> Relation:
    return kind(left=A, right=B, type=type, **{"expression": EQUAL, **parts})  # type: ignore[arg-type]


def keyed(kind: type[r.HashJoin] | type[r.MergeJoin], type: r.JoinType, **parts: object) -> Relation:
    keys = (r.ComparisonJoinKey(left=col(1), right=col(0)),)
    return kind(left=A, right=B, type=type, keys=keys, **parts)  # type: ignore[arg-type]


def generate(input: Relation, kind: GeneratorKind, arguments: int, rows: int | None = None) -> Relation:
    return r.Generate(input=input, generator=Generator(kind=kind, arguments=arguments, rows=rows))


def write(op: r.WriteOp, input: Relation, output: r.OutputMode = r.OutputMode.MODIFIED_RECORDS) -> Relation:
    target = r.NamedObjectWrite(names=("target",))
    return r.Write(write_type=target, table_schema=THREE, op=op, input=input, output=output)


def said(*outputs: str) -> ExtensionSchema:
    schema = NamedStruct(names=outputs, struct=Struct(types=(t.I64(),) * len(outputs)))
    return ExtensionSchema(inputs=(), output=schema, place="")


LEFT, RIGHT = ["a0", "a1", "a2"], ["b0", "b1"]
SCALAR = e.ScalarSubquery(input=table("q", 1))

FILTERED = r.Filter(input=A, condition=f(col(1)))

CASES: dict[str, Case] = {
    # a read has no inputs; what it filters by is among its own columns, where it puts them out
    "read": Case(A, ["", "", ""]),
    "read that filters": Case(table("a", filter=f(col(1)), best_effort_filter=f(col(2))), ["", "", ""], "a1 a2"),
    "read that puts out less": Case(
        table(
            "a",
            filter=f(col(0), col(1), col(2)),
            projection=MaskExpression(select=StructSelect((StructItem(2), StructItem(0)))),
            common=emit(1, 1),
        ),
        ["", ""],
        "a0",
    ),
    "read of records in the plan": Case(
        r.Read(
            base_schema=THREE,
            read_type=r.VirtualTable(expressions=(e.NestedStruct(fields=(ONE, SCALAR)),)),
            filter=f(col(0)),
        ),
        ["", "q0"],
        "?0",
    ),
    "filter": Case(r.Filter(input=A, condition=f(col(1), col(1)), common=emit(2, 0, 2)), ["a2", "a0", "a2"], "a1"),
    "sort": Case(r.Sort(input=A, sorts=by(col(2), f(col(0)))), LEFT, "a0 a2"),
    "fetch": Case(r.Fetch(input=A, offset_expr=ONE, count_expr=ONE), LEFT),
    "fetch as many as a query says": Case(r.Fetch(input=A, count_expr=SCALAR), LEFT, "q0"),
    "top n": Case(r.TopN(input=A, sorts=by(col(1)), count=ONE, common=emit(0)), ["a0"], "a1"),
    "project": Case(
        r.Project(input=A, expressions=(f(col(0), col(2)), ONE, col(1)), common=emit(3, 4, 5, 0)),
        ["a0 a2", "", "a1", "a0"],
    ),
    "project nothing known": Case(r.Project(input=A, expressions=(f(col(9)),), common=emit(3, 8)), ["", ""]),
    # the keys decide about groups, so about records; a filter or sorts of a measure only about that measure
    "aggregate": Case(
        r.Aggregate(
            input=A,
            groupings=(r.Grouping((0,)),),
            grouping_expressions=(f(col(0)),),
            measures=(
                r.Measure(measure=measure(col(1))),
                r.Measure(measure=measure(col(1), sorts=by(col(0))), filter=f(col(1), col(2))),
                r.Measure(measure=measure()),
            ),
        ),
        ["a0", "a1", "a1 ~a0 ~a2", ""],
        "a0",
    ),
    "aggregate by sets": Case(
        r.Aggregate(input=A, groupings=(r.Grouping((0, 1)), r.Grouping((1,))), grouping_expressions=(col(0), col(2))),
        ["a0", "a2", ""],
        "a0 a2",
    ),
    "set union all": Case(r.Set(members=(B, Q), op=r.SetOp.UNION_ALL), ["b0 q0", "b1 q1"]),
    "set union": Case(r.Set(members=(B, Q), op=r.SetOp.UNION_DISTINCT), ["b0 q0", "b1 q1"], "b0 b1 q0 q1"),
    # what is put out is a record of the primary input, the others only decide whether it is
    **{
        f"set {op.value}": Case(r.Set(members=(B, Q), op=op), ["b0", "b1"], "b0 b1 q0 q1")
        for op in r.SetOp
        if op not in (r.SetOp.UNION_ALL, r.SetOp.UNION_DISTINCT)
    },
    **{
        f"join {type.value}": Case(join(r.Join, type), [*LEFT, *RIGHT], "a0 b0")
        for type in (r.JoinType.INNER, r.JoinType.OUTER, r.JoinType.LEFT, r.JoinType.RIGHT)
    },
    "join left single": Case(join(r.Join, r.JoinType.LEFT_SINGLE, common=emit(3, 0)), ["b0", "a0"], "a0 b0"),
    "join right single": Case(join(r.Join, r.JoinType.RIGHT_SINGLE, common=emit(4)), ["b1"], "a0 b0"),
    "join left semi": Case(join(r.Join, r.JoinType.LEFT_SEMI), LEFT, "a0 b0"),
    "join left anti": Case(join(r.Join, r.JoinType.LEFT_ANTI), LEFT, "a0 b0"),
    "join right semi": Case(join(r.Join, r.JoinType.RIGHT_SEMI), RIGHT, "a0 b0"),
    "join right anti": Case(join(r.Join, r.JoinType.RIGHT_ANTI), RIGHT, "a0 b0"),
    # a mark join puts out every record of its side: what it compares is in the mark
    "join left mark": Case(join(r.Join, r.JoinType.LEFT_MARK), [*LEFT, "a0 b0"]),
    "join right mark": Case(join(r.Join, r.JoinType.RIGHT_MARK), [*RIGHT, "a0 b0"]),
    # what stands above the join sees what it puts out before emit
    "join and filter": Case(
        join(r.Join, r.JoinType.RIGHT_SEMI, post_join_filter=f(col(1)), common=emit(0)), ["b0"], "a0 b0 b1"
    ),
    "join and filter by the mark": Case(
        join(r.Join, r.JoinType.LEFT_MARK, post_join_filter=f(col(3)), common=emit(2)), ["a2"], "a0 b0"
    ),
    "lateral join": Case(
        r.LateralJoin(
            left=A,
            right=r.Filter(input=B, condition=f(col(1), outer(2, anchor=5))),
            type=r.JoinType.LEFT,
            expression=f(col(1)),
            common=r.RelCommon(rel_anchor=5, emit=(0, 4)),
        ),
        ["a0", "?1"],
        "a1",
    ),
    # it says whether there is a record: so it is made of what decides on that
    "lateral join that only marks": Case(
        r.LateralJoin(
            left=A,
            right=r.Filter(input=B, condition=f(col(1), outer(2, anchor=5))),
            type=r.JoinType.LEFT_MARK,
            common=r.RelCommon(rel_anchor=5, emit=(3,)),
        ),
        ["a2 b1"],
    ),
    "nested loop join of a relation with itself that only marks": Case(
        r.NestedLoopJoin(left=FILTERED, right=FILTERED, type=r.JoinType.LEFT_MARK, common=emit(3)), ["a1"]
    ),
    "cross": Case(r.Cross(left=A, right=B, common=emit(4, 1)), ["b1", "a1"]),
    "hash join": Case(
        keyed(r.HashJoin, r.JoinType.INNER, residual_expression=f(col(4)), post_join_filter=f(col(2))),
        [*LEFT, *RIGHT],
        "a1 a2 b0 b1",
    ),
    "hash join that marks": Case(keyed(r.HashJoin, r.JoinType.LEFT_MARK, common=emit(3)), ["a1 b0"]),
    "merge join": Case(keyed(r.MergeJoin, r.JoinType.RIGHT_ANTI), RIGHT, "a1 b0"),
    "nested loop join": Case(
        r.NestedLoopJoin(left=A, right=B, type=r.JoinType.LEFT_SEMI, expression=EQUAL), LEFT, "a0 b0"
    ),
    "window": Case(
        r.ConsistentPartitionWindow(
            input=A,
            window_functions=(
                r.WindowRelFunction(
                    function=FUNCTION,
                    arguments=(col(1),),
                    output_type=t.I64(),
                    derived_type=t.I64(),
                    lower_bound=e.Preceding(col(0)),
                ),
            ),
            partition_expressions=(col(2),),
            sorts=by(col(1)),
            common=emit(3, 0),
        ),
        ["a1 ~a0 ~a2", "a0"],
    ),
    "expand": Case(
        r.Expand(input=A, fields=(r.SwitchingField((col(0), f(col(1), col(0)), ONE)), col(2))),
        ["a0 a1", "a2", "a2", ""],
    ),
    # where records go is no question of which there are
    "exchange": Case(r.Exchange(input=A, exchange_kind=r.ScatterFields((col(1),)), common=emit(2)), ["a2"]),
    "reference": Case(r.Reference(subtree_ordinal=1, subtree=A), LEFT),
    "detached": Case(r.DetachedRel(relation=B, common=emit(1)), ["b1"]),
    "write": Case(write(r.WriteOp.INSERT, B), ["b0", "b1"]),
    "write that puts out nothing": Case(write(r.WriteOp.CTAS, B, r.OutputMode.NO_OUTPUT), []),
    # records are found by what they are; of an update, those that are put out come behind the old ones
    "delete": Case(write(r.WriteOp.DELETE, B), ["b0", "b1"], "b0 b1"),
    "write of changes": Case(write(r.WriteOp.UPDATE, table("a", 4)), ["a2", "a3"], "a0 a1"),
    "ddl": Case(
        r.Ddl(
            write_type=r.NamedObjectWrite(names=("v",)),
            object=r.DdlObject.VIEW,
            op=r.DdlOp.CREATE,
            view_definition=A,
        ),
        [],
    ),
    # the table isn't an input: only the query in the condition is
    "update": Case(
        r.Update(update_type=r.NamedTable(names=("target",)), table_schema=THREE, condition=f(col(1), SCALAR)),
        [""],
        "q0",
    ),
    # nobody knows: all of everything
    "extension leaf": Case(r.ExtensionLeaf(detail=MESSAGE, derived=said("u")), [""]),
    "extension single": Case(
        r.ExtensionSingle(input=B, detail=MESSAGE, derived=said("u", "v")), ["b0 b1", "b0 b1"], "b0 b1"
    ),
    "extension of unknown columns": Case(
        r.ExtensionSingle(input=B, detail=MESSAGE, common=emit(7)), ["b0 b1"], "b0 b1"
    ),
    "filter over unknown columns": Case(
        r.Filter(input=r.ExtensionSingle(input=B, detail=MESSAGE), condition=f(col(4)), common=emit(6)),
        ["b0 b1"],
        "b0 b1",
    ),
    "join with unknown columns": Case(
        r.Join(
            left=r.ExtensionSingle(input=B, detail=MESSAGE),
            right=A,
            type=r.JoinType.INNER,
            expression=f(col(4)),
            common=emit(6),
        ),
        ["b0 b1 a0 a1 a2"],
        "b0 b1 a0 a1 a2",
    ),
    "extension multi": Case(
        r.ExtensionMulti(members=(B, Q), detail=MESSAGE, derived=said("u")), ["b0 b1 q0 q1"], "b0 b1 q0 q1"
    ),
    "generate": Case(
        generate(r.Project(input=LISTS, expressions=(), common=emit(0, 1)), GeneratorKind.EXPLODE, 1),
        ["?0", "?1", "?1"],
        "?1",
    ),
    "generate, stacked": Case(generate(A, GeneratorKind.STACK, 3, 2), ["a0 a2", "a1"]),
    "generate of JSON": Case(
        generate(r.Project(input=LISTS, expressions=(), common=emit(0, 2, 2, 2)), GeneratorKind.JSON_TUPLE, 3),
        ["?0", "?1 ?2", "?1 ?3"],
    ),
    "generate nonsense": Case(generate(A, GeneratorKind.EXPLODE, 9), [], "a0 a1 a2"),
    "broken": Case(r.BrokenRelation(kind="filter", fault="no condition", members=(A,)), []),
    "broken, of known columns": Case(
        r.BrokenRelation(kind="", fault="", members=(A,), record=THREE.struct, common=emit(1, 5)), ["", ""]
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_columns_and_conditions(name: str) -> None:
    case = CASES[name]
    # as the tree of a plan, so that what a reference means is there too
    found = lineage(plan(case.relation, A))
    assert columns_of(found, case.relation) == [set(words.split()) for words in case.columns]
    assert conditions_of(found, case.relation) == set(case.conditions.split())


def test_every_kind_is_in_the_table() -> None:
    assert {type(case.relation) for case in CASES.values()} == set(get_args(Relation))


@pytest.mark.parametrize("name", PLANS)
def test_there_is_a_port_for_each_column(name: str) -> None:
    found = lineage(PLANS[name])
    for number, relation in enumerate(found.relations):
        assert len(found.ports(number)) == len(relation.schema.types)
        assert found.number(relation) == number
