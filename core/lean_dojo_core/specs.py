"""Descriptors: what a plugin's hook returns instead of the object itself.

A descriptor is a light, frozen record; its ``target`` is imported only when somebody loads it,
so that listing every plugin costs no import of a learning library.
"""

from __future__ import annotations

from typing import ClassVar

import attrs

from lean_dojo_core.errors import InvalidSpecError


def _check_name(spec: PluginSpec, attribute: attrs.Attribute[str], value: object) -> None:
    if not isinstance(value, str) or not _is_kebab_case(value):
        raise InvalidSpecError(
            f"{type(spec).__name__}.{attribute.name}: {value!r} is not a name; use kebab-case: "
            "lower-case letters and digits, words joined by '-', a letter first ('my-reward')"
        )


def _is_kebab_case(name: str) -> bool:
    words = name.split("-")
    return (
        name.isascii()
        and name == name.lower()
        and name[:1].isalpha()
        and all(word.isalnum() for word in words)
    )


def _is_target(text: str) -> bool:
    module, _, attribute = text.partition(":")
    return all(part.isidentifier() for part in (*module.split("."), *attribute.split(".")))


def _check_target(spec: PluginSpec, attribute: attrs.Attribute[str], value: object) -> None:
    if not isinstance(value, str) or not _is_target(value):
        raise InvalidSpecError(
            f"{type(spec).__name__}.{attribute.name}: {value!r} is not of the form "
            "'package.module:attribute'"
        )


def _check_summary(spec: PluginSpec, attribute: attrs.Attribute[str], value: object) -> None:
    if not isinstance(value, str) or not value.strip() or "\n" in value:
        raise InvalidSpecError(
            f"{type(spec).__name__}.{attribute.name}: {value!r} should be one line that says what "
            "the plugin does"
        )


def _check_columns(
    spec: PluginSpec, attribute: attrs.Attribute[tuple[str, ...]], value: tuple[object, ...]
) -> None:
    for column in value:
        if not isinstance(column, str) or not column.isidentifier():
            raise InvalidSpecError(
                f"{type(spec).__name__}.{attribute.name}: {column!r} is not a column name; "
                "use an identifier such as 'prompt'"
            )


def _columns_tuple(value: object) -> tuple[object, ...]:
    """A bare string would silently become its letters; keep it whole for the validator."""
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, (list, tuple, set, frozenset)) else (value,)


@attrs.frozen(kw_only=True)
class PluginSpec:
    """What all descriptors share.

    Attributes:
        name: Kebab-case name, unique within its kind and distribution.
        target: ``"package.module:attribute"`` of the object, imported on use.
        summary: One line for listings.

    Raises:
        InvalidSpecError: For a bad name, target or summary.
    """

    kind: ClassVar[str] = "plugin"

    name: str = attrs.field(validator=_check_name)
    target: str = attrs.field(validator=_check_target)
    summary: str = attrs.field(validator=_check_summary)


@attrs.frozen(kw_only=True)
class TrainerSpec(PluginSpec):
    """Describes a trainer: an objective with ``train(repos, database, data_path)``.

    Attributes:
        required_columns: Columns that its dataset formatter must give; empty if it needs none.
        default_formatter: Name of the formatter it uses unless told otherwise; ``None`` if it
            reads its data in another way.
        prover: Name of the prover that proves with what it trained; ``None`` if none does.

    >>> TrainerSpec(name="sft", target="pkg.sft:SFTTrainer", summary="Supervised fine-tuning.").name
    'sft'
    >>> TrainerSpec(name="SFT!", target="pkg.sft:SFTTrainer", summary="x")
    Traceback (most recent call last):
    lean_dojo_core.errors.InvalidSpecError: TrainerSpec.name: 'SFT!' is not a name; ...
    """

    kind: ClassVar[str] = "trainer"

    required_columns: tuple[str, ...] = attrs.field(
        default=(), converter=_columns_tuple, validator=_check_columns
    )
    default_formatter: str | None = None
    prover: str | None = None


@attrs.frozen(kw_only=True)
class DatasetFormatterSpec(PluginSpec):
    """Describes a dataset formatter: one traced theorem in, rows of a dataset out.

    Attributes:
        columns: The columns of its rows.
    """

    kind: ClassVar[str] = "dataset-formatter"

    columns: tuple[str, ...] = attrs.field(
        default=(), converter=_columns_tuple, validator=_check_columns
    )


@attrs.frozen(kw_only=True)
class RewardFunctionSpec(PluginSpec):
    """Describes a reward function: TRL's keyword call, one number per completion.

    ``target`` may be the function itself, or a class whose instances are the function; a class is
    instantiated with the options that the user gives (none by default).

    Attributes:
        required_columns: Dataset columns that it reads from its keyword arguments.
        needs_lean: Whether it talks to a Lean engine.
    """

    kind: ClassVar[str] = "reward-function"

    required_columns: tuple[str, ...] = attrs.field(
        default=(), converter=_columns_tuple, validator=_check_columns
    )
    needs_lean: bool = False


@attrs.frozen(kw_only=True)
class ProverSpec(PluginSpec):
    """Describes a prover: a class whose instances find proofs, which Lean then checks as a whole.

    The constructor takes the limits of the search as ``config``; its other parameters are the
    settings.

    Attributes:
        model_setting: The setting that names its model, which ``lean-dojo prove --model`` sets;
            ``None`` if it has no model.
    """

    kind: ClassVar[str] = "prover"

    model_setting: str | None = None


@attrs.frozen(kw_only=True)
class BenchmarkSpec(PluginSpec):
    """Describes a benchmark: a class whose instances give theorems to prove, and where they stand.

    Attributes:
        needs: What its theorems import besides Lean's core, for example ``("Mathlib",)``.
    """

    kind: ClassVar[str] = "benchmark"

    needs: tuple[str, ...] = attrs.field(
        default=(), converter=_columns_tuple, validator=_check_columns
    )


@attrs.frozen(kw_only=True)
class CommandSpec(PluginSpec):
    """Describes a command: a click command, mounted as ``lean-dojo NAME``."""

    kind: ClassVar[str] = "command"
