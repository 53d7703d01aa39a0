"""The program in this process, a trainer without learning libraries, and a real database."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

import lean_dojo_v2
from lean_dojo_core import registry
from lean_dojo_v2.cli import main

SAMPLE = Path(lean_dojo_v2.__file__).parent / "sample" / "traced" / "sample.json"


@attrs.frozen
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def lean_dojo(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run the program in this process."""

    def run(*arguments: str | Path) -> Ran:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run


@attrs.define
class Inner:
    """Settings within a setting."""

    r: int = 8
    modules: list[str] | None = None


@attrs.define(slots=False, eq=False)
class Toy:
    """Counts instead of training.

    It records what it was asked to do in its folder.

    Attributes:
        steps: How far to count.
    """

    model_name: str = attrs.field(metadata={"help": "Any text."})
    output_dir: Path = attrs.field(default=Path("out"), metadata={"help": "Folder of the result."})
    steps: int = 3
    lr: float = attrs.field(
        default=1e-3, metadata={"help": "Step size."}, validator=attrs.validators.gt(0.0)
    )
    inner: Inner | None = None
    resume: bool = attrs.field(default=True, kw_only=True, metadata={"help": "Go on."})
    formatter: str = attrs.field(default="tactic-chat", kw_only=True, metadata={"help": "Rows."})

    def train(self, repos: Any, database: Any, data_path: Path) -> None:
        if self.model_name == "interrupted":
            raise KeyboardInterrupt
        self.output_dir.mkdir(parents=True)
        said = {
            "repos": [repo.name for repo in repos],
            "data_path": str(data_path),
            "steps": self.steps,
            "resume": self.resume,
        }
        (self.output_dir / "said.json").write_text(json.dumps(said))


@pytest.fixture
def toy() -> Iterator[type[Toy]]:
    with registry.trainers.override("toy", Toy):
        yield Toy


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder with the traced sample as its database."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAID_DIR", raising=False)
    monkeypatch.delenv("LEAN_DOJO_TRACEBACK", raising=False)
    shutil.copy(SAMPLE, tmp_path / "dynamic_database.json")
    return tmp_path
