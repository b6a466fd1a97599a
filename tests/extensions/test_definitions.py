"""The definitions, against the official extension files parsed as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions import (
    OFFICIAL,
    EnumArg,
    EnumArgument,
    FunctionDefinition,
    Registry,
    TypeArg,
    TypeArgument,
    ValueArg,
    ValueArgument,
)
from pyspark_substrait.extensions.signatures import Argument
from pyspark_substrait.extensions.type_syntax import FuncPattern, Node, TypePattern, UserPattern, Variable, parse
from pyspark_substrait.model import types as t
from pyspark_substrait.specification import folder

REGISTRY = Registry.default()
SECTIONS = {"scalar_functions": "scalar", "aggregate_functions": "aggregate", "window_functions": "window"}
DOCUMENTS: dict[str, Any] = {file.stem: yaml.safe_load(file.read_text()) for file in folder().glob("*.yaml")}
DEFINITIONS = [definition for _, _, found in REGISTRY.functions() for definition in found]


def test_urns_are_those_of_the_files() -> None:
    assert sorted(REGISTRY.urns()) == sorted(document["urn"] for document in DOCUMENTS.values())


def test_functions_and_implementations_are_all_there() -> None:
    expected: Counter[tuple[str, str]] = Counter()
    for document in DOCUMENTS.values():
        for section in SECTIONS:
            for function in document.get(section, ()):
                expected[document["urn"], function["name"]] += len(function["impls"])
    found = {(urn, name): len(implementations) for urn, name, implementations in REGISTRY.functions()}
    assert found == dict(expected)
    assert len(found) == 213


@pytest.mark.parametrize("stem", sorted(DOCUMENTS))
def test_definitions_say_what_the_file_says(stem: str) -> None:
    document = DOCUMENTS[stem]
    seen: Counter[str] = Counter()
    for section, kind in SECTIONS.items():
        for function in document.get(section, ()):
            name = function["name"]
            overloads = REGISTRY.overloads(document["urn"], name)
            for implementation in function["impls"]:
                definition = overloads[seen[name]]
                seen[name] += 1
                assert (definition.name, definition.kind) == (name, kind)
                assert definition.returns == implementation["return"]
                assert definition.nullability == implementation.get("nullability", "MIRROR")
                assert definition.intermediate == implementation.get("intermediate")
                assert definition.decomposable == implementation.get("decomposable", "NONE")
                assert definition.ordered == implementation.get("ordered", False)
                assert definition.window_type == implementation.get("window_type")
                assert dict(definition.options) == {
                    option: tuple(value["values"]) for option, value in implementation.get("options", {}).items()
                }
                assert (definition.variadic is not None) == ("variadic" in implementation)
                if definition.variadic is not None:
                    assert definition.variadic.minimum == implementation["variadic"]["min"]
                arguments = implementation.get("args", ())
                assert [argument.name for argument in definition.arguments] == [
                    argument.get("name", f"arg{position}") for position, argument in enumerate(arguments)
                ]
                for argument, written in zip(definition.arguments, arguments, strict=True):
                    match argument:
                        case EnumArgument(options=options):
                            assert list(options) == written["options"]
                        case TypeArgument(type=type):
                            assert type == written["type"]
                        case ValueArgument(type=type, constant=constant):
                            assert (type, constant) == (written["value"], written.get("constant", False))


def test_signatures_are_unique_in_their_file() -> None:
    keys = Counter((definition.urn, definition.key) for definition in DEFINITIONS)
    assert [key for key, count in keys.items() if count > 1] == []


@pytest.mark.parametrize(
    ("stem", "key"),
    [
        ("functions_arithmetic", "add:i8_i8"),
        ("functions_arithmetic", "avg:fp32"),
        ("functions_datetime", "extract:req_pts"),
        ("functions_datetime", "extract:req_req_ptstz_str"),
        ("functions_datetime", "add:date_iyear"),
        ("functions_string", "concat:str"),
        ("functions_string", "like:vchar_vchar"),
        ("functions_list", "transform:list_func"),
        ("functions_boolean", "and:bool"),
        ("functions_comparison", "equal:any_any"),
        ("functions_aggregate_generic", "count:"),
        ("functions_aggregate_generic", "count:any"),
        ("functions_arithmetic_decimal", "multiply:dec_dec"),
        ("functions_set", "index_in:any_list"),
        ("functions_geometry", "is_closed:u!geometry"),
        ("unsigned_integers", "add:u!u8_u!u8"),
    ],
)
def test_signatures_follow_the_rule(stem: str, key: str) -> None:
    """Written out by hand after the table of short names in the specification."""
    definition = REGISTRY.function(OFFICIAL + stem, key)
    assert definition is not None and definition.key == key


def sample(pattern: Node) -> t.Type:
    """Some type that the pattern takes."""
    match pattern:
        case TypePattern(keyword="decimal", parameters=(_, scale)):
            return t.Decimal(precision=9, scale=2 if isinstance(scale, Variable) else 0)
        case TypePattern(keyword="list", parameters=(element,)):
            return t.List(type=sample(element))
        case TypePattern(keyword="fixedchar"):
            return t.FixedChar(length=7)
        case TypePattern(keyword="varchar"):
            return t.VarChar(length=7)
        case TypePattern(keyword=keyword, parameters=(_,)):
            by_keyword: dict[str, Callable[..., t.Type]] = {
                cls.keyword: cls for cls in (t.IntervalDay, t.PrecisionTime, t.PrecisionTimestamp)
            }
            by_keyword |= {"precision_timestamp_tz": t.PrecisionTimestampTZ, "interval_compound": t.IntervalCompound}
            return by_keyword[keyword](precision=3)
        case TypePattern(keyword=keyword):
            simple = (t.I8, t.I16, t.I32, t.I64, t.FP32, t.FP64, t.String, t.Binary, t.Boolean, t.Date, t.IntervalYear)
            return next(cls() for cls in simple if cls.keyword == keyword)
        case FuncPattern(parameters=parameters, result=result):
            returned = t.with_nullability(sample(result), isinstance(result, TypePattern) and result.nullable)
            return t.Func(parameter_types=tuple(map(sample, parameters)), return_type=returned)
        case UserPattern(name=name):
            urn = OFFICIAL + ("functions_geometry" if name == "geometry" else "unsigned_integers")
            return t.UserDefined(urn=urn, name=name)
        case _:
            return t.I32()


def arguments_of(definition: FunctionDefinition) -> list[Argument]:
    found: list[Argument] = []
    for argument in definition.arguments:
        match argument:
            case EnumArgument(options=options):
                found.append(EnumArg(options[0].lower()))
            case TypeArgument():
                found.append(TypeArg(sample(argument.pattern)))
            case ValueArgument(name=name):
                found.append(ValueArg(sample(argument.pattern), 6 if name == "precision" else None))
    minimum = definition.variadic.minimum if definition.variadic else 1
    return found + [found[-1]] * (minimum - 1) if found else found


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda definition: f"{definition.urn[23:]}-{definition.key}")
def test_every_implementation_takes_its_own_arguments_and_derives_a_type(definition: FunctionDefinition) -> None:
    resolved = REGISTRY.resolve(definition.urn, definition.key, arguments_of(definition), definition.kind, strict=True)
    assert resolved.definition is definition
    assert resolved.notes == ()
    assert resolved.output_type is not None
    last = parse(definition.returns.strip().splitlines()[-1])
    if isinstance(last, TypePattern):
        assert resolved.output_type.keyword == last.keyword
        assert resolved.output_type.nullable == last.nullable


@pytest.mark.parametrize(
    "definition",
    [definition for definition in DEFINITIONS if definition.decomposable != "NONE"],
    ids=lambda definition: f"{definition.urn[23:]}-{definition.key}",
)
def test_every_decomposable_function_goes_through_its_intermediate_type(definition: FunctionDefinition) -> None:
    urn, key = definition.urn, definition.key
    given = arguments_of(definition)
    first = REGISTRY.resolve(urn, key, given, definition.kind, phase="INITIAL_TO_INTERMEDIATE", strict=True)
    assert first.output_type is not None
    between = [ValueArg(first.output_type)]
    second = REGISTRY.resolve(urn, key, between, definition.kind, phase="INTERMEDIATE_TO_INTERMEDIATE", strict=True)
    assert second.output_type == first.output_type


def test_types_have_their_structure() -> None:
    geometry = REGISTRY.type(OFFICIAL + "functions_geometry", "geometry")
    assert geometry is not None and geometry.structure == t.Binary()
    unsigned = REGISTRY.type(OFFICIAL + "unsigned_integers", "u64")
    assert unsigned is not None and unsigned.structure == t.Struct(types=(t.String(),))
    assert unsigned.field_names == ("value",)
    assert REGISTRY.type(OFFICIAL + "functions_geometry", "point") is None
    assert REGISTRY.type("extension:org.example:none", "geometry") is None


def test_options_get_the_spelling_of_the_file() -> None:
    add = REGISTRY.function(OFFICIAL + "functions_arithmetic", "add:i32_i32")
    assert add is not None
    assert add.check_options([("OVERFLOW", ["error", "Saturate"])]) == (("overflow", ("ERROR", "SATURATE")),)
    assert add.check_options([]) == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([("rounding", ["ERROR"])], "has no option `rounding`. Its options: `overflow`"),
        ([("overflow", ["WRAP"])], "cannot be `WRAP`. Its values: SILENT, SATURATE, ERROR"),
        ([("overflow", [])], "has no value"),
        ([("overflow", ["ERROR"]), ("Overflow", ["SILENT"])], "given twice"),
    ],
)
def test_unknown_options_are_refused(options: list[tuple[str, list[str]]], message: str) -> None:
    add = REGISTRY.function(OFFICIAL + "functions_arithmetic", "add:i32_i32")
    assert add is not None
    with pytest.raises(InvalidPlanError) as error:
        add.check_options(options)
    assert message in str(error.value)
