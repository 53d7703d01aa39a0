"""The output folder of a run: its state, atomic publication of models, and its lock.

A model is written to a staging folder, flushed to disk, announced in the state file and then moved
in file by file, the weights last. A killed process leaves one of three states: an unannounced
staging folder (discarded; the step resumes from its checkpoint), an announced one (the next run
moves the rest), or a finished step. The folder's weights are consistent at any moment: one file, or
uniquely named shards that a new index activates at once. Errors of writing, such as a full disk,
become one message for all libraries.

One run uses a folder at a time, since two would delete each other's files. Runs with different
output folders may export to the same folder, the default, in turn.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
from filelock import FileLock, Timeout

from lean_dojo_core.errors import LeanDojoError, UsageError
from lean_dojo_plugins.training.settings import default_settings
from lean_dojo_v2.errors import CheckpointError, TrainingError
from lean_dojo_v2.files import STATE_FILE, atomic_write_text, flush

if TYPE_CHECKING:
    from accelerate import PartialState

STAGING = ".staging"
LOCK = ".run.lock"
EXPORT_LOCK = ".export.lock"
PATIENCE = 10.0
"""Seconds to wait, since children of a killed process end a moment after it."""
CHECKPOINTS = "checkpoints"
_OTHER_FLAGS = {
    "data": "the data (data_path, or --database and --repo)",
    "problem set": "the theorems (--database, --repo)",
    "reward_func": "the rewards (--reward)",
}
"""Parts of a run's identity that ``--set`` does not set, and their flags."""
_REPORTS = (
    "metrics.jsonl", "forgetting.json", "data.json", "environment.json",
    "forgetting.svg", "loss.svg", "rewards.svg", "verified.svg", "refusals.svg",
)  # fmt: skip
_VERSION = 1
_ENTRY_POINTS = {"model.safetensors", "model.safetensors.index.json", "adapter_model.safetensors"}
_WEIGHTS = re.compile(
    r"(model|adapter_model|pytorch_model)[^/]*\.(safetensors|bin)(\.index\.json)?"
    r"|adapter_config\.json"
)


@attrs.frozen
class FinishedStep:
    """One repository that the model in the folder has been trained on.

    ``rows`` counts those of the merged dataset, 0 for a repository that was skipped; ``data`` is
    their digest. ``model`` is its model, relative to the folder, if not in the folder itself. If a
    step trains several repositories at once, rows and steps are recorded at the last of them.
    """

    url: str
    commit: str
    rows: int
    optimizer_steps: int
    data: str
    model: str | None = None


@attrs.define
class RunState:
    """The content of the state file.

    ``settings`` are those that shape the result: a run resumes only with the same. ``pending`` are
    the steps whose model, ``pending_files``, is being moved in. ``run`` identifies the run further,
    if a folder holds several.
    """

    trainer: str
    settings: dict[str, Any]
    finished: list[FinishedStep] = attrs.field(factory=list)
    pending: list[FinishedStep] | None = None
    pending_files: list[str] = attrs.field(factory=list)
    run: dict[str, Any] = attrs.field(factory=dict)

    @property
    def optimizer_steps(self) -> int:
        """Steps of the optimiser over all finished repositories."""
        return sum(step.optimizer_steps for step in self.finished)


@attrs.frozen
class RunFolder:
    """Reads and writes one output folder; writing is for the main process only."""

    path: Path

    @property
    def staging(self) -> Path:
        """The folder of a model to be moved in."""
        return self.path / STAGING

    def load(self) -> RunState | None:
        """Read the state; ``None`` if there was no run."""
        file = self.path / STATE_FILE
        if not file.exists():
            return None
        import cattrs  # which takes a tenth of a second

        try:
            data = json.loads(file.read_text())
            if data["version"] != _VERSION:
                raise CheckpointError(f"{file}: written by another version of this trainer")
            return cattrs.Converter(detailed_validation=False).structure(data, RunState)
        except (ValueError, KeyError, TypeError) as error:
            raise CheckpointError(
                f"{file}: not a training state ({error}); use another folder, or delete this file "
                "to start anew"
            ) from error

    def save(self, state: RunState) -> None:
        """Write the state, atomically."""
        data = {"version": _VERSION, **attrs.asdict(state)}
        atomic_write_text(self.path / STATE_FILE, json.dumps(data, indent=2) + "\n")

    def begin(self, trainer: type, settings: Mapping[str, Any], *, resume: bool) -> None:
        """Prepare the folder for a new or resumed run; refuse a run with other settings."""
        self.path.mkdir(parents=True, exist_ok=True)
        if not resume or self.run_to_resume(trainer, settings) is None:
            self.start_anew()
            self.save(RunState(trainer.__name__, dict(settings)))
        self.recover()

    def run_to_resume(self, trainer: type, settings: Mapping[str, Any]) -> RunState | None:
        """Read the state of a run that has reached a checkpoint; refuse one with other settings.

        Settings without ``data`` are those of a trainer that has not prepared its data yet.
        """
        found = self.load()
        saved = (self.path / CHECKPOINTS).glob("*/checkpoint-*")
        if found is None or not (found.finished or found.pending or any(saved)):
            return None
        unknown = {"data": found.settings.get("data")}
        check_same_run(found, trainer, {**unknown, **settings}, self.path)
        return found

    def recover(self) -> None:
        """Complete an announced publication of a killed process, and discard the rest."""
        state = self.load()
        if state is not None and state.pending is not None:
            self._move_in(state)
        shutil.rmtree(self.staging, ignore_errors=True)
        if state is not None:
            self._drop_checkpoints(len(state.finished))

    def start_anew(self) -> None:
        """Discard an earlier run; its model stays until the new run's first."""
        (self.path / STATE_FILE).unlink(missing_ok=True)
        for folder in (self.path / CHECKPOINTS, self.path / "runs", self.staging):
            shutil.rmtree(folder, ignore_errors=True)
        for name in _REPORTS:
            (self.path / name).unlink(missing_ok=True)

    def publish(self, steps: list[FinishedStep]) -> None:
        """Publish the staged model, and mark its steps as finished."""
        state = self.load()
        assert state is not None
        _name_shards(self.staging, tag=f"{len(state.finished) + len(steps):04d}")
        mode = (self.path / STATE_FILE).stat().st_mode & 0o777
        for file in _files(self.staging):
            file.chmod(mode)  # safetensors makes files that only their owner may read
            flush(file)
        flush(self.staging)
        state.pending = steps
        state.pending_files = sorted(file.name for file in _files(self.staging))
        self.save(state)
        self.recover()

    def _move_in(self, state: RunState) -> None:
        assert state.pending is not None
        for file in sorted(_files(self.staging), key=_moving_order):
            file.replace(self.path / file.name)
        flush(self.path)
        for file in _files(self.path):  # weights of the previous model
            if _WEIGHTS.fullmatch(file.name) and file.name not in state.pending_files:
                file.unlink()
        state.finished.extend(state.pending)
        state.pending, state.pending_files = None, []
        self.save(state)

    def step_folder(self, index: int, name: str) -> Path:
        """Return the folder of a step's data and checkpoints, by 0-based index."""
        return self.path / CHECKPOINTS / f"{index + 1}-{name}"

    def _drop_checkpoints(self, finished: int) -> None:
        folder = self.path / CHECKPOINTS
        if not folder.is_dir():
            return
        for entry in list(folder.iterdir()):
            number = entry.name.partition("-")[0]
            if number.isdigit() and int(number) <= finished:
                shutil.rmtree(entry, ignore_errors=True)
        if not any(folder.iterdir()):
            folder.rmdir()


def trained_settings(folder: Path) -> Mapping[str, Any]:
    """Return the settings that a folder's model was trained with; empty if unknown."""
    try:
        state = RunFolder(folder).load()
    except CheckpointError:  # another program's file
        return {}
    # Before its first finished repository, a run does not describe the existing model.
    return {} if state is None or not state.finished else state.settings


def check_same_trainer(state: RunState, trainer: str, path: Path) -> None:
    """Refuse the folder of another trainer's run."""
    if state.trainer != trainer:
        raise UsageError(
            f"{path} holds a run of {state.trainer}, not of {trainer}; use another folder, or "
            f"delete {STATE_FILE} in it to start anew"
        )


def check_same_run(state: RunState, trainer: type, settings: Mapping[str, Any], path: Path) -> None:
    """Refuse to resume a run with different settings; name every difference, and how to undo it.

    A setting missing on one side is compared by its default, so that runs made before a setting
    existed can still resume.
    """
    check_same_trainer(state, trainer.__name__, path)
    defaults = default_settings(trainer)
    before, now = (_flat({**defaults, **one}) for one in (state.settings, settings))
    refused = [key for key in sorted({*before, *now}) if before.get(key) != now.get(key)]
    if refused:
        differences = [
            f"{key} was {_said(before, key)} and is {_said(now, key)}" for key in refused
        ]
        raise UsageError(
            f"output_dir {path} holds a run with other settings: {'; '.join(differences)}. To "
            f"resume it, {_as_before(before, refused)}; or use another output_dir, or start anew "
            "with --set resume=false."
        )


def _said(settings: Mapping[str, Any], key: str) -> str:
    return repr(settings[key]) if key in settings else "not set"


def _as_before(before: Mapping[str, Any], keys: Sequence[str]) -> str:
    """Explain how to restore a run's settings.

    >>> _as_before({"lr": 0.1, "reward_func": []}, ["lr", "reward_func", "trainer_args.optim"])
    'use --set lr=0.1, give the rewards (--reward) as before, leave out trainer_args.optim'
    """
    flags = [
        f" --set {shlex.quote(f'{key}={json.dumps(before[key], ensure_ascii=False)}')}"
        for key in keys
        if key in before and key not in _OTHER_FLAGS
    ]
    steps = ["use" + "".join(flags)] if flags else []
    steps += [f"give {_OTHER_FLAGS[key]} as before" for key in keys if key in _OTHER_FLAGS]
    return ", ".join(steps + [f"leave out {key}" for key in keys if key not in before])


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Flatten settings to the dotted names of ``--set``."""
    found = dict(settings)
    if isinstance(inner := settings.get("trainer_args"), Mapping):
        del found["trainer_args"]
        found.update({f"trainer_args.{name}": one for name, one in inner.items()})
    return found


def _name_shards(folder: Path, tag: str) -> None:
    """Give shards unique names, so that old and new ones can coexist."""
    index = folder / "model.safetensors.index.json"
    if not index.exists():
        return
    data = json.loads(index.read_text())
    names = {
        name: name.replace("model-", f"model-{tag}-", 1) for name in data["weight_map"].values()
    }
    for old, new in names.items():
        (folder / old).replace(folder / new)
    data["weight_map"] = {key: names[name] for key, name in data["weight_map"].items()}
    atomic_write_text(index, json.dumps(data, indent=2, sort_keys=True) + "\n")


def _moving_order(file: Path) -> tuple[bool, bool, str]:
    """Sort weights late, and their index last."""
    return (file.name in _ENTRY_POINTS, _WEIGHTS.fullmatch(file.name) is not None, file.name)


def _files(folder: Path) -> list[Path]:
    return [entry for entry in folder.iterdir() if entry.is_file()] if folder.is_dir() else []


@contextmanager
def run_lock(folder: Path | str, processes: PartialState) -> Iterator[None]:
    """Lock an output folder, on the main process; released by the system when the process ends.

    UsageError if another run is using it, TrainingError if it cannot be written.
    """
    if not processes.is_main_process:
        yield
        return
    with report_write_errors(Path(folder)):
        Path(folder).mkdir(parents=True, exist_ok=True)
    lock = FileLock(Path(folder) / LOCK)
    try:
        held = lock.acquire(timeout=PATIENCE)
    except Timeout as error:
        raise UsageError(
            f"another process is training in {folder}; wait for it, end it, or use another folder"
        ) from error
    with held, report_write_errors(Path(folder)):
        yield


@contextmanager
def export_lock(data_path: Path) -> Iterator[None]:
    """Lock an export folder, waiting for other runs, so that exported data is read unchanged."""
    data_path.mkdir(parents=True, exist_ok=True)
    with FileLock(data_path / EXPORT_LOCK):
        yield


_DISK_ERRORS = {
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO,
}  # fmt: skip
_WRITERS = ("PytorchStreamWriter", "iostream error", "(os error ")
"""Messages of torch and safetensors for system errors."""
_LITTLE_SPACE = 1 << 20
"""Minimum free space for a checkpoint, in bytes."""


@contextmanager
def report_write_errors(folder: Path) -> Iterator[None]:
    """Turn a library's error of writing into a TrainingError with place and reason."""
    try:
        yield
    except LeanDojoError:
        raise
    except Exception as error:
        reason = _reason(error, folder)
        if not reason:
            raise
        raise TrainingError(
            f"{folder}: cannot be written: {reason}. What was saved before is complete; free "
            "space, or make the folder writable, and repeat the command to resume"
        ) from error


def _reason(error: BaseException, folder: Path) -> str:
    """Return why writing failed; empty for another kind of error."""
    from safetensors import SafetensorError

    one: BaseException | None = error
    while one is not None:
        if isinstance(one, OSError) and one.errno in _DISK_ERRORS:
            file = one.filename
            where = f" ({os.fsdecode(file)})" if isinstance(file, (str, bytes, Path)) else ""
            return f"{one.strerror}{where}"
        text = str(one) if isinstance(one, (SafetensorError, RuntimeError)) else ""
        if any(writer in text for writer in _WRITERS):
            if shutil.disk_usage(folder).free < _LITTLE_SPACE:
                return os.strerror(errno.ENOSPC)
            return " ".join(text.split())[:200]
        one = one.__cause__ or one.__context__
    return ""
