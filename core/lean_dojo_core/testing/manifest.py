"""Checks of a distribution: manifests, descriptors and the objects they offer."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, ClassVar

from lean_dojo_core import registry
from lean_dojo_core.discovery import PluginInfo, import_target
from lean_dojo_core.errors import PluginLoadError
from lean_dojo_core.installed import HOST_DISTRIBUTION, host_requirements, normalise
from lean_dojo_core.testing.suite import Finding, Suite, run_suite

HEAVY = (
    "accelerate", "datasets", "jax", "numpy", "pandas", "peft", "pytorch_lightning", "ray",
    "tokenizers", "torch", "transformers", "trl", "vllm",
)  # fmt: skip
"""Libraries that a manifest must not import, since every listing would wait for them."""

SUMMARY_LENGTH = 80

_PROBE = """
import importlib, json, sys
for name in sys.argv[2:]:
    importlib.import_module(name)
print("\\0" + json.dumps([name for name in sys.argv[1].split(",") if name in sys.modules]))
"""


class ManifestSuite(Suite):
    """Checks of a distribution: its entry points, manifests and descriptors.

    Set ``distribution`` to the name under which pip knows it.
    """

    distribution: ClassVar[str] = ""

    def plugins(self) -> list[PluginInfo]:
        """Return the distribution's plugins, which are tested."""
        assert self.distribution, f"set `distribution` in {type(self).__name__}"
        wanted = normalise(self.distribution)
        found = [
            info for info in registry.current().plugins if normalise(info.distribution) == wanted
        ]
        assert found, (
            f"{self.distribution} has no entry point in the group 'lean_dojo', or is not installed "
            "here; add [project.entry-points.lean_dojo] to its pyproject.toml and install it"
        )
        return found

    make = plugins

    def test_every_plugin_is_active(self) -> None:
        """Every entry point loads and every hook yields descriptors."""
        broken = [f"{p.name}: {p.error}" for p in self.plugins() if p.status != "active"]
        assert not broken, "; ".join(broken)

    def test_manifest_is_light(self) -> None:
        """Importing the manifests imports no learning library; a single file may."""
        if self.distribution.endswith(".py"):
            return
        modules = [info.value.partition(":")[0] for info in self.plugins()]
        probe = subprocess.run(
            [sys.executable, "-c", _PROBE, ",".join(HEAVY), *modules],
            capture_output=True,
            text=True,
            check=False,
        )
        assert probe.returncode == 0, (
            f"importing {', '.join(modules)} fails: {probe.stderr.strip().splitlines()[-1:]}"
        )
        printed, _, found = probe.stdout.partition("\0")
        heavy = json.loads(found)
        assert not heavy, (
            f"importing {', '.join(modules)} imports {', '.join(heavy)}; keep implementation and "
            "manifest in different modules and name the implementation in a descriptor's target"
        )
        assert not printed, f"its import prints {printed[:60]!r}; print nothing, or to stderr"

    def test_bounds_the_host_version(self) -> None:
        """``Requires-Dist`` names the host with an upper bound, for pip."""
        if normalise(self.distribution) == HOST_DISTRIBUTION or self.distribution.endswith(".py"):
            return
        mine = host_requirements(self.distribution)
        operators = {part.operator for found in mine for part in found.specifier}
        assert operators & {"<", "<=", "~=", "==", "==="}, (
            f"it requires {', '.join(map(str, mine)) or 'no ' + HOST_DISTRIBUTION}; write "
            f"dependencies = ['{HOST_DISTRIBUTION}>=2.0,<3'], so that pip refuses another major "
            "version instead of a traceback at run time"
        )

    def test_summaries_fit_a_listing(self) -> None:
        """Every summary is one short line."""
        for entry in _entries(self.distribution):
            assert len(entry.spec.summary) <= SUMMARY_LENGTH, (
                f"the summary of {entry.spec.kind} {entry.name!r} has {len(entry.spec.summary)} "
                f"characters; use at most {SUMMARY_LENGTH}"
            )

    def test_names_are_its_own(self) -> None:
        """No other installed distribution offers the same name."""
        for entry in _entries(self.distribution):
            others = [
                other.qualified_name
                for other in registry.registries()[entry.spec.kind].entries()
                if other.name == entry.name and other.plugin != entry.plugin
            ]
            assert not others, (
                f"{entry.spec.kind} {entry.name!r} is also {', '.join(others)}; choose another "
                "name, or users must write distribution:name"
            )

    def test_targets_load(self) -> None:
        """Every descriptor's target can be imported and fits its kind."""
        for entry in _entries(self.distribution):
            entry.load()


def check_distribution(distribution: str, timeout: float | None = None) -> Iterator[Finding]:
    """Run every check that needs no help from the author.

    Objects are made without options; if that is impossible (a trainer, an object with required
    settings), only the class is checked.

    The distribution is named as pip knows it, or as a file. Yields one finding per check, the
    manifest's first. A check of an object that takes more than ``timeout`` seconds is its last.
    """
    manifest = type("M", (ManifestSuite,), {"distribution": distribution, "name": distribution})
    yield from run_suite(manifest, timeout=timeout)
    for entry in _entries(distribution):
        suite = import_target(entry.spec.suite)
        kind: registry.Registry[Any, Any] = registry.Registry(type(entry.spec))
        named = type("Named", (suite,), {"name": entry.qualified_name, "entries": kind})
        try:
            instance = suite.can_make(entry.load())
        except PluginLoadError:  # the manifest's finding says why
            continue
        yield from run_suite(named, instance=instance, timeout=timeout)


def _entries(distribution: str) -> list[registry.Entry[Any, Any]]:
    return [
        entry
        for entries in registry.registries().values()
        for entry in entries.entries()
        if normalise(entry.distribution) == normalise(distribution)
    ]
