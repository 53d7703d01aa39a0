"""The faces of the rooms: what each package exports, from its stub and the docstrings behind it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from html import escape
from pathlib import Path

import griffe

MARK = "<!-- rooms -->"
ROOT = Path(__file__).resolve().parents[2]


def reference(loader: griffe.GriffeLoader) -> Iterator[str]:
    """Give a section for each room as lines of Markdown."""
    for stub in sorted(ROOT.glob("lean_dojo_v2/*/__init__.pyi")):
        yield from _room(f"lean_dojo_v2.{stub.parent.name}", stub, loader)
    for stub in sorted(ROOT.glob("plugins/lean_dojo_plugins/*/__init__.pyi")):
        yield from _room(f"lean_dojo_plugins.{stub.parent.name}", stub, loader)


def exported(stub: Path) -> dict[str, str]:
    """Return where each exported name is defined, as a module below the room."""
    return {
        alias.name: node.module or ""
        for node in ast.parse(stub.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom) and node.level
        for alias in node.names
    }


def _room(name: str, stub: Path, loader: griffe.GriffeLoader) -> Iterator[str]:
    module = loader.modules_collection[name]
    yield f"## {name}\n"
    yield f"{_first(module)}\n"
    yield "| name | |\n|---|---|"
    for item, place in exported(stub).items():
        found = loader.modules_collection[".".join(filter(None, (name, place, item)))]
        if isinstance(found, griffe.Alias):
            found = found.final_target
        if not (text := _first(found)):
            raise SystemExit(f"{found.path}: what a room exports needs a docstring")
        yield f"| {_signature(item, found)} | {escape(text, quote=False)} |"
    yield ""


def _signature(name: str, found: griffe.Object | griffe.Alias) -> str:
    """Return a function's call, and any other name as it is."""
    shown = name
    if isinstance(found, griffe.Function):
        shown = f"{name}({', '.join(_parameters(found))})"
    return f"`{shown.replace('|', '&#124;')}`"


def _parameters(function: griffe.Function) -> Iterator[str]:
    marks = {
        griffe.ParameterKind.var_positional: "*",
        griffe.ParameterKind.var_keyword: "**",
    }
    named = False
    for one in function.parameters:
        if one.kind is griffe.ParameterKind.keyword_only and not named:
            named = True
            yield "*"
        named = named or one.kind is griffe.ParameterKind.var_positional
        yield marks.get(one.kind or griffe.ParameterKind.positional_or_keyword, "") + one.name


def _first(found: griffe.Object | griffe.Alias) -> str:
    """Return the first sentence of a docstring."""
    text = "" if found.docstring is None else found.docstring.value.strip().split("\n\n")[0]
    return " ".join(text.split()).replace("|", "&#124;")
