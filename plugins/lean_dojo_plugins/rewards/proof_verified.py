"""The reward of whole proofs: Lean's full verification."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.rewards.adapter import Scores, completion_texts
from lean_dojo_plugins.rewards.judging import CachedJudge
from lean_dojo_plugins.rewards.replay import Judgement
from lean_dojo_plugins.rewards.shares import shares
from lean_dojo_plugins.rewards.tally import UnparsedTally
from lean_dojo_plugins.rewards.whole_proofs import ProofJudgement, judge_proofs, theorem_of
from lean_dojo_v2.lean.engines.selection import EngineName
from lean_dojo_v2.lean.pool.shared import shared_engines
from lean_dojo_v2.lean.verify.outcomes import Verdict


def _folders(given: Mapping[str, str | Path]) -> dict[str, Path]:
    return {url: Path(path) for url, path in given.items()}


@attrs.define(eq=False, slots=False)
class ProofVerified:
    """1 for a completion whose proof passes the full verification, else 0.

    A completion may hold the tactic block alone, the theorem with its proof, or text with fenced
    code, of which the last proof of the theorem counts; nothing inside ``<think>`` does. The
    theorem is elaborated again in its file's context, without itself in scope: an error, ``sorry``,
    a new axiom or a changed statement earns 0, and the reason is logged. A theorem that cannot be
    opened scores ``None``: the reward does not apply.

    With ``dense``, a proof that fails earns ``dense`` times the share of its lines that come before
    Lean's first error ("first failing tactic", arXiv:2606.20068); cheating earns nothing.

    Equal proofs of a theorem are verified once. The engines are shared with the other rewards of
    the process, and keep what they have elaborated of each header.
    """

    dense: float = attrs.field(
        default=0.0,
        converter=float,
        metadata={"help": "Most that a failing proof may earn, by where its first error stands."},
    )
    timeout: float = attrs.field(
        default=60.0, metadata={"help": "Seconds that Lean may take for one proof."}
    )
    engines: int | None = attrs.field(
        default=None, metadata={"help": "Lean engines per process; null: one per core."}
    )
    engine: EngineName = attrs.field(default="auto", metadata={"help": "auto, native or embedded."})
    projects: Mapping[str, Path] = attrs.field(
        factory=dict,
        converter=_folders,
        metadata={"help": "Folder of each repository, by address."},
    )
    cache_size: int = attrs.field(default=100_000, metadata={"help": "Judgements kept."})
    kept_projects: int = attrs.field(
        default=2, metadata={"help": "Maximum number of repositories whose engines stay open."}
    )

    def __attrs_post_init__(self) -> None:
        if not 0 <= self.dense < 1:
            raise UsageError(f"dense must be at least 0 and less than 1, not {self.dense}")
        if not self.timeout > 0:
            raise UsageError(f"timeout must be a positive number of seconds, not {self.timeout}")
        for name in ("engines", "kept_projects", "cache_size"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"{name} must be at least 1, not {value}")
        self._start()

    def _start(self) -> None:
        self._engines = shared_engines(
            engine=self.engine, size=self.engines, kept=self.kept_projects
        )
        self._judge = CachedJudge(self._engines, self.cache_size, judge_proofs)
        self._tally = UnparsedTally("proof-verified", "a block of tactics")

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the settings; engines and judgements belong to their process."""
        return {a.name: getattr(self, a.name) for a in attrs.fields(type(self))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._start()

    def __call__(
        self,
        completions: Sequence[Any],
        problem: Sequence[str] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> Scores:
        """Score a batch.

        Args:
            completions: Proofs, as texts or as TRL's message lists.
            problem: The statement of each theorem, up to and with ``:=``.
            log_metric: TRL's function for further metrics.
            **columns: The other columns of the formatter ``whole-proof``, or of a set of
                statements.

        Returns:
            One number or ``None`` per completion.

        Raises:
            UsageError: If there is no column ``problem`` or ``full_name``.
            EngineUnavailableError: If no Lean engine can serve this.
        """
        judgements = self.judgements(completions, problem=problem, **columns)
        if log_metric is not None and judgements:
            for name, share in shares(judgements).items():
                log_metric(name, share)
        return [self.score(judgement) for judgement in judgements]

    def judgements(self, completions: Sequence[Any], **columns: Any) -> list[Judgement]:
        """Return what Lean said of each completion, for listings.

        Raises:
            UsageError: If there is no column ``problem`` or ``full_name``.
            EngineUnavailableError: If no Lean engine can serve this.
        """
        if columns.get("problem") is None or columns.get("full_name") is None:
            raise UsageError(
                "proof-verified needs the columns 'problem' and 'full_name' with each "
                "completion's theorem; the formatter 'whole-proof' gives them"
            )
        texts = completion_texts(completions)
        lists = {
            name: values
            for name, values in columns.items()
            if isinstance(values, (list, tuple)) and len(values) == len(texts)
        }
        rows = [{name: values[i] for name, values in lists.items()} for i in range(len(texts))]
        questions = [
            (theorem_of(row, self.projects), text) for row, text in zip(rows, texts, strict=True)
        ]
        found = self._judge.judgements(questions, self.timeout)
        self._tally.count(questions, found)
        return found

    def score(self, judgement: Judgement) -> float | None:
        """Return the reward of a judgement."""
        if judgement.verdict is None:
            return None
        if judgement.verdict is Verdict.SOLVED:
            return 1.0
        return self.dense * judgement.progress if isinstance(judgement, ProofJudgement) else 0.0

    def close(self) -> None:
        """Release the engines, which other rewards may share; the next call starts new ones."""
        self._engines.close()
