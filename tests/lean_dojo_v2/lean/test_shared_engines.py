"""Pools by repository: which stay open, and what closing one of them may hold up."""

from __future__ import annotations

import gc
import os
import threading
from concurrent.futures import CancelledError
from pathlib import Path

import pytest

from lean_dojo_core.errors import UsageError
from lean_dojo_v2.lean.pool.local import EnginePool, PoolConfig, SharedEngines, shared_engines

ONE, TWO, THREE = Path("one"), Path("two"), Path("three")


@pytest.fixture
def engines():
    """Pools of one worker, of which one stays open; no request of these tests starts Lean."""
    opened = SharedEngines(PoolConfig(size=1, engine="embedded"), kept=1)
    yield opened
    opened.close()


def test_the_project_asked_longest_ago_is_closed(engines):
    for project in (ONE, TWO, ONE, THREE):
        assert engines.submit(project, lambda server: 1).result() == 1
    assert engines.projects == [THREE]


def test_a_pool_with_work_stays_open_until_it_has_answered(engines):
    go = threading.Event()
    slow = engines.submit(ONE, lambda server: go.wait())
    assert engines.submit(TWO, lambda server: 2).result() == 2
    assert engines.projects == [ONE, TWO]
    go.set()
    assert slow.result() is True
    assert engines.submit(TWO, lambda server: 3).result() == 3
    assert engines.projects == [TWO]


def test_closing_a_pool_holds_nobody_else_up(engines, monkeypatch):
    closing, go = threading.Event(), threading.Event()
    assert engines.submit(ONE, lambda server: 1).result() == 1
    close = EnginePool.close

    def slowly(pool):
        if pool.config.project_path == ONE:
            closing.set()
            go.wait()
        close(pool)

    monkeypatch.setattr(EnginePool, "close", slowly)
    other = threading.Thread(target=engines.submit, args=(TWO, lambda server: 2))
    other.start()
    closing.wait()
    # The other thread is still busy with stopping engines; this one gets its answer.
    assert engines.submit(THREE, lambda server: 3).result() == 3
    go.set()
    other.join()


def test_a_request_that_was_not_taken_leaves_no_trace(engines, monkeypatch):
    def full(*args, **kwargs):
        raise UsageError("no engine here")

    with monkeypatch.context() as patch:
        patch.setattr(EnginePool, "submit", full)
        with pytest.raises(UsageError):
            engines.submit(ONE, lambda server: 1)
    assert engines.submit(None, lambda server: 2).result() == 2
    assert engines.projects == [None]


def test_closed_engines_open_again(engines):
    go, started = threading.Event(), threading.Event()

    def busy(server):
        started.set()
        return go.wait()

    running = engines.submit(ONE, busy)
    waiting = engines.submit(ONE, lambda server: 1)
    assert started.wait(60)  # a question that has not begun is called off like the other
    closer = threading.Thread(target=engines.close)
    closer.start()
    with pytest.raises(CancelledError):
        waiting.result()
    go.set()
    closer.join()
    assert running.result() is True
    assert engines.projects == []
    assert engines.submit(ONE, lambda server: 4).result() == 4


def test_three_users_share_one_pool(monkeypatch):
    made = []
    start = EnginePool.__init__
    monkeypatch.setattr(
        EnginePool, "__init__", lambda self, *a, **k: (made.append(self), start(self, *a, **k))[1]
    )
    # Kept otherwise than by anybody else in this process, so nobody shares them.
    users = [shared_engines(engine="embedded", size=1, kept=7) for _ in range(3)]
    assert made == [], "nothing starts before it is asked for"
    assert [user.submit(None, id).result() for user in users]
    assert len(made) == 1
    users[0].close()
    users[0].close()
    users[1].close()
    assert users[2].submit(None, lambda server: 3).result() == 3
    users[2].close()
    assert users[2].projects == []
    assert users[0].submit(None, lambda server: 4).result() == 4
    assert len(made) == 2
    other = shared_engines(engine="embedded", size=2)
    assert other.submit(None, lambda server: 5).result() == 5
    assert len(made) == 3
    for user in (users[0], other):
        user.close()


def test_a_user_that_was_forgotten_keeps_no_engines():
    user, forgotten = (shared_engines(engine="embedded", size=1, kept=8) for _ in range(2))
    assert [one.submit(None, lambda server: 1).result() for one in (user, forgotten)] == [1, 1]
    [pool] = [entry.pool for entry in user._pools.values()]
    del forgotten
    gc.collect()
    user.close()
    assert pool._scheduler is None, "the last user has stopped it"


def test_a_repositorys_engines_end_with_its_last_user():
    user, other = (shared_engines(engine="embedded", size=1, kept=9) for _ in range(2))
    assert [one.submit(ONE, lambda server: 1).result() for one in (user, other)] == [1, 1]
    assert user.submit(TWO, lambda server: 2).result() == 2
    pool = user._pools[TWO].pool
    user.close()
    assert pool._scheduler is None, "nobody else has used it"
    assert other.projects == [ONE]
    other.close()


def test_a_name_that_is_no_engine_is_said_at_once(monkeypatch):
    monkeypatch.setenv("LEAN_DOJO_ENGINE", "nativ")
    with pytest.raises(UsageError, match="LEAN_DOJO_ENGINE='nativ' is not an engine"):
        shared_engines()


def test_a_forked_child_has_engines_of_its_own():
    user = shared_engines(engine="embedded", size=1)
    assert user.submit(None, lambda server: 1).result() == 1
    child = os.fork()
    if child == 0:
        fine = user.projects == [] and user.submit(None, lambda server: 2).result(60) == 2
        user.close()
        os._exit(0 if fine else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert user.submit(None, lambda server: 3).result() == 3
    user.close()
