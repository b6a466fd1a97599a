"""Aggregates as Spark SQL.

Several grouping sets become GROUPING SETS, except an empty one: Spark gives no record for it if the input is empty,
where the specification folds all records, even none, into one. Empty and repeated sets are aggregated separately and
combined. Where a filter drops the record of no records anyway, the empty set is one of GROUPING SETS.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError, at
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    Cast,
    Expression,
    FieldReference,
    IfThen,
    RootReference,
    ScalarFunction,
    StructField,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Aggregate, Filter, Project, Relation
from pyspark_substrait.model.walk import expression_children, root_fields
from pyspark_substrait.sql.compiler import expressions
from pyspark_substrait.sql.compiler.lifted_columns import Below
from pyspark_substrait.sql.compiler.measures import measure
from pyspark_substrait.sql.compiler.query import Item, Query, plain
from pyspark_substrait.sql.compiler.scope import Compilation, Record, Scope
from pyspark_substrait.sql.compiler.types import has_map, spark_type
from pyspark_substrait.sql.conjuncts import COMPARISON, conjuncts
from pyspark_substrait.sql.decorrelation.unions import fails_over
from pyspark_substrait.sql.fragment import Name, atom

__all__ = ["aggregate", "drops_record_of_none", "input_copies", "measure_text", "projected"]

_GENERIC = "extension:io.substrait:functions_aggregate_generic"

#: aggregates with more columns than this get a level of their own
_MANY = 200


def aggregate(node: Aggregate, query: Query, outer: tuple[Record, ...], compilation: Compilation) -> Query:
    """Return the query of an aggregate over its input's query."""
    if not node.direct_schema.types:
        raise InvalidPlanError("an aggregate has at least one grouping expression or measure")
    query, keys = _with_keys(node, query.flat(), outer, compilation)
    below = Below()
    scope = Scope(Record(query.columns[: len(node.input.schema.types)], node.common.rel_anchor), outer, below=below)
    measures = _measures(node, scope, compilation)
    query = below.under(query, compilation)
    sets = [tuple(grouping.expression_references) for grouping in node.groupings]
    for position, references in enumerate(sets):
        if any(reference >= len(keys) for reference in references):
            raise InvalidPlanError(
                f"it refers to grouping expression {max(references)}, but there are {len(keys)}",
                path=f"groupings[{position}].expression_references",
            )
    unused = sorted(set(range(len(keys))).difference(*sets))
    if unused:
        raise InvalidPlanError(
            "no grouping set refers to the grouping expression", path=f"grouping_expressions[{unused[0]}]"
        )
    if len(sets) <= 1:
        return _one_set(query, keys, measures)
    return _many_sets(node, query, keys, measures, sets, compilation)


def drops_record_of_none(node: Filter) -> bool:
    """Return whether a filter over an aggregate asks for groups with records, by a count above 0.

    So plans say that a total is as Spark has it: none without records.
    """
    below = node.input
    if not isinstance(below, Aggregate):
        return False
    for condition in conjuncts(node.condition):
        match condition:
            case ScalarFunction(
                function=function,
                arguments=(
                    FieldReference(root=RootReference(), reference=(StructField(field=place),)),
                    Literal(value=0),
                ),
            ) if (function.urn, function.name) == (COMPARISON, "gt") and _counts_all(below, place):
                return True
    return False


def _counts_all(node: Aggregate, column: int) -> bool:
    """Return whether a column of an aggregate is the number of the records of each group."""
    place = column if node.common.emit is None else node.common.emit[column]
    position = place - len(node.grouping_expressions)
    if not 0 <= position < len(node.measures):
        return False
    call, condition = node.measures[position].measure, node.measures[position].filter
    return (call.function.urn, call.function.name, call.arguments, condition) == (_GENERIC, "count", (), None)


def _with_keys(
    node: Aggregate, query: Query, outer: tuple[Record, ...], compilation: Compilation
) -> tuple[Query, list[Name]]:
    """Return the input with the grouping expressions as columns, and their names; no column serves two of them."""
    if fails_over(node.input, node.grouping_expressions):
        query = query.fenced()
    below = Below(inline=True)
    scope = Scope(Record(query.columns, node.common.rel_anchor), outer, below=below)
    columns = set(query.columns)  # that aren't keys yet
    keys: list[Name] = []
    computed: list[Item] = []
    for position, expression in enumerate(node.grouping_expressions):
        with at("grouping_expressions", position):
            if has_map(expression.type):
                raise UnsupportedPlanError(f"records cannot be grouped by {expression.type}: Spark cannot compare maps")
            text = expressions.expression(expression, scope, compilation)
        if isinstance(text, Name) and text in columns:
            columns.remove(text)
            keys.append(text)
        else:
            keys.append(compilation.column())
            computed.append(Item(text, keys[-1]))
    if computed:
        query = below.under(query, compilation)
        query = replace(query, items=(*query.items, *computed)).nested()
    return query, keys


def _measures(node: Aggregate, scope: Scope, compilation: Compilation) -> list[Item]:
    items = []
    for position, item in enumerate(node.measures):
        with at("measures", position):
            condition = None
            if item.filter is not None:
                with at("filter"):
                    condition = expressions.expression(item.filter, scope, compilation)
            with at("measure"):
                text = measure_text(item.measure, condition, scope, compilation)
            items.append(Item(text, compilation.column()))
    return items


def measure_text(call: AggregateFunction, condition: str | None, scope: Scope, compilation: Compilation) -> str:
    """The text of a measure, or of a null where refusals are collected."""
    try:
        return measure(call, condition, scope, compilation)
    except Exception as error:
        if compilation.refusals is None:
            raise
        return compilation.refusals.call(error, call, scope, compilation)


def _one_set(query: Query, keys: list[Name], measures: list[Item]) -> Query:
    groups = f"GROUP BY {', '.join(keys)}" if keys else ""
    return replace(query, items=(*plain(keys), *measures), tail=groups, aggregated=True)


def projected(node: Project, query: Query, outer: tuple[Record, ...], compilation: Compilation) -> Query | None:
    """Return the query of a projection in the same SELECT as the aggregate below it; None if that isn't possible.

    It saves a level. In a correlated subquery it saves more: Spark joins a subquery with an aggregate at its top
    directly with the outer query; for any other, it first joins the outer query with itself, so that groups without
    records aren't lost.
    """
    fits = query.aggregated and (not query.tail or query.tail.startswith("GROUP BY")) and compilation.refusals is None
    width = len(query.items)
    if not fits or width > _MANY or not all(map(_is_simple, node.expressions)):
        return None
    every = range(width + len(node.expressions))
    wanted = set(every if node.common.emit is None else node.common.emit).intersection(every)
    if not query.tail and not any(place < width or root_fields(node.expressions[place - width]) for place in wanted):
        # with no measure left, nothing would mark this as an aggregate for Spark
        return None
    scope = Scope(Record(tuple(atom(item.text) for item in query.items), node.common.rel_anchor), outer)
    items = list(query.items)
    keys = {item.name for item in items if item.text == item.name}
    taken = {item.name for position, item in enumerate(items) if position in wanted}
    for position, expression in enumerate(node.expressions):
        if len(items) not in wanted:
            items.append(query.items[0])
            continue
        with at("expressions", position):
            text = expressions.expression(expression, scope, compilation)
        passes = isinstance(text, Name) and text in keys and text not in taken
        name = Name(text) if passes else compilation.column()
        taken.add(name)
        items.append(Item(text, name))
    texts = "\n".join(items[position].text for position in wanted)
    if "->" in texts or any(texts.count(item.text) > 1 for item in query.items if item.name not in keys):
        # values computed twice, or for each of a lambda's values, are better computed below
        return None
    return replace(query, items=tuple(items), aggregated=False)


def _is_simple(node: Expression) -> bool:
    """Whether an expression can be combined with aggregate functions in one SELECT."""
    match node:
        case FieldReference(root=RootReference(), reference=(StructField(),)) | Literal():
            return True
        case ScalarFunction() | Cast() | IfThen():
            return all(map(_is_simple, expression_children(node)))
        case _:
            return False


def _split(sets: Sequence[tuple[int, ...]], *, as_spark: bool = False) -> tuple[dict[frozenset[int], int], list[int]]:
    """Return the positions of the sets that one SELECT can have together, and those of the others.

    Args:
        sets: the sets.
        as_spark: whether an empty set has no record over no records.
    """
    together: dict[frozenset[int], int] = {}
    apart: list[int] = []
    for position, references in enumerate(sets):
        if (references or as_spark) and frozenset(references) not in together:
            together[frozenset(references)] = position
        else:
            apart.append(position)
    if len(together) == 1:
        apart, together = sorted([*apart, *together.values()]), {}
    return together, apart


def input_copies(node: Relation) -> int:
    """Return how often the text has the inputs of a relation: once for each SELECT of an aggregate."""
    if not isinstance(node, Aggregate) or len(node.groupings) <= 1:
        return 1
    together, apart = _split([one.expression_references for one in node.groupings])
    return len(apart) + bool(together)


def _many_sets(
    node: Aggregate,
    query: Query,
    keys: list[Name],
    measures: list[Item],
    sets: list[tuple[int, ...]],
    compilation: Compilation,
) -> Query:
    """One SELECT with GROUPING SETS for the different sets that aren't empty, and one for each other set."""
    together, apart = _split(sets, as_spark=id(node) in compilation.as_spark)
    columns = tuple(compilation.column() for _ in node.direct_schema.types)
    selects = []
    if together:
        # a record's grouping_id has a bit for each key that isn't in its set, the first key's the highest
        arms = []
        for members, position in together.items():
            bits = sum(1 << (len(keys) - 1 - key) for key in range(len(keys)) if key not in members)
            arms.append(f"WHEN {bits} THEN {position}")
        # there are no other sets: because of ELSE, Spark knows that the number is never null
        last = [*together.values()][-1]
        number = f"CASE grouping_id({', '.join(keys)}) {' '.join(arms[:-1])} ELSE {last} END"
        texts = [*keys, *(item.text for item in measures), number]
        listed = ", ".join(f"({', '.join(keys[key] for key in sorted(members))})" for members in together)
        selects.append(_select(query, texts, columns, f"GROUP BY {', '.join(keys)} GROUPING SETS ({listed})"))
    for position in apart:
        grouped = frozenset(sets[position])
        texts = [
            key if reference in grouped else f"CAST(NULL AS {spark_type(type)})"
            for reference, (key, type) in enumerate(zip(keys, node.direct_schema.types, strict=False))
        ]
        texts += [*(item.text for item in measures), str(position)]
        groups = f"GROUP BY {', '.join(keys[key] for key in sorted(grouped))}" if grouped else ""
        if not grouped and not measures:
            # nothing marks this as an aggregate for Spark: the empty set alone gives one record
            query_of_one = Query(source="", items=tuple(Item(t, c) for t, c in zip(texts, columns, strict=True)))
            selects.append(query_of_one.text())
        else:
            selects.append(_select(query, texts, columns, groups))
    source = selects[0] if len(selects) == 1 else " UNION ALL ".join(f"({select})" for select in selects)
    return Query(source=f"({source})", items=plain(columns), depth=query.depth + 2)


def _select(query: Query, texts: list[str], columns: tuple[Name, ...], groups: str) -> str:
    items = tuple(Item(text, column) for text, column in zip(texts, columns, strict=True))
    return replace(query, items=items, tail=groups).text()
