"""Packages that a lakefile requires by a path, with or without a manifest."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lean_dojo_v2.lean.text.lexer import Token, code_tokens

_PATH_WORDS = frozenset({"/", "(", ")", "⟨", "⟩", "__dir__", "FilePath.mk", "System.FilePath.mk"})
_ENDS = frozenset({"package", "lean_lib", "lean_exe", "require", "target", "script", "with"})


def path_requires(lakefile: Path) -> list[tuple[str, str]]:
    """Return the name and the folder of each package required by a path.

    Folders are relative to the lakefile, as written there. An unreadable lakefile requires nothing;
    its errors are reported where it is needed.
    """
    text = lakefile.read_text(encoding="utf-8", errors="replace")
    if lakefile.suffix == ".lean":
        return list(_in_lean(list(code_tokens(text))))
    try:
        entries = tomllib.loads(text).get("require", ())
        return [(str(entry["name"]), path) for entry in entries if (path := _path(entry))]
    except (tomllib.TOMLDecodeError, TypeError, AttributeError, KeyError):
        return []


def _path(entry: Mapping[str, Any]) -> str:
    source = entry.get("source")
    if isinstance(source, Mapping) and source.get("type") == "path":
        return str(source.get("dir", ""))
    return str(entry.get("path", ""))


def _in_lean(words: list[Token]) -> Iterator[tuple[str, str]]:
    r"""Read ``require NAME from "folder"`` and ``… from __dir__ / "some" / "folder"``."""
    for index, word in enumerate(words):
        if word.text != "require" or index + 1 == len(words):
            continue
        name, parts, follows = "", [], False
        for token in words[index + 1 :]:
            if token.text in _ENDS or token.text.startswith("@["):
                break
            if token.text == "from":
                follows = True
            elif not follows:  # the last word is the name: "scope" / "name" @ "version"
                name = name if name and token.kind == "symbol" else token.text.strip('"«»')
            elif token.kind == "string":
                parts.append(token.text.strip('"'))
            elif token.text not in _PATH_WORDS:
                break
        if parts:
            yield name, "/".join(parts)
