"""Indexes of plugins: a JSON file, at an address or a path, that says what there is.

The file is an object ``{"plugins": [...]}``; each plugin has a ``name`` and a ``summary``, and may
have ``kinds``, ``homepage``, ``tested_with`` (versions by distribution) and ``install``: what pip
is given, where that is not the name. An ``install`` that begins with ``.`` is a path beside the
file.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import attrs

from lean_dojo_core.errors import DataError, UnreadableFileError
from lean_dojo_core.installed import normalise
from lean_dojo_core.local import read_settings
from lean_dojo_v2.plugin_host.settings import INDEX

VARIABLE = "LEAN_DOJO_PLUGIN_INDEX"
OURS = Path(__file__).with_name("index.json")
SECONDS = 20.0
"""Seconds that an index at an address may take to answer."""


@attrs.frozen
class Listed:
    """A plugin of an index.

    Attributes:
        name: The distribution's name.
        summary: What it does, in a line.
        kinds: The kinds of what it offers.
        install: What pip is given to install it.
        homepage: Where to read on.
        tested_with: Versions that its author tested it with, by distribution.
    """

    name: str
    summary: str
    kinds: tuple[str, ...] = attrs.field(default=(), converter=tuple)
    install: str = ""
    homepage: str = ""
    tested_with: dict[str, str] = attrs.Factory(dict)


def read_index(place: str | None = None) -> list[Listed]:
    """Read an index.

    Args:
        place: Its address or path; :func:`index_place` if not given.

    Raises:
        DataError: If it cannot be fetched, or is no index.
        UnreadableFileError: If there is no such file, or it is not JSON.
    """
    where = place or index_place()
    try:
        found = json.loads(_content(where))
    except ValueError as error:
        raise UnreadableFileError(f"is not JSON: {error}", path=where) from error
    rows = found.get("plugins") if isinstance(found, dict) else None
    if not isinstance(rows, list):
        raise DataError("is not an index: it has no list 'plugins'", path=where)
    return [_listed(row, where, number) for number, row in enumerate(rows)]


def index_place() -> str:
    """Say which index is meant: ``LEAN_DOJO_PLUGIN_INDEX``, the settings' or ours.

    Raises:
        UnreadableFileError: If the settings cannot be read.
    """
    return os.environ.get(VARIABLE) or str(read_settings().get(INDEX) or OURS)


def _content(where: str) -> bytes:
    if where.startswith(("http://", "https://")):
        import urllib.request

        try:
            with urllib.request.urlopen(where, timeout=SECONDS) as answer:  # noqa: S310 - checked
                return bytes(answer.read())
        except OSError as error:
            raise DataError(f"cannot be fetched: {error}", path=where) from error
    try:
        return Path(where).expanduser().read_bytes()
    except OSError as error:
        raise UnreadableFileError(f"cannot be read: {error.strerror}", path=where) from error


def _listed(row: Any, where: str, number: int) -> Listed:
    known = {field.name for field in attrs.fields(Listed)}
    try:
        one = Listed(**{key: value for key, value in row.items() if key in known})
    except (AttributeError, TypeError) as error:
        place = f"plugins[{number}]"
        raise DataError("needs a 'name' and a 'summary'", path=where, place=place) from error
    install = one.install or one.name
    if install.startswith("."):
        path = Path(where).parent / install
        if where == str(OURS) and not path.exists():  # a wheel has it there, a checkout here
            path = Path(__file__).parents[2] / "tests" / path.name
        install = str(path.resolve())
    return attrs.evolve(one, install=install)


def find_in(rows: list[Listed], name: str) -> Listed | None:
    """Return the plugin of that name."""
    return next((row for row in rows if normalise(row.name) == normalise(name)), None)
