"""One client in several threads, and in event loops."""

from __future__ import annotations

import asyncio
import threading

from lean_dojo_v2.lean.client.server import Server


def test_eight_threads_share_one_engine(engine):
    failures: list[BaseException] = []

    def prove(number: int) -> None:
        try:
            for _ in range(5):
                state = engine.goal_start(f"∀ n : Nat, n + {number} = {number} + n")
                state = engine.goal_tactic(state, f"intro n{number}")
                assert state.goals[0].variables[0].name == f"n{number}"
                assert engine.goal_tactic(state, "omega").is_solved
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=prove, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_it_works_inside_a_running_event_loop_both_ways(engine):
    async def prove() -> tuple[bool, int]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.01)
                ticks += 1

        ticker = asyncio.create_task(tick())
        state = engine.goal_start("∀ n : Nat, n + 0 = n")
        state = await engine.goal_tactic_async(state, "intro n")
        await engine.check_compile_async("example : ∀ n < 300, n * n < 90000 := by decide")
        ticker.cancel()
        return (await engine.goal_tactic_async(state, "rfl")).is_solved, ticks

    solved, ticks = asyncio.run(prove())
    assert solved
    assert ticks > 0


def test_a_server_is_made_inside_an_event_loop(mini_repl):
    async def make() -> int:
        server = await Server.create(imports=["Init"], engine="native")
        with server:
            return (await server.goal_start_async("True")).state_id

    assert asyncio.run(make()) == 1
