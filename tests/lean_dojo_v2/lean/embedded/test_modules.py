"""Imports: the library's modules and the project's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

BOTH_HOSTS = True


@pytest.mark.slow
def test_modules_of_a_project_are_elaborated_in_memory(lean: Any) -> None:
    text = "import Lib.Mid\ntheorem use : Lib.two + 0 = 2 := by\n  exact Lib.mid\n"
    answer = lean("dojo.trace", file=text, fileName="Use.lean")
    assert answer["messages"] == []
    places = {r["lean_name"]: (r["module"], r["def_pos"]) for r in answer["references"]}
    assert places["Lib.mid"] == ("Lib.Mid", [3, 9])
    assert places["Lib.two"] == ("Lib.Base", [2, 5])


@pytest.mark.parametrize("cited", ["Lib.hidden", "two_eq", "TWO"])
def test_what_is_private_or_local_to_a_module_stays_there(lean: Any, cited: str) -> None:
    answer = lean("dojo.trace", file=f"import Lib.Base\n#check {cited}\n")
    assert "Unknown identifier" in answer["messages"][0]["data"]


def test_a_changed_module_is_elaborated_again(lean: Any, project: Path) -> None:
    module = project / "Changing.lean"
    text = "import Changing\n#check (changing : Nat)\n"
    module.write_text("def changing : Nat := 1\n")
    assert lean("dojo.trace", file=text)["messages"][0]["severity"] == "information"
    module.write_text("def changing : String := ''\n".replace("''", '""'))
    assert lean("dojo.trace", file=text)["messages"][0]["severity"] == "error"


def test_what_is_kept_of_a_module_ends_before_a_change(lean: Any, project: Path) -> None:
    """A constructor that is added behind a docstring; the type itself is the same text."""
    begun = "inductive Grown where\n  | a\n\n/-- Fine. -/\n"
    for rest, cited in (("theorem grown : True := trivial\n", "Grown.a"), ("  | b\n", "Grown.b")):
        (project / "Growing.lean").write_text(begun + rest)
        answer = lean("dojo.check", file=f"import Growing\n#check {cited}\n")
        assert [m["severity"] for m in answer["messages"]] == ["information"]


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("import Ping", "import cycle: Ping → Pong → Ping"),
        ("import Lib.Nothing", "unknown module Lib.Nothing"),
        ("import Mathlib.Tactic", "use the native engine"),
        ("import Lib.«../../etc»", "unknown module"),
    ],
)
def test_imports_that_cannot_be(lean: Any, header: str, reason: str) -> None:
    answer = lean("dojo.trace", file=header + "\n")
    assert answer["error"] == "import"
    assert reason in answer["desc"]


@pytest.mark.parametrize(
    ("declared", "name"),
    [
        ("structure Shared where\n  x : Nat\n", "Shared"),
        ("def shared : Nat := {}\n", "shared"),
        ("instance : Inhabited (Fin {} → Nat) := ⟨fun _ => 0⟩\n", "instInhabitedForallFinOfNatNat"),
    ],
)
def test_two_modules_that_declare_one_name_cannot_both_be_imported(
    lean: Any, project: Path, declared: str, name: str
) -> None:
    for index, module in enumerate(("One", "Two")):
        (project / "Lib" / f"{module}.lean").write_text(declared.replace("{}", str(index)))
    text = "import Lib.One\nimport Lib.Two\n\ntheorem t : 4 = 4 := by\n  rfl\n"
    position = {"position": text.index("rfl")}
    for command, more in {"dojo.check": {}, "dojo.trace": {}, "dojo.state_at": position}.items():
        answer = lean(command, file=text, **more)
        assert answer["error"] == "import"
        assert answer["desc"].startswith("2:1: import Lib.Two failed, environment already contains")
        assert "from Lib.One" in answer["desc"]
        assert name[:6] in answer["desc"]
    answer = lean("frontend.process", file=text, readHeader=True)
    assert answer["error"] == "import"


def test_theorems_that_say_the_same_may_be_declared_twice(lean: Any, project: Path) -> None:
    for module in ("One", "Two"):
        (project / "Lib" / f"{module}.lean").write_text("theorem shared : 1 = 1 := rfl\n")
    text = "import Lib.One\nimport Lib.Two\ntheorem t : 1 = 1 := shared\n"
    assert lean("dojo.check", file=text)["messages"] == []


REGISTERS = """import Lean
open Lean Elab Command

register_option my.option : Nat := { defValue := 7 }

initialize marked : SimplePersistentEnvExtension Name (List Name) ←
  registerSimplePersistentEnvExtension {
    addEntryFn := fun names name => name :: names
    addImportedFn := fun _ => [] }

initialize tally : IO.Ref Nat ← IO.mkRef (my.option.get {})

initialize tally.modify (· + 1)

initialize registerBuiltinAttribute {
  name := `my_mark
  descr := "notes a declaration"
  add := fun name _ _ => modifyEnv fun env => marked.addEntry env name }

elab "#marked" : command => do
  logInfo m!"{marked.getState (← getEnv)} {← tally.get}"
"""


def test_what_a_module_initializes_is_there_for_those_that_import_it(
    lean: Any, project: Path
) -> None:
    """Attributes, extensions, references and options; also where other modules lie below."""
    (project / "Registers.lean").write_text(REGISTERS)
    for header in ("import Registers", "import Std.Data.HashMap\nimport Registers"):
        text = f"{header}\n@[my_mark] def a := 1\n#marked\n"
        [message] = lean("dojo.trace", file=text)["messages"]
        assert (message["severity"], message["data"]) == ("information", "[a] 8")
    assert lean("dojo.trace", file=REGISTERS, fileName="Registers.lean")["messages"] == []


@pytest.mark.slow
def test_a_module_is_elaborated_once_as_a_file_and_for_all_that_import_it(
    lean: Any, project: Path
) -> None:
    """Each elaboration would give its definition another value."""
    drawn = (
        "import Lean\nopen Lean Elab Term\n"
        'elab "drawn" : term => do return toExpr (← IO.rand 0 1000000000)\n'
        "def number : Nat := drawn\n"
    )
    text = f"{drawn}theorem about : number = number := rfl\n"
    (project / "Drawn.lean").write_text(text)
    (project / "Other.lean").write_text("import Lean\ndef other := 1\n")
    fields = {"names": ["about", "t"], "statements": True, "kernel": False}
    prefix = len(drawn.encode())
    as_file = lean("dojo.check", file=text, fileName="Drawn.lean", prefix=prefix, **fields)
    stated = [as_file["declarations"]["about"]["statement"]]
    for header in ("import Drawn", "import Other\nimport Drawn", "import Drawn\nimport Other"):
        user = f"{header}\ntheorem t : number = number := rfl\n"
        found = lean("dojo.check", file=user, fileName="Uses.lean", **fields)
        stated.append(found["declarations"]["t"]["statement"])
    assert len(set(stated)) == 1


def test_initializers_that_fail_are_said(lean: Any, project: Path) -> None:
    (project / "Fails.lean").write_text('initialize throw (IO.userError "no luck")\n')
    (project / "Wrong.lean").write_text("initialize wrong : IO.Ref Nat ← IO.mkRef true\n")
    for module, why in (("Fails", "no luck"), ("Wrong", "wrong has an error")):
        for _ in range(2):  # they do not run again, and the module is not taken without them
            answer = lean("dojo.trace", file=f"import {module}\n")
            assert answer["error"] == "import"
            assert answer["desc"] == f"1:1: {module}: its initializers fail: {why}"


def test_the_library_is_read_once_for_all_environments(own_lean: Any) -> None:
    def megabytes() -> int:  # a native Lean gives no number: it maps the files
        return own_lean("stat").get("wasm_mb", 0)

    own_lean("frontend.process", file="import Lean", readHeader=True)
    before = megabytes()
    headers = ("Lean.Elab.Tactic", "Lean.Meta.Basic", "Lean.Elab.Command", "Lean.Parser.Term")
    for module in headers:
        assert "error" not in own_lean("frontend.process", file=f"import {module}", readHeader=True)
    assert megabytes() - before < 50 * len(headers), "each alone has 100 MB of modules and more"
