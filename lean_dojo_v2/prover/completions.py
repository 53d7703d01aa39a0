"""Texts of models: the prompt for a complete proof, and the parsing of completions."""

import re
import textwrap
from itertools import takewhile

from lean_dojo_core import Message
from lean_dojo_core.errors import UsageError
from lean_dojo_core.records import Theorem
from lean_dojo_v2.data import one_line
from lean_dojo_v2.lean import (
    CLOSERS,
    HELPER_DECLARATION,
    OPENERS,
    cites,
    code_tokens,
    declarations_of,
    split_statement,
    without_comments,
)

_FENCE = re.compile(r"```(?P<language>[\w-]*)[ \t]*\n(?P<body>.*?)(?:```|\Z)", re.DOTALL)
_LEAN = frozenset({"", "lean", "lean4", "tactics"})
_THOUGHT = r"(?:think|thinking|thought|reasoning)"
_NUMBERED = r"(?:\d+[.)]|[-*])[ \t]+(?=\S)"
"""Beginning of a line with a list's number or bullet."""
_DECLARATION = re.compile(
    r"^(?P<indent>[ \t]*)(?:@\[[^\]\n]*\]\s*)?(?:(?:private|protected|nonrec)\s+)*"
    r"(?P<keyword>theorem|lemma|example)\b\s*(?P<name>(?:«[^»\n]*»|\.(?!\{)|[^\s:({\[⦃.])*)",
    re.MULTILINE,
)
_CONTINUES = re.compile(r"\||:=|by\b|where\b|termination_by\b|decreasing_by\b")
"""The beginning of a line at a declaration's own column that belongs to it."""
_ENDS_IN_BY = re.compile(r"\bby\s*\Z")
_FIRST_WORD = re.compile(
    r"(?:@\[[^\]]*\]\s*)*(?:(?:private|protected|noncomputable)\s+)*(?P<word>\w+)"
)
_NO_HELPERS = frozenset({
    "instance", "notation", "notation3", "infix", "infixl", "infixr", "prefix", "postfix", "macro",
    "macro_rules", "syntax", "elab", "elab_rules", "declare_syntax_cat", "local", "scoped",
    "attribute", "axiom", "opaque", "class", "mutual", "unsafe", "partial", "initialize",
    "builtin_initialize", "simproc", "dsimproc", "run_cmd", "run_meta", "run_elab", "deriving",
    "add_decl_doc", "register_option", "export", "unseal", "seal",
})  # fmt: skip
"""Commands that change what a theorem says, or run programs: a proof that needs them is refused."""
_RECURSIVE = "itself_by_recursion"
"""Name of a theorem that a model proves by recursion."""
_PROOF = re.compile(r"(?::=[ \t]*)?(?:\n[ \t]*)?(?P<by>by\b)?[ \t]*")
_IMPORTS = ("import ", "public import ", "module", "prelude")
_WHOLE_PROOF = (
    "You write proofs in Lean 4. Given a theorem, output the tactic block that proves it: what "
    "follows `:= by`, one tactic a line, and nothing else. Never use `sorry` or `admit`."
)


def whole_proof_prompt(theorem: Theorem | str) -> list[Message]:
    """Return the conversation that asks for a complete proof."""
    return [
        {"role": "system", "content": _WHOLE_PROOF},
        {"role": "user", "content": statement_of(theorem).strip()},
    ]


def statement_of(theorem: Theorem | str) -> str:
    """Return the text of a theorem's statement; ``UsageError`` if a traced one has none."""
    statement = theorem if isinstance(theorem, str) else theorem.theorem_statement
    if not statement:
        raise UsageError("the theorem has no statement; trace its repository again")
    return statement


def with_context(before: str, statement: str) -> str:
    r"""Return a statement with the text before it, without imports, for a prompt.

    >>> with_context("import Mathlib\nopen Nat\n\n", "theorem t : 1 = 1 :=")
    'open Nat\n\ntheorem t : 1 = 1 :='
    """
    lines = (line for line in before.split("\n") if not line.startswith(_IMPORTS))
    context = "\n".join(lines).strip()
    return f"{context}\n\n{statement}" if context else statement


def name_of(theorem: Theorem | str) -> str | None:
    """Return the name of a theorem or of a statement's text; ``None`` if it has none.

    >>> name_of("theorem Foo.bar (n : Nat) : n = n :=")
    'Foo.bar'
    """
    if isinstance(theorem, Theorem):
        return theorem.full_name
    found = _DECLARATION.search(theorem)
    return found["name"] or None if found else None


def answer_of(text: str) -> str:
    r"""Return a completion's text after its thoughts; empty if there are only thoughts.

    >>> answer_of("<think>\ntry `rfl`\n</think>\n\nsimp"), answer_of("hm, rfl\n</think>\nsimp")
    ('simp', 'simp')
    """
    text = text.replace("\r\n", "\n")
    answer = re.split(rf"</{_THOUGHT}>", text)[-1]
    return re.split(rf"<{_THOUGHT}>", answer, maxsplit=1)[0].strip("\n")


def unfenced(text: str, full_name: str | None = None) -> str:
    r"""Return the code of a completion, moved to the left margin.

    That is the last code fence with the theorem; else the last with any theorem; else the last one;
    else the whole text.

    >>> unfenced("Sure!\n```lean\nintro n\nrfl\n```")
    'intro n\nrfl'
    """
    answer = answer_of(text)
    fences = list(_FENCE.finditer(answer))
    lean = [f for f in fences if f["language"].lower() in _LEAN and f["body"].strip()] or fences
    codes = [textwrap.dedent(fence["body"]).strip("\n") for fence in lean]
    if not codes:
        return textwrap.dedent(answer).strip("\n")
    stating = [code for code in codes if _DECLARATION.search(code)]
    own = [code for code in stating if full_name is not None and _stated(code, full_name)]
    return (own or stating or codes)[-1]


def first_tactic(text: str) -> str:
    r"""Return the first tactic of a completion, as one line if there is such a line.

    Surrounding text is dropped: the theorem, ``:= by``, a number, quotes, comments.

    >>> first_tactic("```lean\nexact by simp\n```"), first_tactic("1. `simp`")
    ('exact by simp', 'simp')
    >>> first_tactic("have h : 1 = 1 := by\n  rfl\nsimp")
    'have h : 1 = 1 := by rfl'
    """
    code = _quoted(re.sub(rf"\A\s*{_NUMBERED}", "", without_comments(_proof_in(unfenced(text)))))
    lines = [line for line in code.split("\n") if line.strip()]
    if not lines:
        return ""
    column = _column(lines[0])
    own = [lines[0], *takewhile(lambda line: _column(line) > column, lines[1:])]
    return _on_one_line(textwrap.dedent("\n".join(own)))


def proof_of(text: str, full_name: str) -> str:
    r"""Return the proof in a completion, a block of tactics: the text after ``:= by``.

    The completion may repeat the theorem, under its own name or as an ``example``. A proof that is
    a term, or has alternatives, becomes ``exact``; what follows ``where`` becomes ``let rec``.
    Lemmas stated before it become ``have``s; with definitions among them, all such declarations
    stay before the block (:mod:`lean_dojo_v2.lean.text.helpers`).

    >>> proof_of("theorem Foo.bar (n : Nat) : n = n := by\n  rfl", "Foo.bar")
    'rfl'
    >>> proof_of("lemma aux : 1 = 1 := rfl\ntheorem bar : 1 = 1 := aux", "Foo.bar")
    'have aux : 1 = 1 := rfl\nexact aux'
    >>> proof_of("def a := 1\nexample : a = 1 := by rfl", "Foo.bar")
    'def a := 1\nrfl'
    >>> proof_of("by simp", "Foo.bar"), proof_of("1. intro n\n2. rfl", "Foo.bar")
    ('simp', 'intro n\nrfl')
    """
    code = unfenced(text, full_name)
    last = list(_DECLARATION.finditer(code))[-1:]
    own = _stated(code, full_name) or [one for one in last if one["keyword"] == "example"]
    if not own:
        return _tactics(_quoted(_unlisted(code)))
    stated = own[-1]
    proof = _block(code, stated)
    if proof is None:
        return code
    names = _names(full_name)
    margin = textwrap.dedent(code[: stated.start()] + stated["indent"] + "\0").rstrip("\0 ")
    before = [
        helper
        for helper in _helpers(margin)
        if not (found := HELPER_DECLARATION.match(helper)) or found["name"] not in names
    ]
    if _is_recursive(stated, proof, names):
        before.append(_renamed(_declaration(code, stated), names))
        proof = f"apply {_RECURSIVE} <;> assumption"
    haves = [_as_have(one) for one in before]
    return "\n".join([*(before if None in haves else filter(None, haves)), proof])


def _names(full_name: str) -> set[str]:
    return {full_name, full_name.rpartition(".")[2], f"_root_.{full_name}"}


def _stated(code: str, full_name: str) -> list[re.Match[str]]:
    names = _names(full_name)
    return [one for one in _DECLARATION.finditer(code) if re.sub("[«»]", "", one["name"]) in names]


def _proof_in(code: str) -> str:
    found = list(_DECLARATION.finditer(code))
    proof = _block(code, found[-1]) if found else _tactics(code)
    return code if proof is None else proof


def _declaration(code: str, found: re.Match[str]) -> str:
    """Return a declaration from its keyword to the next line that does not continue it.

    After ``by``, Lean also takes tactics in the declaration's own column.
    """
    column = len(found["indent"])
    taken, *others = code[found.start("keyword") :].split("\n")
    at_margin = False
    for line in others:
        if line.strip() and _column(line) <= column and not _continues(taken, line.strip()):
            at_margin = at_margin or _ENDS_IN_BY.search(taken) is not None
            if not at_margin or _is_command(line.strip()):
                break
        taken += "\n" + line[column:]
    return taken.rstrip()


def _continues(taken: str, line: str) -> bool:
    """Whether a line at a declaration's own column belongs to it, perhaps by a closing bracket."""
    if line[0] not in CLOSERS:
        return _CONTINUES.match(line) is not None
    return sum((t.text in OPENERS) - (t.text in CLOSERS) for t in code_tokens(taken)) > 0


def _is_command(line: str) -> bool:
    word = _FIRST_WORD.match(line)
    return (
        line.startswith(("#", "@[", "/--", "\\"))
        or HELPER_DECLARATION.match(line) is not None
        or _DECLARATION.match(line) is not None
        or (
            word is not None
            and word["word"] in _NO_HELPERS | {"end", "open", "namespace", "section"}
        )
    )


def _block(code: str, found: re.Match[str]) -> str | None:
    """Return a declaration's proof as a block of tactics; ``None`` if it has none."""
    declaration = _declaration(code, found)
    place = split_statement(declaration)
    if place is None:
        return None
    is_term = declaration.startswith(":=", place[0])
    start = place[0] if is_term else place[1]
    end = _where(declaration, start)
    proof = declaration[start:end].rstrip()
    if is_term:
        proof = _tactics(proof)
    else:
        column = start - (declaration.rfind("\n", 0, start) + 1)
        alternatives = textwrap.dedent(" " * column + proof)
        proof = "exact fun\n" + textwrap.indent(alternatives, "  ")
    first, _, rest = declaration[end:].removeprefix("where").partition("\n")
    where = "\n".join(filter(None, [first.strip(), textwrap.dedent(rest)]))
    return "\n".join([*(f"let rec {one}" for one in declarations_of(where)), proof])


def _where(declaration: str, start: int) -> int:
    """Return the place of a declaration's ``where``, or its end."""
    depth = 0
    for token in code_tokens(declaration, start):
        depth += (token.text in OPENERS) - (token.text in CLOSERS)
        if token.text == "where" and depth == 0:
            return token.start
    return len(declaration)


def _helpers(text: str) -> list[str]:
    """Return the declarations before a theorem.

    Anything that is refused before a proof is among them, so that the refusal says what it is.
    """
    found = []
    for chunk in declarations_of(without_comments(text)):
        if HELPER_DECLARATION.match(chunk):
            found.append(re.sub(r"^((?:@\[[^\]]*\]\s*)*(?:\w+\s+)?)lemma\b", r"\1theorem", chunk))
        elif (word := _FIRST_WORD.match(chunk)) and word["word"] in _NO_HELPERS:
            found.append(chunk)
    return found


def _as_have(helper: str) -> str | None:
    """Return a lemma as a ``have``; ``None`` if it must stay a declaration."""
    found = HELPER_DECLARATION.match(helper)
    rest = "" if found is None else helper[found.end() :]
    if found is None or found["keyword"] != "theorem" or found["attributes"] or rest[:2] == ".{":
        return None
    words = {token.text for token in code_tokens(rest)}
    if words & {"where", "termination_by", "decreasing_by", found["name"]}:
        return None
    return f"have {found['name']}{rest}"


def _is_recursive(stated: re.Match[str], proof: str, names: set[str]) -> bool:
    """Whether a theorem's proof cites the theorem; Lean then wants the recursion to end."""
    plain = without_comments(proof)
    return stated["keyword"] != "example" and any(cites(plain, name) for name in names)


def _renamed(declaration: str, names: set[str]) -> str:
    """Return a recursive theorem under a name of its own."""
    kept, position = "", 0
    for number, token in enumerate(code_tokens(declaration)):
        around = declaration[max(0, token.start - 6) : token.end]  # enough to see a tactic's name
        is_own = token.text in names and (number == 1 or cites(around, token.text))
        if number == 0 or is_own:
            kept += declaration[position : token.start] + (_RECURSIVE if number else "theorem")
            position = token.end
    return kept + declaration[position:]


def _tactics(text: str) -> str:
    """Strip ``:=`` and ``by`` from a proof; a term becomes ``exact``."""
    start = _PROOF.match(text.lstrip("\n"))
    assert start is not None  # everything in it is optional
    body = text.lstrip("\n")[start.end() :]
    term = start["by"] is None and text.lstrip().startswith(":=")
    if start["by"] is None and not term:
        return text
    first, _, rest = body.partition("\n")
    body = "\n".join(filter(None, [first.strip(), textwrap.dedent(rest).rstrip().strip("\n")]))
    if not term:
        return body
    lines = body.split("\n")
    return f"exact {body}" if len(lines) == 1 else "exact\n" + textwrap.indent(body, "  ")


def _unlisted(code: str) -> str:
    """Strip the numbers or bullets of a list of tactics; those inside a tactic stay."""
    listed = code.strip("\n")
    if not re.match(_NUMBERED, listed):
        return code
    return re.sub(rf"(?m)^{_NUMBERED}(.*)", lambda item: _quoted(item[1]), listed)


def _quoted(code: str) -> str:
    """Return the text in back quotes, if it is the whole text or the only code in prose."""
    quoted = re.findall(r"`+([^`\n]+)`+", code)
    around = re.sub(r"`+[^`\n]+`+", "", code).strip()
    is_prose = not around or around[0].isupper() or around.endswith(":")
    return _tactics(quoted[0].strip()) if len(quoted) == 1 and is_prose else code


def _column(line: str) -> int:
    return len(line) - len(line.lstrip())


def _on_one_line(tactic: str) -> str:
    """Return a tactic as one line: joining an inner proof of several lines."""
    first, *rest = tactic.split("\n")
    if rest and first.endswith(" by") and len({_column(line) for line in rest}) == 1:
        inner = "; ".join(line.strip() for line in rest)
        return f"{first} {inner if len(rest) == 1 else f'({inner})'}"
    return one_line(tactic) or first.strip()
