"""No input ends in anything but errors of the package's family; what shows a plan raises nothing at all.

The mutants are made with a fixed seed. More of them: ``ROUNDS``.
"""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import pyspark_substrait as ps
from pyspark_substrait.documents import as_document
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.extensions.yaml_text import load_yaml
from tests.hostile_inputs import HALF, READING, SHOWING, faults, mutate_bytes, mutate_json, mutate_text
from tests.samples import PLANS

ROUNDS = 25
"""How many mutants of each form; each goes through some of the verbs, in turn."""

NAMES = sorted(PLANS)
VERBS = [name for name in (*SHOWING, *READING) if name != "view"]


def told(source: Any, verbs: tuple[str, ...]) -> list[str]:
    return [f"{verb}: {type(error).__name__}: {error}"[:200] for verb, error in faults(source, verbs)]


@pytest.mark.parametrize("form", ["dict", "JSON", "binary", "text"])
def test_mutants_end_in_our_errors_only(form: str) -> None:
    chance = random.Random(f"mutants {form}")
    for round in range(ROUNDS):
        name = chance.choice(NAMES)
        plan = as_document(PLANS[name], deep=False)
        source: Any
        match form:
            case "dict" | "JSON":
                source = json.loads(plan.to_json())
                mutate_json(source, chance)
                if form == "JSON":
                    try:
                        source = json.dumps(source)
                    except (TypeError, ValueError):  # of what a dict may hold, and JSON can't
                        continue
            case "binary":
                source = mutate_bytes(plan.to_bytes(), chance)
            case _:
                source = mutate_text(plan.to_text(), chance)
        assert told(source, ("validate", VERBS[round % len(VERBS)])) == [], (name, round)


def read_of(literal: dict[str, Any], **parts: Any) -> dict[str, Any]:
    """A plan that puts out one literal."""
    read = {
        "baseSchema": {"names": [], "struct": {"nullability": "NULLABILITY_REQUIRED"}},
        "virtualTable": {"expressions": [{"fields": []}]},
        **parts,
    }
    return {
        "version": {"minorNumber": 108},
        "relations": [
            {
                "root": {
                    "names": ["x"],
                    "input": {
                        "project": {
                            "common": {"emit": {"outputMapping": [0]}},
                            "input": {"read": read},
                            "expressions": [{"literal": literal}],
                        }
                    },
                }
            }
        ],
    }


HUGE, LEAST = 2**31 - 1, -(2**31)
LITERALS: dict[str, dict[str, Any]] = {
    "a decimal of 1,800 bytes": {"decimal": {"value": "/" * 2400, "precision": 38, "scale": 0}},
    "a decimal of no bytes": {"decimal": {"precision": 38, "scale": 0}},
    "a decimal of a huge scale": {"decimal": {"value": "A" * 20 + "AQ==", "precision": 5, "scale": HUGE}},
    "a decimal of a negative scale": {"decimal": {"value": "A" * 20 + "AQ==", "precision": HUGE, "scale": LEAST}},
    "a uuid of 3 bytes": {"uuid": "QUJD"},
    "a uuid of 300 bytes": {"uuid": "QUJD" * 100},
    "the last date": {"date": HUGE},
    "the first date": {"date": LEAST},
    "a time of a huge precision": {"precisionTime": {"precision": HUGE, "value": 5}},
    "a timestamp of a huge precision": {"precisionTimestamp": {"precision": HUGE, "value": 5}},
    "a timestamp of a negative precision": {"precisionTimestampTz": {"precision": LEAST, "value": -5}},
    "the last timestamp": {"precisionTimestamp": {"precision": 0, "value": str(2**63 - 1)}},
    "a long interval": {"intervalYearToMonth": {"years": HUGE, "months": HUGE}},
    "a fine interval": {"intervalDayToSecond": {"days": 1, "seconds": LEAST, "subseconds": "7", "precision": HUGE}},
    "a compound interval": {
        "intervalCompound": {
            "intervalYearToMonth": {"years": LEAST},
            "intervalDayToSecond": {"days": LEAST, "subseconds": str(-(2**63)), "precision": LEAST},
        }
    },
    "a small integer that is large": {"i8": HUGE},
    "a varchar of no length": {"varChar": {"value": "abc", "length": 0}},
    "an empty fixed text": {"fixedChar": ""},
    "a huge number": {"i64": 10**400},
    "a number that Python doesn't write": {"i32": 10**5000},
    "NaN as an integer": {"i32": float("nan")},
    "infinite": {"fp32": 1e300},
    "half a character": {"string": HALF},
    "a broken message": {"userDefined": {"value": {"@type": HALF}}},
    "a message of digits": {"userDefined": {"value": {"@type": 10**5000}}},
}


@pytest.mark.parametrize("literal", LITERALS.values(), ids=LITERALS)
def test_literals_that_are_none(literal: dict[str, Any]) -> None:
    assert told(read_of(literal), ("load", "validate", "explain", "lint", "view", "to_sql", "diff")) == []


HALVES: dict[str, Any] = {
    "an enumeration": read_of({"i32": 1}, common={"hint": {"savedComputations": [{"type": HALF}]}}),
    "the format of files": read_of(
        {"i32": 1}, virtualTable=None, localFiles={"items": [{"uriFile": "x", "format": HALF}]}
    ),
    "the name of a field": {HALF: 1, "relations": []},
    "an old enumeration argument": {
        "relations": [{"root": {"input": {"project": {"expressions": [{"scalarFunction": {"arguments": [{"enum": {
            "specified": HALF}}]}}]}}}}],
    },
    "old rows": read_of({"i32": 1}, virtualTable={"expressions": [{"literal": {"struct": {"fields": 5}}}]}),
    "no rows": read_of({"i32": 1}, virtualTable={"expressions": [{"literal": {"struct": {"fields": None}}}]}),
    "types with numbers for names": read_of({"null": {"struct": {"types": [{1: {}, 2: {}}]}}}),
}  # fmt: skip


@pytest.mark.parametrize("plan", HALVES.values(), ids=HALVES)
def test_texts_that_are_none(plan: dict[str, Any]) -> None:
    assert told(plan, ("load", "validate", "explain", "lint", "view")) == []


BRACKETS = 100_000
YAML: dict[str, str] = {
    "500 lists": "[" * 500,
    "100,000 lists": "[" * BRACKETS,
    "100,000 lists by dashes": "- " * BRACKETS,
    "100,000 mappings": "{a: " * BRACKETS,
    "100,000 keys": "? " * BRACKETS,
    "an object": "a: !!python/object:os.system x",
    "a call": "!!python/object/apply:os.system [ls]",
    "a tag of another's": "urn: !mine x",
    "half a character": f"urn: {HALF}\n",
    "NUL": "urn: \0\n",
    "a billion laughs": "\n".join(
        ["a0: &a0 [lol, lol]"] + [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
    ),
    "what holds itself": "a: &a [*a]",
    "a list as a key": "[a]: b",
    "a key twice": "urn: a\nurn: b",
    "two documents": "a: b\n---\nc: d",
    "nothing": "\n",
    "a deep type": f"urn: extension:a:b\nscalar_functions: [{{name: f, impls: [{{return: '{'list<' * 5000}'}}]}}]",
    "a long sum": f"urn: extension:a:b\nscalar_functions: [{{name: f, impls: [{{return: '{'+'.join('1' * 5000)}'}}]}}]",
    "a long number": "urn: extension:a:b\n"
    f"scalar_functions: [{{name: f, impls: [{{return: 'decimal<{'9' * 5000},0>'}}]}}]",
    "an endless maximum": "urn: extension:a:b\n"
    "scalar_functions: [{name: f, impls: [{return: i64, args: [{value: i64}], variadic: {max: inf}}]}]",
}


@pytest.mark.parametrize("text", YAML.values(), ids=YAML)
def test_extension_and_dialect_files_end_in_our_errors_only(text: str, tmp_path: Any) -> None:
    with pytest.raises(SubstraitError) as found:
        ps.Registry.default().with_yaml(f"{text}\n")
    assert len(str(found.value)) < 5000
    str(found.value).encode()
    file = tmp_path / "dialect.yaml"
    file.write_bytes(text.encode(errors="surrogatepass"))
    with pytest.raises(SubstraitError):
        ps.validate(read_of({"i32": 1}), str(file))


def test_yaml_is_read_as_it_is() -> None:
    text = "a: &x [1, no, 'it''s', \"\\u00e4\"]\nb: {c: *x, d: , e: !!str 1}\nf: |\n  g\n"
    x = ["1", "no", "it's", "ä"]
    assert load_yaml(text) == {"a": x, "b": {"c": x, "d": "", "e": "1"}, "f": "g\n"}
    assert load_yaml("") is None


LONG = "n" * 100_000


def test_no_message_is_long() -> None:
    plans: list[Any] = [
        read_of({"i32": 1}, virtualTable=None, namedTable={"names": [LONG]}, baseSchema={"names": [LONG]}),
        read_of({"i32": 1}, virtualTable=None, localFiles={"items": [{"uriFile": LONG, "format": LONG}]}),
        {LONG: 1, "relations": []},
        {**read_of({"i32": 1}), "expectedTypeUrls": [LONG], "extensionUrns": [{"extensionUrnAnchor": 1, "urn": LONG}]},
        {
            **read_of({"userDefined": {"typeReference": 1}}),
            "extensions": [
                {"extensionFunction": {"extensionUrnReference": 7, "functionAnchor": 1, "name": LONG}},
                {"extensionType": {"extensionUrnReference": 7, "typeAnchor": 1, "name": LONG}},
            ],
        },
        {**read_of({"i32": 1}), "version": {"producer": LONG, "gitHash": LONG}},
        f"/{LONG}",
    ]
    for plan in plans:
        report = ps.validate(plan, "spark")
        assert len(str(report)) < 30_000
        for finding in report:
            assert len(finding.what) + len(finding.fix) + len(finding.path) < 5000
        for verb in (ps.load, ps.to_sql, ps.touches):
            try:
                verb(plan)
            except SubstraitError as error:
                assert len(str(error)) < 5000
    with pytest.raises(SubstraitError) as found:
        ps.Registry.default().with_yaml(f"urn: extension:a:b\nscalar_functions:\n- name: {LONG}\n  {LONG}: 1\n")
    assert len(str(found.value)) < 5000
