"""Problems of a search: a theorem in its file, or a bare goal."""

from __future__ import annotations

from typing import Protocol

import attrs

from lean_dojo_core.records import Theorem
from lean_dojo_v2.lean.client.records import GoalState
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.text.source import SourceTheorem
from lean_dojo_v2.lean.verify.outcomes import ProofOutcome
from lean_dojo_v2.lean.verify.proofs import PROOF_TIMEOUT
from lean_dojo_v2.lean.verify.states import open_expression
from lean_dojo_v2.lean.verify.tactics import check_goal_proof, check_proof, open_theorem
from lean_dojo_v2.prover.replay import Opens
from lean_dojo_v2.prover.suggestion import Place


class Problem(Opens, Protocol):
    """Something to prove."""

    @property
    def name(self) -> str:
        """Its name in results."""

    @property
    def place(self) -> Place | None:
        """Its place; ``None`` for a bare goal."""

    def check(self, server: Server, proof: str, *, timeout: float = PROOF_TIMEOUT) -> ProofOutcome:
        """Have Lean verify a finished proof in full.

        Args:
            server: The engine.
            proof: The tactics, one a line.
            timeout: Seconds that Lean may take.
        """


@attrs.frozen
class TheoremProblem:
    """A theorem of a file, to be proved in its file's context.

    Attributes:
        source: The theorem and its file.
        shown: What a model reads that writes a whole proof: a prompt's text, or the traced theorem;
            ``None``: the statement.
    """

    source: SourceTheorem
    shown: str | Theorem | None = attrs.field(default=None, eq=False)

    @property
    def name(self) -> str:
        """The theorem's full name."""
        return self.source.full_name

    @property
    def place(self) -> Place | None:
        """Its place in its file."""
        return Place(self.source.file_path, self.source.start)

    @property
    def own_names(self) -> tuple[str, ...]:
        """The theorem itself, by its full name and as its file writes it."""
        return self.source.own_names

    def open(self, server: Server) -> GoalState:
        """Open the goal of its statement."""
        return open_theorem(server, self.source)

    def check(self, server: Server, proof: str, *, timeout: float = PROOF_TIMEOUT) -> ProofOutcome:
        """Elaborate the theorem again with this proof."""
        return check_proof(server, self.source, proof, timeout=timeout)


@attrs.frozen
class GoalProblem:
    """A bare goal, given as an expression.

    Attributes:
        expression: The target, for example ``"∀ n : Nat, n + 0 = n"``.
        name: Its name in results.
    """

    expression: str
    name: str = "goal"
    place: None = None
    own_names: tuple[str, ...] = ()

    def open(self, server: Server) -> GoalState:
        """Open the goal; raises ``RequestError`` if Lean cannot read it as a proposition."""
        return open_expression(server, self.expression)[0]

    def check(self, server: Server, proof: str, *, timeout: float = PROOF_TIMEOUT) -> ProofOutcome:
        """Elaborate ``theorem … : expression := by proof``."""
        return check_goal_proof(server, self.expression, proof, timeout=timeout)
