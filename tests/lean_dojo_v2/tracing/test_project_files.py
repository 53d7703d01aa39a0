"""Lakefiles, manifests, headers and the import graph."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest

from lean_dojo_v2.errors import TraceError
from lean_dojo_v2.lean.text.header import parse_header
from lean_dojo_v2.tracing.project.lakefile import Dependency, Library, project_of_file, read_project
from lean_dojo_v2.tracing.project.workspace import imported_first, read_workspace

Project = Callable[..., Path]


def modules(text: str) -> list[str]:
    return list(parse_header(text).imports)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("import A\nimport B.C\n\ntheorem x : 1 = 1 := rfl", ["A", "B.C"]),
        ("/- import No -/\n-- import Nor\nimport A -- import B\nimport /- C -/ D", ["A", "D"]),
        ("/-! doc -/\nimport A\nopen B\nimport C", ["A"]),
        ("import A import B", ["A", "B"]),
        ("prelude\nimport Init.Core", ["Init.Core"]),
        ("module\npublic import A\nimport all B\nmeta import C", ["A", "B", "C"]),
        ("module\npublic meta import all A.B", ["A.B"]),
        ("module prelude public import A", ["A"]),
        ("import «A B».C\r\nimport D\r\n", ["A B.C", "D"]),
        ("public section\nimport A", []),
        ("import", []),
        ("/- never closed import A", []),
    ],
)
def test_headers(text: str, expected: list[str]) -> None:
    assert modules(text) == expected


def test_init_is_imported_unless_the_header_says_prelude() -> None:
    header = parse_header("module\npublic import A\nimport all B\nmeta import C\ndef x := 1")
    assert header.imports == ("A", "B", "C")
    assert header.modules == ("Init", "A", "B", "C")
    assert parse_header("prelude import X").modules == ("X",)
    for text in ("module prelude import X", "import A.B\nimport all «C d»", "prelude", ""):
        assert parse_header(f"{text} def x := 1").end == len(text)


def test_imported_modules_come_first() -> None:
    imports = {"D": ("B", "C"), "B": ("A",), "C": ("A",), "A": (), "E": ()}
    assert imported_first(imports, sorted(imports)) == ["A", "B", "C", "D", "E"]
    assert imported_first(imports, ["C"]) == ["A", "C"]
    names = [f"M{i}" for i in range(5000)]
    chain = {name: (after,) for name, after in itertools.pairwise(names)}
    assert imported_first({**chain, names[-1]: ()}, names)[0] == names[-1]  # without recursion


LAKEFILE_LEAN = """
import Lake
open Lake DSL

package «my package» where
  version := v!"0.1.0"

require mathlib from git "https://example.org/mathlib4" @ "v4.28.0"

-- lean_lib Commented

@[default_target]
lean_lib «Lib» where
  srcDir := "src"
  roots := #[`Lib, `Extra]

lean_lib Other {
  globs := #[.andSubmodules `Other]
}

lean_exe main where
  root := `Main
"""


def test_lakefile_in_lean(project: Project) -> None:
    folder = project({"lakefile.lean": LAKEFILE_LEAN, "src/Lib.lean": "", "Main.lean": ""})
    (folder / "lakefile.toml").unlink()
    assert read_project(folder).libraries == (
        Library("Lib", PurePosixPath("src"), ("Lib", "Extra")),
        Library("Other", PurePosixPath(), ("Other",)),
        Library("main", PurePosixPath(), ("Main",)),
    )


def test_sources_of_libraries(project: Project) -> None:
    lakefile = """
        name = "x"
        srcDir = "lean"
        [[lean_lib]]
        name = "Lib"
        [[lean_lib]]
        name = "Second"
        srcDir = "more"
        roots = ["Two"]
        [[lean_exe]]
        name = "run"
        root = "Main"
    """
    files = {
        "lean/Lib.lean": "",
        "lean/Lib/A/B.lean": "",
        "lean/more/Two.lean": "",
        "lean/Main.lean": "",
        "lean/Unrelated.lean": "",
        "lean/Lib/.lake/packages/dep/Dep.lean": "",
        "Scratch.lean": "",
    }
    assert {m: str(p) for m, p in read_project(project(files, lakefile)).sources().items()} == {
        "Lib": "lean/Lib.lean",
        "Lib.A.B": "lean/Lib/A/B.lean",
        "Main": "lean/Main.lean",
        "Two": "lean/more/Two.lean",
    }


def test_one_file_in_two_targets(project: Project) -> None:
    """Both names stand for it, one path does; it is traced once, as what others import."""
    lakefile = """
        name = "x"
        [[lean_lib]]
        name = "T"
        globs = ["tests.+"]
        [[lean_lib]]
        name = "Lib"
        srcDir = "src/../tests/."
        [[lean_lib]]
        name = "Linked"
        [[lean_exe]]
        name = "Check"
        srcDir = "tests"
        [[lean_exe]]
        name = "User"
    """
    files = {"tests/Check.lean": "", "tests/Lib.lean": "", "User.lean": "import Check"}
    folder = project({**files, "src/X.lean": ""}, lakefile)
    (folder / "Linked.lean").symlink_to("tests/Lib.lean")
    assert {m: str(p) for m, p in read_project(folder).sources().items()} == {
        "tests.Check": "tests/Check.lean",
        "tests.Lib": "tests/Lib.lean",
        "Lib": "tests/Lib.lean",
        "Linked": "tests/Lib.lean",
        "Check": "tests/Check.lean",
        "User": "User.lean",
    }
    workspace = read_workspace(read_project(folder))
    assert [f.module for f in workspace.own] == ["Check", "User", "tests.Lib"]
    alone = read_workspace(project_of_file(folder / "tests/Check.lean"))
    assert [f.module for f in alone.own] == ["Check"]


NEAR = {
    "toml": """
        name = "sub"
        [[require]]
        name = "inner"
        path = "packages/inner"
        [[require]]
        name = "far"
        git = "https://example.org/far"
        [[lean_lib]]
        name = "Out"
    """,
    "lean": """
        import Lake
        open Lake DSL
        package sub
        require far from git "https://example.org/far" @ "main"
        require «inner» from __dir__ / "packages" / "inner"
        lean_lib Out
    """,
}


@pytest.mark.parametrize("kind", NEAR)
def test_packages_that_are_required_by_a_path(project: Project, kind: str) -> None:
    """They are at hand without a manifest, those that they require in turn too."""
    inner = (
        'name = "inner"\n[[require]]\nname = "deep"\nsource = {type = "path", dir = "../deep"}\n'
    )
    files = {
        "Out.lean": "import Inn",
        "packages/inner/lakefile.toml": f'{inner}[[lean_lib]]\nname = "Inn"\n',
        "packages/inner/Inn.lean": "import Deep",
        "packages/deep/lakefile.toml": 'name = "deep"\n[[lean_lib]]\nname = "Deep"\n',
        "packages/deep/Deep.lean": "",
    }
    folder = project(files)
    (folder / "lakefile.toml").unlink()
    (folder / f"lakefile.{kind}").write_text(NEAR[kind])
    dependencies = (
        Dependency("inner", "packages/inner", path="packages/inner"),
        Dependency("deep", "packages/deep", path="packages/deep"),
    )
    assert read_project(folder).dependencies == dependencies
    workspace = read_workspace(read_project(folder))
    assert [(f.module, f.path, f.package) for f in workspace.all] == [
        ("Deep", "packages/deep/Deep.lean", "deep"),
        ("Inn", "packages/inner/Inn.lean", "inner"),
        ("Out", "Out.lean", ""),
    ]
    assert workspace.foreign() is None
    packages = [{"type": "path", "name": "inner", "dir": "elsewhere"}]
    (folder / "lake-manifest.json").write_text(json.dumps({"packages": packages}))
    assert read_project(folder).dependencies[0].path == "elsewhere"  # what is locked counts


def test_a_folder_with_a_toolchain_alone(tmp_path: Path) -> None:
    (tmp_path / "lean-toolchain").write_text("leanprover/lean4:v4.9.0\n")
    (tmp_path / "A.lean").write_text("import B.C")
    (tmp_path / "B").mkdir()
    (tmp_path / "B/C.lean").write_text("")
    project = read_project(tmp_path)
    assert project.lean_version == "v4.9.0"
    assert list(project.sources()) == ["A", "B.C"]


@pytest.mark.parametrize("lakefile", ["import Lake\nopen Lake DSL\npackage x\n", "package"])
def test_a_lakefile_without_a_library_is_one_of_all_files(project: Project, lakefile: str) -> None:
    folder = project({"lakefile.lean": lakefile, "A.lean": "", "B/C.lean": ""})
    assert list(read_project(folder).sources()) == ["A", "B.C"]


@pytest.mark.parametrize("content", [b"", b"\n\n", b"no version at all", b"\xff\xfe"])
def test_a_toolchain_that_names_none_is_no_obstacle(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "lean-toolchain").write_bytes(content)
    (tmp_path / "A.lean").write_text("")
    assert list(read_project(tmp_path).sources()) == ["A"]


def test_manifests(project: Project) -> None:
    folder = project({"Lib.lean": ""})
    packages = [
        {"type": "git", "name": "«doc-gen4»", "url": "https://example.org/d", "rev": "a" * 40},
        {"type": "path", "name": "near", "dir": "../near"},
        {"git": {"name": "old", "url": "https://example.org/o", "rev": "b" * 40}},
    ]
    manifest = {"version": 7, "packagesDir": ".lake/packages", "packages": packages}
    (folder / "lake-manifest.json").write_text(json.dumps(manifest))
    assert read_project(folder).dependencies == (
        Dependency("doc-gen4", "https://example.org/d", "a" * 40),
        Dependency("near", "../near", path="../near"),
        Dependency("old", "https://example.org/o", "b" * 40),
    )


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("lakefile.toml", "name = [", r"lakefile\.toml: cannot be read"),
        ("lakefile.toml", "", r"lakefile\.toml: declares nothing, .*; restore its content"),
        ("lakefile.lean", "", r"lakefile\.lean: declares nothing, .*; restore its content"),
        ("lakefile.lean", "import Lake -- package x", r"lakefile\.lean: declares nothing"),
        ("lake-manifest.json", "{", "not a Lake manifest"),
        ("lake-manifest.json", '{"packages": [{"type": "git"}]}', "not a Lake manifest"),
    ],
)
def test_broken_project_files(project: Project, name: str, content: str, message: str) -> None:
    folder = project({"Lib.lean": ""})
    (folder / name).write_text(content)
    with pytest.raises(TraceError, match=message):
        read_project(folder)


def test_a_project_without_files(project: Project) -> None:
    with pytest.raises(TraceError, match=r"has no Lean file in its libraries \(Lib\)"):
        read_workspace(read_project(project({})))


def test_files_in_no_library_are_known(project: Project) -> None:
    lakefile = 'name = "lib"\n[[lean_lib]]\nname = "Lib"\n'
    files = {"Lib.lean": "", "Lib/A.lean": "", "Scratch.lean": "", ".lake/build/X.lean": ""}
    found = read_project(project({"lakefile.toml": lakefile, **files}))
    assert found.outside() == [PurePosixPath("Scratch.lean")]


def test_a_byte_order_mark_is_no_text(project: Project) -> None:
    folder = project({"Lib.lean": ""})
    (folder / "Lib.lean").write_bytes(b"\xef\xbb\xbfimport Init.Data\r\n")
    (file,) = read_workspace(read_project(folder)).own
    assert file.text == "import Init.Data\n"
    assert file.header.imports == ("Init.Data",)


def test_a_file_that_is_not_text(project: Project) -> None:
    folder = project({"Lib.lean": ""})
    (folder / "Lib.lean").write_bytes(b"\xff\xfe")
    with pytest.raises(TraceError, match=r"Lib\.lean: it is not UTF-8"):
        read_workspace(read_project(folder))


def test_paths_of_modules(project: Project) -> None:
    folder = project({"Lib.lean": "import Dep.A\nimport Other.B"})
    dependency = folder / ".lake/packages/dep"
    dependency.mkdir(parents=True)
    (dependency / "lakefile.toml").write_text('name = "dep"\n[[lean_lib]]\nname = "Dep"\n')
    (dependency / "Dep").mkdir()
    (dependency / "Dep/A.lean").write_text("import Dep.B")
    (dependency / "Dep/B.lean").write_text("")
    (dependency / "Dep/Unused.lean").write_text("")
    git = {"type": "git", "url": "https://example.org/x", "rev": "a" * 40}
    manifest = {"packages": [{**git, "name": "dep"}, {**git, "name": "other"}]}
    (folder / "lake-manifest.json").write_text(json.dumps(manifest))
    workspace = read_workspace(read_project(folder))
    assert [file.module for file in workspace.all] == ["Dep.B", "Dep.A", "Lib"]
    assert [file.module for file in workspace.own] == ["Lib"]
    assert workspace.foreign() == ("Other.B", "Lib.lean")
    assert [
        workspace.path_of(module)
        for module in ("Lib", "Dep.B", "Other.B", "Init.Core", "Lake.Util", "Nowhere")
    ] == [
        "Lib.lean",
        ".lake/packages/dep/Dep/B.lean",
        ".lake/packages/other/Other/B.lean",
        ".lake/packages/lean4/src/lean/Init/Core.lean",
        ".lake/packages/lean4/src/lean/lake/Lake/Util.lean",
        None,
    ]
