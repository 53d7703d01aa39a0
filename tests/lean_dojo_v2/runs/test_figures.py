"""Figures from logged numbers, and the forgetting matrix."""

from __future__ import annotations

import math

import pytest

from lean_dojo_core.errors import DataError
from lean_dojo_v2.runs import figures
from lean_dojo_v2.runs.forgetting import Forgetting


def lines(figure) -> dict[str, list[tuple[float, float]]]:
    """The drawn lines by their label; labels that begin with _ are the library's."""
    found = {}
    for line in figure.axes[0].lines:
        found[line.get_label()] = list(zip(*map(list, line.get_data()), strict=True))
    return found


def test_a_step_that_was_done_again_counts_as_done_last_and_repositories_have_their_lines():
    rows = [
        {"step": 1, "repository": "a", "loss": 3.0},
        {"step": 2, "repository": "a", "loss": 9.0},
        {"step": 2, "repository": "a", "loss": 2.0},
        {"step": 3, "repository": "b", "loss": 1.0},
        {"step": 3, "repository": "b", "eval_loss": 1.5},
    ]
    assert lines(figures.plot_loss(rows)) == {
        "a": [(1, 3.0), (2, 2.0)],
        "b": [(3, 1.0)],
        "held out": [(3, 1.5)],
    }


def test_a_long_run_is_thinned_to_means_and_smoothed():
    rows = [{"step": n, "lean/verified": n % 2} for n in range(1, 100_001)]
    raw, smooth = lines(figures.plot_verified(rows)).values()
    assert len(raw) == len(smooth) == 400
    assert raw[-1][0] == 100_000
    assert all(value == pytest.approx(0.5) for _, value in raw + smooth)


def test_the_total_reward_is_drawn_once_where_there_is_one_reward():
    row = {"step": 1, "reward": 0.5, "rewards/a/mean": 0.5, "rewards/a/std": 0.1}
    assert list(lines(figures.plot_rewards([row]))) == ["total"]
    assert list(lines(figures.plot_rewards([{**row, "rewards/b/mean": 0.0}]))) == [
        "total",
        "a",
        "b",
    ]


def test_the_most_frequent_refusals_are_drawn_and_none_counts_as_zero():
    many = {f"lean/refused/r{n:02}": (20 - n) / 1000 for n in range(12)}
    rows = [{"step": 1, **many, "lean/unparsed/empty": 0.3}, {"step": 2, **many}, {"step": 3}]
    assert list(figures.refusal_shares(rows))[:2] == ["lean/unparsed/empty", "lean/refused/r00"]
    drawn = lines(figures.plot_refusals(rows))
    assert list(drawn) == ["empty", *(f"r{n:02}" for n in range(7))]
    assert drawn["empty"] == [(1, 0.3), (2, 0.0)]


def test_rows_without_the_numbers_give_no_figure():
    rows = [{"step": 1, "repository": "a", "lr": 0.1}]
    for draw in (
        figures.plot_loss,
        figures.plot_rewards,
        figures.plot_verified,
        figures.plot_refusals,
        figures.plot_recall,
    ):
        assert draw(rows) is None
        assert draw([]) is None
    assert figures.refusal_shares(rows) is None
    assert figures.refusal_shares([{"step": 1, "lean/refused/sorry": 0.0}]) == {}


def test_equal_numbers_give_equal_pictures():
    rows = [{"step": n, "repository": "a", "loss": math.sin(n)} for n in range(9)]
    first, second = (figures.svg(figures.plot_loss(rows)) for _ in range(2))
    assert first == second
    assert b"<dc:date>" not in first


def filled(higher: bool = True) -> Forgetting:
    matrix = Forgetting("R@10", higher_is_better=higher)
    matrix.add("a", "1.ckpt", {"a": 50.0})
    matrix.add("b", "2.ckpt", {"a": 60.0, "b": 40.0})
    matrix.add("c", "3.ckpt", {"a": 45.0, "b": 42.0, "c": None})
    return matrix


def test_forgetting_is_measured_against_the_best_that_a_repository_ever_had():
    assert filled().forgotten() == pytest.approx(((60 - 45) + (40 - 42)) / 2)
    assert filled(higher=False).forgotten() == pytest.approx(((45 - 50) + (42 - 40)) / 2)
    assert Forgetting("R@10", higher_is_better=True).forgotten() is None


def test_the_matrix_survives_on_disk_and_a_step_done_again_replaces_its_row(tmp_path):
    filled().write(tmp_path)
    fresh = Forgetting("R@10", higher_is_better=True)
    matrix = fresh.resumed(tmp_path)
    assert matrix == filled()
    assert matrix.matrix() == [[50.0, None, None], [60.0, 40.0, None], [45.0, 42.0, None]]
    matrix.add("c", "3.ckpt", {"a": 44.0, "b": 41.0, "c": 1.0})
    assert [step["after"] for step in matrix.steps] == ["a", "b", "c"]
    assert matrix.matrix()[2] == [44.0, 41.0, 1.0]
    for other in (Forgetting("loss", higher_is_better=False), Forgetting("R@10", True, run=2)):
        assert other.resumed(tmp_path) is other, "another metric or run begins anew"


def test_the_heat_map_has_a_cell_for_what_was_measured_and_none_for_the_rest():
    figure = filled().draw()
    assert [text.get_text() for text in figure.axes[0].texts] == ["50", "60", "40", "45", "42"]
    assert Forgetting("R@10", higher_is_better=True).draw() is None
    nothing = Forgetting("R@10", higher_is_better=True)
    nothing.add("a", "", {"a": None})
    assert nothing.draw() is None
    assert nothing.forgotten() is None


def test_a_broken_matrix_is_named(tmp_path):
    (tmp_path / "forgetting.json").write_text('{"metric": 1')
    with pytest.raises(DataError, match=r"forgetting\.json"):
        Forgetting("R@10", higher_is_better=True).resumed(tmp_path)
