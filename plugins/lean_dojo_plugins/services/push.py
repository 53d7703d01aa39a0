"""``lean-dojo push``: a trained model to the hub, with its card and report."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import click

from lean_dojo_core.errors import UsageError
from lean_dojo_v2.cli.options import EXISTING_FOLDER, json_option
from lean_dojo_v2.cli.output import emit_json, note, table
from lean_dojo_v2.errors import TrainingError
from lean_dojo_v2.wording import counted

MODEL_MARKS = ("config.json", "adapter_config.json")
PUSHED = (
    "*.safetensors", "*.safetensors.index.json", "*config.json", "tokenizer*", "*.model",
    "special_tokens_map.json", "vocab*", "merges.txt", "*.jinja", "README.md", "*.svg",
    "training_state.json", "metrics.jsonl", "evaluation.json", "report.html",
)  # fmt: skip
"""Patterns of the files to upload: the model and its records, without checkpoints."""


@click.command()
@click.argument("folder", type=EXISTING_FOLDER)
@click.argument("repo_id")
@click.option("--private", is_flag=True, help="Make the repository private if it is created.")
@click.option("--message", metavar="WORDS", help="Commit message.")
@click.option(
    "--dry-run", is_flag=True, help="List the files and print the card without contacting the hub."
)
@json_option
def push(
    *,
    folder: Path,
    repo_id: str,
    private: bool,
    message: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Put the model in FOLDER on the Hugging Face hub as REPO_ID (`owner/name`).

    Its card (README.md) and a new report of its run are uploaded, too; a missing card is written.
    Checkpoints and data are not uploaded. Log in with `hf auth login` first, or set HF_TOKEN.
    """
    if repo_id.count("/") != 1 or not all(repo_id.split("/")):
        raise UsageError(f"{repo_id!r} is not the name of a repository; write owner/name")
    if not any((folder / mark).is_file() for mark in MODEL_MARKS):
        raise UsageError(
            f"{folder}: holds no model (neither {' nor '.join(MODEL_MARKS)}); name the output_dir "
            "of a training"
        )
    with tempfile.TemporaryDirectory() as made:
        extra = _written(folder, Path(made))
        own = {file.name: file for mark in PUSHED for file in folder.glob(mark) if file.is_file()}
        files = {**own, **extra}
        sizes = {name: file.stat().st_size for name, file in sorted(files.items())}
        address = "" if dry_run else _upload(files, repo_id, private, message)
        card = files["README.md"].read_text(encoding="utf-8")
    if as_json:
        emit_json({"repo_id": repo_id, "dry_run": dry_run, "url": address, "files": sizes})
        return
    if dry_run:
        table(("FILE", "BYTES"), [(name, f"{size:,}") for name, size in sizes.items()])
        click.echo(f"\n{card.rstrip()}")
        note(f"Nothing was sent. {counted(len(files), 'file', 'files')} would go to {repo_id}.")
    else:
        click.echo(address)


def _written(folder: Path, made: Path) -> dict[str, Path]:
    """Write the report, and a missing card, into another folder."""
    from lean_dojo_plugins.services.report.page import REPORT_FILE, write_report

    found: dict[str, Path] = {}
    try:
        found[REPORT_FILE] = write_report(folder, made / REPORT_FILE)
    except UsageError:
        note(f"{folder} holds no record of a run, so no report is uploaded.")
    if not (folder / "README.md").is_file():
        lines = ["---", "pipeline_tag: text-generation", "tags: [lean4, theorem-proving]", "---"]
        text = "\n".join([*lines, "", f"# {folder.absolute().name}", "", "A model for Lean 4.", ""])
        (made / "README.md").write_text(text, encoding="utf-8")
        found["README.md"] = made / "README.md"
    return found


def _upload(files: dict[str, Path], repo_id: str, private: bool, message: str | None) -> str:
    """Upload the files in one commit; return the model's address."""
    from huggingface_hub import CommitOperationAdd, HfApi
    from huggingface_hub.errors import HfHubHTTPError, LocalTokenNotFoundError, OfflineModeIsEnabled

    operations: list[Any] = [
        CommitOperationAdd(path_in_repo=name, path_or_fileobj=str(file))
        for name, file in sorted(files.items())
    ]
    api = HfApi()
    try:
        address = api.create_repo(repo_id, private=private or None, exist_ok=True)
        api.create_commit(
            repo_id, operations, commit_message=message or "Upload with `lean-dojo push`"
        )
    except (HfHubHTTPError, LocalTokenNotFoundError, OfflineModeIsEnabled, OSError) as error:
        said = str(error).strip().split("\n", 1)[0]
        raise TrainingError(
            f"the hub refused {repo_id}: {said}; check the connection, your login (`hf auth "
            "login`, or HF_TOKEN) and your right to write there"
        ) from error
    return str(address)
