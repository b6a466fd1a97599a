"""``Plan`` and ``ExtendedExpression`` messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions import Registry
from pyspark_substrait.extensions.producers import producer_of
from pyspark_substrait.model.deep_stack import with_deep_stack, with_enough_stack
from pyspark_substrait.model.expressions import AggregateFunction, BrokenExpression, Expression, NamedLambda
from pyspark_substrait.model.findings import Finding, Places
from pyspark_substrait.model.limits import ExceededLimit
from pyspark_substrait.model.notes import Note
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.plan import (
    DynamicParameterBinding,
    ExpressionReference,
    ExtendedExpression,
    ExtensionDeclaration,
    ExtensionKind,
    Plan,
    PlanRel,
    RelRoot,
    VariableEvaluationMode,
    Version,
)
from pyspark_substrait.model.relations import BrokenRelation, Relation
from pyspark_substrait.model.repeats import repeats
from pyspark_substrait.model.types import NamedStruct, OpenStruct, Type
from pyspark_substrait.proto import messages
from pyspark_substrait.proto.enums import VARIABLE_EVALUATION_MODE
from pyspark_substrait.proto.read import expressions, functions, quirks, relations, writing
from pyspark_substrait.proto.read.context import Detached, OpenReference, Reading, Scope, Tables, invalid
from pyspark_substrait.proto.read.fields import node
from pyspark_substrait.proto.read.literals import literal
from pyspark_substrait.proto.read.meaning import Meaning
from pyspark_substrait.proto.read.rel_common import advanced_extension
from pyspark_substrait.proto.read.trees import detached, tree
from pyspark_substrait.proto.read.types import aliased_type, check_names, named_struct

__all__ = ["Bound", "Checked", "bound", "checked", "extended_expression", "plan", "subquery"]

_Message = TypeVar("_Message")


def plan(
    message: messages.Plan,
    registry: Registry,
    *,
    strict: bool = False,
    upgrades: Sequence[Note] = (),
    original_version: str | None = None,
) -> Plan:
    """A plan, bound: functions and types are known, every expression has its type, every relation its schema.

    Args:
        message: of the current release; older plans have to be upgraded before.
        registry: finds functions and types.
        strict: refuse deviations from the specification; otherwise a note on the plan states each assumption.
        upgrades: what upgrading changed, to be kept with the plan.
        original_version: the release that the plan was written for, if it isn't the one in the message.

    Raises:
        InvalidPlanError: the plan contradicts the specification or itself; the error says where.
    """
    reading = Reading(registry=registry, strict=strict)
    _declare(reading, message, upgrades, original_version)
    return _on_any_stack(_plan, message, reading, tuple(upgrades), original_version)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A plan, with data that saves its validation from writing and reading it again.

    Args:
        document: the plan, or an extended expression.
        places: the paths of its nodes in the message that it is written to. None if they aren't known, if reading that
            message may find anything besides ``again``, and for an extended expression.
        again: the findings and notes of reading that message.
    """

    document: Plan | ExtendedExpression
    places: Places | None
    again: tuple[Finding | Note, ...] = ()


def bound(
    message: messages.Plan | messages.ExtendedExpression,
    registry: Registry,
    *,
    strict: bool = False,
    upgrades: Sequence[Note] = (),
    original_version: str | None = None,
    tables: Tables | None = None,
    meaning: Meaning | None = None,
) -> Bound:
    """Like :func:`plan` or :func:`extended_expression`, with the places of the nodes.

    ``tables``: what the reads of a plan are bound to; ``meaning``: the dialect that its expressions are of.
    """
    if message.DESCRIPTOR.name == "ExtendedExpression":
        expression = extended_expression(
            message, registry, strict=strict, upgrades=upgrades, original_version=original_version
        )
        return Bound(document=expression, places=None)
    placed = not strict and tables is None and meaning is None
    reading = Reading(registry=registry, strict=strict, placed=placed, tables=tables, meaning=meaning)
    _declare(reading, message, upgrades, original_version)
    document = _on_any_stack(_plan, message, reading, tuple(upgrades), original_version)
    if not _is_plain(message, document, reading):
        return Bound(document=document, places=None)
    moves = reading.moves
    again = tuple([found(moves.path(path)) for path, found in reading.again])
    return Bound(document=document, places=reading.places.moved(moves.path) if moves else reading.places, again=again)


def subquery(message: messages.Plan, scope: Scope, path: Path) -> Relation:
    """Return the query of another plan as one inside an expression of ``scope``, in the meaning of its dialect."""
    outer = scope.reading
    reading = Reading(registry=outer.registry, meaning=outer.meaning, tables=outer.tables)
    _declare(reading, message, (), None)
    return relations.relation(message.relations[0].root.input, replace(scope.inside_subquery(), reading=reading), path)


def _is_plain(message: messages.Plan, document: Plan, reading: Reading) -> bool:
    """Whether all paths in the written message are known (``Reading.plain``), and only functions are declared."""
    return (
        reading.plain
        and reading.tables is None
        and len(reading.places) > 0
        and len(message.relations) == 1
        and not (message.type_aliases or message.named_lambdas or message.parameter_bindings)
        and not (message.expected_type_urls or document.unused_extensions or document.unused_urns)
        and all(kind is ExtensionKind.FUNCTION for kind, _ in reading.used)
        and all(map(_is_settled, document.notes))
    )


def _is_settled(note: Note) -> bool:
    """Whether a note is on something that is written as it was understood, so that reading it again adds no note."""
    if note.rule == "function":
        return note.after.startswith(("found in ", "read as ", "cast from "))
    return note.rule in ("engine-function", "output-type", "undeclared-variation", "unspecified-phase")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The result of reading that continues after faults.

    Args:
        document: the plan or the extended expression, with broken nodes for the parts that can't be understood.
        findings: the findings, in the order of reading; those of a part that is used twice may be there twice.
        places: where the nodes of the document stand.
    """

    document: Plan | ExtendedExpression
    findings: tuple[Finding, ...]
    places: Places


def checked(
    message: messages.Plan | messages.ExtendedExpression,
    registry: Registry,
    *,
    upgrades: Sequence[Note] = (),
    original_version: str | None = None,
) -> Checked:
    """Read a message as far as possible, and collect all findings. Arguments are those of :func:`plan`.

    Raises:
        PlanFormatError: it exceeds one of the limits.
    """

    def read() -> Checked:
        reading = Reading(registry=registry, findings=[])
        _declare(reading, message, upgrades, original_version)
        of_kind = _plan if message.DESCRIPTOR.name == "Plan" else _extended_expression
        document: Plan | ExtendedExpression = of_kind(message, reading, tuple(upgrades), original_version)
        return Checked(document=document, findings=tuple(reading.findings or ()), places=reading.places)

    try:
        return with_enough_stack(read)
    except ExceededLimit as limit:
        raise limit.error from None


def extended_expression(
    message: messages.ExtendedExpression,
    registry: Registry,
    *,
    strict: bool = False,
    upgrades: Sequence[Note] = (),
    original_version: str | None = None,
) -> ExtendedExpression:
    """Read an extended expression, bound to the schema that comes with it. Otherwise like :func:`plan`."""
    reading = Reading(registry=registry, strict=strict)
    _declare(reading, message, upgrades, original_version)
    return _on_any_stack(_extended_expression, message, reading, tuple(upgrades), original_version)


def _on_any_stack(
    read: Callable[[Any, Reading, tuple[Note, ...], str | None], _Message],
    message: Any,
    reading: Reading,
    upgrades: tuple[Note, ...],
    original_version: str | None,
) -> _Message:
    """Read on the current stack; if it is too small, on one that is large enough for any plan."""
    try:
        try:
            return read(message, reading, upgrades, original_version)
        except RecursionError:
            reading.plain = False
            return with_deep_stack(read, message, reading.anew(), upgrades, original_version)
    except ExceededLimit as limit:
        raise limit.error from None


def _plan(message: messages.Plan, reading: Reading, upgrades: tuple[Note, ...], original_version: str | None) -> Plan:
    relations = _relations(message, reading)
    root = Scope(reading)
    named_lambdas: list[NamedLambda] = []
    for index, item in enumerate(message.named_lambdas):
        with reading.going_on():
            named_lambdas.append(expressions.named_lambda(item.lambda_anchor, root, ((None, "named_lambdas"), index)))
    place: Path = (None, "parameter_bindings")
    bindings: list[DynamicParameterBinding] = []
    for index, item in enumerate(message.parameter_bindings):
        with reading.going_on(code=Code.EXPRESSION_ILLEGAL_LITERAL):
            value = literal(item.value, reading, ((place, index), "value"))
            bindings.append(DynamicParameterBinding(parameter_anchor=item.parameter_anchor, value=value))
    for index, _ in repeats([binding.parameter_anchor for binding in bindings]):
        fault = f"the parameter {bindings[index].parameter_anchor} is bound twice"
        reading.fault(invalid(fault, (place, index), "Leave one of the bindings", Code.LINK_DUPLICATE_DEFINITION))
    aliases: list[Type] = []
    for index, item in enumerate(message.type_aliases):
        with reading.going_on(code=Code.TYPE_UNKNOWN):
            aliases.append(aliased_type(item.type_alias_anchor, reading, ((None, "type_aliases"), index)))
    for ordinal in range(len(message.relations)):
        _note_unused(detached(ordinal, reading), reading)
    return Plan(
        relations=relations,
        version=node(Version, message.version, Scope(reading), (None, "version")),
        unused_extensions=_unused_extensions(message, reading),
        unused_urns=_unused_urns(message),
        advanced_extensions=advanced_extension(message, Scope(reading), None, "advanced_extensions"),
        expected_type_urls=tuple(message.expected_type_urls),
        parameter_bindings=tuple(bindings),
        type_aliases=tuple(aliases),
        execution_behavior=_execution_behavior(message, reading),
        named_lambdas=tuple(named_lambdas),
        original_version=original_version,
        upgrades=upgrades,
        notes=tuple(reading.notes),
    )


def _relations(message: messages.Plan, reading: Reading) -> tuple[PlanRel, ...]:
    place: Path = (None, "relations")
    scope = Scope(reading, closed=True)
    waiting: dict[int, InvalidPlanError] = {}
    for ordinal in range(len(message.relations)):
        try:
            tree(ordinal, scope, (place, ordinal))
        except OpenReference as found_open:
            waiting[ordinal] = found_open.error
    found: list[PlanRel] = []
    for ordinal, item in enumerate(message.relations):
        used = reading.open_trees.get(ordinal)
        if ordinal in waiting and used is None:
            reading.fault(waiting[ordinal])
            found.append(BrokenRelation(kind="", fault=waiting[ordinal].message))
            continue
        input = tree(ordinal, scope, (place, ordinal)) if used is None else used
        if item.WhichOneof("rel_type") == "rel":
            found.append(input)
        else:
            where: Path = (((place, ordinal), "root"), "names")
            names = tuple(item.root.names)
            with reading.going_on(code=Code.TYPE_MISMATCHED_FIELD_NAMES):
                names = writing.root_names(names, input, reading, where)
                if not isinstance(input.schema, OpenStruct):
                    check_names(names, input.schema, reading, where)
            found.append(RelRoot(input=input, names=names))
    return tuple(found)


def _extended_expression(
    message: Any, reading: Reading, upgrades: tuple[Note, ...], original_version: str | None
) -> ExtendedExpression:
    if not message.HasField("base_schema"):
        reading.fault(invalid("base_schema is missing", None, code=Code.PROTO_MISSING_FIELD))
    schema = NamedStruct(names=(), struct=OpenStruct())
    with reading.going_on():
        schema = named_struct(message.base_schema, reading, (None, "base_schema"))
    lists = Detached(message.detached_expressions, message.detached_rels)
    scope = Scope(reading, record=schema.struct, detached=lists)
    place: Path = (None, "referred_expr")
    referred = tuple(
        _expression_reference(item, scope, (place, index)) for index, item in enumerate(message.referred_expr)
    )
    _note_unused(lists, reading)
    return ExtendedExpression(
        referred_expr=referred,
        base_schema=schema,
        version=node(Version, message.version, Scope(reading), (None, "version")),
        unused_extensions=_unused_extensions(message, reading),
        unused_urns=_unused_urns(message),
        advanced_extensions=advanced_extension(message, Scope(reading), None, "advanced_extensions"),
        expected_type_urls=tuple(message.expected_type_urls),
        original_version=original_version,
        upgrades=upgrades,
        notes=tuple(reading.notes),
    )


def _expression_reference(message: Any, scope: Scope, path: Path) -> ExpressionReference:
    kind = message.WhichOneof("expr_type")
    expr: Expression | AggregateFunction
    match kind:
        case "expression":
            expr = expressions.expression(message.expression, scope, (path, kind))
        case "measure":
            expr = functions.aggregate_function(message.measure, scope, (path, kind))
        case _:
            missing = invalid("an expression is missing", path, code=Code.PROTO_MISSING_FIELD)
            scope.reading.fault(missing)
            expr = BrokenExpression(kind="", fault=missing.message)
    names = tuple(message.output_names)
    with scope.reading.going_on():
        names = quirks.output_names(names, expr.type, scope.reading, (path, "output_names"))
    return ExpressionReference(expr=expr, output_names=names)


# top-level fields ----------------------------------------------------------------------------------------------------

_DECLARATIONS = {
    "extension_type": (ExtensionKind.TYPE, "type_anchor"),
    "extension_type_variation": (ExtensionKind.TYPE_VARIATION, "type_variation_anchor"),
    "extension_function": (ExtensionKind.FUNCTION, "function_anchor"),
}


def _declare(reading: Reading, message: Any, upgrades: Sequence[Note], original_version: str | None) -> None:
    """Set the producer, the version and the declarations of a message in ``reading``."""
    reading.version = _release(message, upgrades, original_version)
    reading.producer = message.version.producer
    reading.made_by = producer_of(reading.producer)
    if message.DESCRIPTOR.name == "Plan":
        reading.trees = message.relations
        reading.aliases = _by_anchor(message.type_aliases, "type_alias_anchor", reading, (None, "type_aliases"))
        reading.named_lambdas = _by_anchor(message.named_lambdas, "lambda_anchor", reading, (None, "named_lambdas"))
    urns: dict[int, str] = {}
    for index, item in enumerate(message.extension_urns):
        if urns.setdefault(item.extension_urn_anchor, item.urn) != item.urn:
            place: Path = ((None, "extension_urns"), index)
            fault = f"the anchor {item.extension_urn_anchor} stands for two URNs"
            reading.fault(invalid(fault, place, code=Code.LINK_DUPLICATE_DEFINITION))
    for index, item in enumerate(message.extensions):
        place = ((None, "extensions"), index)
        mapping = item.WhichOneof("mapping_type")
        if mapping is None:
            reading.fault(invalid("the extension declaration is empty", place, code=Code.PROTO_MISSING_FIELD))
            continue
        fields = getattr(item, mapping)
        kind, anchor_field = _DECLARATIONS[mapping]
        anchor: int = getattr(fields, anchor_field)
        if anchor == 0 and kind is ExtensionKind.TYPE_VARIATION:
            hint = "0 is the system-preferred variation; use another one"
            reading.fault(invalid("type_variation_anchor is 0", place, hint, Code.LINK_ANCHOR_ZERO))
        # A producer that knows no extensions refers to none: then there is only the name.
        declaration = ExtensionDeclaration(urns.get(fields.extension_urn_reference, ""), kind, fields.name)
        if reading.declared(kind).setdefault(anchor, declaration) != declaration:
            fault = f"the anchor {anchor} stands for two {kind.value}s"
            reading.fault(invalid(fault, place, code=Code.LINK_DUPLICATE_DEFINITION))


def _release(message: Any, upgrades: Sequence[Note], original_version: str | None) -> tuple[int, int, int] | None:
    """The release that a plan was written for. An upgraded plan that stated none counts as older than all."""
    if original_version is not None:
        numbers = [int(part) for part in original_version.split(".") if part.isdigit()]
        if len(numbers) != 3:
            raise ValueError(f"{original_version!r} is not a version like 0.85.0")
        return numbers[0], numbers[1], numbers[2]
    if upgrades:
        return None
    version = message.version
    stated = (version.major_number, version.minor_number, version.patch_number)
    return stated if any(stated) else None


def _by_anchor(messages: Any, field: str, reading: Reading, path: Path) -> dict[int, tuple[Any, Path]]:
    found: dict[int, tuple[Any, Path]] = {}
    for index, message in enumerate(messages):
        anchor = getattr(message, field)
        if anchor in found:
            reading.fault(
                invalid(f"the anchor {anchor} stands twice", (path, index), code=Code.LINK_DUPLICATE_DEFINITION)
            )
        found[anchor] = (message, (path, index))
    return found


def _unused_extensions(message: Any, reading: Reading) -> tuple[ExtensionDeclaration, ...]:
    unused = []
    for item in message.extensions:
        mapping = item.WhichOneof("mapping_type")
        if mapping is None:
            continue
        kind, anchor_field = _DECLARATIONS[mapping]
        anchor = getattr(getattr(item, mapping), anchor_field)
        if (kind, anchor) not in reading.used:
            unused.append(reading.declared(kind)[anchor])
    return tuple(unused)


def _unused_urns(message: Any) -> tuple[str, ...]:
    used = {
        getattr(item, mapping).extension_urn_reference
        for item in message.extensions
        if (mapping := item.WhichOneof("mapping_type")) is not None
    }
    return tuple(item.urn for item in message.extension_urns if item.extension_urn_anchor not in used)


def _execution_behavior(message: messages.Plan, reading: Reading) -> VariableEvaluationMode:
    with reading.going_on():
        return VARIABLE_EVALUATION_MODE.member(
            message.execution_behavior.variable_eval_mode, (None, "execution_behavior"), "variable_eval_mode"
        )
    return VariableEvaluationMode.UNSPECIFIED


def _note_unused(lists: Detached, reading: Reading) -> None:
    for field, items in (("detached_expressions", lists.expressions), ("detached_rels", lists.rels)):
        for ordinal in range(len(items)):
            if (id(lists), field, ordinal) not in reading.used_parts:
                reading.note("unused-detached", ((lists.path, field), ordinal), "nothing refers to it", "left out")
