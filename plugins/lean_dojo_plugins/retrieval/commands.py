"""``lean-dojo retrieve`` and ``lean-dojo index``."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import click

from lean_dojo_core.errors import UsageError
from lean_dojo_v2 import cli
from lean_dojo_v2.files import merged_data_dir

if TYPE_CHECKING:
    from lean_dojo_plugins.retrieval.search.retriever import Retriever


@attrs.frozen(kw_only=True)
class RetrieverChoice:
    """The options that choose a retriever and its corpus."""

    checkpoint: str | None = cli.option(
        metavar="MODEL",
        type=click.Path(),
        help="Retriever: a .ckpt file, folder or hub id (default: the latest checkpoint).",
    )
    corpus: Path | None = cli.option(
        type=cli.ANY_FILE, help="The premises (default: raid/data/merged/corpus.jsonl)."
    )

    def open(self, index: Path | None = None) -> "Retriever":
        """Open them, perhaps with an index made before; ``UsageError`` if one is missing."""
        from lean_dojo_plugins.retrieval.search.retriever import Retriever
        from lean_dojo_plugins.retrieval.trainer import RetrievalTrainer

        trainer = RetrievalTrainer()
        chosen = self.checkpoint or trainer.find_latest_checkpoint()
        if chosen is None:
            raise UsageError(
                f"there is no checkpoint in {trainer.output_dir}; name one with --checkpoint, or "
                "train one with `lean-dojo train retrieval`"
            )
        corpus = self.corpus or merged_data_dir() / "corpus.jsonl"
        return Retriever.open(chosen, corpus, index_path=index)


@click.command()
@cli.with_options
def retrieve(
    *,
    state: str = cli.option(
        metavar="GOAL", required=True, help="The goal as Lean prints it; - reads standard input."
    ),
    choice: RetrieverChoice = cli.group(RetrieverChoice),
    index: Path | None = cli.option(
        type=cli.EXISTING_FILE,
        help="An index made by `lean-dojo index` (default: the one beside the checkpoint).",
    ),
    count: int = cli.option("-k", "--top-k", **cli.NUMBER, default=10, help="How many premises."),
    file_path: str | None = cli.option(
        "--file",
        metavar="FILE",
        help="Only premises that a theorem in this file of the corpus may use.",
    ),
    line: int | None = cli.option(
        **cli.NUMBER, help="Line where that theorem starts (default: the end of the file)."
    ),
    as_json: bool = cli.shared(cli.json_option),
) -> None:
    """Find the premises of a corpus that fit a proof state, best first, with their scores.

    A score is the cosine between the state and the premise. The corpus is encoded on the first
    use; the index is kept beside the checkpoint.
    """
    if line is not None and file_path is None:
        raise UsageError("--line needs --file")
    text = sys.stdin.read() if state == "-" else state
    if not text.strip():
        raise UsageError("--state: the state is empty")
    place = None if file_path is None else (file_path, None if line is None else (line, 1))
    (found,) = choice.open(index).retrieve([text], [place], k=count)
    if as_json:
        cli.emit_json([hit.to_dict() for hit in found])
        return
    rows = [(f"{hit.score:.4f}", hit.premise.full_name, hit.path) for hit in found]
    cli.table(["SCORE", "PREMISE", "FILE"], rows)


@click.command()
@cli.long_command(resumes=False)
@cli.with_options
def index(
    choice: RetrieverChoice = cli.group(RetrieverChoice),
    output: Path | None = cli.option(
        "-o",
        "--output",
        type=cli.ANY_FILE,
        help="File of the index (default: beside the checkpoint, where `retrieve` finds it).",
    ),
) -> None:
    """Encode a corpus for retrieval, and save the index.

    The index records the contents of model and corpus. It is used again as long as both are the
    same, and refused otherwise. Prints the path of the index.
    """
    retriever = choice.open()
    path = output or retriever.index_file
    if path is None:
        raise click.UsageError(
            "the model is not a checkpoint file: name the file of the index with -o"
        )
    if output is not None:
        retriever.save(output)
    cli.note(f"{len(retriever.corpus)} premises are indexed.")
    click.echo(path)
