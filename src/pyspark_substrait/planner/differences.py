"""The differences between Spark's SQL and DataFusion's, and what becomes of each in a plan with Spark's meaning."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

__all__ = ["DIFFERENCES", "Difference", "Handling", "markdown"]


class Handling(Enum):
    """The treatment of a difference."""

    #: the plan means what Spark means
    REWRITTEN = "rewritten"
    #: an error names it, with its place
    REFUSED = "refused"
    #: the plan means what the SQL standard says, and what Spark's own plans say, too; Spark answers otherwise
    STANDARD = "as in the SQL standard"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A difference.

    Args:
        subject: what it is about.
        example: an expression or a clause.
        datafusion: its meaning in DataFusion.
        spark: its meaning in Spark.
        handling: what becomes of it.
        words: words in a row by which a text has it, if it is refused by these.
        hint: what to do about it, if it is refused by words.
    """

    subject: str
    example: str
    datafusion: str
    spark: str
    handling: Handling = Handling.REWRITTEN
    words: tuple[str, ...] = ()
    hint: str | None = None


def _refused(
    subject: str, example: str, datafusion: str, spark: str, *words: str, hint: str | None = None
) -> Difference:
    return Difference(
        subject=subject,
        example=example,
        datafusion=datafusion,
        spark=spark,
        handling=Handling.REFUSED,
        words=words,
        hint=hint,
    )


def _rewritten(subject: str, example: str, datafusion: str, spark: str) -> Difference:
    return Difference(subject=subject, example=example, datafusion=datafusion, spark=spark)


DIFFERENCES: Final = (
    # literals
    _rewritten("whole numbers", "1", "a BIGINT", "an INT if it fits, then a BIGINT, then a decimal"),
    _rewritten("numbers with a point", "1.50", "a DOUBLE", "a decimal of its digits"),
    _rewritten("suffixes of numbers", "5L, 1.5D, 2BD", "ignored, or an error", "BIGINT, DOUBLE, decimal"),
    _rewritten("backslashes in texts", r"'a\nb', r'a\nb'", "a character of its own", "an escape, except in r'…'"),
    _rewritten("nulls without a type", "SELECT NULL", "of no type", "a VOID; in plans, a STRING"),
    _rewritten("double quotes", '"text"', "a name", "a text"),
    _rewritten("texts side by side", "'a' 'b'", "a text and its alias", "one text"),
    _rewritten("intervals", "INTERVAL 1 DAY", "months, days and nanoseconds", "years to months, or days to seconds"),
    _rewritten("several units", "INTERVAL 1 DAY 2 HOURS", "an error", "one interval"),
    _rewritten("units from and to", "INTERVAL '1 02:03' DAY TO MINUTE", "an error", "one interval"),
    _refused("intervals of both kinds", "INTERVAL '1 month 1 day'", "an interval", "an error"),
    # names
    _rewritten("case of names", "SELECT Id FROM Orders", "lower case, unless quoted", "any case; the result has it"),
    _rewritten("names in backquotes", "`Id`", "the exact case", "any case"),
    _rewritten("columns without an alias", "SELECT a + 1", "t.a + Int64(1)", "(a + 1); here, the text itself"),
    # operators
    _rewritten("division of integers", "7 / 2", "3", "3.5: a DOUBLE"),
    _rewritten("DIV", "7 DIV 2", "an error", "3: a BIGINT"),
    _rewritten("division by zero", "1.0D / 0", "infinity", "an error"),
    _rewritten("digits of decimals", "d / e, avg(d)", "four more digits than the dividend", "as Spark's rules say"),
    _rewritten("decimals and whole numbers", "price * 2", "the 2 as a decimal of 20 digits", "of one digit"),
    _rewritten("overflow of integers", "2147483647 + 1", "a BIGINT; of 64 bits, it wraps around", "an error"),
    _rewritten("texts beside numbers", "a = '5'", "the text as that type", "as a BIGINT or a DOUBLE"),
    _refused("arithmetic of texts", "s + 1, sum(s)", "an error", "the text as a BIGINT or a DOUBLE"),
    _rewritten("FLOATs beside integers", "f + 1", "a FLOAT", "a DOUBLE"),
    _rewritten("concat with null", "concat(a, NULL)", "skips nulls", "null"),
    _rewritten("|| of other types", "s || 1", "a text", "a text, of Spark's casts"),
    _rewritten("RLIKE", "s RLIKE 'x'", "an error; ~ has patterns of Rust", "patterns of Java"),
    _rewritten("escapes in LIKE", r"s LIKE 'a!%' ESCAPE '!'", "left out or kept", "the escape, or the backslash"),
    _rewritten("MINUS, !", "… MINUS …, !a", "an error", "EXCEPT, NOT"),
    _refused("lambdas and elements", "x -> x + 1, l[0]", "elements count from 1", "elements count from 0"),
    _rewritten("fields of structs", "s.X", "the field of that case", "the field, in any case"),
    _rewritten("IS DISTINCT FROM", "a IS DISTINCT FROM b AND c", "AND belongs to the operand", "AND is outside"),
    _rewritten("BETWEEN", "a BETWEEN b AND c = d", "a comparison of the BETWEEN", "the operand is c = d"),
    # types and casts
    _rewritten("TIMESTAMP", "CAST(s AS TIMESTAMP)", "nanoseconds, no zone", "an instant in microseconds; in UTC"),
    _rewritten("DECIMAL", "CAST(a AS DECIMAL)", "38 digits, 10 of them behind the point", "10 digits, none behind it"),
    _refused(
        "other types", "CAST(a AS INT8), CAST(a AS TIMESTAMP WITHOUT TIME ZONE)", "a type", "another, or an error"
    ),
    _rewritten("casts of constants", "price * CAST(5 AS BIGINT)", "the constant", "a decimal of the type's digits"),
    _refused("texts of bytes", "concat(bin, bin), length(bin)", "of a text", "of bytes"),
    _rewritten("casts of texts", "CAST('on' AS BOOLEAN)", "true", "an error; all casts are those of ANSI mode"),
    _rewritten("names of types", "CAST(a AS LONG)", "an error", "BIGINT; so are BYTE and SHORT"),
    _refused("lengths of texts", "CAST(s AS VARCHAR(2))", "ignored", "at most as many characters"),
    _rewritten("CASE, IN, UNION, coalesce", "coalesce(a, '1')", "its own type in common", "Spark's widest type"),
    # dates
    _rewritten(
        "differences of dates", "day - day", "a number of days", "an interval of days; in plans, of days to seconds"
    ),
    _rewritten("dates and intervals", "day + INTERVAL 1 HOUR", "a date or nanoseconds", "a timestamp in UTC"),
    _rewritten("functions of dates", "year(day)", "some, by other names", "Spark's, in UTC"),
    # functions
    _rewritten("names of functions", "if(a, b, c), nvl2(a, b, c)", "an error or another function", "Spark's"),
    _rewritten("order of arguments", "ltrim('x', s)", "the text comes first", "the characters come first"),
    _rewritten("substring from 0", "substring('abc', 0, 2)", "a", "ab"),
    _rewritten("round", "round(1.005, 2)", "1.0: of a binary number", "1.01: of a decimal"),
    _rewritten("ceil and floor", "ceil(a)", "a DOUBLE of an INT", "a BIGINT, or a decimal without a scale"),
    _refused("other functions", "parse_url(s, 'HOST')", "an error, or another function", "Spark's function"),
    # aggregates
    _rewritten("types of sums", "sum(f), sum(d)", "BIGINT, DOUBLE, ten more digits", "the same; overflow is an error"),
    _rewritten("collect_list", "collect_list(a)", "array_agg keeps nulls", "leaves nulls out"),
    _rewritten(
        "first without nulls", "first(a, true)", "an error; over a window, the true counts for nothing", "skips nulls"
    ),
    _rewritten("grouping", "grouping(a)", "an INT", "a TINYINT"),
    _rewritten("estimates", "approx_count_distinct(a)", "its own estimate", "Spark's estimate"),
    _rewritten("ranks", "row_number() OVER (…)", "an unsigned BIGINT", "an INT"),
    Difference(
        subject="IN of a query as a value",
        example="SELECT a IN (SELECT b …)",
        datafusion="null, if a or one b is null and none is equal",
        spark="false then",
        handling=Handling.STANDARD,
    ),
    # order
    _rewritten("nulls in ORDER BY", "ORDER BY a", "last; first with DESC", "first; last with DESC"),
    _rewritten("keys that are NaN or -0.0", "GROUP BY f", "by their bits", "NaN is one value, zeros are equal"),
    # clauses that DataFusion reads and leaves out of its plans
    _refused(
        "TABLESAMPLE", "FROM t TABLESAMPLE (10 PERCENT)", "left out of the plan", "some of the records", "TABLESAMPLE"
    ),
    _refused("IGNORE NULLS", "lag(a) IGNORE NULLS", "left out of the plan", "skips nulls", "IGNORE", "NULLS"),
    _refused("RANGE with an offset", "RANGE 1 PRECEDING", "left out of the plan", "a distance from the key"),
    _refused("FILTER over a window", "sum(a) FILTER (WHERE b) OVER ()", "left out of the plan", "some of the records"),
    _refused("DISTINCT over a window", "count(DISTINCT a) OVER ()", "left out of the plan", "an error"),
    _refused("INTERSECT ALL", "… INTERSECT ALL …", "a semi join", "as many as in both", "INTERSECT", "ALL"),
    _refused("EXCEPT ALL", "… EXCEPT ALL …", "an anti join", "as many as are left", "EXCEPT", "ALL"),
    _refused("MINUS ALL", "… MINUS ALL …", "an error", "as many as are left over", "MINUS", "ALL"),
    _refused("INTERSECT of two types", "SELECT 1 INTERSECT SELECT 2L", "the type of the first", "the widest type"),
    _refused("USING", "JOIN t USING (id)", "no plan of it", "one column", "USING", hint="Write the condition with ON"),
    _refused(
        "NATURAL",
        "NATURAL JOIN t",
        "no plan of it",
        "one column",
        "NATURAL",
        hint="Write the condition with ON",
    ),
    _refused("WITH ROLLUP", "GROUP BY a WITH ROLLUP", "left out of the plan", "ROLLUP", "WITH", "ROLLUP"),
    _refused("WITH CUBE", "GROUP BY a WITH CUBE", "left out of the plan", "CUBE", "WITH", "CUBE"),
    _refused("GROUPING SETS behind keys", "GROUP BY a GROUPING SETS ((a))", "left out of the plan", "these sets"),
    _refused("windows on windows", "OVER (w)", "the name is left out", "the window w"),
    _refused("count(DISTINCT *)", "count(DISTINCT *)", "1", "the records without nulls, once each"),
    _refused("count without columns", "count(), count(t.*)", "a count of records", "an error"),
    _refused("ranks without an order", "rank() OVER ()", "a number", "an error"),
    _refused("units of intervals", "INTERVAL 1 CENTURY, INTERVAL '1.5' DAY", "an interval", "an error"),
    _refused("NULL as a condition", "WHERE NULL", "no records", "an error"),
    _refused("negative positions", "ORDER BY -2", "a constant", "an error"),
    _refused("numbers of windows", "ntile(3L), nth_value(a, 0)", "a number", "an error"),
    # clauses that only one of the two has
    _refused("AT TIME ZONE", "at AT TIME ZONE 'UTC'", "a cast", "an error", "AT", "TIME", "ZONE"),
    _refused("UNION BY NAME", "… UNION BY NAME …", "columns by name", "an error", "UNION", "BY", "NAME"),
    _refused("UNION ALL BY NAME", "… UNION ALL BY NAME …", "columns by name", "an error", "ALL", "BY", "NAME"),
    _refused("RIGHT SEMI JOIN", "RIGHT SEMI JOIN t", "a join", "an error", "RIGHT", "SEMI", hint="Use LEFT SEMI JOIN"),
    _refused("RIGHT ANTI JOIN", "RIGHT ANTI JOIN t", "a join", "an error", "RIGHT", "ANTI", hint="Use LEFT ANTI JOIN"),
    _refused("FOR UPDATE", "SELECT … FOR UPDATE", "left out of the plan", "an error", "FOR", "UPDATE"),
    _refused("texts as aliases", "SELECT a AS 'b'", "an alias", "an error"),
    _refused("GROUPS", "GROUPS BETWEEN …", "groups of peers", "an error", "GROUPS", "BETWEEN"),
    _refused("QUALIFY", "QUALIFY …", "a filter", "an error", "QUALIFY", hint="Filter the query around"),
    _refused("DISTINCT ON", "SELECT DISTINCT ON (a)", "one of each", "an error", "DISTINCT", "ON"),
    _refused("SIMILAR TO", "s SIMILAR TO 'x'", "a pattern", "an error", "SIMILAR", "TO", hint="Use RLIKE"),
    _refused("ANY and ALL of a query", "a > ALL (SELECT …)", "a comparison", "an error", hint="Use IN or EXISTS"),
    _refused("PIVOT, UNPIVOT", "FROM t PIVOT (…)", "an error", "columns of values"),
    _refused("LATERAL", "FROM t, LATERAL (SELECT …)", "no plan of it", "a query for each record"),
    _refused("LATERAL VIEW", "LATERAL VIEW explode(l)", "an error", "a record for each element", "LATERAL", "VIEW"),
    _refused("recursive queries", "WITH RECURSIVE …", "a recursion", "a recursion", "WITH", "RECURSIVE"),
    _refused("COLLATE", "a COLLATE UTF8_LCASE", "an error", "a comparison of texts", "COLLATE"),
)


def markdown() -> str:
    """Return the table as a page of the documentation has it."""
    lines = ["| difference | for example | in DataFusion | in Spark | here |", "|---|---|---|---|---|"]
    for one in DIFFERENCES:
        cells = (one.subject, f"`{one.example}`", one.datafusion, one.spark, one.handling.value)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
