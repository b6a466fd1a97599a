"""The specification's function test cases and ours (``cases/``), run on Spark.

Every case is run or counted as refused, and every value must be right. A case that contradicts the extension it tests
stands in ``CONFLICTS`` with the reason; should a newer release mend it, the test asks for the entry to go.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.extensions.definitions import FunctionDefinition
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.extensions.signatures import EnumArg, ValueArg
from pyspark_substrait.model.expressions import Function
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import FP32, FP64, Type, concrete, with_nullability
from pyspark_substrait.sparksql import functions
from pyspark_substrait.sparksql.compiler.casts import cast
from pyspark_substrait.sparksql.compiler.literals import literal
from pyspark_substrait.sparksql.compiler.types import spark_type
from pyspark_substrait.sparksql.functions.table import Call, Operand
from tests.conformance.case_files import Case, Column, Word, read_cases

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: (file, what the case's text begins with): why it can't be right
CONFLICTS: dict[tuple[str, str], str] = {
    **{
        (f"arithmetic/{name}.test", text): "the expected value isn't the statistic of the rows given"
        for name in ("std_dev", "variance")
        for text in (
            "((-5.0), (-3.0), (-1.0), (1.0), (3.0), (5.0))",
            "((1.1), (2.2), (3.3), (4.4), (5.5))",
            "((0.0), (100.0), (50.0), (25.0), (75.0))",
        )
    },
    ("arithmetic/multiply.test", "multiply(-13::i8, -10::i8) [overflow:SATURATE]"): "130 saturates to 127, not -128",
    ("arithmetic/shift_left.test", "shift_left(301989888::i64, 8::i32)"): "301989888 * 256 is 77309411328",
    ("arithmetic/acosh.test", "acosh(0.5::fp32) [on_domain_error:NONE]"): "the option has no value NONE",
    ("arithmetic/divide.test", "divide(5::i8, 0::i8) [on_division_by_zero:NAN]"): "integers have no value NAN",
    ("arithmetic/sqrt.test", "sqrt(-1::i64) [on_domain_error:NAN]"): "the option says NaN, the case null",
    ("arithmetic/sqrt.test", "sqrt(-9223372036854775800::i64) [on_domain_error:NAN]"): "as before",
    ("datetime/extract.test", "extract(SUNDAY_DAY_OF_WEEK::enum"): "neither indexing counts a Sunday as 7 from Sunday",
    ("datetime/extract.test", "extract(MONDAY_DAY_OF_WEEK::enum"): "neither indexing counts a Sunday as 0 from Monday",
    ("datetime/extract.test", "extract(MILLISECOND::enum"): "the milliseconds since the last second have no seconds",
    ("datetime/extract.test", "extract(MICROSECOND::enum"): "the microseconds since the last millisecond",
    **{
        (f"logarithmic/{name}.test", f"{name}({argument}"): reason
        for name in ("ln", "log10", "log2")
        for argument, reason in (
            ("-inf::fp64) [on_domain_error:NONE]", "the option has no value NONE"),
            ("0.0::fp64) [on_log_zero:NAN]", "the option says NaN, the case null"),
        )
    },
    ("logarithmic/logb.test", "logb("): "the cases give the base first, the extension takes it second",
}

_CHUNK = 150


@dataclass(frozen=True)
class Ready:
    """A case as Spark SQL: the text of the call, and the type it must have."""

    case: Case
    text: str
    output: Type

    @property
    def source(self) -> str:
        """What follows SELECT: the table of an aggregate, nothing for a scalar function."""
        if self.case.rows is None:
            return ""
        names = ", ".join(f"c{position}" for position in range(len(self.case.types)))
        if not names:
            return f" FROM range({len(self.case.rows)})"
        nothing = "" if self.case.rows else " WHERE false"
        rows = self.case.rows or (
            tuple(Literal(type=with_nullability(kind, True), value=None) for kind in self.case.types),
        )
        values = ", ".join(f"({', '.join(literal(item) for item in row)})" for row in rows)
        return f" FROM VALUES {values} AS t({names}){nothing}"


def ready(case: Case, dropped: Counter[str]) -> Ready:
    """A case as Spark SQL. Options that the function doesn't declare are left out and counted.

    Raises:
        UnsupportedPlanError: there is no row for the function or for its options.
        InvalidPlanError: no implementation takes the arguments.
    """
    given = []
    for argument in case.arguments:
        match argument:
            case Word(value=value):
                given.append(EnumArg(value))
            case Literal(type=type, value=value):
                given.append(ValueArg(type, value if isinstance(value, str | int) else None))
            case Column(type=type):
                given.append(ValueArg(type))
    resolved = Registry.default().resolve(case.urn, case.function, tuple(given))
    definition, output = resolved.definition, resolved.output_type
    assert definition is not None and output is not None
    operands = []
    for position, argument in enumerate(resolved.arguments):
        origin = resolved.sources[position]
        if isinstance(argument, EnumArg):
            operands.append(Operand(argument.value))
            continue
        assert origin is not None
        operands.append(_operand(case.arguments[origin], argument.type))
    names = [argument.name for argument in definition.arguments]
    names += names[-1:] * (len(operands) - len(names))
    table = functions.table(definition.urn)
    if table is None:
        raise UnsupportedPlanError(f"no table for {definition.urn}")
    call = Call(
        function=Function(definition.urn, definition.name, definition.key.partition(":")[2]),
        operands=tuple(operands),
        names=tuple(names),
        output=output,
    )
    return Ready(case, table.text(call, _declared(definition, case, dropped)), output)


def _operand(argument: Literal | Word | Column, type: Type) -> Operand:
    match argument:
        case Literal(value=value):
            text = cast(literal(argument), argument.type, type)
            return Operand(
                f"({text})", type, value if isinstance(value, str | int) and not isinstance(value, bool) else None
            )
        case Column(position=position):
            return Operand(f"c{position}", type)
        case Word(value=value):
            return Operand(value)


def _declared(definition: FunctionDefinition, case: Case, dropped: Counter[str]) -> list[tuple[str, tuple[str, ...]]]:
    options = []
    for name, value in case.options:
        try:
            options += definition.check_options([(name, [value])])
        except InvalidPlanError:
            dropped[f"{name}:{value}"] += 1
    return options


@pytest.fixture(scope="module")
def prepared() -> tuple[list[Ready], Counter[str]]:
    """The cases that run, and how many of each file are refused."""
    found: list[Ready] = []
    refused: Counter[str] = Counter()
    reasons: defaultdict[str, set[str]] = defaultdict(set)
    dropped: Counter[str] = Counter()
    for case in read_cases():
        if not isinstance(case, Case):
            refused[case[0]] += 1
            reasons[case[0]].add("lambdas, windows or types of extensions")
            continue
        try:
            found.append(ready(case, dropped))
            if isinstance(case.expected, Literal):
                literal(case.expected)
        except (UnsupportedPlanError, InvalidPlanError) as error:
            refused[case.file] += 1
            reasons[case.file].add(error.message)
    print(f"\n{len(found)} cases run, {refused.total()} are refused; undeclared options left out: {dict(dropped)}")
    for file, count in sorted(refused.items()):
        print(f"  {file}: {count} refused: {'; '.join(sorted(reasons[file]))[:300]}")
    return found, refused


def _chunks(items: Sequence[Ready], size: int) -> Iterator[Sequence[Ready]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _columns(item: Ready) -> str:
    """Whether the value is right, and the name of its Spark type."""
    expected = item.case.expected
    if not isinstance(expected, Literal):
        return f"({item.text}) IS NOT NULL OR true, typeof({item.text})"
    wanted = cast(literal(expected), expected.type, item.output)
    right = f"({item.text}) <=> ({wanted})"
    if isinstance(concrete(item.output), FP32 | FP64) and expected.value is not None:
        tolerance = "1e-9D" if isinstance(concrete(item.output), FP64) else "2e-6D"
        right += f" OR abs(({item.text}) - ({wanted})) <= abs({wanted}) * {tolerance}"
    return f"coalesce({right}, false), typeof({item.text})"


def _results(spark: SparkSession, items: Sequence[Ready]) -> list[tuple[bool, str]]:
    """The two columns of each case; an error counts as a wrong value."""
    parts = [
        f"(SELECT struct({_columns(item)}){item.source})" if item.source else f"struct({_columns(item)})"
        for item in items
    ]
    try:
        return [tuple(result) for result in spark.sql(f"SELECT {', '.join(parts)}").collect()[0]]
    except Exception as error:
        if len(items) == 1:
            return [(False, f"error {str(error).splitlines()[0]}")]
        middle = len(items) // 2
        return _results(spark, items[:middle]) + _results(spark, items[middle:])


def _value(spark: SparkSession, item: Ready) -> str:
    """What a case gives, for a message."""
    try:
        return str(spark.sql(f"SELECT CAST(({item.text}) AS STRING){item.source}").collect()[0][0])
    except Exception as error:
        return str(error).splitlines()[0]


def _carriers(spark: SparkSession, types: Iterable[str]) -> dict[str, str]:
    """What ``typeof`` calls each type."""
    names = sorted(set(types))
    row = spark.sql(f"SELECT {', '.join(f'typeof(CAST(NULL AS {name}))' for name in names)}").collect()[0]
    return dict(zip(names, row, strict=True))


def _conflict(case: Case) -> tuple[str, str] | None:
    return next((key for key in CONFLICTS if key[0] == case.file and case.text.startswith(key[1])), None)


def test_values(spark: SparkSession, prepared: tuple[list[Ready], Counter[str]]) -> None:
    found, _ = prepared
    valued = [item for item in found if item.case.expected not in ("error", "undefined")]
    agreeing = [item for item in valued if _conflict(item.case) is None]
    scalar = [item for item in agreeing if item.case.rows is None]
    aggregate = [item for item in agreeing if item.case.rows is not None]
    carriers = _carriers(spark, (spark_type(item.output) for item in valued))
    wrong = []
    right: Counter[str] = Counter()
    contradicting: set[tuple[str, str]] = set()
    alone = [[item] for item in valued if _conflict(item.case) is not None]  # they may be errors
    for chunk in (*_chunks(scalar, _CHUNK), *_chunks(aggregate, _CHUNK), *alone):
        for item, (correct, type) in zip(chunk, _results(spark, chunk), strict=True):
            conflict = _conflict(item.case)
            if correct and type == carriers[spark_type(item.output)]:
                right[item.case.file] += 1
            elif conflict is not None:
                contradicting.add(conflict)
            else:
                wrong.append(
                    f"{item.case.file}: {item.case.text} gives {_value(spark, item)} of type {type}: {item.text}"
                )
    print("\n" + "\n".join(f"  {file}: {count} right" for file, count in sorted(right.items())))
    print(f"{right.total()} values right, {len(contradicting)} known conflicts")
    assert not wrong, "\n".join(wrong)
    assert contradicting == {key for key in CONFLICTS if any(_conflict(item.case) == key for item in valued)}


def test_errors(spark: SparkSession, prepared: tuple[list[Ready], Counter[str]]) -> None:
    found, _ = prepared
    failing = [item for item in found if item.case.expected == "error" and _conflict(item.case) is None]
    silent = []
    for item in failing:
        try:
            value = spark.sql(f"SELECT {item.text} AS value{item.source}").collect()
        except Exception as error:
            # an error of the function, not of our text
            assert not re.match(r"\[(PARSE|UNRESOLVED|DATATYPE|INVALID_SQL)", str(error)), item.text
            continue
        silent.append(f"{item.case.file}: {item.case.text} gives {value}: {item.text}")
    print(f"\n{len(failing)} errors expected")
    assert not silent, "\n".join(silent)


def test_undefined_results_are_no_errors(spark: SparkSession, prepared: tuple[list[Ready], Counter[str]]) -> None:
    found, _ = prepared
    undefined = [item for item in found if item.case.expected == "undefined" and item.case.rows is None]
    assert all(correct for correct, _ in _results(spark, undefined))
