"""Write the tables of settings into the pages, from the fields that the programs read.

python docs/tools/settings_tables.py           # rewrite the pages
python docs/tools/settings_tables.py --check   # exit with 1 if a page is out of date

A table stands between ``<!-- settings: KIND NAME -->`` and ``<!-- end settings -->``; KIND is a
registry's name, or ``class`` with ``module:attribute``.
"""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from typing import Any

from lean_dojo_core import registry
from lean_dojo_core.settings import Setting, settings_of

DOCS = Path(__file__).resolve().parent.parent
BLOCK = re.compile(
    r"(?P<head><!-- settings: (?P<kind>[\w-]+) (?P<name>\S+) -->\n).*?"
    r"(?P<tail><!-- end settings -->)",
    re.DOTALL,
)


def target_of(kind: str, name: str) -> Any:
    """Find the object whose settings a table shows."""
    if kind == "class":
        module, _, attribute = name.partition(":")
        return getattr(importlib.import_module(module), attribute)
    return registry.registries()[kind][name].load()


def table(target: Any) -> str:
    """Give the settings of a class as a Markdown table."""
    rows = ["| setting | type | default | what it does |", "|---|---|---|---|"]
    rows += [_row(setting) for setting in settings_of(target)]
    return "\n".join(rows) + "\n"


def _row(setting: Setting) -> str:
    kind, text = _code(setting.type_text), setting.help.replace("|", "&#124;")
    return f"| `{setting.name}` | {kind} | {_default(setting)} | {text} |"


def _code(text: str) -> str:
    """Write code that may hold the sign that divides cells; a backslash would show."""
    return f"<code>{text.replace('|', '&#124;')}</code>" if "|" in text else f"`{text}`"


def _default(setting: Setting) -> str:
    if setting.required:
        return "required"
    if setting.computed:
        return "computed"
    return _code(repr(setting.default))


def updated(text: str) -> str:
    """Give a page with its tables written anew."""
    return BLOCK.sub(
        lambda match: (
            f"{match['head']}\n{table(target_of(match['kind'], match['name']))}\n{match['tail']}"
        ),
        text,
    )


def main(arguments: list[str]) -> int:
    """Rewrite or check every page."""
    stale = []
    for page in sorted(DOCS.rglob("*.md")):
        before = page.read_text(encoding="utf-8")
        after = updated(before)
        if after != before:
            stale.append(page.relative_to(DOCS))
            if "--check" not in arguments:
                page.write_text(after, encoding="utf-8")
    for path in stale:
        done = "written"
        if "--check" in arguments:
            done = "out of date: run python docs/tools/settings_tables.py"
        sys.stderr.write(f"{path}: settings {done}\n")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
