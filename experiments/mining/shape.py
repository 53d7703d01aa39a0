"""What a statement says, whatever things are called in it: to keep benchmarks out of training."""

from __future__ import annotations

import re

from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.lean.text.lexer import code_tokens
from lean_dojo_v2.sample import sample_database_path

_NAME = re.compile(
    r"^\s*(?:@\[[^\]]*\]\s*)?(?:private |protected )*(?:theorem|lemma)\s+"
    r"[^\s({\[⦃:]+?(?:\.\{[^}]*\})?(?=[\s({\[⦃:])"
)
_BRACKETS = str.maketrans("{}[]⦃⦄", "()()()")
_GROUP = re.compile(r"\((\w+(?: \w+)+) : ([^()]*)\)")

_WORDS = frozenset({"Type", "Prop", "Sort", "fun", "if", "then", "else", "match", "with", "let"})


def shape(statement: str) -> str:
    """Return a statement without its names: statements that differ only in names share a shape.

    Every identifier is a number, the theorem's own name and universe levels are gone, binders are
    of one kind and introduce one variable each. Statements of one shape need not say the same.

    >>> shape("theorem a.b.{u} {α : Type u} (x y : α) : x = y :=")
    '( v0 : Type v1 ) ( v2 : v0 ) ( v3 : v0 ) : v2 = v3'
    >>> shape("lemma c {β : Type v} (a : β) (b : β) : a = b := by") == shape(
    ...     "theorem a.b.{u} {α : Type u} (x y : α) : x = y :="
    ... )
    True
    """
    text = " ".join(_NAME.sub(" ", statement, count=1).split())
    text = text.removesuffix("by").rstrip().removesuffix(":=").translate(_BRACKETS)
    text = _GROUP.sub(lambda m: " ".join(f"({name} : {m[2]})" for name in m[1].split()), text)
    numbers: dict[str, str] = {}
    words = []
    for token in code_tokens(text):
        is_name = token.kind == "ident" and token.text not in _WORDS
        words.append(numbers.setdefault(token.text, f"v{len(numbers)}") if is_name else token.text)
    return " ".join(words)


def sample_shapes() -> frozenset[str]:
    """Return the shapes of all theorems of the shipped sample."""
    return frozenset(
        shape(theorem.theorem_statement)
        for repository in DynamicDatabase(sample_database_path()).repositories
        for theorem in repository.iter_theorems()
        if theorem.theorem_statement
    )
