"""The contract of LeanDojo-v2's plugins: hooks, descriptors, protocols, registries, records.

What listing plugins does not need is imported on first use.
"""

from typing import TYPE_CHECKING, Any

from lean_dojo_core import errors, registry
from lean_dojo_core.discovery import PluginInfo
from lean_dojo_core.errors import (
    ConfigError,
    DataError,
    LeanDojoError,
    PluginError,
    UsageError,
)
from lean_dojo_core.hookspecs import API_VERSION, hookimpl, hookspec
from lean_dojo_core.protocols import (
    ChecksData,
    Closes,
    Database,
    DatasetFormatter,
    Evaluates,
    FormatsWholeProofs,
    GivesFeedback,
    HasOwnData,
    Locates,
    Message,
    Preflights,
    Previews,
    Proves,
    Repository,
    RewardFunction,
    Row,
    TracedRepository,
    Trainer,
    WarmsUp,
    formats_whole_proofs,
)
from lean_dojo_core.registry import Entry, Registry
from lean_dojo_core.specs import (
    ClassSpec,
    DatasetFormatterSpec,
    PluginSpec,
    RewardFunctionSpec,
    TrainerSpec,
)

if TYPE_CHECKING:
    from lean_dojo_core.records import (
        Annotation,
        BenchmarkProblem,
        Evaluation,
        Position,
        Premise,
        PremiseFile,
        PreviewExample,
        PreviewToken,
        Span,
        Theorem,
        TracedTactic,
        contains_sorry,
        remove_marks,
    )
    from lean_dojo_core.settings import Setting, settings_of
else:

    def __getattr__(name: str) -> Any:
        """Import the records and the reading of settings when they are used."""
        if name in __all__:
            from lean_dojo_core import records, settings

            return getattr(records if hasattr(records, name) else settings, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return __all__


__all__ = [
    "API_VERSION",
    "Annotation",
    "BenchmarkProblem",
    "ChecksData",
    "ClassSpec",
    "Closes",
    "ConfigError",
    "DataError",
    "Database",
    "DatasetFormatter",
    "DatasetFormatterSpec",
    "Entry",
    "Evaluates",
    "Evaluation",
    "FormatsWholeProofs",
    "GivesFeedback",
    "HasOwnData",
    "LeanDojoError",
    "Locates",
    "Message",
    "PluginError",
    "PluginInfo",
    "PluginSpec",
    "Position",
    "Preflights",
    "Premise",
    "PremiseFile",
    "PreviewExample",
    "PreviewToken",
    "Previews",
    "Proves",
    "Registry",
    "Repository",
    "RewardFunction",
    "RewardFunctionSpec",
    "Row",
    "Setting",
    "Span",
    "Theorem",
    "TracedRepository",
    "TracedTactic",
    "Trainer",
    "TrainerSpec",
    "UsageError",
    "WarmsUp",
    "contains_sorry",
    "errors",
    "formats_whole_proofs",
    "hookimpl",
    "hookspec",
    "registry",
    "remove_marks",
    "settings_of",
]
