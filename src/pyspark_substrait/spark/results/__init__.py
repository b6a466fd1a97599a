"""Format the rows of a result for display (``cells``, ``table``), and write them to files (``writing``)."""

from __future__ import annotations

from pyspark_substrait.spark.results.cells import Cell, Kind, cells
from pyspark_substrait.spark.results.table import Shown, as_table
from pyspark_substrait.spark.results.writing import BINARY, SUFFIXES, FileFormat, write, write_file

__all__ = ["BINARY", "SUFFIXES", "Cell", "FileFormat", "Kind", "Shown", "as_table", "cells", "write", "write_file"]
