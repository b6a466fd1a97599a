"""Translate statements of Spark SQL over tables of the caller, without executing anything."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias, Union

import pyarrow as pa

from pyspark_substrait.errors import InvalidPlanError, NewerSparkError, ParameterError, TableError, UnsupportedPlanError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.plan import Plan
from pyspark_substrait.spark.arrow_transfer import spark_schema
from pyspark_substrait.spark.compatibility import active_session_kept, java_package, session_version
from pyspark_substrait.spark.failures import message_with_place
from pyspark_substrait.spark.producer.forms import FORMS
from pyspark_substrait.spark.producer.plan import plan_of_query
from pyspark_substrait.spark.producer.scope import DEFAULT_ROWS, Production
from pyspark_substrait.spark.session import copied, is_connect, spark_errors
from pyspark_substrait.spark.session_start import embedded_session
from pyspark_substrait.spark.tables import TableSource, first_line, given_table, local_path
from pyspark_substrait.sql.spark_version import SparkVersion

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

__all__ = ["Arguments", "SqlTables", "plan_of_text"]

#: the tables that a query reads by name, or only their schemas
SqlTables: TypeAlias = Mapping[Any, Union[TableSource, pa.Schema, "StructType"]]
#: the version since which the parser takes the values of parameters
_PARAMETERS_SINCE: Final = SparkVersion(4, 1)
#: the values of a query's parameters: by name, or in order
Arguments: TypeAlias = Union[Mapping[str, Any], Sequence[Any]]


def plan_of_text(
    text: str,
    spark: SparkSession | None,
    *,
    registry: Registry,
    tables: SqlTables | None = None,
    args: Arguments | None = None,
    max_rows: int = DEFAULT_ROWS,
    optimized: bool = False,
    portable: bool = False,
) -> Plan:
    """Return the plan of a statement; for arguments and errors, see ``from_sql``."""
    session: Any = spark or embedded_session()
    if is_connect(session):
        raise UnsupportedPlanError(
            "plans are made in classic sessions only: Spark Connect keeps the query on the server",
            hint="Omit the session, or pass a classic one; with tables={name: schema} no data is needed",
        )
    own = copied(session)
    dotted: list[tuple[str, ...]] = []
    stand_ins: dict[int, tuple[str, ...]] = {}
    for name, source in (tables or {}).items():
        parts = tuple(name.split(".")) if isinstance(name, str) else tuple(name)
        if len(parts) > 1:
            dotted.append(tuple(part.lower() for part in parts))
        schema = _schema(".".join(parts), source, session)
        # an RDD stays in the plan, because the optimizer can't know that it has no records
        stand_in = own.createDataFrame(session._jsc.emptyRDD(), schema)
        stand_in.createOrReplaceTempView(_quoted(".".join(parts)))
        stand_ins[stand_in.queryExecution().analyzed().rdd().id()] = parts
    with active_session_kept(session):
        java_package(session).SparkSession.setActiveSession(own)  # whose settings Spark uses
        try:
            execution = _execution(text, args, own, session, dotted, set(stand_ins.values()))
        except spark_errors() as error:
            raise InvalidPlanError(f"Spark rejects the query: {message_with_place(error)}") from error
        production = Production(
            forms=FORMS,
            session=session,
            registry=registry,
            stand_ins=stand_ins,
            max_rows=max_rows,
            portable=portable,
        )
        return plan_of_query(execution, production, optimized=optimized)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _execution(
    text: str,
    args: Arguments | None,
    own: Any,
    session: Any,
    dotted: list[tuple[str, ...]],
    given: set[tuple[str, ...]],
) -> Any:
    """Parse and analyse a statement, and return its ``QueryExecution``; nothing is executed."""
    jvm = session._jvm
    parser = own.sessionState().sqlParser()
    parsed = parser.parsePlan(text) if not args else parser.parsePlanWithParameters(text, _parameters(args, session))
    kind = parsed.getClass().getSimpleName()
    if kind in _PROGRAMS:
        raise UnsupportedPlanError(f"{_PROGRAMS[kind]} has no Substrait form", hint="Make a plan of each statement")
    if kind == "InsertIntoStatement":
        _refuse_given(parsed.table(), given)
    if dotted:
        parsed = _Renaming(session._sc._gateway, set(dotted)).made(parsed)
    execution = own.sessionState().executePlan(parsed, jvm.org.apache.spark.sql.execution.CommandExecutionMode.SKIP())
    execution.assertAnalyzed()
    return execution


def _refuse_given(target: Any, given: set[tuple[str, ...]]) -> None:
    """Refuse an INSERT into a table that the caller gave."""
    found = target.multipartIdentifier() if target.getClass().getSimpleName() == "UnresolvedRelation" else None
    parts = () if found is None else tuple(found.apply(number) for number in range(found.size()))
    if tuple(part.lower() for part in parts) in {tuple(part.lower() for part in name) for name in given}:
        raise UnsupportedPlanError(
            f"INSERT INTO {'.'.join(parts)}: Spark inserts into tables of its catalog only, and this one is given",
            hint="CREATE TABLE it in the session, and leave it out of `tables`",
        )


_PROGRAMS: Final = {"CompoundBody": "a script (BEGIN … END)", "UnresolvedExecuteImmediate": "EXECUTE IMMEDIATE"}


class _Renaming:
    """Replaces tables with names of several parts in a parsed query by the views that represent them.

    A session view has a name of one part. ``sales.orders`` is replaced by the view ``"sales.orders"`` with the alias
    ``sales.orders``, so that its columns are still ``orders.id`` and ``sales.orders.id``.
    """

    def __init__(self, gateway: Any, names: set[tuple[str, ...]]) -> None:
        self._gateway = gateway
        self._jvm = gateway.jvm
        self._names = names
        self._objects = self._jvm.scala.reflect.ClassTag.AnyRef()

    def made(self, tree: Any) -> Any:
        """Return the tree with its tables renamed; the same object if there are none."""
        if tree.getClass().getSimpleName() == "UnresolvedRelation":
            return self._relation(tree)
        parts = tree.productIterator().toArray(self._objects)
        changed = False
        for position in range(len(parts)):
            before = parts[position]
            after = self._value(before)
            if after is not before:
                parts[position], changed = after, True
        return tree.makeCopy(parts) if changed else tree

    def _relation(self, tree: Any) -> Any:
        found = tree.multipartIdentifier()
        parts = [found.apply(number) for number in range(found.size())]
        if tuple(part.lower() for part in parts) not in self._names:
            return tree
        fields = tree.productIterator().toArray(self._objects)
        fields[0] = self._sequence([".".join(parts)])
        catalyst = self._jvm.org.apache.spark.sql.catalyst
        alias = catalyst.AliasIdentifier(parts[-1], self._sequence(parts[:-1]))
        return catalyst.plans.logical.SubqueryAlias(alias, tree.makeCopy(fields))

    def _value(self, value: Any) -> Any:
        """Rename the tables in a field of a node, which may be or contain trees."""
        if not self._is(value, "java.lang.Object"):
            return value
        if self._is(value, "org.apache.spark.sql.catalyst.trees.TreeNode"):
            return self.made(value)
        if self._is(value, "scala.Some"):
            before = value.get()
            after = self._value(before)
            return value if after is before else self._jvm.scala.Some(after)
        if self._is(value, "scala.collection.Seq"):  # not always an immutable one in Scala 2.12
            items = [value.apply(number) for number in range(value.size())]
            values = self._values(items)
            return value if values is items else self._sequence(values)
        if value.getClass().getName().startswith("scala.Tuple"):
            items = [value.productElement(number) for number in range(value.productArity())]
            values = self._values(items)
            return value if values is items else getattr(self._jvm.scala, f"Tuple{len(items)}")(*values)
        return value

    def _values(self, items: list[Any]) -> list[Any]:
        values = [self._value(item) for item in items]
        return items if all(one is other for one, other in zip(values, items, strict=True)) else values

    def _is(self, value: Any, name: str) -> bool:
        from py4j.java_gateway import JavaObject, is_instance_of

        return isinstance(value, JavaObject) and bool(is_instance_of(self._gateway, value, name))

    def _sequence(self, items: Sequence[Any]) -> Any:
        return self._jvm.PythonUtils.toSeq(list(items))


def _parameters(args: Arguments, session: Any) -> Any:
    """Convert the values of a query's parameters for Spark's parser."""
    if session_version(session) < _PARAMETERS_SINCE:
        raise NewerSparkError(
            "the parser of this version of Spark takes no values of parameters",
            feature="parameters of queries that become plans",
            since=_PARAMETERS_SINCE,
            hint="Write the values into the text",
        )
    parser, sequences = session._jvm.org.apache.spark.sql.catalyst.parser, session._jvm.PythonUtils
    if isinstance(args, Mapping):
        values = _constants(list(args.values()), session)
        named = {str(name): value for name, value in zip(args, values, strict=True)}
        return parser.NamedParameterContext(sequences.toScalaMap(named))
    return parser.PositionalParameterContext(sequences.toSeq(_constants(list(args), session)))


def _constants(values: list[Any], session: Any) -> list[Any]:
    """Convert Python values to Spark literals."""
    from pyspark.sql.functions import lit

    columns = []
    for value in values:
        try:
            columns.append(lit(value))
        except (AttributeError, *spark_errors()) as error:  # type: ignore[misc]  # AttributeError is Py4J's
            raise ParameterError(
                f"Spark cannot take the value {value!r} of a parameter: {first_line(error)}"
            ) from error
    # the optimizer converts a list to one literal
    plan = session.range(1).select(*columns)._jdf.queryExecution().optimizedPlan()
    found = plan.projectList()
    return [found.apply(number).child() for number in range(len(values))]


def _schema(name: str, source: Any, session: Any) -> Any:
    """Return the schema, as a JVM object, of the data or schema given for a table."""
    from pyspark.sql.types import StructType

    if isinstance(source, pa.Schema):
        source = _of_arrow(name, source)
    if isinstance(source, StructType):
        return _of_spark(name, source, session)
    if isinstance(source, str) and not os.path.exists(source) and (found := _of_text(source, session)) is not None:
        return found
    if hasattr(source, "sparkSession") and is_connect(source.sparkSession):
        raise UnsupportedPlanError(
            f"the table {name} is a DataFrame of Spark Connect, which a classic session cannot see",
            hint="Pass its schema: tables={name: df.schema}",
        )
    frame: Any = given_table(name, source, session).frame
    return frame._jdf.schema()


def _of_spark(name: str, schema: StructType, session: Any) -> Any:
    try:
        return session._jvm.org.apache.spark.sql.types.DataType.fromJson(schema.json())
    except spark_errors() as error:
        raise TableError(f"Spark has no type for a column of {name}: {first_line(error)}") from error


def _of_arrow(name: str, schema: pa.Schema) -> StructType:
    try:
        return spark_schema(schema)
    except spark_errors() as error:
        raise TableError(f"Spark has no type for a column of {name}: {first_line(error)}") from error


def _of_text(text: str, session: Any) -> Any:
    """Parse a schema like ``id INT, name STRING NOT NULL``; None if the text is a path instead."""
    if local_path(text) is None or not re.search(r"[\s:]", text.strip()):
        return None
    parser = session._jsparkSession.sessionState().sqlParser()
    for parse, written in ((parser.parseTableSchema, text), (parser.parseDataType, f"struct<{text}>")):
        try:
            return parse(written)
        except spark_errors():
            continue
    return None
