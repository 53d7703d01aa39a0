"""The client against real Lean: goals, constants, texts, and what goes wrong."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import pytest

from lean_dojo_v2.lean.connection import GC_THRESHOLD
from lean_dojo_v2.lean.errors import (
    EngineDiedError,
    EngineMemoryError,
    EngineTimeoutError,
    ParseError,
    RequestError,
    RequestParseError,
    ServerError,
    StaleStateError,
    TacticError,
    TacticFailure,
    TacticParseError,
)
from lean_dojo_v2.lean.messages import Position, Severity
from lean_dojo_v2.lean.pool import EnginePool, PoolConfig
from lean_dojo_v2.lean.records import Goal, Site, Variable
from lean_dojo_v2.lean.server import Server

OR_SWAP = "∀ (p q : Prop), p ∨ q → q ∨ p"
ENDLESS = "partial def loop (n : Nat) : Nat := loop (n + 1)\n#eval loop 0"
BOMB = "#eval (Array.replicate 400000000 0).size"


# -- goals ----------------------------------------------------------------------------------------


def test_a_proof_from_start_to_end(engine):
    start = engine.goal_start(OR_SWAP)
    assert [goal.target for goal in start.goals] == [OR_SWAP]
    assert not start.is_solved
    intro = engine.goal_tactic(start, "intro p q h")
    variables = [
        Variable("Prop", name="p"),
        Variable("Prop", name="q"),
        Variable("p ∨ q", name="h"),
    ]
    assert intro.goals[0].variables == variables
    assert str(intro) == "p q : Prop\nh : p ∨ q\n⊢ q ∨ p"
    done = engine.goal_tactic(intro, "exact h.symm")
    assert done.is_solved
    assert str(done) == "no goals"
    assert engine.goal_root(start) is None
    assert engine.goal_root(done) == "fun p q h => Or.symm h"


def test_all_goals_count_and_siblings_never_vanish(engine):
    split = engine.goal_tactic(
        engine.goal_tactic(engine.goal_start(OR_SWAP), "intro p q h"), "cases h"
    )
    assert [goal.name for goal in split.goals] == ["inl", "inr"]
    assert split.goals[0].variables[2] == Variable("p", name="h✝")
    assert split.goals[0].variables[2].inaccessible
    half = engine.goal_tactic(split, "exact Or.inr ‹_›")
    assert not half.is_solved
    assert [goal.name for goal in half.goals] == ["inr"]
    assert engine.goal_tactic(half, "exact Or.inl ‹_›").is_solved


def test_a_site_chooses_the_goal_and_the_others_stay(engine):
    split = engine.goal_tactic(engine.goal_start("True ∧ 1 = 1"), "constructor")
    assert [goal.name for goal in split.goals] == ["left", "right"]
    right_first = engine.goal_tactic(split, "rfl", Site(1))
    assert [goal.name for goal in right_first.goals] == ["left"]
    with pytest.raises(ServerError):
        engine.goal_tactic(split, "rfl", Site(2))


def test_dormant_goals_come_back(engine):
    split = engine.goal_tactic(engine.goal_start("True ∧ 1 = 1"), "constructor")
    left = engine.goal_tactic(split, "trivial", Site(0, auto_resume=False))
    assert left.goals == []
    both = engine.goal_continue(left, split)
    assert [goal.name for goal in both.goals] == ["right"]
    again = engine.goal_resume(left, [split.goals[1]])
    assert engine.goal_tactic(again, "rfl").is_solved


@pytest.mark.parametrize(
    ("tactic", "error", "said"),
    [
        ("exact foo", TacticError, "nknown identifier `foo`"),
        ("rfl", TacticError, "rfl"),
        ("exact (", TacticParseError, "unexpected end of input"),
        ("not a tactic", TacticParseError, "<input>"),
        ("", TacticParseError, "unexpected end of input"),
        ("sorry", TacticError, "sorry"),
        ("exact sorry", TacticError, "sorry"),
    ],
)
def test_failures_of_tactics_are_told_apart(engine, tactic, error, said):
    start = engine.goal_start("∀ n : Nat, n + 1 = 2")
    with pytest.raises(error, match=said) as caught:
        engine.goal_tactic(start, tactic)
    assert isinstance(caught.value, TacticFailure)
    assert isinstance(caught.value, ParseError) == (error is TacticParseError)
    assert not isinstance(caught.value, ServerError)
    assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args


def test_failures_of_expressions_are_told_apart(engine):
    with pytest.raises(RequestParseError):
        engine.goal_start("∀ n : Nat,")
    with pytest.raises(RequestError) as caught:
        engine.goal_start("n + nowhere = 2")
    assert not isinstance(caught.value, ParseError)
    with pytest.raises(RequestParseError, match=r"encoding|surrogates|UTF-8"):
        engine.goal_start("\ud800")


def test_a_failed_tactic_leaves_the_state_as_it_was(engine):
    start = engine.goal_start("∀ n : Nat, n + 0 = n")
    for _ in range(3):
        with pytest.raises(TacticFailure):
            engine.goal_tactic(start, "omega_typo")
    assert engine.goal_tactic(start, "simp").is_solved


def test_dropped_states_are_forgotten(engine):
    engine.gc()
    before = engine.stat()["nGoals"]
    kept = engine.goal_start("True")
    for _ in range(GC_THRESHOLD + 10):
        engine.goal_start("True")
    assert engine.stat()["nGoals"] <= before + 1 + GC_THRESHOLD
    assert engine.to_remove_goal_states
    engine.gc()
    assert engine.to_remove_goal_states == []
    assert engine.stat()["nGoals"] == before + 1
    assert engine.goal_tactic(kept, "trivial").is_solved


def test_unicode_and_long_texts_go_both_ways(engine):
    name = "α₁'" * 1000
    state = engine.goal_tactic(engine.goal_start("∀ x : Nat, x = x"), f"intro {name}")
    assert state.goals[0].variables == [Variable("Nat", name=name)]
    with pytest.raises(TacticFailure):
        engine.goal_tactic(state, "exact " + "(" * 1_000)


# -- constants and expressions --------------------------------------------------------------------


def test_constants_have_types_and_modules(engine):
    described = engine.env_inspect("Nat.add_comm")
    assert described["type"]["pp"] == "∀ (n m : Nat), n + m = m + n"
    assert described["module"] == "Init.Data.Nat.Basic"
    with pytest.raises(RequestError, match="nowhere"):
        engine.env_inspect("nowhere")


def test_the_catalog_lists_constants(engine):
    assert "Nat.add_comm" in engine.env_catalog()
    with pytest.raises(RequestError, match="native engine"):
        engine.env_catalog("Init.Data")


def test_expressions_have_types(engine):
    assert engine.expr_type("∀ (n m : Nat), n + m = m + n") == "Prop"
    assert engine.expr_type("Nat.succ") == "Nat → Nat"
    with pytest.raises(RequestError):
        engine.expr_type("1 + nowhere")


def test_a_text_is_parsed_up_to_where_its_first_piece_ends(engine):
    assert engine.env_parse("intro x; apply a") == ("intro x", "; apply a")
    with pytest.raises(ParseError):
        engine.env_parse("1 + 1")


# -- texts ----------------------------------------------------------------------------------------


def test_a_text_is_checked_command_by_command(engine):
    text = (
        "theorem a : 1 = 1 := rfl\n\ntheorem b : 1 = 2 := by\n  rfl\ntheorem c : 1 = 3 := sorry\n"
    )
    first, second, third = engine.check_compile(text)
    assert first.messages == []
    assert (first.i_begin, first.i_end) == (0, text.index("theorem b"))
    assert [message.severity for message in second.messages] == [Severity.ERROR]
    assert second.errors[0].pos == Position(4, 2)
    assert third.messages[0].kind == "hasSorry"
    assert third.messages[0].severity is Severity.WARNING
    with pytest.raises(RequestError):
        engine.env_inspect("a")  # the environment is as before


def test_a_header_is_read_on_demand(engine):
    text = "import Std.Data.HashMap\n#check Std.HashMap\n"
    (unit,) = [u for u in engine.check_compile(text, read_header=True) if u.messages]
    assert "Std.HashMap" in unit.messages[0].data
    with pytest.raises(RequestError, match="Mathlib"):
        engine.check_compile("import Mathlib\n", read_header=True)


@pytest.fixture
def project(tmp_path):
    """A project of two modules, reached through a symbolic link."""
    (tmp_path / "real/Own").mkdir(parents=True)
    (tmp_path / "real/Own/Basic.lean").write_text("theorem own_fact : 1 + 1 = 2 := rfl\n")
    (tmp_path / "real/Own.lean").write_text("import Own.Basic\n")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    return tmp_path / "link"


def test_own_modules_definitions_and_headers_make_the_environment(project):
    with Server(["Init", "Own"], project_path=project, engine="embedded") as server:
        change_environment(server)


def change_environment(server):
    assert server.goal_tactic(server.goal_start("1 + 1 = 2"), "exact own_fact").is_solved
    server.load_definitions("def mystery (x : Nat) := x + 123")
    assert server.env_inspect("mystery")["type"]["pp"] == "Nat → Nat"
    with pytest.raises(RequestError, match="1:16: error"):
        server.load_definitions("def x : Nat := -")
    server.load_header("import Own\nopen Nat")
    state = server.goal_tactic(server.goal_start("∀ n : Nat, n + 1 = n.succ"), "intro n")
    assert server.goal_tactic(state, "exact add_one n").is_solved
    assert server.expr_type("own_fact") == "1 + 1 = 2"


def test_every_tactic_of_a_file_is_listed(engine, tmp_path):
    file = tmp_path / "A.lean"
    file.write_text(
        "import Init\n\ntheorem a (p : Prop) (h : p) : p ∧ True := by\n  constructor\n  · exact h\n  · trivial\n"
    )
    tactics = [t for u in engine.tactic_invocations(file) for t in u.invocations or []]
    found = {t.tactic: (t.before, t.after) for t in tactics}
    assert found["exact h"] == ("case left\np : Prop\nh : p\n⊢ p", "no goals")
    assert found["constructor"][1].count("⊢") == 2
    with pytest.raises(RequestError, match=r"B\.lean"):
        engine.tactic_invocations(tmp_path / "B.lean")


def test_the_goals_of_sorries_are_opened(engine):
    (target,) = engine.load_sorry("theorem mystery (p : Prop) : p → p := sorry")
    state = target.goal_state
    assert [str(goal) for goal in state.goals] == ["p : Prop\n⊢ p → p"]
    assert engine.goal_tactic(state, "exact id").is_solved


def test_new_constants_are_named(engine):
    units = engine.check_compile("def one := 1\ntheorem two : one = 1 := rfl", new_constants=True)
    assert "one" in (units[0].new_constants or [])
    assert "two" in (units[1].new_constants or [])


# -- what goes wrong ------------------------------------------------------------------------------


def test_an_engine_lost_in_any_way_is_replaced_at_the_next_call(fresh_engine, gone):
    server = fresh_engine
    state = server.goal_start("True")
    first = server.pid
    assert first is not None
    with pytest.raises(EngineTimeoutError, match="within 1 s"):
        server.check_compile(ENDLESS, timeout=1)
    assert gone(first)
    with pytest.raises(StaleStateError):
        server.goal_tactic(state, "trivial")

    assert server.goal_start("True").goals
    second = server.pid
    assert second is not None
    threading.Timer(0.5, os.kill, (second, signal.SIGKILL)).start()
    with pytest.raises(EngineDiedError, match="SIGKILL"):
        server.check_compile(ENDLESS, timeout=30)
    assert server.goal_tactic(server.goal_start("True"), "trivial").is_solved


def test_a_memory_bomb_meets_the_limit_and_the_pool_lives_on():
    def bomb(server: Server) -> str:
        return server.check_compile(BOMB)[0].messages[0].data

    def fair(server: Server) -> bool:
        return server.goal_tactic(server.goal_start("True"), "trivial").is_solved

    with EnginePool(PoolConfig(size=1, memory_limit_mb=1500)) as pool:
        bad = pool.submit(bomb, name="the bomb")
        good = [pool.submit(fair) for _ in range(3)]
        with pytest.raises(ServerError, match=r"the bomb killed 2 engines(?s:.*)out of memory"):
            bad.result()
        assert all(future.result() for future in good)


def test_memory_is_watched_where_the_kernel_does_not(monkeypatch):
    from lean_dojo_v2.lean.embedded import launch

    monkeypatch.setattr(launch, "DATA_OVERHEAD_MB", 10_000)
    with (
        Server(engine="embedded", memory_limit_mb=1300) as server,
        pytest.raises(EngineMemoryError, match="its limit is 1300 MB"),
    ):
        server.check_compile(BOMB)


def test_a_busy_engine_ends_when_its_program_is_killed(gone):
    code = (
        "import sys\nfrom lean_dojo_v2.lean import Server\n"
        "server = Server(engine='embedded')\nprint(server.pid, flush=True)\n"
        f"server.check_compile({ENDLESS!r})"
    )
    program = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert program.stdout is not None
    pid = int(program.stdout.readline())
    time.sleep(1)
    program.kill()
    program.communicate()
    assert gone(pid)


# -- threads and event loops ----------------------------------------------------------------------


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


def test_a_server_pickles_as_its_configuration(engine):
    copy = pickle.loads(pickle.dumps(engine))
    assert copy.pid is None
    assert (copy.imports, copy.engine, copy.timeout) == (["Init"], "embedded", 60)


# -- the native engine ----------------------------------------------------------------------------


def test_the_native_engine_is_any_program_that_speaks_the_protocol(repl, monkeypatch, tmp_path):
    monkeypatch.setenv("LEAN_DOJO_PANTOGRAPH", str(repl))
    options = {"automaticMode": False}
    with Server(
        imports=["Init", "Std.Data.HashMap"],
        project_path=tmp_path,
        engine="native",
        options=options,
        core_options=["pp.explicit=true"],
    ) as server:
        assert server.kind == "native"
        assert not server.is_automatic()
        assert server.expr_type("Nat.succ") == "Nat → Nat"
        split = server.goal_tactic(server.goal_start("True ∧ 1 = 1"), "constructor")
        assert server.goal_tactic(split, "trivial").goals == []
        assert "@Eq Nat" in server.goal_start("1 = 1").goals[0].target


def test_goals_equal_pypantographs_records(engine):
    state = engine.goal_tactic(engine.goal_start("∀ p : Prop, p → p"), "intro p")
    (goal,) = state.goals
    assert goal == Goal(goal.id, [Variable(name="p", t="Prop")], target="p → p", name=None)
