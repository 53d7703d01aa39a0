"""Two small Lean 4 projects included in the package, and their traced databases.

``sample`` is a library of short facts on logic, booleans, numbers, lists, orders and trees;
``extra`` holds three developments with longer proofs, so that a curriculum has two repositories of
different difficulty. Both need core Lean only. Some theorems are left ``sorry`` for
provers.
"""

from pathlib import Path

from lean_dojo_core.errors import UsageError

_HERE = Path(__file__).resolve().parent

#: The folder of each sample project, by its name.
SAMPLE_PROJECTS: dict[str, str] = {"sample": "lean_project", "extra": "lean_project_2"}

#: The address that the sample database records for each; a theorem's split follows from it.
SAMPLE_URLS: dict[str, str] = {
    "sample": "https://github.com/lean-dojo/lean-dojo-sample",
    "extra": "https://github.com/lean-dojo/lean-dojo-sample-extra",
}


def sample_project_path(name: str = "sample") -> Path:
    """Return the folder of an included Lean project; for another name a ``UsageError``.

    It is ``"sample"`` (many short theorems) or ``"extra"`` (fewer, with longer proofs), and holds
    ``lakefile.toml``, ``lean-toolchain`` and the sources. Copy it before building in it: an
    installed package may be read-only.
    """
    if name not in SAMPLE_PROJECTS:
        known = ", ".join(sorted(SAMPLE_PROJECTS))
        raise UsageError(f"no sample project is called {name!r}; there are: {known}")
    return _HERE / SAMPLE_PROJECTS[name]


def packaged_project(url: str) -> Path | None:
    """Return the folder of a sample project by its (fictitious) address, or ``None``.

    >>> packaged_project("https://github.com/lean-dojo/lean-dojo-sample.git").name
    'lean_project'
    """
    address = url.rstrip("/").removesuffix(".git")
    name = next((name for name, known in SAMPLE_URLS.items() if known == address), None)
    return None if name is None else sample_project_path(name)


def sample_database_path() -> Path:
    """Return the traced database of both sample projects, in the ``dynamic_database.json`` schema.

    It is part of the package, so open a copy to change it.
    """
    return _HERE / "traced" / "sample.json"
