"""Refuse hostile completions by their text and their syntax, before Lean runs them.

A model's completion is hostile input: a policy rewarded for "no error" finds every way to avoid
errors. These are the first two of three walls: the text alone (:func:`screen`), and Lean's own
parser (:func:`parse`), which must find exactly one tactic. The third is the axioms and the
statement of the finished declaration. The text wall is cheap and says *why*; it is deliberately
stricter than soundness needs, because a tactic that mentions ``sorry`` in a string is not a loss.
"""

import re
import unicodedata
from collections.abc import Collection
from enum import StrEnum

import attrs

from lean_dojo_v2.lean.client.records import GoalState
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import TacticParseError
from lean_dojo_v2.lean.text.lexer import all_tokens

MAX_TACTIC_CHARS = 2_000
MAX_PROOF_CHARS = 50_000
MAX_NESTING = 60
MAX_NUMERAL_DIGITS = 60
MAX_SEMICOLONS = 1_000
"""In one line; Lean's time grows with the square of their number."""


class Reason(StrEnum):
    """Why a completion was refused; the values appear in logs and reports."""

    EMPTY = "empty"
    TOO_LONG = "too-long"
    SEVERAL_LINES = "several-lines"
    CONTROL_CHARACTER = "control-character"
    COMMENT = "comment"
    NESTING = "deep-nesting"
    HUGE_NUMERAL = "huge-numeral"
    SORRY = "sorry"
    NATIVE = "native-code"
    AXIOM = "axiom"
    UNSAFE = "unsafe"
    METAPROGRAM = "metaprogram"
    OPTION = "option"
    SCOPE = "scope"
    COMMAND = "command"
    SEARCH = "search-tactic"
    ITSELF = "cites-itself"
    STATEMENT = "statement-changed"
    UNCHECKED = "unchecked"


MALFORMED_REASONS = frozenset({
    Reason.EMPTY, Reason.TOO_LONG, Reason.SEVERAL_LINES, Reason.COMMENT, Reason.NESTING,
    Reason.CONTROL_CHARACTER, Reason.HUGE_NUMERAL, Reason.SEARCH,
})  # fmt: skip
"""Reasons for texts that are not a tactic, rather than tricks."""


@attrs.frozen
class Refusal:
    """A refused completion: the class of trick, and one sentence about this completion."""

    reason: Reason
    detail: str

    def __str__(self) -> str:
        """Return ``reason: detail``."""
        return f"{self.reason}: {self.detail}"


# Refused as any component of a dotted name: `Lean.sorryAx`, `x.sorry`.
_COMPONENTS: dict[str, Reason] = {
    **dict.fromkeys(
        ["sorry", "sorryAx", "admit", "lcProof", "lcUnreachable", "lcAny"], Reason.SORRY
    ),
    **dict.fromkeys(
        ["native_decide", "native", "ofReduceBool", "ofReduceNat", "reduceBool", "reduceNat",
         "trustCompiler", "bv_decide", "implemented_by", "csimp"],
        Reason.NATIVE,
    ),
    **dict.fromkeys(
        ["ptrAddrUnsafe", "extern", "IO", "BaseIO", "EIO", "dbg_trace", "dbgTrace", "dbgTraceVal",
         "dbgSleep", "dbgStackTrace", "debug", "skipKernelTC"],
        Reason.UNSAFE,
    ),
    **dict.fromkeys(
        ["run_tac", "run_elab", "run_meta", "run_cmd", "by_elab", "eval_elab", "elab_rules",
         "macro_rules", "declare_syntax_cat", "MetaM", "TacticM", "TermElabM", "CommandElabM",
         "CoreM", "evalTactic", "elabTerm", "initialize", "builtin_initialize", "simproc",
         "builtin_simproc", "dsimproc"],
        Reason.METAPROGRAM,
    ),
}  # fmt: skip

# Refused as separate words: keywords, which Lean never reads as names.
_KEYWORDS: dict[str, Reason] = {
    "axiom": Reason.AXIOM,
    "set_option": Reason.OPTION,
    **dict.fromkeys(
        ["open", "local", "scoped", "attribute", "export", "namespace", "section", "end",
         "universe", "variable", "include", "omit", "seal", "unseal", "import", "prelude",
         "instance", "where"],
        Reason.SCOPE,
    ),
    **dict.fromkeys(
        ["elab", "macro", "syntax", "notation", "notation3", "infix", "infixl", "infixr", "prefix",
         "postfix", "mixfix"],
        Reason.METAPROGRAM,
    ),
    **dict.fromkeys(
        ["theorem", "lemma", "def", "abbrev", "example", "opaque", "structure", "class",
         "inductive", "coinductive", "mutual", "private", "protected", "public", "noncomputable",
         "partial", "nonrec", "deriving", "meta", "module", "add_decl_doc", "register_option",
         "termination_by", "decreasing_by"],
        Reason.COMMAND,
    ),
    **dict.fromkeys(["exact?", "apply?", "rw?", "rewrites?", "try?"], Reason.SEARCH),
}  # fmt: skip

# Letters of other scripts that look like Latin ones, enough to spell the words above.
_LOOK_ALIKES = str.maketrans(
    "аαсԁеоοрѕхуүіјκмтṡṛẏɑɩοгҮΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aacdeooрsxyyijkmtsryaiorYABEZHIKMNOPTYX".replace("р", "p"),
)

_WORD = re.compile(r"[^\W\d][\w'!]*(?:\?)?(?:\.[^\W\d][\w'!]*)*|(?<=#)[a-z]\w*")
_DIGITS = re.compile(r"\d[\d_]*")
_COMMENT = re.compile(r"--|/-|-/")
# A word after a hash: a command, or a tactic or term that no proof needs (Mathlib's
# `#search "…"` queries a server). No such name has one letter, but notation has: `#s` is the
# cardinality of the set `s`; and `#univ` is Mathlib's.
_HASH_WORD = re.compile(r"#\s*(?!univ\b)[a-z]\w*[a-z]")
_PERCENT = re.compile(r"\b(eval|by_elab|binop|include_str|compile_time|declare)\w*%")
# Positions where a word is a tactic's name, as `ext` in a proof of `Foo.ext`.
_TACTIC_BEGINS = re.compile(r"(?:^|\n|;|<;>|·|\bby)\s*\Z")
# Lean runs the value of a setting (`simp (config := f x)`, aesop's `simp_config`) as a program
# unless it is plain data: a structure of numbers, booleans and names, and of such structures.
_CONFIG = re.compile(r"\(\s*(?:\w+_)?config\s*:=")
_STRUCTURE = r"\{{\s*(?:[^\W\d][\w']*\s*:=\s*{value}\s*(?:,\s*|(?=\}})))*\}}"
_DATA = r"(?:\d+|true|false|\.[^\W\d]\w*)"
_DATA_OR_STRUCTURE = rf"(?:{_DATA}|{_STRUCTURE.format(value=_DATA)})"
_PLAIN_CONFIG = re.compile(
    rf"{_CONFIG.pattern}\s*{_STRUCTURE.format(value=_DATA_OR_STRUCTURE)}\s*\)"
)
_INCLUDE = re.compile(r"\b(include_str|include_bytes)\b")


def screen(
    text: str,
    *,
    whole_proof: bool = False,
    own_names: Collection[str] = (),
    allowed: Collection[str] = (),
) -> Refusal | None:
    """Judge a completion by its text alone; ``None`` means that it shows no trick.

    It is one tactic, or with ``whole_proof`` the lines of a tactic block, which may be longer and
    have comments with any word. It must not cite ``own_names``, those of the theorem that is being
    proved, nor have a refused keyword that is not ``allowed``.

    >>> str(screen("exact (sorry)"))
    "sorry: uses 'sorry'"
    >>> screen("rw [Nat.add_comm]") is None
    True
    """
    if refusal := _shape(text, whole_proof) or _characters(text) or _structure(text, whole_proof):
        return refusal
    code = _without_comments(text) if whole_proof else text
    return _words(code, allowed) or _settings(code) or _own_names(code, own_names)


def _shape(text: str, whole_proof: bool) -> Refusal | None:
    limit = MAX_PROOF_CHARS if whole_proof else MAX_TACTIC_CHARS
    if not text.strip():
        return Refusal(Reason.EMPTY, "nothing but white space")
    if len(text) > limit:
        return Refusal(Reason.TOO_LONG, f"{len(text)} characters, more than {limit}")
    if not whole_proof and re.search(r"[\n\r\v\f\x85\u2028\u2029]", text.strip()):
        return Refusal(Reason.SEVERAL_LINES, "a tactic is one line")
    return None


def _characters(text: str) -> Refusal | None:
    for character in text:
        category = unicodedata.category(character)
        if category in {"Cc", "Cf", "Cs", "Co", "Cn"} and character not in "\n\t":
            return Refusal(Reason.CONTROL_CHARACTER, f"contains U+{ord(character):04X}")
    return None


def _structure(text: str, whole_proof: bool) -> Refusal | None:
    if not whole_proof and (match := _COMMENT.search(text)):
        return Refusal(Reason.COMMENT, f"contains {match[0]!r}")
    depth = deepest = 0
    for character in text:
        if character in "([{⟨⦃‹":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")]}⟩⦄›":
            depth -= 1
    if deepest > MAX_NESTING:
        return Refusal(Reason.NESTING, f"brackets nested {deepest} deep, more than {MAX_NESTING}")
    longest = max((len(match[0]) for match in _DIGITS.finditer(text)), default=0)
    if longest > MAX_NUMERAL_DIGITS:
        return Refusal(Reason.HUGE_NUMERAL, f"a numeral of {longest} digits")
    most = max(line.count(";") for line in text.split("\n"))
    if most > MAX_SEMICOLONS:
        return Refusal(Reason.TOO_LONG, f"{most} semicolons in a line, more than {MAX_SEMICOLONS}")
    return None


def _without_comments(text: str) -> str:
    """Remove comments, which may use any word, if they are certainly comments.

    Next to a quotation mark none is. After another token (`//-1`, `<--1`) Lean may see no comment,
    and docstrings end elsewhere (`/--/`), so code could hide there.
    """
    if '"' in text or "«" in text:
        return text
    kept, position = "", 0
    for token in all_tokens(text):
        if token.kind not in {"comment", "doc"}:
            continue
        if token.kind == "doc" or text[max(token.start - 1, 0) : token.start].strip():
            break
        kept, position = kept + text[position : token.start], token.end
    return kept + text[position:]


def _words(text: str, allowed: Collection[str]) -> Refusal | None:
    if match := _PERCENT.search(text) or _INCLUDE.search(text):
        return Refusal(Reason.METAPROGRAM, f"uses {match[0]!r}")
    if match := _HASH_WORD.search(text):
        return Refusal(Reason.COMMAND, f"contains the command {text[match.start() :][:12]!r}")
    # «sorry» is the name sorry, and a look-alike is at best a mistake.
    plain = unicodedata.normalize("NFKC", text).replace("«", "").replace("»", "")
    for version in dict.fromkeys((plain, plain.translate(_LOOK_ALIKES))):
        for match in _WORD.finditer(version):
            word = match[0]
            # `.` before a keyword makes it a field: `h.local` is no scope.
            standalone = not version[: match.start()].endswith(".")
            if standalone and word not in allowed and (reason := _KEYWORDS.get(word)):
                return Refusal(reason, f"uses {word!r}")
            for part in re.split(r"[.?!]", word):
                if part.startswith("unsafe"):  # names like `unsafeRunMetaM` are many
                    return Refusal(Reason.UNSAFE, f"uses {part!r}")
                if reason := _COMPONENTS.get(part):
                    return Refusal(reason, f"uses {part!r}")
    return None


def _settings(text: str) -> Refusal | None:
    if _CONFIG.search(_PLAIN_CONFIG.sub("", text)):
        return Refusal(Reason.METAPROGRAM, "a config that is not a structure of plain values")
    return None


def _own_names(text: str, own_names: Collection[str]) -> Refusal | None:
    for name in own_names:
        if cites(text, name):
            return Refusal(Reason.ITSELF, f"cites {name!r}, which it should prove")
    return None


def cites(text: str, name: str) -> bool:
    """Whether a text may use a name as a constant, not as a field or a tactic's name.

    >>> cites("exact foo", "foo"), cites("exact h.foo", "foo"), cites("foo", "foo")
    (True, False, False)
    """
    plain = text.replace("«", "").replace("»", "")
    # Its auxiliaries (`foo.match_1`, `foo._unary`) start with the name; `foo'` is another one.
    pattern = rf"(?<![\w'!?]){re.escape(name)}(?![\w'!?])"
    for match in re.finditer(pattern, plain):
        before = plain[: match.start()]
        if "." not in name and _TACTIC_BEGINS.search(before):
            continue
        if not before.endswith(".") or before.endswith("_root_."):
            return True
    return False


_FORBIDDEN: tuple[tuple[Reason, re.Pattern[str]], ...] = tuple(
    (reason, re.compile(pattern))
    for reason, pattern in (
        (Reason.SORRY, r"Lean\.Parser\.(Tactic\.tactic(Sorry|Admit|Stop_)|Term\.sorry)"),
        (Reason.NATIVE, r"Lean\.Parser\.Tactic\.(nativeDecide|bvDecide|bvCheck|bvTrace)"),
        (Reason.OPTION, r"Lean\.Parser\.(Tactic|Term|Command|Tactic\.Conv)\.set_option"),
        (Reason.SCOPE, r"Lean\.Parser\.(Tactic|Term|Command|Tactic\.Conv)\.open\w*"),
        (Reason.UNSAFE, r"Lean\.Parser\.Term\.(unsafe|dbgTrace|panic|attributes)"),
        (
            Reason.METAPROGRAM,
            r"Lean\.(byElab|includeStr|Parser\.(Tactic|Term)\.(runTac|quot\w*))|.*\.(dynamicQ|q)uot",
        ),
        (Reason.SEARCH, r"Lean\.Parser\.Tactic\.(exact\?|apply\?|rewrites\?)"),
        (Reason.COMMAND, r"Lean\.Parser\.(Command|Termination)\..*"),
    )
)

_LET_REC = "Lean.Parser.Termination.suffix"
"""Syntax kinds of a `let rec`. Only a whole proof may contain one, since the goal after a single
tactic does not show whether the recursion terminates."""

_TERMINATION = ("Lean.Parser.Termination.terminationBy", "Lean.Parser.Termination.decreasingBy")


def parse(
    server: Server,
    tactic: str,
    *,
    state: GoalState | None = None,
    whole_proof: bool = False,
    helper: bool = False,
    own_names: Collection[str] = (),
    timeout: float | None = None,
) -> Refusal | None:
    """Let Lean parse a text as exactly one tactic (else: TacticParseError), and judge its syntax.

    Anything spelt in ways that a text search misses is refused by its kind of syntax. The
    environment of ``state``, for which it is, may know more syntax. ``whole_proof`` allows
    `let rec`, as the whole theorem is elaborated afterwards; ``helper`` also its termination.
    """
    answer = server.parse_tactic(tactic, state, timeout=timeout)
    if "parseError" in answer:
        raise TacticParseError(str(answer["parseError"]))
    allowed = {_LET_REC, *(_TERMINATION if helper else ())} if whole_proof else set()
    for kind in answer["kinds"]:
        for reason, pattern in _FORBIDDEN:
            if kind not in allowed and pattern.fullmatch(kind):
                return Refusal(reason, f"contains the syntax {kind}")
    if answer.get("evaluates"):
        return Refusal(Reason.METAPROGRAM, "a setting that is more than plain values")
    # Names as Lean reads them, without escapes.
    names = " ".join(name for name in answer["identifiers"] if name)
    # `exact`, because none of them is the name of a tactic.
    return screen(f"exact {names}", whole_proof=True, own_names=own_names) if names else None
