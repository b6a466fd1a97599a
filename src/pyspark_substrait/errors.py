"""The error classes. Every error states what is wrong, where in the plan, and what to do about it.

An error is raised where the fault is seen, knowing only the fault. On its way up it collects the path: each level of
the plan is entered with :func:`at`, which puts its segment in front.
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Final

from pyspark_substrait.message_text import escaped, message_text, shortened

if TYPE_CHECKING:
    from pyspark_substrait.codes import Code

__all__ = [
    "ExecutionError",
    "InvalidPlanError",
    "JavaNotFoundError",
    "LostSparkError",
    "NewerSparkError",
    "ParameterError",
    "PlanFormatError",
    "RunLimitError",
    "SubstraitError",
    "SubstraitWarning",
    "TableError",
    "UnsupportedPlanError",
    "at",
]


LONGEST_PATH: Final = 1000
"""The most characters of a path in a message; a longer path is shortened in the middle."""


class SubstraitError(Exception):
    """The base of all errors of this package.

    Its texts hold names and values of the plan. Control and format characters in them are escaped, and long texts are
    shortened in the middle.

    Args:
        message: what is wrong, in one sentence without a final full stop.
        path: where in the plan, like ``relations[0].root.input.filter.condition``; empty when it has no place.
        hint: what to do about it, in one sentence; optional.
        code: its class among findings; optional.

    ``file`` is the file that the plan was read from; empty until that is known, and for a plan from memory.

    Examples:
        >>> try:
        ...     substrait.load({"relations": [{"root": {}}]})
        ... except substrait.SubstraitError as error:
        ...     print(error)
        ...
        relations[0].root.input: a relation is missing
    """

    def __init__(self, message: str, *, path: str = "", hint: str | None = None, code: Code | None = None) -> None:
        message = message_text(message)
        super().__init__(message)
        self.message = message
        self.path = path
        self.file = ""
        self.hint = None if hint is None else message_text(hint)
        self.code = code

    def prepend(self, segment: str | int) -> None:
        """Put one path segment (a field name, or an index into a repeated field) in front of the path."""
        head = f"[{segment}]" if isinstance(segment, int) else shortened(segment)
        joint = "" if not self.path or self.path.startswith("[") else "."
        self.path = f"{head}{joint}{self.path}"

    def __str__(self) -> str:
        file, place = (f"{shortened(escaped(text), LONGEST_PATH)}: " if text else "" for text in (self.file, self.path))
        advice = f". {self.hint}" if self.hint else ""
        return f"{file}{place}{self.message}{advice}"


class PlanFormatError(SubstraitError):
    """The source is not a Substrait plan in any form that can be read (bytes, JSON text, message).

    Examples:
        >>> try:
        ...     substrait.load(b"SELECT 1")
        ... except substrait.PlanFormatError as error:
        ...     print(error.message)
        ...
        this is SQL text, not a plan
    """


class InvalidPlanError(SubstraitError):
    """The plan contradicts the specification or itself.

    Examples:
        >>> try:
        ...     substrait.load({"relations": [{"root": {"input": {"filter": {}}}}]})
        ... except substrait.InvalidPlanError as error:
        ...     print(error.path)
        ...
        relations[0].root.input.filter.input
    """


class UnsupportedPlanError(SubstraitError):
    """The plan is valid, but something in it can't be carried out here with exactly the meaning it has.

    Examples:
        >>> try:
        ...     substrait.for_target(substrait.samples.plan(), "acero")
        ... except substrait.UnsupportedPlanError as error:
        ...     print(error.message)
        ...
        Acero 22 has no function index_in:any_list of `extension:io.substrait:functions_set`
    """


class NewerSparkError(UnsupportedPlanError):
    """The plan is for a version of Spark that can't carry it out, and a newer one, which the message names, can.

    ``feature`` is what the older version lacks, one of those in docs/spark-versions.md; ``since`` the first version
    that has it.
    """

    def __init__(
        self,
        message: str,
        *,
        feature: str = "",
        since: tuple[int, int] = (0, 0),
        path: str = "",
        hint: str | None = None,
        code: Code | None = None,
    ) -> None:
        super().__init__(message, path=path, hint=hint, code=code)
        self.feature = feature
        self.since = since


class TableError(SubstraitError):
    """A table that a plan reads is missing, or its data can't be what the plan says it is.

    Examples:
        >>> try:
        ...     substrait.run_query(substrait.samples.plan(), tables={})
        ... except substrait.TableError as error:
        ...     print(error.message)
        ...
        there is no table orders
    """


class ParameterError(SubstraitError):
    """A dynamic parameter of a plan has no value, or one that isn't of its type.

    Examples:
        >>> from pyspark_substrait.builder import parameter, read
        >>> plan = read("orders", {"id": "i64"}).filter(lambda o: o.id > parameter(1, "i64")).to_plan()
        >>> try:
        ...     substrait.to_sql(plan)
        ... except substrait.ParameterError as error:
        ...     print(error.message)
        ...
        the dynamic parameter 1 has no value; it needs one of type i64
    """


class ExecutionError(SubstraitError):
    """The plan ran, and failed: on its data (an overflow, an invalid cast, a second match of a single join), on an
    internal error of Spark, or because the connection to Spark was lost. The message states which.

    Examples:
        >>> from pyspark_substrait.builder import values
        >>> plan = values([("one",)], {"text": "string"}).select(number=lambda v: v.text.cast("i32")).to_plan()
        >>> try:
        ...     substrait.run_query(plan)
        ... except substrait.ExecutionError as error:
        ...     print(type(error).__name__)
        ...
        ExecutionError
    """


class RunLimitError(ExecutionError):
    """A run exceeded one of its limits, and was ended.

    ``limit`` is the name of the field of :class:`RunLimits`.

    Examples:
        >>> plan, tables = substrait.samples.plan(), substrait.samples.tables()
        >>> try:
        ...     substrait.run_query(plan, tables=tables, limits=substrait.RunLimits(result_rows=3))
        ... except substrait.RunLimitError as error:
        ...     print(error.limit, error.message, sep=": ")
        ...
        result_rows: the result has more than 3 rows
    """

    def __init__(self, message: str, *, limit: str = "", path: str = "", hint: str | None = None) -> None:
        super().__init__(message, path=path, hint=hint or "Ask for less, or raise the limit " + limit)
        self.limit = limit


class LostSparkError(ExecutionError):
    """Spark is gone: its Java process has ended, or its Connect server no longer answers or knows the session."""


class JavaNotFoundError(SubstraitError):
    """Spark needs a Java runtime and none was found.

    Examples:
        >>> try:
        ...     spark = substrait.session()
        ... except substrait.JavaNotFoundError as error:
        ...     print(error.hint)
    """


class SubstraitWarning(UserWarning):
    """Something was done differently from what the plan suggests: for example, a view was made in the session only.

    Examples:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("error", substrait.SubstraitWarning)
        ...     rows = substrait.run_query(substrait.samples.plan(), tables=substrait.samples.tables())
    """

    def __init__(self, message: str) -> None:
        super().__init__(message_text(message))


class at:
    """Enter one level of a plan: an error raised inside gets ``segments`` in front of its path.

    >>> try:
    ...     with at("relations", 0):
    ...         raise InvalidPlanError("a relation is missing")
    ... except InvalidPlanError as error:
    ...     print(error)
    relations[0]: a relation is missing
    """

    __slots__ = ("segments",)

    def __init__(self, *segments: str | int) -> None:
        self.segments = segments

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, SubstraitError):
            for segment in reversed(self.segments):
                error.prepend(segment)
