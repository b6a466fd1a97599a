"""The translation of all expressions and relations of Catalyst."""

from __future__ import annotations

from typing import Final

from pyspark_substrait.spark.producer.expressions import forms as expressions
from pyspark_substrait.spark.producer.relations import forms as relations
from pyspark_substrait.spark.producer.scope import Forms

__all__ = ["FORMS"]

FORMS: Final = Forms(expression=expressions.translated, relation=relations.translated)
