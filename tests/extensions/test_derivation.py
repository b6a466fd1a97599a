"""Binding and return types, against the specification's tables and values worked out by hand."""

from __future__ import annotations

import pytest

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions import OFFICIAL, Registry, TypeArg, ValueArg
from pyspark_substrait.extensions.derivation import Binding, Scope, evaluate, evaluate_type
from pyspark_substrait.extensions.type_syntax import parse
from pyspark_substrait.model import types as t
from pyspark_substrait.model.types import Type


def type_of(text: str) -> Type:
    """A type written down."""
    return evaluate_type(parse(text), {}, Scope("extension:org.example:tests"))


# The tables of expressions/scalar_functions, "Nullability Binding Examples".
TABLE_FUNCTIONS = """
urn: extension:org.example:nullability
scalar_functions:
  - name: f
    impls: [{args: [{value: any1}, {value: any1}], nullability: MIRROR, return: any1}]
  - name: h
    impls: [{args: [{value: list<any1>}, {value: list<any1>}], nullability: MIRROR, return: list<any1>}]
  - name: j
    impls: [{args: [{value: any1}, {value: list<any1?>}], nullability: MIRROR, return: any1}]
  - name: d
    impls: [{args: [{value: any1}, {value: any1}], nullability: DECLARED_OUTPUT, return: any1?}]
  - name: g
    impls: [{args: [{value: any1}, {value: any1}], nullability: DISCRETE, return: any1}]
  - name: g2
    impls: [{args: [{value: any1}, {value: any1?}], nullability: DISCRETE, return: any1?}]
"""
TABLES = Registry.default().with_yaml(TABLE_FUNCTIONS)


@pytest.mark.parametrize(
    ("key", "arguments", "bound", "returns"),
    [
        ("f:any_any", "i32, i32", "i32", "i32"),
        ("f:any_any", "i32?, i32", "i32", "i32?"),
        ("f:any_any", "i32, i32?", "i32", "i32?"),
        ("f:any_any", "i32?, i32?", "i32", "i32?"),
        ("h:list_list", "list<i32>, list<i32>", "i32", "list<i32>"),
        ("h:list_list", "list?<i32>, list<i32>", "i32", "list?<i32>"),
        ("h:list_list", "list<i32?>, list<i32?>", "i32?", "list<i32?>"),
        ("h:list_list", "list<i32>, list<i32?>", None, None),
        ("j:any_list", "i32, list<i32?>", "i32", "i32"),
        ("j:any_list", "i32, list<i32>", None, None),
        ("j:any_list", "i32, list<fp64?>", None, None),
        ("d:any_any", "i32, i32", "i32", "i32?"),
        ("d:any_any", "i32?, i32", "i32", "i32?"),
        ("d:any_any", "i32?, i32?", "i32", "i32?"),
        ("g:any_any", "i32, i32", "i32", "i32"),
        ("g:any_any", "i32?, i32?", None, None),
        ("g:any_any", "i32, i32?", None, None),
        ("g2:any_any", "i32, i32?", "i32", "i32?"),
        ("g2:any_any", "i32, i32", None, None),
        ("g2:any_any", "i32?, i32?", None, None),
    ],
)
def test_any_binds_as_the_table_says(key: str, arguments: str, bound: str | None, returns: str | None) -> None:
    given = [ValueArg(type_of(text)) for text in arguments.split(", ")]
    if bound is None or returns is None:
        with pytest.raises(InvalidPlanError, match="strict"):
            TABLES.resolve("extension:org.example:nullability", key, given, strict=True)
        return
    resolved = TABLES.resolve("extension:org.example:nullability", key, given, strict=True)
    assert dict(resolved.bindings) == {"any1": type_of(bound)}
    assert resolved.output_type == type_of(returns)


@pytest.mark.parametrize(
    ("stem", "key", "arguments", "returns"),
    [
        ("functions_arithmetic", "add:i32_i32", "i32, i32", "i32"),
        ("functions_arithmetic", "add:i32_i32", "i32?, i32", "i32?"),
        ("functions_arithmetic", "add:i32_i32", "i32, i32?", "i32?"),
        ("functions_arithmetic", "add:i32_i32", "i32?, i32?", "i32?"),
        ("functions_comparison", "is_null:any", "i64", "boolean"),
        ("functions_comparison", "is_null:any", "i64?", "boolean"),
    ],
)
def test_concrete_types_bind_as_the_table_says(stem: str, key: str, arguments: str, returns: str) -> None:
    given = [ValueArg(type_of(text)) for text in arguments.split(", ")]
    assert TABLES.resolve(OFFICIAL + stem, key, given, strict=True).output_type == type_of(returns)


def decimal(precision: int, scale: int) -> ValueArg:
    return ValueArg(t.Decimal(precision=precision, scale=scale))


@pytest.mark.parametrize(
    ("key", "arguments", "returns"),
    [
        # the larger scale, the larger integer part, one digit for the carry
        ("add:dec_dec", ((10, 2), (5, 4)), "decimal<13, 4>"),
        ("subtract:dec_dec", ((20, 0), (15, 2)), "decimal<23, 2>"),
        # 10 + 36 + 1 = 47 digits: 9 too many, of which the scale gives 4 and keeps 6
        ("add:dec_dec", ((38, 10), (38, 2)), "decimal<38, 6>"),
        ("multiply:dec_dec", ((10, 2), (10, 2)), "decimal<21, 4>"),
        # 41 digits: the scale of 20 gives the 3 that are too many
        ("multiply:dec_dec", ((20, 10), (20, 10)), "decimal<38, 17>"),
        ("multiply:dec_dec", ((38, 4), (23, 2)), "decimal<38, 6>"),
        # scale max(6, 2 + 2 + 1) = 6, precision 15 - 2 + 2 + 6 = 21
        ("divide:dec_dec", ((15, 2), (2, 1)), "decimal<21, 6>"),
        # scale 2 + 15 + 1 = 18, precision 15 - 2 + 15 + 18 = 46: 8 too many
        ("divide:dec_dec", ((15, 2), (15, 2)), "decimal<38, 10>"),
        # scale 4 + 38 + 1 = 43, precision 38 - 4 + 38 + 43 = 115: the scale falls to 6
        ("divide:dec_dec", ((38, 4), (38, 4)), "decimal<38, 6>"),
        ("modulus:dec_dec", ((10, 2), (5, 4)), "decimal<5, 4>"),
        ("bitwise_and:dec_dec", ((5, 0), (9, 0)), "decimal<9, 0>"),
        ("factorial:dec", ((5, 0),), "decimal<38, 0>"),
        ("sum:dec", ((15, 2),), "decimal?<38, 2>"),
        ("avg:dec", ((15, 2),), "decimal?<38, 2>"),
        ("min:dec", ((15, 2),), "decimal?<15, 2>"),
        ("sum0:dec", ((15, 2),), "decimal<38, 2>"),
    ],
)
def test_decimal_arithmetic(key: str, arguments: tuple[tuple[int, int], ...], returns: str) -> None:
    given = [decimal(*one) for one in arguments]
    resolved = TABLES.resolve(OFFICIAL + "functions_arithmetic_decimal", key, given, strict=True)
    assert resolved.output_type == type_of(returns)


@pytest.mark.parametrize(
    ("key", "given", "returns"),
    [
        ("ceil:dec", [decimal(10, 2)], "decimal<9, 0>"),
        ("floor:dec", [decimal(38, 0)], "decimal<38, 0>"),
        ("round:dec_i32", [decimal(10, 2), ValueArg(t.I32())], "decimal?<11, 2>"),
        ("round:dec_i32", [decimal(38, 2), ValueArg(t.I32())], "decimal?<38, 2>"),
    ],
)
def test_decimal_rounding(key: str, given: list[ValueArg], returns: str) -> None:
    resolved = TABLES.resolve(OFFICIAL + "functions_rounding_decimal", key, given, strict=True)
    assert resolved.output_type == type_of(returns)


def test_a_literal_in_a_pattern_must_be_met() -> None:
    with pytest.raises(InvalidPlanError, match="bitwise_and"):
        TABLES.resolve(OFFICIAL + "functions_arithmetic_decimal", "bitwise_and:dec_dec", [decimal(5, 1), decimal(5, 0)])


def test_the_value_of_an_argument_can_decide_the_type() -> None:
    urn, key = OFFICIAL + "functions_datetime", "strptime_timestamp:str_str_i8"
    text = ValueArg(t.String())
    resolved = TABLES.resolve(urn, key, [text, text, ValueArg(t.I8(), 9)], strict=True)
    assert resolved.output_type == t.PrecisionTimestampTZ(precision=9)
    with pytest.raises(InvalidPlanError, match="not an integer literal"):
        TABLES.resolve(urn, key, [text, text, ValueArg(t.I8())])
    with pytest.raises(InvalidPlanError, match="precision is 0 to 12"):
        TABLES.resolve(urn, key, [text, text, ValueArg(t.I8(), 13)])


def test_lambdas_bind_their_result() -> None:
    urn = OFFICIAL + "functions_list"
    numbers = ValueArg(t.List(type=t.I32(nullable=True), nullable=True))
    to_text = t.Func(parameter_types=(t.I32(nullable=True),), return_type=t.String(nullable=True))
    resolved = TABLES.resolve(urn, "transform:list_func", [numbers, ValueArg(to_text)], strict=True)
    assert resolved.output_type == t.List(type=t.String(nullable=True), nullable=True)
    on_dates = t.Func(parameter_types=(t.Date(),), return_type=t.String())
    with pytest.raises(InvalidPlanError, match="no implementation"):
        TABLES.resolve(urn, "transform:list_func", [numbers, ValueArg(on_dates)])


def test_a_predicate_that_is_never_null_is_a_predicate() -> None:
    predicate = t.Func(parameter_types=(t.I32(),), return_type=t.Boolean())
    resolved = TABLES.resolve(
        OFFICIAL + "functions_list",
        "filter:list_func",
        [ValueArg(t.List(type=t.I32())), ValueArg(predicate)],
        strict=True,
    )
    assert resolved.output_type == t.List(type=t.I32())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("7 / 2", 3),
        ("-7 / 2", -3),
        ("max(1, 2, 3) - min(4, 5)", -1),
        ("abs(-4)", 4),
        ("P > 38 ? 38 : P", 20),
        ("if S = 2 and ! (P < S) then 1 else 0", 1),
        ("P != 20 or S >= 3", False),
        ("multiply(add(P, 1), 2)", 42),
        ("greater_than(P, S)", True),
        ("covers(varchar<20>, varchar<N>)", True),
        ("covers(varchar<20>, varchar<21>)", False),
        ("covers(list<i8>, list<T>)", True),
        ("a = P + 1\nb = a * a\nc = b\n(c)", 441),
    ],
)
def test_programs_compute(text: str, value: Binding) -> None:
    assert evaluate(parse(text), {"p": 20, "s": 2}, Scope("extension:org.example:tests")) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 / (P - P)", "divides by zero"),
        ("decimal<P, 3>", "decimal<2, 3>"),
        ("varchar<0>", "at least 1"),
        ("list<3>", "not a type"),
        ("Q", "no argument determines"),
        ("any", "names no type"),
        ("sqrt(4)", "does not exist"),
        ("P + i8", "needs an integer"),
        ("9223372036854775807 + 1", "64-bit"),
        ("ext.u!point", "does not declare"),
    ],
)
def test_programs_that_fail_say_why(text: str, message: str) -> None:
    with pytest.raises(InvalidPlanError, match=message):
        evaluate_type(parse(text), {"p": 2}, Scope("extension:org.example:tests"))


VARIADIC = """
urn: extension:org.example:variadic
scalar_functions:
  - name: same
    impls: [{args: [{value: any1}], variadic: {min: 1, max: 3, parameterConsistency: CONSISTENT}, return: any1}]
  - name: each
    impls: [{args: [{value: any1}], variadic: {min: 1, parameterConsistency: INCONSISTENT}, return: any1}]
  - name: typed
    impls: [{args: [{type: list<T>, name: shape}, {value: string}], return: T}]
"""


def test_variadic_arguments_share_their_type_or_do_not() -> None:
    registry = Registry.default().with_yaml(VARIADIC)
    urn = "extension:org.example:variadic"
    number, text = ValueArg(t.I32()), ValueArg(t.String(nullable=True))
    assert registry.resolve(urn, "same:any", [number] * 3).output_type == t.I32()
    assert registry.resolve(urn, "each:any", [number, text]).output_type == t.I32(nullable=True)
    for arguments in ([number, text], [number] * 4, []):
        with pytest.raises(InvalidPlanError, match="no implementation"):
            registry.resolve(urn, "same:any", arguments)


def test_type_arguments_take_part_in_derivation_and_not_in_nullability() -> None:
    registry = Registry.default().with_yaml(VARIADIC)
    shape = TypeArg(t.List(type=t.Date(), nullable=True))
    resolved = registry.resolve("extension:org.example:variadic", "typed:type_str", [shape, ValueArg(t.String())])
    assert resolved.output_type == t.Date()


def test_aliases_are_seen_through() -> None:
    alias = t.AliasedType(type=t.I32(), nullable=True)
    resolved = TABLES.resolve(OFFICIAL + "functions_arithmetic", "add:i32_i32", [ValueArg(alias), ValueArg(t.I32())])
    assert resolved.output_type == t.I32(nullable=True)
    assert resolved.notes == ()
