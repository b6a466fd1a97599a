"""Upgrades and assumptions made while a plan was read, as findings: a table of rules by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyspark_substrait.codes import Code, Level
from pyspark_substrait.model.findings import Finding
from pyspark_substrait.model.notes import Note

__all__ = ["ASSUMPTIONS", "UPGRADES", "NoteRule", "assumed", "upgraded"]

_I, _W = Level.INFO, Level.WARNING


@dataclass(frozen=True, slots=True)
class NoteRule:
    """The conversion of one rule's notes to findings.

    Args:
        code: the class.
        level: a warning where strict reading refuses the plan, or where the meaning was in doubt; else an info.
        why: the release that changed it, or what the specification says.
        fix: what to do about it.
    """

    code: Code
    level: Level
    why: str
    fix: str


_UPGRADE = "Save the upgraded plan (`pyspark-substrait upgrade`), or use a newer release of the producer"
_NAMES = "Name functions by their compound name, with the URN of their extension"


def _changed(why: str) -> NoteRule:
    """A form of an earlier release that means the same as a current form."""
    return NoteRule(Code.UPGRADED, _I, why, _UPGRADE)


UPGRADES: Mapping[str, NoteRule] = {
    "uri-to-urn": _changed("Since 0.75 extensions are named by URNs, not by the URIs of their files"),
    "uri-reference": _changed("Since 0.75 declarations refer to extension_urns; extension_uris was removed in 0.85"),
    "extension-without-file": NoteRule(
        Code.YAML_RESOLUTION_FAILED,
        _W,
        "An extension is one YAML file; a folder does not identify one, nor does an empty URI",
        "Declare the URN of each extension, like extension:io.substrait:functions_arithmetic",
    ),
    "unknown-extension-uri": NoteRule(
        Code.ILLEGAL_URN,
        _W,
        "An extension URN reads extension:<owner>:<id>",
        "Give the extension a URN, and declare that",
    ),
    "function-key": _changed("The extension renamed this function, changed its arguments or moved it"),
    "function-argument": _changed("The extension changed the arguments of this function"),
    "function-args": _changed("The arguments of a call are in arguments; args was removed in 0.93"),
    "enum-expression": _changed(
        "Enumeration values are arguments of their own; as expressions they were removed in 0.93"
    ),
    "enum-argument": _changed("Since 0.20 an enumeration argument is a text, not a message"),
    "enum-to-option": _changed("Since 0.20 optional enumeration arguments are options"),
    "unspecified-enum": _changed("Since 0.20 an enumeration argument without a value is left out"),
    "extract-indexing": _changed("Since 0.30 extract states whether a counted component starts from one or from zero"),
    "distribution-argument": _changed("Since 0.88 the distribution of std_dev and variance is an argument"),
    "window-bounds-type": _changed("Since 0.32 a window states whether its bounds count rows; before, they did"),
    "window-offset": _changed("Since 0.102 the offset of a window bound is an expression, offset_expr"),
    "unknown-type": _changed("Since 0.99 a type that is left open is `unbound`, not a type of an extension"),
    "timestamp-type": _changed("timestamp, timestamp_tz and time were removed in 0.88; they had microseconds"),
    "timestamp-literal": _changed("timestamp, timestamp_tz and time were removed in 0.88; they had microseconds"),
    "precision-timestamp-literal": _changed("Since 0.52 a literal of a precision timestamp states its precision"),
    "interval-day-precision": _changed("Since 0.97 interval_day states its precision; it was microseconds"),
    "interval-microseconds": _changed("Since 0.98 precision and subseconds replace the field microseconds"),
    "user-defined-type": _changed(
        "Type.user_defined_type_reference was removed in 0.95; user_defined also states the nullability"
    ),
    "fetch-offset": _changed("Since 0.98 the offset of a fetch is an expression"),
    "fetch-count": _changed("Since 0.98 the count of a fetch is an expression; left out, it means all records"),
    "fetch-count-absent": NoteRule(
        Code.UPGRADED,
        _W,
        "Before 0.63 no count and a count of 0 were the same bytes; by the letter both mean no record",
        "State count_expr, or leave it out in a plan of 0.63 or later to keep all records",
    ),
    "grouping-expressions": _changed("Since 0.88 grouping sets refer to expressions of the relation"),
    "virtual-table-values": _changed("Since 0.98 the records of a virtual table are expressions"),
    "virtual-table-row": _changed("In 0.58 a record of a virtual table was one expression, a struct"),
    "file-format": _changed("Since 0.5 a file's format is a message with options, not an enumeration"),
    "join-keys": _changed("Since 0.98 the keys of a physical join are pairs with a comparison"),
    "post-join-filter-meaning": NoteRule(
        Code.UPGRADED,
        _W,
        "Before 0.91 it was open whether a post_join_filter decides about matches; since then it filters the output",
        "Move a condition of the match into the join's expression or residual_expression",
    ),
    "execution-behavior": NoteRule(
        Code.PROTO_UNSPECIFIED_ENUM,
        _I,
        "Since 0.87 a plan states how often the variables of the execution context are evaluated",
        "Set execution_behavior.variable_eval_mode, normally to VARIABLE_EVALUATION_MODE_PER_PLAN",
    ),
    "json-name": _changed("The field had this name in JSON in an earlier release"),
    "json-enum-name": _changed("The enumeration value had this name in an earlier release"),
    "repeated-optimization": _changed("Since 0.50 an extension has a list of optimizations"),
    "several-types-in-one": NoteRule(
        Code.ASSUMPTION,
        _W,
        "A Type message has one kind; the specification's tutorial once printed several in one object",
        "Write each type as an object of its own",
    ),
}
"""The rewrites of older forms, by the rule's name."""


def _harmless(code: Code, why: str, fix: str) -> NoteRule:
    """An assumption that can mean one thing only."""
    return NoteRule(code, _I, why, fix)


def _doubtful(code: Code, why: str, fix: str) -> NoteRule:
    """An assumption that strict reading refuses, or that departs from the literal meaning."""
    return NoteRule(code, _W, why, fix)


_OUTPUT_NAMES = "An output has one name, and one for each field of nested structs, in depth-first order"

ASSUMPTIONS: Mapping[str, NoteRule] = {
    "names-of-an-update": _doubtful(
        Code.TYPE_MISMATCHED_FIELD_NAMES,
        "The output of an update is one column, the number of records",
        "Give it one name",
    ),
    "names-of-no-output": _doubtful(
        Code.TYPE_MISMATCHED_FIELD_NAMES, "The root has one name for each output column", "Remove the names"
    ),
    "different-types": _doubtful(
        Code.TYPE_MISMATCH,
        "The specification has no implicit casts, so these types must be the same",
        "Cast one of them",
    ),
    "required-null": _doubtful(
        Code.TYPE_MISMATCHED_NULLABILITY, "A null has a nullable type", "Make the type of the null nullable"
    ),
    "output-type": _doubtful(
        Code.EXPRESSION_OUTPUT_TYPE,
        "The definition of a function derives the type of a call",
        "State the type that the definition gives, and cast it where another one is expected",
    ),
    "unspecified-phase": _doubtful(
        Code.PROTO_UNSPECIFIED_ENUM,
        "By the letter an unset phase is INTERMEDIATE_TO_RESULT, which takes no records of the input",
        "Set the phase to AGGREGATION_PHASE_INITIAL_TO_RESULT",
    ),
    "duckdb-project": _doubtful(
        Code.ASSUMPTION,
        "Without emit, a projection puts out the columns of its input as well; DuckDB means the expressions alone",
        "Write emit, with the positions of the expressions",
    ),
    "bare-name": _doubtful(
        Code.LINK_BARE_NAME,
        "Engines have functions of the same name that differ; only the extension identifies the function",
        _NAMES + "; or state the producer in version.producer, if it is DataFusion",
    ),
    "engine-function": _harmless(
        Code.ASSUMPTION,
        "An engine that names functions without an extension means its own; this one is not the specification's",
        _NAMES,
    ),
    "datafusion-cast": _doubtful(
        Code.ASSUMPTION,
        "A cast to text or to fewer digits, or a date, has another value in DataFusion for some values",
        "Leave such casts to the engine that reads the result",
    ),
    "datafusion-timestamp": _doubtful(
        Code.ASSUMPTION,
        "The specification doesn't say how the text of a timestamp is written, nor how digits are cut; DataFusion does",
        "Call a function that says so, like `to_timestamp_seconds`, or `strftime` with a format",
    ),
    "datafusion-number": _doubtful(
        Code.ASSUMPTION,
        "A cast of a number to a date or a timestamp counts days, or units of the timestamp, since 1970-01-01",
        "Call a function that says so, like `to_timestamp_seconds`",
    ),
    "datafusion-decimal": _doubtful(
        Code.ASSUMPTION,
        "A cast of a float to a decimal rounds the shortest text of the number; DataFusion rounds its binary value",
        "Leave such casts to the engine that reads the result",
    ),
    "datafusion-coercion": _doubtful(
        Code.EXPRESSION_NO_OVERLOAD,
        "Arguments have the types that the function takes; a plan that DataFusion hasn't analysed leaves out the casts",
        "Make the plan of `optimized_logical_plan()`",
    ),
    "datafusion-dictionary": _doubtful(
        Code.ASSUMPTION,
        "A dictionary is a form of its values; DataFusion writes it as a map with a variation that it doesn't declare",
        "Cast the column to the type of its values",
    ),
    "datafusion-approximate": _doubtful(
        Code.ASSUMPTION,
        "An approximation has another value in another engine",
        "Use the exact function: `count(DISTINCT …)`, `median`, `percentile_cont`",
    ),
    "datafusion-lambda": _doubtful(
        Code.ASSUMPTION,
        "The specification's function has another name; DataFusion calls its own",
        "No change is needed: the function has the same meaning",
    ),
    "datafusion-arrow-cast": _doubtful(
        Code.ASSUMPTION,
        "A cast is an expression; DataFusion calls a function of its own, which the specification doesn't have",
        "Write CAST(… AS …) in the query",
    ),
    "datafusion-struct": _doubtful(
        Code.ASSUMPTION,
        "A struct is a nested expression; DataFusion calls a function of its own, which the specification doesn't have",
        "Select its fields as columns",
    ),
    "datafusion-anti-join": _doubtful(
        Code.ASSUMPTION,
        "An anti join keeps what matches nothing; DataFusion's optimized plans have one for NOT IN as well",
        "Make the plan of `logical_plan()`, or leave out nulls in the query",
    ),
    "datafusion-null": _doubtful(
        Code.TYPE_UNKNOWN,
        "A null has a type; DataFusion writes one of its own that it doesn't declare",
        "Cast the null to the intended type",
    ),
    "datafusion-zone": _doubtful(
        Code.ASSUMPTION,
        "DataFusion's timestamps have a zone of their own, which its plans don't have; here all of them are in UTC",
        "Use timestamps whose zone is UTC",
    ),
    "datafusion-text": _doubtful(
        Code.ASSUMPTION,
        "A cast of a text takes the forms that the specification's cases have; DataFusion takes others, too",
        "Leave such casts to the engine that reads the result, or write the texts in the form of ISO 8601",
    ),
    "datafusion-float": _doubtful(
        Code.ASSUMPTION,
        "Zeros are equal and NaN is the largest number; where keys decide, DataFusion compares their signs as well",
        "Add 0.0 to such a key, so that it has no negative zero",
    ),
    "datafusion-nested-null": _doubtful(
        Code.EXPRESSION_SORT,
        "In the order of lists and structs, a null in one is the smallest value; DataFusion puts it elsewhere",
        "Sort by the elements or the fields one by one",
    ),
    "datafusion-interval": _doubtful(
        Code.TYPE_MISMATCH,
        "An interval_compound has days of 24 hours; DataFusion keeps the numbers of its days and of its hours apart",
        "Add the intervals to a date or a timestamp, which is the same in both",
    ),
    "datafusion-frame": _doubtful(
        Code.EXPRESSION_WINDOW_BOUNDS,
        "DataFusion writes the offsets of RANGE frames only into optimized plans; in others the frame has no bounds",
        "Make the plan of `optimized_logical_plan()`, or write ROWS if the frame has no bounds",
    ),
    "unbound-columns": _doubtful(
        Code.PROTO_MISSING_FIELD,
        "A schema has a type for each column; without them, nothing above is known but the names",
        "Bind the plan to its tables: bind(plan, tables)",
    ),
    "unbound-type": _harmless(
        Code.TYPE_UNBOUND,
        "A type that is left open is that which the function gives",
        "State the type",
    ),
    "datafusion-join": _doubtful(
        Code.PROTO_MISSING_FIELD, "A join has a condition; DataFusion leaves out that of a cross join", "Write true"
    ),
    "simple-case": _doubtful(
        Code.PROTO_MISSING_FIELD,
        "A clause has a condition and a result; some producers write the value of a simple CASE as a clause of its own",
        "Write conditions that compare with the value",
    ),
    "datafusion-isnan": _doubtful(
        Code.LINK_UNRESOLVED_NAME, "The specification's function is called is_nan", "Name it by its extension"
    ),
    "datafusion-project": _doubtful(
        Code.ASSUMPTION,
        "Without emit, a projection puts out the columns of its input as well; DataFusion before 43 means the "
        "expressions alone",
        "Write emit, with the positions of the expressions",
    ),
    "duckdb-hugeint": _doubtful(
        Code.EXPRESSION_OUTPUT_TYPE,
        "The function gives an integer of 64 bits at most; DuckDB means one of 128 bits",
        "Cast the argument to a decimal",
    ),
    "duckdb-median": _doubtful(
        Code.EXPRESSION_NO_OVERLOAD,
        "A median has a precision, and there is none of decimals; DuckDB's takes the numbers alone",
        "State the precision, and the function of the intended extension",
    ),
    "duckdb-mode": _doubtful(
        Code.EXPRESSION_NO_OVERLOAD, "There is a mode of numbers only", "Name a function of another extension"
    ),
    "duckdb-string-agg": _doubtful(
        Code.EXPRESSION_NO_OVERLOAD,
        "`string_agg` has a separator; DuckDB's may have none, and is null if there are no texts",
        "Name the function of the intended extension",
    ),
    "duckdb-not-like": _doubtful(
        Code.ASSUMPTION,
        "DuckDB writes not_equal for NOT LIKE, too",
        "Write the condition as NOT (x LIKE y), or leave out the pattern",
    ),
    "ibis-median": _doubtful(
        Code.EXPRESSION_NO_OVERLOAD, "A median has a precision", "Write the precision as the first argument"
    ),
    "isthmus-date": _doubtful(
        Code.EXPRESSION_OUTPUT_TYPE,
        "A date and an interval give a timestamp",
        "State a timestamp, and cast it to a date",
    ),
    "isthmus-text": _doubtful(
        Code.EXPRESSION_OUTPUT_TYPE,
        "The function gives another type of text",
        "State that, and cast it to the fixedchar or varchar",
    ),
    "isthmus-digits": _doubtful(
        Code.EXPRESSION_OUTPUT_TYPE,
        "The function gives numbers with more digits before the point",
        "State the type that the definition gives",
    ),
    "datafusion-unsigned": _doubtful(
        Code.EXPRESSION_OUTPUT_TYPE,
        "The definition of the function gives integers for integers",
        "Cast the arguments to decimals",
    ),
    "spark-average": _doubtful(
        Code.EXPRESSION_OUTPUT_TYPE,
        "The average of integers is an integer; Spark means that of doubles",
        "Cast the argument to fp64",
    ),
    "decimal-scale": _doubtful(
        Code.EXPRESSION_OUTPUT_TYPE,
        "The definition of the function gives fewer digits behind the point",
        "Cast the arguments so that the result has the digits",
    ),
    "untyped-null": _doubtful(Code.TYPE_UNKNOWN, "A null states its type", "Write the type of the null"),
    "virtual-table-schema": _doubtful(
        Code.PROTO_MISSING_FIELD, "A read states the schema of its records", "Write base_schema"
    ),
    "input-anchor": _doubtful(
        Code.EXPRESSION_MISSING_STREAM,
        "An outer reference names the relation around the subquery, whose expressions see the record",
        "Give the rel_anchor to that relation",
    ),
    "semi-join-emit": _harmless(
        Code.EXPRESSION_REFERENCE,
        "A semi or anti join puts out the columns of one side only; columns of the other cannot be emitted",
        "Leave the other side's columns out of emit, and renumber it",
    ),
    "datafusion-grouping-id": _doubtful(
        Code.ASSUMPTION,
        "By the letter the position of the grouping set is the last column; DataFusion counts a number of its own "
        "before the measures, and each key once",
        "Write emit, with the columns in the intended order",
    ),
    "duckdb-average": _doubtful(
        Code.EXPRESSION_OUTPUT_TYPE,
        "The average of decimals is a decimal; DuckDB means that of doubles",
        "Cast the argument to fp64",
    ),
    "duckdb-comparison-type": _doubtful(
        Code.EXPRESSION_OUTPUT_TYPE,
        "A comparison gives a boolean; DuckDB states the operands' type",
        "State boolean as the output type",
    ),
    "output-names": _doubtful(Code.TYPE_MISMATCHED_FIELD_NAMES, _OUTPUT_NAMES, "Name every field"),
    "offset-ignored": _harmless(
        Code.DEPRECATION,
        "A bound's offset is deprecated; where offset_expr is set, that counts",
        "Leave out offset, or give it the value of offset_expr",
    ),
    "zero-offset": _doubtful(
        Code.EXPRESSION_WINDOW_BOUNDS, "A bound's offset is positive", "Make the bound the current row"
    ),
    "rows-offset": _doubtful(
        Code.EXPRESSION_WINDOW_BOUNDS, "With ROWS, the offset of a bound is an i64", "Write the offset as an i64"
    ),
    "unused-detached": _harmless(
        Code.REDUNDANT_DETACHED, "Detached parts exist to be referred to", "Leave the part out"
    ),
    "missing-root": _harmless(
        Code.PROTO_MISSING_FIELD,
        "A reference states what it starts from; without that, only the input record makes sense",
        "Set root_reference",
    ),
    "arrow-type": _harmless(
        Code.ASSUMPTION,
        "Arrow writes types of its own where the specification has the same type",
        "Use the specification's type",
    ),
    "arrow-overflow": _doubtful(
        Code.EXPRESSION_OPTION,
        "The definition of this function has no such option; Arrow writes it with every arithmetic call",
        "Leave out the option",
    ),
    "arrow-names": _doubtful(
        Code.TYPE_MISMATCHED_FIELD_NAMES,
        _OUTPUT_NAMES + "; Arrow writes them from the inside out",
        "Write the names in depth-first order",
    ),
    "nullable-cast": _harmless(
        Code.TYPE_MISMATCHED_NULLABILITY,
        "A cast of something nullable, or one that gives null where it fails, may give null",
        "Make the type of the cast nullable",
    ),
    "unspecified-nullability": _doubtful(
        Code.PROTO_UNSPECIFIED_ENUM,
        "Every type states whether it is nullable or required",
        "Set nullability to NULLABILITY_NULLABLE or NULLABILITY_REQUIRED",
    ),
    "undeclared-variation": _doubtful(
        Code.LINK_MISSING_ANCHOR,
        "A variation of a type is declared in extensions; 0 is the system-preferred one",
        "Declare the variation, or leave out the reference",
    ),
    "nullable-record": _doubtful(
        Code.TYPE_MISMATCHED_NULLABILITY,
        "A record is never null as a whole",
        "Set the nullability of the struct to NULLABILITY_REQUIRED",
    ),
}
"""The assumptions of reading, by the rule's name; :func:`_of_function` distinguishes those about functions."""

_OTHER = _doubtful(Code.ASSUMPTION, "The plan is ambiguous here; loading made an assumption", "")
_SIMPLE_NAME = _doubtful(
    Code.LINK_SIMPLE_FUNCTION_NAME,
    "A function is declared by its compound name, the name and the short types of the arguments",
    "Declare the compound name, like add:i32_i32",
)
_NOT_AT_HAND = _doubtful(
    Code.EXPRESSION_FUNCTION_UNAVAILABLE,
    "A call is checked against the definition in the YAML file of the extension",
    "Give the file (`Registry.with_yaml`), or correct the URN",
)
_ELSEWHERE = _doubtful(Code.LINK_UNRESOLVED_NAME, "A declaration names the extension that defines the function", _NAMES)
_CAST = _doubtful(
    Code.TYPE_MISMATCH,
    "A call matches the types of the overload that it names; there are no implicit casts",
    "Cast the argument, or declare the overload that takes it",
)
_OTHER_CALL = _doubtful(
    Code.EXPRESSION_NO_OVERLOAD, "A call matches one of the function's definitions", "Write the call as defined"
)


def upgraded(notes: Sequence[Note]) -> Iterator[Finding]:
    """Return a finding for each rewrite of an older form."""
    for note in notes:
        yield _finding(note, UPGRADES.get(note.rule, _OTHER), f"{note.before}; now: {note.after}")


def assumed(notes: Sequence[Note]) -> Iterator[Finding]:
    """Return a finding for each assumption, where the plan is looser than the specification."""
    for note in notes:
        if note.rule == "function":
            yield _finding(note, _of_function(note), f"{note.before}, {note.after}".removesuffix(", accepted"))
        else:
            joint = ";" if note.rule == "output-type" else "; taken as:"
            yield _finding(note, ASSUMPTIONS.get(note.rule, _OTHER), f"{note.before}{joint} {note.after}")


def _finding(note: Note, rule: NoteRule, what: str) -> Finding:
    return Finding.of(rule.code, note.path, what, level=rule.level, why=rule.why, fix=rule.fix)


def _of_function(note: Note) -> NoteRule:
    """Return the rule for a note on a call, by what was assumed."""
    if note.after.startswith("found in "):
        return _ELSEWHERE
    if note.after.startswith("cast from "):
        return _CAST
    if " is not known" in note.before:
        return _NOT_AT_HAND
    simple = note.before.strip("`")
    if note.after.startswith(f"read as `{simple}:"):
        return _SIMPLE_NAME
    return _OTHER_CALL
