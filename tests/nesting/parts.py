"""Plans to begin with, and the parts that the makers put into them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark_substrait.proto import messages

__all__ = [
    "ANCHORS",
    "NULLABLE",
    "REQUIRED",
    "Maker",
    "Step",
    "nested",
    "new_plan",
    "put_call",
    "put_call_of_field",
    "put_comparison",
    "put_emit",
    "put_field",
    "put_filter",
    "put_null_test",
    "put_number",
    "put_read",
    "put_sort",
    "put_window",
    "serialized",
]

Maker = Callable[[int], bytes]
Step = Callable[[Any], Any]

REQUIRED = 2
NULLABLE = 1
_FUNCTIONS = {
    "add:i64_i64": "functions_arithmetic",
    "sum:i64": "functions_arithmetic",
    "is_null:any": "functions_comparison",
    "equal:any_any": "functions_comparison",
    "gt:any_any": "functions_comparison",
    "and:bool": "functions_boolean",
    "coalesce:any": "functions_comparison",
    "concat:str": "functions_string",
    "transform:list_func": "functions_list",
}
ANCHORS = {name: number for number, name in enumerate(_FUNCTIONS, 1)}


def new_plan() -> Any:
    plan = messages.Plan()
    plan.version.minor_number = 108
    plan.execution_behavior.variable_eval_mode = 1
    files = {file: number for number, file in enumerate(dict.fromkeys(_FUNCTIONS.values()), 1)}
    for file, number in files.items():
        plan.extension_urns.add(extension_urn_anchor=number, urn=f"extension:io.substrait:{file}")
    for name, anchor in ANCHORS.items():
        declared = plan.extensions.add().extension_function
        declared.extension_urn_reference = files[_FUNCTIONS[name]]
        declared.function_anchor = anchor
        declared.name = name
    return plan


def serialized(plan: Any) -> bytes:
    return bytes(plan.SerializeToString())


def nested(begin: Callable[[Any, int], Any], step: Step, end: Callable[[Any], None]) -> Maker:
    """A maker of plans in which so many nodes stand in each other.

    Args:
        begin: given an empty plan and the size, fills it down to the message of the outermost node.
        step: makes a message one of the nodes, and gives the message inside it.
        end: fills the innermost message.
    """

    def made(size: int) -> bytes:
        plan = new_plan()
        node = begin(plan, size)
        for _ in range(size):
            node = step(node)
        end(node)
        return serialized(plan)

    return made


# parts of plans -------------------------------------------------------------------------------------------------------


def put_read(rel: Any, columns: int = 2, table: str = "t") -> None:
    """A read of so many 64 bit integers."""
    rel.read.named_table.names.append(table)
    schema = rel.read.base_schema
    schema.names.extend(f"c{number}" for number in range(columns))
    schema.struct.nullability = REQUIRED
    for _ in range(columns):
        schema.struct.types.add().i64.nullability = REQUIRED


def put_field(expression: Any, position: int = 0) -> None:
    expression.selection.direct_reference.struct_field.field = position
    expression.selection.root_reference.SetInParent()


def put_number(expression: Any, value: int = 1) -> None:
    expression.literal.i64 = value


def put_call(expression: Any, name: str, type: str = "i64", *, nullable: bool = False) -> Any:
    """Begin a call; what is returned takes its arguments."""
    call = expression.scalar_function
    call.function_reference = ANCHORS[name]
    getattr(call.output_type, type).nullability = NULLABLE if nullable else REQUIRED
    return call.arguments


def put_comparison(expression: Any, left: int = 0, value: int = 1) -> None:
    arguments = put_call(expression, "gt:any_any", "bool")
    put_field(arguments.add().value, left)
    put_number(arguments.add().value, value)


def put_emit(common: Any, *positions: int) -> None:
    common.emit.output_mapping.extend(positions)


def put_sort(sorts: Any, position: int = 0) -> None:
    sort = sorts.add()
    put_field(sort.expr, position)
    sort.direction = 1


def put_call_of_field(expression: Any, name: str) -> Any:
    """A call whose first argument is the first column; its second argument is left to be filled."""
    arguments = put_call(expression, name)
    put_field(arguments.add().value)
    return arguments.add().value


def put_filter(rel: Any) -> Any:
    put_comparison(rel.filter.condition)
    return rel.filter.input


def put_window(rel: Any) -> Any:
    function = rel.window.window_functions.add()
    function.function_reference = ANCHORS["sum:i64"]
    function.output_type.i64.nullability = NULLABLE
    function.phase = 3
    function.invocation = 1
    function.bounds_type = 1
    function.lower_bound.unbounded.SetInParent()
    function.upper_bound.current_row.SetInParent()
    put_field(function.arguments.add().value)
    put_field(rel.window.partition_expressions.add(), 1)
    put_sort(rel.window.sorts)
    put_emit(rel.window.common, 0, 1)
    return rel.window.input


def put_null_test(plan: Any) -> Any:
    """An expression of any type, in the condition of a filter: whether it is null."""
    root = plan.relations.add().root
    root.names.extend(["c0", "c1"])
    put_read(root.input.filter.input)
    return put_call(root.input.filter.condition, "is_null:any", "bool").add().value
