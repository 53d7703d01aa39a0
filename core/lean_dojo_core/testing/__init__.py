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

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
