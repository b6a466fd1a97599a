"""Functions that a plan names without an extension: DataFusion's own, and those that engines differ in."""

from __future__ import annotations

import pytest

import pyspark_substrait as ps
from pyspark_substrait.codes import Code
from pyspark_substrait.documents import Plan
from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.extensions import engines
from pyspark_substrait.extensions.registry import OFFICIAL, Registry
from pyspark_substrait.model.expressions import ScalarFunction, WindowFunction
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.model.relations import Project
from pyspark_substrait.proto import messages
from pyspark_substrait.sql.functions import table

OWN = engines.DATAFUSION.urn


def message(name: str, types: str, *, urn: str = "", producer: str = "") -> messages.Plan:
    """A projection of one call, of columns of these types."""
    made = messages.Plan()
    made.version.minor_number = 85
    made.version.producer = producer
    if urn:
        made.extension_urns.add(extension_urn_anchor=1, urn=urn)
    made.extensions.add().extension_function.name = name
    made.extensions[0].extension_function.extension_urn_reference = 1 if urn else 4294967295
    root = made.relations.add().root
    root.names.append("r")
    project = root.input.project
    words = types.split()
    project.common.emit.output_mapping.append(len(words))
    read = project.input.read
    read.named_table.names.append("t")
    read.base_schema.struct.nullability = 2
    call = project.expressions.add().scalar_function
    for position, word in enumerate(words):
        read.base_schema.names.append(f"c{position}")
        getattr(read.base_schema.struct.types.add(), word).nullability = 1
        selection = call.arguments.add().value.selection
        selection.direct_reference.struct_field.field = position
        selection.root_reference.SetInParent()
    return made


def loaded(given: messages.Plan) -> Plan:
    plan = ps.load(given.SerializeToString())
    assert isinstance(plan, Plan)
    return plan


def called(plan: Plan) -> str:
    root = plan.relations[-1]
    assert isinstance(root, RelRoot) and isinstance(root.input, Project)
    call = root.input.expressions[0]
    assert isinstance(call, ScalarFunction)
    return f"{call.function.urn} {call.function.key}"


CALLS = {"concat": "string string", "greatest": "i64 i64", "initcap": "string", "divide": "fp64 fp64"}


@pytest.mark.parametrize("name", CALLS)
def test_datafusion_means_its_own_function(name: str) -> None:
    plan = loaded(message(name, CALLS[name], producer="datafusion"))
    assert called(plan).startswith(f"{OWN} {name}:")
    assert "engine-function" in {note.rule for note in plan.notes}
    again = ps.load(plan.to_bytes())
    assert isinstance(again, Plan)
    assert again.relations == plan.relations
    sent = ps.for_target(plan, "datafusion")
    assert called(sent).startswith(f"{OWN} {name}:")


@pytest.mark.parametrize(("types", "urn"), [("i64", f"{OFFICIAL}functions_arithmetic"), ("string", OWN)])
def test_datafusion_means_its_own_function_where_the_specification_s_does_not_take_the_arguments(
    types: str, urn: str
) -> None:
    given = message("min", types, producer="datafusion")
    (expression,) = given.relations[0].root.input.project.expressions
    call = type(expression)()
    window = call.window_function
    window.arguments.extend(expression.scalar_function.arguments)
    window.lower_bound.unbounded.SetInParent()
    window.upper_bound.unbounded.SetInParent()
    expression.CopyFrom(call)
    plan = loaded(given)
    root = plan.relations[-1]
    assert isinstance(root, RelRoot) and isinstance(root.input, Project)
    found = root.input.expressions[0]
    assert isinstance(found, WindowFunction)
    assert found.function.urn == urn
    assert ("engine-function" in {note.rule for note in plan.notes}) is (urn == OWN)


@pytest.mark.parametrize("name", CALLS)
def test_an_extension_that_is_declared_counts_whoever_the_producer_is(name: str) -> None:
    urns = [urn for urn in Registry.default().urns() if Registry.default().overloads(urn, name)]
    given = message(name, CALLS[name], urn=urns[0], producer="datafusion")
    assert called(loaded(given)).startswith(OFFICIAL)
    assert Code.LINK_BARE_NAME not in {item.code for item in ps.validate(given.SerializeToString())}


def test_datafusions_other_functions_are_those_of_the_specification() -> None:
    given = message("equal", "i64 i64", producer="datafusion")
    assert called(loaded(given)) == f"{OFFICIAL}functions_comparison equal:any_any"
    assert Code.LINK_BARE_NAME not in {item.code for item in ps.validate(given.SerializeToString())}


@pytest.mark.parametrize("producer", ["", "some engine"])
@pytest.mark.parametrize(("name", "doubtful"), [*((name, True) for name in CALLS), ("equal", False), ("abs", False)])
def test_a_bare_name_of_an_unknown_producer_is_a_warning_where_engines_differ(
    name: str, doubtful: bool, producer: str
) -> None:
    types = CALLS.get(name, "i64" if name == "abs" else "i64 i64")
    given = message(name, types, producer=producer)
    assert called(loaded(given)).startswith(OFFICIAL)
    found = [item for item in ps.validate(given.SerializeToString()) if item.code is Code.LINK_BARE_NAME]
    assert bool(found) is doubtful
    assert all(item.level.name == "WARNING" and name in item.what for item in found)


def test_a_function_of_datafusion_that_does_not_take_the_arguments_is_not_taken_for_another() -> None:
    with pytest.raises(InvalidPlanError, match="functions_datafusion"):
        loaded(message("left", "string fp64", producer="datafusion"))


def test_a_function_that_nobody_has_compared_is_in_doubt() -> None:
    plan = loaded(message("swapcase", "string", producer="datafusion"))
    assert "bare-name" in {note.rule for note in plan.notes}


def test_strict_reading_refuses_bare_names() -> None:
    with pytest.raises(InvalidPlanError):
        ps.load(message("concat", "string string", producer="datafusion").SerializeToString(), strict=True)


def test_the_tables_are_disjoint_and_name_functions() -> None:
    registry = Registry.default()
    own, known = set(registry.function_names(OWN)), {name for _, name, _ in registry.functions()}
    specified: dict[str, set[tuple[str, str]]] = {}
    for urn, name, overloads in registry.functions():
        if urn.startswith(OFFICIAL):
            specified.setdefault(name, set()).update((overload.kind, overload.key) for overload in overloads)
    # of a name in both, DataFusion's own function is for other arguments, or another kind of function
    for name in own & engines.DATAFUSION.same:
        assert not {(overload.kind, overload.key) for overload in registry.overloads(OWN, name)} & specified.get(
            name, set()
        )
    own &= set(specified)
    assert not engines.SAME_EVERYWHERE & engines.DIFFERENCES.keys()
    assert set(engines.DIFFERENCES) <= known
    # what DataFusion has otherwise differs between engines, except where it is a type or the sign of a zero
    assert own - engines.DATAFUSION.same - engines.DIFFERENCES.keys() == {"nullif", "atan2", "sum"}
    assert table(OWN) is not None


def test_calls_of_the_specification_go_to_datafusion_only_where_it_means_the_same() -> None:
    def sent(name: str, types: str, file: str) -> Plan:
        return ps.for_target(loaded(message(name, types, urn=f"{OFFICIAL}{file}")), "datafusion")

    assert "target-value" in {note.rule for note in sent("left:str_i32", "string i32", "functions_string").notes}
    assert "target-value" in {note.rule for note in sent("like:str_str", "string string", "functions_string").notes}
    literal = message("left:str_i32", "string i32", urn=f"{OFFICIAL}functions_string")
    literal.relations[0].root.input.project.expressions[0].scalar_function.arguments[1].value.literal.i32 = -1
    with pytest.raises(UnsupportedPlanError, match="-1"):
        ps.for_target(loaded(literal), "datafusion")
    pattern = message("like:str_str", "string string", urn=f"{OFFICIAL}functions_string")
    value = pattern.relations[0].root.input.project.expressions[0].scalar_function.arguments[1].value
    value.literal.string = "a\\b%"
    made = messages.Plan.FromString(ps.for_target(loaded(pattern), "datafusion").to_bytes())
    call = made.relations[0].root.input.project.expressions[0].scalar_function
    assert call.arguments[1].value.literal.string == "a\\\\b%"


@pytest.mark.parametrize(("producer", "noted"), [("datafusion", True), ("", False)])
@pytest.mark.parametrize(
    ("kind", "rule"), [("fp64", "datafusion-cast"), ("precision_timestamp", "datafusion-timestamp")]
)
def test_casts_to_text_that_datafusion_writes_otherwise_are_noted(
    kind: str, rule: str, producer: str, noted: bool
) -> None:
    given = message("abs", kind, producer=producer)
    (expression,) = given.relations[0].root.input.project.expressions
    column = expression.scalar_function.arguments[0].value
    made = type(expression)()
    made.cast.input.CopyFrom(column)
    made.cast.type.string.nullability = 1
    made.cast.failure_behavior = 2
    expression.CopyFrom(made)
    assert (rule in {note.rule for note in loaded(given).notes}) is noted


@pytest.mark.parametrize(("producer", "noted"), [("datafusion", True), ("", False)])
def test_range_frames_that_datafusion_may_have_lost_the_bounds_of_are_noted(producer: str, noted: bool) -> None:
    given = message("count", "i64", producer=producer)
    (expression,) = given.relations[0].root.input.project.expressions
    column = expression.scalar_function.arguments[0]
    made = type(expression)()
    window = made.window_function
    window.arguments.add().CopyFrom(column)
    sort = window.sorts.add()
    sort.expr.CopyFrom(column.value)
    sort.direction = 1
    window.lower_bound.unbounded.SetInParent()
    window.upper_bound.unbounded.SetInParent()
    window.bounds_type = 2
    expression.CopyFrom(made)
    assert ("datafusion-frame" in {note.rule for note in loaded(given).notes}) is noted
