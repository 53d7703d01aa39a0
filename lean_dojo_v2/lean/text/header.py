"""The start of a Lean file: what it imports."""

from __future__ import annotations

import attrs

from lean_dojo_v2.lean.text.lexer import code_tokens

_IMPORT_MODIFIERS = frozenset({"public", "private", "meta"})
_IMPORT_QUALIFIERS = frozenset({"all", "runtime"})


@attrs.frozen
class Header:
    """The start of a file, up to its last import.

    Attributes:
        imports: The imported modules, in order; without an implicit ``Init``.
        is_prelude: Whether the file says ``prelude``, so that ``Init`` is not imported.
        end: Index in the text after it.
    """

    imports: tuple[str, ...] = ()
    is_prelude: bool = False
    end: int = 0

    @property
    def modules(self) -> tuple[str, ...]:
        """Names of the imported modules, each once, in order; with an implicit ``Init``."""
        names = [] if self.is_prelude else ["Init"]
        return tuple(dict.fromkeys([*names, *self.imports]))


def parse_header(text: str) -> Header:
    r"""Read ``module``, ``prelude`` and the imports at the start of a file.

    >>> parse_header("/- © -/ public import A.B -- first\nimport all C").imports
    ('A.B', 'C')
    """
    stream = code_tokens(text)
    token = next(stream, None)
    end = 0
    if token is not None and token.text == "module":
        end, token = token.end, next(stream, None)
    is_prelude = token is not None and token.text == "prelude"
    if token is not None and is_prelude:
        end, token = token.end, next(stream, None)
    imports: list[str] = []
    while token is not None:
        while token is not None and token.text in _IMPORT_MODIFIERS:
            token = next(stream, None)
        if token is None or token.text != "import":
            break
        token = next(stream, None)
        while token is not None and token.text in _IMPORT_QUALIFIERS:
            token = next(stream, None)
        if token is None or token.kind != "ident":
            break  # Lean will report the error
        imports.append(token.text.replace("«", "").replace("»", ""))
        end, token = token.end, next(stream, None)
    return Header(tuple(imports), is_prelude, end)
