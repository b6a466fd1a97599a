"""The samples have every node class of the model."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterator
from enum import Enum
from typing import Any

import pytest

from pyspark_substrait.model import expressions, literals, masks, plan, relations, types
from pyspark_substrait.model.relations import base
from tests import samples

FAMILIES = {
    "types": types.Type,
    "expressions": expressions.Expression,
    "arguments": expressions.Argument,
    "bounds": expressions.Bound,
    "reference segments": expressions.ReferenceSegment,
    "selections": masks.Select,
    "literal values": literals.LiteralValue,
    "relations": relations.Relation,
    "reads": relations.ReadType,
    "file formats": relations.FileFormat,
    "exchanges": relations.ExchangeKind,
    "relation trees": plan.PlanRel,
}
BROKEN = {expressions.BrokenExpression, relations.BrokenRelation}
"""What stands for parts that can't be understood: no valid plan has it."""
MODULES = (types, literals, masks, expressions, relations, base, plan)


def nodes(node: Any) -> Iterator[Any]:
    """A node and all below it."""
    if isinstance(node, tuple):
        yield node
        for child in node:
            yield from nodes(child)
    elif isinstance(node, Enum):
        yield node
    elif dataclasses.is_dataclass(node):
        yield node
        for field in dataclasses.fields(node):
            yield from nodes(getattr(node, field.name))
    else:
        yield node


@pytest.fixture(scope="module")
def found() -> set[type]:
    every = (*samples.PLANS.values(), *samples.EXTENDED_EXPRESSIONS.values())
    return {node.__class__ for sample in every for node in nodes(sample)}


@pytest.mark.parametrize("name", FAMILIES)
def test_families(name: str, found: set[type]) -> None:
    members = {
        member
        for member in typing.get_args(FAMILIES[name])
        if isinstance(member, type) and typing.get_origin(member) is None
    }
    assert members
    assert members - BROKEN <= found


def test_every_class_of_the_model(found: set[type]) -> None:
    """Bases are never made themselves, an open schema is derived, and an info is no part of a plan."""
    bases = {types.TypeBase, types.OpenStruct, base.RelationInfo}
    bases |= {item for item in vars(relations).values() if isinstance(item, type) and item.__name__.endswith("Base")}
    bases |= {relations.ExtensibleRelation, relations.KeyedJoin}
    declared = {
        item
        for module in MODULES
        for name in module.__all__
        if isinstance(item := getattr(module, name), type)
        and (dataclasses.is_dataclass(item) or issubclass(item, Enum))
    }
    assert declared - found == bases | BROKEN


def test_every_enum_has_all_members_in_samples() -> None:
    every = (*samples.PLANS.values(), *samples.EXTENDED_EXPRESSIONS.values())
    found = {node for sample in every for node in nodes(sample) if isinstance(node, Enum)}
    kinds = {node.__class__ for node in found}
    missing = {member for kind in kinds for member in kind} - found
    assert {member.name for member in missing} <= {"UNSPECIFIED"}
