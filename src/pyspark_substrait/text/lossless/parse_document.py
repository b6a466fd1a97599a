"""Conversion of the statements at the top of a text to the message of a plan or an extended expression."""

from __future__ import annotations

from typing import Any

from pyspark_substrait.text.lossless.declared import Declarations, Fault
from pyspark_substrait.text.lossless.neutral import MessageValue, Number, Object
from pyspark_substrait.text.lossless.parse_relations import Line, relation
from pyspark_substrait.text.lossless.parse_values import Values
from pyspark_substrait.text.lossless.shapes import BEHAVIOR, VERSION, Kind

__all__ = ["TOP", "Document"]

_Message = dict[str, Any]
_INPUTS = {"Root": 1, "DetachedRelation": 1}

TOP = frozenset(
    {
        "Plan",
        "Root",
        "Alias",
        "Parameter",
        "Lambda",
        "Schema",
        "Expression",
        "Measure",
        "DetachedExpression",
        "DetachedRelation",
    }
)
"""The statements that aren't relations; they are allowed only at the top."""


class Document:
    """Collects the statements of a text."""

    def __init__(self, known: Declarations) -> None:
        self.known = known
        self.values = Values(known)
        self.message: _Message = {}
        self.is_plan = True

    def start(self, kind: str, version: str | None, producer: str | None) -> None:
        """Read the first line."""
        if kind not in ("plan", "expressions"):
            raise Fault("the first line is `substrait plan` or `substrait expressions`")
        self.is_plan = kind == "plan"
        stated: _Message = {}
        if version is not None:
            stated = {key: int(part) for key, part in zip(VERSION, version.split("."), strict=True) if int(part)}
        if producer is not None:
            stated["producer"] = producer
        if stated or version is not None:
            self.message["version"] = stated

    def add(self, line: Line) -> None:
        """Add a statement at the top.

        Raises:
            Fault: it isn't allowed there.
        """
        if line.title not in TOP:
            self._of_plan(line.title, True)
            self._list("relations").append({"rel": relation(line, self.values)})
            return
        if line.emit is not None or line.properties is not None:
            raise Fault(f"{line.title} has neither => nor properties")
        if len(line.inputs) > _INPUTS.get(line.title, 0):
            raise Fault(f"{line.title} has {len(line.inputs)} relations below it, which is too many")
        getattr(self, f"_{line.title.lower()}")(line)

    def finished(self) -> _Message:
        """The message."""
        found = self.message
        if self.known.urns:
            found["extension_urns"] = self.known.urns
        if self.known.extensions:
            found["extensions"] = self.known.extensions
        if self.is_plan:
            if found.setdefault("execution_behavior", BEHAVIOR) == "none":
                del found["execution_behavior"]
        else:
            found.setdefault("referred_expr", [])
        return found

    def _list(self, key: str) -> list[Any]:
        found: list[Any] = self.message.setdefault(key, [])
        return found

    def _of_plan(self, title: str, wanted: bool) -> None:
        if self.is_plan != wanted:
            raise Fault(f"{title} belongs into {'a plan' if wanted else 'an extended expression'}")

    def _plan(self, line: Line) -> None:
        if line.positional:
            raise Fault("what stands in Plan[…] has a name: key: value")
        fields = self.values.object(Object(line.pairs))
        if "git_hash" in fields:
            self.message.setdefault("version", {})["git_hash"] = fields.pop("git_hash")
        for key in fields:
            if key in ("relations", "extensions", "extension_urns", "version") or key in self.message:
                raise Fault(f"{key} has its own place in the text, or stands twice")
        self.message.update(fields)

    def _root(self, line: Line) -> None:
        self._of_plan("Root", True)
        if line.pairs:
            raise Fault("a Root has only names: Root[id, name]")
        names = [self.values.of_kind(Kind.NAME, each) for each in line.items]  # type: ignore[arg-type]
        root: _Message = {"names": names} if names else {}
        if line.inputs:
            root["input"] = line.inputs[0]
        self._list("relations").append({"root": root})

    def _numbered(self, line: Line, what: str) -> tuple[int, Any]:
        match line.positional:
            case [Number(text), value] if text.isdigit():
                return int(text), value
        raise Fault(f"{line.title} takes a number and {what}")

    def _alias(self, line: Line) -> None:
        self._of_plan("Alias", True)
        number, value = self._numbered(line, "a type: Alias[1, varchar<20>]")
        self._list("type_aliases").append({"type_alias_anchor": number, "type": self.values.of_kind(Kind.TYPE, value)})

    def _parameter(self, line: Line) -> None:
        self._of_plan("Parameter", True)
        number, value = self._numbered(line, "a literal: Parameter[1, 10:i64]")
        self._list("parameter_bindings").append({"parameter_anchor": number, "value": self.values.literal(value)})

    def _lambda(self, line: Line) -> None:
        self._of_plan("Lambda", True)
        number, value = self._numbered(line, "a lambda: Lambda[1, lambda(i64, argument(0).$0)]")
        function = self.values.expression(value)
        if "lambda" not in function:
            raise Fault("Lambda takes a number and a lambda: Lambda[1, lambda(i64, argument(0).$0)]")
        item: _Message = {"lambda_anchor": number, "lambda": function["lambda"]}
        for key, text in line.pairs:
            if key != "name":
                raise Fault(f"Lambda has no {key}")
            item["name"] = self.values.of_kind(Kind.NAME, text)
        self._list("named_lambdas").append(item)

    def _schema(self, line: Line) -> None:
        self._of_plan("Schema", False)
        match line.items:
            case [("base_schema", MessageValue(message))]:
                self.message["base_schema"] = message
            case items:
                self.message["base_schema"] = self.values.schema(items)

    def _expression(self, line: Line) -> None:
        self._referred(line, "expression")

    def _measure(self, line: Line) -> None:
        self._referred(line, "measure")

    def _referred(self, line: Line, kind: str) -> None:
        self._of_plan(line.title, False)
        if len(line.positional) != 1:
            raise Fault(f"{line.title}[…] takes one expression, and names: [a, b]")
        (value,) = line.positional
        wanted = Kind.EXPRESSION if kind == "expression" else Kind.CALL
        item: _Message = {kind: self.values.of_kind(wanted, value)}
        for key, names in line.pairs:
            if key != "names" or not isinstance(names, list):
                raise Fault(f"{line.title}[…] takes names: [a, b], not {key}")
            item["output_names"] = [self.values.of_kind(Kind.NAME, each) for each in names]
        self._list("referred_expr").append(item)

    def _holder(self) -> _Message:
        """Return the message that detached parts belong to: the last relation, or the whole extended expression."""
        if not self.is_plan:
            return self.message
        relations = self._list("relations")
        if not relations:
            relations.append({})
        last: _Message = relations[-1]
        return last

    def _detachedexpression(self, line: Line) -> None:
        if len(line.positional) != 1 or line.pairs:
            raise Fault("DetachedExpression[…] takes one expression")
        self._holder().setdefault("detached_expressions", []).append(self.values.expression(line.positional[0]))

    def _detachedrelation(self, line: Line) -> None:
        if line.items or not line.inputs:
            raise Fault("DetachedRelation[] is followed by a relation below it")
        self._holder().setdefault("detached_rels", []).append(line.inputs[0])
