"""Servers that start together are judged by one judge, which ends with the first of them."""

from __future__ import annotations

from lean_dojo_v2.benchmarks.runner import start_together
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.verify.proofs import check_goal_proof


def test_servers_that_start_together_share_a_judge() -> None:
    with (
        Server(engine="embedded", start=False) as first,
        Server(engine="embedded", start=False) as second,
    ):
        start_together([first, second])
        start_together([second, first])  # engines that are kept are lent in another order
        for server in (first, second):
            assert check_goal_proof(server, "2 + 2 = 4", "rfl").valid
        assert first.judge is second.judge
        assert [first._owns_judge, second._owns_judge].count(True) == 1
