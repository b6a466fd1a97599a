"""Geometries (``functions_geometry.yaml``): the one standard extension that runs in Python, on ``shapely``.

A geometry is well-known binary, which Spark only passes on. The functions themselves are in ``geometries``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions import geometries
from pyspark_substrait.sql.functions.python_functions import PREFIX, PythonFunction
from pyspark_substrait.sql.functions.table import Call, Foreign, Row, Table, row

__all__ = ["GEOMETRY_PREFIX", "TABLE"]

#: the prefix of the names of these functions in SQL
GEOMETRY_PREFIX: Final = f"{PREFIX}geometry_"


def _in_python(function: Callable[..., Any]) -> Row:
    name = function.__name__

    def body(call: Call) -> str:
        made = PythonFunction(function=function, returns=spark_type(call.output))
        call.functions[f"{GEOMETRY_PREFIX}{name}"] = made
        return Atom(f"{GEOMETRY_PREFIX}{name}({', '.join(operand.sql for operand in call.operands)})")

    return row(name, body, foreign=Foreign.MOVED)


TABLE = Table(
    "extension:io.substrait:functions_geometry",
    tuple(_in_python(getattr(geometries, name)) for name in geometries.__all__),
)
