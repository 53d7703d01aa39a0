"""``lean-dojo doctor``: diagnose the installation."""

import itertools
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any, Literal, TypeAlias

import attrs
import click

from lean_dojo_core import API_VERSION, registry
from lean_dojo_core.discovery import STRICT_VARIABLE
from lean_dojo_core.installed import HOST_DISTRIBUTION, installed_version, normalise
from lean_dojo_v2 import lean
from lean_dojo_v2.cli.output import emit_json, json_option, table

Verdict: TypeAlias = Literal["ok", "note", "problem"]

LIBRARIES = (
    "torch", "transformers", "trl", "peft", "accelerate", "datasets", "pytorch-lightning",
    "attrs", "cattrs", "pluggy", "click", "orjson",
)  # fmt: skip
"""Distributions whose versions belong in a bug report."""

PROBE_TIMEOUT = 180.0
"""Seconds that importing torch may take on a slow disk."""

# Run in a process of its own: this program never imports torch.
_PROBE = """
import json, torch
cuda = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
found = {"cuda": cuda if torch.cuda.is_available() else [],
         "mps": torch.backends.mps.is_available(),
         "threads": torch.get_num_threads()}
if found["cuda"]:
    found["bf16"] = torch.cuda.is_bf16_supported()
print(json.dumps(found))
"""


@attrs.frozen
class Check:
    """What was checked, the finding (with advice for a problem), and its part of the report."""

    area: str
    subject: str
    verdict: Verdict
    detail: str


@click.command()
@json_option
@click.pass_context
def doctor(context: click.Context, as_json: bool) -> None:
    """Check versions, devices, Lean engines and plugins, and look for conflicts.

    Exits with 1 if something will not work.
    """
    # A diagnosis must always run, even in strict mode.
    os.environ.pop(STRICT_VARIABLE, None)
    lean.chosen_engine("auto")  # check LEAN_DOJO_ENGINE first, which the other checks read
    checks = [*_versions(), *_devices(), *_engines(), *_plugins(), *_conflicts()]
    problems = sum(check.verdict == "problem" for check in checks)
    if as_json:
        emit_json([attrs.asdict(check) for check in checks])
    else:
        marks = {"ok": "ok", "note": "--", "problem": "!!"}
        for area, group in itertools.groupby(checks, key=lambda check: check.area):
            rows = [[marks[c.verdict], c.subject, c.detail] for c in group]
            table(["", area.upper(), ""], rows)
            click.echo()
        click.echo(f"{problems or 'No'} problem{'' if problems == 1 else 's'} found.")
    if problems:
        context.exit(1)


def _versions() -> Iterator[Check]:
    major, minor = API_VERSION
    host = f"{metadata.version(HOST_DISTRIBUTION)} (plugin API {major}.{minor})"
    yield Check("versions", HOST_DISTRIBUTION, "ok", host)
    yield Check("versions", "python", "ok", f"{platform.python_version()} on {platform.platform()}")
    for name in LIBRARIES:
        version = installed_version(name)
        missing = f'not installed; run `pip install "{HOST_DISTRIBUTION}>=2"` again'
        yield Check("versions", name, "ok" if version else "problem", version or missing)


def _devices() -> Iterator[Check]:
    try:
        probe = subprocess.run(
            [sys.executable, "-c", _PROBE],
            capture_output=True,
            text=True,
            timeout=PROBE_TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        reason = f"importing torch takes more than {PROBE_TIMEOUT:.0f} s"
        yield Check("devices", "torch", "problem", reason)
        return
    if probe.returncode != 0:
        reason = probe.stderr.strip().splitlines()[-1] if probe.stderr.strip() else "it crashed"
        yield Check("devices", "torch", "problem", f"cannot be imported: {reason}")
        return
    found: dict[str, Any] = json.loads(probe.stdout.splitlines()[-1])
    precision = "bfloat16" if found.get("bf16") else "no bfloat16"
    for number, name in enumerate(found["cuda"]):
        yield Check("devices", f"cuda:{number}", "ok", f"{name}, {precision}")
    if found["mps"]:
        yield Check("devices", "mps", "ok", "Apple GPU")
    only = "" if found["cuda"] or found["mps"] else "; no GPU: training runs on the CPU"
    yield Check("devices", "cpu", "ok", f"{found['threads']} threads{only}")


def _engines() -> Iterator[Check]:
    program = lean.find_lean()
    missing = f"no lean on the PATH (needed for projects that use Mathlib: {lean.LEAN_INSTALL_URL})"
    found = f"{program} (`lean-dojo lean check` tries it)"
    yield Check("lean", "native", "ok" if program else "note", found if program else missing)
    try:
        repl = lean.find_repl()
    except lean.EngineUnavailableError as error:
        yield Check("lean", "native", "problem", str(error))
    else:
        if repl is not None:
            yield Check("lean", "native", "note", f"{repl} ({lean.FOREIGN_VARIABLE}) cannot verify")
    try:
        lean.node_program()
    except lean.EngineUnavailableError as error:
        yield Check("lean", "embedded", "problem", str(error))
        return
    status = lean.embedded_status()
    detail = f"Lean {lean.EMBEDDED_LEAN_VERSION} on Node {lean.node_version()}"
    size = f"{status.bytes_used / 1e6:.0f} MB in {status.path.parent}"
    state = f", {size}" if status.installed else ": is downloaded on first use"
    yield Check("lean", "embedded", "ok" if status.installed else "note", detail + state)


def _plugins() -> Iterator[Check]:
    for info in registry.current().plugins:
        subject = f"{info.name} {info.version}"
        if info.status == "active":
            yield Check("plugins", subject, "ok", ", ".join(info.offers) or "offers nothing")
        else:
            verdict: Verdict = "note" if info.status == "disabled" else "problem"
            yield Check("plugins", subject, verdict, f"{info.status}: {info.error}")
    for entries in registry.registries().values():
        for name in entries:
            if ":" in name:
                detail = f"{entries.kind}: the short name is ambiguous, use this one"
                yield Check("plugins", name, "note", detail)


def _conflicts() -> Iterator[Check]:
    """Look for LeanDojo-v2 1.x, which installs files into the same package."""
    import lean_dojo_v2

    home = Path(lean_dojo_v2.__file__).resolve().parent
    for name in sorted(set(metadata.packages_distributions().get("lean_dojo_v2", ()))):
        if normalise(name) != HOST_DISTRIBUTION:
            reason = f"also owns the package lean_dojo_v2 in {home}; uninstall it"
            yield Check("conflicts", name, "problem", reason)
    for folder in leftovers(home):
        reason = "is left over from LeanDojo-v2 1.x; delete it, then install LeanDojo-v2 again"
        yield Check("conflicts", str(folder), "problem", reason)


def leftovers(home: Path) -> list[Path]:
    """List what an interrupted uninstall of LeanDojo-v2 1.x left in the package's folder."""
    old = ("external_api", "tests", "lean_dojo/data_extraction")
    return [home / name for name in old if (home / name).exists()]
