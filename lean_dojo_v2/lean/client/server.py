"""One client for every engine that speaks Pantograph's REPL protocol.

:class:`Server` has the names and the behaviour of PyPantograph's ``Server``, so either can be
handed to a prover. In addition, it may be used from several threads and inside a running event
loop; every call has a time limit; an engine that dies, hangs or outgrows its memory is replaced at
the next call, and the environment is loaded again; no process outlives it.
"""

import asyncio
import functools
import inspect
import tempfile
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self, TypeVar

import orjson

from lean_dojo_v2.lean.client.engine import Engine, Payload, Seconds
from lean_dojo_v2.lean.client.judge import ElaboratedText, Judge, read_elaborated
from lean_dojo_v2.lean.client.records import (
    Expr,
    Goal,
    GoalState,
    Site,
    Tactic,
    TacticWords,
    parse_expr,
    serial_tactic,
)
from lean_dojo_v2.lean.client.units import CheckTrackResult, CompilationUnit, SearchTarget
from lean_dojo_v2.lean.engines.process import Capabilities
from lean_dojo_v2.lean.errors import RequestError, TacticError, TacticParseError
from lean_dojo_v2.lean.messages import LeanMessage

R = TypeVar("R")

_CONFIGURATION = [name for name in inspect.signature(Engine).parameters if name != "start"]


class Server(Engine):
    """A Lean engine with an environment, goal states and texts to process.

    Every method that queries the engine takes a ``timeout`` in seconds, in place of the server's,
    and has an ``…_async`` version, which waits in a thread. Besides its own errors, it may raise
    :class:`RequestError` (the engine refused), :class:`EngineLostError` (the engine died, timed
    out, outgrew its memory or left the protocol; the next call starts another) and, where it is
    given a goal state, :class:`StaleStateError` (the state belongs to an engine that is gone).

    Args:
        imports: Modules to import.
        project_path: A Lake project; with the native engine its compiled modules may be imported.
        lean_path: Search path of compiled modules, for the native engine; default: Lake's.
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

    client: str | None = None
    _judge: Judge | None = None
    _owns_judge = True

    @classmethod
    async def create(cls, *args: Any, start: bool = True, **kwargs: Any) -> Self:
        """Make a server inside an event loop; the parameters are the constructor's."""
        server = cls(*args, start=False, **kwargs)
        if start:
            await asyncio.to_thread(server.restart)
        return server

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        what = self.plan.what if "plan" in vars(self) else f"{self.engine} engine"
        return f"<{type(self).__name__}: {what}, imports={self.imports}, pid={self.pid}>"

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the configuration; the copy starts an engine of its own at its first call."""
        return {name: getattr(self, name) for name in _CONFIGURATION}

    def __setstate__(self, state: dict[str, Any]) -> None:
        Server.__init__(self, **state, start=False)

    def another(self, **changes: Any) -> Self:
        """Make a server with a changed configuration, not started yet."""
        return type(self)(**{**self.__getstate__(), **changes}, start=False)

    @property
    def kind(self) -> str:
        """Which engine it is: ``"native"`` or ``"embedded"``."""
        return self.plan.kind

    @property
    def description(self) -> str:
        """The engine's name in errors."""
        return self.plan.what

    @property
    def capabilities(self) -> Capabilities:
        """The engine's capabilities; known before it starts."""
        return self.plan.capabilities

    @property
    def scope(self) -> bytes:
        """A key of what a text in this session sees: its imports, options and definitions."""
        return orjson.dumps([self.imports, self.lean_path, self.core_options, self._definitions])

    @property
    def judge(self) -> Judge:
        """The engines that give verdicts; they start when first needed."""
        if self._judge is None:
            self._judge, self._owns_judge = self.make_judge(), True
        return self._judge

    def make_judge(self) -> Judge:
        """Make a judge of what engines with this configuration elaborate; it starts when needed."""
        return Judge(self._judge_and_reader)

    def _judge_and_reader(self) -> tuple[Self, Self]:
        # A native judge imports what the project has compiled; an embedded one the library alone.
        project = self.project_path if self.kind == "native" else None
        kernel = self.another(
            engine=self.kind, imports=("Init",), project_path=project, options=None, core_options=()
        )
        return kernel, self.another(engine=self.kind)

    def share_judge(self, judge: Judge) -> None:
        """Use another server's or a pool's judge, which is not closed here."""
        if judge is not self._judge:
            if self._judge is not None and self._owns_judge:
                self._judge.close()
            self._judge, self._owns_judge = judge, False

    def is_automatic(self) -> bool:
        """Whether goals stay in scope by themselves (Pantograph's ``automaticMode``)."""
        return bool(self.options.get("automaticMode", True))

    @property
    def to_remove_goal_states(self) -> list[int]:
        """Ids of dropped goal states that the engine still holds (PyPantograph's name)."""
        return list(self._session.dropped)

    @contextmanager
    def alone(self, owner: str) -> Iterator[None]:
        """Reserve the engine for one owner's texts; nobody else's are elaborated after them.

        If a new engine is needed and does not become ready, it raises an EngineLostError.
        """
        self.begin(owner)
        try:
            yield
        finally:
            self.leave()

    def close(self) -> None:
        """Stop the engine, even while another thread waits for it; the next call starts another."""
        if self._judge is not None and self._owns_judge:
            self._judge.close()
        self._stop()

    def retire(self) -> None:
        """Stop the engine permanently: waiting and later calls fail."""
        self._retired = True
        self.close()

    def stat(self, *, timeout: Seconds = None) -> dict[str, Any]:
        """Return the engine's own status.

        ``nGoals`` is the number of live goal states; ``resets`` says how often the engine was put
        back to its start for another owner's texts.
        """
        with self._lock:
            status = self.ask("stat", {}, timeout)
            return {**status, "resets": self._process.resets if self._process else 0}

    def goal_start(
        self, expr: Expr, *, levels: Sequence[str] = (), timeout: Seconds = None
    ) -> GoalState:
        """Open a goal whose target is ``expr``; ``levels`` names the universe levels in it.

        Raises:
            RequestParseError: It is not an expression.
            RequestError: It has no type.
        """
        # Pantograph returns only the name of the goal.
        only = {"target": {"pp": str(expr)}}
        return self._query(
            "goal.start",
            {"expr": str(expr), **({"levels": list(levels)} if levels else {})},
            timeout,
            lambda a: self._state({"goals": [{"name": a.get("root"), **only}], **a}),
        )

    def goal_tactic(
        self,
        state: GoalState,
        tactic: Tactic,
        site: Site = Site(),  # noqa: B008 - immutable, and PyPantograph's signature
        *,
        options: Mapping[str, int] | None = None,
        axioms: Collection[str] | None = None,
        timeout: Seconds = None,
    ) -> GoalState:
        """Run a tactic.

        Args:
            state: The goals.
            tactic: The tactic: text, or a ``Tactic…`` record.
            site: The goal it acts on; the first one if not given.
            options: Limits of Lean for this call, for example ``{"maxHeartbeats": 50000}``. A
                native engine gets them as ``set_option … in``, before a tactic that is a text.
            axioms: Axioms that it may depend on, also through cited theorems; any if not
                given. The state then also has ``owed``.
            timeout: Seconds it may take, in place of the server's.

        Returns:
            The goals after it. All goals count: it is solved only when none is open.

        Raises:
            TacticParseError: The text is not a tactic.
            TacticError: Lean refused the tactic, or it used ``sorry`` or something unsafe.
        """
        with self._lock:
            fields: dict[str, Any] = {
                "stateId": state,
                **site.serial(),
                **serial_tactic(tactic),
                **({"options": dict(options)} if options else {}),
                **({} if axioms is None else {"axioms": True}),
            }
            answer = self.ask("goal.tactic", fields, timeout)
            if "parseError" in answer:
                raise TacticParseError(str(answer["parseError"]))
            messages = self._read(answer.get("messages"), LeanMessage.parse_all)
            if answer.get("goals") is None:
                said = "\n".join(message.data for message in messages)
                raise TacticError(said or "the tactic failed without a reason", messages)
            # Made before the tactic is judged, so that a rejected state is deleted.
            after = self._read(answer, lambda a: self._state(a, messages))
            if used := _forbidden(answer, axioms):
                raise TacticError(f"The tactic {used}.", messages)
            return after

    def parse_tactic(
        self, tactic: str, state: GoalState | None = None, *, timeout: Seconds = None
    ) -> dict[str, Any]:
        """Parse a text as exactly one tactic and run nothing.

        The environment of the ``state`` it is for may know more syntax than the server's.

        Returns:
            ``kinds`` of syntax, ``identifiers`` and ``atoms``, and ``evaluates`` if Lean would run
            a setting's value as a program; or ``parseError``.
        """
        at = {} if state is None else {"stateId": state}
        return self.ask("dojo.parse_tactic", {"tactic": tactic, **at}, timeout)

    def tactic_words(
        self, state: GoalState | None = None, *, timeout: Seconds = None
    ) -> TacticWords:
        """Return the tokens that a tactic may begin with, in the environment of the ``state``."""
        at = {} if state is None else {"stateId": state}
        return self._query(
            "dojo.tactic_words", at, timeout,
            lambda a: TacticWords(frozenset(map(str, a["words"])), bool(a["other"])),
        )  # fmt: skip

    def request_state(
        self, cmd: str, payload: Mapping[str, Any], *, timeout: Seconds = None
    ) -> tuple[GoalState, dict[str, Any]]:
        """Send a command that opens a goal state; return the state, and the answer it is from."""
        return self._query(cmd, payload, timeout, lambda a: (self._state(a), a))

    def goal_continue(
        self, target: GoalState, branch: GoalState, *, timeout: Seconds = None
    ) -> GoalState:
        """After ``target`` is solved, continue with the open goals of ``branch``."""
        fields = {"target": target, "branch": branch}
        return self._query("goal.continue", fields, timeout, self._state)

    def goal_resume(
        self, state: GoalState, goals: Sequence[Goal], *, timeout: Seconds = None
    ) -> GoalState:
        """Bring ``goals`` back into the scope of ``state``."""
        fields = {"target": state, "goals": [goal.id for goal in goals]}
        return self._query("goal.continue", fields, timeout, self._state)

    def goal_root(self, state: GoalState, *, timeout: Seconds = None) -> Expr | None:
        """Return the proof term of the whole goal, or ``None`` while goals are open."""
        root = self.goal_print(state, root=True, timeout=timeout).get("root")
        return None if root is None else self._read(root, parse_expr)

    def goal_print(
        self, state: GoalState, *, root: bool = False, timeout: Seconds = None
    ) -> dict[str, Any]:
        """Return Pantograph's description of a state: its goals and, on request, the root term."""
        return self.ask("goal.print", {"stateId": state, "goals": True, "rootExpr": root}, timeout)

    def goal_save(
        self, goal_state: GoalState, path: str | Path, *, timeout: Seconds = None
    ) -> None:
        """Save a goal state to a file; the environment is not saved with it."""
        self.ask("goal.save", {"id": goal_state, "path": str(Path(path).absolute())}, timeout)

    def goal_load(self, path: str | Path, *, timeout: Seconds = None) -> GoalState:
        """Load a goal state from a file of the same engine and environment."""
        with self._lock:
            fields = {"path": str(Path(path).absolute())}
            own = {"stateId": self._query("goal.load", fields, timeout, lambda a: int(a["id"]))}
            asked = {**own, "goals": True}
            return self._query("goal.print", asked, timeout, lambda a: self._state({**a, **own}))

    def expr_type(self, expr: Expr, *, timeout: Seconds = None) -> Expr:
        """Return the type of an expression; the errors are those of :meth:`goal_start`."""
        fields = {"expr": str(expr)}
        return self._query("expr.echo", fields, timeout, lambda a: parse_expr(a["type"]))

    def env_inspect(
        self,
        name: str,
        print_value: bool = False,
        print_dependency: bool = False,
        *,
        timeout: Seconds = None,
    ) -> dict[str, Any]:
        """Describe a constant: its type and, on request, its value and dependencies.

        If there is none of that name, it raises a RequestError.
        """
        asked = {"value": print_value, "dependency": print_dependency, "source": True}
        return self.ask("env.inspect", {"name": name, **asked}, timeout)

    def env_catalog(
        self,
        module_prefix: str | None = None,
        invert_filter: bool = False,
        *,
        timeout: Seconds = None,
    ) -> list[str]:
        """List the safe constants, each prefixed by a letter for its kind, such as ``dNat.add``.

        With ``module_prefix``, only those of modules with this prefix; with ``invert_filter``, only
        the other ones, including those of this session.
        """
        with tempfile.TemporaryDirectory(prefix="lean-dojo-") as folder:
            listing = Path(folder) / "catalog.txt"
            listing.touch()
            fields: dict[str, Any] = {"filename": str(listing), "invertFilter": invert_filter}
            if module_prefix is not None:
                fields["modulePrefix"] = module_prefix
            self.ask("env.catalog", fields, timeout)
            return listing.read_text(encoding="utf-8").split("\n")[:-1]

    def env_module_read(self, module: str, *, timeout: Seconds = None) -> dict[str, Any]:
        """Describe a module: its imports and the names of its constants."""
        return self.ask("env.module_read", {"module": module}, timeout)

    def env_describe(self, *, timeout: Seconds = None) -> dict[str, Any]:
        """Name the modules that the environment was made from."""
        return self.ask("env.describe", {}, timeout)

    def check(self, fields: Payload, timeout: Seconds = None) -> ElaboratedText:
        """Elaborate a text (``dojo.check``): the engine's report, and what a judge needs.

        It raises a RequestError if the text cannot be opened.
        """
        return self._query("dojo.check", fields, timeout, lambda a: read_elaborated(a, self._rows))

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
        timeout: Seconds = None,
    ) -> list[CompilationUnit]:
        """Elaborate a text (``frontend.process``).

        Args:
            text: Commands of Lean; with a header if ``read_header``.
            file_name: Name of the text in messages; in a project, its module.
            read_header: Whether to use the text's imports instead of the environment.
            inherit_env: Whether the environment changes to the one after the text.
            invocations: Whether to report every tactic.
            sorrys: Whether to open the goal of every ``sorry``.
            new_constants: Whether to name the constants that each command defines.
            timeout: Seconds it may take, in place of the server's.

        Returns:
            One record for each command, also for one with errors: read their messages.
        """
        named = file_name is not None and self.capabilities.ours
        fields: dict[str, Any] = {
            "file": text,
            **({"fileName": file_name} if named else {}),
            "readHeader": read_header,
            "inheritEnv": inherit_env,
            "sorrys": sorrys,
            "newConstants": new_constants,
        }
        with self._lock:
            units = self._read(
                self._processed(fields, invocations, timeout),
                lambda found: [CompilationUnit.parse(unit, self._session) for unit in found],
            )
            if read_header and inherit_env:
                self._definitions.clear()  # a header replaces the whole environment
            if inherit_env:
                self._definitions.append({**fields, "sorrys": False})
            return units

    def tactic_invocations(
        self, file_name: str | Path, *, timeout: Seconds = None
    ) -> list[CompilationUnit]:
        """List every tactic of a file, header and all; an unreadable one is a RequestError."""
        try:
            text = Path(file_name).read_bytes().decode()
        except (OSError, UnicodeDecodeError) as error:
            raise RequestError(f"{file_name}: {error}", "io") from error
        return self.process(
            text, file_name=str(file_name), read_header=True, invocations=True, timeout=timeout
        )

    def check_compile(
        self,
        code: str,
        new_constants: bool = False,
        read_header: bool = False,
        *,
        timeout: Seconds = None,
    ) -> list[CompilationUnit]:
        """Elaborate a text and leave the environment as it is."""
        return self.process(
            code, read_header=read_header, new_constants=new_constants, timeout=timeout
        )

    def load_header(self, header: str, *, timeout: Seconds = None) -> None:
        """Replace the environment by a header's: its imports and the commands after them.

        An error in it is a RequestError; the environment may have changed.
        """
        self._load_text(header, True, timeout)

    def load_definitions(self, snippet: str, *, timeout: Seconds = None) -> None:
        """Add the definitions of a text to the environment; earlier goal states do not see them.

        An error in it is a RequestError; definitions before it may have been added.
        """
        self._load_text(snippet, False, timeout)

    def load_sorry(
        self,
        src: str,
        binder_name: str | None = None,
        ignore_values: bool = False,
        *,
        timeout: Seconds = None,
    ) -> list[SearchTarget]:
        """Extract the goals of all ``sorry``s of a text (``frontend.distil``).

        Several coupled ``sorry``s are combined by a binder called ``binder_name``. With
        ``ignore_values``, the goals are the bare statements, without the proofs so far.
        """
        fields: dict[str, Any] = {"file": src, "ignoreValues": ignore_values}
        if binder_name is not None:
            fields["binderName"] = binder_name
        return self._query(
            "frontend.distil",
            fields,
            timeout,
            lambda a: [SearchTarget.parse(target, self._session) for target in a["targets"]],
        )

    def check_track(self, src: str, dst: str, *, timeout: Seconds = None) -> CheckTrackResult:
        """Check that ``dst`` proves what ``src`` states."""
        fields = {"src": src, "dst": dst}
        return self._query("frontend.track", fields, timeout, CheckTrackResult.parse)

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        """Return the async version of a method, such as ``goal_start_async``, run in a thread.

        Cancelling it stops the waiting, not the request, which runs until it is answered or its
        time is over.
        """
        method = name.removesuffix("_async")
        if method == name or method.startswith("_") or not hasattr(type(self), method):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return functools.partial(asyncio.to_thread, getattr(self, method))

    def _query(
        self, cmd: str, fields: Payload, timeout: Seconds, reader: Callable[[dict[str, Any]], R]
    ) -> R:
        """Ask, and parse the answer into records of the engine that gave it."""
        with self._lock:
            return self._read(self.ask(cmd, fields, timeout), reader)

    def _state(self, answer: Payload, messages: Sequence[LeanMessage] = ()) -> GoalState:
        number = answer["nextStateId" if "nextStateId" in answer else "stateId"]
        return GoalState.parse(number, answer, self._session, messages)

    def _load_text(self, text: str, header: bool, timeout: Seconds) -> None:
        units = self.process(text, read_header=header, inherit_env=True, timeout=timeout)
        errors = [error for unit in units for error in unit.errors]
        if errors:
            listed = "\n".join(map(str, errors))
            raise RequestError(f"The text has errors:\n{listed}", "elab")

    def _processed(self, fields: Payload, invocations: bool, timeout: Seconds) -> list[Payload]:
        """Process a text; Pantograph writes the tactics of its units to a file."""

        def units_of(answer: Payload) -> list[Payload]:
            return self._read(answer, lambda a: list(a["units"]))

        if not invocations:
            return units_of(self.ask("frontend.process", fields, timeout))
        with tempfile.TemporaryDirectory(prefix="lean-dojo-") as folder:
            listing = Path(folder) / "invocations.json"
            asked = {**fields, "invocations": str(listing)}
            units = units_of(self.ask("frontend.process", asked, timeout))
            tactics = units_of(orjson.loads(listing.read_bytes()))
        return [
            {**unit, "invocations": found.get("invocations") or []}
            for unit, found in zip(units, tactics, strict=True)
        ]


def _forbidden(answer: Payload, axioms: Collection[str] | None) -> str:
    """Return which forbidden means a tactic has used that Lean accepted, if any."""
    for flag, what in (("hasSorry", "sorry"), ("hasUnsafe", "something unsafe")):
        if answer.get(flag):
            return f"used {what}"
    other = set() if axioms is None else set(answer.get("axioms", ())) - set(axioms)
    return f"depends on {', '.join(sorted(other))}" if other else ""
