"""Search trees as pictures."""

from __future__ import annotations

import itertools
from xml.etree import ElementTree as ET

import pytest

from lean_dojo_core.errors import DataError
from lean_dojo_v2.prover.search.tree import NodeStatus, SearchTree, draw_tree, save_tree

SVG = "{http://www.w3.org/2000/svg}"


def tree(children=3, depth=3):
    made = SearchTree("Foo.bar")
    level = [made.add(None, "", "⊢ a < b ∧ c", 0.0, 0.0)]
    for _ in range(depth):
        level = [
            made.add(node, f"t{k} <;> simp", f"⊢ {k}", node.logprob - k, float(k))
            for node in level
            for k in range(children)
        ]
    level[1].status = NodeStatus.SOLVED
    level[0].status = NodeStatus.PROOF_REFUSED
    return made


def test_every_state_is_a_box_and_the_proof_is_marked():
    root = ET.fromstring(draw_tree(tree()))
    groups = root.findall(f"{SVG}g")
    assert len(groups) == 1 + 3 + 9 + 27
    assert len(list(root.iter(f"{SVG}path"))) == 3 + 9 + 27
    proof = [group for group in groups if group.get("class") == "proof"]
    assert [group.find(f"{SVG}text").text for group in proof] == ["Foo.bar", "t0 <;> simp", "t0 <;> simp", "t1 <;> simp"]  # fmt: skip
    assert "⊢ a < b ∧ c" in groups[0].find(f"{SVG}title").text


def test_boxes_do_not_overlap():
    root = ET.fromstring(draw_tree(tree()))
    corners = [(float(r.get("x")), float(r.get("y"))) for r in root.iter(f"{SVG}rect")]
    assert len(set(corners)) == len(corners)
    for x in {x for x, _ in corners}:
        column = sorted(y for a, y in corners if a == x)
        assert all(b - a >= 22 for a, b in itertools.pairwise(column))


def test_a_large_tree_is_cut_but_keeps_its_proof(tmp_path):
    big = tree(children=6, depth=4)
    save_tree(big, tmp_path, "big")
    root = ET.fromstring((tmp_path / "big.svg").read_text(encoding="utf-8"))
    groups = root.findall(f"{SVG}g")
    assert len(groups) <= 200
    assert sum(group.get("class") == "proof" for group in groups) == 5
    assert f"{len(big.nodes) - len(groups)} are not drawn" in root.find(f"{SVG}title").text


@pytest.mark.parametrize("text", ["\x00", "]]>&<a/>", "\ud800", "𝔸" * 100])
def test_any_text_is_drawn(text):
    odd = SearchTree(text)
    node = odd.add(None, "", text, 0.0, 0.0)
    node.failures[text] += 1
    odd.add(node, text, text, -1.0, 1.0)
    ET.fromstring(draw_tree(odd).encode())


def test_a_tree_of_nothing_and_a_very_deep_one():
    ET.fromstring(draw_tree(SearchTree("empty")))
    deep = SearchTree("deep")
    node = deep.add(None, "", "⊢ p", 0.0, 0.0)
    for _ in range(3000):
        node = deep.add(node, "t", "⊢ p", 0.0, 0.0)
    ET.fromstring(draw_tree(deep, most=5000))


def test_a_file_that_is_no_tree(tmp_path):
    (tmp_path / "x.json").write_text('{"name": "x"}')
    with pytest.raises(DataError, match="not a search tree"):
        SearchTree.load(tmp_path / "x.json")
