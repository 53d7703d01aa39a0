"""Descriptors, which a plugin's hook returns instead of the object itself.

A descriptor is a light, frozen record; its ``target`` is imported only when it is loaded,
so that listing every plugin costs no import of a learning library. The facts about a kind of
plugin are class variables of its descriptor.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, ClassVar

import attrs

from lean_dojo_core import protocols
from lean_dojo_core.errors import InvalidSpecError


def _text(accepts: Callable[[str], object], advice: str) -> Callable[..., None]:
    """Make a validator for a text, or for each text of a tuple."""

    def check(spec: PluginSpec, attribute: attrs.Attribute[Any], value: object) -> None:
        for text in value if isinstance(value, tuple) else (value,):
            if not isinstance(text, str) or not accepts(text):
                raise InvalidSpecError(f"{type(spec).__name__}.{attribute.name}: {text!r} {advice}")

    return check


_check_name = _text(
    re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*").fullmatch,
    "is not a name; use kebab-case: lower-case letters and digits, words joined by '-', a letter "
    "first ('my-reward')",
)
_check_target = _text(
    re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*").fullmatch,
    "is not of the form 'package.module:attribute'",
)
_check_summary = _text(
    lambda text: text.strip() and "\n" not in text,
    "should be one line that says what the plugin does",
)


def _columns() -> Any:
    """Make a field of column names; a bare name is one, not its letters."""
    return attrs.field(
        default=(),
        converter=lambda value: tuple(value) if isinstance(value, (list, tuple)) else (value,),
        validator=_text(str.isidentifier, "is not a column name; use an identifier ('prompt')"),
    )


@attrs.frozen(kw_only=True)
class PluginSpec:
    """Base class of all descriptors.

    Attributes:
        name: Kebab-case name, unique within its kind and distribution.
        target: ``"package.module:attribute"`` of the object, imported on use.
        summary: One line for listings.

    Raises:
        InvalidSpecError: For a bad name, target or summary.
    """

    kind: ClassVar[str] = "plugin"
    """Name of the kind, for example ``"reward-function"``."""
    scaffold: ClassVar[str]
    """The kind's name in ``lean-dojo plugins new``; also the folder of its templates."""
    protocol: ClassVar[type]
    """Protocol of the target, or of its instances."""
    is_class: ClassVar[bool] = False
    """Whether a target must be a class, whose constructor's parameters are the settings."""
    gives_rows: ClassVar[bool] = False
    """Whether it turns theorems into rows, which ``lean-dojo preview`` can show."""
    is_trained: ClassVar[bool] = False
    """Whether ``lean-dojo train`` runs it, so that its settings file says what to train on."""

    name: str = attrs.field(validator=_check_name)
    target: str = attrs.field(validator=_check_target)
    summary: str = attrs.field(validator=_check_summary)

    @classmethod
    def plural(cls) -> str:
        """Return the name of the kind's registry, for example ``"reward_functions"``."""
        return f"{cls.kind.replace('-', '_')}s"

    @classmethod
    def hook(cls) -> str:
        """Return the name of the hook that offers it, ``"lean_dojo_reward_functions"``."""
        return f"lean_dojo_{cls.plural()}"

    @classmethod
    def suite(cls) -> str:
        """Return the name of its conformance suite in ``lean_dojo_core.testing``."""
        return f"{cls.protocol.__name__}Suite"

    @classmethod
    def problem_with(cls, target: Any) -> str | None:
        """Return what is wrong with a target; ``None`` if nothing is.

        It, or an instance of it if it is a class, must have all methods of the protocol.
        """
        wanted = [
            name
            for name, member in vars(cls.protocol).items()
            if inspect.isfunction(member) and (name == "__call__" or not name.startswith("_"))
        ]
        missing = [name for name in wanted if not _has(target, name)]
        if missing == ["__call__"]:
            return "it must be callable, or a class with __call__"
        if missing:
            return f"it needs the method(s) {', '.join(missing)}"
        return "it must be a class" if cls.is_class and not inspect.isclass(target) else None


def _has(target: Any, method: str) -> bool:
    if inspect.isclass(target):
        # Every class is callable through its metaclass; only its own __call__ counts.
        return any(method in vars(base) for base in target.__mro__)
    return callable(getattr(target, method, None))


@attrs.frozen(kw_only=True)
class TrainerSpec(PluginSpec):
    """Describes a trainer: an objective with ``train(repos, database, data_path)``.

    Attributes:
        required_columns: Columns that its dataset formatter must give; empty if it needs none.
        default_formatter: Name of the formatter that it uses by default; ``None`` if it
            reads its data in another way.
        prover: Name of the prover that proves with what it trained; ``None`` if none does.
    """

    kind: ClassVar = "trainer"
    scaffold: ClassVar = "trainer"
    protocol: ClassVar = protocols.Trainer
    is_class: ClassVar = True
    gives_rows: ClassVar = True
    is_trained: ClassVar = True

    required_columns: tuple[str, ...] = _columns()
    default_formatter: str | None = None
    prover: str | None = None


@attrs.frozen(kw_only=True)
class DatasetFormatterSpec(PluginSpec):
    """Describes a dataset formatter: one traced theorem in, rows of a dataset out.

    Attributes:
        columns: The columns of its rows.
    """

    kind: ClassVar = "dataset-formatter"
    scaffold: ClassVar = "formatter"
    protocol: ClassVar = protocols.DatasetFormatter
    gives_rows: ClassVar = True

    columns: tuple[str, ...] = _columns()


@attrs.frozen(kw_only=True)
class RewardFunctionSpec(PluginSpec):
    """Describes a reward function: TRL's keyword call, one number per completion.

    ``target`` may be the function itself, or a class whose instances are the function; a class is
    instantiated with the options that the user gives (none by default).

    Attributes:
        required_columns: Dataset columns that it reads from its keyword arguments.
        needs_lean: Whether it needs a Lean engine.
    """

    kind: ClassVar = "reward-function"
    scaffold: ClassVar = "reward"
    protocol: ClassVar = protocols.RewardFunction

    required_columns: tuple[str, ...] = _columns()
    needs_lean: bool = False


class CallbackSpec(PluginSpec):
    """Describes a callback: a class whose instances receive a trainer's events."""

    kind: ClassVar = "callback"
    scaffold: ClassVar = "callback"
    protocol: ClassVar = protocols.Callback
    is_class: ClassVar = True


@attrs.frozen(kw_only=True)
class ProverSpec(PluginSpec):
    """Describes a prover: a class whose instances find proofs, which Lean then verifies in full.

    The constructor takes the limits of the search as ``config``; its other parameters are the
    settings.

    Attributes:
        model_setting: The setting that names its model, which ``lean-dojo prove --model`` sets;
            ``None`` if it has no model.
    """

    kind: ClassVar = "prover"
    scaffold: ClassVar = "prover"
    protocol: ClassVar = protocols.Prover
    is_class: ClassVar = True

    model_setting: str | None = None


class BenchmarkSpec(PluginSpec):
    """Describes a benchmark: a class whose instances provide theorems to prove."""

    kind: ClassVar = "benchmark"
    scaffold: ClassVar = "benchmark"
    protocol: ClassVar = protocols.Benchmark
    is_class: ClassVar = True


class CommandSpec(PluginSpec):
    """Describes a command: a click command, mounted as ``lean-dojo NAME``."""

    kind: ClassVar = "command"
    scaffold: ClassVar = "command"
    protocol: ClassVar = protocols.Command
