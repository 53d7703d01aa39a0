"""Rules of the source code that no linter can check; ruff and import-linter hold the others."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

from lean_dojo_core import registry

ROOT = Path(__file__).parents[1]
PUBLIC = re.compile(
    r"lean_dojo_core(\.testing|\.errors)?|lean_dojo_v2\.kinds\.testing|lean_dojo_plugins\.api|lean_dojo_v2(\.\w+)?|lean_dojo_v2\.trainer\.\w+"
)
"""What a plugin may import of ours: the contract, the page for authors, and front doors."""


def test_no_branch_on_a_kind() -> None:
    """Differences between kinds of plugins are in their descriptors."""
    kinds = registry.current().kinds
    names = set(kinds)
    descriptors = {kind.__name__ for kind in kinds.values()}
    files = [
        *(ROOT / "core").rglob("*.py"), *(ROOT / "lean_dojo_v2").glob("*.py"),
        *(ROOT / "lean_dojo_v2" / "cli").rglob("*.py"), *(ROOT / "docs" / "tools").rglob("*.py"),
        *(ROOT / "lean_dojo_v2" / "kinds").rglob("*.py"),
    ]  # fmt: skip
    branches = []
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            asked: list[ast.AST] = []
            if isinstance(node, ast.Compare):
                asked = [node.left, *node.comparators]
            elif isinstance(node, ast.MatchValue):
                asked = [node.value]
            elif isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
                asked = [node.args[1]]
            parts = [part for one in asked for part in ast.walk(one)]
            words = {part.value for part in parts if isinstance(part, ast.Constant)} & names
            words |= {ast.unparse(part).rpartition(".")[2] for part in asked} & descriptors
            if words:
                branches.append(f"{file.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}")
    assert branches == []


def private_imports(code: str) -> set[str]:
    """Return the private modules of ours that Python code imports."""
    found = set(re.findall(r"^\s*(?:from|import) (lean_dojo_\S+)", code, re.MULTILINE))
    return {name for name in found if not PUBLIC.fullmatch(name) and "example" not in name}


@pytest.mark.parametrize("root", ["tests/example_plugin", "lean_dojo_v2/cli/scaffold"])
def test_plugins_import_only_public_modules(root: str) -> None:
    files = [*(ROOT / root).rglob("*.py"), *(ROOT / root).rglob("*.tmpl")]
    assert files
    private = {file.name: private_imports(file.read_text(encoding="utf-8")) for file in files}
    assert {name: found for name, found in private.items() if found} == {}


def test_the_page_for_plugin_authors_imports_only_public_modules() -> None:
    assert private_imports((ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")) == set()


def test_class_names_are_unique() -> None:
    """No two classes share a name, except a protocol of the contract and the class that fulfils it."""
    places = defaultdict(list)
    for folder in ("core", "lean_dojo_v2", "plugins/lean_dojo_plugins"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.parse(file.read_text()).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    places[node.name].append(str(file.relative_to(ROOT)))
    shared = {name: files for name, files in places.items() if len(files) > 1}
    assert shared == {
        "Repository": ["core/lean_dojo_core/protocols.py", "lean_dojo_v2/data/repository.py"]
    }
