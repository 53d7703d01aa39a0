"""Manifest of the learning side: trainers and what belongs to them, rewards, services."""

from __future__ import annotations

from collections.abc import Iterator

from lean_dojo_core import (
    BenchmarkSpec,
    CallbackSpec,
    CommandSpec,
    DatasetFormatterSpec,
    ProverSpec,
    RewardFunctionSpec,
    TrainerSpec,
    hookimpl,
)


@hookimpl
def lean_dojo_trainers() -> Iterator[TrainerSpec]:
    """Offer the built-in trainers."""
    yield TrainerSpec(
        name="expert-iteration",
        target="lean_dojo_plugins.expert_iteration.trainer:ExpertIterationTrainer",
        summary="Rounds of proof search, and fine-tuning on the proofs that Lean confirmed.",
        required_columns=("prompt", "completion"),
        default_formatter="tactic-chat",
        prover="hf",
    )
    yield TrainerSpec(
        name="grpo",
        target="lean_dojo_plugins.grpo.trainer:GRPOTrainer",
        summary="Reinforcement learning of a causal LM with rewards of your choice (TRL).",
        required_columns=("prompt", "problem"),
        default_formatter="tactic-prompt",
        prover="hf",
    )
    yield TrainerSpec(
        name="progress",
        target="lean_dojo_plugins.progress.trainer:ProgressTrainer",
        summary="How many steps of a proof remain (LeanProgress).",
        required_columns=("goal", "prefix", "tactic", "steps_remaining"),
        default_formatter="progress-text",
    )
    yield TrainerSpec(
        name="retrieval",
        target="lean_dojo_plugins.retrieval.trainer:RetrievalTrainer",
        summary="Dense premise retrieval with lifelong learning (T5 encoder, EWC, Lightning).",
        required_columns=("state", "premises"),
        default_formatter="premise-pairs",
        prover="retrieval",
    )
    yield TrainerSpec(
        name="sft",
        target="lean_dojo_plugins.sft.trainer:SFTTrainer",
        summary="Supervised fine-tuning of a causal LM on traced tactics (TRL).",
        required_columns=("prompt", "completion"),
        default_formatter="tactic-chat",
        prover="hf",
    )


@hookimpl
def lean_dojo_dataset_formatters() -> Iterator[DatasetFormatterSpec]:
    """Offer the built-in dataset formatters."""
    yield DatasetFormatterSpec(
        name="tactic-prompt",
        target="lean_dojo_plugins.causal_lm.text.formatters:TacticPrompt",
        summary="Prompts without an answer, with the data to replay their states exactly.",
        columns=(
            "problem", "prompt", "url", "commit", "file_path", "full_name", "start", "end",
            "position", "digest", "tactic_index", "tactics_before", "tactic",
        ),
    )  # fmt: skip
    yield DatasetFormatterSpec(
        name="whole-proof",
        target="lean_dojo_plugins.causal_lm.text.whole_proofs:WholeProof",
        summary="A statement and its whole proof, with the data to verify it.",
        columns=(
            "problem", "prompt", "completion", "url", "commit", "file_path", "full_name", "start",
            "end",
        ),
    )  # fmt: skip
    yield DatasetFormatterSpec(
        name="progress-text",
        target="lean_dojo_plugins.progress.formatter:ProgressText",
        summary="State, tactics so far, candidate tactic; the steps after it.",
        columns=("goal", "prefix", "tactic", "steps_remaining", "theorem"),
    )
    yield DatasetFormatterSpec(
        name="premise-pairs",
        target="lean_dojo_plugins.retrieval.data.formatter:PremisePairs",
        summary="Rows for retrieval: a goal state and the premises that its tactic uses.",
        columns=("state", "tactic", "premises"),
    )
    yield DatasetFormatterSpec(
        name="tactic-chat",
        target="lean_dojo_plugins.causal_lm.text.formatters:TacticChat",
        summary="Chat rows: instruction and goal in, the next tactic out.",
        columns=("prompt", "completion"),
    )


@hookimpl
def lean_dojo_reward_functions() -> Iterator[RewardFunctionSpec]:
    """Offer the built-in reward functions."""
    yield RewardFunctionSpec(
        name="constant",
        target="lean_dojo_plugins.rewards.constant:Constant",
        summary="The same number for every completion: a control that teaches nothing.",
    )
    yield RewardFunctionSpec(
        name="length-penalised",
        target="lean_dojo_plugins.rewards.length:LengthPenalised",
        summary="Shorter tactics earn more; sorry and admit earn -1.",
    )
    yield RewardFunctionSpec(
        name="pantograph-verified",
        target="lean_dojo_plugins.rewards.verified:PantographVerified",
        summary="+1 only for a tactic that leads nearer to a proof that Lean has closed.",
        required_columns=("problem",),
        needs_lean=True,
    )
    yield RewardFunctionSpec(
        name="proof-verified",
        target="lean_dojo_plugins.rewards.proof_verified:ProofVerified",
        summary="1 for a whole proof that passes Lean's full verification, else 0.",
        required_columns=("problem", "full_name"),
        needs_lean=True,
    )


@hookimpl
def lean_dojo_callbacks() -> Iterator[CallbackSpec]:
    """Offer the built-in callbacks."""
    yield CallbackSpec(
        name="best-tactics",
        target="lean_dojo_plugins.rewards.best:BestTactics",
        summary="Prints the best-paid completion of a batch of grpo, with its goal.",
    )


@hookimpl
def lean_dojo_provers() -> Iterator[ProverSpec]:
    """Offer the built-in provers."""
    yield ProverSpec(
        name="hf",
        target="lean_dojo_plugins.causal_lm.generate.prover:HFProver",
        summary="A causal language model that sft, expert-iteration or grpo trained.",
        model_setting="ckpt_path",
    )
    yield ProverSpec(
        name="retrieval",
        target="lean_dojo_plugins.retrieval.search.prover:RetrievalProver",
        summary="A generator that reads the premises retrieved for each goal.",
        model_setting="gen_ckpt_path",
    )


@hookimpl
def lean_dojo_benchmarks() -> Iterator[BenchmarkSpec]:
    """Offer the built-in benchmarks."""
    yield BenchmarkSpec(
        name="hub",
        target="lean_dojo_plugins.training.hub_set:HubBenchmark",
        summary="A data set of the Hugging Face hub, with the columns of public sets.",
    )


@hookimpl
def lean_dojo_commands() -> Iterator[CommandSpec]:
    """Offer the built-in commands."""
    yield CommandSpec(
        name="merge-lora",
        target="lean_dojo_plugins.causal_lm.merge_command:merge_lora",
        summary="Merge a LoRA adapter into its base model.",
    )
    yield CommandSpec(
        name="demo",
        target="lean_dojo_plugins.demo.command:demo",
        summary="Prove, trace, train and prove more, on the shipped sample.",
    )
    yield CommandSpec(
        name="retrieve",
        target="lean_dojo_plugins.retrieval.commands:retrieve",
        summary="Find the premises of a corpus that fit a proof state.",
    )
    yield CommandSpec(
        name="index",
        target="lean_dojo_plugins.retrieval.commands:index",
        summary="Encode a corpus for retrieval, and save the index.",
    )
    yield CommandSpec(
        name="reward",
        target="lean_dojo_plugins.rewards.command:reward",
        summary="Score completions with a reward, or check a reward function.",
    )
    yield CommandSpec(
        name="serve",
        target="lean_dojo_plugins.services.serve.command:serve",
        summary="Serve Lean's verdicts over HTTP, also to clients of Kimina Lean Server.",
    )
    yield CommandSpec(
        name="mcp",
        target="lean_dojo_plugins.services.mcp.command:mcp",
        summary="Serve Lean to coding agents over the Model Context Protocol.",
    )
    yield CommandSpec(
        name="report",
        target="lean_dojo_plugins.services.report.command:report",
        summary="Write one HTML page about a run's output folder, or to compare runs.",
    )
