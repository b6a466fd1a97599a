"""The state of writing a message: the extensions that it declares, and its detached parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.expressions import Function, NamedLambda
from pyspark_substrait.model.plan import ExtensionDeclaration, ExtensionKind
from pyspark_substrait.model.types import Type, TypeVariation, UserDefined

__all__ = ["Declarations", "Parts"]


@dataclass(slots=True, eq=False)
class Declarations:
    """The extensions that a message declares. Anchors count from 1, in the order of first use.

    Args:
        message: the plan or extended expression, to whose lists declarations are added.
        aliases: the anchors of the type aliases.
        lambdas: the named lambdas in order; the anchor of each is its position, counted from 1.
        trees: how many relation trees there are to refer to.
    """

    message: Any
    aliases: dict[Type, int] = field(default_factory=dict)
    lambdas: tuple[NamedLambda, ...] = ()
    trees: int = 0
    urns: dict[str, int] = field(default_factory=dict)
    anchors: dict[ExtensionDeclaration, int] = field(default_factory=dict)
    counts: dict[ExtensionKind, int] = field(default_factory=dict)

    def function(self, function: Function) -> int:
        """The anchor of a function."""
        return self._anchor(ExtensionDeclaration(function.urn, ExtensionKind.FUNCTION, function.key))

    def type(self, type: UserDefined) -> int:
        """The anchor of a user-defined type."""
        return self._anchor(ExtensionDeclaration(type.urn, ExtensionKind.TYPE, type.name))

    def variation(self, variation: TypeVariation | None) -> int:
        """The anchor of a type variation; 0 for the system-preferred one."""
        if variation is None:
            return 0
        return self._anchor(ExtensionDeclaration(variation.urn, ExtensionKind.TYPE_VARIATION, variation.name))

    def _anchor(self, declaration: ExtensionDeclaration) -> int:
        anchor = self.anchors.get(declaration)
        if anchor is None:
            anchor = self.anchors[declaration] = self.declare(declaration)
        return anchor

    def declare(self, declaration: ExtensionDeclaration) -> int:
        """Add a declaration, even if the same one is there already, and return its anchor."""
        anchor = self.counts[declaration.kind] = self.counts.get(declaration.kind, 0) + 1
        item = self.message.extensions.add()
        match declaration.kind:
            case ExtensionKind.FUNCTION:
                fields = item.extension_function
                fields.function_anchor = anchor
            case ExtensionKind.TYPE:
                fields = item.extension_type
                fields.type_anchor = anchor
            case ExtensionKind.TYPE_VARIATION:
                fields = item.extension_type_variation
                fields.type_variation_anchor = anchor
        fields.name = declaration.name
        fields.extension_urn_reference = self._urn(declaration.urn)
        return anchor

    def _urn(self, urn: str) -> int:
        """Return the anchor of a URN; 0, which stands for none, if the URN isn't known."""
        if not urn:
            return 0
        anchor = self.urns.get(urn)
        if anchor is None:
            anchor = self.urns[urn] = self.declare_urn(urn)
        return anchor

    def declare_urn(self, urn: str) -> int:
        """Add a URN, and return its anchor."""
        anchor: int = len(self.message.extension_urns) + 1
        self.message.extension_urns.add(extension_urn_anchor=anchor, urn=urn)
        return anchor

    def alias(self, aliased: Type) -> int:
        """The anchor of a type alias."""
        anchor = self.aliases.get(aliased)
        if anchor is None:
            raise InvalidPlanError(
                f"no type alias of the message stands for {aliased}", hint="Add the type to the plan's type_aliases"
            )
        return anchor

    def named_lambda(self, named: NamedLambda) -> int:
        """The anchor of a named lambda."""
        for anchor, known in enumerate(self.lambdas, start=1):
            if known is named:
                return anchor
        for anchor, known in enumerate(self.lambdas, start=1):
            if known == named:
                return anchor
        raise InvalidPlanError(
            f"the lambda {named.name or ''} is not one of the message's", hint="Add it to the plan's named_lambdas"
        )


@dataclass(slots=True, eq=False)
class Parts:
    """The detached expressions and relations of one relation tree, each once.

    Args:
        declarations: those of the whole message.
        expressions, rels: the lists of the message.
    """

    declarations: Declarations
    expressions: Any
    rels: Any
    known: dict[int, int] = field(default_factory=dict)
    ordinals: dict[tuple[str, bytes], int] = field(default_factory=dict)

    def keep(self, kind: str, node: object, message: Any, into: Any) -> int:
        """Add a written part to the list ``into``, unless an equal one is there, and return its position."""
        key = (kind, message.SerializeToString(deterministic=True))
        ordinal = self.ordinals.get(key)
        if ordinal is None:
            ordinal = self.ordinals[key] = len(into)
            into.add().CopyFrom(message)
        self.known[id(node)] = ordinal
        return ordinal
