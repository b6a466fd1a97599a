"""The cases of the specification that contradict the extension they test, each with the reason."""

from __future__ import annotations

from pyspark_substrait.conformance.function_cases import Case

__all__ = ["CONFLICTS", "conflict"]

#: (file, what the case's text begins with): why it can't be right
CONFLICTS: dict[tuple[str, str], str] = {
    **{
        (f"arithmetic/{name}.test", text): "the expected value isn't the statistic of the rows given"
        for name in ("std_dev", "variance")
        for text in (
            "((-5.0), (-3.0), (-1.0), (1.0), (3.0), (5.0))",
            "((1.1), (2.2), (3.3), (4.4), (5.5))",
            "((0.0), (100.0), (50.0), (25.0), (75.0))",
        )
    },
    ("arithmetic/multiply.test", "multiply(-13::i8, -10::i8) [overflow:SATURATE]"): "130 saturates to 127, not -128",
    ("arithmetic/shift_left.test", "shift_left(301989888::i64, 8::i32)"): "301989888 * 256 is 77309411328",
    ("arithmetic/acosh.test", "acosh(0.5::fp32) [on_domain_error:NONE]"): "the option has no value NONE",
    ("arithmetic/divide.test", "divide(5::i8, 0::i8) [on_division_by_zero:NAN]"): "integers have no value NAN",
    ("arithmetic/sqrt.test", "sqrt(-1::i64) [on_domain_error:NAN]"): "the option says NaN, the case null",
    (
        "arithmetic/sqrt.test",
        "sqrt(-9223372036854775800::i64) [on_domain_error:NAN]",
    ): "the option says NaN, the case null",
    ("datetime/extract.test", "extract(SUNDAY_DAY_OF_WEEK::enum"): "neither indexing counts a Sunday as 7 from Sunday",
    ("datetime/extract.test", "extract(MONDAY_DAY_OF_WEEK::enum"): "neither indexing counts a Sunday as 0 from Monday",
    ("datetime/extract.test", "extract(MILLISECOND::enum"): "the milliseconds since the last second have no seconds",
    ("datetime/extract.test", "extract(MICROSECOND::enum"): "the microseconds since the last millisecond",
    **{
        (f"logarithmic/{name}.test", f"{name}({argument}"): reason
        for name in ("ln", "log10", "log2")
        for argument, reason in (
            ("-inf::fp64) [on_domain_error:NONE]", "the option has no value NONE"),
            ("0.0::fp64) [on_log_zero:NAN]", "the option says NaN, the case null"),
        )
    },
    **{
        ("string/regexp_replace.test", f"regexp_replace({call}"): (
            "the extension replaces all occurrences where none is named, the case the first only"
        )
        for call in (
            r"'a bcdef'::str, '\S'::str, ','::str, 1::i64",
            r"' abcdef'::str, '\w'::str, '1'::str, 1::i64",
            r"'abcabcabc'::str, '[bc]'::str, 'dd'::str, 1::i64",
            r"'a bcdef'::str, '\S'::str, ','::str)",
            r"' abcdef'::str, '\w'::str, '1'::str)",
            r"'abcabcabc'::str, '[bc]'::str, 'dd'::str)",
        )
    },
    **{
        ("list/filter.test", f"filter([1, null, 3]::list<i32?>, ({lambda_}"): (
            "the lambda takes required elements, the list has nullable ones"
        )
        for lambda_ in ("n ->", "e ->")
    },
    ("logarithmic/logb.test", "logb("): "the cases give the base first, the extension takes it second",
}


def conflict(case: Case) -> tuple[str, str] | None:
    """The entry of ``CONFLICTS`` that a case belongs to."""
    return next((key for key in CONFLICTS if key[0] == case.file and case.text.startswith(key[1])), None)
