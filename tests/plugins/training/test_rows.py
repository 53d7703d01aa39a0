"""Rows on disk, batches of similar length."""

from __future__ import annotations

import pytest

from lean_dojo_core.errors import DataError
from lean_dojo_plugins.training.length_groups import LengthGroups
from lean_dojo_plugins.training.rows import open_rows, write_rows


def test_nested_rows_come_back_in_order(tmp_path):
    rows = [
        {
            "problem": str(k),
            "prompt": [{"role": "user", "content": "x"}],
            "before": ["a"] * (k // 1500),
        }
        for k in range(2500)
    ]
    written = write_rows(iter(rows), tmp_path / "rows.arrow")
    assert written.rows == 2500
    found = open_rows(tmp_path / "rows.arrow")
    assert found[0] == rows[0]
    assert found[2499] == rows[2499]
    assert found["problem"][:] == [row["problem"] for row in rows]
    again = write_rows(iter(rows), tmp_path / "again.arrow")
    assert again == written
    assert write_rows(reversed(rows), tmp_path / "other.arrow").digest != written.digest


def test_no_rows_are_no_dataset(tmp_path):
    assert write_rows([], tmp_path / "rows.arrow").rows == 0


def test_a_column_of_two_types_is_an_error_that_says_where(tmp_path):
    rows = [{"x": 1}] * 1000 + [{"x": "text"}]
    with pytest.raises(DataError, match="rows 1000-1001"):
        write_rows(rows, tmp_path / "rows.arrow")
    assert not (tmp_path / "rows.arrow").exists()


def test_every_item_once_an_epoch_in_an_order_of_seed_and_epoch_alone():
    lengths = [(k * 37) % 101 for k in range(203)]
    sampler = LengthGroups(lengths, 4, seed=1)
    first = list(sampler)
    assert sorted(first) == list(range(203))
    assert first == list(LengthGroups(lengths, 4, seed=1))
    sampler.set_epoch(1)
    assert list(sampler) != first
    batches = [first[k : k + 4] for k in range(0, 200, 4)]
    padding = sum(4 * max(lengths[i] for i in b) - sum(lengths[i] for i in b) for b in batches)
    assert padding < 0.1 * sum(lengths)
    assert sorted(LengthGroups([5, 1], 1, seed=0)) == [0, 1]
