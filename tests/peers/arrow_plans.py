"""Plans in Acero: what pyarrow makes of each plan of a folder.

Run in an environment of its own, whose pyarrow was built with Substrait:

    python arrow_plans.py FOLDER NAME=PATH...    results of the plans, or what stops them, over Parquet files
"""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pyarrow.substrait


def main(folder: Path, tables: dict[str, str]) -> None:
    known = {name: _plain(pa.parquet.read_table(path)) for name, path in tables.items()}

    def provide(names: list[str], schema: pa.Schema | None = None) -> pa.Table:
        return known[names[-1]]

    for path in sorted(folder.glob("*.plan")):
        try:
            reader = pa.substrait.run_query(pa.py_buffer(path.read_bytes()), table_provider=provide)
            found = reader.read_all()
            with pa.ipc.new_file(path.with_suffix(".arrow"), found.schema) as file:
                file.write_table(found)
        except Exception as error:
            path.with_suffix(".refused").write_text(f"{type(error).__name__}: {error}")


def _plain(table: pa.Table) -> pa.Table:
    """A table without views of strings, which Acero can't filter."""
    types = [pa.string() if field.type == pa.string_view() else field.type for field in table.schema]
    return table.cast(pa.schema(list(zip(table.column_names, types, strict=True))))


main(Path(sys.argv[1]), dict(argument.split("=", 1) for argument in sys.argv[2:]))
