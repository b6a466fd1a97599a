"""The releases, extensions and functions that this package supports, as the message ``Capabilities`` (until 0.81)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.types import UserDefined
from pyspark_substrait.sql import functions
from pyspark_substrait.sql.dialect import is_carried, supported_calls
from pyspark_substrait.sql.functions.registered import registered_table

__all__ = ["Capabilities", "SimpleExtension", "capabilities"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleExtension:
    """The supported parts of an extension.

    Args:
        urn: the extension.
        function_keys: the functions that run, with at least some of their options: ``add:i32_i32``.
        type_keys: its types that have a form in Spark.
        type_variation_keys: its type variations; they are kept, and computed as their base type.
    """

    urn: str
    function_keys: tuple[str, ...] = ()
    type_keys: tuple[str, ...] = ()
    type_variation_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Capabilities:
    """The supported releases, messages and extensions.

    Args:
        substrait_versions: the releases whose plans are read, the oldest first. The last one is written.
        advanced_extension_type_urls: the known messages in ``Any`` fields.
        simple_extensions: the extensions, with the supported parts of each.
    """

    substrait_versions: tuple[str, ...]
    advanced_extension_type_urls: tuple[str, ...]
    simple_extensions: tuple[SimpleExtension, ...]

    @property
    def written(self) -> str:
        """The release in whose format plans are written."""
        return self.substrait_versions[-1]

    def __repr__(self) -> str:
        oldest, extensions = self.substrait_versions[0], len(self.simple_extensions)
        return f"<Capabilities: plans of {oldest} to {self.written}, {extensions} extensions>"

    def to_json(self) -> str:
        """Return the message as indented JSON; extensions are named by their URN, where it had URIs."""
        return json.dumps(
            {
                "substraitVersions": self.substrait_versions,
                "advancedExtensionTypeUrls": self.advanced_extension_type_urls,
                "simpleExtensions": [
                    {
                        "uri": item.urn,
                        **({"functionKeys": item.function_keys} if item.function_keys else {}),
                        **({"typeKeys": item.type_keys} if item.type_keys else {}),
                        **({"typeVariationKeys": item.type_variation_keys} if item.type_variation_keys else {}),
                    }
                    for item in self.simple_extensions
                ],
            },
            indent=2,
        )


def capabilities(
    registry: Registry, first: tuple[int, int, int], last: tuple[int, int, int], type_urls: Sequence[str]
) -> Capabilities:
    """Collect the capabilities from the tables by which plans run.

    Args:
        registry: the extensions.
        first, last: the oldest release that is read, and the newest one.
        type_urls: the messages that reading knows; those with handlers in the registry follow them.
    """
    releases = tuple(f"{first[0]}.{minor}.0" for minor in range(first[1], last[1] + 1))
    extensions = (_extension(urn, registry) for urn in (*registry.urns(), *Registry.own_urns()))
    return Capabilities(
        substrait_versions=releases,
        advanced_extension_type_urls=tuple(dict.fromkeys((*type_urls, *registry.handled_type_urls()))),
        simple_extensions=tuple(extensions),
    )


def _extension(urn: str, registry: Registry) -> SimpleExtension:
    return SimpleExtension(
        urn=urn,
        function_keys=tuple(_functions(urn, registry)),
        type_keys=tuple(_types(urn, registry)),
        type_variation_keys=registry.variation_names(urn),
    )


def _functions(urn: str, registry: Registry) -> Iterator[str]:
    table = functions.table(urn) or registered_table(registry, urn)
    if table is None:
        return
    for name in registry.function_names(urn):
        for definition in registry.overloads(urn, name):
            if any(True for _ in supported_calls(definition, table)):
                yield definition.key


def _types(urn: str, registry: Registry) -> Iterator[str]:
    for name in registry.type_names(urn):
        definition = registry.type(urn, name)
        if is_carried(UserDefined(urn=urn, name=name, structure=None if definition is None else definition.structure)):
            yield name
