"""A griffe extension: what reads well in an editor reads well on the page too.

Doctests become code blocks, roles such as ``:class:`Server` `` become code, and ``::`` before an
indented block becomes a colon.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(?:py:)?(?:class|func|meth|mod|attr|data|exc|obj):`~?\.?([^`]+)`")
_LITERAL = re.compile(r"::(?=\n\n[ \t]+\S)")
_DOCTEST = re.compile(r"(?:^[ \t]*(?=>>> )(?:.*\S.*\n?)+)", re.MULTILINE)


def as_markdown(text: str) -> str:
    """Turn a docstring's text into Markdown."""
    text = _LITERAL.sub(":", _ROLE.sub(r"`\1`", text))
    return _DOCTEST.sub(lambda match: _fenced(match[0]), text)


def _fenced(block: str) -> str:
    indent = block[: len(block) - len(block.lstrip(" \t"))]
    end = "\n" if block.endswith("\n") else ""
    return f"{indent}```pycon\n{block.rstrip()}\n{indent}```{end}"


class Docstrings(griffe.Extension):
    """Applies :func:`as_markdown` to every docstring."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:  # noqa: ARG002
        """Rewrite one object's docstring."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)
