"""What mkdocstrings gets to see of the code.

Docstrings become Markdown: roles (``:func:`load```) are references then, and pages of the specification are links.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Alias, Extension, Module, NameResolutionError, Object

_ROLE = re.compile(r":(?:attr|class|data|exc|func|meth|mod):`~?([\w.]+)`")
_SPECIFICATION = re.compile(r"\bSpec: ([a-z_]+/[a-z_]+(?:, [a-z_]+/[a-z_]+)*)")
_SEVERAL = re.compile(r"^( +)(\w+(?:, \w+)+)(: .*(?:\n\1 .*)*)", re.MULTILINE)


class Readable(Extension):
    """Rewrites the docstring of each object that is read."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring is None:
            return
        text = _ROLE.sub(lambda role: _reference(role[1], obj), obj.docstring.value)
        text = _SPECIFICATION.sub(_pages, text)
        introduction, title, below = text.partition("Args:\n")
        obj.docstring.value = introduction + title + _SEVERAL.sub(_one_each, below)

    def on_package(self, *, pkg: Module, **_: Any) -> None:
        """``read = Frame.read`` makes a function of a module: it is documented as the method is."""
        builder = pkg["builder"]
        for name, attribute in list(builder.attributes.items()):
            owner, _dot, method = str(attribute.value).partition(".")
            if owner in builder.classes and method:
                builder.set_member(name, Alias(name, builder[owner].all_members[method].final_target))


def _reference(name: str, seen_from: Object) -> str:
    """A reference that is plain text where no page has the thing."""
    try:
        target = seen_from.resolve(name)
    except NameResolutionError:
        target = name
    return f'<autoref optional identifier="{target}">`{name.rpartition(".")[2]}`</autoref>'


def _pages(found: re.Match[str]) -> str:
    links = (f"[{page}](https://substrait.io/{page}/)" for page in found[1].split(", "))
    return f"Specification: {', '.join(links)}"


def _one_each(found: re.Match[str]) -> str:
    """What is said of several arguments at once, said of each."""
    indent, names, said = found.groups()
    return "\n".join(f"{indent}{name}{said}" for name in names.split(", "))
