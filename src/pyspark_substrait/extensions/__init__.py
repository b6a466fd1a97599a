"""Functions, types and type variations that extensions declare, and the resolution of function calls.

Spec: extensions.
"""

from pyspark_substrait.extensions.definitions import (
    EnumArgument,
    FunctionDefinition,
    ParameterDefinition,
    TypeArgument,
    TypeDefinition,
    ValueArgument,
    Variadic,
    VariationDefinition,
)
from pyspark_substrait.extensions.registry import OFFICIAL, Registry
from pyspark_substrait.extensions.resolution import Resolved
from pyspark_substrait.extensions.signatures import Argument, EnumArg, TypeArg, ValueArg, short_name

__all__ = [
    "OFFICIAL",
    "Argument",
    "EnumArg",
    "EnumArgument",
    "FunctionDefinition",
    "ParameterDefinition",
    "Registry",
    "Resolved",
    "TypeArg",
    "TypeArgument",
    "TypeDefinition",
    "ValueArg",
    "ValueArgument",
    "Variadic",
    "VariationDefinition",
    "short_name",
]
