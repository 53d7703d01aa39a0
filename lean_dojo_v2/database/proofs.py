"""Proofs that were found: never lost, and logged."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from lean_dojo_core.records import Theorem

if TYPE_CHECKING:
    from lean_dojo_v2.database.repository import Repository


def keep_proofs(winner: Repository, other: Repository) -> None:
    """Move theorems that ``other`` has proven out of the unproved ones of ``winner``.

    So a proof is never lost because somebody stores a copy from before it was found.
    """
    proofs = {theorem.identity: theorem for theorem in other.sorry_theorems_proved}
    if not proofs:
        return
    found = [t.identity for t in winner.sorry_theorems_unproved if t.identity in proofs]
    if found:
        done = set(found)
        winner.sorry_theorems_unproved[:] = [
            theorem for theorem in winner.sorry_theorems_unproved if theorem.identity not in done
        ]
        winner.sorry_theorems_proved.extend(proofs[identity] for identity in found)


def log_proof(log_file: str | Path, theorem: Theorem) -> None:
    """Append a line about a proof that was found."""
    path = Path(log_file)
    path.parent.mkdir(parents=True, exist_ok=True)
    when = datetime.now(UTC).isoformat(timespec="seconds")
    with path.open("a", encoding="utf-8") as stream:
        stream.write(
            f"{when} {theorem.url} {theorem.commit}: {theorem.full_name} "
            f"({theorem.file_path}) changed from sorry to proven\n"
        )
