"""The start of a Lean file: what it imports."""

from itertools import chain, repeat

import attrs

from lean_dojo_v2.lean.text.lexer import Token, code_tokens

_IMPORT_MODIFIERS = frozenset({"public", "private", "meta"})
_IMPORT_QUALIFIERS = frozenset({"all", "runtime"})
_END = Token("end", 0, 0, "")


@attrs.frozen
class Header:
    """The start of a file, up to its last import, after which the text goes on at index ``end``.

    The ``imports`` are in order, without an implicit ``Init``, which a ``prelude`` does not import.
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
    stream = chain(code_tokens(text), repeat(_END))
    token, end = next(stream), 0
    if token.text == "module":
        end, token = token.end, next(stream)
    if is_prelude := token.text == "prelude":
        end, token = token.end, next(stream)
    imports: list[str] = []
    while True:
        while token.text in _IMPORT_MODIFIERS:
            token = next(stream)
        if token.text != "import":
            break
        token = next(stream)
        while token.text in _IMPORT_QUALIFIERS:
            token = next(stream)
        if token.kind != "ident":
            break  # Lean will report the error
        imports.append(token.text.replace("«", "").replace("»", ""))
        end, token = token.end, next(stream)
    return Header(tuple(imports), is_prelude, end)
