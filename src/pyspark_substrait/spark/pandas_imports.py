"""Leave out pandas, and the warning about pandas 3, where PySpark looks for it but doesn't use it."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.abc import MetaPathFinder
from typing import Final

__all__ = ["leave_out_pandas", "leave_out_pandas_notice", "without_pandas"]


def leave_out_pandas_notice() -> None:
    """Suppress the warning of PySpark's modules, except where they convert from and to pandas.

    This package doesn't use pandas: some modules of PySpark only check its version, when they are imported or register
    a function. If a caller's own code uses pandas (``toPandas``, ``createDataFrame``), the warning is shown.
    """
    warnings.filterwarnings(
        "ignore",
        message="PySpark does not yet fully support pandas >= 3",
        category=FutureWarning,
        module=r"pyspark\.(?!sql\.pandas\.conversion\Z)",
    )


class _WithoutPandas(MetaPathFinder):
    """Says that there is no pandas."""

    def find_spec(self, fullname: str, path: object, target: object = None, /) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError("pandas is left out here", name=fullname)


_WITHOUT_PANDAS: Final = _WithoutPandas()


@contextmanager
def without_pandas() -> Iterator[None]:
    """Import modules as if pandas weren't installed, which takes a large part of the time of a short command.

    For a process of this package's own: in it, what was imported so never finds pandas.
    """
    if "pandas" in sys.modules:
        yield
        return
    sys.meta_path.insert(0, _WITHOUT_PANDAS)
    try:
        yield
    finally:
        sys.meta_path.remove(_WITHOUT_PANDAS)


def leave_out_pandas() -> None:
    """Import the helpers for tests that PySpark's bridge to Java asks whether NumPy is there, without pandas."""
    from pyspark.version import __version__ as version

    # the bridge of 3.5 doesn't ask, and its helpers need pandas
    if not version.startswith("3.") and "pyspark.testing.utils" not in sys.modules:
        with without_pandas(), suppress(ImportError):
            import_module("pyspark.testing.utils")
