"""The built-in functions that newer versions of Spark have and the oldest supported one lacks.

Found by asking each version (``SHOW ALL FUNCTIONS``); ``tests/spark/test_versions.py`` asks the one that runs. Names
that are part of the grammar, like ``percentile_cont``, aren't among them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyspark_substrait.sql.spark_version import OLDEST, SparkVersion

__all__ = ["BUILTINS", "builtin_since", "has_builtin"]

_NEW: Final[Mapping[SparkVersion, str]] = {
    SparkVersion(4, 0): """
        collate collation collations dayname from_avro from_protobuf from_xml is_valid_utf8 is_variant_null
        listagg make_valid_utf8 monthname nullifzero parse_json randstr schema_of_avro schema_of_variant
        schema_of_variant_agg schema_of_xml session_user string_agg to_avro to_protobuf to_variant_object to_xml
        try_make_interval try_make_timestamp try_make_timestamp_ltz try_make_timestamp_ntz try_mod
        try_parse_json try_parse_url try_reflect try_url_decode try_validate_utf8 try_variant_get uniform
        validate_utf8 variant_explode variant_explode_outer variant_get zeroifnull
    """,
    SparkVersion(4, 1): """
        approx_top_k approx_top_k_accumulate approx_top_k_combine approx_top_k_estimate bitmap_and_agg
        current_time kll_merge_agg_bigint kll_merge_agg_double kll_merge_agg_float kll_sketch_agg_bigint
        kll_sketch_agg_double kll_sketch_agg_float kll_sketch_get_n_bigint kll_sketch_get_n_double
        kll_sketch_get_n_float kll_sketch_get_quantile_bigint kll_sketch_get_quantile_double
        kll_sketch_get_quantile_float kll_sketch_get_rank_bigint kll_sketch_get_rank_double
        kll_sketch_get_rank_float kll_sketch_merge_bigint kll_sketch_merge_double kll_sketch_merge_float
        kll_sketch_to_string_bigint kll_sketch_to_string_double kll_sketch_to_string_float make_time
        python_worker_logs quote st_asbinary st_geogfromwkb st_geomfromwkb st_setsrid st_srid theta_difference
        theta_intersection theta_intersection_agg theta_sketch_agg theta_sketch_estimate theta_union
        theta_union_agg time time_diff time_trunc to_time try_to_date try_to_time
    """,
    SparkVersion(4, 2): """
        current_path is_valid_variant measure time_bucket time_from_micros time_from_millis time_from_seconds
        time_to_micros time_to_millis time_to_seconds tuple_difference_double tuple_difference_integer
        tuple_difference_theta_double tuple_difference_theta_integer tuple_intersection_agg_double
        tuple_intersection_agg_integer tuple_intersection_double tuple_intersection_integer
        tuple_intersection_theta_double tuple_intersection_theta_integer tuple_sketch_agg_double
        tuple_sketch_agg_integer tuple_sketch_estimate_double tuple_sketch_estimate_integer
        tuple_sketch_summary_double tuple_sketch_summary_integer tuple_sketch_theta_double
        tuple_sketch_theta_integer tuple_union_agg_double tuple_union_agg_integer tuple_union_double
        tuple_union_integer tuple_union_theta_double tuple_union_theta_integer vector_avg
        vector_cosine_similarity vector_inner_product vector_l2_distance vector_norm vector_normalize vector_sum
    """,
    SparkVersion(4, 3): """
        collect_union counter_diff from_base32 hmac jaro_winkler_similarity localtime timestamp_nanos to_base32
        try_variant_array_append try_variant_insert try_variant_set unix_nanos variant_array_append
        variant_delete variant_insert variant_set variant_strip_nulls
    """,
}
_SINCE: Final = {name: version for version, names in _NEW.items() for name in names.split()}

BUILTINS: Final = frozenset(_SINCE)
"""The functions that some supported version lacks."""


def builtin_since(name: str) -> SparkVersion:
    """Return the first supported version of Spark with a built-in function; the oldest for names that aren't listed."""
    return _SINCE.get(name, OLDEST)


def has_builtin(name: str, spark: SparkVersion) -> bool:
    """Whether a version of Spark has a built-in function."""
    return spark >= builtin_since(name)
