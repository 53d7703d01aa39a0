"""Checkpoints within a step: integrity, and choice of the one to resume from.

transformers writes a checkpoint file by file. When all processes have written theirs, the files'
sizes and checksums are recorded; without that record, or with a truncated or changed file, it is
reported, and the run resumes from the previous checkpoint, which is kept for that.
"""

import json
import shutil
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
from accelerate import PartialState
from transformers import TrainerCallback, TrainerState

from lean_dojo_core.errors import DataError
from lean_dojo_core.foreign import say
from lean_dojo_plugins.training.devices import sharding
from lean_dojo_v2.files import atomic_write_bytes, atomic_write_text

STEP_FILE = "step.json"
SEAL = "whole.json"
"""File with the size and checksum of each file of a checkpoint."""
_BLOCK = 1 << 22


class SealCheckpoints(TrainerCallback):
    """Seals every checkpoint once all processes have written their parts."""

    def on_save(self, args: Any, state: TrainerState, control: Any, **kwargs: Any) -> None:  # noqa: ARG002
        """Seal the checkpoint that was just written."""
        PartialState().wait_for_everyone()
        folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        if state.is_world_process_zero and folder.is_dir():
            seal(folder)


def seal(checkpoint: Path) -> None:
    """Record the size and checksum of every file of a complete checkpoint."""
    files = {
        file.relative_to(checkpoint).as_posix(): [file.stat().st_size, _checksum(file)]
        for file in sorted(checkpoint.rglob("*"))
        if file.is_file() and file.name != SEAL
    }
    atomic_write_bytes(checkpoint / SEAL, orjson.dumps(files))


def last_checkpoint(folder: Path) -> Path | None:
    """Find the newest complete checkpoint in a step's folder; report and delete damaged ones."""
    problems = {entry: problem_of(entry) for entry in sorted(folder.glob("checkpoint-*"))}
    whole = [entry for entry, problem in problems.items() if not problem]
    newest = max(whole, key=step_of, default=None)
    goes_on = f"from {newest.name}" if newest else "without it, from the step's beginning"
    for entry, problem in problems.items():
        if problem:
            if PartialState().is_main_process:
                say(f"{entry} is damaged or was not finished: {problem}. It is deleted; the run "
                    f"resumes {goes_on}")  # fmt: skip
            shutil.rmtree(entry, ignore_errors=True)
    return newest


def step_of(checkpoint: Path) -> int:
    """Return the step of the optimiser at which a checkpoint was written."""
    return int(checkpoint.name.rpartition("-")[2])


def keep_fitting_checkpoints(folder: Path, data: Mapping[str, Any], processes: int) -> None:
    """Delete a step's checkpoints if its data, or how processes share the work, has changed.

    The main process calls it.
    """
    note = folder / STEP_FILE
    text = json.dumps({**data, "processes": processes, "sharding": sharding()})
    if not note.exists() or note.read_text() != text:
        for stale in folder.glob("checkpoint-*"):
            say(f"{stale} does not fit: the data, the number of processes or how they share the "
                "weights has changed since. It is deleted")  # fmt: skip
            shutil.rmtree(stale)
        atomic_write_text(note, text)
    last_checkpoint(folder)  # deletes incomplete ones


def problem_of(checkpoint: Path) -> str:
    """Return why training cannot resume from a checkpoint; empty if it is complete.

    DataError if the disk does not give it, so that nobody knows.
    """
    if not checkpoint.name.rpartition("-")[2].isdigit():
        return "it has no number"
    try:
        sealed = orjson.loads((checkpoint / SEAL).read_bytes())
        for name, (size, checksum) in sealed.items():
            file = checkpoint / name
            if not file.is_file():
                return f"{name} is missing"
            if (there := file.stat().st_size) != size:
                return f"{name} has {there} of {size} bytes"
            if _checksum(file) != checksum:
                return f"{name} has changed since it was written"
    except FileNotFoundError:
        return f"{SEAL} is missing"
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror}); try again, or remove it",
                        path=checkpoint) from error  # fmt: skip
    except (ValueError, TypeError, AttributeError) as error:
        return f"{SEAL} is damaged ({error})"
    return ""


def _checksum(file: Path) -> int:
    checksum = 0
    with file.open("rb") as stream:
        while block := stream.read(_BLOCK):
            checksum = zlib.crc32(block, checksum)
    return checksum
