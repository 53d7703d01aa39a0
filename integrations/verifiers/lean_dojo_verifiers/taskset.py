"""The taskset: theorems of a file, and the reward that the server's full verification gives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import verifiers.v1 as vf

from lean_dojo_verifiers.lean import ask
from lean_dojo_verifiers.tools import LeanState, LeanToolset, LeanToolsetConfig

PROMPT = (
    "Prove this theorem in Lean 4. Send one tactic at a time with the tool `tactic`; `undo` takes "
    "the last one back, `state` shows what is left to prove.\n\n"
)
KEYS = ("goal", "name", "formal_statement", "header")


class LeanData(vf.TaskData):
    """One theorem.

    Attributes:
        problem: ``goal``; or ``name``, ``formal_statement`` and perhaps ``header``.
    """

    problem: dict[str, str]


class LeanTaskConfig(vf.TaskConfig):
    """Where Lean is.

    Attributes:
        server: Address of a ``lean-dojo serve``.
        tools: The tools' settings.
    """

    server: str = "http://127.0.0.1:8000"
    tools: LeanToolsetConfig = LeanToolsetConfig()


class LeanTask(vf.Task[LeanData, LeanState, LeanTaskConfig]):
    """A theorem with its tools and its reward."""

    @classmethod
    def toolsets(cls, config: LeanTaskConfig) -> list[vf.Toolset]:
        """Give the tools, which ask the task's server unless they have one of their own."""
        server = config.tools.server or config.server
        return [LeanToolset(config.tools.model_copy(update={"server": server}))]

    @vf.reward
    async def proved(self, trace: vf.Trace) -> float:
        """1.0 for a proof that full verification accepts, else 0.0."""
        tactics = trace.state.tactics
        if not tactics:
            return 0.0
        proof = "\n".join(tactics)
        answer = await ask(self.config.server, "proof", self.data.problem, proof=proof)
        return float(answer["valid"])

    @vf.metric
    async def tool_calls(self, trace: vf.Trace) -> float:
        """Calls of tools."""
        return float(trace.state.calls)


class LeanTasksetConfig(vf.TasksetConfig):
    """Which theorems.

    Attributes:
        problems: A JSONL file: ``goal`` in a line, or ``name``, ``formal_statement`` and perhaps
            ``header``, as in miniF2F.
        split: Take this split alone.
        task: Where Lean is.
    """

    problems: Path | None = None
    split: str | None = None
    task: LeanTaskConfig = LeanTaskConfig()


class LeanTaskset(vf.Taskset[LeanTask, LeanTasksetConfig]):
    """Theorems of a file."""

    def load(self) -> Iterator[LeanTask]:
        """Give the theorems in the order of the file.

        Raises:
            ValueError: No file is named, or a line states no theorem.
        """
        path = self.config.problems
        if path is None:
            raise ValueError("name the theorems: --env.taskset.problems FILE.jsonl")
        for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
            if not line.strip():
                continue
            row = json.loads(line)
            problem = {key: row[key] for key in KEYS if row.get(key)}
            if "goal" in problem and "formal_statement" in problem:
                del problem["goal"]  # some files repeat the target
            if not problem.keys() & {"goal", "formal_statement"}:
                raise ValueError(f"{path}, line {number}: no 'goal' and no 'formal_statement'")
            if self.config.split in {None, row.get("split")}:
                yield LeanTask(_data(problem), self.config.task)


def _data(problem: dict[str, str]) -> LeanData:
    name = problem.get("name")
    if "goal" in problem:
        asked = {"goal": problem["goal"]}
        statement = problem["goal"]
    else:
        asked = problem
        statement = problem.get("header", "") + problem["formal_statement"]
    return LeanData(name=name, prompt=PROMPT + statement, problem=asked)
