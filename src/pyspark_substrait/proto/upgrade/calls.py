"""Function calls: their arguments, enum arguments that became options, window bounds."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import assert_never

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.paths import Path, render
from pyspark_substrait.proto.upgrade.context import SETTLED_MINOR, Context, Function
from pyspark_substrait.proto.upgrade.keys import Append, Drop, MoveOptions, option_names

__all__ = ["upgrade_call", "upgrade_window_call", "upgrade_window_relation_call"]

_BOUNDS: tuple[Literal["lower_bound", "upper_bound"], ...] = ("lower_bound", "upper_bound")
_BOUNDS_TYPE_ROWS = 1
_UNSPECIFIED = "\x12\x00"
_ROUNDINGS = {"TIE_TO_EVEN", "TIE_AWAY_FROM_ZERO", "TRUNCATE", "CEILING", "FLOOR"}
_WITH_ENUM_ARGUMENTS = {"median", "quantile", "std_dev", "variance"}
_INDEXED_COMPONENTS = {
    "QUARTER",
    "MONTH",
    "DAY",
    "DAY_OF_YEAR",
    "MONDAY_DAY_OF_WEEK",
    "SUNDAY_DAY_OF_WEEK",
    "MONDAY_WEEK",
    "SUNDAY_WEEK",
    "ISO_WEEK",
    "US_WEEK",
}
_STRPTIME = {
    "date": "strptime_date",
    "precision_time": "strptime_time",
    "time": "strptime_time",
    "precision_timestamp": "strptime_timestamp",
    "timestamp": "strptime_timestamp",
    "precision_timestamp_tz": "strptime_timestamp",
    "timestamp_tz": "strptime_timestamp",
}


def upgrade_call(message: Any, path: Path, context: Context) -> None:
    """Upgrade a call of a scalar, aggregate or window function."""
    _upgrade_arguments(message, path, context)
    function = context.functions.get(message.function_reference)
    if function is None or not function.standard:
        _drop_unspecified(message, path, context)
        return
    for edit in function.edits:
        match edit:
            case MoveOptions(options):
                _move_options(message, options, path, context)
            case Append(kind, value):
                setattr(message.arguments.add().value.literal, kind, value)
                context.note(
                    "function-argument", path, f"{function.name} without its last argument", f"{value!r} added"
                )
            case Drop(position):
                del message.arguments[position if position >= 0 else len(message.arguments) + position]
                context.note("function-argument", path, "an argument that is gone", f"{function.key} without it")
            case _:
                assert_never(edit)
    unsettled = context.older_than(SETTLED_MINOR)
    if unsettled and not function.edits and ":" not in function.key:
        _move_leading_options(message, function, path, context)
    if function.name == "extract" and unsettled:
        _index_extract(message, function, path, context)
    elif function.name == "strptime":
        _choose_strptime(message, function, path, context)
    elif function.name in ("std_dev", "variance") and context.older_than(88):
        _distribution_argument(message, function, path, context)
    _drop_unspecified(message, path, context)


def _drop_unspecified(message: Any, path: Path, context: Context) -> None:
    for index in reversed([i for i, argument in enumerate(message.arguments) if argument.enum == _UNSPECIFIED]):
        del message.arguments[index]
        context.note("unspecified-enum", path, f"arguments[{index}] is an unspecified enum", "left out")


def _upgrade_arguments(message: Any, path: Path, context: Context) -> None:
    fields = message.DESCRIPTOR.fields_by_name
    if "args" in fields and message.args:
        if not message.arguments:
            for index, old in enumerate(message.args):
                argument = message.arguments.add()
                if old.HasField("enum"):
                    enum = old.enum
                    argument.enum = enum.specified if enum.WhichOneof("enum_kind") == "specified" else _UNSPECIFIED
                    context.note("enum-expression", (path, f"args[{index}]"), "an enum expression", "an enum argument")
                else:
                    argument.value.CopyFrom(old)
            after = "arguments"
        else:
            after = "left out, as arguments has them"
        message.ClearField("args")
        context.note("function-args", path, "args", after)
    for index, argument in enumerate(message.arguments):
        text = argument.enum
        if text and text[0] == "\n" and len(text) >= 2 and ord(text[1]) == len(text.encode()) - 2:
            argument.enum = text[2:]
            context.note("enum-argument", ((path, "arguments"), index), "an Enum message", repr(text[2:]))


def _move_options(message: Any, options: tuple[tuple[int, str], ...], path: Path, context: Context) -> None:
    """Move enum arguments to the options; a call that has none is left as it is."""
    arguments = message.arguments
    if any(position >= len(arguments) or not arguments[position].HasField("enum") for position, _ in options):
        return
    stated = {option.name for option in message.options}
    for position, name in options:
        value = arguments[position].enum
        before = f"arguments[{position}] is the enum {value!r}"
        if value == _UNSPECIFIED:
            context.note("enum-to-option", path, f"arguments[{position}] is an unspecified enum", f"no option {name!r}")
        else:
            if name not in stated:
                message.options.add(name=name, preference=[value])
            context.note("enum-to-option", path, before, f"option {name}={value}")
    for position, _ in reversed(options):
        del arguments[position]


def _move_leading_options(message: Any, function: Function, path: Path, context: Context) -> None:
    """Like :func:`_move_options`, for a function declared by its simple name: only the arguments show the options."""
    enums = [argument.enum for argument in message.arguments if argument.HasField("enum")]
    if not enums:
        return
    names = option_names(function.name)
    count = len(enums)
    if function.name in _WITH_ENUM_ARGUMENTS:
        if function.name == "median" and count == 2:
            options: tuple[tuple[int, str], ...] = ((1, "rounding"),)
        elif function.name == "quantile" and count == 3:
            options = ((2, "rounding"),)
        elif function.name in ("std_dev", "variance") and count == 2:
            options = ((0, "rounding"), (1, "distribution"))
        else:
            return
    else:
        if function.name == "divide" and count > 1:
            names = option_names(function.name, ("fp64",))
        elif len(names) == 1 and names[0] == "overflow" and enums[0] in _ROUNDINGS:
            names = ("rounding",)
        if not names or count > len(names):
            return
        options = tuple(enumerate(names[:count]))
    _move_options(message, options, path, context)


def _index_extract(message: Any, function: Function, path: Path, context: Context) -> None:
    """Add the indexing argument that ``extract`` has for some components since 0.30; before, they started at one."""
    arguments = message.arguments
    enums = sum(1 for argument in arguments if argument.HasField("enum"))
    if enums != 1 or arguments[0].enum not in _INDEXED_COMPONENTS:
        return
    component = arguments[0].enum
    kept = []
    for argument in arguments[1:]:
        copy = type(argument)()
        copy.CopyFrom(argument)
        kept.append(copy)
    del arguments[1:]
    arguments.add().enum = "ONE"
    for copy in kept:
        arguments.add().CopyFrom(copy)
    name, colon, signature = function.key.partition(":")
    if colon and signature.startswith("req_"):
        message.function_reference = context.declared(function, f"{name}:req_{signature}")
    context.note("extract-indexing", path, f"extract {component}", f"extract {component}, indexing ONE")


def _choose_strptime(message: Any, function: Function, path: Path, context: Context) -> None:
    """Replace ``strptime`` by the function for its output type, which its name states since 0.28.2."""
    new = _STRPTIME.get(message.output_type.WhichOneof("kind") or "")
    if new is None:
        raise InvalidPlanError(
            "strptime without an output type can be any of strptime_date, strptime_time, strptime_timestamp",
            path=render(path),
            hint="Give the call an output type",
        )
    _, colon, signature = function.key.partition(":")
    if new != "strptime_date":
        message.arguments.add().value.literal.i8 = 6
        signature = f"{signature}_i8"
    message.function_reference = context.declared(function, f"{new}{colon}{signature if colon else ''}")
    context.note("function-key", path, function.key, f"{new}, by the output type")


def _distribution_argument(message: Any, function: Function, path: Path, context: Context) -> None:
    """Move the distribution from the options to the arguments, where it is since 0.88."""
    options = [(index, option) for index, option in enumerate(message.options) if option.name == "distribution"]
    if len(options) != 1 or len(options[0][1].preference) != 1 or len(message.arguments) != 1:
        return
    index, option = options[0]
    value = option.preference[0]
    operand = type(message.arguments[0])()
    operand.CopyFrom(message.arguments[0])
    del message.options[index]
    del message.arguments[:]
    message.arguments.add().enum = value
    message.arguments.add().CopyFrom(operand)
    name, colon, signature = function.key.partition(":")
    if colon:
        message.function_reference = context.declared(function, f"{name}:req_{signature}")
    context.note("distribution-argument", path, f"option distribution={value}", f"argument {value}")


def upgrade_window_call(message: Any, path: Path, context: Context) -> None:
    """`Expression.WindowFunction`."""
    upgrade_call(message, path, context)
    _upgrade_bounds(message, path, context)


def upgrade_window_relation_call(message: Any, path: Path, context: Context) -> None:
    """`ConsistentPartitionWindowRel.WindowRelFunction`."""
    upgrade_call(message, path, context)
    _upgrade_bounds(message, path, context)


def _upgrade_bounds(message: Any, path: Path, context: Context) -> None:
    bounded = False
    for name in _BOUNDS:
        if not message.HasField(name):
            continue
        bound = getattr(message, name)
        kind = bound.WhichOneof("kind")
        if kind in ("preceding", "following"):
            _upgrade_offset(getattr(bound, kind), ((path, name), kind), context)
        bounded = bounded or kind in ("preceding", "following", "current_row")
    if bounded and message.bounds_type == 0 and context.older_than(32):
        message.bounds_type = _BOUNDS_TYPE_ROWS
        context.note("window-bounds-type", path, "no bounds_type", "BOUNDS_TYPE_ROWS")


def _upgrade_offset(side: Any, path: Path, context: Context) -> None:
    """Upgrade the ``offset`` of a bound (since 0.102, an expression)."""
    old = side.offset
    if side.HasField("offset_expr"):
        if old:
            literal = side.offset_expr.literal
            stated = getattr(literal, literal.WhichOneof("literal_type") or "i64")
            if side.offset_expr.HasField("literal") and isinstance(stated, int) and stated != old:
                raise InvalidPlanError(
                    f"offset is {old} and offset_expr is {stated}", path=render(path), hint="Leave out offset"
                )
            side.ClearField("offset")
            context.note("window-offset", path, f"offset {old} beside offset_expr", "offset_expr")
        return
    if old or context.older_than(102):
        side.ClearField("offset")
        side.offset_expr.literal.i64 = old
        context.note("window-offset", path, f"offset {old}", f"offset_expr, the literal {old}")
