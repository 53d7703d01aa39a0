"""The conformance suite of trainers."""

import inspect
import tempfile
from pathlib import Path
from typing import Any

from lean_dojo_core import registry
from lean_dojo_core.installed import HOST_DISTRIBUTION, installed_version
from lean_dojo_core.settings import settings_of
from lean_dojo_core.testing.suite import ClassSuite, explained

HOST = installed_version(HOST_DISTRIBUTION)
"""The host's version; ``None`` where only the contract is installed."""


class TrainerSuite(ClassSuite):
    """Checks of a trainer.

    Set ``name`` and override ``make_in`` to make a trainer that writes to a folder. Whether it
    trains is for your own tests: it needs data and a model.
    """

    entries = registry.trainers

    @classmethod
    def can_make(cls, target: Any) -> bool:  # noqa: ARG003 - only the author can
        """Always false: a trainer needs a model and a folder."""
        return False

    def make_in(self, output_dir: Path) -> Any:
        """Make a trainer that writes to ``output_dir``; override this."""
        raise AssertionError(
            f"override make_in(self, output_dir) in {type(self).__name__} to make a trainer that "
            f"writes to {output_dir.name}"
        )

    def test_train_takes_the_documented_arguments(self) -> None:
        """``train(repos, database, data_path)`` works by position and by keyword."""
        signature = inspect.signature(self.target.train)
        with explained(
            f"train{signature} cannot be called like this",
            "write train(self, repos, database, data_path) and give every further parameter a "
            "default",
        ):
            signature.bind(None, [], None, Path())
            signature.bind(None, repos=[], database=None, data_path=Path())

    def test_has_an_output_dir(self) -> None:
        """The command line and agents look for the result in ``output_dir``."""
        names = {setting.name for setting in settings_of(self.target)}
        assert "output_dir" in names or hasattr(self.target, "output_dir"), (
            "it has no output_dir; add a setting of that name for the folder of the result"
        )

    def test_default_formatter_gives_its_columns(self) -> None:
        """The descriptor's formatter exists and has the columns that the trainer needs."""
        spec = self.entry.spec
        if spec.default_formatter is None:
            assert not spec.required_columns, (
                f"it requires the columns {spec.required_columns} but names no default_formatter; "
                "name one in its descriptor"
            )
            return
        if spec.default_formatter not in registry.dataset_formatters and not HOST:
            return  # one of the built-ins, which are not installed here
        formatter = registry.dataset_formatters[spec.default_formatter]
        lacking = set(spec.required_columns) - set(formatter.spec.columns)
        assert not lacking, (
            f"its default formatter {spec.default_formatter!r} has no column {sorted(lacking)}; "
            "correct required_columns or default_formatter in its descriptor"
        )

    def test_its_prover_is_there(self) -> None:
        """The prover that the descriptor names is installed."""
        name, provers = self.entry.spec.prover, registry.registries().get("prover")
        assert name is None or provers is None or name in provers, (
            f"its prover {name!r} is not installed; correct `prover` in its descriptor"
        )

    def test_constructing_writes_nothing(self) -> None:
        """A constructor is cheap: it checks values; the model is loaded on first use."""
        with tempfile.TemporaryDirectory() as folder:
            output_dir = Path(folder) / "output"
            trainer = self.make_in(output_dir)
            names = {setting.name for setting in settings_of(type(trainer))}
            assert "output_dir" not in names or Path(trainer.output_dir) == output_dir, (
                f"output_dir is {trainer.output_dir!r} instead of the one asked for"
            )
            assert not output_dir.exists() or not any(output_dir.iterdir()), (
                "its constructor writes files; write in train(), so that --dry-run changes nothing"
            )
