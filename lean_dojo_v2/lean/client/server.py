"""One client for every engine that speaks Pantograph's REPL protocol.

:class:`Server` has the names and the behaviour of PyPantograph's ``Server``, so either can be
handed to a prover. What it adds: it may be used from several threads and inside a running event
loop; every call has a time limit; an engine that dies, hangs or outgrows its memory is replaced at
the next call; nothing survives it.
"""

from __future__ import annotations

import asyncio
import functools
import tempfile
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import orjson

from lean_dojo_core.errors import UsageError
from lean_dojo_v2.lean.client.connection import Connection
from lean_dojo_v2.lean.client.records import (
    Expr,
    Goal,
    GoalState,
    Site,
    Subsumption,
    Tactic,
    parse_expr,
    serial_tactic,
)
from lean_dojo_v2.lean.client.units import CheckTrackResult, CompilationUnit, SearchTarget
from lean_dojo_v2.lean.engines.capabilities import Capabilities
from lean_dojo_v2.lean.engines.process import LaunchPlan
from lean_dojo_v2.lean.engines.selection import EngineName, engine_plan, is_core
from lean_dojo_v2.lean.errors import (
    EngineMemoryError,
    EngineProtocolError,
    RequestError,
    RequestParseError,
    StaleStateError,
    TacticError,
    TacticParseError,
)
from lean_dojo_v2.lean.messages import LeanMessage

Payload = Mapping[str, Any]
S = TypeVar("S")
T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R")

GC_THRESHOLD = 64
"""Dropped goal states that may pile up in an engine before the next call deletes them."""
_CONFIGURATION = (
    "imports", "project_path", "lean_path", "options", "core_options", "timeout", "buffer_limit",
    "engine", "memory_limit_mb", "start_timeout",
)  # fmt: skip
_FULL = "memory"
"""What the embedded engine answers when it must not load more: another one has room."""
_PARSE_CODES = frozenset({"parse", "parsing", "parser"})


def in_thread(
    method: Callable[Concatenate[S, P], R],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, R]]:
    """Make the twin of a method that waits for it in a thread.

    Cancelling the twin stops the waiting, not the request: that goes on until it is answered or
    its time is over.
    """

    @functools.wraps(method)
    async def twin(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await asyncio.to_thread(method, self, *args, **kwargs)

    twin.__name__ = f"{method.__name__}_async"
    twin.__qualname__ = f"{method.__qualname__}_async"
    return twin


class Server:
    """A Lean engine with an environment, goal states and texts to process.

    Every method has a twin ``…_async`` that waits in a thread.

    Args:
        imports: Modules to import.
        project_path: A Lake project; with the native engine its compiled modules may be imported.
        lean_path: Where compiled modules lie, for the native engine; Lake is asked when not given.
        options: Pantograph's options, for example ``{"automaticMode": False}``.
        core_options: Options of Lean, each ``"name=value"``.
        timeout: Seconds that a call may take; each call may be given its own.
        buffer_limit: Bytes that one answer may have; 256 MB if not given.
        engine: ``"auto"``, ``"native"`` or ``"embedded"``; see
            :mod:`lean_dojo_v2.lean.engines.selection`.
        memory_limit_mb: Resident megabytes at which the engine is stopped.
        start_timeout: Seconds that the engine may take to become ready.
        start: Start the engine now, not at the first call.

    Raises:
        UsageError: There is no engine of that name.
        EngineUnavailableError: No engine can serve this.
        EngineLostError: The engine did not become ready.

    Example::

        with Server() as server:
            state = server.goal_start("∀ n : Nat, n + 0 = n")
            state = server.goal_tactic(state, "intro n")
            state = server.goal_tactic(state, "rfl")
            assert state.is_solved
    """

    def __init__(  # noqa: PLR0917 - PyPantograph's positions
        self,
        imports: Sequence[str] = ("Init",),
        project_path: str | Path | None = None,
        lean_path: str | None = None,
        options: Payload | None = None,
        core_options: Sequence[str] = (),
        timeout: float = 60,
        buffer_limit: int | None = None,
        *,
        engine: EngineName = "auto",
        memory_limit_mb: int | None = None,
        start_timeout: float = 180.0,
        start: bool = True,
    ) -> None:
        self.imports = list(imports)
        self.project_path = None if project_path is None else Path(project_path).absolute()
        self.lean_path = lean_path
        self.options = dict(options or {})
        if self.options.get("printJsonPretty"):
            raise UsageError("options: printJsonPretty: this client reads answers of one line.")
        self.core_options = list(core_options)
        self.timeout = timeout
        self.buffer_limit = buffer_limit
        self.engine: EngineName = engine
        self.memory_limit_mb = memory_limit_mb
        self.start_timeout = start_timeout
        self._connection = Connection(
            self._choose,
            start_timeout=start_timeout,
            memory_limit_mb=memory_limit_mb,
            answer_limit=buffer_limit,
        )
        self._loaded: list[tuple[str, Payload]] = []
        if start:
            self.restart()

    @classmethod
    async def create(cls, *args: Any, start: bool = True, **kwargs: Any) -> Self:
        """Make a server inside an event loop; the parameters are the constructor's."""
        server = cls(*args, start=False, **kwargs)
        if start:
            await asyncio.to_thread(server.restart)
        return server

    # -- life -------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        plan = self._connection.planned
        what = plan.what if plan is not None else f"{self.engine} engine"
        return f"<{type(self).__name__}: {what}, imports={self.imports}, pid={self.pid}>"

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the configuration; the copy starts an engine of its own at its first call."""
        return {name: getattr(self, name) for name in _CONFIGURATION}

    def __setstate__(self, state: dict[str, Any]) -> None:
        Server.__init__(self, **state, start=False)

    @property
    def pid(self) -> int | None:
        """The engine's process id, while it runs."""
        process = self._connection.process
        return process.pid if process is not None and process.alive else None

    @property
    def kind(self) -> str:
        """Which engine it is: ``"native"`` or ``"embedded"``."""
        return self._connection.plan.kind

    @property
    def capabilities(self) -> Capabilities:
        """What the engine can do; known before it starts."""
        return self._connection.plan.capabilities

    @property
    def memory_mb(self) -> float:
        """The engine's resident memory in megabytes; 0 while none runs."""
        process = self._connection.process
        return 0.0 if process is None else process.memory_mb

    @property
    def log_tail(self) -> str:
        """The last lines that the engine wrote to its log."""
        process = self._connection.process
        return "" if process is None else process.log_tail

    @property
    def to_remove_goal_states(self) -> list[int]:
        """Ids of dropped goal states that the engine still holds (PyPantograph's name)."""
        return list(self._connection.session.dropped)

    def is_automatic(self) -> bool:
        """Whether goals stay in scope by themselves (Pantograph's ``automaticMode``)."""
        return bool(self.options.get("automaticMode", True))

    def restart(self) -> None:
        """Start a fresh engine, stopping the one that runs.

        Goal states are gone, and so is what was loaded into the environment. (An engine that is
        replaced because it was lost gets its headers and definitions back.)
        """
        with self._connection.lock:
            self._loaded = []
            self._start()

    restart_async = in_thread(restart)

    def close(self) -> None:
        """Stop the engine, also while another thread waits for it; the next call starts another."""
        self._connection.close()

    def retire(self) -> None:
        """Stop the engine for good: calls from now on, and those that wait, fail."""
        self._connection.retire()

    def _choose(self) -> LaunchPlan:
        return engine_plan(
            self.engine,
            self.imports,
            project=self.project_path,
            lean_path=self.lean_path,
            core_options=self.core_options,
            memory_limit_mb=self.memory_limit_mb,
        )

    def _start(self) -> None:
        self._connection.open()
        if self.options:
            self.ask("options.set", self.options)
        if self.capabilities.reads_sources:
            self._import_own_modules()

    def _import_own_modules(self) -> None:
        """Import the project's modules, which such an engine does not take as arguments."""
        if all(is_core(module) for module in self.imports):
            return
        header = "\n".join(f"import {module}" for module in self.imports)
        fields = {"file": header, "readHeader": True, "inheritEnv": True}
        self.ask("frontend.process", fields, self.start_timeout)

    def _replace_lost_engine(self) -> None:
        """Start an engine in place of a lost one and load again what that had loaded."""
        self._start()
        try:
            for command, payload in self._loaded:
                self.ask(command, payload)
        except BaseException:
            self.close()  # an engine that has only half of its environment would answer wrongly
            raise

    # -- requests ---------------------------------------------------------------------------------

    def run(self, cmd: str, payload: Payload, *, timeout: float | None = None) -> dict[str, Any]:
        """Send one command of the protocol and give its answer as it is, an error included.

        Args:
            cmd: The command, for example ``"goal.start"``.
            payload: Its fields.
            timeout: Seconds to wait, in place of the server's.

        Raises:
            RequestParseError: The payload holds text that is not Unicode (lone surrogates).
            EngineLostError: The engine died, timed out, outgrew its memory or left the protocol.
        """
        with self._connection.lock:
            if not self._connection.alive:
                self._replace_lost_engine()
            limit = self.timeout if timeout is None else timeout
            return self._connection.request(cmd, payload, limit)

    run_async = in_thread(run)

    def ask(self, cmd: str, payload: Payload, timeout: float | None = None) -> dict[str, Any]:
        """Send one command of the protocol, give its answer and raise its error.

        Args:
            cmd: The command, for example ``"goal.start"``.
            payload: Its fields.
            timeout: Seconds to wait, in place of the server's.

        Raises:
            RequestParseError: Some text in the request is not Lean.
            RequestError: The engine refused the request.
            EngineLostError: The engine died, timed out, outgrew its memory or left the protocol.
        """
        with self._connection.lock:
            if len(self._connection.session.dropped) >= GC_THRESHOLD and cmd != "goal.delete":
                self.gc()
            answer = self.run(cmd, payload, timeout=timeout)
        if "error" in answer:
            code, text = str(answer["error"]), str(answer.get("desc", ""))
            if code == _FULL:
                self.close()
                raise EngineMemoryError(f"{cmd}: {text}. The next call starts a new engine.")
            kind = RequestParseError if code in _PARSE_CODES else RequestError
            raise kind(f"{cmd}: {text or code}", code)
        return answer

    ask_async = in_thread(ask)

    def gc(self, *, timeout: float | None = None) -> None:
        """Make the engine forget all goal states that nobody holds any more."""
        with self._connection.lock:
            dropped = self._connection.session.dropped
            ids = [dropped.popleft() for _ in range(len(dropped))]
            if ids and self.pid is not None:
                self.ask("goal.delete", {"stateIds": ids}, timeout)

    gc_async = in_thread(gc)

    def stat(self, *, timeout: float | None = None) -> dict[str, Any]:
        """Give what the engine says about itself; ``nGoals`` is the number of live goal states."""
        return self.ask("stat", {}, timeout)

    stat_async = in_thread(stat)

    def holds(self, state: GoalState) -> bool:
        """Whether a goal state lives in the engine that runs now."""
        return state.handle.session is self._connection.session and self.pid is not None

    # -- goals ------------------------------------------------------------------------------------

    def goal_start(
        self, expr: Expr, *, levels: Sequence[str] = (), timeout: float | None = None
    ) -> GoalState:
        """Open a goal whose target is ``expr``.

        Args:
            expr: The target.
            levels: Names of the universe levels that occur in it.
            timeout: Seconds it may take, in place of the server's.

        Raises:
            RequestParseError: It is not an expression.
            RequestError: It has no type.
        """
        with self._connection.lock:
            fields = {"expr": str(expr), **({"levels": list(levels)} if levels else {})}
            answer = self.ask("goal.start", fields, timeout)
            # Pantograph gives the name of the goal alone.
            only = {"name": answer.get("root"), "target": {"pp": str(expr)}}
            return self._read(answer, lambda a: self._state(a["stateId"], {"goals": [only], **a}))

    goal_start_async = in_thread(goal_start)

    def goal_tactic(
        self,
        state: GoalState,
        tactic: Tactic,
        site: Site = Site(),  # noqa: B008 - immutable, and PyPantograph's signature
        *,
        options: Mapping[str, int] | None = None,
        axioms: Collection[str] | None = None,
        timeout: float | None = None,
    ) -> GoalState:
        """Run a tactic.

        Args:
            state: The goals.
            tactic: The tactic: text, or a ``Tactic…`` record.
            site: The goal it acts on; the first one if not given.
            options: Limits of Lean for this call, for example ``{"maxHeartbeats": 50000}``. A
                native engine gets them as ``set_option … in``, before a tactic that is a text.
            axioms: Axioms that it may rest on, through whatever theorems it cites (embedded
                engine; a native engine cannot tell). Any are allowed if not given. The state
                then tells also what it hides (``owed``).
            timeout: Seconds it may take, in place of the server's.

        Returns:
            The goals after it. All goals count: it is solved only when none is open.

        Raises:
            TacticParseError: The text is not a tactic.
            TacticError: Lean refused the tactic, or it used ``sorry`` or something unsafe.
            StaleStateError: The state belongs to an engine that is gone.
            EngineLostError: The engine died, timed out or outgrew its memory.
        """
        with self._connection.lock:
            fields: dict[str, Any] = {
                "stateId": self._id_of(state),
                **site.serial(),
                **self._limited(serial_tactic(tactic), options),
                **({} if axioms is None else {"axioms": True}),
            }
            answer = self.ask("goal.tactic", fields, timeout)
            if "parseError" in answer:
                raise TacticParseError(str(answer["parseError"]))
            messages = self._read(answer, _messages)
            if answer.get("goals") is None:
                text = "\n".join(message.data for message in messages)
                raise TacticError(text or _old_errors(answer), messages)
            after = self._read(answer, lambda a: self._state(a["nextStateId"], a, messages))
            for flag, what in (("hasSorry", "sorry"), ("hasUnsafe", "something unsafe")):
                if answer.get(flag):
                    raise TacticError(f"The tactic used {what}.", messages)
            if axioms is not None and (other := set(answer.get("axioms", ())) - set(axioms)):
                raise TacticError(f"The tactic rests on {', '.join(sorted(other))}.", messages)
            return after

    goal_tactic_async = in_thread(goal_tactic)

    def _limited(
        self, tactic: Mapping[str, Any], options: Mapping[str, int] | None
    ) -> dict[str, Any]:
        """Put limits of Lean beside a tactic, or before it where an engine takes none."""
        if not options:
            return dict(tactic)
        if self.capabilities.limits_calls:
            return {**tactic, "options": dict(options)}
        if "tactic" not in tactic:
            return dict(tactic)
        # On a line of its own: several lines of tactics begin in one column.
        limits = "".join(f"set_option {name} {value} in\n" for name, value in options.items())
        return {**tactic, "tactic": limits + tactic["tactic"]}

    def parse_tactic(
        self, tactic: str, state: GoalState | None = None, *, timeout: float | None = None
    ) -> dict[str, Any]:
        """Parse a text as exactly one tactic and run nothing (embedded engine).

        Args:
            tactic: The text.
            state: The state it is for; its environment may know more syntax than the server's.
            timeout: Seconds it may take, in place of the server's.

        Returns:
            ``kinds`` of syntax, ``identifiers`` and ``atoms``; or ``parseError``.

        Raises:
            StaleStateError: The state belongs to an engine that is gone.
            RequestError: The engine has no such command.
            EngineLostError: The engine is gone.
        """
        with self._connection.lock:
            at = {} if state is None else {"stateId": self._id_of(state)}
            return self.ask("dojo.parse_tactic", {"tactic": tactic, **at}, timeout)

    parse_tactic_async = in_thread(parse_tactic)

    def request_state(
        self, cmd: str, payload: Mapping[str, Any], *, timeout: float | None = None
    ) -> tuple[GoalState, dict[str, Any]]:
        """Send a command of the protocol that opens a goal state.

        Returns:
            The state, and the answer that it was read from.

        Raises:
            RequestError: The engine refused the request.
            EngineLostError: The engine is gone, or its answer holds no state.
        """
        with self._connection.lock:
            answer = self.ask(cmd, payload, timeout)
            return self._read(answer, lambda a: self._state(a["stateId"], a)), answer

    request_state_async = in_thread(request_state)

    def goal_continue(
        self, target: GoalState, branch: GoalState, *, timeout: float | None = None
    ) -> GoalState:
        """After ``target`` is solved, go on with the goals of ``branch`` that are still open.

        Raises:
            StaleStateError: A state belongs to an engine that is gone.
            RequestError: The engine refused the request.
            EngineLostError: The engine is gone.
        """
        with self._connection.lock:
            fields = {"target": self._id_of(target), "branch": self._id_of(branch)}
            return self._next_state(fields, timeout)

    goal_continue_async = in_thread(goal_continue)

    def goal_resume(
        self, state: GoalState, goals: Sequence[Goal], *, timeout: float | None = None
    ) -> GoalState:
        """Bring ``goals`` back into the scope of ``state``.

        Raises:
            StaleStateError: A state belongs to an engine that is gone.
            RequestError: The engine refused the request.
            EngineLostError: The engine is gone.
        """
        with self._connection.lock:
            fields = {"target": self._id_of(state), "goals": [goal.id for goal in goals]}
            return self._next_state(fields, timeout)

    goal_resume_async = in_thread(goal_resume)

    def goal_root(self, state: GoalState, *, timeout: float | None = None) -> Expr | None:
        """Give the proof term of the whole goal, or ``None`` while goals are open.

        Raises:
            StaleStateError: A state belongs to an engine that is gone.
            RequestError: The engine refused the request.
            EngineLostError: The engine is gone.
        """
        root = self.goal_print(state, root=True, timeout=timeout).get("root")
        return None if root is None else self._read(root, parse_expr)

    goal_root_async = in_thread(goal_root)

    def goal_print(
        self, state: GoalState, *, root: bool = False, timeout: float | None = None
    ) -> dict[str, Any]:
        """Give Pantograph's description of a state: its goals and, if asked for, the root term.

        Raises:
            StaleStateError: A state belongs to an engine that is gone.
            RequestError: The engine refused the request.
            EngineLostError: The engine is gone.
        """
        with self._connection.lock:
            fields = {"stateId": self._id_of(state), "goals": True, "rootExpr": root}
            return self.ask("goal.print", fields, timeout)

    goal_print_async = in_thread(goal_print)

    def goal_subsume(
        self,
        state: GoalState,
        goal: Goal,
        candidates: Sequence[Goal],
        src_state: GoalState | None = None,
        *,
        timeout: float | None = None,
    ) -> tuple[Subsumption, GoalState | None, Goal | None]:
        """Find out whether one of ``candidates`` proves ``goal``.

        Returns:
            What was found; the state without the goal, unless that would be a cycle; the candidate.

        Raises:
            StaleStateError: A state belongs to an engine that is gone.
            RequestError: The engine refused the request.
            EngineLostError: The engine is gone.
        """
        with self._connection.lock:
            fields: dict[str, Any] = {
                "stateId": self._id_of(state),
                "goal": goal.id,
                "candidates": [candidate.id for candidate in candidates],
            }
            if src_state is not None:
                fields["srcStateId"] = self._id_of(src_state)
            answer = self.ask("goal.subsume", fields, timeout)
            rest: GoalState | None = None
            if answer.get("stateId") is not None:
                rest = GoalState.parse(answer["stateId"], [], self._connection.session)
                rest.goals.extend(g for g in state.goals if g.id != goal.id)
            by = next((c for c in candidates if c.id == answer.get("subsumptor")), None)
            return self._read(answer, lambda a: Subsumption(a["result"])), rest, by

    goal_subsume_async = in_thread(goal_subsume)

    def goal_save(
        self, goal_state: GoalState, path: str | Path, *, timeout: float | None = None
    ) -> None:
        """Save a goal state to a file; the environment is not saved with it.

        Raises:
            StaleStateError: A state belongs to an engine that is gone.
            RequestError: The engine refused the request.
            EngineLostError: The engine is gone.
        """
        with self._connection.lock:
            fields = {"id": self._id_of(goal_state), "path": str(Path(path).absolute())}
            self.ask("goal.save", fields, timeout)

    goal_save_async = in_thread(goal_save)

    def goal_load(self, path: str | Path, *, timeout: float | None = None) -> GoalState:
        """Take a goal state from a file of the same engine; the environment must be the same.

        Raises:
            RequestError: The engine refused the request.
            EngineLostError: The engine is gone.
        """
        with self._connection.lock:
            answer = self.ask("goal.load", {"path": str(Path(path).absolute())}, timeout)
            state_id = self._read(answer, lambda a: int(a["id"]))
            shown = self.ask("goal.print", {"stateId": state_id, "goals": True}, timeout)
            return self._read(shown, lambda a: self._state(state_id, a))

    goal_load_async = in_thread(goal_load)

    # -- constants and expressions ----------------------------------------------------------------

    def expr_type(self, expr: Expr, *, timeout: float | None = None) -> Expr:
        """Give the type of an expression.

        Raises:
            RequestParseError: It is not an expression.
            RequestError: It has no type.
        """
        answer = self.ask("expr.echo", {"expr": str(expr)}, timeout)
        return self._read(answer, lambda a: parse_expr(a["type"]))

    expr_type_async = in_thread(expr_type)

    def env_inspect(
        self,
        name: str,
        print_value: bool = False,
        print_dependency: bool = False,
        *,
        timeout: float | None = None,
    ) -> dict[str, Any]:
        """Describe a constant: its type and, if asked for, its value and what it depends on.

        Raises:
            RequestError: There is none of that name.
        """
        fields = {
            "name": name,
            "value": print_value,
            "dependency": print_dependency,
            "source": True,
        }
        return self.ask("env.inspect", fields, timeout)

    env_inspect_async = in_thread(env_inspect)

    def env_catalog(
        self,
        module_prefix: str | None = None,
        invert_filter: bool = False,
        *,
        timeout: float | None = None,
    ) -> list[str]:
        """List the safe constants, each behind a letter for its kind, such as ``dNat.add``.

        Args:
            module_prefix: Only those of modules whose name begins so.
            invert_filter: Only the others, what this session declared among them.
            timeout: Seconds it may take, in place of the server's.

        Raises:
            RequestError: The engine refused the request.
        """
        with tempfile.TemporaryDirectory(prefix="lean-dojo-") as folder:
            listing = Path(folder) / "catalog.txt"
            listing.touch()
            fields: dict[str, Any] = {"filename": str(listing), "invertFilter": invert_filter}
            if module_prefix is not None:
                fields["modulePrefix"] = module_prefix
            answer = self.ask("env.catalog", fields, timeout)
            if "symbols" in answer:  # Pantograph before 0.3.9 wrote no files
                return list(answer["symbols"])
            return listing.read_text(encoding="utf-8").split("\n")[:-1]

    env_catalog_async = in_thread(env_catalog)

    def env_module_read(self, module: str, *, timeout: float | None = None) -> dict[str, Any]:
        """Describe a module: what it imports and the names of its constants."""
        return self.ask("env.module_read", {"module": module}, timeout)

    env_module_read_async = in_thread(env_module_read)

    def env_describe(self, *, timeout: float | None = None) -> dict[str, Any]:
        """Name the modules that the environment was made from."""
        return self.ask("env.describe", {}, timeout)

    env_describe_async = in_thread(env_describe)

    def env_save(self, path: str | Path, *, timeout: float | None = None) -> None:
        """Save the environment to a file: what it imports, and the constants it has besides."""
        self.ask("env.save", {"path": str(Path(path).absolute())}, timeout)

    env_save_async = in_thread(env_save)

    def env_load(self, path: str | Path, *, timeout: float | None = None) -> None:
        """Take the environment from a file of the same engine."""
        self._load("env.load", {"path": str(Path(path).absolute())}, timeout)

    env_load_async = in_thread(env_load)

    def env_parse(
        self, src: str, category: str = "tactic", *, timeout: float | None = None
    ) -> tuple[str, str]:
        """Parse the beginning of a text; give what was parsed, and the rest.

        Raises:
            RequestParseError: The text does not begin with something of that category.
        """
        answer = self.ask("env.parse", {"input": src, "category": category}, timeout)
        data = src.encode()
        return data[: answer["pos"]].decode(), data[answer["pos"] :].decode()

    env_parse_async = in_thread(env_parse)

    def env_add(
        self,
        name: str,
        levels: Sequence[str],
        t: Expr,
        v: Expr,
        is_theorem: bool = True,
        *,
        timeout: float | None = None,
    ) -> None:
        """Add a definition or a theorem to the environment.

        Raises:
            RequestError: Lean refused it.
        """
        fields = {
            "name": name,
            "levels": list(levels),
            "type": t,
            "value": v,
            "isTheorem": is_theorem,
            "typeErrorsAsGoals": False,
        }
        self._load("env.add", fields, timeout)

    env_add_async = in_thread(env_add)

    # -- whole texts ------------------------------------------------------------------------------

    def process(
        self,
        text: str,
        *,
        file_name: str | None = None,
        read_header: bool = False,
        inherit_env: bool = False,
        invocations: bool = False,
        sorrys: bool = False,
        new_constants: bool = False,
        type_errors_as_goals: bool = False,
        options: Mapping[str, int] | None = None,
        timeout: float | None = None,
    ) -> list[CompilationUnit]:
        """Elaborate a text (``frontend.process``).

        Args:
            text: Commands of Lean; with a header if ``read_header``.
            file_name: What messages call the text; in a project, the module that it is
                (embedded engine).
            read_header: Whether to import what the text imports, in place of the environment.
            inherit_env: Whether the environment changes to the one after the text.
            invocations: Whether to report every tactic.
            sorrys: Whether to open the goal of every ``sorry``.
            new_constants: Whether to name the constants that each command defines.
            type_errors_as_goals: Whether to open a goal for every term whose type is not the one
                that is expected.
            options: Limits of Lean for this call (embedded engine).
            timeout: Seconds it may take, in place of the server's.

        Returns:
            One record for each command, also for one with errors: read their messages.
        """
        named = file_name is not None and self.capabilities.names_texts
        fields: dict[str, Any] = {
            "file": text,
            **({"fileName": file_name} if named else {}),
            "readHeader": read_header,
            "inheritEnv": inherit_env,
            "sorrys": sorrys,
            "newConstants": new_constants,
            "typeErrorsAsGoals": type_errors_as_goals,
            **({"options": dict(options)} if options else {}),
        }
        with self._connection.lock:
            if invocations:
                answer, found = self._with_invocations(fields, timeout)
            else:
                answer, found = self.ask("frontend.process", fields, timeout), None
            units = self._read(answer, lambda a: self._units(a, found))
            if inherit_env:
                self._remember(fields)
            return units

    process_async = in_thread(process)

    def tactic_invocations(
        self, file_name: str | Path, *, timeout: float | None = None
    ) -> list[CompilationUnit]:
        """List every tactic of a file, header and all.

        Raises:
            RequestError: The file cannot be read.
        """
        try:
            text = Path(file_name).read_bytes().decode()
        except (OSError, UnicodeDecodeError) as error:
            raise RequestError(f"frontend.process: {file_name}: {error}", "io") from error
        return self.process(
            text, file_name=str(file_name), read_header=True, invocations=True, timeout=timeout
        )

    tactic_invocations_async = in_thread(tactic_invocations)

    def check_compile(
        self,
        code: str,
        new_constants: bool = False,
        read_header: bool = False,
        *,
        timeout: float | None = None,
    ) -> list[CompilationUnit]:
        """Elaborate a text and leave the environment as it is."""
        return self.process(
            code, read_header=read_header, new_constants=new_constants, timeout=timeout
        )

    check_compile_async = in_thread(check_compile)

    def load_header(self, header: str, *, timeout: float | None = None) -> None:
        """Change the environment to what a header gives: its imports and the commands after them.

        Raises:
            RequestError: The header has an error; the environment may have changed.
        """
        self._load_text(header, True, timeout)

    load_header_async = in_thread(load_header)

    def load_definitions(self, snippet: str, *, timeout: float | None = None) -> None:
        """Add the definitions of a text to the environment. Goal states of before do not see them.

        Raises:
            RequestError: The text has an error; what stands before it may have been added.
        """
        self._load_text(snippet, False, timeout)

    load_definitions_async = in_thread(load_definitions)

    def load_sorry(
        self,
        src: str,
        binder_name: str | None = None,
        ignore_values: bool = False,
        *,
        timeout: float | None = None,
    ) -> list[SearchTarget]:
        """Take the goals of all ``sorry``s out of a text (``frontend.distil``).

        Args:
            src: The text.
            binder_name: Name of the binder that several coupled ``sorry``s are condensed into.
            ignore_values: Whether to start from the bare statements, dropping the proofs so far.
            timeout: Seconds it may take, in place of the server's.
        """
        fields: dict[str, Any] = {"file": src, "ignoreValues": ignore_values}
        if binder_name is not None:
            fields["binderName"] = binder_name
        with self._connection.lock:
            answer = self.ask("frontend.distil", fields, timeout)
            session = self._connection.session
            return self._read(
                answer, lambda a: [SearchTarget.parse(target, session) for target in a["targets"]]
            )

    load_sorry_async = in_thread(load_sorry)

    def check_track(self, src: str, dst: str, *, timeout: float | None = None) -> CheckTrackResult:
        """Check that ``dst`` proves what ``src`` states."""
        answer = self.ask("frontend.track", {"src": src, "dst": dst}, timeout)
        return self._read(answer, CheckTrackResult.parse)

    check_track_async = in_thread(check_track)

    def refactor_search_target(
        self, code: str, core_options: Sequence[str] = (), *, timeout: float | None = None
    ) -> str:
        """Combine ``sorry``s that rest on each other into one (experimental in Pantograph)."""
        fields = {"file": code, "coreOptions": list(core_options)}
        answer = self.ask("frontend.refactor", fields, timeout)
        return self._read(answer, lambda a: str(a["file"]))

    refactor_search_target_async = in_thread(refactor_search_target)

    # -- how answers are read ---------------------------------------------------------------------

    def _load(self, cmd: str, payload: Payload, timeout: float | None) -> dict[str, Any]:
        """Send a command that changes the environment; a replacement engine gets it again."""
        with self._connection.lock:
            answer = self.ask(cmd, payload, timeout)
            self._loaded.append((cmd, payload))
            return answer

    def _read(self, answer: T, reader: Callable[[T], R]) -> R:
        """Make records out of an answer.

        Raises:
            EngineProtocolError: The answer has not the form that it should have.
        """
        try:
            return reader(answer)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            self.close()
            raise EngineProtocolError(
                f"The {self._connection.plan.what} gave an answer of a form that this client does "
                f"not know ({type(error).__name__}: {error}). It was stopped. Is it a Pantograph "
                "of another version?"
            ) from error

    def _id_of(self, state: GoalState) -> int:
        """Give a state's number, if it lives in the engine that runs now.

        Raises:
            StaleStateError: It does not.
        """
        if not self.holds(state):
            raise StaleStateError(
                f"Goal state {state.state_id} belongs to an engine that is gone, or to another "
                "server. Start the goal again."
            )
        return state.state_id

    def _next_state(self, fields: Mapping[str, Any], timeout: float | None) -> GoalState:
        answer = self.ask("goal.continue", fields, timeout)
        return self._read(answer, lambda a: self._state(a["nextStateId"], a))

    def _state(
        self, state_id: int, answer: Mapping[str, Any], messages: Sequence[LeanMessage] = ()
    ) -> GoalState:
        owed = str(answer.get("owed", ""))
        goals, pp = answer["goals"], answer.get("pp")
        return GoalState.parse(state_id, goals, self._connection.session, messages, pp, owed=owed)

    def _load_text(self, text: str, header: bool, timeout: float | None) -> None:
        units = self.process(text, read_header=header, inherit_env=True, timeout=timeout)
        errors = [error for unit in units for error in unit.errors]
        if errors:
            listed = "\n".join(map(str, errors))
            raise RequestError(f"The text has errors:\n{listed}", "elab")

    def _remember(self, fields: Mapping[str, Any]) -> None:
        """Note what changed the environment, for the engine that may replace this one."""
        if fields["readHeader"]:
            self._loaded.clear()  # a header replaces the whole environment
        self._loaded.append(("frontend.process", {**fields, "sorrys": False}))

    def _with_invocations(
        self, fields: Mapping[str, Any], timeout: float | None
    ) -> tuple[dict[str, Any], list[list[Mapping[str, Any]]]]:
        """Process a text; find its tactics in the answer, or in the file that Pantograph wrote."""
        with tempfile.TemporaryDirectory(prefix="lean-dojo-") as folder:
            listing = Path(folder) / "invocations.json"
            asked = {**fields, "invocations": str(listing)}
            answer = self.ask("frontend.process", asked, timeout)
            units = orjson.loads(listing.read_bytes())["units"]
            return answer, [unit.get("invocations") or [] for unit in units]

    def _units(
        self,
        answer: Mapping[str, Any],
        invocations: Sequence[list[Mapping[str, Any]]] | None = None,
    ) -> list[CompilationUnit]:
        units = answer["units"]
        tactics = invocations if invocations is not None else [None] * len(units)
        return [
            CompilationUnit.parse(unit, self._connection.session, found)
            for unit, found in zip(units, tactics, strict=True)
        ]


def _messages(answer: Mapping[str, Any]) -> list[LeanMessage]:
    return [LeanMessage.parse(message) for message in answer.get("messages") or ()]


def _old_errors(answer: Mapping[str, Any]) -> str:
    """Before version 0.3, Pantograph gave a failed tactic's errors as plain strings."""
    return "\n".join(map(str, answer.get("tacticErrors") or ["the tactic failed without a reason"]))
