"""Functions of texts and binary values that only Spark has (``functions_spark_string.yaml``).

The bodies are Spark's own functions. Where one of those depends on a setting of the session, the body is correct under
all its values.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.builtins_since import builtin_since
from pyspark_substrait.sql.functions.catalyst import ansi, legacy
from pyspark_substrait.sql.functions.sizes import bounded_format, bounded_length
from pyspark_substrait.sql.functions.strings.case import INITCAP_SINCE, checked_initcap
from pyspark_substrait.sql.functions.table import Call, Table, row

__all__ = ["TABLE"]


def listed(name: str) -> Callable[[Call], str]:
    """Return the Spark function with this name, with all arguments."""
    return lambda call: Atom(f"{name}({', '.join(operand.sql for operand in call.operands)})")


def elt_or_null(call: Call) -> str:
    index, *values = (operand.sql for operand in call.operands)
    return Atom(f"get(array({', '.join(values)}), if({index} < 1, -1, {index} - 1))")


def liked(operator: str) -> Callable[[Call], str]:
    """Return ``LIKE`` with an escape character, which is part of Spark's grammar and so must be a constant."""

    def body(call: Call) -> str:
        text, pattern, escape = call.operands
        if not isinstance(escape.literal, str) or len(escape.literal) != 1:
            raise UnsupportedPlanError(
                f"{call.function.name} with an escape character that is not a literal of one character",
                path="arguments[2]",
            )
        return f"{text.sql} {operator} {pattern.sql} ESCAPE {string_literal(escape.literal)}"

    return body


#: the line breaks that a setting may put into base 64
_ONE_LINE = r"replace(base64({0}), '\u000D\u000A', '')"
_LINES = rf"regexp_replace({_ONE_LINE}, '(.{{76}})(?!$)', '$1\u000D\u000A')"


TABLE = Table(
    "extension:pyspark_substrait:functions_spark_string",
    (
        row(
            "initcap",
            "initcap({0})",
            catalyst="InitCap",
            since=INITCAP_SINCE,
            before=lambda call: checked_initcap(call.sql(0)),
        ),
        row("concat", listed("concat"), catalyst="Concat"),
        row("concat_ws", listed("concat_ws")),
        row("substring", "substring({0}, {1}, {2})", catalyst="Substring"),
        row("length", "length({0})", catalyst="Length"),
        row("octet_length", "octet_length({0})", catalyst="OctetLength"),
        row("bit_length", "bit_length({0})", catalyst="BitLength"),
        row("lpad", lambda call: Atom(f"lpad({call.sql(0)}, {bounded_length(call, 1)}, {call.sql(2)})")),
        row("rpad", lambda call: Atom(f"rpad({call.sql(0)}, {bounded_length(call, 1)}, {call.sql(2)})")),
        row("starts_with", "startswith({0}, {1})"),
        row("ends_with", "endswith({0}, {1})"),
        row("contains", "contains({0}, {1})"),
        row("reverse", "reverse({0})", catalyst="Reverse"),
        row("left", "left({0}, {1})", catalyst="Left"),
        row("translate", "translate({0}, {1}, {2})", catalyst="StringTranslate"),
        row("locate", "locate({0}, {1}, {2})", catalyst="StringLocate"),
        row("ascii", "ascii({0})", catalyst="Ascii"),
        row("chr", "chr({0})", catalyst="Chr"),
        row("space", lambda call: Atom(f"space({bounded_length(call, 0)})"), catalyst="StringSpace"),
        row("soundex", "soundex({0})", catalyst="SoundEx"),
        row("levenshtein", listed("levenshtein"), catalyst="Levenshtein"),
        row("overlay", "overlay({0}, {1}, {2}, {3})", catalyst="Overlay"),
        row("format_string", bounded_format(listed("format_string")), catalyst="FormatString"),
        row("format_number", "format_number({0}, {1})", catalyst="FormatNumber"),
        row("base64", _ONE_LINE),
        row("base64_lines", lambda call: Atom(_LINES.replace("{0}", call.sql(0)))),
        row("unbase64", "unbase64({0})", catalyst=legacy("UnBase64")),
        row("unbase64_strict", "to_binary({0}, 'base64')", catalyst=ansi("UnBase64")),
        row("to_binary", "to_binary({0}, {1})", catalyst="ToBinary"),
        row("try_to_binary", "try_to_binary({0}, {1})"),
        row("encode", "encode({0}, {1})", since="4.0"),  # before, it replaces what has no code
        row("decode", "decode({0}, {1})", since="4.0"),
        row("elt", listed("elt"), catalyst=ansi("Elt")),
        row("try_elt", elt_or_null, catalyst=legacy("Elt")),
        row("find_in_set", "find_in_set({0}, {1})", catalyst="FindInSet"),
        row("sentences", "sentences({0}, {1}, {2})", catalyst="Sentences"),
        row("mask", listed("mask"), catalyst="Mask"),
        row("to_number", "CAST(to_number({0}, {1}) AS STRING)"),
        row("try_to_number", "CAST(try_to_number({0}, {1}) AS STRING)"),
        row("to_char", "to_char({0}, {1})", catalyst="ToCharacter"),
        row("split", "split({0}, {1}, {2})", catalyst="StringSplit"),
        row("split_part", "split_part({0}, {1}, {2})", catalyst="SplitPart"),
        row("substring_index", "substring_index({0}, {1}, {2})", catalyst="SubstringIndex"),
        row("instr", "instr({0}, {1}, {2}, {3})", catalyst="StringInstrWithOccurrence"),
        row("quote", "quote({0})", catalyst="Quote", since=builtin_since("quote")),
        row("like", liked("LIKE")),
        row("ilike", liked("ILIKE")),
        row("rlike", "{0} RLIKE {1}", catalyst="RLike"),
        row("regexp_replace", "regexp_replace({0}, {1}, {2}, {3})", catalyst="RegExpReplace"),
        row("regexp_extract", "regexp_extract({0}, {1}, {2})", catalyst="RegExpExtract"),
        row("regexp_extract_all", "regexp_extract_all({0}, {1}, {2})", catalyst="RegExpExtractAll"),
        row("regexp_count", "regexp_count({0}, {1})", catalyst="RegExpCount"),
        row("regexp_instr", "regexp_instr({0}, {1}, {2})", catalyst="RegExpInStr"),
        row("regexp_substr", "regexp_substr({0}, {1})", catalyst="RegExpSubStr"),
    ),
)
