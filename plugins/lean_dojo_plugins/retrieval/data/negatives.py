"""Negative premises: some from the positive's own file, others from any accessible file."""

from __future__ import annotations

import numpy as np

from lean_dojo_plugins.retrieval.data.corpus import Numbers, Visibility


def sample_negatives(
    visibility: Visibility,
    *,
    file: int,
    before: int,
    positive: int,
    positives: Numbers,
    count: int,
    in_file: int,
    rng: np.random.Generator,
) -> Numbers:
    """Draw distinct premises that the theorem may use and that its tactic does not use.

    Args:
        visibility: The accessible premises of each file.
        file: The theorem's file.
        before: Packed start of the theorem.
        positive: The item's positive premise, whose file gives the hard negatives.
        positives: All positives of the tactic.
        count: How many to draw.
        in_file: How many of them from the positive's file.
        rng: Random generator.

    Returns:
        At most ``count`` premise numbers. If one kind runs short the other fills up; if both
        do, there are fewer.
    """
    home = int(visibility.file_of[positive])
    near = np.arange(visibility.file_starts[home], visibility.file_starts[home + 1])
    near = near[visibility.sees(file, before, near) & ~np.isin(near, positives)]
    near = rng.permutation(near)
    wanted = count - min(in_file, count, len(near))
    imported = visibility.files_seen(file)
    imported[home] = False
    own = visibility.in_file(file, before) if file != home else np.zeros(0, dtype=np.int64)
    # Enough draws that all positives may be among them.
    far = _drawn(visibility, np.flatnonzero(imported), own, wanted + len(positives), rng)
    far = far[~np.isin(far, positives)][:wanted]
    return np.concatenate([near[: count - len(far)], far])


def _drawn(
    visibility: Visibility, files: Numbers, own: Numbers, count: int, rng: np.random.Generator
) -> Numbers:
    """Draw distinct premises, uniformly, from all of some files and from some others."""
    firsts = visibility.file_starts[files]
    sizes = visibility.file_starts[files + 1] - firsts
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    imported = int(bounds[-1])
    total = imported + len(own)
    drawn = rng.choice(total, size=min(total, count), replace=False, shuffle=True)
    outside = drawn[drawn < imported]
    place = np.searchsorted(bounds, outside, side="right") - 1
    premises = np.empty(len(drawn), dtype=np.int64)
    premises[drawn < imported] = firsts[place] + outside - bounds[place]
    premises[drawn >= imported] = own[drawn[drawn >= imported] - imported]
    return premises
