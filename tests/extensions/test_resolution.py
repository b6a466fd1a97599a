"""Finding the implementation that a call means: names as real producers write them, casts, ambiguity, refusals."""

from __future__ import annotations

import pytest

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions import OFFICIAL, Argument, EnumArg, Registry, ValueArg, short_name
from pyspark_substrait.extensions.coercion import common_type, widening_cost
from pyspark_substrait.extensions.derivation import Scope, evaluate_type
from pyspark_substrait.extensions.type_syntax import parse
from pyspark_substrait.model import types as t
from pyspark_substrait.model.types import Type

REGISTRY = Registry.default()


def type_of(text: str) -> Type:
    return evaluate_type(parse(text), {}, Scope("extension:org.example:tests"))


def values(*types: str) -> list[Argument]:
    return [ValueArg(type_of(text)) for text in types]


@pytest.mark.parametrize(
    ("stem", "name", "arguments", "key", "returns"),
    [
        # signatures as DuckDB writes them
        ("functions_boolean", "and:bool?", ["boolean?", "boolean?"], "and:bool", "boolean?"),
        ("functions_boolean", "or:bool?", ["boolean?", "boolean?"], "or:bool", "boolean?"),
        (None, "equal:i64_i64", ["i64?", "i64"], "equal:any_any", "boolean?"),
        (None, "is_not_null:string", ["string?"], "is_not_null:any", "boolean"),
        (None, "avg:decimal", ["decimal?<15, 2>"], "avg:dec", "decimal?<38, 2>"),
        (None, "sum:decimal", ["decimal?<15, 2>"], "sum:dec", "decimal?<38, 2>"),
        (None, "count:decimal", ["decimal?<15, 2>"], "count:any", "i64"),
        (None, "any_value:fp64", ["fp64?"], "any_value:any", "fp64?"),
        ("functions_string", "contains:string_string", ["string?", "string"], "contains:str_str", "boolean?"),
        # simple names, with and without an extension
        ("functions_set", "index_in", ["string", "list<string>"], "index_in:any_list", "i64?"),
        ("functions_aggregate_generic", "count", [], "count:", "i64"),
        (None, "gt", ["date", "date"], "gt:date_date", "boolean"),
        (None, "gt", ["i64", "i64"], "gt:any_any", "boolean"),
        (None, "sum", ["i32"], "sum:i32", "i64?"),
        (None, "divide", ["fp64?", "fp64"], "divide:fp64_fp64", "fp64?"),
        # the right name in the wrong file
        ("functions_arithmetic", "add:dec_dec", ["decimal<5, 1>", "decimal<5, 1>"], "add:dec_dec", "decimal<6, 1>"),
        ("functions_of_tomorrow", "not:bool", ["boolean"], "not:bool", "boolean"),
        # the named implementation doesn't take the arguments, another one does
        ("functions_string", "like:str_str", ["varchar<5>", "varchar<9>"], "like:vchar_vchar", "boolean"),
    ],
)
def test_loose_names(stem: str | None, name: str, arguments: list[str], key: str, returns: str) -> None:
    urn = None if stem is None else OFFICIAL + stem
    resolved = REGISTRY.resolve(urn, name, values(*arguments))
    assert resolved.definition is not None
    assert resolved.definition.key == key
    assert resolved.output_type == type_of(returns)
    assert resolved.argument_types == tuple(map(type_of, arguments))
    assert resolved.notes
    with pytest.raises(InvalidPlanError):
        REGISTRY.resolve(urn, name, values(*arguments), strict=True)


@pytest.mark.parametrize(
    ("stem", "name", "arguments", "types"),
    [
        ("functions_comparison", "gt:any_any", ["decimal<15, 2>", "decimal<25, 4>"], ["decimal<25, 4>"] * 2),
        ("functions_comparison", "gte:any_any", ["decimal<15, 2>", "decimal<3, 2>"], ["decimal<15, 2>"] * 2),
        # 36 digits before and 6 behind the point are too many: those behind stay
        (
            "functions_comparison",
            "gt:any_any",
            ["decimal?<19, 6>", "decimal?<38, 2>"],
            ["decimal?<38, 6>", "decimal?<38, 6>"],
        ),
        ("functions_comparison", "equal:any_any", ["fixedchar<10>", "fixedchar<3>"], ["fixedchar<10>"] * 2),
        ("functions_comparison", "equal:any_any", ["varchar?<10>", "string"], ["string?", "string"]),
        ("functions_comparison", "equal:any_any", ["fixedchar<2>", "varchar<5>"], ["string"] * 2),
        ("functions_comparison", "equal:any_any", ["i64", "decimal<10, 2>"], ["decimal<21, 2>"] * 2),
        ("functions_comparison", "coalesce:any", ["i8", "i64?", "i16"], ["i64", "i64?", "i64"]),
        ("functions_arithmetic", "add:i64_i64", ["i32", "i64?"], ["i64", "i64?"]),
        ("functions_arithmetic", "add:i64_i64", ["i8", "i16"], ["i64", "i64"]),
        ("functions_arithmetic", "add", ["i8", "i16"], ["i16", "i16"]),
        ("functions_arithmetic", "add:fp64_fp64", ["fp32", "fp64"], ["fp64", "fp64"]),
        ("functions_string", "like:str_str", ["varchar<25>", "string"], ["string", "string"]),
        ("functions_string", "substring", ["fixedchar<15>", "i16", "i32"], ["fixedchar<15>", "i32", "i32"]),
        (
            "functions_datetime",
            "add:pts_iday",
            ["precision_timestamp<6>", "interval_day<3>"],
            ["precision_timestamp<6>", "interval_day<6>"],
        ),
        ("functions_set", "index_in:any_list", ["i32", "list?<i64>"], ["i64", "list?<i64>"]),
        ("functions_set", "index_in:any_list", ["string?", "list<string?>"], ["string?", "list<string?>"]),
    ],
)
def test_arguments_are_widened(stem: str, name: str, arguments: list[str], types: list[str]) -> None:
    resolved = REGISTRY.resolve(OFFICIAL + stem, name, values(*arguments))
    assert resolved.argument_types == tuple(map(type_of, types))
    assert resolved.notes
    with pytest.raises(InvalidPlanError):
        REGISTRY.resolve(OFFICIAL + stem, name, values(*arguments), strict=True)


@pytest.mark.parametrize(
    ("stem", "name", "arguments"),
    [
        ("functions_arithmetic", "add:fp64_fp64", ["decimal<5, 2>", "fp64"]),
        ("functions_arithmetic", "add:i32_i32", ["i32", "string"]),
        ("functions_arithmetic", "add:i32_i32", ["i32", "fp32"]),
        ("functions_comparison", "equal:any_any", ["i32", "string"]),
        ("functions_comparison", "equal:any_any", ["date", "precision_timestamp<6>"]),
        ("functions_string", "substring:str_i32_i32", ["string", "i64", "i64"]),
        ("functions_comparison", "equal:any_any", ["struct<i8>", "struct<i8, i8>"]),
    ],
)
def test_nothing_else_is_cast(stem: str, name: str, arguments: list[str]) -> None:
    with pytest.raises(InvalidPlanError, match="no implementation"):
        REGISTRY.resolve(OFFICIAL + stem, name, values(*arguments))


def test_integer_literals_may_become_narrower() -> None:
    arguments = [ValueArg(t.String()), ValueArg(t.I64(), 1), ValueArg(t.I64(), 2)]
    resolved = REGISTRY.resolve(None, "substring", arguments, "scalar")
    assert resolved.argument_types == (t.String(), t.I32(), t.I32())
    arguments[2] = ValueArg(t.I64(), 2**31)
    with pytest.raises(InvalidPlanError, match="no implementation"):
        REGISTRY.resolve(None, "substring", arguments, "scalar")
    # where there is a choice, the column is widened
    resolved = REGISTRY.resolve(None, "add", [ValueArg(t.I32()), ValueArg(t.I64(), 1)])
    assert resolved.output_type == t.I64()


def test_dates_given_by_name_of_the_part() -> None:
    year = [ValueArg(t.String(), "YEAR"), ValueArg(t.Date(nullable=True))]
    resolved = REGISTRY.resolve(None, "date_part", year, "scalar")
    assert resolved.definition is not None and resolved.definition.key == "extract:req_date"
    assert resolved.arguments == (EnumArg("YEAR"), year[1])
    assert resolved.sources == (0, 1)
    assert resolved.output_type == t.I64(nullable=True)
    month = [ValueArg(t.String(), "month"), ValueArg(t.Date())]
    resolved = REGISTRY.resolve(None, "date_part", month, "scalar")
    assert resolved.definition is not None and resolved.definition.key == "extract:req_req_date"
    assert resolved.arguments == (EnumArg("MONTH"), EnumArg("ONE"), month[1])
    assert resolved.sources == (0, None, 1)
    with pytest.raises(InvalidPlanError):
        REGISTRY.resolve(None, "date_part", [ValueArg(t.String()), ValueArg(t.Date())], "scalar")


def test_extract_before_release_0_30_counts_from_one() -> None:
    resolved = REGISTRY.resolve(
        OFFICIAL + "functions_datetime", "extract:req_date", [EnumArg("MONTH"), *values("date")]
    )
    assert resolved.arguments[:2] == (EnumArg("MONTH"), EnumArg("ONE"))
    assert resolved.notes


def test_words_are_compared_without_regard_to_case() -> None:
    arguments = [EnumArg("year"), *values("date")]
    resolved = REGISTRY.resolve(OFFICIAL + "functions_datetime", "extract:req_date", arguments, strict=True)
    assert resolved.arguments[0] == EnumArg("YEAR")
    with pytest.raises(InvalidPlanError, match=r"component: YEAR\|ISO_YEAR"):
        REGISTRY.resolve(OFFICIAL + "functions_datetime", "extract:req_date", [EnumArg("AEON"), *values("date")])


def test_like_with_a_null_for_the_escape_character() -> None:
    text, null = ValueArg(t.String()), ValueArg(t.String(nullable=True), null=True)
    resolved = REGISTRY.resolve(None, "like", [text, text, null], "scalar")
    assert resolved.output_type == t.Boolean()
    assert resolved.sources == (0, 1)
    with pytest.raises(InvalidPlanError, match="no implementation"):
        REGISTRY.resolve(None, "like", [text, text, ValueArg(t.String(), "!")], "scalar")


def test_aggregates_serve_as_window_functions_and_nothing_else_changes_kind() -> None:
    urn = OFFICIAL + "functions_arithmetic"
    assert REGISTRY.resolve(urn, "sum:i64", values("i64"), "window").output_type == t.I64(nullable=True)
    assert REGISTRY.resolve(urn, "row_number:", [], "window").output_type == t.I64(nullable=True)
    with pytest.raises(InvalidPlanError, match="called as aggregate function, but it is of the kind window"):
        REGISTRY.resolve(urn, "row_number:", [], "aggregate")
    with pytest.raises(InvalidPlanError, match="called as scalar"):
        REGISTRY.resolve(urn, "sum:i64", values("i64"), "scalar")


def test_phases_of_an_average() -> None:
    urn, key = OFFICIAL + "functions_arithmetic_decimal", "avg:dec"
    first = REGISTRY.resolve(urn, key, values("decimal<10, 2>"), "aggregate", phase="INITIAL_TO_INTERMEDIATE")
    assert first.output_type == type_of("struct<decimal<38, 2>, i64>")
    last = REGISTRY.resolve(
        urn, key, values("struct<decimal<38, 2>, i64>"), "aggregate", phase="INTERMEDIATE_TO_RESULT"
    )
    assert last.output_type == type_of("decimal?<38, 2>")
    stored = values("struct?<decimal?<38, 2>, i64?>")
    last = REGISTRY.resolve(urn, key, stored, "aggregate", phase="INTERMEDIATE_TO_RESULT")
    assert last.output_type == type_of("decimal?<38, 2>")
    assert last.argument_types == (type_of("struct?<decimal?<38, 2>, i64?>"),)
    assert "differ in nullability" in last.notes[0]
    with pytest.raises(InvalidPlanError, match="no implementation"):
        REGISTRY.resolve(urn, key, stored, "aggregate", phase="INTERMEDIATE_TO_RESULT", strict=True)
    with pytest.raises(InvalidPlanError, match="phases"):
        REGISTRY.resolve(
            OFFICIAL + "functions_boolean",
            "bool_and:bool",
            values("boolean"),
            "aggregate",
            phase="INITIAL_TO_INTERMEDIATE",
        )


def test_phases_of_a_product_mirror_the_nullability() -> None:
    urn, key = OFFICIAL + "functions_arithmetic", "product:i8"
    for given, between, result in (("i8", "i64", "i8"), ("i8?", "i64?", "i8?")):
        first = REGISTRY.resolve(urn, key, values(given), "aggregate", phase="INITIAL_TO_INTERMEDIATE")
        last = REGISTRY.resolve(urn, key, values(between), "aggregate", phase="INTERMEDIATE_TO_RESULT")
        whole = REGISTRY.resolve(urn, key, values(given), "aggregate")
        assert [first.output_type, last.output_type, whole.output_type] == [
            type_of(between),
            type_of(result),
            type_of(result),
        ]


def test_unknown_functions_come_with_advice() -> None:
    with pytest.raises(InvalidPlanError, match="Did you mean `subtract`"):
        REGISTRY.resolve(None, "substract", values("i32", "i32"))
    with pytest.raises(InvalidPlanError, match=r"no implementation.*There are: not\(a: boolean\) -> boolean"):
        REGISTRY.resolve(OFFICIAL + "functions_boolean", "not:bool", values("i32"))


def test_functions_of_unknown_extensions_stay_opaque() -> None:
    arguments = tuple(values("i32"))
    resolved = REGISTRY.resolve("extension:com.example:mine", "round:i32", arguments)
    assert resolved.definition is None and resolved.output_type is None
    assert resolved.arguments == arguments
    assert resolved.notes


def test_ambiguity_lists_the_candidates() -> None:
    twin = "\nscalar_functions:\n  - name: twin\n    impls: [{args: [{value: i32}], return: i32}]\n"
    registry = REGISTRY
    for name in ("one", "two"):
        registry = registry.with_yaml(f"urn: extension:org.example:{name}{twin}")
    with pytest.raises(InvalidPlanError, match=r"ambiguous: `extension:org.example:one`.*`extension:org.example:two`"):
        registry.resolve(None, "twin", values("i32"))
    assert registry.resolve("extension:org.example:two", "twin:i32", values("i32"), strict=True).notes == ()


def test_the_same_call_gives_the_same_object() -> None:
    one, other = (REGISTRY.resolve(None, "add", values("i32", "i32")) for _ in range(2))
    assert one is other


@pytest.mark.parametrize(
    ("left", "right", "common"),
    [
        ("i8", "i32?", "i32?"),
        ("fp32", "fp64", "fp64"),
        ("fixedbinary<3>", "binary", "binary"),
        ("list<i8>", "list<i16?>", "list<i16?>"),
        ("struct<i8, varchar<3>>", "struct<i8?, string>", "struct<i8?, string>"),
        ("map<i8, date>", "map<i16, date>", "map<i16, date>"),
        ("precision_timestamp_tz<3>", "precision_timestamp_tz<9>", "precision_timestamp_tz<9>"),
        ("i32", "fp64", None),
        ("decimal<5, 2>", "fp64", None),
        ("precision_timestamp<3>", "precision_timestamp_tz<3>", None),
    ],
)
def test_common_types(left: str, right: str, common: str | None) -> None:
    expected = None if common is None else type_of(common)
    assert common_type((type_of(left), type_of(right))) == expected
    assert common_type((type_of(right), type_of(left))) == expected


def test_nullable_values_do_not_fit_required_types() -> None:
    assert widening_cost(t.I32(nullable=True), t.I32()) is None
    assert widening_cost(t.I32(), t.I32(nullable=True)) is not None
    assert widening_cost(t.I64(), t.I32()) is None


def test_short_names() -> None:
    shown = ["str", "vbin", "iday", "dec", "u!point"]
    types: list[Type] = [
        t.String(),
        t.Binary(),
        t.IntervalDay(precision=6),
        t.Decimal(precision=3, scale=1),
        t.UserDefined(urn="extension:org.example:e", name="point"),
    ]
    assert [short_name(one) for one in types] == shown
