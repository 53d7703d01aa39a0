"""Lean for coding agents: the SDK's own client, over standard input and output."""

import json
import os
import shutil
import sys
from pathlib import Path

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from lean_dojo_v2.lean.engines.embedded.install import ensure_installed
from lean_dojo_v2.sample import sample_project_path

ATTEMPTS = [
    "rfl",
    "cases a <;> rfl",
    "cases a <;> cases b <;> rfl",
    "cases a <;> cases b <;> cases c <;> rfl",
    "cases a <;> cases b <;> simp_all [nand]",
    "cases a <;> cases b <;> simp_all [nor]",
    "simp_all",
    "exact sorry",
    "intro h; simp_all",
    "constructor <;> intros <;> simp_all",
    "rcases h with (hp | hq) | hr <;> simp_all",
]


def command(*options: str) -> StdioServerParameters:
    ensure_installed()
    words = ["-m", "lean_dojo_v2", "mcp", "--engine", "embedded", *options]
    kept = {key: value for key, value in os.environ.items() if key != "PATH"}
    # Nothing can be found: no Lean, no Lake, no Node but the one that comes with the package.
    return StdioServerParameters(command=sys.executable, args=words, env={**kept, "PATH": ""})


async def call(client, name, **arguments):
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    if result.structured_content is not None and "result" in result.structured_content:
        return result.structured_content["result"]
    return result.structured_content or json.loads(result.content[0].text)


async def close_sorries(client, file: Path) -> int:
    """A scripted agent: for each `sorry`, from the last one up, write the first tactic that closes it."""
    closed = 0
    for found in reversed(await call(client, "sorries", file=str(file))):
        place = {"line": found["line"], "column": found["column"]}
        tried = await call(client, "try_tactics", file=str(file), tactics=ATTEMPTS, **place)
        good = [one["tactic"] for one in tried if one["closes"]]
        assert "exact sorry" not in good
        if good:
            write(file, place["line"] - 1, place["column"], good[0])
            closed += 1
    return closed


def write(file: Path, number: int, column: int, tactic: str) -> None:
    lines = file.read_text().split("\n")
    line = lines[number]
    term = "" if line[:column].strip() == "" else "by "
    lines[number] = line[:column] + term + tactic + line[column + len("sorry") :]
    file.write_text("\n".join(lines))


@pytest.mark.slow
def test_a_scripted_agent_closes_ten_sorries_of_the_sample(tmp_path):
    project = tmp_path / "project"
    shutil.copytree(sample_project_path(), project)

    async def work():
        served = command("--project", str(project), "--folder", str(sample_project_path()))
        async with Client(served, read_timeout_seconds=600) as client:
            closed = 0
            for name in ("Bool", "Connectives", "Logic"):
                original = str(sample_project_path() / "Sample" / f"{name}.lean")
                copy = project / "Sample" / f"{name}.lean"
                closed += await close_sorries(client, copy)
                found = await call(client, "check_file", file=str(copy), reference=original)
                left = [t["refusal"]["reason"] for t in found["theorems"] if not t["valid"]]
                assert set(left) <= {"sorry"}
                assert found["valid"] == (not left)
            return closed

    assert anyio.run(work) >= 10


@pytest.mark.slow
def test_the_other_tools(tmp_path):
    file = tmp_path / "Small.lean"
    file.write_text("theorem t (p q : Prop) (h : p ∧ q) : q ∧ p := by\n  exact ⟨h.2, h.1⟩\n")
    link = tmp_path / "link.lean"
    link.symlink_to("/etc/hostname")

    async def work():
        served = command("--folder", str(tmp_path))
        async with Client(served, read_timeout_seconds=600) as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            assert tools == {
                "sorries", "goals", "try_tactics", "check_file", "check_proof", "run_code",
            }  # fmt: skip
            goals = await call(client, "goals", file=str(file), line=2, column=4)
            assert goals["before"] == "p q : Prop\nh : p ∧ q\n⊢ q ∧ p"
            assert goals["after"] == "no goals"
            assert (await call(client, "check_file", file=str(file)))["valid"]
            proof = await call(client, "check_proof", goal="∀ n : Nat, n + 0 = n", proof="simp")
            assert proof["valid"]
            ran = await call(client, "run_code", code="#eval 6 * 7")
            assert ran["messages"][0]["data"] == "42"
            missing = await client.call_tool("sorries", {"file": str(tmp_path / "none.lean")})
            assert missing.is_error
            assert "none.lean" in missing.content[0].text
            for path in ("/etc/hostname", str(tmp_path / ".." / "none.lean"), str(link)):
                for name in ("sorries", "check_file"):
                    outside = await client.call_tool(name, {"file": path})
                    assert outside.is_error
                    assert "is in no folder that this server" in outside.content[0].text
            nowhere = {"file": str(file), "line": 1, "column": 0, "tactics": ["rfl"]}
            refused = await client.call_tool("try_tactics", nowhere)
            assert refused.is_error
            assert "there is no `sorry` at line 1, column 0" in refused.content[0].text

    anyio.run(work)
