"""Modules that are compiled once and imported: the same as elaborated in memory, each text once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import attrs
import pytest

from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.pool.local import EnginePool
from lean_dojo_v2.tracing import LeanGitRepo
from lean_dojo_v2.tracing.project.workspace import SourceFile, Workspace, read_workspace
from lean_dojo_v2.tracing.running.engines import EmbeddedEngine, compile_module, elaborate, lay_out

A = """import Lean
namespace Foo
def rev : List α → List α | [] => [] | x :: xs => rev xs ++ [x]
@[simp] theorem rev_nil : rev ([] : List Nat) = [] := rfl
private def hidden (n : Nat) := n + 1
theorem hidden_eq (n : Nat) : hidden n = n + 1 := rfl
initialize tally : IO.Ref Nat ← IO.mkRef 5
initialize names : Lean.SimplePersistentEnvExtension Lean.Name (List Lean.Name) ←
  Lean.registerSimplePersistentEnvExtension {
    addEntryFn := fun names name => name :: names
    addImportedFn := fun modules => modules.foldl (· ++ ·.toList) [] }
register_option foo.bar : Bool := { defValue := true, descr := "nothing" }
initialize zero : IO.Ref Bool ← IO.mkRef (foo.bar.get {})
initialize one : IO.Ref Nat ← do IO.mkRef (if ← zero.get then 1 else 0)
initialize two : IO.Ref Nat ← do IO.mkRef ((← one.get) + 1)
initialize three : IO.Ref Nat ← do IO.mkRef ((← two.get) + 1)
initialize marked : Lean.ParametricAttribute Lean.Name ←
  Lean.registerParametricAttribute {
    name := `marked
    descr := "notes a name"
    getParam := fun _ written => Lean.Attribute.Builtin.getId written }
register_simp_attr mine
syntax (name := myRfl) "my_rfl" : tactic
macro_rules | `(tactic| my_rfl) => `(tactic| first | rfl | simp)
structure Point where
  x : Nat
  y : Nat
deriving Repr, DecidableEq
end Foo
"""
B = """import Lib.A
namespace Foo
private def hidden (n : Nat) := n + 2
theorem hidden_eq2 (n : Nat) : hidden n = n + 2 := by my_rfl
@[mine] theorem rev_one (x : Nat) : rev [x] = [x] := by simp [rev]
run_cmd Lean.modifyEnv (names.addEntry · `hello)
elab "my_elab" : tactic => do
  for i in [0:← tally.get] do
    if i > 100 then throwError "never"
  Lean.Elab.Tactic.evalTactic (← `(tactic| rfl))
theorem wrong : 1 = 2 := by rfl
end Foo
"""
D = """import Lib.C
import Lib.«My-File»
theorem noted : Foo.noted = dashed := rfl
"""
C = """import Lib.B
namespace Foo
set_option foo.bar false in
theorem c1 : rev [1] = [1] := by simp only [mine]
theorem c2 : rev [1, 2] = [2, 1] := by my_elab
theorem c3 (n : Nat) (l : List Nat) : rev (n :: l) = rev l ++ [n] := by
  rw [rev]
#eval show IO Nat from three.get
@[marked here] def noted := 1
run_cmd do
  unless names.getState (← Lean.getEnv) == [`hello] do throwError "it is lost"
#eval Point.mk 1 2
theorem p : Point.mk 1 2 ≠ Point.mk 2 1 := by decide
theorem twice : 1 = 2 := wrong
#print axioms twice
end Foo
"""
RESTS = "'Foo.twice' depends on axioms: [sorryAx]"
FILES = {
    "Lib.lean": D,
    "Lib/A.lean": A,
    "Lib/B.lean": B,
    "Lib/C.lean": C,
    "Lib/My-File.lean": "import Lean\ninitialize unused : IO.Ref Nat ← IO.mkRef 5\ndef dashed := 1\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    folder = tmp_path_factory.mktemp("project")
    (folder / "lakefile.toml").write_text('name = "x"\n[[lean_lib]]\nname = "Lib"\n')
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return read_workspace(LeanGitRepo.from_path(folder).project)


@pytest.fixture(scope="module")
def folder(workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("laid-out")
    lay_out(workspace, made)
    return made


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    with Server(engine="embedded", project_path=folder, timeout=300) as server:
        yield server


@pytest.mark.slow
def test_what_is_compiled_is_as_if_it_were_elaborated(
    workspace: Workspace, folder: Path, server: Server
) -> None:
    """Initializers, attributes, options, macros, private names and errors among it."""
    in_memory = [elaborate(server, file, 300) for file in workspace.all]
    compiled = [elaborate(server, file, 300, keep=folder) for file in workspace.all]
    assert sorted(path.name for path in folder.rglob("*.olean")) == [
        "A.olean", "B.olean", "C.olean", "Lib.olean", "My-File.olean",
    ]  # fmt: skip
    for memory, imported in zip(in_memory, compiled, strict=True):
        assert attrs.asdict(imported) == attrs.asdict(attrs.evolve(memory, in_memory=()))
    assert "Tactic `rfl` failed" in compiled[1].messages[0].data
    assert [message.data for message in compiled[2].messages] == ["3", "{ x := 1, y := 2 }", RESTS]
    assert set(in_memory[2].in_memory) == {"Lib.A", "Lib.B"}
    assert "Foo.wrong" in {one.constant: one.uses for one in compiled[2].declared}["Foo.twice"]
    with Server(engine="embedded", project_path=folder, timeout=300) as another:
        first = elaborate(another, workspace.files["Lib.C"], 300, keep=folder)
    assert attrs.asdict(first) == attrs.asdict(compiled[2])


@pytest.mark.slow
def test_without_the_compiled_imports_nothing_is_compiled(
    workspace: Workspace, folder: Path, server: Server
) -> None:
    for path in folder.rglob("*.olean"):
        path.unlink()
    file = workspace.files["Lib.B"]
    compile_module(server, file, 300, keep=folder)
    assert not list(folder.rglob("*.olean"))
    compile_module(server, workspace.files["Lib.A"], 300, keep=folder)
    compile_module(server, file, 300, keep=folder)
    assert {path.name for path in folder.rglob("*.olean")} == {"A.olean", "B.olean"}


@pytest.mark.slow
def test_each_file_waits_for_its_imports_and_is_elaborated_once(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was traced before is compiled for those that import it, and no more."""
    asked: list[tuple[str, str]] = []
    real = EnginePool.submit

    def submit(pool: EnginePool, fn: Any, *args: Any, **options: Any) -> Future[Any]:
        asked.append((fn.func.__name__, args[0].module))
        return real(pool, fn, *args, **options)

    monkeypatch.setattr(EnginePool, "submit", submit)
    wanted: list[SourceFile] = [workspace.files["Lib.C"], workspace.files["Lib.A"]]
    found = {
        file.module: outcome for file, outcome in EmbeddedEngine(workspace, 1, 300).run(wanted)
    }
    assert asked == [
        ("elaborate", "Lib.A"), ("compile_module", "Lib.B"), ("elaborate", "Lib.C"),
    ]  # fmt: skip
    assert list(found) == ["Lib.A", "Lib.C"]
    assert len(found["Lib.C"].steps) == 4


@pytest.mark.slow
def test_who_imports_what_lean_breaks_down_on_is_not_tried(tmp_path: Path) -> None:
    """Each of them would cost as much again, and end the same."""
    texts = {
        "Lib.lean": "import Lib.B\nimport Lib.C\n",
        "Lib/A.lean": "import Lib.Nothing\n",
        "Lib/B.lean": "import Lib.A\n",
        "Lib/C.lean": "theorem c : 1 = 1 := by\n  rfl\n",
    }
    (tmp_path / "Lib").mkdir()
    (tmp_path / "lakefile.toml").write_text('name = "x"\n[[lean_lib]]\nname = "Lib"\n')
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    workspace = read_workspace(LeanGitRepo.from_path(tmp_path).project)
    found = {f.module: str(o) for f, o in EmbeddedEngine(workspace, 1, 300).run(workspace.own)}
    assert found["Lib.A"].startswith("1:1: unknown module Lib.Nothing: neither")
    for module in ("Lib.B", "Lib"):
        assert found[module].startswith("imports Lib/A.lean, and there: 1:1: unknown module")
    assert found["Lib.C"].startswith("Elaboration")


LIBRARY = (
    "Std.Data.HashMap", "Std.Data.HashSet", "Std.Data.TreeMap", "Std.Data.TreeSet", "Std.Data.DHashMap",
    "Std.Data.DTreeMap", "Std.Time", "Std.Do", "Std.Sync", "Std.Data.Iterators", "Lean.Data.Json",
    "Lean.Parser", "Lean.Meta", "Lean.Elab",
)  # fmt: skip


@pytest.mark.slow
def test_an_engine_that_has_imported_its_fill_is_replaced(tmp_path: Path) -> None:
    """Every set of modules takes memory for good; no file is lost by that."""
    (tmp_path / "Lib").mkdir()
    (tmp_path / "lakefile.toml").write_text('name = "x"\n[[lean_lib]]\nname = "Lib"\n')
    for number, module in enumerate(LIBRARY):
        text = f"import {module}\ntheorem t{number} : 1 = 1 := by\n  rfl\n"
        (tmp_path / "Lib" / f"M{number}.lean").write_text(text)
    (tmp_path / "Lib.lean").write_text("".join(f"import Lib.M{n}\n" for n in range(len(LIBRARY))))
    workspace = read_workspace(LeanGitRepo.from_path(tmp_path).project)
    found = dict(EmbeddedEngine(workspace, 1, 300).run(workspace.own))
    assert len(found) == len(LIBRARY) + 1
    assert not [outcome for outcome in found.values() if isinstance(outcome, Exception)]
