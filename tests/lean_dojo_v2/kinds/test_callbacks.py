"""The callback suite finds what it is for; a callback needs no learning library."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import attrs
import pytest

from lean_dojo_core.errors import PluginLoadError
from lean_dojo_core.testing import run_suite
from lean_dojo_v2.kinds import callbacks
from lean_dojo_v2.kinds.testing import CallbackSuite


@attrs.define
class Counting:
    """Counts the steps."""

    steps: int = attrs.field(default=0, metadata={"help": "Where to start."})

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.steps += 1


class Plain:
    """Has no constructor of its own, as most have not."""

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None: ...


class Deaf:
    """Has a word that is no method."""

    on_step_end = None

    def step_end(self) -> None: ...


class Demanding(Plain):
    """Wants a folder.

    Args:
        folder: Where to write.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder


class Undescribed:
    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None: ...


def callback_problems(made: type, *, instance: bool = True) -> dict[str, str]:
    class Named(CallbackSuite):
        name = "mine"

    with callbacks.override("mine", made):
        findings = run_suite(Named, instance=instance and Named.can_make(made))
        return {f.check: f.problem for f in findings if f.problem is not None}


@pytest.mark.parametrize("made", [Counting, Plain])
def test_a_good_callback_passes(made: type) -> None:
    assert callback_problems(made) == {}


@pytest.mark.parametrize(
    ("made", "check", "advice"),
    [
        (Deaf, "has_an_event", "it has no method on_…"),
        (Demanding, "needs_no_settings", "the settings folder have no default; give them one"),
        (Undescribed, "has_a_docstring", "has no docstring"),
    ],
)
def test_a_bad_callback_is_told_what_to_change(made: type, check: str, advice: str) -> None:
    found = callback_problems(made)
    assert list(found) == [check]
    assert advice in found[check]


def test_only_a_class_is_a_callback() -> None:
    with pytest.raises(PluginLoadError, match="it must be a class"):
        callbacks.override("mine", Plain()).__enter__()


def test_the_suite_imports_no_learning_library() -> None:
    code = (
        "import sys\n"
        "from lean_dojo_core.testing import run_suite\n"
        "from lean_dojo_v2.kinds import callbacks\n"
        "from lean_dojo_v2.kinds.testing import CallbackSuite\n"
        "class Mine(CallbackSuite): name = 'mine'\n"
        "class Plain:\n"
        "    'Does nothing.'\n"
        "    def on_log(self): ...\n"
        "with callbacks.override('mine', Plain):\n"
        "    assert not [found for found in run_suite(Mine) if found.problem]\n"
        "sys.exit(bool({'torch', 'transformers', 'pytorch_lightning'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
