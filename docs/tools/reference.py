"""Write the reference pages: the command line from click, the API from docstrings.

python docs/tools/reference.py           # write docs/reference
python docs/tools/reference.py --check   # exit with 1 if a page is out of date

Each page has a template in ``docs/tools/reference``. There ``<!-- commands -->`` stands for all
commands, and ``::: package.module.Object`` (with ``members: [a, b]`` below it, where not all are
meant) for the docstrings of an object. The pages are committed, so that they can be read where the
code is; nothing is imported to write the API (griffe reads the source).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import commands
import griffe
import rooms
from docstrings import Docstrings
from griffe2md import ConfigDict, render_object_docs

DOCS = Path(__file__).resolve().parent.parent
TEMPLATES = DOCS / "tools" / "reference"
PAGES = DOCS / "reference"
NOTE = "<!-- Written by docs/tools/reference.py; change docstrings or docs/tools/reference. -->"
OBJECT = re.compile(
    r"^::: (?P<name>[\w.]+)\n(?:    options:\n      members: \[(?P<members>[^\]]*)\]\n)?",
    re.MULTILINE,
)
LINK = re.compile(r"\[([^\[\]]*)\]\(#[^)]*\)")
PATHS = [DOCS.parent / room for room in ("core", "plugins", ".")]
OPTIONS: ConfigDict = {
    "docstring_section_style": "list",
    "heading_level": 2,
    "members_order": "source",
    "merge_init_into_class": True,
    "separate_signature": True,
    "show_root_full_path": True,
    "show_signature_annotations": True,
    "show_if_no_docstring": False,
    "show_submodules": False,
    "summary": False,
    "filters": ["!^_"],
}


def written(template: str, loader: griffe.GriffeLoader) -> str:
    """Give a page from its template."""
    head, _, rest = template.partition("\n")
    text = OBJECT.sub(lambda match: _object(match["name"], match["members"], loader), rest)
    if commands.MARK in text:
        text = text.replace(commands.MARK, "\n".join(commands.reference()))
    if rooms.MARK in text:
        text = text.replace(rooms.MARK, "\n".join(rooms.reference(loader)))
    lines = [line.rstrip() for line in f"{head}\n\n{NOTE}\n{text}".split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def _object(name: str, members: str | None, loader: griffe.GriffeLoader) -> str:
    found: griffe.Object | griffe.Alias = loader.modules_collection[name]
    chosen = [part.strip() for part in members.split(",")] if members else None
    if isinstance(found, griffe.Alias):
        found = found.final_target
    assert isinstance(found, griffe.Object)
    if chosen is None:  # what is described, and not merely imported
        public = {key: one for key, one in found.members.items() if not key.startswith("_")}
        chosen = [k for k, one in public.items() if not one.is_alias and one.has_docstring]
    # Its links are for a site with cross-references; the headings say where to look.
    # An empty list would mean all members, inherited and private ones too.
    text = render_object_docs(found, {**OPTIONS, "members": chosen or ["none"]})
    return LINK.sub(r"\1", LINK.sub(r"\1", text)) + "\n"


def main(arguments: list[str]) -> int:
    """Write or check every page."""
    loader = griffe.GriffeLoader(
        search_paths=PATHS,
        extensions=griffe.load_extensions(Docstrings),
        docstring_parser=griffe.Parser.google,
        allow_inspection=False,
    )
    for package in ("lean_dojo_core", "lean_dojo_plugins", "lean_dojo_v2"):
        loader.load(package)
    stale = []
    for template in sorted(TEMPLATES.glob("*.md")):
        page = PAGES / template.name
        text = written(template.read_text(encoding="utf-8"), loader)
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            stale.append(page.name)
            if "--check" not in arguments:
                page.write_text(text, encoding="utf-8")
    for name in stale:
        done = "out of date: run make reference" if "--check" in arguments else "written"
        sys.stderr.write(f"docs/reference/{name}: {done}\n")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
