"""Every overload that the target DataFusion accepts, called there: its type is the one of the plan, and so are its
values, beside the reference evaluator."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import product
from typing import Any, Final, cast

import pyarrow as pa
import pytest

import pyspark_substrait as ps
from fuzz import calls
from fuzz.calls import Signature, call_of, wants_constant
from fuzz.literals import constant, literal
from fuzz.plans import rooted
from fuzz.tables import rooted_names
from pyspark_substrait.engines import TARGETS, sessions
from pyspark_substrait.extensions.definitions import FunctionDefinition
from pyspark_substrait.extensions.registry import OFFICIAL, Registry
from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import relations as r
from pyspark_substrait.model import types as t
from pyspark_substrait.model.types import NamedStruct, Struct, Type, concrete, with_nullability
from tests.reference import Choices, Failure, NotCovered, Undetermined, evaluate

pytest.importorskip("datafusion")

TARGET: Final = TARGETS["datafusion"]
ROWS: Final = 6
CHOICES: Final = Choices(nearest=True, nan_is_largest=True)
#: failures on the data of a call, with which nothing is said about its type
ON_DATA: Final = re.compile(
    r"Divide by zero|square root of a negative|negative number is undefined|overflow|zero raised"
)
PLAIN: Final = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}


def overloads() -> Iterator[tuple[str, FunctionDefinition]]:
    for urn, name, definitions in Registry.default().functions():
        known = TARGET.functions if urn.startswith(OFFICIAL) else TARGET.others.get(urn, {})
        if name in known or name in TARGET.composed:
            yield from ((f"{urn.rpartition(':')[2]}-{definition.key}", definition) for definition in definitions)


def column(position: int, type: Type) -> e.FieldReference:
    return e.FieldReference(root=e.RootReference(), reference=(e.StructField(position),), type=type)


def plan_of(signature: Signature, chosen: tuple[Type | str, ...]) -> Any:
    """A call over the columns of a virtual table, which have nulls; what is mostly constant is a literal."""
    types = tuple(with_nullability(item, True) for item in chosen if not isinstance(item, str)) or (t.I32(),)
    struct = Struct(types=types)
    records = tuple(
        e.NestedStruct(
            fields=tuple(
                literal(item, random.Random(f"{item} {row} {place}"), extremes=0.0) for place, item in enumerate(types)
            )
        )
        for row in range(ROWS)
    )
    table = r.Read(
        base_schema=NamedStruct(names=rooted_names(struct), struct=struct),
        read_type=r.VirtualTable(expressions=records),
    )
    arguments: list[e.Argument] = []
    place = 0
    for number, item in enumerate(chosen):
        if isinstance(item, str):
            arguments.append(e.EnumArgument(item))
            continue
        fixed = wants_constant(signature, number)
        made = constant(signature.names[number], item, random.Random(number)) if fixed else column(place, types[place])
        arguments.append(made)
        place += 1
    sorts = (e.SortField(expr=column(0, types[0]), sort_kind=e.SortDirection.ASC_NULLS_LAST),)
    call = call_of(signature, arguments, {}, sorts=sorts)
    if isinstance(call, e.AggregateFunction):
        measure = r.Measure(measure=call)
        return rooted(r.Aggregate(input=table, groupings=(r.Grouping(()),), measures=(measure,)))
    return rooted(r.Project.only(table, [cast(e.Expression, call)]))


def is_of(found: pa.DataType, type: Type) -> bool:
    """Whether an Arrow type is the one of a type of the plan."""
    simple: dict[object, pa.DataType] = {
        t.Boolean: pa.bool_(), t.I8: pa.int8(), t.I16: pa.int16(), t.I32: pa.int32(), t.I64: pa.int64(),
        t.FP32: pa.float32(), t.FP64: pa.float64(), t.String: pa.string(), t.VarChar: pa.string(),
        t.FixedChar: pa.string(), t.Binary: pa.binary(), t.Date: pa.date32(),
    }  # fmt: skip
    wanted = concrete(type)
    if wanted.__class__ in simple:
        return bool(PLAIN.get(found, found) == simple[wanted.__class__])
    match wanted:
        case t.Decimal(precision=precision, scale=scale):
            return bool(found == pa.decimal128(precision, scale))
        case t.PrecisionTimestamp():
            return bool(found == pa.timestamp("us"))
        case t.PrecisionTimestampTZ():
            return bool(found == pa.timestamp("us", "UTC"))
        case t.PrecisionTime():
            return bool(found == pa.time64("us"))
        case t.List(type=element):
            return pa.types.is_list(found) and is_of(found.value_type, element)
        case t.Struct(types=types):
            return pa.types.is_struct(found) and all(
                is_of(found.field(place).type, item) for place, item in enumerate(types)
            )
        case _:
            return True


def fault(plan: Any) -> str | None:
    """The fault of a call in DataFusion; None if it has none, or the target refuses it."""
    try:
        made = ps.for_target(plan, "datafusion")
    except ps.UnsupportedPlanError:
        return None
    try:
        found = sessions.session("datafusion", {}).run(made.to_bytes())
    except Exception as error:
        return None if ON_DATA.search(str(error)) else str(error)[:200]
    (wanted,) = plan.relations[-1].input.schema.types
    if not is_of(found.schema.field(0).type, wanted):
        return f"{found.schema.field(0).type} instead of {wanted}"
    try:
        different = evaluate(plan, {}, choices=CHOICES).difference(found, tolerance=1e-6)
    except (NotCovered, Undetermined, Failure, KeyError):  # pyarrow 22 has no arrays of intervals of days
        return None
    return None if any(note.rule == "target-value" for note in made.notes) else different


@pytest.mark.parametrize("definition", [pytest.param(item, id=name) for name, item in overloads()])
def test_a_result_has_the_type_of_the_plan_and_its_value(definition: FunctionDefinition) -> None:
    faults = {}
    for signature in calls.signatures_of(definition):
        lists = [item if isinstance(item, tuple) else (item,) for item in signature.arguments]
        for chosen in product(*lists):
            try:
                plan = plan_of(signature, chosen)
            except ps.SubstraitError:  # an enumeration value that this type hasn't got
                continue
            found = fault(plan)
            if found is not None:
                faults[", ".join(map(str, chosen))] = found
    assert faults == {}
