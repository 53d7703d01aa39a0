"""Check a whole installed distribution."""

from __future__ import annotations

from lean_dojo_core import registry
from lean_dojo_core.installed import normalise
from lean_dojo_core.testing.formatters import DatasetFormatterSuite
from lean_dojo_core.testing.manifest import ManifestSuite
from lean_dojo_core.testing.rewards import RewardFunctionSuite
from lean_dojo_core.testing.suite import Finding, Suite, run_suite
from lean_dojo_core.testing.trainers import TrainerSuite

SUITES: dict[str, type[Suite]] = {
    "trainer": TrainerSuite,
    "dataset-formatter": DatasetFormatterSuite,
    "reward-function": RewardFunctionSuite,
}


def check_distribution(distribution: str) -> list[Finding]:
    """Run every check that needs no help from the author.

    Objects are made without options; of a trainer only the class is looked at, for nobody but its
    author can make one.

    Args:
        distribution: Its name as pip knows it.

    Returns:
        One finding per check, the manifest's first.
    """
    manifest = type(
        "Manifest", (ManifestSuite,), {"distribution": distribution, "name": distribution}
    )
    findings = run_suite(manifest)
    for kind, suite in SUITES.items():
        for entry in registry.REGISTRIES[kind].entries():
            if normalise(entry.distribution) == normalise(distribution):
                named = type("Named", (suite,), {"name": entry.qualified_name})
                findings.extend(run_suite(named, instance=suite is not TrainerSuite))
    return findings
