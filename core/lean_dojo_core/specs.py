"""Descriptors, which a plugin's hook yields in place of the objects themselves.

A descriptor is a light, frozen record; its ``target`` is imported only when it is loaded,
so listing every plugin imports no learning library. Everything specific to a kind of plugin is a
class variable of its descriptor, so a new kind is a new subclass.
"""

import inspect
import re
from collections.abc import Callable
from typing import Any, ClassVar

import attrs

from lean_dojo_core import protocols
from lean_dojo_core.errors import InvalidSpecError


def _text(accepts: Callable[[str], object], advice: str) -> Callable[..., None]:
    """Make a validator for a text, or for each text of a tuple."""

    def check(spec: object, attribute: "attrs.Attribute[Any]", value: object) -> None:
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
    protocol: ClassVar[type] = object
    """Protocol of the target, or of its instances."""
    suite: ClassVar[str] = "lean_dojo_core.testing:DescribedSuite"
    """Its conformance suite, as ``"module:attribute"``."""
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
        return None


def _has(target: Any, method: str) -> bool:
    if inspect.isclass(target):
        # Every class is callable through its metaclass; only its own __call__ counts.
        return any(method in vars(base) for base in target.__mro__)
    return callable(getattr(target, method, None))


@attrs.frozen(kw_only=True)
class ClassSpec(PluginSpec):
    """Base class of the descriptors of classes: the constructor's parameters are the settings."""

    suite: ClassVar[str] = "lean_dojo_core.testing:ClassSuite"

    @classmethod
    def problem_with(cls, target: Any) -> str | None:
        """Return what is wrong with a target, which must be a class; ``None`` if nothing is."""
        problem = super().problem_with(target)
        return problem or (None if inspect.isclass(target) else "it must be a class")


@attrs.frozen(kw_only=True)
class TrainerSpec(ClassSpec):
    """Describes a trainer: an objective with ``train(repos, database, data_path)``.

    Attributes:
        required_columns: Columns that its dataset formatter must have; empty if it needs none.
        default_formatter: Name of the formatter that it uses by default; ``None`` if it
            reads its data in another way.
        prover: Name of the prover that proves with what it trained; ``None`` if none does.
    """

    kind: ClassVar = "trainer"
    protocol: ClassVar = protocols.Trainer
    suite: ClassVar = "lean_dojo_core.testing:TrainerSuite"
    gives_rows: ClassVar = True
    is_trained: ClassVar = True

    required_columns: tuple[str, ...] = _columns()
    default_formatter: str | None = None
    prover: str | None = None


@attrs.frozen(kw_only=True)
class DatasetFormatterSpec(PluginSpec):
    """Describes a dataset formatter: one traced theorem in, rows with its ``columns`` out."""

    kind: ClassVar = "dataset-formatter"
    protocol: ClassVar = protocols.DatasetFormatter
    suite: ClassVar = "lean_dojo_core.testing:DatasetFormatterSuite"
    gives_rows: ClassVar = True

    columns: tuple[str, ...] = _columns()


@attrs.frozen(kw_only=True)
class RewardFunctionSpec(PluginSpec):
    """Describes a reward function: TRL's keyword call, one number per completion.

    ``target`` may be the function itself, or a class whose instances are the function; a class is
    instantiated with the options that the user sets (none by default).

    Attributes:
        required_columns: Dataset columns that it reads from its keyword arguments.
        needs_lean: Whether it needs a Lean engine.
    """

    kind: ClassVar = "reward-function"
    protocol: ClassVar = protocols.RewardFunction
    suite: ClassVar = "lean_dojo_core.testing:RewardFunctionSuite"

    required_columns: tuple[str, ...] = _columns()
    needs_lean: bool = False
