"""Changed files as patches that ``git apply`` takes."""

from __future__ import annotations

import difflib
import re


def file_patch(old: str, new: str, path: str) -> str:
    r"""Return a unified diff of one file.

    Args:
        old: Its text, with original line endings.
        new: Its new text.
        path: Its path relative to the folder where the patch is applied, with ``/``.

    >>> print(file_patch("a\n", "b\n", "x"), end="")
    --- a/x
    +++ b/x
    @@ -1 +1 @@
    -a
    +b
    """
    # Split where git does, and nowhere else (``str.splitlines`` knows ten line ends).
    before, after = (re.findall(r"[^\n]*\n|[^\n]+", text) for text in (old, new))
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in difflib.unified_diff(before, after, f"a/{path}", f"b/{path}")
    )
