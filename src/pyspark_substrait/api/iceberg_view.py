"""Views of Iceberg catalogs: made of plans with a text for each dialect, and read back into plans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from pyspark_substrait.api.loading import PlanSource, loaded_plan, on_deep_stack
from pyspark_substrait.api.produce import from_sql
from pyspark_substrait.api.to_sql import to_sql
from pyspark_substrait.errors import InvalidPlanError, TableError, UnsupportedPlanError
from pyspark_substrait.message_text import shortened_name
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    UUID,
    Binary,
    Boolean,
    Date,
    Decimal,
    FixedBinary,
    FixedChar,
    List,
    Map,
    NamedStruct,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Struct,
    Type,
    VarChar,
    concrete,
)
from pyspark_substrait.model.walk import writes
from pyspark_substrait.spark.session import spark_errors
from pyspark_substrait.sql.compiler.statement import root as root_of
from pyspark_substrait.sql.compiler.statement import root_schema
from pyspark_substrait.sql.view_statement import ViewName, parts_of, view_columns

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.schema import Schema
    from pyiceberg.types import IcebergType
    from pyiceberg.view import View
    from pyspark.sql import SparkSession

    from pyspark_substrait.documents import Plan
    from pyspark_substrait.extensions.registry import Registry
    from pyspark_substrait.spark.producer.sql import SqlTables

__all__ = ["create_iceberg_view", "from_iceberg_view"]

_MICROS = 6


def create_iceberg_view(
    plan: PlanSource,
    catalog: Catalog,
    name: ViewName,
    *,
    dialects: Sequence[str] = ("spark", "trino"),
    default_catalog: str | None = None,
    properties: Mapping[str, str] | None = None,
    parameters: Mapping[int, object] | None = None,
    registry: Registry | None = None,
    root: int | None = None,
) -> View:
    """Create a view in an Iceberg catalog, with the text of a plan in several dialects.

    Each engine that reads the view takes the text in its own dialect: all have the same meaning, that of the plan.
    Tables of the plan whose names have one part are those of the view's namespace.

    Args:
        plan, parameters, registry, root: as in :func:`to_sql`. Values of parameters become part of the texts.
        catalog: a catalog of PyIceberg that has views: one of REST.
        name: the namespace and the name of the view, with dots between its parts, or a tuple of the parts.
        dialects: the dialects, as for :func:`to_sql`.
        default_catalog: the name under which the engines have the catalog; by default, its name in PyIceberg. Trino
            needs the right one.
        properties: properties of the view.

    Raises:
        TableError: there is such a view or table already, or no such namespace; or the name has no namespace.
        ParameterError: a dynamic parameter has no value, or one that isn't of its type.
        InvalidPlanError: the plan is wrong, or changes a table.
        UnsupportedPlanError: something in it has no exact form in one of the dialects, or a column has a type that
            Iceberg lacks; it has two columns of one name, or reads a table of the view's own name; or the catalog has
            no views.

    Examples:
        >>> catalog = load_catalog("lake", type="rest", uri="http://localhost:8181")  # doctest: +SKIP
        >>> view = substrait.create_iceberg_view(plan, catalog, "reports.large")  # doctest: +SKIP
        >>> print(view.sql_for("trino").sql)  # doctest: +SKIP
        SELECT
          "orders"."id" AS "id",
          "orders"."price" AS "price"
        FROM "orders"
        WHERE
          "orders"."price" < 10.00
    """
    from pyiceberg.exceptions import NoSuchNamespaceError, TableAlreadyExistsError, ViewAlreadyExistsError
    from pyiceberg.view.metadata import SQLViewRepresentation, ViewRepresentation, ViewVersion

    names = parts_of(name)
    if len(names) < 2:
        raise TableError(f"the view `{names[0]}` has no namespace", hint="Give its name as namespace.view")
    if not dialects:
        raise UnsupportedPlanError("a view without a text is not possible", hint="Name a dialect: dialects=['spark']")
    loaded = loaded_plan(plan, registry)
    stored_in = default_catalog or catalog.name
    for own in (names[-1:], names, (stored_in, *names)):  # what a table of the plan may not be called
        on_deep_stack(loaded, partial(view_columns, loaded, root, own))
    schema = _iceberg_schema(root_schema(loaded, root))
    representations = []
    for dialect in dialects:
        text = to_sql(loaded, dialect=dialect, parameters=parameters, registry=registry, root=root)
        representations.append(ViewRepresentation(SQLViewRepresentation(type="sql", sql=text, dialect=dialect)))
    version = ViewVersion.model_validate(
        {
            "schema-id": 0,
            "representations": representations,
            "default-catalog": stored_in,
            "default-namespace": list(names[:-1]),
            "summary": {"engine-name": "pyspark-substrait"},
        }
    )
    try:
        return catalog.create_view(names, schema, version, properties=dict(properties or {}))
    except NotImplementedError:
        raise UnsupportedPlanError(
            f"{type(catalog).__name__} has no views", hint="Use a catalog of REST: load_catalog(type='rest', …)"
        ) from None
    except (ViewAlreadyExistsError, TableAlreadyExistsError):
        raise TableError(f"there is a view or a table `{'.'.join(names)}` already") from None
    except NoSuchNamespaceError:
        raise TableError(f"there is no namespace `{'.'.join(names[:-1])}`") from None


def from_iceberg_view(
    view: View,
    spark: SparkSession | None = None,
    *,
    catalog: str | None = None,
    tables: SqlTables | None = None,
    engine: str = "spark",
    registry: Registry | None = None,
) -> Plan:
    """Return the plan of an Iceberg view, from its text in Spark SQL.

    Args:
        view: the view, as a catalog of PyIceberg loads it.
        spark: a classic session with the catalog; by default as for :func:`from_sql`. Names of one part are in the
            view's namespace meanwhile.
        catalog: the session's name of the catalog of the view's tables; by default the one that the view names, or
            the current one.
        tables: the tables that the text reads by name, as for :func:`from_sql`.
        engine: who makes the plan, ``spark`` or ``datafusion``, as for :func:`from_sql`.
        registry: as for :func:`from_sql`.

    Raises:
        TableError: the view has no text in Spark SQL, or the session has not got its catalog and namespace.
        InvalidPlanError: the engine rejects the text, or it is no query.
        UnsupportedPlanError: as for :func:`from_sql`.

    Examples:
        >>> view = catalog.load_view("reports.large")  # doctest: +SKIP
        >>> plan = substrait.from_iceberg_view(view, spark, catalog="lake")  # doctest: +SKIP
    """
    found = view.sql_for("spark")
    if found is None:
        others = sorted(one.root.dialect for one in view.current_version().representations)
        raise TableError(f"the view {'.'.join(view.name())} has no text in Spark SQL, but in {', '.join(others)}")
    version = view.current_version()
    names = [field.name for field in view.schema().fields]

    def planned(text: str) -> Plan:
        return from_sql(text, spark, tables=tables, registry=registry, engine=engine)

    with _within(spark, catalog or version.default_catalog, tuple(version.default_namespace)):
        plan = planned(found.sql)
        if writes(root_of(plan)[1]):
            raise InvalidPlanError(f"the text of the view {'.'.join(view.name())} changes a table")
        if list(root_schema(plan).top_level_names()) != names:  # the view's names are those of its schema
            listed = ", ".join("`" + name.replace("`", "``") + "`" for name in names)
            plan = planned(f"SELECT * FROM ({found.sql}\n) AS `view` ({listed})")
    return plan


@contextmanager
def _within(spark: SparkSession | None, catalog: str | None, namespace: tuple[str, ...]) -> Iterator[None]:
    """Let names of one part be those of a namespace."""
    if spark is None:
        yield
        return
    before = (spark.catalog.currentCatalog(), spark.catalog.currentDatabase())
    parts = (before[0] if catalog is None else catalog, *namespace)
    try:
        try:
            spark.sql("USE " + ".".join("`" + part.replace("`", "``") + "`" for part in parts))
        except spark_errors():
            raise TableError(
                f"the session has no namespace `{'.'.join(parts)}`, in which the view's tables are",
                hint="Give the session's name of the catalog: catalog=…",
            ) from None
        yield
    finally:
        spark.catalog.setCurrentCatalog(before[0])
        spark.catalog.setCurrentDatabase(before[1])


# types ---------------------------------------------------------------------------------------------------------------


def _iceberg_schema(schema: NamedStruct) -> Schema:
    """Return a schema of Iceberg; a view's fields get their numbers here."""
    from pyiceberg.schema import Schema

    return Schema(*_fields(schema.struct, iter(schema.names), count(1)))


def _fields(struct: Struct, names: Iterator[str], numbers: Iterator[int]) -> list[Any]:
    from pyiceberg.types import NestedField

    fields = []
    for type in struct.types:
        name, number = next(names), next(numbers)
        found = _type(type, name, names, numbers)
        fields.append(NestedField(field_id=number, name=name, field_type=found, required=not type.nullable))
    return fields


def _type(type: Type, name: str, names: Iterator[str], numbers: Iterator[int]) -> IcebergType:
    from pyiceberg import types

    match concrete(type):
        case Boolean():
            return types.BooleanType()
        case I8() | I16() | I32():
            return types.IntegerType()
        case I64():
            return types.LongType()
        case FP32():
            return types.FloatType()
        case FP64():
            return types.DoubleType()
        case String() | VarChar() | FixedChar():
            return types.StringType()
        case Binary():
            return types.BinaryType()
        case FixedBinary(length=length):
            return types.FixedType(length)
        case Decimal(precision=precision, scale=scale):
            return types.DecimalType(precision, scale)
        case Date():
            return types.DateType()
        case PrecisionTime(precision=precision) if precision <= _MICROS:
            return types.TimeType()
        case PrecisionTimestamp(precision=precision) if precision <= _MICROS:
            return types.TimestampType()
        case PrecisionTimestampTZ(precision=precision) if precision <= _MICROS:
            return types.TimestamptzType()
        case UUID():
            return types.UUIDType()
        case Struct() as struct:
            return types.StructType(*_fields(struct, names, numbers))
        case List(type=element):
            number = next(numbers)
            return types.ListType(number, _type(element, name, names, numbers), element_required=not element.nullable)
        case Map(key=key, value=value):
            of_key, of_value = next(numbers), next(numbers)
            known = _type(key, name, names, numbers)
            return types.MapType(of_key, known, of_value, _type(value, name, names, numbers), not value.nullable)
        case _:
            raise UnsupportedPlanError(f"Iceberg has no type for {type}, that of the column `{shortened_name(name)}`")
