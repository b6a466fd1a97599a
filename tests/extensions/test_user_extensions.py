"""Extension files that users add."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions import OFFICIAL, Registry, ValueArg
from pyspark_substrait.model import types as t

EXAMPLES = files("substrait_extensions.examples")


def example(path: str) -> str:
    """One of the specification's own example files."""
    return EXAMPLES.joinpath(path).read_text()


@pytest.mark.parametrize(
    "path",
    [
        f"{folder}/{file.name}"
        for folder in ("extensions", "types")
        for file in EXAMPLES.joinpath(folder).iterdir()
        if file.name.endswith(".yaml") and file.name != "distance_functions.yaml"
    ],
)
def test_the_examples_of_the_specification_load(path: str) -> None:
    registry = Registry.default().with_yaml(example(path))
    (urn,) = set(registry.urns()) - set(Registry.default().urns())
    assert urn.startswith("extension:org.example:")


def test_types_of_another_extension() -> None:
    types = Registry.default().with_yaml(example("extensions/extension_types.yaml"))
    registry = types.with_yaml(example("extensions/distance_functions.yaml"))
    point = t.UserDefined(urn="extension:org.example:extension_types", name="point")
    urn, key = "extension:org.example:distance_functions", "distance:u!point_u!point"
    resolved = registry.resolve(urn, key, [ValueArg(point), ValueArg(t.with_nullability(point, True))], strict=True)
    assert resolved.output_type == t.FP64(nullable=True)
    stranger = t.UserDefined(urn="extension:org.example:point_type", name="point")
    with pytest.raises(InvalidPlanError, match="no implementation"):
        registry.resolve(urn, key, [ValueArg(point), ValueArg(stranger)])
    with pytest.raises(InvalidPlanError, match=r"`extension:org.example:extension_types`, which is not known"):
        Registry.default().with_yaml(example("extensions/distance_functions.yaml"))


def test_structures_of_types() -> None:
    registry = Registry.default().with_yaml(example("extensions/extension_types.yaml"))
    urn = "extension:org.example:extension_types"
    point, line = registry.type(urn, "point"), registry.type(urn, "line")
    assert point is not None and line is not None
    assert point.structure == t.Struct(types=(t.I32(), t.I32()))
    assert point.field_names == ("latitude", "longitude")
    end = t.UserDefined(urn=urn, name="point", structure=point.structure)
    assert line.structure == t.Struct(types=(end, end))
    nstruct = Registry.default().with_yaml(example("types/point_with_nstruct.yaml"))
    written = nstruct.type("extension:org.example:point_nstruct", "point")
    assert written is not None and written.field_names == ("longitude", "latitude")


def test_a_structure_may_use_a_type_that_comes_later() -> None:
    urn = "extension:org.example:late"
    registry = Registry.default().with_yaml(
        f"urn: {urn}\ntypes: [{{name: a, structure: list<u!b>}}, {{name: b, structure: i8}}]\n"
    )
    found = registry.type(urn, "a")
    assert found is not None
    assert found.structure == t.List(type=t.UserDefined(urn=urn, name="b", structure=t.I8()))


def test_parameters_of_types() -> None:
    registry = Registry.default().with_yaml(example("types/vector_with_constraints.yaml"))
    vector = registry.type("extension:org.example:vector_constrained", "vector")
    assert vector is not None
    assert [(one.name, one.kind, one.minimum, one.maximum) for one in vector.parameters] == [
        ("T", "dataType", None, None),
        ("dimensions", "integer", 2, 3),
    ]


def test_parameterized_types_bind() -> None:
    registry = Registry.default().with_yaml(
        """
        urn: extension:org.example:vectors
        types:
          - {name: Vector, parameters: [{name: T, type: dataType}, {name: N, type: integer}]}
        scalar_functions:
          - name: append
            impls:
              - args: [{value: "u!Vector<T, N>"}, {value: T}]
                nullability: DECLARED_OUTPUT
                return: "u!Vector?<T, N + 1>"
        """.replace("\n        ", "\n")
    )
    urn = "extension:org.example:vectors"

    def vector(size: int, nullable: bool = False) -> t.UserDefined:
        parameters = (t.TypeParameter("data_type", t.FP32()), t.TypeParameter("integer", size))
        return t.UserDefined(urn=urn, name="Vector", type_parameters=parameters, nullable=nullable)

    resolved = registry.resolve(urn, "append:u!Vector_any", [ValueArg(vector(2)), ValueArg(t.FP32())], strict=True)
    assert resolved.output_type == vector(3, nullable=True)


def test_variations_inherit_the_functions_of_their_parent_or_do_not() -> None:
    registry = Registry.default().with_yaml(example("extensions/type_variations.yaml"))
    urn = "extension:org.example:type_variations"
    big = registry.variation(urn, "bigoffset")
    assert big is not None and big.separate and big.parent == "string"

    def argument(variation: str) -> ValueArg:
        return ValueArg(t.String(variation=t.TypeVariation(urn, variation)))

    strings, like = OFFICIAL + "functions_string", "like:str_str"
    resolved = registry.resolve(strings, like, [argument("dict4"), ValueArg(t.String())], strict=True)
    assert resolved.output_type == t.Boolean()
    with pytest.raises(InvalidPlanError, match="no implementation"):
        registry.resolve(strings, like, [argument("bigoffset"), ValueArg(t.String())], strict=True)
    comparison = OFFICIAL + "functions_comparison"
    assert (
        registry.resolve(comparison, "equal:any_any", [argument("dict4"), ValueArg(t.String())], strict=True).notes
        == ()
    )
    assert registry.resolve(comparison, "is_null:any", [argument("bigoffset")], strict=True).notes == ()


def test_files_are_read_from_paths(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(example("extensions/double_function.yaml"))
    registry = Registry.default().with_yaml(path)
    double = registry.function("extension:org.example:double_function", "double:i32")
    assert double is not None and double.options == (("on_domain_error", ("NAN", "ERROR")),)
    with pytest.raises(InvalidPlanError, match=r"nowhere\.yaml cannot be read"):
        Registry.default().with_yaml(tmp_path / "nowhere.yaml")


def test_a_registry_does_not_change() -> None:
    before = Registry.default().urns()
    Registry.default().with_yaml(example("extensions/double_function.yaml"))
    assert Registry.default().urns() == before


IMPLEMENTATION = "urn: extension:org.example:bad\nscalar_functions:\n  - name: f\n    impls:\n      - "


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("urn: [", "not valid YAML"),
        ("urn:\n- a", "`urn` must be text"),
        ("\nname: x", "unknown key `name`"),
        ("\ntypes: []", "`urn` is missing"),
        ("urn: functions_mine\n", "is not an extension URN"),
        (f"urn: {OFFICIAL}functions_string\n", "known already"),
        ("urn: extension:org.example:bad\nscalar_functions: 3\n", "must be a list"),
        ("urn: extension:org.example:bad\nscalar_functions:\n  - name: f\n", "no implementation"),
        (IMPLEMENTATION + "args: []", r"f\.impls\[0\]: `return` is missing"),
        (IMPLEMENTATION + "{return: i32, window_type: STREAMING}", "unknown key `window_type`"),
        (IMPLEMENTATION + "{return: i32, nullability: SOMETIMES}", "One of MIRROR, DECLARED_OUTPUT, DISCRETE"),
        (IMPLEMENTATION + "{return: integer<}", r"return: the type expression"),
        (IMPLEMENTATION + "{args: [{value: str}], return: i32}", r"args\[0\]\.value: .*write `string`"),
        (IMPLEMENTATION + "{args: [{name: x}], return: i32}", r"args\[0\]: `value` is missing"),
        (IMPLEMENTATION + "{args: [{options: []}], return: i32}", "at least one word"),
        (IMPLEMENTATION + "{args: [{value: i8}], variadic: {min: many}, return: i32}", "whole number"),
        (IMPLEMENTATION + "{variadic: {min: 1}, return: i32}", "an argument that repeats"),
        (IMPLEMENTATION + "{return: i32}\n      - {return: i64}", "two implementations have the signature `f:`"),
        ("urn: extension:org.example:bad\ntypes: [{name: a}, {name: a}]\n", "declared twice"),
        ("urn: extension:org.example:bad\ndependencies: {e: else}\n", "is not an extension URN"),
        (IMPLEMENTATION + "{args: [{value: any1}], return: any2}", "no argument determines `any2`"),
        (IMPLEMENTATION + "{args: [{value: any}], return: any}", "names no type"),
        (IMPLEMENTATION + "{args: [{value: u!point}], return: i8}", "declares no type `point`"),
        (IMPLEMENTATION + "{args: [{value: e.u!point}], return: i8}", "the alias `e`"),
        ("urn: extension:org.example:bad\ntypes: [{name: a, structure: list<u!a>}]\n", "`a` .*contains itself"),
    ],
)
def test_mistakes_are_told(text: str, message: str) -> None:
    with pytest.raises(InvalidPlanError, match=message):
        Registry.default().with_yaml(text)
