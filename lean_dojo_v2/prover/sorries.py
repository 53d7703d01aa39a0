"""The ``sorry``s of a file as problems, proved in place and filled in."""

import re
from collections.abc import Iterator, Mapping, Sequence

import attrs

from lean_dojo_v2 import lean
from lean_dojo_v2.prover.problem import Problem, TheoremProblem
from lean_dojo_v2.prover.suggestion import Place

FILE_TIMEOUT = 300.0
"""Time limit for a whole file, in seconds."""

_PROVED = frozenset({"theorem", "lemma", "example"})
_DECLARES = _PROVED | {"def", "abbrev", "instance", "opaque", "structure", "class", "mutual"}
_NAMELESS = frozenset({"command", "instance", "mutual"})
"""Keywords that need no name."""
_TERM_FOLLOWS = frozenset({":=", "from", "exact", "(", ",", "⟨", "<|", "$"})
_EITHER_FOLLOWS = frozenset({"=>", "then", "else"})
_PRIVATE = re.compile(r"_private\..*?\.\d+\.")


@attrs.frozen
class UnprovedDeclaration:
    """A declaration of a file with ``sorry``s, numbered from 0."""

    source: lean.SourceTheorem
    written: str = attrs.field(repr=False)  # its text in the file
    start: int  # index of that text in the file
    sorries: tuple[tuple[int, int], ...]  # their ranges, as indices into that text
    example: tuple[str, int] | None = None  # generated name of an `example`, its place in the text
    trouble: str = ""  # why nothing in it can be proved

    @property
    def name(self) -> str:
        """Its full name."""
        return self.source.full_name

    @property
    def is_whole(self) -> bool:
        """Whether its only ``sorry`` is its whole proof."""
        _, end = self.sorries[0]
        proof = self.source.declaration[len(self.source.head) :]
        only = [token.text for token in lean.code_tokens(proof)]
        return end == len(self.written) and only in ([":=", "sorry"], [":=", "by", "sorry"])

    def filled(self, proofs: Mapping[int, str], *, as_terms: bool = False) -> str:
        """Return its text with some of its ``sorry``s replaced by tactic blocks.

        With ``as_terms``, an ambiguous ``sorry`` is a term, not a tactic.
        """
        text = self.written
        for number in sorted(proofs, reverse=True):
            start, end = self.sorries[number]
            block = _in_place(self.written, start, proofs[number], as_terms)
            text = text[:start] + block + text[end:]
        return text

    def check(
        self, server: lean.Server, proofs: Mapping[int, str], timeout: float = lean.PROOF_TIMEOUT
    ) -> tuple[lean.ProofOutcome, str]:
        """Check it with proofs for some or all of its ``sorry``s; return the checked text, too.

        With proofs for all of them this is full verification. With fewer, Lean must report no error
        and only the remaining ``sorry``s.
        """
        for as_terms in (False, True):
            text = self.filled(proofs, as_terms=as_terms)
            if len(proofs) == len(self.sorries):
                outcome = lean.check_declaration(
                    server, self.source, self._named(text), timeout=timeout
                )
            else:
                outcome = self._check_part(server, text, len(self.sorries) - len(proofs))
            if outcome.valid or text == self.filled(proofs, as_terms=True):
                break
        return outcome, text

    def _named(self, text: str) -> str:
        return text if self.example is None else _as_theorem(text, *self.example)

    def _check_part(self, server: lean.Server, text: str, left: int) -> lean.ProofOutcome:
        before = self.source.before
        whole = f"{before}{self._named(text)}{self.source.closing}"
        begin = len(before.encode())
        units = [unit for unit in _units(server, whole) if unit.i_end > begin]
        if error := next((error for unit in units for error in unit.errors), None):
            return lean.ProofOutcome(False, str(error))
        found = sum(len(unit.goal_src_boundaries or ()) for unit in units)
        return lean.ProofOutcome(found == left, "" if found == left else "it uses sorry")


@attrs.frozen
class Sorry:
    """One ``sorry`` of a file: line and column count from 1, its goal is as Lean prints it."""

    declaration: UnprovedDeclaration
    number: int
    line: int
    column: int
    goal: str

    def problem(self) -> Problem:
        """Return the problem for a prover: the theorem, or the ``sorry`` inside its proof."""
        whole = self.declaration.is_whole
        return TheoremProblem(self.declaration.source) if whole else self

    @property
    def name(self) -> str:
        """The declaration's name, with the position if ambiguous."""
        name = self.declaration.name
        return name if len(self.declaration.sorries) == 1 else f"{name}:{self.line}:{self.column}"

    @property
    def place(self) -> Place:
        """The place of its declaration."""
        return Place(self.declaration.source.file_path, self.declaration.source.start)

    @property
    def own_names(self) -> tuple[str, ...]:
        """Names of the theorem around it."""
        return self.declaration.source.own_names

    def open(self, server: lean.Server) -> lean.GoalState:
        """Open its goal; raises ``LeanError`` also if Lean no longer finds it."""
        declaration = self.declaration
        start, _ = declaration.sorries[self.number]
        text = declaration.source.text[: declaration.start] + declaration.written
        place = len(text[: declaration.start + start].encode())
        for unit in _units(server, text):
            for index, (begin, _) in enumerate(unit.goal_src_boundaries or ()):
                if begin == place and unit.goal_state is not None:
                    goal = unit.goal_state.goals[index]
                    return server.goal_resume(unit.goal_state, [goal])
        raise lean.LeanError(f"{self.name}: Lean finds no sorry at its place")

    def check(
        self, server: lean.Server, proof: str, *, timeout: float = lean.PROOF_TIMEOUT
    ) -> lean.ProofOutcome:
        """Check the declaration with this proof in place; other ``sorry``s are kept."""
        refused = lean.judge_text(server, proof, self.own_names, lambda: self.open(server), timeout)
        if refused is not None:
            return refused
        return self.declaration.check(server, {self.number: proof}, timeout)[0]


def find_sorries(server: lean.Server, text: str, file_path: str) -> tuple[list[Sorry], list[str]]:
    """Find every ``sorry`` of a file, in order, and the errors that Lean reports of it.

    If it imports from a project, that is the engine's. ``RequestError`` if the file cannot be
    opened: its header, or a module that it imports.
    """
    found: list[Sorry] = []
    units, places = _units(server, text), lean.PositionMap(text)
    for unit in units:
        if not unit.goal_src_boundaries or unit.goal_state is None:
            continue
        declaration = _declaration(places, unit, file_path)
        for number, (start, _) in enumerate(declaration.sorries):
            line, column = places.position(declaration.start + start)
            goal = str(unit.goal_state.goals[number])
            found.append(Sorry(declaration, number, line, column, goal))
    errors = [f"{file_path}:{error}" for unit in units for error in unit.errors]
    return found, errors


def _units(server: lean.Server, text: str) -> list[lean.CompilationUnit]:
    return server.process(
        text, read_header=True, sorrys=True, new_constants=True, timeout=FILE_TIMEOUT
    )


def _declaration(
    places: lean.PositionMap, unit: lean.CompilationUnit, file_path: str
) -> UnprovedDeclaration:
    text, index = places.text, places.index_of_byte
    start = index(unit.i_begin)
    written = text[start : index(unit.i_end)].rstrip()
    sorries = tuple((index(a) - start, index(b) - start) for a, b in unit.goal_src_boundaries or ())
    line, column = places.position(start)
    keyword, name = _head(written)
    example, full_name, trouble = None, name, ""
    whole = text
    if keyword is None or keyword.text not in _PROVED:
        word = "command" if keyword is None else keyword.text
        trouble = f"it is in a {word}, not in a theorem: only the proof of a theorem can be checked"
        if word in _NAMELESS:
            full_name = f"{word}_at_line_{line}"
    elif keyword.text == "example":
        full_name = f"example_at_line_{line}"
        example = (full_name, keyword.start)
        whole = _as_theorem(text, full_name, start + keyword.start)
    else:
        known = [_PRIVATE.sub("", constant) for constant in unit.new_constants or ()]
        last = name.removeprefix("_root_.")
        ours = [one for one in known if one == last or one.endswith(f".{last}")]
        full_name = min(ours, key=len, default=last)
        if not ours:
            trouble = "Lean does not accept the theorem even with sorry"
    end = start + len(written) + len(whole) - len(text)
    ends = lean.PositionMap(whole).position(end)
    source = lean.SourceTheorem(whole, full_name, file_path, (line, column), ends)
    if not trouble:
        try:
            _ = source.head
        except lean.LeanError as error:
            trouble = str(error)
    return UnprovedDeclaration(source, written, start, sorries, example, trouble)


def _as_theorem(text: str, name: str, place: int) -> str:
    """Give the ``example`` at a place in a text a name."""
    return f"{text[:place]}theorem _root_.{name}{text[place + len('example') :]}"


def _head(text: str) -> tuple[lean.Token | None, str]:
    depth = 0
    words: Iterator[lean.Token] = lean.code_tokens(text)
    for token in words:
        depth += (token.text in lean.OPENERS) - (token.text in lean.CLOSERS)
        if depth == 0 and token.text in _DECLARES:
            following = next(words, None)
            return token, "" if following is None else following.text
    return None, ""


def _in_place(text: str, start: int, proof: str, as_term: bool) -> str:
    """Format a block of tactics in place of a ``sorry``, as tactics or as a term."""
    column = start - (text.rfind("\n", 0, start) + 1)
    before: Sequence[lean.Token] = list(lean.code_tokens(text, 0, start))
    last = before[-1] if before else lean.Token("symbol", 0, 0, "")
    lines = proof.strip("\n").split("\n")
    own_line = "\n" in text[last.end : start]
    is_term = last.text in _TERM_FOLLOWS or (as_term and last.text in _EITHER_FOLLOWS)
    if is_term:
        bare = last.text in {":=", "=>", "from"}
        opening, closing = ("by ", "") if bare else ("(by ", ")")
    else:
        alone = own_line or last.text in {"by", "·", "."} or len(lines) == 1
        opening, closing = ("", "") if alone else ("(", ")")
    return opening + f"\n{' ' * (column + len(opening))}".join(lines) + closing
