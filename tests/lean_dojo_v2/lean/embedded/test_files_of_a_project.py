"""Files that a project's programs read while it is elaborated, and modules in any of its folders."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.text.source import SourceTheorem
from lean_dojo_v2.lean.verify.proofs import check_proof

MODULE = """\
def words : String := include_str "../data/words.txt"
theorem words_eq : words = "hello\\n" := by rfl
"""
FILES = {
    "src/M/A.lean": MODULE,
    "src/M/B.lean": "import M.A\ntheorem b : words.length = 6 := by rfl\n",
    "inner/lib/Inn.lean": "theorem inn : 1 = 1 := rfl\n",
    "Whole.lean": "module\nprivate theorem priv : 3 = 3 := rfl\n",
    ".lake/packages/dep/Dep.lean": "theorem dep : 2 = 2 := rfl\n",
    "src/data/words.txt": "hello\n",
    "data/words.txt": "hello\n",
    ".env": "TOKEN=1",
    ".git/config": "secret",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "up").symlink_to("../..")
    return tmp_path


@pytest.fixture
def server(project: Path) -> Iterator[Server]:
    with Server(project_path=project, engine="embedded", timeout=120) as server:
        yield server


def said(server: Server, text: str, name: str = "Main.lean") -> list[str]:
    units = server.process(text, file_name=name, read_header=True)
    return [message.data.strip() for unit in units for message in unit.messages]


def test_files_are_found_from_the_file_and_from_the_project(server: Server) -> None:
    assert said(server, MODULE, "src/M/A.lean") == []
    run = "#eval show IO Unit from do IO.print"
    assert said(server, f'{run} (← IO.FS.readFile "data/words.txt")') == ["hello"]
    assert said(server, f'{run} (← IO.FS.readFile ("data" / "words.txt" : System.FilePath))') == [
        "hello"
    ]
    listed = '#eval do return (← System.FilePath.readDir "data").map IO.FS.DirEntry.fileName'
    assert said(server, listed) == ['#["words.txt"]']
    assert said(server, '#check (include_str "data/words.txt" : String)')[0].startswith('"hello')
    missing = said(server, 'def x := include_str "data/nothing.txt"')
    assert "no such file" in missing[0]


def test_a_theorem_behind_it_is_proved_in_its_file(server: Server) -> None:
    source = SourceTheorem(MODULE, "words_eq", "src/M/A.lean", (2, 1), (2, 47))
    assert check_proof(server, source, "rfl").valid
    assert not check_proof(server, source, "decide_eq").valid


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (FILES["src/M/B.lean"], "src/M/B.lean"),
        ("import Inn\ntheorem x : 1 = 1 := inn", "Out.lean"),
        ("import Dep\ntheorem x : 2 = 2 := dep", "Out.lean"),
        ("module\nimport all Whole\ntheorem x : 3 = 3 := priv", "Out.lean"),
    ],
)
def test_modules_lie_in_source_folders_and_packages(server: Server, text: str, name: str) -> None:
    assert said(server, text, name) == []


def test_a_project_is_no_way_out(server: Server, project: Path) -> None:
    for path in (".env", ".git/config", "link", "up/etc/passwd", "../../etc/passwd", "/etc/passwd"):
        (answer,) = said(server, f'#eval IO.FS.readFile "{path}"')
        assert "no such file" in answer
    said(server, '#eval IO.FS.writeFile "data/words.txt" "x"\n#eval IO.FS.removeFile "link"')
    assert (project / "data/words.txt").read_text() == "hello\n"
    assert (project / "link").is_symlink()
    (listed,) = said(
        server, '#eval do return (← System.FilePath.readDir ".").map IO.FS.DirEntry.fileName'
    )
    assert ".env" not in listed
    assert ".git" not in listed
    assert "data" in listed
