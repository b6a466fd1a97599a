"""Functions of values that only Spark has (``functions_spark.yaml``)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.model.types import Type
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.compiler.types import named_spark_type, spark_type
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.builtins_since import builtin_since
from pyspark_substrait.sql.functions.catalyst import CatalystForms, ansi, legacy
from pyspark_substrait.sql.functions.table import Call, Row, Table, row
from pyspark_substrait.sql.spark_version import SparkVersion

__all__ = ["TABLE"]

#: functions that Spark has under the same name, with the same arguments
_SAME: Final[Mapping[str, CatalystForms]] = {
    # hashes and ciphers
    "md5": "Md5",
    "sha1": "Sha1",
    "sha2": "Sha2",
    "crc32": "Crc32",
    "hmac": "Hmac",
    "hash": (),
    "xxhash64": (),
    "aes_encrypt": "AesEncrypt",
    "aes_decrypt": "AesDecrypt",
    "try_aes_decrypt": (),
    # digits and bits
    "bin": "Bin",
    "hex": "Hex",
    "unhex": legacy("Unhex"),
    "conv": ansi("Conv"),
    "bit_count": "BitwiseCount",
    "bit_get": "BitwiseGet",
    "bitmap_bit_position": "BitmapBitPosition",
    "bitmap_bucket_number": "BitmapBucketNumber",
    "bitmap_count": "BitmapCount",
    # JSON, XML and URLs
    "get_json_object": "GetJsonObject",
    "json_array_length": "LengthOfJsonArray",
    "json_object_keys": "JsonObjectKeys",
    "xpath": "XPathList",
    "xpath_boolean": "XPathBoolean",
    "xpath_short": "XPathShort",
    "xpath_int": "XPathInt",
    "xpath_long": "XPathLong",
    "xpath_float": "XPathFloat",
    "xpath_double": "XPathDouble",
    "xpath_string": "XPathString",
    "parse_url": ansi("ParseUrl"),
    "try_parse_url": legacy("ParseUrl"),
    "url_encode": "UrlEncode",
    "url_decode": ansi("UrlDecode"),
    "try_url_decode": legacy("UrlDecode"),
    # texts
    "luhn_check": "Luhncheck",
    "is_valid_utf8": "IsValidUTF8",
    "make_valid_utf8": "MakeValidUTF8",
    "validate_utf8": "ValidateUTF8",
    "try_validate_utf8": "TryValidateUTF8",
    "to_base32": "Base32",
    "from_base32": "UnBase32",
    "jaro_winkler_similarity": "JaroWinkler",
    # times of day
    "time_from_seconds": "TimeFromSeconds",
    "time_from_millis": "TimeFromMillis",
    "time_from_micros": "TimeFromMicros",
    "time_to_seconds": "TimeToSeconds",
    "time_to_millis": "TimeToMillis",
    "time_to_micros": "TimeToMicros",
    # random values
    "rand": (),
    "randn": (),
    "uuid": (),
    "randstr": (),
    "uniform": (),
    # state of the engine and the session
    "monotonically_increasing_id": "MonotonicallyIncreasingID",
    "spark_partition_id": "SparkPartitionID",
    "input_file_name": "InputFileName",
    "input_file_block_start": "InputFileBlockStart",
    "input_file_block_length": "InputFileBlockLength",
    "current_user": "CurrentUser",
    "current_catalog": "CurrentCatalog",
    "current_database": "CurrentDatabase",
    "current_path": "CurrentPath",
    "version": "SparkVersion",
    # sketches
    "hll_sketch_estimate": "HllSketchEstimate",
    "hll_union": "HllUnion",
    "theta_sketch_estimate": "ThetaSketchEstimate",
    "theta_union": "ThetaUnion",
    "theta_intersection": "ThetaIntersection",
    "theta_difference": "ThetaDifference",
    # vectors
    "vector_cosine_similarity": "VectorCosineSimilarity",
    "vector_inner_product": "VectorInnerProduct",
    "vector_l2_distance": "VectorL2Distance",
    "vector_norm": "VectorNorm",
    "vector_normalize": "VectorNormalize",
}
_KLL: Final = ("get_n", "merge", "to_string", "get_quantile", "get_rank")
_TUPLE: Final = (
    *("sketch_estimate", "sketch_theta", "sketch_summary"),
    *("union", "union_theta", "intersection", "intersection_theta", "difference", "difference_theta"),
)
_READERS: Final = ("from_json", "from_csv", "from_xml")
_WRITERS: Final = ("to_json", "to_csv", "to_xml")
_SCHEMAS: Final = ("schema_of_json", "schema_of_csv", "schema_of_xml")


def _since(name: str) -> SparkVersion:
    """Return the first version of Spark whose function of that name takes all arguments."""
    return SparkVersion(4, 0) if name == "uuid" else builtin_since(name)  # 3.5 takes no seed


def _same(name: str) -> Callable[[Call], str]:
    """Return the call of Spark's function of that name with the arguments unchanged."""
    return lambda call: Atom(f"{name}({', '.join(operand.sql for operand in call.operands)})")


def _options(call: Call, start: int) -> str:
    """Return the options of a call, names and values in turn, as the last argument of Spark's function; else empty."""
    given = [operand.sql for operand in call.operands[start:]]
    if len(given) % 2:
        raise InvalidPlanError(f"the last option of {call.function.key} has no value")
    return f", map({', '.join(given)})" if given else ""


def _named(call: Call, type: Type, position: int) -> str:
    """Return the Spark type of a type, with the field names that an argument lists."""
    given = call.operands[position].literal
    if not isinstance(given, str):
        raise UnsupportedPlanError(f"the names of {call.function.key} are no constant")
    try:
        names = json.loads(given)
    except ValueError:
        names = None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InvalidPlanError(f"the names of {call.function.key} are no JSON array of texts: {given}")
    return named_spark_type(type, iter(names))


def _reader(name: str) -> Callable[[Call], str]:
    def body(call: Call) -> str:
        schema = string_literal(_named(call, call.output, 1))
        return f"CAST({name}({call.sql(0)}, {schema}{_options(call, 3)}) AS {spark_type(call.output)})"

    return body


def _writer(name: str) -> Callable[[Call], str]:
    return lambda call: f"{name}(CAST({call.sql(0)} AS {_named(call, call.type(0), 1)}){_options(call, 2)})"


def _schema(name: str) -> Callable[[Call], str]:
    return lambda call: f"{name}({call.sql(0)}{_options(call, 1)})"


def _raised(call: Call) -> str:
    return Atom(f"CAST(raise_error({call.sql(0)}) AS {spark_type(call.output)})")


def _class(*words: str) -> str:
    """Return the name of the Catalyst class for a function whose name consists of these words."""
    return "".join(part.capitalize() for word in words for part in word.split("_"))


def _sketches() -> list[Row]:
    kll = [("kll_sketch", function, kind) for function in _KLL for kind in ("bigint", "float", "double")]
    tuples = [("tuple", function, kind) for function in _TUPLE for kind in ("double", "integer")]
    named = {"_".join(words): _class(*words) for words in (*kll, *tuples)}
    return [row(name, _same(name), catalyst=known, since=builtin_since(name)) for name, known in named.items()]


TABLE = Table(
    "extension:pyspark_substrait:functions_spark",
    (
        *(row(name, _same(name), catalyst=forms, since=_since(name)) for name, forms in _SAME.items()),
        *_sketches(),
        *(row(name, _reader(name), since=builtin_since(name)) for name in _READERS),
        *(row(name, _writer(name), since=builtin_since(name)) for name in _WRITERS),
        *(row(name, _schema(name), since=builtin_since(name)) for name in _SCHEMAS),
        row("raise_error", _raised),
    ),
)
