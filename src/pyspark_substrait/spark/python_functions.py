"""Python functions of Arrow arrays in a Spark session: registered as temporary functions, once for each name."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.spark.session import is_connect
from pyspark_substrait.sql.functions import geometries
from pyspark_substrait.sql.functions.functions_geometry import GEOMETRY_PREFIX
from pyspark_substrait.sql.functions.python_functions import PythonFunction

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["register"]

_LOCK = Lock()
_KNOWN: WeakKeyDictionary[SparkSession, dict[str, PythonFunction]] = WeakKeyDictionary()


def register(spark: SparkSession, functions: Mapping[str, PythonFunction]) -> None:
    """Register functions in a session under their names.

    They are temporary functions of the session. Their names begin with ``pyspark_substrait_``, and are never reused for
    another function in one process.

    Raises:
        UnsupportedPlanError: they can't be registered in the session.
    """
    if not functions:
        return
    if any(name.startswith(GEOMETRY_PREFIX) for name in functions):
        _require_shapely(spark)
    known = _KNOWN.setdefault(spark, {})
    if all(known.get(name) == function for name, function in functions.items()):
        return
    with _LOCK:  # pickling by value is registered for the whole process
        for name, function in functions.items():
            if known.get(name) != function:
                _register(spark, name, function)
                known[name] = function


def _require_shapely(spark: SparkSession) -> None:
    """Check that shapely is installed here, if executors run in this environment; a cluster's have their own."""
    local = not is_connect(spark) and (spark.sparkContext.master or "").startswith("local")
    if local and importlib.util.find_spec("shapely") is None:
        raise UnsupportedPlanError(
            "functions of geometries need the package shapely, which is not installed",
            hint="pip install 'pyspark-substrait[geometry]'",
        )


def _register(spark: SparkSession, name: str, function: PythonFunction) -> None:
    from pyspark.errors import PySparkException

    # neither is in pyspark's annotations
    cloudpickle: Any = import_module("pyspark.cloudpickle")
    spark_functions: Any = import_module("pyspark.sql.functions")
    modules = _by_value(function.function)
    for module in modules:
        cloudpickle.register_pickle_by_value(module)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # it recommends type hints, which can't express all of this
            made = _udf(name, function, spark_functions)
        if not function.deterministic:
            made = made.asNondeterministic()
        spark.udf.register(name, made)
    except PySparkException as error:
        raise UnsupportedPlanError(
            f"the Python function {name} cannot be registered in this session: {str(error).splitlines()[0]}"
        ) from error
    finally:
        for module in modules:
            cloudpickle.unregister_pickle_by_value(module)


def _udf(name: str, function: PythonFunction, spark_functions: Any) -> Any:
    """Return the function in Spark's form."""
    kinds = getattr(spark_functions, "ArrowUDFType", None)
    if kinds is None:  # before 4.1; the tables have only functions of geometries there
        return spark_functions.udf(_value_by_value(function.function), function.returns)
    if function.aggregate:
        return spark_functions.arrow_udf(_one_value(function.function), function.returns, kinds.GROUPED_AGG)
    return spark_functions.arrow_udf(_same_length(name, function.function), function.returns, kinds.SCALAR)


def _by_value(function: Callable[..., Any]) -> list[ModuleType]:
    """The modules to pickle by value, so that executors needn't have them. Installed packages must be there."""
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    file = getattr(module, "__file__", None)
    if module is None or module is geometries:
        return [geometries]
    installed = file is None or {"site-packages", "dist-packages"} & set(Path(file).parts)
    own = not installed and module.__name__.partition(".")[0] not in sys.stdlib_module_names
    return [geometries, module] if own and module.__name__ != "__main__" else [geometries]


def _same_length(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with a check of its result. Nested, so that it is pickled by value."""

    def checked(*arrays: Any) -> Any:
        import pyarrow as pa

        result = function(*arrays)
        if isinstance(result, pa.ChunkedArray):
            result = result.combine_chunks()
        if not isinstance(result, pa.Array):
            raise TypeError(f"{name} returned a {type(result).__name__} instead of an Arrow array")
        if arrays and len(result) != len(arrays[0]):
            raise ValueError(f"{name} returned {len(result)} values for {len(arrays[0])} records")
        return result

    return checked


def _value_by_value(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of arrays as one of single values, null for a null. Nested, so that it is pickled by value."""

    def value(*values: Any) -> Any:
        import pyarrow as pa

        if any(one is None for one in values):
            return None
        plain = (bytes(one) if isinstance(one, bytearray) else one for one in values)
        return function(*(pa.array([one]) for one in plain))[0].as_py()

    return value


def _one_value(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with its Arrow scalar converted to a Python value."""

    def value(*arrays: Any) -> Any:
        import pyarrow as pa

        result = function(*arrays)
        return result.as_py() if isinstance(result, pa.Scalar) else result

    return value
