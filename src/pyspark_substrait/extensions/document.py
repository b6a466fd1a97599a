"""One extension file, from YAML to definitions.

Spec: text/simple_extensions_schema.yaml. All scalars are read as text, so that no word of an option becomes a boolean
    or a null.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeVar, cast, get_args

from pyspark_substrait.errors import InvalidPlanError, at
from pyspark_substrait.extensions.definitions import (
    Argument,
    EnumArgument,
    FunctionDefinition,
    Kind,
    Nullability,
    ParameterDefinition,
    TypeArgument,
    TypeDefinition,
    ValueArgument,
    Variadic,
    VariationDefinition,
)
from pyspark_substrait.extensions.derivation import Scope, evaluate_type
from pyspark_substrait.extensions.signatures import signature_key
from pyspark_substrait.extensions.type_syntax import (
    AnyPattern,
    Program,
    TypePattern,
    UserPattern,
    Variable,
    parse,
    walk,
)
from pyspark_substrait.model.types import Type

__all__ = [
    "SECTIONS",
    "check_expressions",
    "check_keys",
    "read_function",
    "read_type",
    "read_urn",
    "read_variation",
    "sequence",
]

#: the sections of functions, and the kind of the functions in each
SECTIONS: Final[dict[str, Kind]] = {
    "scalar_functions": "scalar",
    "aggregate_functions": "aggregate",
    "window_functions": "window",
}

_URN: Final = re.compile(r"extension:[^:\s]+:[^:\s]+\Z")
_FILE_KEYS: Final = frozenset({"urn", "description", "dependencies", "metadata", "types", "type_variations", *SECTIONS})
_FUNCTION_KEYS: Final = frozenset({"name", "description", "deprecated", "metadata", "impls"})
_SCALAR_KEYS: Final = frozenset(
    {
        "deprecated",
        "description",
        "args",
        "options",
        "variadic",
        "sessionDependent",
        "deterministic",
        "nullability",
        "return",
        "implementation",
    }
)
_IMPLEMENTATION_KEYS: Final[dict[Kind, frozenset[str]]] = {
    "scalar": _SCALAR_KEYS,
    "aggregate": _SCALAR_KEYS | {"intermediate", "ordered", "maxset", "decomposable"},
    "window": _SCALAR_KEYS | {"intermediate", "ordered", "maxset", "decomposable", "window_type"},
}
_TYPE_KEYS: Final = frozenset({"name", "description", "deprecated", "metadata", "structure", "parameters", "variadic"})
_VARIATION_KEYS: Final = frozenset({"parent", "name", "description", "deprecated", "functions"})
_PARAMETER_KINDS: Final = ("dataType", "boolean", "integer", "enumeration", "string")


# pieces --------------------------------------------------------------------------------------------------------------


def check_keys(found: Any, allowed: frozenset[str], what: str) -> Mapping[str, Any]:
    """Return the mapping, after checking that it is one and has only keys of the schema."""
    if not isinstance(found, Mapping):
        raise InvalidPlanError(f"{what} must be a mapping, not `{found}`")
    unknown = sorted(str(key) for key in found if key not in allowed)
    if unknown:
        raise InvalidPlanError(
            f"{what} has the unknown key `{unknown[0]}`", hint=f"Known: {', '.join(sorted(allowed))}"
        )
    return found


def sequence(found: Any, what: str) -> Sequence[Any]:
    """Return a list; an empty one for an absent or empty value."""
    if found in (None, ""):
        return ()
    if not isinstance(found, list):
        raise InvalidPlanError(f"{what} must be a list, not `{found}`")
    return found


def _text(mapping: Mapping[str, Any], key: str, default: str | None = None) -> str:
    found = mapping.get(key, default)
    if not isinstance(found, str) or (not found and default is None):
        raise InvalidPlanError(f"`{key}` must be text" if key in mapping else f"`{key}` is missing")
    return found


_W = TypeVar("_W", bound=str)


def _word(mapping: Mapping[str, Any], key: str, words: tuple[_W, ...], default: _W) -> _W:
    found = mapping.get(key, default)
    if found not in words:
        raise InvalidPlanError(f"`{key}` cannot be `{found}`", hint=f"One of {', '.join(words)}")
    return cast(_W, found)


def _flag(mapping: Mapping[str, Any], key: str, default: bool = False) -> bool:
    found = str(mapping.get(key, default)).lower()
    if found not in ("true", "false"):
        raise InvalidPlanError(f"`{key}` must be true or false, not `{found}`")
    return found == "true"


def _whole(mapping: Mapping[str, Any], key: str) -> int | None:
    found = mapping.get(key)
    if found is None:
        return None
    try:
        number = float(found)
    except (TypeError, ValueError):
        number = math.nan
    if not number.is_integer():
        raise InvalidPlanError(f"`{key}` must be a whole number, not `{found}`")
    return int(number)


def _words(found: Any, what: str) -> tuple[str, ...]:
    words = tuple(sequence(found, what))
    if not words or not all(isinstance(word, str) and word for word in words):
        raise InvalidPlanError(f"{what} must be a list of at least one word")
    lower = [word.lower() for word in words]
    if len(set(lower)) != len(lower):
        raise InvalidPlanError(f"{what} has the same word twice: {', '.join(words)}")
    return words


def _deprecated(mapping: Mapping[str, Any]) -> str | None:
    found = mapping.get("deprecated")
    if found is None:
        return None
    status = check_keys(found, frozenset({"since", "reason", "metadata"}), "`deprecated`")
    reason = _text(status, "reason", "")
    return f"since {_text(status, 'since')}" + (f": {reason}" if reason else "")


def _type_text(mapping: Mapping[str, Any], key: str) -> str:
    """Return a type expression, after checking that it parses; the mapping form is written as a named struct."""
    if key not in mapping:
        raise InvalidPlanError(f"`{key}` is missing")
    with at(key):
        text = _spell(mapping[key])
        parse(text)
    return text


def _spell(found: Any) -> str:
    if isinstance(found, Mapping):
        fields = ", ".join(f'"{_escape(str(name))}": {_spell(type)}' for name, type in found.items())
        return f"nstruct<{fields}>"
    if not isinstance(found, str) or not found.strip():
        raise InvalidPlanError(f"a type must be a type expression or a mapping of names to types, not `{found}`")
    return found


def _escape(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"')


# definitions ---------------------------------------------------------------------------------------------------------


def read_urn(document: Any) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the URN and the dependencies of a file, after checking its top level."""
    mapping = check_keys(document, _FILE_KEYS, "an extension file")
    urn = _text(mapping, "urn")
    if not _URN.match(urn):
        raise InvalidPlanError(f"`{urn}` is not an extension URN", hint="Its form is extension:<owner>:<id>")
    dependencies = mapping.get("dependencies") or {}
    if not isinstance(dependencies, Mapping):
        raise InvalidPlanError("`dependencies` must be a mapping of aliases to extension URNs")
    for alias, other in dependencies.items():
        if not re.match(r"[A-Za-z_$][A-Za-z0-9_$]*\Z", alias):
            raise InvalidPlanError(f"the dependency alias `{alias}` is not an identifier")
        if not isinstance(other, str) or not _URN.match(other):
            raise InvalidPlanError(f"the dependency `{alias}` names `{other}`, which is not an extension URN")
    return urn, tuple((str(alias), str(other)) for alias, other in dependencies.items())


def read_function(
    function: Any, kind: Kind, urn: str, dependencies: tuple[tuple[str, str], ...]
) -> tuple[FunctionDefinition, ...]:
    """All implementations of one function of a file."""
    mapping = check_keys(function, _FUNCTION_KEYS, "a function")
    name = _text(mapping, "name")
    if ":" in name:
        raise InvalidPlanError(f"the function name `{name}` has a colon, which separates name and signature")
    found = []
    implementations = sequence(mapping.get("impls"), f"`impls` of `{name}`")
    if not implementations:
        raise InvalidPlanError(f"the function `{name}` has no implementation")
    for position, implementation in enumerate(implementations):
        with at(name, "impls", position):
            found.append(_implementation(mapping, name, implementation, kind, urn, dependencies))
    return tuple(found)


def _implementation(
    function: Mapping[str, Any],
    name: str,
    implementation: Any,
    kind: Kind,
    urn: str,
    dependencies: tuple[tuple[str, str], ...],
) -> FunctionDefinition:
    mapping = check_keys(implementation, _IMPLEMENTATION_KEYS[kind], "an implementation")
    arguments = []
    for position, argument in enumerate(sequence(mapping.get("args"), "`args`")):
        with at("args", position):
            arguments.append(_argument(argument, position))
    if len({argument.name.lower() for argument in arguments}) != len(arguments):
        raise InvalidPlanError("two arguments have the same name")
    variadic = _variadic(mapping.get("variadic"))
    if variadic is not None and not arguments:
        raise InvalidPlanError("a variadic function needs an argument that repeats")
    nullability = _word(mapping, "nullability", get_args(Nullability), "MIRROR")
    decomposable: Literal["NONE", "ONE", "MANY"] = _word(mapping, "decomposable", ("NONE", "ONE", "MANY"), "NONE")
    if decomposable != "NONE" and "intermediate" not in mapping:
        raise InvalidPlanError(f"`decomposable: {decomposable}` needs an `intermediate` type")
    window_type: Literal["STREAMING", "PARTITION"] = _word(
        mapping, "window_type", ("STREAMING", "PARTITION"), "PARTITION"
    )
    descriptions = (_text(function, "description", ""), _text(mapping, "description", ""))
    return FunctionDefinition(
        urn=urn,
        name=name,
        kind=kind,
        key=signature_key(name, tuple(arguments)),
        arguments=tuple(arguments),
        returns=_type_text(mapping, "return"),
        variadic=variadic,
        nullability=nullability,
        options=_options(mapping.get("options")),
        intermediate=_type_text(mapping, "intermediate") if "intermediate" in mapping else None,
        decomposable=decomposable,
        ordered=_flag(mapping, "ordered"),
        max_set=_whole(mapping, "maxset"),
        window_type=window_type if kind == "window" else None,
        deterministic=_flag(mapping, "deterministic", True),
        session_dependent=_flag(mapping, "sessionDependent"),
        description="\n".join(text.strip() for text in descriptions if text),
        deprecated=_deprecated(mapping) or _deprecated(function),
        dependencies=dependencies,
    )


def _argument(argument: Any, position: int) -> Argument:
    if not isinstance(argument, Mapping):
        raise InvalidPlanError(f"an argument must be a mapping, not `{argument}`")
    name = _text(argument, "name", f"arg{position}")
    description = _text(argument, "description", "").strip()
    if "options" in argument:
        check_keys(argument, frozenset({"name", "description", "options"}), "an enumeration argument")
        return EnumArgument(name, _words(argument["options"], "`options`"), description)
    if "type" in argument:
        check_keys(argument, frozenset({"name", "description", "type"}), "a type argument")
        return TypeArgument(name, _type_text(argument, "type"), description)
    check_keys(argument, frozenset({"name", "description", "value", "constant"}), "a value argument")
    return ValueArgument(name, _type_text(argument, "value"), _flag(argument, "constant"), description)


def _variadic(found: Any) -> Variadic | None:
    if found is None:
        return None
    mapping = check_keys(found or {}, frozenset({"min", "max", "parameterConsistency"}), "`variadic`")
    minimum, maximum = _whole(mapping, "min") or 0, _whole(mapping, "max")
    if minimum < 0 or (maximum is not None and maximum < minimum):
        raise InvalidPlanError(f"`variadic` allows {minimum} to {maximum} arguments")
    consistency = _word(mapping, "parameterConsistency", ("CONSISTENT", "INCONSISTENT"), "CONSISTENT")
    return Variadic(minimum, maximum, consistency == "CONSISTENT")


def _options(found: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if found in (None, ""):
        return ()
    if not isinstance(found, Mapping):
        raise InvalidPlanError("`options` must be a mapping of names to values")
    options = []
    for name, option in found.items():
        mapping = check_keys(option, frozenset({"description", "values"}), f"the option `{name}`")
        options.append((str(name), _words(mapping.get("values"), f"`values` of the option `{name}`")))
    return tuple(options)


def check_expressions(definition: FunctionDefinition, scope: Scope) -> None:
    """Reject type expressions that use a parameter that nothing determines, or a type that isn't declared."""
    texts = [argument.type for argument in definition.arguments if not isinstance(argument, EnumArgument)]
    determined = {argument.name.lower() for argument in definition.arguments}
    determined |= {node.name for text in texts for node in walk(parse(text)) if isinstance(node, Variable)}
    results = [definition.returns] + ([definition.intermediate] if definition.intermediate else [])
    for text in results:
        root = parse(text)
        known = determined | ({name for name, _ in root.assignments} if isinstance(root, Program) else set())
        for node in walk(root):
            if isinstance(node, Variable) and node.name not in known:
                raise InvalidPlanError(f"`{definition.key}` gives `{text}`, and no argument determines `{node.name}`")
            if isinstance(node, AnyPattern):
                raise InvalidPlanError(
                    f"`{definition.key}` gives `{text}`: `any` names no type", hint="Use any1 to any9"
                )
    for text in (*texts, *results):
        for node in walk(parse(text)):
            if isinstance(node, UserPattern):
                scope.structure(scope.owner(node), node.name)


def read_type(found: Any, scope: Scope) -> TypeDefinition:
    """One type of a file; its structure is evaluated in ``scope`` unless it depends on the type's parameters."""
    mapping = check_keys(found, _TYPE_KEYS, "a type")
    name = _text(mapping, "name")
    with at(name):
        parameters = tuple(_parameter(item) for item in sequence(mapping.get("parameters"), "`parameters`"))
        structure: Type | None = None
        field_names: tuple[str, ...] = ()
        if "structure" in mapping:
            pattern = parse(_type_text(mapping, "structure"))
            structure = None if parameters else evaluate_type(pattern, {}, scope)
            field_names = pattern.names if isinstance(pattern, TypePattern) else ()
        return TypeDefinition(
            urn=scope.urn,
            name=name,
            structure=structure,
            field_names=field_names,
            parameters=parameters,
            variadic=_flag(mapping, "variadic"),
            description=_text(mapping, "description", "").strip(),
            deprecated=_deprecated(mapping),
        )


def _parameter(found: Any) -> ParameterDefinition:
    keys = frozenset({"name", "description", "type", "min", "max", "options", "optional"})
    mapping = check_keys(found, keys, "a type parameter")
    return ParameterDefinition(
        name=_text(mapping, "name", ""),
        kind=_word(mapping, "type", _PARAMETER_KINDS, ""),
        minimum=_whole(mapping, "min"),
        maximum=_whole(mapping, "max"),
        options=_words(mapping["options"], "`options`") if "options" in mapping else (),
        optional=_flag(mapping, "optional"),
    )


def read_variation(found: Any, urn: str) -> VariationDefinition:
    """One type variation of a file."""
    mapping = check_keys(found, _VARIATION_KEYS, "a type variation")
    return VariationDefinition(
        urn=urn,
        name=_text(mapping, "name"),
        parent=_text(mapping, "parent"),
        separate=_word(mapping, "functions", ("INHERITS", "SEPARATE"), "INHERITS") == "SEPARATE",
        description=_text(mapping, "description", "").strip(),
        deprecated=_deprecated(mapping),
    )
