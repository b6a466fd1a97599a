"""Short ways to write down files of delimited text and what to read of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark_substrait.model.relations import DelimiterSeparatedTextReadOptions, FileOrFiles
from tests.spark.reading.file_reads import item

OPTIONS = frozenset(DelimiterSeparatedTextReadOptions.__dataclass_fields__)
RFC = {"quote": '"', "escape": '"'}


def text_item(path: Path, content: bytes | str | None = None, **more: Any) -> FileOrFiles:
    """An item of a read: the options of the format, and of the item. The file is written where it has a content."""
    if content is not None:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    options = {name: more.pop(name) for name in OPTIONS & more.keys()}
    return item(path, DelimiterSeparatedTextReadOptions(**{"field_delimiter": ",", **options}), "uri_file", **more)
