"""SQL for SQLite.

Its values have types of their own, so the types of a plan have to be kept by the texts: integers of 64 bits become
floating-point numbers on overflow there, and those of fewer bits never overflow; sums and products are checked. A
subquery with several records is its first one there, dates are texts, and there are no decimals: these are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sqlglot import exp

from pyspark_substrait.codes import Code
from pyspark_substrait.engines.dialects.dialect import Call, Cast, Dialect, Row, functions, refuse, row
from pyspark_substrait.engines.dialects.integers import bits, in_range
from pyspark_substrait.engines.dialects.literals import Literals
from pyspark_substrait.engines.dialects.neighbours import neighbour
from pyspark_substrait.engines.dialects.standard import (
    ALL_STARTS,
    ALL_VALUES,
    DATAFUSION,
    EVEN,
    INTEGERS,
    STANDARD,
    extreme_of_values,
    two,
)
from pyspark_substrait.engines.dialects.texts import concatenated, escape_of, shortened
from pyspark_substrait.engines.dialects.tree import filled, is_longer
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import (
    FP64,
    I8,
    I16,
    I32,
    I64,
    Binary,
    Boolean,
    String,
    Type,
    VarChar,
    concrete,
)

__all__ = ["SQLITE"]

_BASE: Final = "extension:io.substrait:functions_"
#: an error: the smallest integer has no absolute value
_ERROR: Final = "ABS(-9223372036854775807 - 1)"


def types(type: Type) -> str | None:
    """Return the type whose affinity keeps the values."""
    match concrete(type):
        case Boolean() | I8() | I16() | I32() | I64():
            return "INTEGER"
        case FP64():
            return "REAL"
        case String() | VarChar():
            return "TEXT"
        case Binary():
            return "BLOB"
        case _:
            return None


def _bytes(value: bytes) -> exp.Expression:
    return exp.HexString(this=value.hex())


def cast(made: Cast) -> exp.Expression | None:
    """Return a cast, if it has exactly the values that casts have here."""
    match made.source, made.target:
        case ((I8() | I16() | I32() | I64()), (I8() | I16() | I32() | I64())) if bits(made.source) <= bits(made.target):
            return made.value
        case ((I8() | I16() | I32() | I64()), (I8() | I16() | I32() | I64())) if not made.null:
            return _in_range("{0}", [made.value], made.target)
        case Boolean(), (I8() | I16() | I32() | I64()):
            return made.value
        case ((I8() | I16() | I32() | I64() | FP64()), Boolean()):
            return filled("{0} <> 0", [made.value], "sqlite")
        case ((I8() | I16() | I32() | I64() | Boolean()), FP64()):
            return made.dialect.typed(made.value, made.target)
        case ((I8() | I16() | I32() | I64()), String()):
            return made.dialect.typed(made.value, made.target)
        case ((String() | VarChar()), (String() | VarChar())):
            return shortened(made)
        case _:
            return None


#: the most nodes of a value that is written again
_SHORT: Final = 8


def _filled(template: str, values: Sequence[exp.Expression]) -> exp.Expression:
    """Return a template over some values, of which each long one is computed once: in a subquery without a table."""
    long = {f"v{place}": value for place, value in enumerate(values) if is_longer(value, _SHORT)}
    if not long or any(value.find(exp.Window) for value in values):
        return filled(template, values, "sqlite")
    names = [exp.to_identifier(f"v{place}", quoted=True) for place in range(len(values))]
    short = [exp.column(name) if name.name in long else value for name, value in zip(names, values, strict=True)]
    inner = exp.Select(expressions=[exp.alias_(value, name, quoted=True) for name, value in long.items()])
    query = exp.Select(expressions=[filled(template, short, "sqlite")])
    query.set("from_", exp.From(this=exp.Subquery(this=inner)))
    return exp.Subquery(this=query)


def _in_range(template: str, values: Sequence[exp.Expression], type: Type) -> exp.Expression:
    """Return an integer, or an error if it is not of its type."""
    return _filled(in_range(template, type, _ERROR, of_64=f"TYPEOF({template}) <> 'real'"), values)


def _checked(template: str) -> Callable[[Call], exp.Expression]:
    """Return the body of an operation on integers, which is an error on overflow."""

    def body(call: Call) -> exp.Expression:
        values = [value for value in call.operands if isinstance(value, exp.Expression)]
        return _in_range(template, values, call.output)

    return body


def _quotient(operator: str) -> Callable[[Call], exp.Expression]:
    """Return the body of a division of integers, which is an error if the divisor is zero; SQLite's is null."""
    return _checked(f"{{0}} {operator} CASE WHEN {{1}} = 0 AND NOT {{0}} IS NULL THEN {_ERROR} ELSE {{1}} END")


def _float(template: str) -> Callable[[Call], exp.Expression]:
    """Return the body of an operation on floating-point numbers, which is an error where the result is no number."""

    def body(call: Call) -> exp.Expression:
        values = [value for value in call.operands if isinstance(value, exp.Expression)]
        condition = f"NOT ({template}) IS NULL OR {{0}} IS NULL OR {{1}} IS NULL"
        return _filled(f"CASE WHEN {condition} THEN {template} ELSE {_ERROR} END", values)

    return body


def _known(aggregate: str) -> str:
    """Return an aggregate of numbers, which is an error where it is no number: SQLite's is null there."""
    return f"COALESCE(agg({aggregate}), CASE WHEN agg(COUNT({{0}})) > 0 THEN {_ERROR} END)"


def _like(call: Call) -> exp.Expression:
    """Return ``like`` as GLOB, which tells upper from lower case."""
    pattern, stated = call.literal(1), escape_of(call)
    if not isinstance(pattern, str):
        raise UnsupportedPlanError(
            f"{call.function.key} of a pattern that isn't a constant has no exact form in SQLite: "
            "its LIKE does not tell upper from lower case",
            code=Code.TARGET_FUNCTION,
        )
    escape = stated or ("\\" if call.function.urn == DATAFUSION else "")
    text, characters = "", iter(pattern)
    for character in characters:
        if escape and character == escape:
            character = next(characters, escape)
        elif character in _WILD:
            text += _WILD[character]
            continue
        text += f"[{character}]" if character in "*?[" else character
    value = next(value for value in call.operands if isinstance(value, exp.Expression))
    return filled("{0} GLOB {1}", [value, exp.Literal.string(text)], "sqlite")


_WILD: Final = {"%": "*", "_": "?"}


def _substring(call: Call) -> exp.Expression:
    start, length = call.literal(1), call.literal(2)
    more = len(call.operands) > 2
    if not isinstance(start, int) or start < 1 or (more and (not isinstance(length, int) or length < 0)):
        raise UnsupportedPlanError(
            f"{call.function.key} has no exact form in SQLite but from a constant of 1 or more, of constant length",
            code=Code.TARGET_FUNCTION,
        )
    return call.filled("SUBSTR({0}, {1}, {2})" if more else "SUBSTR({0}, {1})")


_OWN: Final[Mapping[str, Sequence[Row]]] = {
    f"{_BASE}comparison": [
        row("least", extreme_of_values("MIN"), signatures=("any",)),
        row("greatest", extreme_of_values("MAX"), signatures=("any",)),
        row("least_skip_null", extreme_of_values("MIN", skipping=True), signatures=("any",)),
        row("greatest_skip_null", extreme_of_values("MAX", skipping=True), signatures=("any",)),
        refuse("is_nan", "it has no NaN"),
    ],
    f"{_BASE}boolean": [row("bool_and", "MIN({0})"), row("bool_or", "MAX({0})")],
    f"{_BASE}arithmetic": [
        row("add", _checked("{0} + {1}"), signatures=two(INTEGERS), overflow="ERROR"),
        row("subtract", _checked("{0} - {1}"), signatures=two(INTEGERS), overflow="ERROR"),
        row("multiply", _checked("{0} * {1}"), signatures=two(INTEGERS), overflow="ERROR"),
        row("add", _float("{0} + {1}"), signatures=("fp64_fp64",), rounding=EVEN),
        row("subtract", _float("{0} - {1}"), signatures=("fp64_fp64",), rounding=EVEN),
        row("multiply", _float("{0} * {1}"), signatures=("fp64_fp64",), rounding=EVEN),
        row(
            "divide",
            _quotient("/"),
            signatures=two(INTEGERS),
            overflow="ERROR",
            on_division_by_zero="ERROR",
            on_domain_error="ERROR",
        ),
        row(
            "modulus",
            _quotient("%"),
            signatures=two(INTEGERS),
            division_type="TRUNCATE",
            overflow=ALL_VALUES,
            on_domain_error="ERROR",
        ),
        row("negate", _checked("-{0}"), signatures=INTEGERS, overflow="ERROR"),
        row("negate", "-{0}", signatures=("fp64",)),
        row("abs", _checked("ABS({0})"), signatures=INTEGERS, overflow="ERROR"),
        row("abs", "ABS({0})", signatures=("fp64",)),
        row("sign", "SIGN({0})", signatures=INTEGERS),
        row("bitwise_not", "~{0}"),
        row("bitwise_and", "{0} & {1}"),
        row("bitwise_or", "{0} | {1}"),
        row("sum", "SUM({0})", signatures=INTEGERS, overflow="ERROR"),
        row("sum", _known("SUM({0})"), signatures=("fp64",), overflow=()),
        row("sum0", "COALESCE(agg(SUM({0})), 0)", signatures=INTEGERS, overflow="ERROR"),
        row("avg", _known("AVG({0})"), signatures=("fp64",), overflow=()),
        row("ntile", "NTILE({0})"),
        row("lead", neighbour("LEAD")),
        row("lag", neighbour("LAG")),
    ],
    f"{_BASE}string": [
        row("concat", concatenated, null_handling="ACCEPT_NULLS"),
        row("char_length", "LENGTH({0})"),
        row("octet_length", "LENGTH(CAST({0} AS BLOB))"),
        refuse("lower", "it maps ASCII letters only", char_set="UTF8"),
        refuse("upper", "it maps ASCII letters only", char_set="UTF8"),
        row("lower", "LOWER({0})", char_set="ASCII_ONLY"),
        row("upper", "UPPER({0})", char_set="ASCII_ONLY"),
        row("contains", "INSTR({0}, {1}) > 0", case_sensitivity="CASE_SENSITIVE"),
        row("strpos", "INSTR({0}, {1})", case_sensitivity="CASE_SENSITIVE"),
        row("like", _like, case_sensitivity="CASE_SENSITIVE"),
        row("substring", _substring, negative_start="LEFT_OF_BEGINNING"),
        row("substring", _substring, negative_start=ALL_STARTS, least={1: 1}),
    ],
    DATAFUSION: [
        row("sum", "SUM({0})", signatures=INTEGERS),
        row("sum", _known("SUM({0})"), signatures=("fp64",)),
        row("avg", "AVG({0})", signatures=INTEGERS),
        row("avg", _known("AVG({0})"), signatures=("fp64",)),
        row("like", _like),
        row("substring", _substring),
    ],
}

SQLITE: Final = Dialect(
    name="sqlite",
    engine="SQLite 3",
    sqlglot="sqlite",
    functions=functions(_OWN, STANDARD),
    types=types,
    literal=Literals(
        sqlglot="sqlite", types=types, integer=I64, any_integer=True, infinite=False, double=repr, bytes=_bytes
    ),
    cast=cast,
    outer_column="COALESCE({0}, NULL)",  # as it is, it keeps its value in the records that an outer join adds
    equality="{0} IS {1}",
    grouping_sets=False,
    replaces_views=False,
    multiplicities=False,
    laterals=False,
    values=False,
    single_rows=False,
    exact_frames=False,
    joined_operands=False,
)
