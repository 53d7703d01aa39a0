"""Whole traces: what is cached, what goes on after a kill, what is refused, the command line."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from lean_dojo_core.errors import UsageError
from lean_dojo_v2.cli import main
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.errors import TraceError
from lean_dojo_v2.lean.errors import EngineUnavailableError, LeanError
from lean_dojo_v2.tracing import FileDone, LeanGitRepo, trace_repository
from lean_dojo_v2.tracing.cache import TraceCache
from lean_dojo_v2.tracing.project.workspace import SourceFile, read_workspace
from lean_dojo_v2.tracing.reading.records import Elaboration
from lean_dojo_v2.tracing.running.engines import Engine, Outcomes, choose_engine
from lean_dojo_v2.tracing.tracer import trace_files

Project = Callable[..., Path]

pytestmark = pytest.mark.usefixtures("one_engine")

FILES = {
    "Lib.lean": "import Lib.B\nimport Lib.C\n",
    "Lib/A.lean": "theorem a : 1 = 1 := by\n  rfl\n",
    "Lib/B.lean": "import Lib.A\ntheorem b : 1 = 1 := by\n  exact a\n",
    "Lib/C.lean": "theorem c : 2 = 2 := by\n  rfl\n",
}


class Counting:
    """An engine that notes what it is asked; the real one answers."""

    def __init__(self, inner: Engine) -> None:
        self.inner = inner
        self.identity = inner.identity
        self.asked: list[str] = []

    def state(self) -> str:
        return self.inner.state()

    def run(self, files: Sequence[SourceFile]) -> Outcomes:
        self.asked += [file.path for file in files]
        yield from self.inner.run(files)


def traced(folder: Path) -> tuple[list[str], list[FileDone]]:
    """Trace a project; give what the engine was asked and what was reported."""
    project = LeanGitRepo.from_path(folder).project
    workspace = read_workspace(project)
    engine = Counting(choose_engine("embedded", project, workspace, jobs=1))
    reports: list[FileDone] = []
    results = trace_files(workspace.own, workspace, engine, reports.append)
    assert set(results) == set(workspace.files)
    return sorted(engine.asked), reports


@pytest.mark.slow
def test_only_what_changed_is_asked_again(project: Project) -> None:
    folder = project(FILES)
    asked, reports = traced(folder)
    assert asked == sorted(FILES)
    assert [(r.done, r.total, r.cached) for r in reports] == [(n, 4, False) for n in (1, 2, 3, 4)]

    asked, reports = traced(folder)
    assert asked == []
    assert all(report.cached for report in reports)

    (folder / "Lib/A.lean").write_text("theorem a : 1 = 1 := rfl\n")
    assert traced(folder)[0] == ["Lib.lean", "Lib/A.lean", "Lib/B.lean"]

    (folder / "Lib/A.lean").write_text(FILES["Lib/A.lean"])  # as it was
    assert traced(folder)[0] == []


def test_a_second_trace_starts_no_engine(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = LeanGitRepo.from_path(project(FILES))
    first = trace_repository(repo, engine="embedded", jobs=1, date="2026-01-01")
    monkeypatch.setattr("lean_dojo_v2.lean.EnginePool", None)
    second = trace_repository(repo, engine="embedded", date="2026-01-01")
    assert second.to_dict() == first.to_dict()


@pytest.mark.slow
def test_a_killed_trace_goes_on(project: Project, tmp_path: Path, raid: Path) -> None:
    folder = project(FILES)
    slow = "theorem slow : 1 = 1 := by\n  rfl\nexample : 10 = 10 := by\n" + "  skip\n" * 500
    (folder / "Lib/D.lean").write_text(f"import Lib.C\n{slow}  rfl\n")
    (folder / "Lib.lean").write_text("import Lib.B\nimport Lib.D\n")
    arguments = ["trace", str(folder), "-o", str(tmp_path / "x.json"), "--engine", "embedded"]
    command = [sys.executable, "-m", "lean_dojo_v2", *arguments, "-j", "1"]
    process = subprocess.Popen(command, start_new_session=True)
    cache = raid / "cache" / "trace"
    deadline = time.monotonic() + 300
    while not list(cache.glob("*/*.z")):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "x.json").exists()
    done = len(list(cache.glob("*/*.z")))
    assert 1 <= done < 5
    asked, reports = traced(folder)
    assert len(asked) == 5 - done
    assert sum(report.cached for report in reports) == done


def test_a_cache_entry_that_cannot_be_read_is_made_again(project: Project, raid: Path) -> None:
    folder = project({"Lib.lean": FILES["Lib/C.lean"]})
    traced(folder)
    (entry,) = (raid / "cache" / "trace").glob("*/*.z")
    good = entry.read_bytes()
    for damaged in (b"", good[:20], b"not compressed"):
        entry.write_bytes(damaged)
        assert traced(folder)[0] == ["Lib.lean"]
        assert entry.read_bytes() == good


def test_another_engine_has_other_entries(project: Project) -> None:
    workspace = read_workspace(LeanGitRepo.from_path(project(FILES)).project)
    file = workspace.files["Lib.B"]
    keys = {
        TraceCache(engine, state).key(file, closure, imports)
        for engine in ("one", "two")
        for state in ("", "with options")
        for closure in ([], [workspace.files["Lib.A"]])
        for imports in ([], ["Lib/A.lean"])
    }
    assert len(keys) == 16


def test_a_file_that_the_engine_breaks_down_on(project: Project) -> None:
    """It is reported and not remembered; the others are traced."""

    class Breaking:
        identity = "breaking"

        def state(self) -> str:
            return ""

        def run(self, files: Sequence[SourceFile]) -> Outcomes:
            for file in files:
                broken = file.module == "Lib.A"
                yield file, LeanError("it took longer than 5 s") if broken else Elaboration()

    workspace = read_workspace(LeanGitRepo.from_path(project(FILES)).project)
    for _ in range(2):
        reports: list[FileDone] = []
        trace_files(workspace.own, workspace, Breaking(), reports.append)
        said = {report.file.path: report.file.errors for report in reports}
        assert [str(error) for error in said["Lib/A.lean"]] == ["it took longer than 5 s"]
        assert not reports[-1].cached


def test_nothing_can_be_traced(project: Project) -> None:
    repo = LeanGitRepo.from_path(project({"Lib.lean": "theorem : := nonsense"}))
    with pytest.raises(TraceError, match=r"no file of .* could be traced[^\0]*Lib\.lean:1:"):
        trace_repository(repo, engine="embedded", jobs=1)


def test_bad_files_do_not_refuse_the_others(project: Project) -> None:
    """A circle, a module that is not there, bytes that are no text: each is an error of its own."""
    folder = project(
        {
            "Lib.lean": "import Lib.Good\nimport Lib.Missing\n",
            "Lib/Good.lean": "theorem good : 1 = 1 := rfl\n",
            "Lib/Ping.lean": "import Lib.Pong\n",
            "Lib/Pong.lean": "import Lib.Ping\n",
            "Lib/UsesPing.lean": "import Lib.Ping\ntheorem p : 1 = 1 := rfl\n",
            "Lib/Old.lean": "",
        }
    )
    (folder / "Lib/Old.lean").write_bytes("-- Größe".encode("latin-1"))
    reports: list[FileDone] = []
    traced = trace_repository(
        LeanGitRepo.from_path(folder), engine="embedded", jobs=1, progress=reports.append
    )
    assert [theorem.full_name for theorem in traced.iter_theorems()] == ["good"]
    assert traced.num_files_traced == len(reports) == 6
    assert {report.total for report in reports} == {6}
    errors = sorted(traced.metadata["trace_errors"])
    for found, expected in zip(
        errors,
        [
            "Lib.lean:.*unknown module Lib.Missing",
            "Lib/Old.lean:it is not UTF-8",
            "Lib/Ping.lean:import cycle: Lib.Ping → Lib.Pong → Lib.Ping",
            "Lib/Pong.lean:import cycle: Lib.Pong → Lib.Ping → Lib.Pong",
            "Lib/UsesPing.lean:.*unknown module Lib.Ping",
        ],
        strict=True,
    ):
        assert re.match(expected, found), found


@pytest.mark.slow
def test_names_that_are_no_identifiers(project: Project) -> None:
    folder = project(
        {
            "Lib.lean": "import Lib.«My-File»\nimport Lib.«2023».A\n"
            "theorem c : 1 = 1 := by\n  exact mine\n",
            "Lib/My-File.lean": "theorem mine : 1 = 1 := by\n  rfl\n",
            "Lib/2023/A.lean": "import Lib.«My-File»\ntheorem a : 1 = 1 := by\n  exact mine\n",
        }
    )
    traced = trace_repository(LeanGitRepo.from_path(folder), engine="embedded", jobs=1)
    assert "trace_errors" not in traced.metadata
    used = {t.full_name: t.traced_tactics[0].premises for t in traced.iter_theorems()}
    assert (
        [p.def_path for p in used["c"]] == [p.def_path for p in used["a"]] == ["Lib/My-File.lean"]
    )


@pytest.mark.slow
def test_the_name_of_a_syntax_is_no_theorem(project: Project) -> None:
    text = (
        'import Lean\nsyntax (name := lemma) declModifiers "lemma " declId declSig declVal : command\n'
        "theorem a : 1 = 1 := rfl\n"
    )
    folder = project({"Lib.lean": text})
    traced = trace_repository(LeanGitRepo.from_path(folder), engine="embedded", jobs=1)
    assert [theorem.full_name for theorem in traced.iter_theorems()] == ["a"]


LOST = """\
def size (n : Nat) : Nat := n + nonsense

theorem about_it : size = size := rfl
theorem about_another (size : Nat) : size = size := rfl
theorem resting : True := by
  have := @about_it Nat 0
  trivial
theorem fine : 1 = 1 := rfl

namespace Again
def Nat : Type := nonsense
def twice (n : Nat) := n
end Again
theorem of_the_library (n : Nat) : n = n := rfl
"""


@pytest.mark.slow
def test_what_names_a_definition_that_failed_is_left_out(project: Project) -> None:
    """Lean takes the name for a variable that nobody declared, and proves something else.

    Where the name means another constant, nothing is wrong with the statement.
    """
    folder = project(
        {
            "Lib.lean": "import Lib.Base\ntheorem elsewhere : size = size := rfl\n",
            "Lib/Base.lean": LOST,
        }
    )
    traced = trace_repository(LeanGitRepo.from_path(folder), engine="embedded", jobs=1)
    assert {t.full_name for t in traced.iter_theorems()} == {
        "about_another",
        "fine",
        "of_the_library",
    }
    said = "\n".join(traced.metadata["trace_errors"])
    assert "elsewhere is left out" in said


def test_mathlib_is_refused_with_the_way_out(project: Project) -> None:
    repo = LeanGitRepo.from_path(project({"Lib.lean": "import Mathlib.Data.Nat.Basic"}))
    with pytest.raises(EngineUnavailableError, match=r"(?s)Lib\.lean imports Mathlib.*native"):
        trace_repository(repo, engine="embedded")


def test_no_such_engine(project: Project) -> None:
    repo = LeanGitRepo.from_path(project(FILES))
    with pytest.raises(UsageError, match="engine='nativ' is not an engine"):
        trace_repository(repo, engine="nativ")


def test_dependencies(project: Project) -> None:
    """What a project imports from a dependency is known; with build_deps it joins the corpus."""
    folder = project({"Lib.lean": "import Dep\ntheorem b : 1 = 1 := by\n  exact Dep.a\n"})
    dependency = {
        "lakefile.toml": 'name = "dep"\n[[lean_lib]]\nname = "Dep"\n',
        "Dep.lean": "namespace Dep\ntheorem a : 1 = 1 := rfl\nend Dep\n",
    }
    for name, text in dependency.items():
        (folder / "near").mkdir(exist_ok=True)
        (folder / "near" / name).write_text(text)
    packages = [{"type": "path", "name": "dep", "dir": "near"}]
    (folder / "lake-manifest.json").write_text(json.dumps({"packages": packages}))
    repo = LeanGitRepo.from_path(folder)
    alone = trace_repository(repo, engine="embedded", jobs=1)
    assert alone.files_traced == ["Lib.lean"]
    (used,) = alone.proven_theorems[0].traced_tactics[0].premises
    assert (used.full_name, used.def_path, used.def_pos) == ("Dep.a", "near/Dep.lean", (2, 9))
    both = trace_repository(repo, engine="embedded", jobs=1, build_deps=True)
    assert both.files_traced == ["near/Dep.lean", "Lib.lean"]
    assert [theorem.full_name for theorem in both.iter_theorems()] == ["b"]
    assert both.premise_files[0].premises[0].full_name == "Dep.a"


def test_a_file_of_two_targets_is_traced_once(project: Project, one_engine: None) -> None:
    lakefile = (
        'name = "dbl"\n[[lean_lib]]\nname = "T"\nglobs = ["tests.+"]\n'
        '[[lean_exe]]\nname = "Check"\nsrcDir = "tests"\n'
    )
    text = "theorem once (n : Nat) : n + 0 = n := by\n  simp\ntheorem bad : 1 = 2 := by rfl\n"
    repo = LeanGitRepo.from_path(project({"tests/Check.lean": text}, lakefile))
    traced = trace_repository(repo, engine="embedded", jobs=1)
    assert traced.files_traced == ["tests/Check.lean"]
    assert [theorem.full_name for theorem in traced.iter_theorems()] == ["once"]
    assert len(traced.metadata["trace_errors"]) == 1


def test_a_package_inside_the_repository(project: Project, one_engine: None) -> None:
    files = {
        "Out.lean": "import Inn\ntheorem out : 1 = 1 := by exact inn\n",
        "inner/Inn.lean": "theorem inn : 1 = 1 := by rfl\n",
        "inner/lakefile.toml": 'name = "inner"\n[[lean_lib]]\nname = "Inn"\n',
    }
    require = '[[require]]\nname = "inner"\npath = "inner"\n'
    folder = project(files, f'name = "sub"\n{require}[[lean_lib]]\nname = "Out"\n')
    traced = trace_repository(LeanGitRepo.from_path(folder), jobs=1)
    (theorem,) = traced.iter_theorems()
    (premise,) = theorem.traced_tactics[0].premises
    assert (premise.full_name, premise.def_path) == ("inn", "inner/Inn.lean")


READING = {
    "src/M.lean": "import M.A\nimport M.B\n",
    "src/M/A.lean": (
        'def words : String := include_str "../../data/words.txt"\n'
        'theorem words_eq : words = "hello\\n" := by rfl\n'
        "#eval show IO Unit from do\n"
        '  IO.println (← IO.FS.readFile ("data" / "words.txt" : System.FilePath))\n'
    ),
    "src/M/B.lean": (
        "import M.A\nimport Lean\nopen Lean Elab Term\n"
        'elab "len!" : term => return mkNatLit words.length\n'
        'elab "lines!" : term => do return mkNatLit (← IO.FS.lines "data/words.txt").size\n'
        "theorem uses : len! = 6 := by rfl\ntheorem reads : lines! = 1 := by rfl\n"
    ),
    "data/words.txt": "hello\n",
}


def test_files_that_are_read_while_a_project_is_elaborated(
    project: Project, one_engine: None, caplog: pytest.LogCaptureFixture
) -> None:
    folder = project(READING, 'name = "m"\nsrcDir = "src"\n[[lean_lib]]\nname = "M"\n')
    traced = trace_repository(LeanGitRepo.from_path(folder), engine="embedded", jobs=1)
    assert "trace_errors" not in traced.metadata
    assert [t.full_name for t in traced.iter_theorems()] == ["words_eq", "uses", "reads"]
    asked: list[FileDone] = []
    (folder / "data/words.txt").write_text("other\n")  # their content counts, also for the cache
    again = trace_repository(
        LeanGitRepo.from_path(folder), engine="embedded", jobs=1, progress=asked.append
    )
    assert [done.cached for done in asked] == [False, False, False]
    assert again.commit != traced.commit
    (error,) = again.metadata["trace_errors"]
    assert error.startswith("src/M/A.lean:2:")


def test_one_file_reads_what_lies_beside_it(tmp_path: Path, one_engine: None) -> None:
    (tmp_path / "words.txt").write_text("hello")
    text = 'def words := include_str "words.txt"\ntheorem w : words.length = 5 := by rfl\n'
    (tmp_path / "Solo.lean").write_text(text)
    traced = trace_repository(LeanGitRepo(str(tmp_path / "Solo.lean")), engine="embedded", jobs=1)
    assert [theorem.full_name for theorem in traced.iter_theorems()] == ["w"]
    (tmp_path / "words.txt").write_text("other")
    with pytest.raises(TraceError, match="no longer"):
        LeanGitRepo(traced.url, traced.commit)


WHOLE = {
    "Lib.lean": "import Lib.C\n",
    "Lib/A.lean": (
        "module\nnamespace N\nprivate theorem priv (n : Nat) : n = n := by rfl\n"
        "private def hid (n : Nat) : Nat := n + 1\npublic def pub (n : Nat) : Nat := hid n\n"
        "private def own : Nat := 1\nend N\n"
    ),
    "Lib/B.lean": (
        "module\npublic import Lib.A\nimport all Lib.A\n"
        "theorem far (n : Nat) : n = n := by exact N.priv n\nnamespace N\n"
        "theorem near (n : Nat) : n = n := by exact priv n\n"
        "private def own : Nat := 2\ntheorem mine : own = 2 := by rfl\n"
        "public def more (n : Nat) : Nat := hid n + 1\n"
        "public theorem more_eq (n : Nat) : more n = n + 2 := by simp [more, hid]\n"
        "#eval more 3\nend N\n"
    ),
    "Lib/C.lean": (
        "import Lib.B\ntheorem uses (n : Nat) : N.more n = n + 2 := by exact N.more_eq n\n"
        "theorem unknown (n : Nat) : n = n := by exact N.priv n\n"
    ),
}


def test_private_names_after_import_all(project: Project, one_engine: None) -> None:
    """They are known in the file that says so, and in no other."""
    traced = trace_repository(LeanGitRepo.from_path(project(WHOLE)), engine="embedded", jobs=1)
    names = [theorem.full_name for theorem in traced.proven_theorems]
    assert names == ["N.priv", "far", "N.near", "N.mine", "N.more_eq", "uses"]
    (error,) = traced.metadata["trace_errors"]
    assert error.startswith("Lib/C.lean:3:")
    assert "Unknown identifier `N.priv`" in error
    (used,) = traced.proven_theorems[2].traced_tactics[0].premises
    assert (used.full_name, used.def_path) == ("N.priv", "Lib/A.lean")


def test_what_is_missing_is_named(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")  # no lake
    repo = LeanGitRepo.from_path(project({"Lib.lean": "import Inn"}))
    with pytest.raises(EngineUnavailableError, match=r"Lib\.lean imports Inn"):
        trace_repository(repo)


def test_database_traces_a_git_repository(tmp_path: Path, remote: tuple[Path, list[str]]) -> None:
    folder, (first, _) = remote
    with DynamicDatabase(tmp_path / "db.json") as database:
        repository = database.trace_repository(f"file://{folder}", first)
    assert [t.theorem_statement for t in repository.proven_theorems] == ["theorem a : 1 = 1 :="]
    assert repository.commit == first


def test_the_command_line(
    project: Project, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = project({**FILES, "Lib/Bad.lean": "theorem bad : 1 = 2 := rfl\n"})
    database = tmp_path / "new" / "db.json"
    arguments = ["trace", str(folder), "-o", str(database), "--engine", "embedded", "-j", "1"]
    arguments += ["--url", "https://example.org/o/r", "--date", "2026-05-06"]
    for _ in range(2):  # the second replaces what the first wrote
        assert main([*arguments, "--json"]) == 0
        out, err = capfd.readouterr()
        said = json.loads(out)
        assert (said["theorems"], said["tactics"], said["files"]) == (3, 3, 5)
        assert said["errors"][0].startswith("Lib/Bad.lean:1:")
        assert "Lib/Bad.lean:1:" in err
        assert "1 of 4 commands in 1 of the files have errors: Lib/Bad.lean 1 of 1" in err
        assert (said["failed_commands"], said["commands"]) == (1, 4)
        assert list(said["files_with_errors"]) == ["Lib/Bad.lean"]
        assert "Traceback" not in err
        stored = json.loads(database.read_text())["repositories"]
        assert [r["url"] for r in stored] == ["https://example.org/o/r"]
        assert stored[0]["metadata"]["date_processed"] == "2026-05-06T00:00:00"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["/no/such/folder"], 2, "no such folder or git address"),
        ([".", "--engine", "mine"], 2, "Invalid value for '--engine'"),
        (["."], 1, "is not a Lean project"),
    ],
)
def test_mistakes_on_the_command_line(
    arguments: list[str],
    code: int,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["trace", *arguments]) == code
    assert message in capfd.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_one_file_without_a_project(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one.lean").write_text("import Two\ntheorem one : two = 2 := by\n  rfl\n")
    (tmp_path / "Two.lean").write_text("def two := 2\ntheorem other : two = 2 := rfl\n")
    (tmp_path / "Unrelated.lean").write_text("nonsense")
    monkeypatch.chdir(tmp_path)
    assert main(["trace", "one.lean", "-o", "db.json", "--engine", "embedded", "--json"]) == 0
    said = json.loads(capfd.readouterr().out)
    assert (said["theorems"], said["files"], said["errors"]) == (1, 1, [])
    with DynamicDatabase(tmp_path / "db.json") as database:
        (recorded,) = database.repositories
        (theorem,) = recorded.iter_theorems()
        repo = LeanGitRepo(recorded.url, recorded.commit)
    assert (theorem.full_name, theorem.file_path) == ("one", "one.lean")
    assert (repo.name, repo.path) == ("one.lean", tmp_path)
    assert main(["trace", "one.lean", "--commit", "main"]) == 2
    (tmp_path / "Two.lean").write_text("def two := 2\n")
    with pytest.raises(TraceError, match="are no longer those of"):
        LeanGitRepo(recorded.url, recorded.commit)


@pytest.mark.slow
def test_one_file_of_a_project(project: Project) -> None:
    folder = project(
        {**FILES, "scratch.lean": "import Lib.A\ntheorem s : 1 = 1 := by\n  exact a\n"}
    )
    for file, theorems in {"Lib/B.lean": ["b"], "scratch.lean": ["s"]}.items():
        traced = trace_repository(LeanGitRepo(str(folder / file)), engine="embedded", jobs=1)
        assert traced.files_traced == [file]
        assert [theorem.full_name for theorem in traced.iter_theorems()] == theorems
        (used,) = traced.proven_theorems[0].traced_tactics[0].premises
        assert (used.full_name, used.def_path) == ("a", "Lib/A.lean")


def test_a_trace_says_what_it_leaves_out(
    project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = {
        "Scratch.lean": "theorem s : 1 = 1 := rfl\n",
        ".lake/build/X.lean": "",
    }
    folder = project(
        {**FILES, **other, "lakefile.toml": 'name = "lib"\n[[lean_lib]]\nname = "Lib"\n'}
    )
    assert main(["trace", str(folder), "-o", str(tmp_path / "d.json"), "--json"]) == 0
    printed = capsys.readouterr()
    assert "left out 1 file in no library of the lakefile: Scratch.lean" in printed.err
    assert json.loads(printed.out)["files_left_out"] == ["Scratch.lean"]


@pytest.mark.parametrize("text", ["", "def two : Nat := 2\n"])
def test_a_trace_of_nothing_is_a_mistake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    file = tmp_path / "Nothing.lean"
    file.write_text(text)
    assert main(["trace", str(file), "-o", str(tmp_path / "d.json")]) == 2
    assert "Nothing.lean: 1 file without a proof" in capsys.readouterr().err
    assert not (tmp_path / "d.json").exists()
