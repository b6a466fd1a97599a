"""The classes of findings by number: title, severity, the rule behind it, the page of the specification."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from pyspark_substrait.codes.numbers import Code, Level

__all__ = ["Class", "class_of", "classes"]


@dataclass(frozen=True, slots=True)
class Class:
    """A class of findings.

    Args:
        code: the number.
        title: the class in a few words.
        level: the severity, unless a finding has another one.
        why: the rule behind it, in a sentence or two.
        page: the page of the specification that states it, like ``relations/logical_relations``; empty for none.
    """

    code: Code
    title: str
    level: Level
    why: str
    page: str = ""


_E, _W, _I = Level.ERROR, Level.WARNING, Level.INFO

_CLASSES = (
    Class(Code.UNCLASSIFIED, "something is wrong", _E, "The plan contradicts the specification or itself."),
    Class(Code.NOT_YET_IMPLEMENTED, "not checked", _W, "This part is not looked at by the checks."),
    Class(Code.ILLEGAL_VALUE, "a value is not allowed", _E, "The field allows only certain values."),
    Class(
        Code.ILLEGAL_VALUE_IN_HINT,
        "a value in a hint is not allowed",
        _W,
        "A hint may be ignored.",
        "relations/common_fields",
    ),
    Class(Code.ILLEGAL_URI, "a URI is malformed", _E, "Locations are URIs.", "relations/logical_relations"),
    Class(
        Code.ILLEGAL_GLOB, "a glob is malformed", _E, "Globs follow the usual syntax.", "relations/logical_relations"
    ),
    Class(Code.DEPRECATION, "a deprecated form", _W, "A later release writes this otherwise.", "spec/versioning"),
    Class(
        Code.VERSIONING,
        "the version is missing or unusual",
        _W,
        "A plan states the release it was written for.",
        "spec/versioning",
    ),
    Class(Code.ILLEGAL_URN, "a URN is malformed", _E, "An extension URN reads extension:<owner>:<id>.", "extensions"),
    Class(
        Code.UPGRADED, "a form of an earlier release", _I, "Loading brings it to the current form.", "spec/versioning"
    ),
    Class(
        Code.ASSUMPTION,
        "looser than the specification",
        _W,
        "The plan is ambiguous here; loading made an assumption.",
    ),
    Class(
        Code.PROTO_PARSE_FAILED,
        "not a plan",
        _E,
        "A plan is a protobuf message, in binary, as JSON or in the text form.",
    ),
    Class(Code.PROTO_MISSING_FIELD, "a required field is missing", _E, "Without it, the message has no meaning."),
    Class(Code.PROTO_ANY, "a message of another party", _I, "Only its owner knows what it means.", "extensions"),
    Class(
        Code.PROTO_MISSING_ANY_DECLARATION,
        "a message type is not declared",
        _W,
        "expected_type_urls lists the message types of others that a plan may use, for consumers to warn of.",
        "extensions",
    ),
    Class(Code.PROTO_UNKNOWN_FIELD, "an unknown field", _E, "No release has this field, so it cannot be honoured."),
    Class(Code.PROTO_UNKNOWN_ENUM, "an unknown enumeration value", _E, "The enumeration has no such value."),
    Class(Code.PROTO_UNSPECIFIED_ENUM, "an enumeration is left unspecified", _E, "The field must have a value."),
    Class(
        Code.YAML_RESOLUTION_DISABLED,
        "the extension's definitions are not available",
        _W,
        "Calls cannot be checked without the definitions.",
        "extensions",
    ),
    Class(
        Code.YAML_RESOLUTION_FAILED, "the extension cannot be read", _E, "An extension is a YAML file.", "extensions"
    ),
    Class(
        Code.LINK_MISSING_ANCHOR,
        "an anchor is not declared",
        _E,
        "A reference needs a declaration with its anchor.",
        "extensions",
    ),
    Class(Code.LINK_ANCHOR_ZERO, "an anchor is 0", _E, "This anchor counts from 1.", "extensions"),
    Class(
        Code.LINK_UNRESOLVED_NAME,
        "the extension has no such name",
        _E,
        "A declaration names something that its extension defines.",
        "extensions",
    ),
    Class(
        Code.LINK_AMBIGUOUS_NAME,
        "a name stands for several things",
        _E,
        "A declaration must name one definition.",
        "extensions",
    ),
    Class(Code.LINK_DUPLICATE_DEFINITION, "an anchor stands for two things", _E, "Anchors are unique.", "extensions"),
    Class(
        Code.LINK_SIMPLE_FUNCTION_NAME,
        "a function is named without its signature",
        _W,
        "A function is named by its compound name, like add:i32_i32.",
        "extensions",
    ),
    Class(Code.LINK_CYCLE, "something refers to itself", _E, "Definitions may not depend on themselves."),
    Class(
        Code.LINK_MISSING_PART, "a reference to a missing part", _E, "An ordinal refers to a part that the plan holds."
    ),
    Class(
        Code.LINK_BARE_NAME,
        "a name without an extension means different things",
        _W,
        "Engines have functions of the same name that differ; only the extension identifies the function.",
        "extensions",
    ),
    Class(
        Code.TYPE_UNKNOWN,
        "an unknown type",
        _E,
        "Every type is one of the specification or declared.",
        "types/type_system",
    ),
    Class(
        Code.TYPE_MISMATCHED_PARAMETERS,
        "parameters of a type are wrong",
        _E,
        "Parameters have limits.",
        "types/type_classes",
    ),
    Class(
        Code.TYPE_MISMATCHED_FIELD_NAMES,
        "names and fields do not match",
        _E,
        "Every column and nested field has one name, in depth-first order.",
        "types/named_structs",
    ),
    Class(
        Code.TYPE_INVALID_SWIZZLE,
        "a mask does not fit",
        _E,
        "A mask selects fields that exist.",
        "expressions/field_references",
    ),
    Class(Code.TYPE_MISMATCH, "types do not match", _E, "Types must agree here.", "types/type_system"),
    Class(
        Code.TYPE_STRUCT_REQUIRED,
        "this must be a struct",
        _E,
        "Only a struct has fields.",
        "expressions/field_references",
    ),
    Class(
        Code.TYPE_MISMATCHED_VARIATION,
        "type variations do not match",
        _E,
        "A variation belongs to one type.",
        "types/type_variations",
    ),
    Class(
        Code.TYPE_MISMATCHED_NULLABILITY,
        "nullability does not match",
        _E,
        "Whether a value may be null is part of its type.",
        "types/type_system",
    ),
    Class(
        Code.TYPE_DERIVATION_FAILED,
        "a type cannot be derived",
        _E,
        "The definition's expression gives no type for these arguments.",
        "extensions",
    ),
    Class(
        Code.TYPE_INVALID_FIELD_NAME,
        "a field name is not usable",
        _W,
        "Field names are not empty and differ from each other.",
        "types/named_structs",
    ),
    Class(
        Code.TYPE_UNBOUND,
        "a type is left open",
        _W,
        "A placeholder type has to be bound before the plan runs.",
        "types/type_classes",
    ),
    Class(
        Code.RELATION_ROOT_MISSING,
        "no root relation",
        _E,
        "A plan to be run has at least one root.",
        "relations/basics",
    ),
    Class(Code.RELATION_MISSING, "a relation is missing", _E, "This relation needs an input.", "relations/basics"),
    Class(
        Code.RELATION_INVALID,
        "a relation is invalid",
        _E,
        "The relation contradicts the specification.",
        "relations/logical_relations",
    ),
    Class(
        Code.RELATION_GROUPING,
        "grouping sets are wrong",
        _E,
        "Grouping sets refer to the grouping expressions, and use each.",
        "relations/logical_relations",
    ),
    Class(
        Code.RELATION_EXTENSION_UNKNOWN,
        "an unknown extension relation",
        _W,
        "Only its owner knows its schema.",
        "relations/logical_relations",
    ),
    Class(
        Code.EXPRESSION_MISSING_STREAM,
        "no record to refer to",
        _E,
        "There is no input record in this place.",
        "expressions/field_references",
    ),
    Class(
        Code.EXPRESSION_ILLEGAL_LITERAL,
        "a literal is out of range",
        _E,
        "A literal is a value of its type.",
        "expressions/specialized_record_expressions",
    ),
    Class(
        Code.EXPRESSION_FUNCTION_UNAVAILABLE,
        "a function's definition is not available",
        _W,
        "The call cannot be checked.",
        "extensions",
    ),
    Class(
        Code.EXPRESSION_ILLEGAL_SUBQUERY,
        "a subquery is wrong",
        _E,
        "A subquery has the columns that its place needs.",
        "expressions/subqueries",
    ),
    Class(
        Code.EXPRESSION_NO_OVERLOAD,
        "no overload takes these arguments",
        _E,
        "A call matches one of the function's definitions.",
        "expressions/scalar_functions",
    ),
    Class(
        Code.EXPRESSION_OPTION,
        "an option or enumeration value is unknown",
        _E,
        "A definition lists its options and their values.",
        "expressions/scalar_functions",
    ),
    Class(
        Code.EXPRESSION_OUTPUT_TYPE,
        "the stated output type is not that of the function",
        _E,
        "The definition derives the type of a call.",
        "expressions/scalar_functions",
    ),
    Class(
        Code.EXPRESSION_NOT_CONSTANT,
        "the argument must be a constant",
        _E,
        "The definition asks for a constant.",
        "expressions/scalar_functions",
    ),
    Class(
        Code.EXPRESSION_WINDOW_BOUNDS,
        "window bounds are wrong",
        _E,
        "Bounds must fit the sorting of the window.",
        "expressions/window_functions",
    ),
    Class(
        Code.EXPRESSION_PHASE,
        "the phase does not fit",
        _E,
        "Phases other than the whole need a decomposable function.",
        "expressions/aggregate_functions",
    ),
    Class(
        Code.EXPRESSION_REFERENCE,
        "a reference to something that does not exist",
        _E,
        "A reference names an existing column, field or query.",
        "expressions/field_references",
    ),
    Class(
        Code.EXPRESSION_LAMBDA,
        "a lambda is wrong",
        _E,
        "A lambda has the parameters that its use needs.",
        "expressions/lambda_expressions",
    ),
    Class(
        Code.EXPRESSION_CAST,
        "a cast is wrong",
        _E,
        "A cast names the type it makes.",
        "expressions/specialized_record_expressions",
    ),
    Class(Code.EXPRESSION_SORT, "a sort is wrong", _E, "A sort states its direction.", "relations/logical_relations"),
    Class(
        Code.REDUNDANT_ANY_DECLARATION,
        "a message type is declared and not used",
        _I,
        "It can be left out.",
        "extensions",
    ),
    Class(Code.REDUNDANT_EXTENSION, "an extension is declared and not used", _I, "It can be left out.", "extensions"),
    Class(Code.REDUNDANT_FUNCTION, "a function is declared and not used", _I, "It can be left out.", "extensions"),
    Class(Code.REDUNDANT_TYPE, "a type is declared and not used", _I, "It can be left out.", "extensions"),
    Class(
        Code.REDUNDANT_TYPE_VARIATION,
        "a type variation is declared and not used",
        _I,
        "It can be left out.",
        "extensions",
    ),
    Class(
        Code.REDUNDANT_LIST_SLICE,
        "a slice selects one element or none",
        _I,
        "A single item means the same.",
        "expressions/field_references",
    ),
    Class(Code.REDUNDANT_FIELD, "a field has no effect", _I, "It can be left out."),
    Class(Code.REDUNDANT_ENUM_VARIANT, "an enumeration value has no effect", _I, "It can be left out."),
    Class(Code.REDUNDANT_DETACHED, "a detached part is not used", _I, "Nothing refers to it."),
    Class(
        Code.TARGET_FUNCTION,
        "the target does not support this function",
        _E,
        "The target does not declare it as supported.",
    ),
    Class(
        Code.TARGET_TYPE, "the target does not support this type", _E, "The target does not declare it as supported."
    ),
    Class(
        Code.TARGET_RELATION,
        "the target does not support this relation",
        _E,
        "The target does not declare it as supported.",
    ),
    Class(
        Code.TARGET_EXPRESSION,
        "the target does not support this expression",
        _E,
        "The target does not declare it as supported.",
    ),
    Class(
        Code.TARGET_OPTION,
        "the target does not support this option",
        _E,
        "The target does not declare it as supported.",
    ),
    Class(Code.TARGET_FEATURE, "the target does not support this", _E, "The target has no exact equivalent."),
)

_LINT_WARNINGS = (
    Code.LINT_DECIDED_CONDITION,
    Code.LINT_SELF_COMPARISON,
    Code.LINT_NULL_COMPARISON,
    Code.LINT_DEAD_BRANCH,
    Code.LINT_REPEATED_CASE,
    Code.LINT_FILTER_PASSES_NONE,
    Code.LINT_FETCH_NOTHING,
    Code.LINT_CROSS_WITH_EQUALITY,
    Code.LINT_JOIN_ON_ONE_SIDE,
    Code.LINT_SLOW_PATTERN,
)

_LINT = tuple(
    Class(
        code,
        code.name.removeprefix("LINT_").lower().replace("_", " "),
        _W if code in _LINT_WARNINGS else _I,
        "The plan is valid; it could be written more simply, or is likely a slip.",
    )
    for code in Code
    if code > 9000
)


@cache
def _by_code() -> dict[Code, Class]:
    return {item.code: item for item in (*_CLASSES, *_LINT)}


def class_of(code: Code) -> Class:
    """Return the class of a code."""
    return _by_code()[code]


def classes() -> tuple[Class, ...]:
    """All classes, in the order of their numbers."""
    return tuple(sorted((*_CLASSES, *_LINT), key=lambda item: item.code))
