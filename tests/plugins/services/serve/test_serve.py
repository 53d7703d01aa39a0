"""The server's own questions: what is answered, refused, and told to come back."""

import contextlib
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import httpx
import psutil
import pytest
from hostile import CHEATS, EFFECTS, FILE
from processes import kill

from lean_dojo_core import registry
from lean_dojo_plugins.services.serve.service import RequestLimits
from lean_dojo_v2.cli import main

GOAL = "∀ n : Nat, n + 0 = n"


def engines_of(pid: int) -> list[psutil.Process]:
    found = []
    for child in psutil.Process(pid).children(recursive=True):
        with contextlib.suppress(psutil.Error):  # one that was just killed has no words left
            if any("main.js" in word for word in child.cmdline()):
                found.append(child)
    return found


@contextlib.contextmanager
def ended(process):
    try:
        yield
    finally:
        process.kill()


def test_a_state_and_a_tactic(served):
    state = served.post("/v1/tactic", {"goal": GOAL, "tactics": ["intro n"]}).json()
    assert state == {"state": "n : Nat\n⊢ n + 0 = n", "solved": False}
    answer = served.post(
        "/v1/tactic", {"goal": GOAL, "tactics": ["intro n"], "tactic": "rfl"}
    ).json()
    assert (answer["verdict"], answer["solved"], answer["state"]) == ("solved", True, "no goals")
    # A printed state is a goal, too.
    answer = served.post("/v1/tactic", {"goal": state["state"], "tactic": "simp"}).json()
    assert answer["verdict"] == "solved"


@pytest.mark.parametrize(
    ("tactic", "verdict", "reason"),
    [
        ("sorry", "refused", "sorry"),
        ("native_decide", "refused", "native-code"),
        ("intro n; exact (sorry)", "refused", "sorry"),
        ("omg", "failed", None),
        ("exact ((", "unparsed", None),
    ],
)
def test_a_tactic_that_is_none_has_its_reason_in_a_field(served, tactic, verdict, reason):
    answer = served.post("/v1/tactic", {"goal": GOAL, "tactic": tactic}).json()
    assert answer["solved"] is False
    if reason is not None:
        assert (answer["verdict"], answer["refusal"]["reason"]) == (verdict, reason)
    else:
        assert answer["verdict"] in {"failed", "unparsed"}


def test_a_proof_and_a_file(served):
    proof = {"goal": GOAL, "proof": "intro n\nrfl"}
    assert served.post("/v1/proof", proof).json()["valid"] is True
    refused = served.post("/v1/proof", {**proof, "proof": "intro n\nsorry"}).json()
    assert (refused["valid"], refused["refusal"]["reason"]) == (False, "sorry")
    text = f"theorem t : {GOAL} := by\n  intro n\n  rfl\n"
    found = served.post("/v1/file", {"text": text}).json()
    assert (found["valid"], found["theorems"][0]["name"]) == (True, "t")
    other = {"text": text, "reference": "theorem t : 1 + 1 = 2 := sorry"}
    assert served.post("/v1/file", other).json()["refusal"]["reason"] == "statement-changed"


BEFORE, _, AFTER = FILE.partition("theorem wrong")
WRONG = {
    "name": "Lair.wrong",
    "header": BEFORE,
    "formal_statement": "theorem wrong" + AFTER.partition("\n\n")[0],
}


def test_a_theorem_with_its_header(served):
    theorem = {
        "name": "swap",
        "header": "def twice (n : Nat) := n + n",
        "formal_statement": "theorem swap (p : Prop) (h : p) : p ∧ twice 1 = 2 := by sorry",
    }
    state = served.post("/v1/tactic", theorem).json()
    assert state["state"] == "p : Prop\nh : p\n⊢ p ∧ twice 1 = 2"
    step = served.post("/v1/tactic", {**theorem, "tactic": "constructor"}).json()
    assert (step["solved"], step["state"].count("⊢")) == (False, 2)
    cites = served.post("/v1/tactic", {**theorem, "tactic": "exact swap p h"}).json()
    assert (cites["state"], cites["refusal"]["reason"]) == (None, "cites-itself")
    assert served.post("/v1/proof", {**theorem, "proof": "exact ⟨h, rfl⟩"}).json()["valid"]
    assert not served.post("/v1/proof", {**theorem, "proof": "exact ⟨h, h⟩"}).json()["valid"]
    unreadable = {**theorem, "formal_statement": "theorem swap : No.such 1 := by"}
    assert served.post("/v1/proof", {**unreadable, "proof": "rfl"}).status_code == 400


@pytest.mark.slow
def test_the_hostile_table_earns_nothing(served):
    """A third of it: verdicts are those of ``tests/lean_dojo_v2/lean/test_hostile.py``."""
    served.post("/v1/tactic", WRONG)
    started = engines_of(os.getpid())
    tricks = [*EFFECTS, *CHEATS][::3]
    for trick in tricks:
        proof = served.post("/v1/proof", {**WRONG, "proof": trick})
        assert proof.json().get("valid", False) is False, trick[:80]
        tactic = served.post("/v1/tactic", {**WRONG, "tactic": trick}).json()
        if tactic.get("solved"):  # what only full verification sees: a step is no proof
            assert "absurd" in trick or "oracle" in trick, trick[:80]
    # Its header's macros are programs; they run in an engine of the theorem's, all the time.
    assert set(started) <= set(engines_of(os.getpid()))
    for trick in tricks:
        # Without the header, whose own sorry and axiom no file with it gets past.
        text = "namespace Lair\n\n" + WRONG["formal_statement"].replace("sorry", trick)
        whole = served.post("/v1/file", {"text": text, "timeout": 10}).json()
        assert whole.get("valid", False) is False, trick[:80]


@pytest.mark.slow
def test_the_hostile_table_earns_no_reward(served):
    tricks = [*EFFECTS, *CHEATS]
    reward = {"reward": "pantograph-verified", "completions": tricks}
    goal = "n : Nat\np : Prop\nhp : p\n⊢ n = n + 1 ∧ p"
    columns = {"problem": [goal] * len(tricks)}
    scores = served.post("/v1/reward", {**reward, "columns": columns}).json()["scores"]
    assert all(score is None or score <= 0 for score in scores)


def test_a_reward_of_an_installed_plugin_is_scored(served):
    question = {"reward": "length-penalised", "completions": ["simp", "simp at h ⊢"]}
    first, second = served.post("/v1/reward", question).json()["scores"]
    assert first > second
    answer = served.post("/v1/reward", {**question, "reward": "os:system"})
    assert answer.status_code == 400
    assert "no installed plugin offers the reward 'os:system'" in answer.text


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("raise ValueError('bad luck')", "raised ValueError: bad luck"),
        ("raise SystemExit(3)", "raised SystemExit: 3"),
        ("return [1.0]", "returned 1 rewards for 2 completions"),
        ("__import__('time').sleep(1000)", "has run for more than 0.5 s"),
    ],
)
def test_a_broken_reward_is_one_message_that_names_it(served, monkeypatch, body, words):
    namespace = {}
    exec(f"def broken(completions, **kwargs):\n    {body}", namespace)
    monkeypatch.setattr(served.service, "limits", RequestLimits(timeout=0.5))
    monkeypatch.setattr(served.service, "_rewards", {})
    with registry.reward_functions.override("broken", namespace["broken"]):
        answer = served.post("/v1/reward", {"reward": "broken", "completions": ["a", "b"]})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (500, "RewardError")
    assert "reward 'broken'" in error["message"]
    assert words in error["message"]
    assert served.get("/health").json()["status"] == "ok"


def test_what_nothing_answers_is_an_error_as_data(served):
    answer = served.post("/v1/nothing", {})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not-found")
    answer = served.get("/v1/proof")
    assert (answer.status_code, answer.json()["error"]["code"]) == (405, "method")


@pytest.mark.parametrize(
    ("path", "question", "words"),
    [
        ("/v1/tactic", {"goal": GOAL, "tactik": "rfl"}, "tactik"),
        ("/v1/tactic", {"goal": "∀ n : Nut, n = n", "tactic": "rfl"}, "Nut"),
        ("/v1/proof", {"goal": GOAL}, "proof"),
        ("/v1/proof", {"proof": "rfl"}, "either 'goal', or"),
        ("/v1/tactic", {"formal_statement": "theorem t : True"}, "'name'"),
        ("/v1/reward", {"reward": "constant", "completions": ["a"], "columns": {"x": []}}, "'x'"),
        ("/v1/reward", {"reward": "pantograph-verified", "completions": ["a"]}, "'problem'"),
        ("/v1/file", {"text": "import Nowhere\n"}, "Nowhere"),
    ],
)
def test_a_wrong_question_is_told_what_is_wrong(served, path, question, words):
    answer = served.post(path, question)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "request"
    assert words in answer.json()["error"]["message"]


@pytest.mark.slow
def test_a_tactic_without_end_is_timed_out_and_the_next_is_answered(start):
    with start() as server:
        endless = {"goal": "∀ n : Nat, n = n", "tactic": "repeat (skip)", "timeout": 1}
        answer = server.post("/v1/tactic", endless).json()
        assert answer["solved"] is False
        assert answer["verdict"] in {"timed_out", "failed"}
        assert server.post("/v1/proof", {"goal": GOAL, "proof": "simp"}).json()["valid"]


@pytest.mark.slow
def test_the_token_the_size_and_the_crowd(start):
    limits = RequestLimits(requests=1, bytes=1000)
    with start(token="secret", limits=limits) as server:
        question = {"goal": GOAL, "tactic": "simp"}
        assert server.get("/health").json()["status"] == "ok"
        assert server.post("/v1/tactic", question).status_code == 401
        assert server.get("/metrics").status_code == 401
        known = {"Authorization": "Bearer secret"}
        large = server.post("/v1/tactic", {**question, "goal": "x" * 2000}, headers=known)
        assert large.status_code == 413
        with ThreadPoolExecutor(8) as threads:
            asked = [
                threads.submit(server.post, "/v1/tactic", question, headers=known) for _ in range(8)
            ]
            answers = [one.result() for one in asked]
        assert {answer.status_code for answer in answers} == {200, 503}
        full = next(answer for answer in answers if answer.status_code == 503)
        assert full.headers["Retry-After"] == "1"
        metrics = server.get("/metrics", headers=known).text
        assert 'lean_dojo_requests_total{kind="tactic",status="busy"}' in metrics
        assert 'lean_dojo_verdicts_total{kind="tactic",verdict="solved"}' in metrics


@pytest.mark.slow
def test_engines_killed_under_load_lose_no_request(start):
    with start(2) as server:
        proof = {"goal": GOAL, "proof": "intro n\nrfl"}
        step = {"goal": GOAL, "tactics": ["intro n"], "tactic": "rfl"}
        assert server.post("/v1/proof", proof).json()["valid"]
        questions = [("/v1/proof", proof, "valid"), ("/v1/tactic", step, "solved")] * 20
        with ThreadPoolExecutor(16) as threads:
            asked = [(threads.submit(server.post, path, q), key) for path, q, key in questions]
            asked[0][0].result()
            killed = engines_of(os.getpid())
            for engine in killed:
                kill(engine)
            assert killed
            assert all(one.result().json()[key] for one, key in asked)


def test_listening_beyond_this_machine_needs_a_token(capsys, monkeypatch):
    monkeypatch.delenv("LEAN_DOJO_SERVE_TOKEN", raising=False)
    assert main(["serve", "--host", "0.0.0.0"]) == 2
    assert "--token" in capsys.readouterr().err


@pytest.mark.slow
def test_the_command_stops_gracefully():
    command = [sys.executable, "-m", "lean_dojo_v2", "serve", "--port", "0", "--engines", "1"]
    command += ["--engine", "embedded"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process, ended(process):
        for line in process.stderr:
            if "running on" in line:
                url = line.split("running on ")[1].split()[0]
                break
        answer = httpx.post(
            f"{url}/v1/proof", json={"goal": "True", "proof": "trivial"}, timeout=300
        )
        assert answer.json()["valid"]
        engines = engines_of(process.pid)
        assert engines
        process.send_signal(signal.SIGTERM)
        process.stderr.read()
        assert process.wait(60) in {0, -signal.SIGTERM}
        _gone, alive = psutil.wait_procs(engines, timeout=30)
        assert not alive
