"""Translate Spark's exceptions into errors of this package: refusals, failures on data, and internal errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from pyspark_substrait.errors import ExecutionError, SubstraitError, UnsupportedPlanError
from pyspark_substrait.spark.compatibility import error_condition

__all__ = ["failed", "first_message", "message_with_place", "refused"]


def refused(error: Exception) -> SubstraitError:
    """The error for a statement that Spark does not accept."""
    if "StackOverflowError" in str(error):
        return _too_deep()
    return UnsupportedPlanError(
        f"Spark refuses the plan's statement: {first_message(error)}", hint="to_sql(plan) shows the statement"
    )


def _too_deep() -> SubstraitError:
    return UnsupportedPlanError(
        "the plan is nested too deeply for the stacks of Spark's threads",
        hint="Start the session with larger stacks: spark.driver.extraJavaOptions=-Xss16m, the same for the executors",
    )


def failed(error: Exception) -> SubstraitError:
    """The error for a statement that failed while it ran, or that Connect, which analyses late, did not accept."""
    from pyspark.errors import AnalysisException, ParseException

    if isinstance(error, AnalysisException | ParseException):
        return refused(error)
    if "StackOverflowError" in str(error):
        return _too_deep()
    if _is_internal(error):
        return ExecutionError(
            f"Spark failed with an internal error, which is a bug in Spark, not a fault of the plan or its data: "
            f"{first_message(error) or type(error).__name__}",
            hint="to_sql(plan) shows the statement that Spark fails on; another form of the plan may run",
        )
    if "WRITE_ANCIENT_DATETIME" in str(error):
        return ExecutionError(
            "this session does not write dates before 1582-10-15, and timestamps before 1900, to Parquet files",
            hint="Set spark.sql.parquet.datetimeRebaseModeInWrite to CORRECTED, which is the default since Spark 4.0",
        )
    return ExecutionError(f"the plan failed on its data: {first_message(error)}")


#: errors of Java and Scala that Spark doesn't raise because of data, only because of its own faults
_INTERNAL = frozenset(
    {
        "java.lang.AbstractMethodError",
        "java.lang.ArrayIndexOutOfBoundsException",
        "java.lang.ArrayStoreException",
        "java.lang.AssertionError",
        "java.lang.ClassCastException",
        "java.lang.IllegalStateException",
        "java.lang.IndexOutOfBoundsException",
        "java.lang.InternalError",
        "java.lang.NegativeArraySizeException",
        "java.lang.NoSuchFieldError",
        "java.lang.NoSuchMethodError",
        "java.lang.NullPointerException",
        "java.lang.VerifyError",
        "java.util.NoSuchElementException",
        "org.codehaus.commons.compiler.CompileException",
        "org.codehaus.commons.compiler.InternalCompilerException",
        "org.codehaus.janino.InternalCompilerException",
        "scala.MatchError",
        "scala.NotImplementedError",
    }
)
#: the class of an error, in the message of a server or of a failed job
_NAMED = re.compile(r"^\(([\w.$]+)\)|^Job aborted due to stage failure:.*?: ([\w.$]+(?:Error|Exception))\b", re.DOTALL)


#: at the start of the message of an error or of a cause
_INTERNAL_CONDITION = re.compile(r"(?:^|[\w.$]+(?:Error|Exception): )\[INTERNAL_ERROR", re.MULTILINE)


def _is_internal(error: Exception) -> bool:
    """Whether an error is an internal error of Spark, not one of the plan or its data."""
    condition = error_condition(error)
    if condition is not None:
        return condition.startswith("INTERNAL_ERROR")
    text = str(error)
    if type(error).__name__ == "PythonException":
        return False
    if (
        text.startswith("requirement failed")
        or _INTERNAL_CONDITION.search(text) is not None
        or "(java.lang.IllegalArgumentException) requirement failed" in text
    ):
        return True
    return any(name in _INTERNAL for name in (*_classes(error), *_named(text)))


def _named(text: str) -> tuple[str, ...]:
    found = _NAMED.search(text)
    return () if found is None else tuple(name for name in found.groups() if name)


def _classes(error: Exception) -> Iterator[str]:
    """The Java classes of an error and of its causes; none for errors of a server."""
    java = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    with suppress(Exception):  # Java is gone
        while java is not None and hasattr(java, "getClass"):
            yield str(java.getClass().getName())
            java = java.getCause()


def first_message(error: Exception) -> str:
    """The first line of Spark's message, or the message that the statement itself raised."""
    java = getattr(error, "java_exception", None)
    while java is not None and java.getCause() is not None:
        java = java.getCause()
    text = (str(error) if java is None else java.toString().partition(": ")[2]).strip()
    if type(error).__name__ == "PythonException":
        return _last_of_traceback(str(error))
    if error_condition(error) == "USER_RAISED_EXCEPTION":
        return text.removeprefix("[USER_RAISED_EXCEPTION]").split(" SQLSTATE:", 1)[0].strip(" .")
    if java is not None and java.getClass().getName() == "java.lang.RuntimeException":
        return text.rstrip(". ")  # raise_error before 4.0
    line = text.split("\n", 1)[0]
    return line.split(" SQLSTATE:", 1)[0].rstrip(". ")


def message_with_place(error: Exception) -> str:
    """Return Spark's message about a query in one line, with the line and column counted from 1."""
    java: Any = getattr(error, "java_exception", None)  # of an error that pyspark does not convert
    text = str(error if java is None else java.getMessage() or java.toString()).strip()
    first = re.sub(r"^(\{LINE:\d+\}\s*)?\[[A-Z_.0-9]+\]\s*", "", text.split("\n", 1)[0])
    first = re.sub(r"\s*(SQLSTATE: \w+)?[;.]?\s*(\(?line \d+,? pos \d+\)?;?)?$", "", first)
    place = re.search(r"line (\d+),? pos (\d+)", text)
    return f"{first} (line {place[1]}, column {int(place[2]) + 1})" if place else first


def _last_of_traceback(text: str) -> str:
    """The exception of a Python function, without its traceback."""
    python = re.split(r"\n *SQLSTATE|\n\n?JVM stacktrace|\n\s*at ", text)[0]
    lines = [line for line in python.splitlines() if re.match(r"[A-Za-z_][\w.]*(Error|Exception|Warning)?(: |$)", line)]
    return lines[-1].strip() if lines else text.strip().splitlines()[0]
