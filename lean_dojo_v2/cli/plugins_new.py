"""``lean-dojo plugins new KIND NAME``: a complete distribution to start from."""

import getpass
import importlib.util
import keyword
import tomllib
from datetime import datetime
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template
from typing import Any

import click

from lean_dojo_core import API_VERSION, PluginSpec, registry
from lean_dojo_core.errors import InvalidSpecError, UsageError
from lean_dojo_core.installed import HOST_DISTRIBUTION, normalise
from lean_dojo_v2.cli import parameters as args
from lean_dojo_v2.cli.output import note
from lean_dojo_v2.files import atomic_write_text

TEMPLATES = resources.files("lean_dojo_v2.cli") / "scaffold"
"""One folder per template. Its ``about.toml`` has the summary, an example command line (``$name``
is the name), the kind if the template is named differently, the ``target`` if it is not a class,
further ``fields`` of the descriptor, and whether its tests need ``lean-dojo-core`` alone."""
TRL_REWARD = "trl-reward"
"""Another way to write a reward: a function as TRL documents them."""
WORDS = ("trainer", "formatter", "reward", "callback", "prover", "benchmark", "command")
"""The kinds that have templates, as their folders and the argument name them."""
_KINDS = {"formatter": "dataset-formatter", "reward": "reward-function"}
"""The kinds with a longer name."""


@click.command()
@args.with_options
def new(
    *,
    kind: str = args.argument(metavar="KIND", type=click.Choice([*WORDS, TRL_REWARD])),
    name: str = args.argument(),
    from_scratch: bool = args.option(
        is_flag=True, help="Write a trainer with its own loop, based on lean_dojo_core alone."
    ),
    output: Path | None = args.option(
        "-o",
        "--output",
        "--output-dir",
        metavar="DIR",
        type=click.Path(path_type=Path),
        help="Folder to write (default: NAME in the current folder).",
    ),
    summary: str | None = args.option(
        metavar="TEXT", help="What it does, in at most 80 characters."
    ),
    author: str | None = args.option(
        metavar="NAME", help="Name for the licence (default: the user's)."
    ),
    grpo: bool = args.option(
        is_flag=True, help="Write a trainer that says what each token of GRPO is worth."
    ),
    lean: bool = args.option(is_flag=True, help="Write a reward that uses Lean."),
) -> None:
    """Write a new plugin: a complete distribution with an object NAME of the given KIND.

    KIND is trainer, formatter, reward, trl-reward (a function as TRL documents them), callback,
    prover, benchmark or command.

    The distribution contains pyproject.toml (with entry point and version bound), manifest,
    implementation, conformance tests, README, licence and a CI file. It installs and passes its
    tests as it is.
    """
    from lean_dojo_core.testing.manifest import SUMMARY_LENGTH

    if from_scratch and grpo:
        raise UsageError("--from-scratch and --grpo exclude each other: choose one")
    template = kind
    for variant, wanted, chosen in (
        ("from-scratch", "trainer", from_scratch),
        ("grpo", "trainer", grpo),
        ("lean", "reward", lean),
    ):
        if chosen and kind != wanted:
            raise UsageError(f"--{variant} is for a {wanted}, not for a {kind}")
        template = f"{kind}-{variant}" if chosen else template
    about = _about(template)
    word = about["kind"]
    peers = registry.registries()[_KINDS.get(word, word)]
    name, summary = normalise(name), summary or about["summary"]
    # The descriptor validates itself, so that the result loads.
    try:
        PluginSpec(name=name, target="a:b", summary=summary)
    except InvalidSpecError as error:
        raise UsageError(str(error).removeprefix("PluginSpec.")) from error
    if len(summary) > SUMMARY_LENGTH:
        raise UsageError(
            f"--summary: {len(summary)} characters are too many; use at most {SUMMARY_LENGTH}"
        )
    if '"' in summary or "\\" in summary:
        raise UsageError(f'the summary may contain neither " nor \\: {summary}')
    package = name.replace("-", "_")
    _check_package(package)
    if name in peers:
        provider = peers[name].distribution
        raise UsageError(f"{peers.kind} {name!r} already exists ({provider}); choose another name")
    folder = output or Path(name)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} already exists; name another folder with --output")
    author = author or _user()
    values = _values(about, name=name, package=package, summary=summary, author=author)
    for path, file in _files(word, template, package).items():
        atomic_write_text(folder / path, Template(file.read_text("utf-8")).substitute(values))
    note(f"Wrote {folder}; src/{package}/{word}.py is the place for your idea. Next:\n")
    click.echo(f"cd {folder}\npip install -e '.[test]'\npython -m pytest\nlean-dojo show {name}")


def _about(template: str) -> dict[str, Any]:
    text = (TEMPLATES / template / "about.toml").read_text("utf-8")
    return {"kind": template, "target": "$class_name", **tomllib.loads(text)}


def _bound(installed: str) -> str:
    """Return a version bound that includes the installed one, even a pre-release.

    >>> _bound("2.1.3"), _bound("3.0.0rc1")
    ('>=2.1,<3', '>=3.0.0rc1,<4')
    """
    major, minor, *_ = installed.split(".")
    whole = all(part.isdigit() for part in installed.split("."))
    return f">={f'{major}.{minor}' if whole else installed},<{int(major) + 1}"


def _check_package(package: str) -> None:
    if keyword.iskeyword(package) or importlib.util.find_spec(package) is not None:
        raise UsageError(
            f"the import package would be called {package!r}, a name that Python or an installed "
            "package already uses; choose another name, for example with a prefix"
        )


def _values(
    about: dict[str, Any], *, name: str, package: str, summary: str, author: str
) -> dict[str, str]:
    from importlib.metadata import version

    host, word = version(HOST_DISTRIBUTION), about["kind"]
    kind = registry.current().kinds[_KINDS.get(word, word)]
    made = {"class_name": _class_name(name, word), "function_name": f"{package}_{word}"}
    return {
        "name": name,
        "package": package,
        **made,
        "target": Template(about["target"]).substitute(made),
        "imports": _imports(kind),
        "spec": kind.__name__,
        "hook": kind.hook(),
        "more": "".join(f"        {field},\n" for field in about.get("fields", ())),
        "module": word,
        "kind_words": kind.kind.replace("-", " "),
        "summary": summary,
        "use": Template(about["use"]).substitute(name=name),
        "bound": _bound(host),
        "checks": _checks(about, name, _bound(host)),
        "api": f"{API_VERSION[0]}.{API_VERSION[1]}",
        "year": str(datetime.now().astimezone().year),
        "author": author,
    }


def _imports(kind: type[PluginSpec]) -> str:
    """Return the imports of a manifest: most descriptors belong to the contract."""
    if kind.__module__.partition(".")[0] == "lean_dojo_core":
        return f"from lean_dojo_core import {kind.__name__}, hookimpl"
    place = kind.__module__.rpartition(".")[0]
    return f"from lean_dojo_core import hookimpl\nfrom {place} import {kind.__name__}"


def _checks(about: dict[str, Any], name: str, bound: str) -> str:
    """Return the steps of continuous integration; with the contract alone they take seconds."""
    light = [
        f'pip install "lean-dojo-core{bound}" pytest # the contract, without torch',
        "pip install --no-deps .",
        "python -m pytest",
    ]
    full = ['pip install ".[test]"', "python -m pytest", f"lean-dojo plugins check {name}"]
    steps = light if about.get("needs_only_the_contract") else full
    return "\n".join(f"      - run: {step}" for step in steps)


def _class_name(name: str, word: str) -> str:
    """Name the class, with its kind last, to avoid names that the templates import."""
    words = name.split("-")
    if words[-1] != word:
        words.append(word)
    return "".join(word.capitalize() for word in words)


def _files(word: str, template: str, package: str) -> dict[str, Traversable]:
    common, own = TEMPLATES / "common", TEMPLATES / template
    return {
        "pyproject.toml": common / "pyproject.toml.tmpl",
        "README.md": common / "README.md.tmpl",
        "LICENSE": common / "LICENSE.tmpl",
        ".gitignore": common / "gitignore.tmpl",
        ".github/workflows/test.yml": common / "ci.yml.tmpl",
        f"src/{package}/__init__.py": common / "__init__.py.tmpl",
        f"src/{package}/py.typed": common / "py.typed.tmpl",
        f"src/{package}/plugin.py": common / "plugin.py.tmpl",
        f"src/{package}/{word}.py": own / f"{word}.py.tmpl",
        f"tests/test_{package}.py": own / "test.py.tmpl",
    }


def _user() -> str:
    """Return the name of the account; a container may have none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "the author"
