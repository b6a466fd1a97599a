"""SQL to a plan: the text in DataFusion's form, its plan, and Spark's meaning of that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pyspark_substrait.binding.tables import Names
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.plan import PRODUCER, Plan, RelRoot, Version
from pyspark_substrait.model.relations import NamedTable, Read, Relation
from pyspark_substrait.model.struct_names import named_structs
from pyspark_substrait.model.types import NamedStruct, Struct
from pyspark_substrait.planner.correlation import Queries, planned
from pyspark_substrait.planner.datafusion import Planner, Rejected
from pyspark_substrait.planner.operands import with_brackets
from pyspark_substrait.planner.output_names import output_names
from pyspark_substrait.planner.schemas import arrow_of, schemas
from pyspark_substrait.planner.spark_meaning import SparkMeaning
from pyspark_substrait.planner.text import query_items
from pyspark_substrait.planner.tokens import Item, Token
from pyspark_substrait.planner.values import with_spark_types
from pyspark_substrait.proto import read

__all__ = ["plan_in_own_dialect", "plan_of_text"]


#: the operations that DataFusion plans as joins
_SET_JOINS: Final = ("INTERSECT", "EXCEPT", "MINUS")


def plan_of_text(
    text: str,
    *,
    tables: Mapping[Any, Any] | None,
    args: Mapping[str, Any] | Sequence[Any] | None,
    registry: Registry,
) -> Plan:
    """Return the plan of a query in Spark SQL, made by DataFusion's parser and planner.

    Args:
        text: the query.
        tables: the tables that it reads, or their schemas, by name.
        args: the values of its parameters.
        registry: the extensions.

    Raises:
        InvalidPlanError: DataFusion rejects the query.
        TableError: a table isn't one.
        ParameterError: a parameter has no value, or one without a literal.
        UnsupportedPlanError: something in it isn't planned with Spark's meaning.
    """
    items = query_items(text, args)
    known = schemas(tables)
    planner = Planner({_lowered(names): arrow_of(schema) for names, schema in known.items()})
    queries = Queries()
    made = planned(with_brackets(items), planner, queries)
    if _has_word(items, "VALUES"):
        with_spark_types(made.message)
        for query in queries.plans():
            with_spark_types(query.message)
    bound = read.bound(
        made.message,
        registry,
        upgrades=made.notes,
        original_version=made.original_version,
        tables=_Tables(known),
        meaning=SparkMeaning(
            registry, queries, structs=_structs(known.values()), has_set_joins=_has_word(items, *_SET_JOINS)
        ),
    )
    found = bound.document
    assert isinstance(found, Plan)
    relations = tuple([_named(one, items, known) for one in found.relations])
    return Plan(relations=relations, version=Version.current(PRODUCER))


def plan_in_own_dialect(text: str, *, tables: Mapping[Any, Any] | None, registry: Registry) -> Plan:
    """Return the plan of a query in DataFusion's SQL, with DataFusion's meaning, as loading a plan of it does.

    Arguments and errors are those of :func:`plan_of_text`.
    """
    known = schemas(tables)
    planner = Planner({names: arrow_of(schema, lowered=False) for names, schema in known.items()}, own_dialect=True)
    try:
        made = planner.plan(text)
    except Rejected as error:
        raise error.as_invalid() from None
    bound = read.bound(made.message, registry, upgrades=made.notes, original_version=made.original_version)
    assert isinstance(bound.document, Plan)
    return bound.document


def _structs(tables: Iterable[NamedStruct]) -> list[tuple[Struct, tuple[str, ...]]]:
    """Return the structs in tables, with the names of their fields in lower case."""
    return [one for table in tables for one in named_structs(table.struct, iter(_lowered(table.names)))]


def _lowered(names: Names) -> Names:
    return tuple(name.lower() for name in names)


def _has_word(items: Sequence[Item], *words: str) -> bool:
    return any(isinstance(item, Token) and item.word in words for item in items)


def _named(tree: Any, items: Sequence[Item], known: Mapping[Names, NamedStruct]) -> Any:
    if not isinstance(tree, RelRoot):
        return tree
    return replace(tree, names=output_names(items, tree, list(known.values())))


class _Tables:
    """The tables as reading binds the plan to them: with Spark's types, and the names that the caller gave."""

    def __init__(self, known: Mapping[Names, NamedStruct]) -> None:
        self._known = {_lowered(names): (names, schema) for names, schema in known.items()}

    def complete(self, names: Names, schema: NamedStruct) -> NamedStruct:
        """Return the schema of a table."""
        return self._found(names)[1]

    def fit(self, node: Read, stated: NamedStruct, path: Path) -> Relation:
        """Return the read of a table by the caller's name for it."""
        assert isinstance(node.read_type, NamedTable)
        names = self._found(tuple(node.read_type.names))[0]
        made = replace(node, read_type=replace(node.read_type, names=names))
        made.assume(made.base_schema)
        return made

    def _found(self, names: Names) -> tuple[Names, NamedStruct]:
        found = self._known.get(names)
        if found is None:
            raise UnsupportedPlanError(f"the table {'.'.join(names)} is not given", hint="Add it to `tables`")
        return found
