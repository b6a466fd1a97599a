"""Translate a DataFrame, or a query that is analysed but not run, to a plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.expressions import Cast, FailureBehavior
from pyspark_substrait.model.plan import PRODUCER, Plan, RelRoot, Version
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.types import List, Map, Struct, Type, concrete, with_nullability
from pyspark_substrait.spark.producer.catalyst import query_of
from pyspark_substrait.spark.producer.forms import FORMS
from pyspark_substrait.spark.producer.relations import relation
from pyspark_substrait.spark.producer.relations.columns import projected
from pyspark_substrait.spark.producer.relations.reads import named_frame
from pyspark_substrait.spark.producer.scope import DEFAULT_ROWS, NamedFrame, Production, field_of
from pyspark_substrait.spark.producer.types import names_of, type_of
from pyspark_substrait.spark.session import is_connect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["DEFAULT_ROWS", "Named", "PandasOnSpark", "plan_from", "plan_of_query"]

#: a DataFrame of ``pyspark.pandas``, which needs pandas
PandasOnSpark: TypeAlias = Any
#: the tables that the plan reads by name: names of views and tables, or DataFrames by their names in the plan
Named: TypeAlias = Union[Iterable[str], Mapping[Any, Any]]


def plan_from(
    frame: DataFrame | PandasOnSpark,
    *,
    registry: Registry,
    tables: Named = (),
    max_rows: int = DEFAULT_ROWS,
    optimized: bool = False,
    portable: bool = False,
) -> Plan:
    """Return the plan of a DataFrame; for arguments and errors, see ``to_substrait``."""
    whole = _frame(frame)
    session: Any = whole.sparkSession
    if optimized and tables:
        raise UnsupportedPlanError(
            "an optimized plan keeps no names of views and DataFrames",
            hint="Remove optimized=True, or make the plan of SQL: from_sql(text, tables=…, optimized=True)",
        )
    frames = _frames(tables) if isinstance(tables, Mapping) else ()
    production = Production(
        forms=FORMS,
        session=session,
        registry=registry,
        tables={} if frames else {name.lower(): _parts(name) for name in _names(tables)},
        frames=frames,
        short_names=True,
        max_rows=max_rows,
        portable=portable,
    )
    return plan_of_query(whole._jdf.queryExecution(), production, optimized=optimized)


def plan_of_query(execution: Any, production: Production, *, optimized: bool = False) -> Plan:
    """Return the plan of a query execution, without executing it.

    Args:
        execution: a ``QueryExecution`` of the JVM.
        production: the state of the translation.
        optimized: use the optimized plan instead of the analysed one.

    Raises:
        UnsupportedPlanError: a part of it can't be translated.
    """
    node, fields = query_of(execution, optimized=optimized)
    found = relation(node, production)
    names = [name for field in fields for name in (field["name"], *names_of(field["type"]))]
    root = RelRoot(input=_of_schema(found.relation, fields), names=tuple(names))
    return Plan(
        relations=(*production.trees, root),
        version=Version.current(PRODUCER),
        expected_type_urls=tuple(sorted(production.type_urls)),
    )


def _frame(frame: Any) -> Any:
    """Check that a DataFrame is one of a classic session, and return it; convert one of ``pyspark.pandas``."""
    if type(frame).__module__.startswith("pyspark.pandas"):
        return _frame(frame.to_frame().to_spark() if not hasattr(frame, "to_spark") else frame.to_spark())
    if not hasattr(frame, "sparkSession"):
        raise UnsupportedPlanError(
            f"a {type(frame).__name__} has no plan", hint="Pass a DataFrame of Spark or of pyspark.pandas"
        )
    if is_connect(frame.sparkSession):
        raise UnsupportedPlanError(
            "plans are made of DataFrames of classic sessions only: Spark Connect keeps the query on the server",
            hint="Make it in a classic session. For SQL, from_sql(text, tables=...) needs no data",
        )
    return frame


def _names(tables: Named) -> Iterable[str]:
    return (tables,) if isinstance(tables, str) else (str(name) for name in tables)


def _frames(tables: Mapping[Any, Any]) -> tuple[NamedFrame, ...]:
    return tuple(named_frame(name, _frame(frame)) for name, frame in tables.items())


def _parts(name: str) -> tuple[str, ...]:
    return tuple(name.split("."))


def _of_schema(input: Relation, fields: Sequence[Any]) -> Relation:
    """Cast the columns of a relation to their types in Spark; nullable columns stay nullable."""
    values = []
    for position, one in enumerate(fields):
        value = field_of(input.schema, position)
        wanted = _nullable_as(type_of(one["type"], one["nullable"]), value.type)
        same = value.type == wanted
        failure = FailureBehavior.THROW_EXCEPTION
        values.append(value if same else Cast(type=wanted, input=value, failure_behavior=failure))
    return projected(input, values)


def _nullable_as(type: Type, other: Type) -> Type:
    """Make a type nullable wherever another one is, as far as both have the same parts."""
    match type, concrete(other):
        case List(type=one), List(type=two):
            type = replace(type, type=_nullable_as(one, two))
        case Map(key=key, value=one), Map(key=other_key, value=two):
            type = replace(type, key=_nullable_as(key, other_key), value=_nullable_as(one, two))
        case Struct(types=ones), Struct(types=twos) if len(ones) == len(twos):
            type = replace(type, types=tuple(map(_nullable_as, ones, twos)))
        case _:
            pass
    return with_nullability(type, type.nullable or other.nullable)
