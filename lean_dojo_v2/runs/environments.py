"""Versions of software used by a run, and its processes on this machine."""

import os
import platform
from pathlib import Path

import orjson
import psutil

from lean_dojo_core import registry
from lean_dojo_core.installed import installed_version
from lean_dojo_v2.files import atomic_write_bytes

ENVIRONMENT_FILE = "environment.json"
"""Name of the file that describes machine and libraries in a run's folder."""
_LIBRARIES = (
    "lean-dojo-v2", "torch", "transformers", "trl", "peft", "accelerate", "datasets",
    "pytorch-lightning",
)  # fmt: skip


def environment() -> dict[str, str]:
    """Describe this process's machine, libraries and plugins, without names of machine or user."""
    return {
        "Python": platform.python_version(),
        "system": platform.platform(),
        "processor": f"{os.cpu_count()} cores, {psutil.virtual_memory().total / 2**30:.0f} GiB",
        **{name: installed_version(name) or "not installed" for name in _LIBRARIES},
        **{
            f"plugin {info.name}": f"{info.version} ({info.status})"
            for info in registry.current().plugins
            if not info.builtin
        },
    }


def record_environment(folder: Path) -> None:
    """Write ``environment.json`` into a run's output folder."""
    text = orjson.dumps(environment(), option=orjson.OPT_INDENT_2)
    atomic_write_bytes(folder / ENVIRONMENT_FILE, text)


def processes_here(count: int) -> int:
    """Return how many of a job's processes run on this machine; default: all."""
    return int(os.environ.get("LOCAL_WORLD_SIZE") or count)
