"""The pool over Ray actors, on a real local Ray."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator

import psutil
import pytest
import ray

from lean_dojo_core.errors import UsageError
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import EngineKilledError, EngineTimeoutError, RequestError
from lean_dojo_v2.lean.pool.local import PoolConfig
from lean_dojo_v2.lean.pool.ray import RayEnginePool

pytestmark = [pytest.mark.slow, pytest.mark.starts_ray]


@pytest.fixture
def pool(mini_repl, tmp_path) -> Iterator[RayEnginePool]:
    """Two engines in actors of a local Ray."""
    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    config = PoolConfig(size=2, engine="native", timeout=5)
    with RayEnginePool(config, resources={"num_cpus": 0.5}) as opened:
        yield opened
    ray.shutdown()


def engine_of(server: Server, seconds: float) -> tuple[int, int]:
    server.run("sleep", {"seconds": seconds})
    assert server.pid is not None
    return os.getpid(), server.pid


def die(server: Server, how: str) -> None:
    if how == "engine":
        server.run("die", {})
    else:
        os._exit(1)


def refuse(server: Server) -> None:
    raise RequestError("no such constant", "index")


def test_requests_run_in_actors_and_what_kills_them_fails_by_name(pool, gone):
    places = pool.map(engine_of, [0.5, 0.5])
    assert os.getpid() not in {actor for actor, _ in places}
    assert len({engine for _, engine in places}) == 2
    for how in ("engine", "actor"):
        with pytest.raises(EngineKilledError, match=f"Request {how} 7 killed 2 engines"):
            pool.submit(die, how, name=f"{how} 7").result()
    with pytest.raises(RequestError, match="no such constant") as caught:
        pool.submit(refuse).result()
    assert caught.value.code == "index"
    with pytest.raises(EngineTimeoutError):
        pool.submit(engine_of, 60).result()
    copy = pickle.loads(pickle.dumps(pool))
    assert (copy.config, copy.resources) == (pool.config, pool.resources)
    assert all(gone(engine) for _, engine in places)
    last = pool.map(engine_of, [0.5, 0.5])
    pool.close()
    assert all(gone(engine) for _, engine in last)
    assert not [p for p in psutil.process_iter(["name"]) if p.info["name"] == "mini-repl"]


def test_what_the_pool_needs_itself_is_refused():
    with pytest.raises(UsageError, match="max_concurrency"):
        RayEnginePool(resources={"max_concurrency": 4})
