"""Small plans that rules have something to say about, and some to which they have nothing to say.

The tables: ``t(a i32, b i32?, s string?, f fp64?, g boolean?)`` and ``u(k i32, v string?)``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import relations as r
from pyspark_substrait.model import types as t
from pyspark_substrait.model.expressions import Expression, Function
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.plan import Plan, RelRoot, Version
from pyspark_substrait.model.relations import Relation

ARITHMETIC = "extension:io.substrait:functions_arithmetic"
BOOLEAN = "extension:io.substrait:functions_boolean"
COMPARISON = "extension:io.substrait:functions_comparison"
STRING = "extension:io.substrait:functions_string"
OWN = "extension:pyspark_substrait:functions_spark_string"
VERSION = Version(major_number=0, minor_number=108, patch_number=0, producer="cases")

_T = t.NamedStruct(
    names=("a", "b", "s", "f", "g"),
    struct=t.Struct(
        types=(
            t.I32(),
            t.I32(nullable=True),
            t.String(nullable=True),
            t.FP64(nullable=True),
            t.Boolean(nullable=True),
        )
    ),
)
_U = t.NamedStruct(names=("k", "v"), struct=t.Struct(types=(t.I32(), t.String(nullable=True))))
T = r.Read(base_schema=_T, read_type=r.NamedTable(names=("t",)))
U = r.Read(base_schema=_U, read_type=r.NamedTable(names=("u",)))


def ref(position: int, types: tuple[t.Type, ...] = _T.struct.types) -> e.FieldReference:
    """A column, of ``t`` unless other types are given."""
    return e.FieldReference(root=e.RootReference(), reference=(e.StructField(position),), type=types[position])


A, B, S, F, G = (ref(number) for number in range(5))
TRIPLE = (*_T.struct.types, *_U.struct.types, *_U.struct.types)
FOUR = (*TRIPLE, *_U.struct.types)
PAIR = (*_T.struct.types, *_U.struct.types)


def call(urn: str, name: str, signature: str, *arguments: Expression, type: t.Type) -> e.ScalarFunction:
    """A call with the type that the definition derives."""
    return e.ScalarFunction(
        function=Function(urn, name, signature), arguments=arguments, output_type=type, derived_type=type
    )


def boolean(*operands: Expression) -> t.Boolean:
    """The boolean that is nullable when one of the operands is."""
    return t.Boolean(nullable=any(operand.type.nullable for operand in operands))


def compare(name: str, left: Expression, right: Expression) -> e.ScalarFunction:
    """A comparison."""
    signature = "any_any"
    type = t.Boolean() if "distinct" in name else boolean(left, right)
    return call(COMPARISON, name, signature, left, right, type=type)


def test(name: str, operand: Expression) -> e.ScalarFunction:
    """A test that never gives null."""
    signature = "any" if name.endswith("null") else "bool"
    return call(COMPARISON, name, signature, operand, type=t.Boolean())


test.__test__ = False  # type: ignore[attr-defined]


def logic(name: str, *operands: Expression) -> e.ScalarFunction:
    """``and``, ``or`` or ``not``."""
    return call(BOOLEAN, name, "bool", *operands, type=boolean(*operands))


def add(left: Expression, right: Expression) -> e.ScalarFunction:
    """A sum, which may overflow."""
    return call(
        ARITHMETIC, "add", "i32_i32", left, right, type=t.I32(nullable=left.type.nullable or right.type.nullable)
    )


def number(value: int) -> Literal:
    """An i32."""
    return Literal(type=t.I32(), value=value)


def text(value: str) -> Literal:
    """A string."""
    return Literal(type=t.String(), value=value)


TRUE, FALSE = Literal(type=t.Boolean(), value=True), Literal(type=t.Boolean(), value=False)
NULL = Literal(type=t.Boolean(nullable=True), value=None)
NOTHING = Literal(type=t.I32(nullable=True), value=None)
MORE = compare("gt", A, number(1))


def emit(*columns: int) -> r.RelCommon:
    """A common part with an emit."""
    return r.RelCommon(emit=columns)


def filtered(condition: Expression, input: Relation = T) -> r.Filter:
    """A filter."""
    return r.Filter(input=input, condition=condition)


def projected(*expressions: Expression, input: Relation = T) -> r.Project:
    """The expressions alone."""
    width = len(input.schema.types)
    columns = tuple(range(width, width + len(expressions)))
    return r.Project(common=r.RelCommon(emit=columns), input=input, expressions=expressions)


def ascending(*keys: Expression) -> tuple[e.SortField, ...]:
    """Sort fields."""
    return tuple(e.SortField(expr=key, sort_kind=e.SortDirection.ASC_NULLS_FIRST) for key in keys)


def measure(name: str, argument: Expression, **parts: object) -> r.Measure:
    """An aggregate of an i32."""
    type = {"sum": t.I64(nullable=True), "count": t.I64()}.get(name, t.I32(nullable=True))
    urn = "extension:io.substrait:functions_aggregate_generic" if name == "count" else ARITHMETIC
    signature = "any" if name == "count" else "i32"
    called = e.AggregateFunction(
        function=Function(urn, name, signature),
        arguments=(argument,),
        output_type=type,
        derived_type=type,
        **parts,  # type: ignore[arg-type]
    )
    return r.Measure(measure=called)


def aggregated(*measures: r.Measure, input: Relation = T, keys: tuple[Expression, ...] = ()) -> r.Aggregate:
    """An aggregate with one grouping set."""
    return r.Aggregate(
        input=input,
        groupings=(r.Grouping(tuple(range(len(keys)))),),
        measures=measures,
        grouping_expressions=keys,
    )


def cast(input: Expression, type: t.Type) -> e.Cast:
    """A cast that fails where it can't."""
    return e.Cast(type=type, input=input, failure_behavior=e.FailureBehavior.THROW_EXCEPTION)


def fetched(count: int | None, offset: int | None = None, input: Relation = T) -> r.Fetch:
    """A fetch."""

    def long(value: int | None) -> Literal | None:
        return None if value is None else Literal(type=t.I64(), value=value)

    return r.Fetch(input=input, offset_expr=long(offset), count_expr=long(count))


def window(**parts: object) -> e.WindowFunction:
    """The sum of ``a`` over a window of everything."""
    whole = {"bounds_type": e.BoundsType.ROWS, **parts}
    return e.WindowFunction(
        function=Function(ARITHMETIC, "sum", "i32"),
        arguments=(A,),
        output_type=t.I64(nullable=True),
        derived_type=t.I64(nullable=True),
        **whole,  # type: ignore[arg-type]
    )


def join(condition: Expression, type: r.JoinType = r.JoinType.INNER) -> r.Join:
    """A join of the two tables."""
    return r.Join(left=T, right=U, type=type, expression=condition)


def exists(query: Relation) -> e.SetPredicate:
    """Whether a query has records."""
    return e.SetPredicate(predicate_op=e.PredicateOp.EXISTS, tuples=query)


CROSS = r.Cross(left=T, right=U)
EQUAL_SIDES = compare("equal", ref(0, PAIR), ref(5, PAIR))
UNION = r.Set(members=(U, U), op=r.SetOp.UNION_ALL)
LIKE = call(STRING, "like", "str_str", S, text("one"), type=t.Boolean(nullable=True))
OPTION = e.FunctionOption("overflow", ("ERROR", "ERROR"))
EVERY = e.FunctionOption("overflow", ("SILENT", "SATURATE", "ERROR"))
CHOICE = e.IfThen(ifs=(e.IfClause(FALSE, number(1)), e.IfClause(MORE, number(2))), else_=number(3))
DECIDED = e.IfThen(ifs=(e.IfClause(MORE, number(1)), e.IfClause(TRUE, number(2))), else_=number(3))
SWITCH = e.SwitchExpression(
    match=A, ifs=(e.IfValue(number(1), text("x")), e.IfValue(number(1), text("y"))), else_=text("z")
)


@dataclass(frozen=True)
class Case:
    """A plan, the rules that have something to say about it, and whether a fix is due."""

    relation: Relation
    rules: tuple[str, ...]
    fixes: bool = True

    @property
    def plan(self) -> Plan:
        """The relation as a plan."""
        names = tuple(f"c{position}" for position in range(len(self.relation.schema.types)))
        return Plan(relations=(RelRoot(input=self.relation, names=names),), version=VERSION)


def said(relation: Relation, *rules: str) -> Case:
    """Something that is said, and has no fix."""
    return Case(relation, rules, fixes=False)


CASES: dict[str, Case] = {
    "not not": Case(filtered(logic("not", logic("not", G))), ("double-negation",)),
    "not is_null": Case(filtered(logic("not", test("is_null", B))), ("negated-test",)),
    "not is_true": Case(filtered(logic("not", test("is_true", G))), ("negated-test",)),
    "not equal": said(filtered(logic("not", compare("equal", B, number(1)))), "negated-test"),
    "and in and": Case(filtered(logic("and", logic("and", MORE, G), test("is_null", B))), ("nested-logic",)),
    "or in or": Case(filtered(logic("or", logic("or", MORE, G), test("is_null", B))), ("nested-logic",)),
    "and of one": Case(filtered(logic("and", G)), ("single-operand",)),
    "the same twice": Case(filtered(logic("and", MORE, G, MORE)), ("repeated-condition",)),
    "true in and": Case(filtered(logic("and", TRUE, MORE)), ("neutral-condition",)),
    "false in or": Case(filtered(logic("or", G, FALSE)), ("neutral-condition",)),
    "false in and": said(filtered(logic("and", G, FALSE)), "decided-condition", "filter-that-passes-none"),
    "true in or": said(filtered(logic("or", G, TRUE)), "decided-condition"),
    "a = a": Case(projected(compare("equal", A, A)), ("self-comparison",)),
    "a < a": Case(projected(compare("lt", A, A)), ("self-comparison",)),
    "b = b": said(projected(compare("equal", B, B)), "self-comparison"),
    "f = f": said(projected(compare("equal", F, F)), "self-comparison"),
    "b is not distinct from b": Case(projected(compare("is_not_distinct_from", B, B)), ("self-comparison",)),
    "a is null": Case(projected(test("is_null", A)), ("null-test-of-required",)),
    "a is not null": Case(projected(test("is_not_null", A)), ("null-test-of-required",)),
    "a + 1 is null": said(projected(test("is_null", add(A, number(1)))), "null-test-of-required"),
    "b = null": said(filtered(compare("equal", B, NOTHING)), "comparison-with-null"),
    "1 = 2": said(projected(compare("equal", number(1), number(2))), "comparison-of-constants"),
    "many equalities": said(
        filtered(logic("or", *(compare("equal", A, number(value)) for value in (1, 2, 3)))), "chain-of-equalities"
    ),
    "like without wildcard": said(filtered(LIKE), "pattern-without-wildcard"),
    "cast to the same": Case(projected(cast(A, t.I32())), ("cast-to-same-type",)),
    "cast of cast": Case(projected(cast(cast(A, t.I64()), t.I32())), ("cast-of-cast",)),
    "cast of cast to decimal": Case(
        projected(cast(cast(B, t.I64(nullable=True)), t.Decimal(precision=20, scale=2, nullable=True))),
        ("cast-of-cast",),
    ),
    "cast of cast that narrows": Case(projected(cast(cast(A, t.I64()), t.I16())), ("cast-of-cast",)),
    "cast of a literal": said(projected(cast(number(1), t.I64())), "cast-of-literal"),
    "if false": Case(projected(CHOICE), ("dead-branch",)),
    "if true": Case(projected(DECIDED), ("dead-branch",)),
    "same branches": said(projected(e.IfThen(ifs=(e.IfClause(MORE, A),), else_=A)), "same-branches"),
    "case twice": Case(projected(SWITCH), ("repeated-case",)),
    "option twice": Case(
        filtered(e.SingularOrList(value=A, options=(number(1), number(2), number(1)))), ("repeated-option",)
    ),
    "row twice": Case(
        filtered(e.MultiOrList(value=(A, B), options=((number(1), number(1)), (number(1), number(1))))),
        ("repeated-option",),
    ),
    "one option": Case(filtered(e.SingularOrList(value=B, options=(number(1),))), ("single-option",)),
    "one float option": said(
        filtered(e.SingularOrList(value=F, options=(Literal(type=t.FP64(), value=1.0),))), "single-option"
    ),
    "coalesce of required": Case(
        projected(call(COMPARISON, "coalesce", "any", A, number(1), type=t.I32())), ("coalesce-of-required",)
    ),
    "preference twice": Case(projected(replace(add(A, A), options=(OPTION,))), ("repeated-preference",)),
    "every option": said(projected(replace(add(A, A), options=(EVERY,))), "option-without-choice"),
    "no bounds type": Case(projected(window(bounds_type=None)), ("missing-bounds-type",)),
    "partition by a literal": Case(projected(window(partitions=(number(1), B))), ("constant-partition",)),
    "own function": said(projected(call(OWN, "soundex", "str", S, type=t.String(nullable=True))), "not-portable"),
    "filter true": Case(filtered(TRUE), ("filter-that-passes-all",)),
    "filter true with emit": Case(replace(filtered(TRUE), common=emit(4, 0)), ("filter-that-passes-all",)),
    "read filter true": Case(replace(T, filter=TRUE), ("filter-that-passes-all",)),
    "filter null": said(filtered(NULL), "filter-that-passes-none"),
    "read filter false": said(replace(T, filter=FALSE), "filter-that-passes-none"),
    "crossed ranges": said(
        filtered(logic("and", compare("gt", A, number(5)), compare("lt", A, number(3)))), "filter-that-passes-none"
    ),
    "crossed ranges the other way": said(
        filtered(logic("and", compare("lt", number(5), A), compare("lte", A, number(5)))), "filter-that-passes-none"
    ),
    "two values": said(
        filtered(logic("and", compare("equal", S, text("x")), compare("equal", S, text("y")))),
        "filter-that-passes-none",
    ),
    "null and a value": said(
        filtered(logic("and", test("is_null", B), compare("gt", B, number(1)))), "filter-that-passes-none"
    ),
    "filter on filter": said(filtered(MORE, filtered(G)), "filter-on-filter"),
    "fetch of nothing": said(fetched(0), "fetch-of-nothing"),
    "fetch of everything": Case(fetched(None, 0), ("fetch-of-everything",)),
    "cross with equality": Case(filtered(EQUAL_SIDES, CROSS), ("cross-with-equality",)),
    "cross with equality and emit": Case(
        replace(filtered(EQUAL_SIDES, CROSS), common=emit(6, 1)), ("cross-with-equality",)
    ),
    "emit of a cross": said(
        filtered(
            compare("equal", ref(0, (t.I32(), t.I32())), ref(1, (t.I32(), t.I32()))), replace(CROSS, common=emit(0, 5))
        ),
        "cross-with-equality",
    ),
    "cross below a join": Case(
        r.Join(
            left=CROSS,
            right=U,
            type=r.JoinType.INNER,
            expression=logic("and", EQUAL_SIDES, compare("equal", ref(6, TRIPLE), ref(8, TRIPLE))),
        ),
        ("cross-below-join",),
    ),
    "cross far below a join": Case(
        r.Join(
            left=r.Cross(left=CROSS, right=U),
            right=U,
            type=r.JoinType.INNER,
            expression=logic(
                "and",
                EQUAL_SIDES,
                compare("equal", ref(5, FOUR), ref(7, FOUR)),
                compare("equal", ref(8, FOUR), ref(10, FOUR)),
                compare("gt", ref(9, FOUR), ref(0, FOUR)),
            ),
        ),
        ("cross-below-join",),
    ),
    "nothing but the cross below a join": Case(
        r.Join(left=CROSS, right=U, type=r.JoinType.INNER, expression=EQUAL_SIDES),
        ("cross-below-join", "join-on-one-side"),
    ),
    "cross below an outer join": said(
        r.Join(left=CROSS, right=U, type=r.JoinType.LEFT, expression=EQUAL_SIDES), "join-on-one-side"
    ),
    "join on true": Case(join(TRUE), ("join-with-constant",)),
    "left join on true": said(join(TRUE, r.JoinType.LEFT), "join-with-constant"),
    "join on false": said(join(FALSE), "join-with-constant"),
    "join on null": said(join(Literal(type=t.Boolean(nullable=True), value=None)), "join-with-constant"),
    "join on one side": said(join(compare("gt", ref(5, PAIR), number(1))), "join-on-one-side"),
    "union of unions": Case(r.Set(members=(UNION, U), op=r.SetOp.UNION_ALL), ("nested-union",)),
    "sort by a literal": Case(r.Sort(input=T, sorts=ascending(A, number(1))), ("sort-key-without-effect",)),
    "sort by the same": Case(r.Sort(input=T, sorts=ascending(B, A, B)), ("sort-key-without-effect",)),
    "sort by nothing": Case(r.Sort(input=T, sorts=()), ("sort-without-keys",)),
    "sort below an aggregate": Case(
        aggregated(measure("count", B), input=r.Sort(input=T, sorts=ascending(A)), keys=(S,)), ("sort-that-is-lost",)
    ),
    "sort and filter below a join": Case(
        replace(join(EQUAL_SIDES), left=filtered(G, r.Sort(input=T, sorts=ascending(A)))), ("sort-that-is-lost",)
    ),
    "sort below a sort": said(
        r.Sort(input=r.Sort(input=T, sorts=ascending(A)), sorts=ascending(B)), "sort-that-is-lost"
    ),
    "fetch without order": said(fetched(2), "fetch-without-order"),
    "emit of everything": Case(replace(filtered(G), common=emit(0, 1, 2, 3, 4)), ("emit-of-everything",)),
    "projection of nothing": Case(r.Project(common=emit(2, 0), input=T, expressions=()), ("projection-of-nothing",)),
    "projection of everything": Case(projected(A, B, S, F, G), ("projection-of-columns",)),
    "projection of a projection": Case(
        projected(
            ref(1, (t.I32(nullable=True), t.I32())),
            input=projected(B, add(A, number(1))),
        ),
        ("projection-of-columns",),
    ),
    "unused expression": Case(
        r.Project(common=emit(6), input=T, expressions=(MORE, logic("not", G))), ("unused-expression",)
    ),
    "unused expression that may fail": said(
        r.Project(common=emit(6), input=T, expressions=(add(A, A), logic("not", G))), "unused-expression"
    ),
    "expression twice": said(projected(add(A, A), add(A, A)), "repeated-expression"),
    "distinct least": Case(
        aggregated(measure("min", B, invocation=e.AggregationInvocation.DISTINCT)), ("distinct-without-effect",)
    ),
    "sorted count": Case(aggregated(measure("count", B, sorts=ascending(A))), ("order-without-effect",)),
    "measure with true": Case(aggregated(replace(measure("sum", A), filter=TRUE), keys=(G,)), ("filtered-measure",)),
    "measure with false": said(aggregated(replace(measure("sum", A), filter=FALSE)), "filtered-measure"),
    "grouped by a literal": said(aggregated(measure("sum", A), keys=(S, number(1))), "grouped-by-constant"),
    "grouped twice": said(aggregated(measure("sum", A), keys=(S, S)), "repeated-grouping-key"),
    "measured twice": said(aggregated(measure("sum", A), measure("sum", A)), "repeated-measure"),
    "exists with columns": Case(filtered(exists(projected(text("x"), input=U))), ("columns-of-exists",)),
    "sorted exists": Case(
        filtered(exists(r.Sort(input=U, sorts=ascending(ref(0, _U.struct.types))))), ("sort-in-subquery",)
    ),
    "sorted in": Case(
        filtered(
            e.InPredicate(
                needles=(A,),
                haystack=r.Sort(common=emit(0), input=U, sorts=ascending(ref(0, _U.struct.types))),
            )
        ),
        ("sort-in-subquery",),
    ),
    "a slow pattern": said(
        projected(
            call(
                STRING, "regexp_replace", "str_str_str", S, text("(.*,){15}X"), text("z"), type=t.String(nullable=True)
            ),
            A,
            B,
            S,
            F,
            G,
        ),
        "slow-pattern",
    ),
    "columns for nobody": said(projected(A), "unused-columns-of-reads"),
}
"""Plans by what is the matter with them."""

FINE: dict[str, Relation] = {
    "a table": T,
    "a filter": filtered(MORE),
    "a filter by a column": filtered(G),
    "and": filtered(logic("and", MORE, G)),
    "or in and": filtered(logic("and", MORE, logic("or", G, test("is_null", B)))),
    "a cast that only makes nullable": projected(cast(number(1), t.I32(nullable=True)), A, B, S, F, G),
    "a cast of a cast that loses": projected(cast(cast(A, t.I16()), t.I32()), A, B, S, F, G),
    "a range": filtered(logic("and", compare("gt", A, number(3)), compare("lt", A, number(5)))),
    "one value that is in a range": filtered(logic("and", compare("gte", A, number(3)), compare("lte", A, number(3)))),
    "a sorted fetch": fetched(2, input=r.Sort(input=T, sorts=ascending(A, B))),
    "sort below a fetch below an aggregate": aggregated(
        measure("count", A),
        measure("count", B),
        input=fetched(2, input=r.Sort(input=T, sorts=ascending(A))),
        keys=(S, F, G),
    ),
    "sort below a sum": aggregated(
        measure("sum", A), measure("sum", B), input=r.Sort(input=T, sorts=ascending(A)), keys=(S, F, G)
    ),
    "an inner join": join(EQUAL_SIDES),
    "a cross product with an inequality": filtered(compare("gt", ref(0, PAIR), ref(5, PAIR)), CROSS),
    "a union of another kind": r.Set(
        members=(r.Set(members=(U, U), op=r.SetOp.UNION_DISTINCT), U), op=r.SetOp.UNION_ALL
    ),
}
"""Relations to which no rule has anything to say."""
