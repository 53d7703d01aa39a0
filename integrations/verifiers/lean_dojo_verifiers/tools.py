"""The tools of a rollout. All that they hold is verifiers' state: the accepted tactics."""

from __future__ import annotations

import verifiers.v1 as vf
from pydantic import Field

from lean_dojo_verifiers.lean import ask

MAX_CHARACTERS = 2_000
"""Characters of one answer to the model; longer ones are cut."""
_ERRORS = {"unparsed": "not a tactic", "refused": "refused", "timed_out": "took too long"}


class LeanState(vf.State):
    """A proof as far as it is.

    Attributes:
        tactics: The tactics that Lean has accepted.
        finished: Whether they leave no goal.
        calls: Calls of tools so far.
    """

    tactics: list[str] = Field(default_factory=list)
    finished: bool = False
    calls: int = 0


class LeanToolsetConfig(vf.ToolsetConfig):
    """Where the tools ask, and how often.

    Attributes:
        server: Address of the ``lean-dojo serve``; the task's own unless given.
        max_calls: Calls of tools in one rollout; after them the proof stays as it is.
    """

    server: str = ""
    max_calls: int = 32


class LeanToolset(vf.Toolset[LeanToolsetConfig, LeanState]):
    """``tactic``, ``undo`` and ``state`` for one theorem."""

    TOOL_PREFIX = None  # the tools are called as the prompt calls them

    async def setup_task(self, task: vf.TaskData) -> None:
        """Take the rollout's theorem."""
        self.problem: dict[str, str] = task.problem  # type: ignore[attr-defined]

    @vf.tool
    async def tactic(self, tactic: str) -> str:
        """Apply one Lean 4 tactic, on one line, to the first goal; give the goals that are left."""
        if refused := self._spend():
            return refused
        if self.state.finished:
            return f"The proof is finished already.\n{await self._shown()}"
        answer = await ask(
            self.config.server, "tactic", self.problem, tactics=self.state.tactics, tactic=tactic
        )
        if answer["state"] is None:
            kind = _ERRORS.get(answer["verdict"], "tactic failed")
            return f"Error ({kind}): {_cut(answer['detail'])}\nNothing was changed."
        self.state.tactics = [*self.state.tactics, tactic.strip()]
        self.state.finished = answer["solved"]
        return await self._shown() if answer["solved"] else _cut(answer["state"])

    @vf.tool
    async def undo(self) -> str:
        """Take the last accepted tactic back; give the goals before it."""
        if refused := self._spend():
            return refused
        if not self.state.tactics:
            return f"There is nothing to take back.\n{await self._shown()}"
        self.state.tactics = self.state.tactics[:-1]
        self.state.finished = False
        return await self._shown()

    @vf.tool(name="state")
    async def show(self) -> str:
        """Show the goals that are left, the tactics so far, and how many calls are left."""
        if refused := self._spend():
            return refused
        played = "\n".join(self.state.tactics) or "(none)"
        left = self.config.max_calls - self.state.calls
        return f"{await self._shown()}\n\nTactics so far:\n{played}\n\nCalls left: {left}"

    def _spend(self) -> str | None:
        """Count a call; say so if there was none left."""
        if self.state.calls >= self.config.max_calls:
            return f"All {self.config.max_calls} calls are spent. The proof stays as it is."
        self.state.calls += 1
        return None

    async def _shown(self) -> str:
        if not self.state.finished:
            asked = await ask(
                self.config.server, "tactic", self.problem, tactics=self.state.tactics
            )
            return _cut(asked["state"])
        proof = "\n".join(self.state.tactics)
        whole = await ask(self.config.server, "proof", self.problem, proof=proof)
        if whole["valid"]:
            return "no goals\nThe proof is finished, and full verification accepts it."
        return (
            f"no goals\nBut full verification refuses the proof: {_cut(whole['detail'])}\n"
            "Take tactics back with `undo`."
        )


def _cut(text: str) -> str:
    more = len(text) - MAX_CHARACTERS
    return text if more <= 0 else f"{text[:MAX_CHARACTERS]}… ({more} characters more)"


if __name__ == "__main__":
    LeanToolset.run()
