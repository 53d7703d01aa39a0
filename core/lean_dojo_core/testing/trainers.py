"""The conformance suite of trainers."""

from __future__ import annotations

import inspect
import tempfile
from pathlib import Path
from typing import Any

from lean_dojo_core import registry
from lean_dojo_core.settings import settings_of
from lean_dojo_core.testing.suite import Suite, docstring_problem

STRANGE = "no_trainer_has_this_setting"


class TrainerSuite(Suite):
    """Checks of a trainer.

    Set ``name`` and override ``make_in`` to make a trainer that writes to a folder. Whether it
    trains is for your own tests: it needs data and a model.

    >>> from lean_dojo_core import registry
    >>> from lean_dojo_core.testing import run_suite
    >>> class TestMine(TrainerSuite):
    ...     name = "mine"
    >>> class Mine:
    ...     def train(self, repos): ...
    >>> with registry.trainers.override("mine", Mine):
    ...     problems = [f.check for f in run_suite(TestMine, instance=False) if f.problem]
    >>> "train_takes_the_documented_arguments" in problems
    True
    """

    _registry = registry.trainers
    without_instance = (
        "test_has_a_docstring",
        "test_train_takes_the_documented_arguments",
        "test_settings_are_typed",
        "test_settings_have_help",
        "test_has_an_output_dir",
        "test_refuses_unknown_settings",
        "test_default_formatter_gives_its_columns",
    )

    def make_in(self, output_dir: Path) -> Any:
        """Make a trainer that writes to ``output_dir``; override it."""
        raise AssertionError(
            f"override make_in(self, output_dir) in {type(self).__name__} to make a trainer that "
            f"writes to {output_dir.name}"
        )

    @property
    def trainer_class(self) -> Any:
        """The registered class."""
        return self.entry.load()

    def test_has_a_docstring(self) -> None:
        """The class says what it trains, and how."""
        problem = docstring_problem(self.trainer_class)
        assert problem is None, problem

    def test_train_takes_the_documented_arguments(self) -> None:
        """``train(repos, database, data_path)``, by position and by keyword, and no more needed."""
        signature = inspect.signature(self.trainer_class.train)
        try:
            signature.bind(None, [], None, Path())
            signature.bind(None, repos=[], database=None, data_path=Path())
        except TypeError as error:
            raise AssertionError(
                f"train{signature}: {error}; write train(self, repos, database, data_path) and "
                "give every further parameter a default"
            ) from error

    def test_settings_are_typed(self) -> None:
        """YAML files and ``--set`` are checked against the annotations."""
        loose = [
            setting.name for setting in settings_of(self.trainer_class) if not setting.resolved
        ]
        assert not loose, (
            f"the annotations of {', '.join(loose)} are missing or cannot be resolved; annotate "
            "each setting, and import the names at module level, not under TYPE_CHECKING"
        )

    def test_settings_have_help(self) -> None:
        """``lean-dojo show`` explains every setting."""
        silent = [setting.name for setting in settings_of(self.trainer_class) if not setting.help]
        assert not silent, (
            f"the settings {', '.join(silent)} have no help; add "
            "attrs.field(metadata={'help': '…'}), or an 'Args:' section to the docstring"
        )

    def test_has_an_output_dir(self) -> None:
        """The command line and agents look for the result there."""
        names = {setting.name for setting in settings_of(self.trainer_class)}
        assert "output_dir" in names or hasattr(self.trainer_class, "output_dir"), (
            "it has no output_dir; add a setting of that name, the folder that the result lies in"
        )

    def test_refuses_unknown_settings(self) -> None:
        """A misspelt setting must not be swallowed."""
        required = {s.name: None for s in settings_of(self.trainer_class) if s.required}
        try:
            self.trainer_class(**required, **{STRANGE: 1})
        except (TypeError, ValueError) as error:
            said = str(error)
        else:
            raise AssertionError("it swallows unknown settings; take no **kwargs")
        assert STRANGE in said, (
            f"with an unknown setting it says {said}; check names before values (an attrs class, "
            "or a constructor without **kwargs, does)"
        )

    def test_default_formatter_gives_its_columns(self) -> None:
        """The descriptor's formatter exists and gives the columns that the trainer needs."""
        spec = self.entry.spec
        if spec.default_formatter is None:
            assert not spec.required_columns, (
                f"it requires the columns {spec.required_columns} but names no default_formatter; "
                "name one in its descriptor"
            )
            return
        formatter = registry.dataset_formatters[spec.default_formatter]
        lacking = set(spec.required_columns) - set(formatter.spec.columns)
        assert not lacking, (
            f"its default formatter {spec.default_formatter!r} does not give {sorted(lacking)}; "
            "correct required_columns or default_formatter in its descriptor"
        )

    def test_constructing_writes_nothing(self) -> None:
        """A constructor is cheap: it checks values; the model is loaded on first use."""
        with tempfile.TemporaryDirectory() as folder:
            output_dir = Path(folder) / "output"
            trainer = self.make_in(output_dir)
            names = {setting.name for setting in settings_of(type(trainer))}
            assert "output_dir" not in names or Path(trainer.output_dir) == output_dir, (
                f"output_dir is {trainer.output_dir!r} instead of what was asked for"
            )
            assert not output_dir.exists() or not any(output_dir.iterdir()), (
                "its constructor writes files; write in train(), so that --dry-run changes nothing"
            )
