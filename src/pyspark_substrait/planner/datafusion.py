"""DataFusion's parser and planner. Nothing is executed, and no file is read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

import pyarrow as pa

from pyspark_substrait.binding.tables import Names
from pyspark_substrait.errors import InvalidPlanError, TableError, UnsupportedPlanError
from pyspark_substrait.proto import wire

__all__ = ["Planned", "Planner", "Rejected"]

#: the settings in which DataFusion parses as Spark does
_SETTINGS: Final = {
    "datafusion.sql_parser.dialect": "spark",
    "datafusion.sql_parser.parse_float_as_decimal": "true",
    "datafusion.sql_parser.default_null_ordering": "nulls_min",
    "datafusion.sql_parser.map_string_types_to_utf8view": "false",
    "datafusion.sql_parser.enable_subquery_sort_elimination": "false",
    "datafusion.sql_parser.recursion_limit": "200",
}
_OLDEST: Final = 55
_FAULT: Final = re.compile(r"^(?:Error during planning|Schema error|SQL error|This feature is not implemented): ")
_MISSING: Final = re.compile(r"table '(?:datafusion\.public\.)?(.+)' not found")
_PARSER: Final = re.compile(r'^(?:ParserError|TokenizerError)\("(.*)"\)$', re.DOTALL)


class Rejected(Exception):
    """DataFusion doesn't plan a text."""

    def __init__(self, error: BaseException) -> None:
        self.text = str(error).strip()
        super().__init__(self.text)

    def as_invalid(self) -> InvalidPlanError:
        """Return the error for the user."""
        text = _FAULT.sub("", self.text.splitlines()[0] if self.text else "it gives no reason")
        parsed = _PARSER.match(text)
        text = parsed[1] if parsed else text
        missing = _MISSING.match(text)
        if missing:
            return InvalidPlanError(f"the table {missing[1]} is not given", hint="Add it to `tables`, or its schema")
        return InvalidPlanError(f"DataFusion rejects the query: {text}")


@dataclass(frozen=True)
class Planned:
    """A plan.

    Args:
        message: the plan, as a message of the current release.
        notes: what was upgraded in it.
        original_version: the release that it was written for.
        witness: an expression in SQL of the type of its first column.
    """

    message: Any
    notes: Any
    original_version: str | None
    witness: str


class Planner:
    """A context with tables that have no records.

    Args:
        tables: the schemas of the tables by their names; in Spark's dialect, all in lower case.
        own_dialect: whether texts are in DataFusion's own dialect.

    Raises:
        UnsupportedPlanError: DataFusion isn't installed, or is too old.
    """

    def __init__(self, tables: Mapping[Names, pa.Schema], *, own_dialect: bool = False) -> None:
        _check_release()
        from datafusion import SessionConfig, SessionContext, SQLOptions

        self._context = SessionContext() if own_dialect else SessionContext(SessionConfig(dict(_SETTINGS)))
        self._own_dialect = own_dialect
        self._options = SQLOptions().with_allow_ddl(False).with_allow_dml(False).with_allow_statements(False)
        known: set[Names] = set()
        for names, schema in tables.items():
            self._add_schema(names[:-1], known)
            quoted = ".".join('"' + name.replace('"', '""') + '"' for name in names)
            batch = pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)
            try:
                self._context.register_record_batches(quoted, [[batch]])
            except Exception as error:
                what = str(error).strip().splitlines()[0]
                raise TableError(f"DataFusion does not take the table {'.'.join(names)}: {what}") from error

    def _add_schema(self, names: Names, known: set[Names]) -> None:
        """Add the catalog and the schema of a table."""
        if not names or names in known:
            return
        known.add(names)
        from datafusion.catalog import Catalog, Schema

        if len(names) > 2:
            raise UnsupportedPlanError(f"the name {'.'.join(names)}.… has more than three parts")
        if len(names) == 2 and (names[0],) not in known:
            known.add((names[0],))
            self._context.register_catalog_provider(names[0], Catalog.memory_catalog())
        catalog = self._context.catalog(names[0]) if len(names) == 2 else self._context.catalog()
        catalog.register_schema(names[-1], Schema.memory_schema())

    def plan(self, text: str) -> Planned:
        """Return the plan of a query.

        Raises:
            Rejected: DataFusion doesn't plan it.
        """
        from datafusion.substrait import Producer

        try:
            frame = self._context.sql_with_options(text, self._options)
            # DataFusion's optimizer has its meaning, and joins instead of correlated subqueries
            plan = frame.optimized_logical_plan() if self._own_dialect else frame.logical_plan()
            written = Producer.to_substrait_plan(plan, self._context).encode()
            types = frame.schema().types
        except (KeyboardInterrupt, MemoryError):
            raise
        except BaseException as error:  # a panic is no Exception
            raise Rejected(error) from None
        parsed = wire.parse(written)
        return Planned(parsed.message, parsed.notes, parsed.original_version, _witness(types[0] if types else None))


def _check_release() -> None:
    hint = "pip install 'pyspark-substrait[compare]'"
    try:
        found = version("datafusion")
    except PackageNotFoundError:
        raise UnsupportedPlanError("datafusion is not installed", hint=hint) from None
    if int(found.split(".")[0]) < _OLDEST:
        raise UnsupportedPlanError(f"datafusion {found} is too old: {_OLDEST} or newer parses Spark's SQL", hint=hint)


def _witness(type: Any) -> str:
    simple = {
        pa.bool_(): "BOOLEAN",
        pa.int8(): "TINYINT",
        pa.int16(): "SMALLINT",
        pa.int32(): "INT",
        pa.int64(): "BIGINT",
        pa.float32(): "FLOAT",
        pa.float64(): "DOUBLE",
        pa.string(): "STRING",
        pa.date32(): "DATE",
    }
    if type in simple:
        return f"CAST(NULL AS {simple[type]})"
    if type is not None and pa.types.is_decimal128(type):
        return f"CAST(NULL AS DECIMAL({type.precision}, {type.scale}))"
    return "NULL"
