"""Train a model that predicts how many proof steps remain.

First write a dataset:

    python -m lean_dojo_v2.lean_progress.create_sample_dataset \
        --output raid/data/sample_leanprogress_dataset.jsonl
"""

from pathlib import Path

from lean_dojo_v2.trainer import ProgressTrainer


def main() -> None:
    sample_dataset_path = Path("raid/data/sample_leanprogress_dataset.jsonl")

    trainer = ProgressTrainer(
        model_name="bert-base-uncased",
        data_path=str(sample_dataset_path),
        output_dir="outputs-progress",
    )

    trainer.train()


if __name__ == "__main__":
    main()
