"""Hostile strings in every string field of every message: whether they stay names and values in Spark SQL.

The fields come from the descriptors of the messages. A plan has one string replaced, by a harmless one and by a hostile
one of the same length. Spark's own lexer reads both statements: they must be the same tokens, except for the texts of
literals and quoted names. Spark's parser decides by tokens alone, so its trees are the same, too.
"""

from __future__ import annotations

import contextlib
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from fuzz.calls import plan_of, signatures_of
from fuzz.plans import plan
from fuzz.spark_tokens import Tokens
from pyspark_substrait.api.loading import loaded_plan
from pyspark_substrait.documents import as_document
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.model.relations import NamedTable, Read, VirtualTable
from pyspark_substrait.model.walk import writes
from pyspark_substrait.proto.messages import current
from pyspark_substrait.spark.evaluate import as_plan
from pyspark_substrait.sql import formatting
from pyspark_substrait.sql.compiler.names import quoted
from pyspark_substrait.sql.compiler.query import FRAME_MARK, frame
from pyspark_substrait.sql.compiler.reads import catalog_source
from pyspark_substrait.sql.compiler.scope import Source
from pyspark_substrait.sql.compiler.statement import statement
from tests.samples import EXTENDED_EXPRESSIONS, PLANS

__all__ = ["HOSTILE", "MARK", "Finding", "Place", "Tally", "corpus", "places", "string_fields", "tried"]

MARK: Final = "zq"
"""A word that no statement has by itself: the beginning of each string that is put into a plan."""

HOSTILE: Final = (
    "'", "''", '"', "`", "``", "\\", "\\'", "\\`", "'\\", "\\\\'", "--", "-- \n", "/*", "*/", "/*+ X */", "*/ /*",
    ";", "';", "`;", "'; SELECT 1", "`; DROP TABLE t", "' OR '1'='1", "') OR (1=1", "\n", "\r\n", "\0", "\0t1\0",
    "{t1}", "{", "}", "{{", "{0}", "{x!r}", "${x}", "${env:HOME}", "$", "$$", "%s", ":p", "?", "r'", 'r"', "X'41'",
    "\u2019", "\uff07", "\u02bc", "\u201c", "\uff40", "\u2028", "\u202e", "\ufeff", "\u00a0", "\\u0027", "\\047",
    "\\n", "\\0", "%", "_", "\\%", "\\_", "\U0001f600", "\x1b[2J", "\t", "\x85", "=>", "@", "#", "&&", "||", "<=>",
)  # fmt: skip
"""Strings that mean something in some place of SQL, of a pattern, of a template or of a terminal."""


# the strings of a message -------------------------------------------------------------------------------------------


def string_fields(root: Descriptor) -> Mapping[str, FieldDescriptor]:
    """The string fields of a message and of all messages that may be in it, by their full names."""
    found: dict[str, FieldDescriptor] = {}
    seen: set[str] = set()
    pending = [root]
    while pending:
        message = pending.pop()
        if message.full_name in seen:
            continue
        seen.add(message.full_name)
        for each in message.fields:
            if each.type == FieldDescriptor.TYPE_STRING:
                found[each.full_name] = each
            elif each.message_type is not None:
                pending.append(each.message_type)
    return found


@dataclass(frozen=True)
class Place:
    """A string in a message: the full name of its field, its path, and what replaces it."""

    field: str
    path: str
    value: str
    replace: Callable[[str], None]


def places(message: Message, path: str = "") -> Iterator[Place]:
    """Yield the strings of a message, those that are empty only where the field is set."""
    given: Any = message
    for each, value in given.ListFields():
        here = f"{path}.{each.name}" if path else each.name
        repeated = not isinstance(value, (str, Message)) and each.type in (
            FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_MESSAGE,
        )  # fmt: skip
        if each.type == FieldDescriptor.TYPE_STRING:
            if repeated:
                for position, text in enumerate(value):
                    yield Place(each.full_name, f"{here}[{position}]", text, _replaced_in(value, position))
            else:
                yield Place(each.full_name, here, value, _replaced(given, each.name))
        elif each.type == FieldDescriptor.TYPE_MESSAGE:
            for position, part in enumerate(value if repeated else [value]):
                yield from places(part, f"{here}[{position}]" if repeated else here)


def _replaced(message: Any, name: str) -> Callable[[str], None]:
    return lambda text: setattr(message, name, text)


def _replaced_in(values: Any, position: int) -> Callable[[str], None]:
    def replace(text: str) -> None:
        values[position] = text

    return replace


def _without_enhancements(message: Any) -> None:
    """Clear the fields that make an engine refuse a plan that it doesn't know, wherever they are."""
    for each, value in message.ListFields():
        if each.name == "enhancement":
            message.ClearField("enhancement")
        elif each.type == FieldDescriptor.TYPE_MESSAGE:
            for part in [value] if isinstance(value, Message) else value:
                _without_enhancements(part)


# plans ----------------------------------------------------------------------------------------------------------------


@cache
def corpus() -> Mapping[str, bytes]:
    """Plans by name: the samples of the tests, and one of each function that takes a string."""
    made = {name: as_document(node, deep=False).to_bytes() for name, node in PLANS.items()}
    for name, expression in EXTENDED_EXPRESSIONS.items():
        try:
            made[f"extended {name}"] = as_document(as_plan(expression), deep=False).to_bytes()
        except SubstraitError:
            continue
    registry = Registry.default()
    for urn in (*registry.urns(), *registry.own_urns()):
        for name in registry.function_names(urn):
            for definition in registry.overloads(urn, name):
                for signature in signatures_of(definition):
                    try:
                        document = as_document(plan_of(signature, {}, texts=True), deep=False)
                        message = document.to_bytes()
                    except SubstraitError:
                        continue
                    if any("iteral" in place.field for place in places(document.to_message())):
                        made[f"call {urn.rpartition(':')[2]} {definition.key} {len(made)}"] = message
    return {name: run for name, message in made.items() if (run := _runs(message)) is not None}


def _runs(message: bytes) -> bytes | None:
    """A plan, without enhancements if it is refused with them; None if it is refused without, too."""
    with contextlib.suppress(SubstraitError):
        _statements(message)
        return message
    given: Any = current().named("Plan").FromString(message)
    _without_enhancements(given)
    with contextlib.suppress(SubstraitError):
        made: bytes = given.SerializeToString()
        _statements(made)
        return made
    return None


def _original(chance: random.Random) -> tuple[str, bytes]:
    """A plan of the corpus, or a random one."""
    if chance.random() < 0.2:
        number = chance.randrange(1_000_000)
        return f"generated {number}", as_document(plan(number), deep=False).to_bytes()
    return chance.choice(list(corpus().items()))


def _source(node: Read) -> Source | None:
    """The source of a read of any kind: tables by name, everything else as a bound DataFrame."""
    if isinstance(node.read_type, (NamedTable, VirtualTable)):
        return catalog_source(node)
    columns = tuple(quoted(name) for name in node.base_schema.top_level_names())
    return Source(frame("t1"), columns, (None,) * len(columns))


def _statements(message: bytes) -> tuple[str, ...]:
    """The statement of a plan for a session, and as ``to_sql`` returns it; marks of DataFrames become names.

    Raises:
        SubstraitError: the plan is refused.
    """
    loaded = loaded_plan(message, None)
    if any(writes(tree.input if isinstance(tree, RelRoot) else tree) for tree in loaded.relations):
        raise SubstraitError("the plan writes")
    made = statement(loaded, Registry.default(), _source, chosen=0)
    texts = [made.text, *(step.text for step in made.steps if hasattr(step, "text"))]
    bound = tuple("F".join(text.split(FRAME_MARK)) for text in texts)
    counts = " ".join(str(text.count(FRAME_MARK)) for text in texts)
    return (*bound, formatting.formatted(made.readable()), f"SELECT '{counts}'")


# judging --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Finding:
    """A string that is more than a name or a value. ``why`` is what Spark's lexer found."""

    seed: int
    plan: str
    place: str
    hostile: str
    why: str
    statement: str = ""


@dataclass
class Tally:
    """The counts of a run: the strings by field and outcome.

    Outcomes: ``same`` tokens; ``interpreted``: the text means something to us, like a pattern, so that statements
    differ, but it stays in literals; ``refused``; ``found``.
    """

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    def of(self, outcome: str) -> int:
        """The number of strings with an outcome."""
        return sum(count for (_, each), count in self.counts.items() if each == outcome)

    def fields(self, *outcomes: str) -> set[str]:
        """The fields that have had one of these outcomes."""
        return {name for name, outcome in self.counts if outcome in outcomes}

    def __str__(self) -> str:
        outcomes = ("same", "interpreted", "refused", "found")
        return ", ".join(f"{self.of(outcome):,} {outcome}" for outcome in outcomes)


def tried(seed: int, tokens: Tokens, tally: Tally) -> None:
    """Put a hostile string into each string of a seed's plan in turn, and count what comes of it.

    Args:
        seed: the seed.
        tokens: Spark's lexer.
        tally: is added to.
    """
    chance = random.Random(f"strings {seed}")
    name, message = _original(chance)
    plan_class: Any = current().named("Plan")
    for position in range(len(list(places(plan_class.FromString(message))))):
        made = plan_class.FromString(message)
        place = list(places(made))[position]
        bad, shape = chance.choice(HOSTILE), chance.choice(_SHAPES)
        hostile, harmless = (shape(text, place.value) for text in (bad, "x" * len(bad)))
        outcome, why, text = _outcome(made, place, harmless, hostile, tokens)
        tally.counts[place.field, outcome] += 1
        if outcome == "found":
            tally.findings.append(Finding(seed, name, place.path, hostile, why, text))


_SHAPES: Final[tuple[Callable[[str, str], str], ...]] = (
    lambda text, value: f"{MARK}{text}",
    lambda text, value: f"{value}{MARK}{text}",
    lambda text, value: f"{text}{MARK}{value}",
    lambda text, value: f"{MARK}{text}{MARK}",
)
"""How a text and the string that it replaces become a string with the mark."""


def _outcome(message: Any, place: Place, harmless: str, hostile: str, tokens: Tokens) -> tuple[str, str, str]:
    place.replace(hostile)
    try:
        found = _statements(message.SerializeToString())
    except SubstraitError:
        return "refused", "", ""
    for text in found:
        why = tokens.escaped_from(text, MARK)
        if why:
            return "found", why, text
    place.replace(harmless)
    try:
        wanted = _statements(message.SerializeToString())
    except SubstraitError:
        return "interpreted", "", ""
    if len(wanted) != len(found):
        return "interpreted", "", ""
    for text, other in zip(found, wanted, strict=True):
        if tokens.difference(other, text, harmless, hostile):
            return "interpreted", "", text
    return "same", "", ""
