"""The playground, in a real browser: a goal, a tactic, suggestions, a search that draws its tree."""

import json

import pytest

GOAL = "∀ p q : Prop, p ∧ q → q ∧ p"


def test_suggestions_come_with_what_lean_says(served):
    question = {"goal": GOAL, "tactics": ["intro p q h"], "samples": 8}
    question["timeout"] = 60
    found = served.post("/v1/suggest", question).json()["suggestions"]
    said = {one["tactic"]: one["verdict"] for one in found}
    assert said["simp_all"] == "solved"
    assert said["rfl"] == "failed"
    assert [one["logprob"] for one in found] == sorted((o["logprob"] for o in found), reverse=True)
    done = served.post("/v1/suggest", {**question, "tactics": ["simp_all"]}).json()
    assert done == {"suggestions": []}


def test_a_search_tells_its_states_while_it_grows(served):
    answer = served.post("/v1/search", {"goal": GOAL, "samples": 16, "expansions": 8})
    events = [json.loads(line) for line in answer.text.splitlines()]
    assert len(events) >= 2
    assert events[0]["nodes"][0]["parent"] is None
    result = events[-1]["result"]
    assert result["success"]
    proof = {"goal": GOAL, "proof": result["proof"]}
    assert served.post("/v1/proof", proof).json()["valid"]


def test_a_search_of_no_goal_says_so(served):
    answer = served.post("/v1/search", {"goal": "∀ n : Nut, n = n"})
    last = json.loads(answer.text.splitlines()[-1])
    assert "Nut" in json.dumps(last)


@pytest.mark.parametrize(
    ("width", "scheme"), [(1100, "light"), pytest.param(380, "dark", marks=pytest.mark.slow)]
)
def test_a_proof_by_hand_and_one_by_search(served, browser, tmp_path, width, scheme):
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.set_default_timeout(300_000)
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(served.url)
    page.fill("#goal", GOAL)
    page.click("#open button")
    page.wait_for_selector("#state:has-text('⊢')")
    page.fill("#tactic", "exact foo")
    page.click("#step button")
    page.wait_for_selector("#said.bad")
    page.fill("#tactic", "intro p q h")
    page.click("#step button:not([type=button])")
    page.wait_for_selector("#steps li:has-text('intro p q h')")
    assert page.inner_text("#state") == "p q : Prop\nh : p ∧ q\n⊢ q ∧ p"
    page.click("#suggest")
    page.wait_for_selector("#suggestions td.solved")
    page.click("#undo")
    page.wait_for_selector("#steps:empty", state="attached")
    assert page.locator("#suggestions").is_hidden()  # they were for another state
    page.click("#search")
    page.wait_for_selector("#said.good")
    assert "Lean has checked the whole proof" in page.inner_text("#said")
    assert page.locator("#tree span.solved").count() >= 1
    assert page.locator("#tree > ul > li.proof > ul > li.proof").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= width  # nothing sticks out
    assert errors == []
    page.screenshot(path=tmp_path / "playground.png", full_page=True)
    page.close()
