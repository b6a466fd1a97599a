"""The results of functions on one Spark beside those on another.

    python -m fuzz.versions build/fuzz/4.3.json
    python -m fuzz.versions build/fuzz/3.5.json --beside build/fuzz/4.3.json

Each overload is called over random records, with each value of its options, by whichever Spark is installed. What it
returns is kept in a file; ``--beside`` prints the calls whose results are others in the file of another Spark.
"""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

import click
from rich.progress import track

import pyspark_substrait as ps
from fuzz.calls import Signature, call_of, signatures_of, wants_constant
from fuzz.literals import constant, literal
from fuzz.sessions import session
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.extensions.definitions import Kind
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model import types as t
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    Argument,
    EnumArgument,
    Expression,
    ScalarFunction,
    SortField,
    WindowFunction,
)
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.types import Type, with_nullability
from pyspark_substrait.model.values import literal_of
from tests.spark import plans

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Answers", "Call", "Difference", "answers", "calls_of", "differences", "main"]

Answers = dict[str, dict[str, str]]
"""The results of calls, by a call's text and the number of a record or group: the value's ``repr``, or ``error``."""

_RECORDS: Final = 14
_GROUPS: Final = 3
#: the calls of one statement, and of one signature with enumeration arguments
_AT_ONCE, _MOST_WORDS = 10, 30
_ERROR: Final = "error"

#: harder values than those of random plans, whose expressions would fail too often with them
_HARD: Final[Mapping[type[Type], tuple[object, ...]]] = {
    t.I32: (12, 31, 100, -45, 2024, 65_536, 123_456_789),
    t.I64: (12, 63, -100, 10**12, -(10**15), 2**53 + 1),
    t.FP32: (0.1, 2.5, -2.5, 1e10, 16_777_216.0, 0.5),
    t.FP64: (0.1, 0.5, 2.5, -2.5, 3.141592653589793, -1e5, 1e-7, 1e15, 123_456.789, -0.7),
    t.String: (
        *("e\u0301", "ß", "ǆ", "ﬁ", "İ", "straße", "ΣΑΣ", "  x  ", "Hello World", "aXbXc", "x,y,,z", "\t", "\\", "'"),
        *("a\nb", "007", "1e3", "true", "2024-02-29", "12:30", "http://a.b/c?d=e", "ab" * 10),
    ),
    t.Binary: (b"abc", "é".encode(), "😀".encode()),
}


@dataclass(frozen=True)
class Call:
    """A call of a function: its overload with concrete types, options, and the words of enumeration arguments."""

    signature: Signature
    options: Mapping[str, str]
    words: tuple[str, ...]

    def __str__(self) -> str:
        definition = self.signature.definition
        taken = iter(self.words)
        types = [next(taken) if isinstance(item, tuple) else str(item) for item in self.signature.arguments]
        options = "".join(f" {name}:{value}" for name, value in self.options.items())
        return f"{definition.urn.rpartition(':')[2]} {definition.name}({', '.join(types)}){options}"


@dataclass(frozen=True)
class Difference:
    """A call that returns something else on another Spark."""

    call: str
    record: str
    here: str
    there: str


def differences(here: Answers, there: Answers) -> Iterator[Difference]:
    """Yield what is different for the calls that both have; a call that a Spark refuses is in neither."""
    for call, values in here.items():
        for record, value in values.items():
            other = there.get(call, {}).get(record, value)
            if other != value:
                yield Difference(call, record, value, other)


def calls_of(signature: Signature) -> list[Call]:
    """Return the calls of a signature: without options, with each value of each, and the words of its arguments."""
    words = [item for item in signature.arguments if isinstance(item, tuple)]
    options = [{}, *({name: value} for name, values in signature.definition.options for value in values)]
    return [Call(signature, chosen, taken) for chosen in options for taken in islice(product(*words), _MOST_WORDS)]


def answers(spark: SparkSession, signature: Signature, seed: int = 0) -> Answers:
    """Return the results of a signature's calls on a Spark over random records, less the calls that it refuses.

    Of calls with the same statement, one is made; the statement is for the newest Spark, the same on each version.
    """
    trial = _Trial(spark, signature, seed)
    texts, wanted = set(), []
    for call in calls_of(signature):
        try:
            text = ps.to_sql(plans.plan(trial.relation([call], trial.records[:1])))
            ps.to_sql(plans.plan(trial.relation([call], trial.records[:1])), version=spark.version)
        except SubstraitError:
            continue
        if text not in texts:
            texts.add(text)
            wanted.append(call)
    for start in range(0, len(wanted), _AT_ONCE):
        trial.settle(wanted[start : start + _AT_ONCE], trial.records)
    return trial.found


@dataclass
class _Trial:
    """The random records of a signature, and the answers so far."""

    spark: SparkSession
    signature: Signature
    seed: int
    found: Answers = field(default_factory=dict)

    def __post_init__(self) -> None:
        signature = self.signature
        first = Call(signature, {}, tuple(item[0] for item in signature.arguments if isinstance(item, tuple)))
        chance = random.Random(zlib.crc32(str(first).encode()) + self.seed)
        self.constants = [
            constant(signature.names[place], type, chance)
            if not isinstance(type, tuple) and wants_constant(signature, place)
            else None
            for place, type in enumerate(signature.arguments)
        ]
        self.types = [
            type
            for type, value in zip(signature.arguments, self.constants, strict=True)
            if value is None and not isinstance(type, tuple)
        ]
        self.records: list[tuple[Any, ...]] = [
            (number, number % _GROUPS, *(_value(with_nullability(type, True), chance) for type in self.types))
            for number in range(_RECORDS)
        ]

    def relation(self, calls: Sequence[Call], records: Sequence[tuple[Any, ...]]) -> Relation:
        """Return the calls over the records, behind the number of the record or group."""
        types = [t.I32(), t.I32(), *(with_nullability(type, True) for type in self.types)]
        table = plans.values(types, records)
        made = [self._made(call, table) for call in calls]
        if self.signature.definition.kind == "aggregate":
            return plans.group(
                table, [plans.col(table, 1)], [item for item in made if isinstance(item, AggregateFunction)]
            )
        return plans.project(
            table, plans.col(table, 0), *(item for item in made if not isinstance(item, AggregateFunction))
        )

    def _made(self, call: Call, table: Relation) -> ScalarFunction | AggregateFunction | WindowFunction:
        words, place = iter(call.words), 2
        arguments: list[Argument] = []
        for type, value in zip(self.signature.arguments, self.constants, strict=True):
            if isinstance(type, tuple):
                arguments.append(EnumArgument(next(words)))
            elif value is not None:
                arguments.append(value)
            else:
                arguments.append(plans.col(table, place))
                place += 1
        sorts: tuple[SortField, ...] = (plans.sort(plans.col(table, 0)),)
        return call_of(self.signature, arguments, call.options, partitions=(plans.col(table, 1),), sorts=sorts)

    def settle(self, calls: Sequence[Call], records: Sequence[tuple[Any, ...]]) -> None:
        """Run calls together; where one fails, each by itself, and a scalar one over half of the records."""
        try:
            rows = plans.rows(self.spark, self.relation(calls, records))
        except (SubstraitError, OverflowError):  # or Python has no such date
            if len(calls) > 1:
                middle = len(calls) // 2
                self.settle(calls[:middle], records)
                self.settle(calls[middle:], records)
            elif len(records) > 1 and self.signature.definition.kind == "scalar":
                middle = len(records) // 2
                self.settle(calls, records[:middle])
                self.settle(calls, records[middle:])
            else:
                self.found.setdefault(str(calls[0]), {})[str(records[0][0])] = _ERROR
            return
        for place, call in enumerate(calls, start=1):
            self.found.setdefault(str(call), {}).update({str(row[0]): repr(row[place]) for row in rows})


def _value(type: Type, chance: random.Random) -> Expression:
    hard = _HARD.get(type.__class__)
    if hard is not None and chance.random() < 0.5:
        return literal_of(chance.choice(hard), type)
    return literal(type, chance, nulls=0.08, extremes=0.2)


def _signatures(kinds: Sequence[str]) -> Iterator[Signature]:
    for _, _, overloads in Registry.default().functions():
        for definition in overloads:
            if definition.kind in kinds and definition.deterministic and not definition.session_dependent:
                yield from signatures_of(definition)


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--beside", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="The file of another Spark."
)
@click.option("--kind", "kinds", multiple=True, type=click.Choice(get_args(Kind)), default=get_args(Kind))
@click.option("--seed", default=0, help="Another seed makes other records.")
def main(file: Path, beside: Path | None, kinds: tuple[str, ...], seed: int) -> None:
    """Keep in FILE what functions return on the installed Spark."""
    spark, found = session(), Answers()
    for signature in track(list(_signatures(kinds)), f"Spark {spark.version}", transient=True):
        found |= answers(spark, signature, seed)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(found, indent=1))
    click.echo(f"Spark {spark.version}: {len(found)} calls in {file}")
    if beside is not None:
        other: Answers = json.loads(beside.read_text())
        wrong = list(differences(found, other))
        for item in wrong:
            click.echo(f"{item.call}, record {item.record}: {item.here}, and there {item.there}")
        click.echo(f"{len(found.keys() & other.keys())} calls beside {beside}: {len(wrong)} values are different")


if __name__ == "__main__":
    main()
