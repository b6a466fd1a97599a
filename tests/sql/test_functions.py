"""The function tables against the extension files: every row means something that exists, and means it once."""

from __future__ import annotations

import decimal
import random
from collections.abc import Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.extensions.definitions import EnumArgument, FunctionDefinition
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.extensions.signatures import ValueArg
from pyspark_substrait.model.expressions import Function
from pyspark_substrait.model.types import (
    FP64,
    I32,
    I64,
    Boolean,
    Date,
    Decimal,
    List,
    Map,
    PrecisionTimestamp,
    String,
    Type,
)
from pyspark_substrait.sql import functions
from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.fragment import Constant, Name
from pyspark_substrait.sql.functions.table import Call, Operand, Row, Table, refuse, row

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OFFICIAL = "extension:io.substrait:"
STEMS = (
    "functions_aggregate_approx",
    "functions_aggregate_decimal_output",
    "functions_aggregate_generic",
    "functions_arithmetic",
    "functions_arithmetic_decimal",
    "functions_boolean",
    "functions_comparison",
    "functions_datetime",
    "functions_list",
    "functions_logarithmic",
    "functions_rounding",
    "functions_rounding_decimal",
    "functions_set",
    "functions_string",
    "unsigned_integers",
)


def table_of(stem: str) -> Table:
    found = functions.table(OFFICIAL + stem)
    assert found is not None
    return found


def signature(definition: FunctionDefinition) -> str:
    return definition.key.partition(":")[2]


def applicable(rows: tuple[Row, ...], definition: FunctionDefinition) -> list[Row]:
    """The rows for an overload, whatever the options."""
    return [
        candidate
        for candidate in rows
        if candidate.name == definition.name
        and (not candidate.signatures or signature(definition) in candidate.signatures)
    ]


def enumerations(definition: FunctionDefinition) -> dict[str, tuple[str, ...]]:
    return {item.name: item.options for item in definition.arguments if isinstance(item, EnumArgument)}


def combinations(choices: Mapping[str, tuple[str, ...]]) -> Iterator[dict[str, str]]:
    for values in product(*choices.values()):
        yield dict(zip(choices, values, strict=True))


@pytest.mark.parametrize("stem", STEMS)
def test_rows_are_about_what_the_extension_declares(stem: str) -> None:
    table = table_of(stem)
    assert table.urn == OFFICIAL + stem
    for candidate in table.rows:
        overloads = Registry.default().overloads(table.urn, candidate.name)
        assert overloads, f"there is no {candidate.name}"
        assert set(candidate.signatures) <= {signature(overload) for overload in overloads}, candidate.name
        for overload in overloads:
            if candidate not in applicable(table.rows, overload):
                continue
            words = enumerations(overload)
            for name, values in candidate.options.items():
                # a row for several overloads may name what only some of them have
                assert any(set(values) <= set(dict(other.options).get(name, ())) for other in overloads), (
                    overload.key,
                    name,
                )
            for name, values in candidate.enums.items():
                assert name in words, (overload.key, name)
                assert any(set(values) <= set(enumerations(other).get(name, ())) for other in overloads)


@pytest.mark.parametrize("stem", STEMS)
def test_a_stated_option_is_never_ignored(stem: str) -> None:
    table = table_of(stem)
    for _, name, overloads in Registry.default().functions():
        for overload in overloads:
            if overload.urn != table.urn:
                continue
            for candidate in applicable(table.rows, overload):
                unnamed = {option for option, _ in overload.options} - set(candidate.options)
                assert not unnamed, f"a row of {overload.key} says nothing about {unnamed}"
                assert name == candidate.name


@pytest.mark.parametrize("stem", STEMS)
def test_every_combination_meets_one_row_at_most(stem: str) -> None:
    table = table_of(stem)
    for candidate in {made.name for made in table.rows}:
        for overload in Registry.default().overloads(table.urn, candidate):
            rows = applicable(table.rows, overload)
            names = tuple(argument.name for argument in overload.arguments)
            for options in combinations(dict(overload.options)):
                for words in combinations(enumerations(overload)):
                    call = Call(
                        function=Function(table.urn, overload.name, signature(overload)),
                        operands=tuple(Operand(Name(words.get(argument, "x"))) for argument in names),
                        names=names,
                        output=I32(),
                    )
                    fitting = [made for made in rows if made.fits(call, options)]
                    assert len(fitting) <= 1, (overload.key, options, words)


def test_extensions_without_a_table() -> None:
    assert functions.table("extension:io.substrait:functions_nothing") is None
    assert functions.table("extension:io.substrait:table") is None
    assert functions.table("extension:io.substrait:functions_string.os") is None
    assert functions.table("extension:other:functions_string") is None


def test_spark_derives_decimal_types_as_the_specification_does(spark: SparkSession) -> None:
    """The bodies without a cast rely on it."""
    chance = random.Random(22)
    registry, urn = Registry.default(), OFFICIAL + "functions_arithmetic_decimal"
    columns, expected = [], []
    for _ in range(120):
        precisions = [chance.choice((chance.randint(1, 38), 38)) for _ in range(2)]
        left, right = (Decimal(precision=precision, scale=chance.randint(0, precision)) for precision in precisions)
        for name, operator in (("add", "+"), ("subtract", "-"), ("multiply", "*"), ("modulus", "%")):
            output = registry.resolve(urn, name, (ValueArg(left), ValueArg(right))).output_type
            assert output is not None
            operands = [f"CAST(NULL AS {spark_type(type)})" for type in (left, right)]
            columns.append(f"typeof({operands[0]} {operator} {operands[1]})")
            expected.append(spark_type(output).lower().replace(" ", ""))
    assert list(spark.sql(f"SELECT {', '.join(columns)}").collect()[0]) == expected


def test_quotients_are_rounded_once(spark: SparkSession) -> None:
    chance = random.Random(23)
    exact = decimal.Context(prec=120)
    columns, expected, refused = [], [], 0
    registry, urn = Registry.default(), OFFICIAL + "functions_arithmetic_decimal"
    for _ in range(400):
        precisions = (chance.randint(1, 38), chance.randint(1, 38))
        types = [Decimal(precision=precision, scale=chance.randint(0, precision)) for precision in precisions]
        output = registry.resolve(urn, "divide", (ValueArg(types[0]), ValueArg(types[1]))).output_type
        assert isinstance(output, Decimal)
        numbers = [
            decimal.Decimal(chance.randint(1, 10**type.precision - 1)).scaleb(-type.scale, exact) for type in types
        ]
        quotient = exact.divide(numbers[0], numbers[1])
        rounded = quotient.quantize(decimal.Decimal(1).scaleb(-output.scale), decimal.ROUND_HALF_UP, context=exact)
        if len(rounded.as_tuple().digits) > output.precision:
            continue
        call = Call(
            function=Function(urn, "divide", "dec_dec"),
            operands=tuple(
                Operand(Constant(f"CAST({number:f}BD AS {spark_type(type)})"), type)
                for number, type in zip(numbers, types, strict=True)
            ),
            names=("x", "y"),
            output=output,
        )
        try:
            columns.append(f"named_struct('value', {table_of('functions_arithmetic_decimal').text(call, ())})")
        except UnsupportedPlanError:
            refused += 1
            continue
        expected.append((rounded, spark_type(output)))
    assert refused < 20
    frame = spark.sql(f"SELECT {', '.join(columns)}")
    structs: list[Any] = [field.dataType for field in frame.schema]
    kinds = [struct["value"].dataType.simpleString() for struct in structs]
    found = [(row.value, kind.upper().replace(",", ", ")) for row, kind in zip(frame.collect()[0], kinds, strict=True)]
    assert found == expected


# the texts -----------------------------------------------------------------------------------------------------------


def text(
    stem: str,
    key: str,
    *types: Type,
    output: Type,
    options: Mapping[str, tuple[str, ...]] | None = None,
    literals: Mapping[int, str | int] | None = None,
    distinct: bool = False,
    filter: str | None = None,
) -> str:
    """The text of a call of columns ``a``, ``b``, …"""
    name, _, tail = key.partition(":")
    definition = Registry.default().function(OFFICIAL + stem, key)
    assert definition is not None
    names = [argument.name for argument in definition.arguments]
    operands = [
        Operand(Constant(column, literals[position]) if literals and position in literals else Name(column), type)
        for position, (column, type) in enumerate(zip("abcdefgh", types, strict=False))
    ]
    call = Call(
        function=Function(OFFICIAL + stem, name, tail),
        operands=tuple(operands),
        names=tuple(names) + tuple(names[-1:] * (len(operands) - len(names))),
        output=output,
        distinct=distinct,
        filter=filter,
    )
    return table_of(stem).text(call, list((options or {}).items()))


def test_logic_of_any_number_of_arguments() -> None:
    for count, conjunction, disjunction in ((0, "true", "false"), (1, "a", "a"), (3, "a AND b AND c", "a OR b OR c")):
        operands = [Boolean()] * count
        assert text("functions_boolean", "and:bool", *operands, output=Boolean()) == conjunction
        assert text("functions_boolean", "or:bool", *operands, output=Boolean()) == disjunction


def test_what_the_tpch_plans_call_stays_as_plain_as_a_person_would_write_it() -> None:
    money = Decimal(precision=15, scale=2)
    plain = [
        (text("functions_comparison", "equal:any_any", I64(), I64(), output=Boolean()), "a = b"),
        (text("functions_comparison", "is_not_distinct_from:any_any", I64(), I64(), output=Boolean()), "a <=> b"),
        (
            text("functions_comparison", "between:any_any_any", Date(), Date(), Date(), output=Boolean()),
            "a BETWEEN b AND c",
        ),
        (text("functions_datetime", "lt:date_date", Date(), Date(), output=Boolean()), "a < b"),
        (text("functions_arithmetic", "add:i64_i64", I64(), I64(), output=I64()), "a + b"),
        (text("functions_arithmetic", "divide:fp64_fp64", FP64(), FP64(), output=FP64()), "a / b"),
        (
            text(
                "functions_arithmetic_decimal",
                "multiply:dec_dec",
                money,
                money,
                output=Decimal(precision=31, scale=4),
            ),
            "a * b",
        ),
        (
            text("functions_arithmetic_decimal", "sum:dec", money, output=Decimal(precision=38, scale=2)),
            "CAST(sum(a) AS DECIMAL(38, 2))",
        ),
        (text("functions_aggregate_generic", "count:", output=I64()), "count(1)"),
        (text("functions_aggregate_generic", "count:any", String(), output=I64(), distinct=True), "count(DISTINCT a)"),
        (
            text("functions_string", "substring:str_i32_i32", String(), I32(), I32(), output=String()),
            "substring(a, b, c)",
        ),
    ]
    for written, expected in plain:
        assert written == expected


def test_a_filter_belongs_to_every_aggregate_of_a_body() -> None:
    written = text("functions_arithmetic", "avg:i64", I64(), output=I64(nullable=True), filter="b > 0")
    assert written.count("FILTER (WHERE b > 0)") == 2


def test_like_patterns() -> None:
    def like(pattern: str, escape: str | None = None) -> str:
        literals: dict[int, str | int] = {1: pattern}
        types: list[Type] = [String(), String()]
        if escape is not None:
            types.append(String())
            literals[2] = escape
        return text("functions_string", "like:str_str", *types, output=Boolean(), literals=literals)

    assert like("%BRASS") == "a LIKE '%BRASS'"
    assert like(r"a\b") == r"a LIKE 'a\\\\b'"
    assert like("10!%", "!") == r"a LIKE '10\\%'"
    assert like("a!!b", "!") == "a LIKE 'a!b'"
    assert like("a\\%", "\\") == r"a LIKE 'a\\%'"
    assert (
        text("functions_string", "like:str_str", String(), String(), output=Boolean())
        == r"a LIKE replace(b, '\\', '\\\\')"
    )


def test_the_first_preference_that_can_be_delivered_counts() -> None:
    written = text(
        "functions_arithmetic",
        "corr:fp64_fp64",
        FP64(),
        FP64(),
        output=FP64(),
        options={"rounding": ("CEILING", "TIE_TO_EVEN")},
    )
    assert written == "corr(a, b)"


def test_an_option_that_cannot_be_delivered_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedPlanError, match=r"corr:fp64_fp64 with rounding=CEILING"):
        text(
            "functions_arithmetic", "corr:fp64_fp64", FP64(), FP64(), output=FP64(), options={"rounding": ("CEILING",)}
        )


def test_maps_are_not_compared() -> None:
    maps = List(type=Map(key=I32(), value=I32()))
    with pytest.raises(UnsupportedPlanError, match="cannot compare maps"):
        text("functions_comparison", "equal:any_any", maps, maps, output=Boolean())


def test_a_date_and_a_day_interval_make_a_timestamp() -> None:
    written = text("functions_datetime", "subtract:date_iday", Date(), I64(), output=PrecisionTimestamp(precision=6))
    assert written == "CAST(a AS TIMESTAMP_NTZ) - b"


def test_nothing_in_an_operand_is_taken_for_a_template() -> None:
    table = Table("extension:a:b", (row("f", "g({x}, [sum({y})])"),))
    call = Call(
        function=Function("extension:a:b", "f", "i32_i32"),
        operands=(Operand(Name("'{y} [sum({x})]'"), I32()), Operand(Name("{x}"), I32())),
        names=("x", "y"),
        output=I32(),
    )
    assert table.text(call, ()) == "g('{y} [sum({x})]', sum({x}))"


def test_a_refusal_says_why() -> None:
    table = Table("extension:a:b", (refuse("f", "Spark has no such rounding", rounding="FLOOR"), row("f", "g({x})")))
    call = Call(
        function=Function("extension:a:b", "f", "i32"), operands=(Operand(Name("1")),), names=("x",), output=I32()
    )
    with pytest.raises(UnsupportedPlanError, match="Spark has no such rounding"):
        table.text(call, [("rounding", ["FLOOR"])])
    assert table.text(call, [("rounding", ["FLOOR", "CEILING"])]) == "g(1)"
