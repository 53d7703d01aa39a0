"""Conformance checks: subclass a suite in your tests, or run ``lean-dojo plugins check``.

A suite is a class of pytest tests that needs one thing, the name under which the object is
registered::

    from lean_dojo_core.testing import ManifestSuite, RewardFunctionSuite

    class TestManifest(ManifestSuite):
        distribution = "my-plugin"

    class TestShortness(RewardFunctionSuite):
        name = "shortness"

Override ``make`` where the object needs options. Every failure says what to change. pytest is not
needed to run them: :func:`run_suite` and :func:`check_distribution` return the findings as records.
"""

from lean_dojo_core.testing.formatters import DatasetFormatterSuite
from lean_dojo_core.testing.manifest import ManifestSuite, check_distribution
from lean_dojo_core.testing.rewards import RewardFunctionSuite
from lean_dojo_core.testing.samples import ODD_THEOREMS, SAMPLE_THEOREMS
from lean_dojo_core.testing.suite import ClassSuite, DescribedSuite, Finding, Suite, run_suite
from lean_dojo_core.testing.trainers import TrainerSuite

__all__ = [
    "ODD_THEOREMS",
    "SAMPLE_THEOREMS",
    "ClassSuite",
    "DatasetFormatterSuite",
    "DescribedSuite",
    "Finding",
    "ManifestSuite",
    "RewardFunctionSuite",
    "Suite",
    "TrainerSuite",
    "check_distribution",
    "run_suite",
]
