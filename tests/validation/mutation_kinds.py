"""The ways in which a plan is changed. Each says where it can be, and what of it may be a valid plan again."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

from pyspark_substrait.model.types import OpenStruct, Type, Unbound
from tests.validation.origins import Node, Origin

__all__ = ["KINDS", "Site"]

MESSAGE = FieldDescriptor.TYPE_MESSAGE
ENUM = FieldDescriptor.TYPE_ENUM


@dataclass(frozen=True)
class Site:
    """A place where a plan can be changed.

    ``valid``: why the changed plan may be a valid one, as far as that is known beforehand; empty where it can't be.
    """

    path: str
    apply: Callable[[], object]
    valid: str = ""


Maker = Callable[[Node, Origin, random.Random], Iterator[Site]]
KINDS: dict[str, Maker] = {}


def _kind(maker: Maker) -> Maker:
    KINDS[maker.__name__.strip("_").replace("_", " ")] = maker
    return maker


def _set(message: Any, name: str, value: Any) -> Callable[[], object]:
    return lambda: setattr(message, name, value)


def _clear(message: Any, name: str) -> Callable[[], object]:
    return lambda: message.ClearField(name)


_OPEN = "what the relation below gives is known to its maker only"
_UNKNOWN = "the function's definition is not at hand"


@_kind
def _reference_far(node: Node, origin: Origin, chance: random.Random) -> Iterator[Site]:
    if node.kind == "Expression.ReferenceSegment.StructField":
        root, value = _reference(node)
        open_ = root == "root_reference" and origin.record(node.path) is None and _is_open(origin, node.path)
        yield Site(node.path, _set(node.message, "field", node.message.field + 1000), _OPEN if open_ else "")
        yield Site(node.path, _set(node.message, "field", -1), _OPEN if open_ and value else "")


def _reference(node: Node) -> tuple[str, Any]:
    found = next((item for item in node.around if item.DESCRIPTOR.name == "FieldReference"), None)
    return ("", None) if found is None else (found.WhichOneof("root_type") or "root_reference", found)


def _is_open(origin: Origin, path: str) -> bool:
    while path:
        node = origin.at.get(path)
        if node is not None and hasattr(node, "schema"):
            inputs = getattr(node, "inputs", ())
            return any(isinstance(input.schema, OpenStruct) for input in inputs)
        path = path.rpartition(".")[0]
    return False


@_kind
def _reference_beside(node: Node, origin: Origin, chance: random.Random) -> Iterator[Site]:
    if node.kind != "Expression.FieldReference" or not node.message.HasField("direct_reference"):
        return
    segment, record = node.message.direct_reference.struct_field, origin.record(node.path)
    if node.message.WhichOneof("root_type") != "root_reference" or segment.HasField("child") or record is None:
        return
    others = [index for index in range(-1, len(record.types) + 1) if index != segment.field]
    other, place = chance.choice(others), node.path.removesuffix(".selection")
    if not 0 <= other < len(record.types):
        yield Site(place, _set(segment, "field", other))
        return
    valid = _may_be(place, record.types[segment.field], record.types[other], node, origin)
    yield Site(place, _set(segment, "field", other), valid)


_AGREEING = (
    *("then", "else", "condition", "filter", "if", "match", "best_effort_filter", "expression", "value"),
    *("options", "needles", "left", "right", "values", "transformation"),
)


def _may_be(path: str, old: Type, new: Type, node: Node, origin: Origin) -> str:
    """Why an expression may become one of another type in this place; empty where it may not."""
    if _base(old) == _base(new):
        return "the type is the same"
    field_name = path.rpartition(".")[2].partition("[")[0]
    if field_name == "value" and ".arguments[" in path:
        call = next((item for item in node.around if hasattr(item, "function_reference")), None)
        if call is None:
            return "any type does in this place"
        if not origin.known(call.function_reference):
            return _UNKNOWN
        signature = origin.signature(call.function_reference)
        if not signature:
            return "?"
        index = int(path.rpartition("[")[2].partition("]")[0])
        wanted = signature[min(index, len(signature) - 1)]
        alone = sum(part.startswith("any") for part in signature) == 1 and not origin.variadic(call.function_reference)
        return "the argument takes any type" if wanted.startswith("any") and alone else ""
    if field_name == "then" and len(node.around[2].ifs) == 1 and not node.around[2].HasField("else"):
        return "there is one branch only"
    if field_name in ("left", "right") and ".keys[" in path:
        return "?"
    if field_name in _AGREEING:
        return ""
    return "any type does in this place"


def _base(type: Type) -> object:
    return replace(type, nullable=False)


@_kind
def _argument_dropped(node: Node, origin: Origin, chance: random.Random) -> Iterator[Site]:
    for arguments, valid in _arguments(node, origin):
        if arguments:
            index = chance.randrange(len(arguments))
            yield Site(node.path, partial(arguments.__delitem__, index), valid)


@_kind
def _argument_added(node: Node, origin: Origin, chance: random.Random) -> Iterator[Site]:
    for arguments, valid in _arguments(node, origin):
        if arguments:
            yield Site(node.path, partial(arguments.append, arguments[-1]), valid)


@_kind
def _argument_emptied(node: Node, origin: Origin, chance: random.Random) -> Iterator[Site]:
    if node.kind == "FunctionArgument":
        yield Site(node.path, node.message.Clear)


def _arguments(node: Node, origin: Origin) -> Iterator[tuple[Any, str]]:
    if hasattr(node.message, "function_reference") and hasattr(node.message, "arguments"):
        anchor = node.message.function_reference
        valid = "the function takes any number" if origin.known(anchor) and origin.variadic(anchor) else ""
        yield node.message.arguments, valid if origin.known(anchor) else _UNKNOWN


@_kind
def _arguments_swapped(node: Node, origin: Origin, chance: random.Random) -> Iterator[Site]:
    for arguments, _ in _arguments(node, origin):
        if len(arguments) < 2:
            continue
        first = chance.randrange(len(arguments) - 1)
        anchor, copy = node.message.function_reference, type(arguments[0])()
        copy.CopyFrom(arguments[first])
        signature = origin.signature(anchor)
        parts = [signature[min(index, len(signature) - 1)] if signature else "?" for index in (first, first + 1)]

        def swap(arguments: Any = arguments, first: int = first, copy: Any = copy) -> None:
            arguments[first].CopyFrom(arguments[first + 1])
            arguments[first + 1].CopyFrom(copy)

        kinds = [arguments[index].WhichOneof("arg_type") for index in (first, first + 1)]
        same = parts[0] == parts[1] or all(part.startswith("any") for part in parts)
        valid = "both arguments are of one type" if same and kinds == ["value", "value"] else ""
        valid = "?" if valid and not signature else valid
        yield Site(node.path, swap, valid if origin.known(anchor) else _UNKNOWN)


@_kind
def _option_misspelt(node: Node, origin: Origin, chance: random.Random) -> Iterator[Site]:
    if node.kind == "FunctionOption":
        valid = "" if origin.known(node.around[0].function_reference) else _UNKNOWN
        yield Site(node.path, _set(node.message, "name", node.message.name + "x"), valid)
        if node.message.preference:
            yield Site(node.path, lambda: node.message.preference.__setitem__(0, "NO_SUCH"), valid)
            yield Site(node.path, _clear(node.message, "preference"), valid)
    if node.kind == "FunctionArgument" and node.message.WhichOneof("arg_type") == "enum":
        valid = "" if origin.known(node.around[0].function_reference) else _UNKNOWN
        yield Site(node.path, _set(node.message, "enum", "NO_SUCH"), valid)


@_kind
def _enum_unknown(node: Node, origin: Origin, chance: random.Random) -> Iterator[Site]:
    for descriptor in node.message.DESCRIPTOR.fields:
        if descriptor.type == ENUM and not descriptor.is_repeated:
            if descriptor.containing_oneof is not None and not node.message.HasField(descriptor.name):
                continue
            yield Site(f"{node.path}.{descriptor.name}", _set(node.message, descriptor.name, 99))


_MAY_BE_UNSPECIFIED = {
    "phase": "unspecified means the whole",
    "invocation": "unspecified means all",
    "build_input": "unspecified means the right",
    "bounds_type": "without offsets, both are the same",
    "failure_behavior": "unspecified has a meaning",
    "create_mode": "only for writes that create",
    "output": "nothing is put out unless the plan says so",
    "variable_eval_mode": "unspecified has a meaning",
    "type": "an older comparison of keys",
}


@_kind
def _enum_unspecified(node: Node, origin: Origin, chance: random.Random) -> Iterator[Site]:
    for descriptor, value in node.message.ListFields():
        if descriptor.type == ENUM and not descriptor.is_repeated and value != 0:
            valid = _MAY_BE_UNSPECIFIED.get(descriptor.name, "") if node.kind != "JoinRel" else ""
            yield Site(f"{node.path}.{descriptor.name}", _set(node.message, descriptor.name, 0), valid)


_ANCHORS = (
    "function_reference",
    "type_reference",
    "type_variation_reference",
    "extension_urn_reference",
    "type_alias_reference",
    "lambda_reference",
    "rel_reference",
    "subtree_ordinal",
    "comparison_function_reference",
    "custom_function_reference",
    "detached_rel_ordinal",
    "detached_expression_ordinal",
)


@_kind
def _anchor_dangling(node: Node, origin: Origin, chance: random.Random) -> Iterator[Site]:
    for descriptor in node.message.DESCRIPTOR.fields:
        if descriptor.name in _ANCHORS and descriptor.type != MESSAGE:
            if descriptor.containing_oneof is not None and not node.message.HasField(descriptor.name):
                continue
            value = (getattr(node.message, descriptor.name) + 997) % 2**31
            yield Site(f"{node.path}.{descriptor.name}", _set(node.message, descriptor.name, value))


@_kind
def _function_of_another_name(node: Node, origin: Origin, chance: random.Random) -> Iterator[Site]:
    others = [anchor for anchor in origin.functions if anchor != getattr(node.message, "function_reference", anchor)]
    if not hasattr(node.message, "function_reference") or not others:
        return
    old, new = node.message.function_reference, chance.choice(others)
    valid = ""
    if not origin.known(new):
        valid = _UNKNOWN
    elif origin.known(old):
        before, after = (next(iter(origin.overloads(anchor)), None) for anchor in (old, new))
        if before is None or after is None or (before.kind, before.arguments) == (after.kind, after.arguments):
            valid = "the other one takes the same arguments"
        elif origin.variadic(new) or any("any" in item.key for item in origin.overloads(new)):
            valid = "the other one takes any"
    yield Site(node.path, _set(node.message, "function_reference", new), valid or "")


_REQUIRED = {
    "FilterRel": ("input", "condition"),
    "FetchRel": ("input",),
    "SortRel": ("input",),
    "ProjectRel": ("input",),
    "AggregateRel": ("input",),
    "JoinRel": ("left", "right", "expression"),
    "CrossRel": ("left", "right"),
    "HashJoinRel": ("left", "right"),
    "MergeJoinRel": ("left", "right"),
    "NestedLoopJoinRel": ("left", "right"),
    "SetRel": ("inputs",),
    "ReadRel": ("base_schema", "named_table", "virtual_table", "local_files"),
    "WriteRel": ("input", "table_schema"),
    "TopNRel": ("input",),
    "RelRoot": ("input",),
    "SortField": ("expr",),
    "FunctionArgument": ("value",),
    "AggregateRel.Measure": ("measure",),
    "Expression.Cast": ("type", "input"),
    "Expression.IfThen": ("ifs",),
    "Expression.IfThen.IfClause": ("if", "then"),
    "Expression.SwitchExpression.IfValue": ("if", "then"),
    "Expression.SingularOrList": ("value",),
    "Expression.FieldReference": ("direct_reference", "masked_reference"),
    "Expression.Subquery.Scalar": ("input",),
    "Expression.Subquery.SetPredicate": ("tuples",),
    "Expression.Subquery.InPredicate": ("haystack", "needles"),
    "Expression.Subquery.SetComparison": ("left", "right"),
    "Expression.ScalarFunction": ("output_type",),
    "Expression.WindowFunction": ("output_type",),
    "AggregateFunction": ("output_type",),
    "Type.List": ("type",),
    "Type.Map": ("key", "value"),
    "NamedStruct": ("struct",),
}


@_kind
def _required_field_cleared(node: Node, origin: Origin, chance: random.Random) -> Iterator[Site]:
    for name in _REQUIRED.get(node.kind, ()):
        descriptor = node.message.DESCRIPTOR.fields_by_name[name]
        if len(getattr(node.message, name)) if descriptor.is_repeated else node.message.HasField(name):
            empty = node.kind == "NamedStruct" and not node.message.names
            yield Site(f"{node.path}.{name}", _clear(node.message, name), "there are no columns" if empty else "")


@_kind
def _expression_emptied(node: Node, origin: Origin, chance: random.Random) -> Iterator[Site]:
    if node.kind in ("Expression", "Rel", "Expression.Literal") and node.path:
        yield Site(node.path, node.message.Clear)


_TYPES = ("i8", "i64", "fp64", "string", "bool", "date", "uuid", "interval_year")


@_kind
def _output_type_changed(node: Node, origin: Origin, chance: random.Random) -> Iterator[Site]:
    if hasattr(node.message, "output_type") and node.message.HasField("output_type"):
        valid = "" if origin.known(node.message.function_reference) else _UNKNOWN
        old = node.message.output_type.WhichOneof("kind")
        new = chance.choice([name for name in _TYPES if name != old])

        def change() -> None:
            node.message.output_type.Clear()
            getattr(node.message.output_type, new).nullability = 2

        yield Site(f"{node.path}.output_type", change, valid)


@_kind
def _output_nullability_flipped(node: Node, origin: Origin, chance: random.Random) -> Iterator[Site]:
    if hasattr(node.message, "output_type") and node.message.HasField("output_type"):
        type = node.message.output_type
        kind = type.WhichOneof("kind")
        if kind is None or not hasattr(getattr(type, kind), "nullability"):
            return
        inner = getattr(type, kind)
        valid = "" if origin.known(node.message.function_reference) else _UNKNOWN
        yield Site(f"{node.path}.output_type", _set(inner, "nullability", 3 - inner.nullability), valid)


@_kind
def _type_changed(node: Node, origin: Origin, chance: random.Random) -> Iterator[Site]:
    if node.kind == "Type" and ".output_type" not in node.path and node.message.WhichOneof("kind") is not None:
        new = chance.choice([name for name in _TYPES if name != node.message.WhichOneof("kind")])

        def change() -> None:
            node.message.Clear()
            getattr(node.message, new).nullability = 2

        yield Site(node.path, change, "?")


@_kind
def _nullability_flipped(node: Node, origin: Origin, chance: random.Random) -> Iterator[Site]:
    nullability = getattr(node.message, "nullability", 0)
    if nullability and ".output_type" not in node.path:
        yield Site(node.path, _set(node.message, "nullability", 3 - nullability), "?")


@_kind
def _nullability_unspecified(node: Node, origin: Origin, chance: random.Random) -> Iterator[Site]:
    if getattr(node.message, "nullability", 0):
        yield Site(node.path, _set(node.message, "nullability", 0))


_OUT_OF_RANGE: dict[str, Any] = {
    "i8": 128,
    "i16": -32769,
    "date": 2**31 - 1,
    "fixed_char": "",
    "uuid": b"\x00",
}


@_kind
def _literal_out_of_range(node: Node, origin: Origin, chance: random.Random) -> Iterator[Site]:
    if node.kind != "Expression.Literal":
        return
    match node.message.WhichOneof("literal_type"):
        case "i8" | "i16" | "date" | "uuid" as name:
            yield Site(node.path, _set(node.message, name, _OUT_OF_RANGE[name]))
        case "decimal":
            yield Site(node.path, _set(node.message.decimal, "value", b"\x00"))
            yield Site(node.path, _set(node.message.decimal, "value", b"\x7f" * 16))
            yield Site(node.path, _set(node.message.decimal, "precision", 39))
            yield Site(node.path, _set(node.message.decimal, "scale", 40))
        case "var_char":
            yield Site(node.path, _set(node.message.var_char, "value", "x" * (node.message.var_char.length + 1)))
        case "precision_time" | "precision_timestamp" | "precision_timestamp_tz" as name:
            yield Site(node.path, _set(getattr(node.message, name), "precision", 13))
        case "interval_day_to_second":
            yield Site(node.path, _set(node.message.interval_day_to_second, "days", 2**31 - 1))


@_kind
def _parameter_out_of_range(node: Node, origin: Origin, chance: random.Random) -> Iterator[Site]:
    match node.kind:
        case "Type.Decimal":
            yield Site(node.path, _set(node.message, "precision", 39))
            yield Site(node.path, _set(node.message, "scale", node.message.precision + 1))
            yield Site(node.path, _set(node.message, "precision", 0))
        case "Type.VarChar" | "Type.FixedChar" | "Type.FixedBinary":
            yield Site(node.path, _set(node.message, "length", 0))
            yield Site(node.path, _set(node.message, "length", -1))
        case "Type.PrecisionTime" | "Type.PrecisionTimestamp" | "Type.PrecisionTimestampTZ" | "Type.IntervalDay":
            yield Site(node.path, _set(node.message, "precision", 13))
            yield Site(node.path, _set(node.message, "precision", -1))


@_kind
def _names_changed(node: Node, origin: Origin, chance: random.Random) -> Iterator[Site]:
    if node.kind in ("NamedStruct", "RelRoot"):
        names = node.message.names
        open_ = _OPEN if node.kind == "RelRoot" and _root_is_open(node, origin) else ""
        if node.kind == "NamedStruct" and "unbound" in str(node.message.struct):
            open_ = "the fields of an unbound type may have names"
        yield Site(node.path, partial(names.append, "one_more"), open_)
        if names:
            yield Site(node.path, partial(names.__delitem__, -1), open_)


def _root_is_open(node: Node, origin: Origin) -> bool:
    place = f"{node.path}.input.{node.message.input.WhichOneof('rel_type')}"
    found = origin.at.get(place)
    return found is None or isinstance(found.schema, OpenStruct) or Unbound in map(type, found.schema.types)


@_kind
def _emit_far(node: Node, origin: Origin, chance: random.Random) -> Iterator[Site]:
    if node.kind == "RelCommon.Emit" and node.message.output_mapping:
        mapping, owner = node.message.output_mapping, origin.at.get(node.path.removesuffix(".common.emit"))
        index = chance.randrange(len(mapping))
        open_ = owner is None or isinstance(owner.direct_schema, OpenStruct)
        yield Site(node.path, lambda: mapping.__setitem__(index, 1000), _OPEN if open_ else "")
        yield Site(node.path, lambda: mapping.__setitem__(index, -1))


@_kind
def _emit_longer(node: Node, origin: Origin, chance: random.Random) -> Iterator[Site]:
    if node.kind == "RelCommon.Emit" and node.message.output_mapping:
        yield Site(node.path, lambda: node.message.output_mapping.append(node.message.output_mapping[0]), "?")
        yield Site(node.path, lambda: node.message.output_mapping.__delitem__(0), "?")


@_kind
def _grouping_off(node: Node, origin: Origin, chance: random.Random) -> Iterator[Site]:
    if node.kind == "AggregateRel.Grouping" and node.message.expression_references:
        references = node.message.expression_references
        yield Site(node.path, lambda: references.__setitem__(0, 1000))
        yield Site(node.path, lambda: references.append(references[0]))


@_kind
def _steps_out_far(node: Node, origin: Origin, chance: random.Random) -> Iterator[Site]:
    if node.kind in ("Expression.FieldReference.OuterReference", "Expression.FieldReference.LambdaParameterReference"):
        yield Site(node.path, _set(node.message, "steps_out", node.message.steps_out + 5))


@_kind
def _phase_changed(node: Node, origin: Origin, chance: random.Random) -> Iterator[Site]:
    if hasattr(node.message, "phase"):
        anchor = node.message.function_reference
        new = chance.choice([phase for phase in (1, 2, 3, 4) if phase != (node.message.phase or 3)])
        definition = next(iter(origin.overloads(anchor)), None)
        valid = _UNKNOWN if not origin.known(anchor) else "?" if definition and definition.intermediate else ""
        yield Site(node.path, _set(node.message, "phase", new), valid)


@_kind
def _field_of_no_release(node: Node, origin: Origin, chance: random.Random) -> Iterator[Site]:
    if node.kind.startswith(("Rel", "Expression", "Type", "FilterRel", "Plan")) and node.path:
        yield Site(node.path, lambda: node.message.MergeFromString(b"\xf8\x7f\x01"))
