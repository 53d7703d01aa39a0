"""Check a whole installed distribution."""

from __future__ import annotations

from collections.abc import Iterator

from lean_dojo_core import registry
from lean_dojo_core.discovery import import_target
from lean_dojo_core.errors import PluginLoadError
from lean_dojo_core.installed import normalise
from lean_dojo_core.kinds import KINDS
from lean_dojo_core.testing.manifest import ManifestSuite
from lean_dojo_core.testing.suite import Finding, Guard, iter_suite, unguarded


def check_distribution(distribution: str, guard: Guard = unguarded) -> Iterator[Finding]:
    """Run every check that needs no help from the author.

    Objects are made without options; where nobody but the author can make one (a trainer, whatever
    has required settings) only the class is looked at.

    Args:
        distribution: Its name as pip knows it; a file's name for a plugin that is one file.
        guard: Runs each check; it may give up on an object.

    Yields:
        One finding per check as soon as it is known, the manifest's first.
    """
    settings = {"distribution": distribution, "name": distribution}
    if not distribution.endswith(".py"):  # a file is no distribution
        yield from iter_suite(type("Manifest", (ManifestSuite,), settings), guard=guard)
    for kind, entries in registry.REGISTRIES.items():
        suite = import_target(f"lean_dojo_core.testing:{KINDS[kind].suite}")
        for entry in entries.entries():
            if normalise(entry.distribution) == normalise(distribution):
                named = type("Named", (suite,), {"name": entry.qualified_name})
                try:
                    instance = suite.can_make(entry.load())
                except PluginLoadError:  # the manifest's finding says why
                    continue
                yield from iter_suite(named, instance=instance, guard=guard)
