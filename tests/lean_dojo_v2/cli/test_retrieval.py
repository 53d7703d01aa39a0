"""``lean-dojo train retrieval``, ``evaluate``, ``index`` and ``retrieve``, end to end."""

import shutil
from pathlib import Path

import pytest
import torch
from transformers import T5Config, T5EncoderModel

import lean_dojo_v2

SAMPLE = Path(lean_dojo_v2.__file__).parent / "sample" / "traced" / "sample.json"


@pytest.fixture(scope="module")
def raid(tmp_path_factory):
    """A folder with a retriever trained on the smaller repository of the sample, by the program."""
    from lean_dojo_v2.cli import main

    root = tmp_path_factory.mktemp("raid")
    shutil.copy(SAMPLE, root / "database.json")
    torch.manual_seed(0)
    settings = T5Config(
        vocab_size=384, d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2,
        feed_forward_proj="gated-gelu",
    )  # fmt: skip
    T5EncoderModel(settings).save_pretrained(root / "model")
    (root / "retrieval.yaml").write_text(
        f"config:\n  model_name: {root / 'model'}\n  max_seq_len: 32\n  precision: 32-true\n"
        "  num_workers: 0\n  fisher_examples: 4\n  lr: 1e-3\n"
        f"run:\n  database: {root / 'database.json'}\n"
        "  repositories: [lean-dojo/lean-dojo-sample-extra]\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAID_DIR", str(root))
        code = main(
            [
                "train",
                "retrieval",
                "-c",
                str(root / "retrieval.yaml"),
                "--set",
                "config.batch_size=16",
            ]
        )
    assert code == 0
    return root


@pytest.fixture
def program(raid, monkeypatch, lean_dojo):
    monkeypatch.setenv("RAID_DIR", str(raid))
    return lean_dojo


def test_evaluate_prints_the_table(program, raid):
    ran = program("evaluate", "retrieval", "-c", raid / "retrieval.yaml")
    assert ran.code == 0, ran.err
    assert "| merged " in ran.out
    assert "bm25" in ran.out
    rows = program("evaluate", "retrieval", "--dataset", raid / "data" / "merged", "--json").json[
        "rows"
    ]
    assert {(row["split"], row["method"]) for row in rows} == {
        (split, method) for split in ("random", "novel_premises") for method in ("dense", "bm25")
    }


def test_retrieve_prints_premises_with_scores(program):
    ran = program("retrieve", "--state", "⊢ a + b = b + a", "-k", "3")
    assert ran.code == 0, ran.err
    assert ran.out.split()[:3] == ["SCORE", "PREMISE", "FILE"]
    assert len(ran.out.splitlines()) == 4
    found = program("retrieve", "--state", "⊢ a + b = b + a", "-k", "3", "--json").json
    assert [hit["score"] for hit in found] == sorted((hit["score"] for hit in found), reverse=True)
    assert all(hit["code"] and hit["path"].startswith("Extra") for hit in found)
    limited = program(
        "retrieve",
        "--state",
        "⊢ x",
        "-k",
        "999",
        "--json",
        "--file",
        found[0]["path"],
        "--line",
        "1",
    ).json
    assert all(hit["path"] != found[0]["path"] for hit in limited)


def test_index_prints_the_file_that_retrieve_uses(program, raid, tmp_path):
    ran = program("index", "-o", tmp_path / "own.safetensors")
    assert ran.code == 0, ran.err
    assert ran.out.strip() == str(tmp_path / "own.safetensors")
    same = program("retrieve", "--state", "⊢ x", "--json", "--index", tmp_path / "own.safetensors")
    assert same.json == program("retrieve", "--state", "⊢ x", "--json").json
    beside = Path(program("index").out.strip())
    assert beside.is_relative_to(raid / "checkpoints")
    assert beside.is_file()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["retrieve", "--state", " "], "empty"),
        (["retrieve", "--state", "x", "--line", "3"], "--line needs --file"),
        (
            ["retrieve", "--state", "x", "--file", "Extra/Sorted.lean"],
            "Did you mean Extra/Sort.lean",
        ),
        (["retrieve", "--state", "x", "-k", "0"], "'-k' / '--top-k': 0 is not in the range"),
        (["retrieve", "--state", "x", "--corpus", "nowhere.jsonl"], "no such corpus"),
        (["evaluate", "retrievel"], "Did you mean 'retrieval'"),
        (["evaluate", "retrieval", "--set", "config.lr=fast"], "config.lr"),
    ],
)
def test_mistakes_exit_with_2(program, arguments, words):
    ran = program(*arguments)
    assert ran.code == 2
    assert words in ran.err
    assert "Traceback" not in ran.err


def test_without_a_checkpoint(lean_dojo, tmp_path, monkeypatch):
    monkeypatch.setenv("RAID_DIR", str(tmp_path))
    ran = lean_dojo("retrieve", "--state", "x")
    assert ran.code == 2
    assert "lean-dojo train retrieval" in ran.err
