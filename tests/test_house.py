"""The house keeps its plan: no circles of files or of folders, and plugins need no private import."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from lean_dojo_core.hookspecs import KINDS

ROOT = Path(__file__).parents[1]
PUBLIC = re.compile(
    r"lean_dojo_core(\.testing|\.errors)?|lean_dojo_plugins\.api|lean_dojo_v2(\.\w+)?|lean_dojo_v2\.trainer\.\w+"
)
"""What a plugin may import of ours: the contract, the page for authors, and front doors."""


@pytest.fixture(scope="module")
def house() -> Any:
    spec = importlib.util.spec_from_file_location("house", ROOT / "experiments" / "house.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["house"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def drawn(house: Any) -> nx.DiGraph[str]:
    return house.imports()


def test_no_circle_of_files(house: Any, drawn: nx.DiGraph[str]) -> None:
    assert house.circles(drawn) == []


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_no_circle_of_folders(depth: int, drawn: nx.DiGraph[str]) -> None:
    """At each depth: what lies deeper belongs to its folder, what lies higher is a folder alone."""

    def folder(module: str) -> str:
        return ".".join(module.split(".")[:depth])

    folders: nx.DiGraph[str] = nx.DiGraph()
    for one, other in drawn.edges:
        # A package's own front door names what lies in it.
        if folder(one) != folder(other) and not folder(other).startswith(f"{folder(one)}."):
            folders.add_edge(folder(one), folder(other))
    circles = [sorted(found) for found in nx.strongly_connected_components(folders)]
    assert [found for found in circles if len(found) > 1] == []


def test_no_branch_on_a_kind() -> None:
    """What differs between kinds of plugin stands in ``lean_dojo_core.specs`` alone."""
    names = set(KINDS)
    descriptors = {kind.__name__ for kind in KINDS.values()}
    files = [
        *(ROOT / "core").rglob("*.py"), *(ROOT / "lean_dojo_v2").glob("*.py"),
        *(ROOT / "lean_dojo_v2" / "cli").rglob("*.py"), *(ROOT / "docs" / "tools").rglob("*.py"),
        *(ROOT / "lean_dojo_v2" / "plugin_host").rglob("*.py"),
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


def test_imports_run_down_the_list_of_folders() -> None:
    """The order of the folders is that of the contracts in ``pyproject.toml``."""
    program = Path(sys.executable).with_name("lint-imports")  # a process: it sets logging up anew
    words = [str(program), "--config", str(ROOT / "pyproject.toml"), "--no-cache"]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout


def private_imports(code: str) -> set[str]:
    """Name what a text of Python imports of ours that is not public."""
    found = set(re.findall(r"^\s*(?:from|import) (lean_dojo_\S+)", code, re.MULTILINE))
    return {name for name in found if not PUBLIC.fullmatch(name) and "example" not in name}


@pytest.mark.parametrize("root", ["tests/example_plugin", "lean_dojo_v2/cli/scaffold"])
def test_plugins_import_what_is_public(root: str) -> None:
    files = [*(ROOT / root).rglob("*.py"), *(ROOT / root).rglob("*.tmpl")]
    assert files
    private = {file.name: private_imports(file.read_text(encoding="utf-8")) for file in files}
    assert {name: found for name, found in private.items() if found} == {}


def test_the_page_for_plugin_authors_imports_what_is_public() -> None:
    assert private_imports((ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")) == set()


def test_one_name_one_idea() -> None:
    """A class has its name for itself; the contract's protocols are named as what fulfils them."""
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
