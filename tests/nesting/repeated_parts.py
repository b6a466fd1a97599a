"""Expressions and relations with any number of parts beside each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.nesting.parts import (
    ANCHORS,
    NULLABLE,
    Maker,
    new_plan,
    put_call,
    put_comparison,
    put_emit,
    put_field,
    put_null_test,
    put_number,
    put_read,
    put_sort,
    put_window,
    serialized,
)

__all__ = ["REPEATED_PARTS"]


def _beside(fill: Callable[[Any, int], None]) -> Maker:
    """An expression with so many parts."""

    def made(size: int) -> bytes:
        plan = new_plan()
        fill(put_null_test(plan), size)
        return serialized(plan)

    return made


def _list_of(expression: Any, size: int) -> None:
    for number in range(size):
        expression.literal.list.values.add().i64 = number


def _map_of(expression: Any, size: int) -> None:
    for number in range(size):
        pair = expression.literal.map.key_values.add()
        pair.key.i64 = number
        pair.value.string = "x"


def _struct_of(expression: Any, size: int) -> None:
    for number in range(size):
        expression.literal.struct.fields.add().i64 = number


def _text_of(expression: Any, size: int) -> None:
    expression.literal.string = "x" * size


def _nested_list_of(expression: Any, size: int) -> None:
    for _ in range(size):
        put_field(expression.nested.list.values.add())


def _nested_struct_of(expression: Any, size: int) -> None:
    for _ in range(size):
        put_field(expression.nested.struct.fields.add())


def _nested_map_of(expression: Any, size: int) -> None:
    for number in range(size):
        pair = expression.nested.map.key_values.add()
        put_number(pair.key, number)
        put_field(pair.value)


def _clauses_of(expression: Any, size: int) -> None:
    for number in range(size):
        clause = expression.if_then.ifs.add()
        put_comparison(getattr(clause, "if"), 0, number)
        put_number(clause.then)
    put_number(getattr(expression.if_then, "else"))


def _cases_of(expression: Any, size: int) -> None:
    put_field(expression.switch_expression.match)
    for number in range(size):
        case = expression.switch_expression.ifs.add()
        getattr(case, "if").i64 = number
        put_number(case.then)
    put_number(getattr(expression.switch_expression, "else"))


def _options_of(expression: Any, size: int) -> None:
    put_field(expression.singular_or_list.value)
    for number in range(size):
        put_number(expression.singular_or_list.options.add(), number)


def _records_of(expression: Any, size: int) -> None:
    put_field(expression.multi_or_list.value.add())
    for number in range(size):
        put_number(expression.multi_or_list.options.add().fields.add(), number)


def _arguments_of(expression: Any, size: int) -> None:
    arguments = put_call(expression, "coalesce:any")
    for _ in range(size):
        put_field(arguments.add().value)


_BESIDE: dict[str, Callable[[Any, int], None]] = {
    "a list literal": _list_of,
    "a map literal": _map_of,
    "a struct literal": _struct_of,
    "a text": _text_of,
    "a nested list": _nested_list_of,
    "a nested struct": _nested_struct_of,
    "a nested map": _nested_map_of,
    "clauses": _clauses_of,
    "cases": _cases_of,
    "options": _options_of,
    "records of options": _records_of,
    "arguments": _arguments_of,
}


def _rooted(fill: Callable[[Any, int], int]) -> Maker:
    """A relation with so many parts; what fills it says how many columns it has."""

    def made(size: int) -> bytes:
        plan = new_plan()
        root = plan.relations.add().root
        root.names.extend(f"c{number}" for number in range(fill(root.input, size)))
        return serialized(plan)

    return made


def _columns(rel: Any, size: int) -> int:
    put_read(rel, size)
    return size


def _expressions_of(rel: Any, size: int) -> int:
    for number in range(size):
        put_number(rel.project.expressions.add(), number)
    put_read(rel.project.input)
    return size + 2


def _repeated(rel: Any, size: int) -> int:
    put_emit(rel.filter.common, *[0] * size)
    put_comparison(rel.filter.condition)
    put_read(rel.filter.input)
    return size


def _sort_fields(rel: Any, size: int) -> int:
    for _ in range(size):
        put_sort(rel.sort.sorts)
    put_read(rel.sort.input)
    return 2


def _members(rel: Any, size: int) -> int:
    rel.set.op = 6
    for _ in range(size):
        put_read(rel.set.inputs.add())
    return 2


def _measures(rel: Any, size: int) -> int:
    for _ in range(size):
        measure = rel.aggregate.measures.add().measure
        measure.function_reference = ANCHORS["sum:i64"]
        measure.output_type.i64.nullability = NULLABLE
        measure.phase = 3
        measure.invocation = 1
        put_field(measure.arguments.add().value)
    put_read(rel.aggregate.input)
    return size


def _grouping_sets(rel: Any, size: int) -> int:
    for position in range(2):
        put_field(rel.aggregate.grouping_expressions.add(), position)
    for number in range(size):
        rel.aggregate.groupings.add().expression_references.extend([[0], [1], [0, 1]][number % 3])
    put_read(rel.aggregate.input)
    return 3


def _keys(rel: Any, size: int) -> int:
    for position in range(size):
        put_field(rel.aggregate.grouping_expressions.add(), position)
    rel.aggregate.groupings.add().expression_references.extend(range(size))
    put_read(rel.aggregate.input, size)
    return size


def _window_functions(rel: Any, size: int) -> int:
    put_read(put_window(rel))
    del rel.window.common.emit.output_mapping[:]
    rel.window.common.ClearField("emit")
    for _ in range(size - 1):
        rel.window.window_functions.add().CopyFrom(rel.window.window_functions[0])
    return size + 2


def _duplicates(rel: Any, size: int) -> int:
    for number in range(size):
        put_number(rel.expand.fields.add().switching_field.duplicates.add(), number)
    put_read(rel.expand.input)
    put_emit(rel.expand.common, *range(size))
    return size


def _switching(rel: Any, size: int) -> int:
    field = rel.expand.fields.add().switching_field
    for number in range(size):
        put_number(field.duplicates.add(), number)
    put_read(rel.expand.input)
    put_emit(rel.expand.common, 0)
    return 1


def _rows(rel: Any, size: int) -> int:
    put_read(rel)
    rel.read.ClearField("named_table")
    for number in range(size):
        record = rel.read.virtual_table.expressions.add()
        for _ in range(2):
            put_number(record.fields.add(), number)
    return 2


def _files(rel: Any, size: int) -> int:
    put_read(rel)
    rel.read.ClearField("named_table")
    for number in range(size):
        item = rel.read.local_files.items.add()
        item.uri_file = f"file:///data/{number}.parquet"
        item.parquet.SetInParent()
    return 2


_ROOTED: dict[str, Callable[[Any, int], int]] = {
    "columns": _columns,
    "expressions of a projection": _expressions_of,
    "a column put out again": _repeated,
    "sort fields": _sort_fields,
    "members of a union": _members,
    "measures": _measures,
    "grouping sets": _grouping_sets,
    "grouping keys": _keys,
    "window functions": _window_functions,
    "fields of an expand": _duplicates,
    "duplicates of an expand": _switching,
    "records": _rows,
    "files": _files,
}


REPEATED_PARTS: dict[str, Maker] = {
    **{f"the length of {what}": _beside(fill) for what, fill in _BESIDE.items()},
    **{f"the number of {what}": _rooted(fill) for what, fill in _ROOTED.items()},
}
