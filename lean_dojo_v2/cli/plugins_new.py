"""``lean-dojo plugins new KIND NAME``: a complete distribution to start from."""

from __future__ import annotations

import importlib.util
import keyword
import os
from datetime import datetime
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template

import click

from lean_dojo_core import API_VERSION, registry
from lean_dojo_core.errors import InvalidSpecError, UsageError
from lean_dojo_core.installed import HOST_DISTRIBUTION, normalise
from lean_dojo_core.kinds import KINDS, Kind
from lean_dojo_core.specs import PluginSpec
from lean_dojo_v2.atomic import atomic_write_text
from lean_dojo_v2.cli.output import note

WORDS = {kind.scaffold.word: kind for kind in KINDS.values()}
"""What the command calls each kind."""


@click.command(short_help="Write a new plugin: a distribution that installs and passes its tests.")
@click.argument("word", metavar="KIND", type=click.Choice(list(WORDS)))
@click.argument("name")
@click.option(
    "-o",
    "--output",
    "--output-dir",
    "output",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder to write (default: NAME in the current folder).",
)
@click.option("--summary", metavar="TEXT", help="What it does, in one line of 80 characters.")
@click.option("--author", metavar="NAME", help="Name for the licence (default: the user's).")
def new(word: str, name: str, output: Path | None, summary: str | None, author: str | None) -> None:
    """Write a complete distribution with a plugin object of some KIND, called NAME.

    It holds pyproject.toml with entry point and version bound, manifest, implementation,
    conformance tests, README, licence and a CI file; it installs and passes its tests as it is.
    """
    from lean_dojo_core.testing.manifest import SUMMARY_LENGTH

    kind = WORDS[word]
    name, summary = normalise(name), summary or kind.scaffold.summary
    # The descriptor's own rules, so that what is written here also loads.
    try:
        PluginSpec(name=name, target="a:b", summary=summary)
    except InvalidSpecError as error:
        raise UsageError(str(error).removeprefix("PluginSpec.")) from error
    if len(summary) > SUMMARY_LENGTH:
        raise UsageError(f"--summary: {len(summary)} characters are more than {SUMMARY_LENGTH}")
    if '"' in summary or "\\" in summary:
        raise UsageError(f'the summary may hold neither " nor \\: {summary}')
    package = name.replace("-", "_")
    _check_package(package)
    if name in registry.REGISTRIES[kind.name]:
        provider = registry.REGISTRIES[kind.name][name].distribution
        raise UsageError(f"{kind.name} {name!r} exists already ({provider}); choose another name")
    folder = output or Path(name)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is there already; name another folder with --output")
    values = _values(kind, name, package, summary, author or _user())
    for path, template in _files(word, package).items():
        atomic_write_text(folder / path, Template(template.read_text("utf-8")).substitute(values))
    note(f"Wrote {folder}; src/{package}/{word}.py is the place for your idea. Next:\n")
    steps = (
        f"cd {folder}",
        "pip install -e '.[test]'",
        "python -m pytest",
        f"lean-dojo show {name}",
    )
    click.echo("\n".join(steps))


def _check_package(package: str) -> None:
    if keyword.iskeyword(package) or importlib.util.find_spec(package) is not None:
        raise UsageError(
            f"the import package would be called {package!r}, which Python or an installed package "
            "uses already; choose another name, for example with a word in front"
        )


def _values(kind: Kind, name: str, package: str, summary: str, author: str) -> dict[str, str]:
    from importlib.metadata import version

    major, minor = version(HOST_DISTRIBUTION).split(".")[:2]
    return {
        "name": name,
        "package": package,
        "class_name": _class_name(name, kind.scaffold.word),
        "function_name": f"{package}_command",
        "module": kind.scaffold.word,
        "kind_words": kind.name.replace("-", " "),
        "summary": summary,
        "use": Template(kind.scaffold.use).substitute(name=name),
        "bound": f">={major}.{minor},<{int(major) + 1}",
        "api": f"{API_VERSION[0]}.{API_VERSION[1]}",
        "year": str(datetime.now().astimezone().year),
        "author": author,
    }


def _class_name(name: str, word: str) -> str:
    """Name the class; its kind comes last, so that it is no name that the templates import."""
    words = name.split("-")
    if words[-1] != word:
        words.append(word)
    return "".join(word.capitalize() for word in words)


def _files(word: str, package: str) -> dict[str, Traversable]:
    """Give the templates by the path that each becomes."""
    root = resources.files("lean_dojo_v2.cli") / "scaffold"
    common, own = root / "common", root / word
    return {
        "pyproject.toml": common / "pyproject.toml.tmpl",
        "README.md": common / "README.md.tmpl",
        "LICENSE": common / "LICENSE.tmpl",
        ".gitignore": common / "gitignore.tmpl",
        ".github/workflows/test.yml": common / "ci.yml.tmpl",
        f"src/{package}/__init__.py": common / "__init__.py.tmpl",
        f"src/{package}/py.typed": common / "py.typed.tmpl",
        f"src/{package}/plugin.py": own / "plugin.py.tmpl",
        f"src/{package}/{word}.py": own / f"{word}.py.tmpl",
        f"tests/test_{package}.py": own / "test.py.tmpl",
    }


def _user() -> str:
    """Give a name for the licence: git's, else the account's."""
    import getpass
    import subprocess

    try:
        said = subprocess.run(
            ["git", "config", "user.name"], capture_output=True, text=True, check=False
        ).stdout.strip()
    except OSError:  # git is not installed
        said = ""
    return said or os.environ.get("USER") or getpass.getuser()
