"""Spreading, recycling, retrying: the pool, over engines that start at once and die on command."""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import threading
import time
from pathlib import Path

import psutil
import pytest
from processes import kill

from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import (
    EngineKilledError,
    EngineTimeoutError,
    ServerError,
)
from lean_dojo_v2.lean.pool.local import EnginePool, PoolConfig

pytestmark = pytest.mark.usefixtures("mini_repl")


def config(**fields: object) -> PoolConfig:
    return PoolConfig(**{"size": 2, "engine": "native", "timeout": 20, **fields})


def engine_of(server: Server, _item: object = None) -> int:
    """Say which process answers; ``server.pid`` may be ``None`` a moment later, as engines die here."""
    return int(server.run("pid", {})["pid"])


def nap(server: Server, seconds: float) -> int:
    server.run("sleep", {"seconds": seconds})
    return engine_of(server)


def die(server: Server, *_args: object) -> None:
    server.run("die", {})


def die_once(server: Server, marker: Path) -> str:
    if not marker.exists():
        marker.touch()
        die(server)
    return f"survived {engine_of(server) > 0}"


def test_results_come_in_the_order_of_the_items_and_engines_work_side_by_side():
    with EnginePool(config()) as pool:
        pids = pool.map(nap, [0.3, 0.3])
        assert len(set(pids)) == 2
        assert pool.map(lambda _server, x: x * 2, range(50)) == [2 * x for x in range(50)]
        assert pool.map(lambda _server, x, y: x + y, [(1, 2), (3, 4)]) == [3, 7]


def test_requests_that_come_first_at_once_share_the_same_engines(gone):
    for _ in range(20):
        before = set(threading.enumerate())
        with EnginePool(config(size=2)) as pool:
            start = threading.Barrier(8)
            futures = []

            def first(pool=pool, start=start, futures=futures) -> None:
                start.wait()
                futures.append(pool.submit(lambda _server: None))

            callers = [threading.Thread(target=first) for _ in range(8)]
            for caller in callers:
                caller.start()
            for caller in callers:
                caller.join()
            assert [future.result() for future in futures] == [None] * 8
            workers = set(threading.enumerate()) - before
            assert len(workers) == 2
            engines = {pool.submit(engine_of).result()}
        assert not any(worker.is_alive() for worker in workers)
        assert all(map(gone, engines))


def test_a_child_forked_while_the_pool_opens_is_not_stuck():
    pool = EnginePool(config(size=1))
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_child, args=(pool, queue))
    with pool._lock:
        child.start()
    assert queue.get(timeout=20) > 0
    child.join(timeout=20)


def test_engines_start_only_when_they_are_needed(gone):
    before = len(psutil.Process().children())
    with EnginePool(config(size=8)) as pool:
        assert len(psutil.Process().children()) == before
        first = pool.submit(engine_of).result()
        assert {pool.submit(engine_of).result() for _ in range(10)} == {first}
        assert len(psutil.Process().children()) == before + 1
    assert gone(first)


def test_a_request_whose_engine_dies_is_run_again_on_a_fresh_one(tmp_path):
    with EnginePool(config()) as pool:
        assert pool.submit(die_once, tmp_path / "died").result() == "survived True"


def test_a_request_that_kills_two_engines_fails_by_name_and_alone():
    with EnginePool(config()) as pool:
        bad = pool.submit(die, "hostile completion", name="theorem 17, sample 3")
        others = [pool.submit(nap, 0.01) for _ in range(20)]
        with pytest.raises(EngineKilledError) as caught:
            bad.result()
        assert "theorem 17, sample 3 killed 2 engines" in str(caught.value)
        assert str(caught.value).count("exit status 7") == 2
        assert all(other.result() > 0 for other in others)


def test_a_killed_engine_loses_no_request():
    with EnginePool(config()) as pool:
        futures = [pool.submit(nap, 0.05) for _ in range(40)]
        futures[0].result()
        for child in psutil.Process().children():
            kill(child)
        assert all(future.result() > 0 for future in futures)


def test_a_request_over_its_time_is_answered_as_such_and_not_run_again():
    with EnginePool(config(timeout=0.5)) as pool:
        endless = pool.submit(nap, 3600, name="endless")  # longer than this test may take
        with pytest.raises(EngineTimeoutError) as caught:
            endless.result()
        assert caught.value.__notes__ == ["Request: endless"]
        assert pool.submit(nap, 0).result() > 0


def test_an_engine_that_has_grown_is_replaced_between_requests(gone):
    def grow(server: Server) -> int:
        server.run("grow", {"mb": 150})
        return engine_of(server)

    with EnginePool(config(size=1, recycle_memory_mb=120)) as pool:
        grown = pool.submit(grow).result()
        assert pool.submit(engine_of).result() != grown
        assert gone(grown)


def test_an_engine_that_explodes_is_killed_during_its_request():
    def explode(server: Server) -> None:
        for _ in range(100):
            server.run("grow", {"mb": 100})
            server.run("sleep", {"seconds": 0.2})

    with EnginePool(config(memory_limit_mb=400)) as pool:
        with pytest.raises(EngineKilledError, match="its limit is 400 MB"):
            pool.submit(explode).result()
        assert pool.submit(engine_of).result() > 0


def test_requests_go_to_the_engine_that_has_their_header():
    with EnginePool(config()) as pool:
        first = pool.submit(nap, 0.2, header="A")
        second = pool.submit(nap, 0.2, header="B")
        home = {"A": first.result(), "B": second.result()}
        assert home["A"] != home["B"]
        keys = ["A", "B", "B", "A", "A", "B", "B", "B", "A"]
        for key in keys:
            assert pool.submit(nap, 0, header=key).result() == home[key]


def test_a_warm_header_never_starves_the_others():
    with EnginePool(config(size=1)) as pool:
        pool.submit(nap, 0, header="A").result()
        done: list[str] = []

        def record(server: Server, key: str) -> None:
            nap(server, 0)
            done.append(key)

        pool.submit(nap, 0.2, header="A")
        other = pool.submit(record, "B", header="B")
        many = [pool.submit(record, "A", header="A") for _ in range(200)]
        other.result()
        for future in many:
            future.result()
        assert done.index("B") < 50


def test_map_answers_everything_before_it_raises():
    seen: list[int] = []

    def odd_fails(_server: Server, item: int) -> int:
        if item % 2:
            raise ValueError(f"item {item}")
        seen.append(item)
        return item

    with EnginePool(config()) as pool:
        with pytest.raises(ValueError, match="item 1"):
            pool.map(odd_fails, range(10))
        assert sorted(seen) == [0, 2, 4, 6, 8]


def test_closing_cancels_what_waits_and_ends_what_runs():
    pool = EnginePool(config(size=1))
    running = pool.submit(nap, 60)
    waiting = pool.submit(nap, 60)
    while not running.running():
        time.sleep(0.01)
    time.sleep(0.3)
    pool.close()
    assert waiting.cancelled()
    with pytest.raises(ServerError, match="closed"):
        running.result(timeout=5)


def test_a_dropped_pool_leaves_neither_threads_nor_processes(gone):
    others = set(threading.enumerate())
    pool = EnginePool(config())
    pids = pool.map(nap, [0.2, 0.2])
    threads = [each for each in threading.enumerate() if each not in others]
    assert [each.name for each in threads].count("lean-engine") == 2
    del pool
    gc.collect()
    assert all(gone(pid) for pid in pids)
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()


def test_a_pool_pickles_as_its_configuration():
    with EnginePool(config(size=1, imports=["Init", "Std"])) as pool:
        pid = pool.submit(engine_of).result()
        copy = pickle.loads(pickle.dumps(pool))
        assert copy.config == pool.config
        with copy:
            assert copy.submit(engine_of).result() != pid


def _in_child(pool: EnginePool, queue: multiprocessing.Queue[int]) -> None:
    queue.put(pool.submit(engine_of).result(timeout=20))
    pool.close()


def test_a_forked_child_opens_engines_of_its_own():
    with EnginePool(config(size=1)) as pool:
        pid = pool.submit(engine_of).result()
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        child = context.Process(target=_in_child, args=(pool, queue))
        child.start()
        assert queue.get(timeout=20) not in {pid, os.getpid()}
        child.join(timeout=20)
        assert pool.submit(engine_of).result() == pid


def test_settings_take_the_place_of_the_configurations():
    pool = EnginePool(config(size=5), size=3, timeout=7)
    assert (pool.config.size, pool.config.timeout, pool.config.engine) == (3, 7, "native")
    with pytest.raises(ValueError, match="size"):
        PoolConfig(size=0)
