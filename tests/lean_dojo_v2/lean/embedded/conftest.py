"""The engine itself, spoken to over stdin and stdout without our client."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from native_lean import use_toolchain

from lean_dojo_v2.lean.engines.embedded.launch import embedded_plan
from lean_dojo_v2.lean.engines.native import native_plan
from lean_dojo_v2.lean.engines.process import LaunchPlan

REQUEST_SECONDS = 900
"""Ends a stuck engine; a machine without free memory may stand still for minutes."""


class Engine:
    """One engine process; ``engine("goal.start", expr="True")`` is one request."""

    def __init__(
        self,
        *imports: str,
        project: Path | None = None,
        plan: Callable[..., LaunchPlan] = embedded_plan,
    ) -> None:
        self.plan = plan(imports, project=project)
        self.begin()

    def begin(self) -> None:
        """Start the process."""
        self.process = subprocess.Popen(
            self.plan.argv,
            env=dict(self.plan.env),
            cwd=self.plan.cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self.read_line() == "ready."
        self.rows: dict[int, Any] = {}  # what it has exported under a number

    def read_line(self) -> str:
        """Read one line; a stuck engine is killed, so that the read ends."""
        assert self.process.stdout is not None
        watch = threading.Timer(REQUEST_SECONDS, self.process.kill)
        watch.start()
        try:
            return self.process.stdout.readline().decode().rstrip("\n")
        finally:
            watch.cancel()

    def send(self, line: str) -> Any:
        """Send one raw line and return the answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        answer = json.loads(self.read_line())
        answer.pop("imported", None)  # whether earlier tests left an environment
        return answer

    def __call__(self, command: str, /, **payload: Any) -> Any:
        return self.send(f"{command} {json.dumps(payload, ensure_ascii=False)}")

    def start(self, expr: str) -> int:
        """Start a goal and return its state."""
        return int(self("goal.start", expr=expr)["stateId"])

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of two modules, and two that import each other."""
    root = tmp_path_factory.mktemp("project")
    (root / "Lib").mkdir()
    (root / "Lib" / "Base.lean").write_text(
        "namespace Lib\n"
        "def two : Nat := 2\n"
        "theorem two_eq : two = 2 := rfl\n"
        "private theorem hidden : two = 2 := rfl\n"
        'local notation "TWO" => two\n'
        "theorem written : TWO = 2 := hidden\n"  # the namespace stays open to the end of the file
    )
    (root / "Lib" / "Mid.lean").write_text(
        "import Lib.Base\n\ntheorem Lib.mid : two + 0 = 2 := by rw [Nat.add_zero, two_eq]\n"
    )
    (root / "Ping.lean").write_text("import Pong\n")
    (root / "Pong.lean").write_text("import Ping\n")
    return root


HOSTS = ["embedded", pytest.param("native", marks=pytest.mark.slow)]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the tests of a file on the native host too if it sets ``BOTH_HOSTS``.

    The others do not depend on the host, behind which the program is the same.
    """
    if "plan" in metafunc.fixturenames:
        hosts = HOSTS if getattr(metafunc.module, "BOTH_HOSTS", False) else HOSTS[:1]
        metafunc.parametrize("plan", hosts, indirect=True, scope="session")


@pytest.fixture(scope="session")
def plan(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., LaunchPlan]]:
    """How an engine is started, on each host; the native one has a Lean of tests/native_lean.py."""
    if request.param == "embedded":
        yield embedded_plan
        return
    with pytest.MonkeyPatch.context() as patch:
        use_toolchain(tmp_path_factory.mktemp("toolchain"), patch)
        yield native_plan


@pytest.fixture(scope="session")
def running(project: Path, plan: Callable[..., LaunchPlan]) -> Iterator[Engine]:
    """The engine behind ``lean``."""
    engine = Engine("Init", project=project, plan=plan)
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def lean(running: Engine) -> Engine:
    """The engine that the tests of this folder share; another one where a file has ended it."""
    if running.process.poll() is not None:
        running.close()
        running.begin()
    return running


@pytest.fixture
def new_lean() -> Iterator[Engine]:
    """Start an embedded engine that has answered nothing yet."""
    engine = Engine("Init")
    yield engine
    engine.close()


@pytest.fixture
def clean_lean(lean: Engine) -> Iterator[Engine]:
    """The same, for a test that changes its environment: that is Lean's own before and after."""

    def renew() -> None:
        lean("frontend.process", file="", readHeader=True, inheritEnv=True)
        lean("reset")

    renew()
    yield lean
    renew()


@pytest.fixture
def own_lean(plan: Callable[..., LaunchPlan]) -> Iterator[Engine]:
    """An engine of one test's own, which may end it."""
    engine = Engine("Init", plan=plan)
    yield engine
    engine.close()
