"""Translate files that Spark reads to the items of ``LocalFiles``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pyspark_substrait.binding.data_files import is_hidden
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.relations import (
    FileFormat,
    FileOrFiles,
    LocalFiles,
    OrcReadOptions,
    ParquetReadOptions,
)
from pyspark_substrait.spark.session import has_setting, spark_errors
from pyspark_substrait.spark.tables import first_line

__all__ = ["NAME_IT", "Source", "local_files"]

#: the hint for reads that can't be translated to files
NAME_IT: Final = 'Read it by name, to_substrait(df, tables={"name": dataframe}), and pass the table when the plan runs'

_FORMATS: Final[Mapping[str, FileFormat]] = {"parquet": ParquetReadOptions(), "orc": OrcReadOptions()}
#: the formats that can't be translated, and why
_OTHERS: Final = {
    "csv": "Spark's CSV reader skips blank lines and reads empty values as null, and plans have no such options",
}
#: options for the place of the files or their schema, which the plan states itself
_SAID: Final = frozenset({"path", "paths", "basepath", "mergeschema", "recursivefilelookup", "inferschema"})
#: options that select files by name or time; the plan lists the selected files
_CHOOSING: Final = frozenset({"pathglobfilter", "modifiedbefore", "modifiedafter"})
#: options with the value by which a file is read as it is
_AS_IS: Final = {
    **dict.fromkeys(("ignorecorruptfiles", "ignoremissingfiles"), "false"),
    **dict.fromkeys(("datetimerebasemode", "int96rebasemode"), "corrected"),
}
#: options of a read of Parquet files, and the settings that hold without them
_CALENDARS: Final = {
    "datetimerebasemode": "spark.sql.parquet.datetimeRebaseModeInRead",
    "int96rebasemode": "spark.sql.parquet.int96RebaseModeInRead",
}


@dataclass(frozen=True)
class Source:
    """The files of a read in Spark.

    Args:
        format: the short name of their format: ``parquet``.
        index: the list of files, a ``FileIndex`` of the JVM.
        options: those of the reader, by their names in lower case.
        data: the schema of the columns in the files, in JSON.
        partitions: the schema of the partition columns, in the names of folders.
    """

    format: str
    index: Any
    options: Mapping[str, str]
    data: Mapping[str, Any]
    partitions: Mapping[str, Any]


def local_files(source: Source, session: Any) -> LocalFiles:
    """Return the files as ``LocalFiles``.

    Raises:
        UnsupportedPlanError: the format or an option has no equivalent in plans.
    """
    format = _FORMATS.get(source.format)
    if format is None:
        reason = _OTHERS.get(source.format, "plans have no such format")
        raise UnsupportedPlanError(f"a read of {source.format} files has no Substrait form: {reason}", hint=NAME_IT)
    for option, value in source.options.items():
        if option not in _SAID | _CHOOSING and _AS_IS.get(option) != value.lower():
            raise UnsupportedPlanError(f"the option {option}={value} of a read has no Substrait form", hint=NAME_IT)
    for option, setting in _CALENDARS.items() if source.format == "parquet" else ():
        if option not in source.options and has_setting(session, setting, "LEGACY"):
            raise UnsupportedPlanError(
                f"with {setting}=LEGACY, dates in files are those of the Julian calendar; a plan reads them as stored",
                hint=f'spark.conf.set("{setting}", "CORRECTED")',
            )
    _check_partitions(source)
    try:
        items = _items(source, session)
    except spark_errors() as error:
        raise UnsupportedPlanError(f"Spark cannot list the files of a read: {first_line(error)}") from error
    return LocalFiles(items=tuple(FileOrFiles(path_type=kind, path=path, file_format=format) for kind, path in items))


def _check_partitions(source: Source) -> None:
    """Refuse partition columns that a reader of the plan would interpret differently."""
    stored = {field["name"].lower() for field in source.data["fields"]}
    for field in source.partitions["fields"]:
        if field["name"].lower() in stored:
            raise UnsupportedPlanError(
                f"the column {field['name']} stands in the files and in the names of their folders, and Spark takes "
                "the latter",
                hint=NAME_IT,
            )
        if field["type"] == "timestamp":
            raise UnsupportedPlanError(
                f"the column {field['name']} is in the names of folders, as a time in the session's time zone",
                hint=NAME_IT,
            )


def _items(source: Source, session: Any) -> list[tuple[Any, str]]:
    """Return the paths, each with its kind, the field of the item."""
    roots = _sequence(source.index.rootPaths())
    # what a streaming query wrote: its folder may have files that the query gave up, which no other reader knows
    is_sink = source.index.getClass().getSimpleName() == "MetadataLogFileIndex"
    if is_sink and source.partitions["fields"]:
        raise UnsupportedPlanError(
            "a read of the partitions that a streaming query wrote has no Substrait form", hint=NAME_IT
        )
    if is_sink or not _CHOOSING.isdisjoint(source.options):
        return [("uri_file", uri) for uri in source.index.inputFiles()]
    conf = session._jsparkSession.sessionState().newHadoopConf()
    deep = bool(source.partitions["fields"]) or source.options.get("recursivefilelookup", "").lower() == "true"
    found: list[tuple[Any, str]] = []
    for root in roots:
        files = root.getFileSystem(conf)
        if not files.getFileStatus(root).isDirectory():
            found.append(("uri_file", _uri(root)))
        elif deep or not _has_folders(files, root):
            found.append(("uri_folder", _uri(root)))
        else:
            # Spark reads only what is in the folder itself
            statuses = [status for status in files.listStatus(root) if not status.isDirectory()]
            found += [("uri_file", _uri(status.getPath())) for status in statuses if not _hidden(status)]
    return found


def _has_folders(files: Any, root: Any) -> bool:
    return any(status.isDirectory() and not _hidden(status) for status in files.listStatus(root))


def _hidden(status: Any) -> bool:
    return is_hidden(status.getPath().getName())


def _uri(path: Any) -> str:
    """Return the path as an escaped URI; a local one has an empty host: ``file:///data``."""
    text: str = path.toUri().toString() if path.toUri().getRawPath() else path.toString()
    return f"file://{text.removeprefix('file:')}" if text.startswith("file:/") and text[6:7] != "/" else text


def _sequence(values: Any) -> list[Any]:
    return [values.apply(number) for number in range(values.size())]
