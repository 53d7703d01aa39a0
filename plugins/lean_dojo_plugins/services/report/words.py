"""Explanations of the page's numbers, shown on hover."""

from __future__ import annotations

EXPLAINED = {
    "proved": "Theorems with a fully verified proof: no error, no sorry, no new "
    "axiom, the statement unchanged.",
    "verified": "Share of the sampled tactics that Lean accepted and that make progress towards a "
    "proof; mean over the last fifth of the steps.",
    "verified, in all": "Share of the sampled tactics that Lean accepted and that make "
    "progress towards a proof; mean over all steps, which are too few for a trend.",
    "refused": "Share of the completions that were refused: not a single tactic, or an attempt to "
    "cheat.",
    "share": "Share of all completions of the run that were refused for this reason.",
    "theorems": "Theorems in the exported data, of all splits.",
    "forgotten": "Mean loss of each earlier repository against its best value, in the metric's "
    "unit (Chaudhry et al. 2018); negative if they gained.",
    "step": "Which repository of the curriculum it was.",
    "rows": "Examples in the merged data of this and all earlier repositories.",
    "optimizer_steps": "Optimiser steps on this repository's data.",
    "states": "States of the search whose tactics were generated for this theorem.",
    "seconds": "Wall-clock seconds of the whole stage.",
}
"""Explanations by column or tile."""

_METRICS = {
    "loss": "Mean cross-entropy of the answer's tokens, in nats; of GRPO the policy's loss.",
    "eval_loss": "The same on held-out data.",
    "reward": "Mean of the weighted sum of the rewards.",
    "reward_std": "Spread of the rewards within a group of completions.",
    "kl": "How far the policy has moved from the model it started from, in nats per token.",
    "entropy": "Mean entropy of the next token, in nats; near 0 the model always says the same.",
    "grad_norm": "Norm of the gradient before clipping.",
    "learning_rate": "Step size of the optimiser.",
    "epoch": "Passes over the data so far.",
    "step": "Optimiser steps so far.",
    "num_tokens": "Tokens seen so far, of the repository under way.",
    "mean_token_accuracy": "Share of the answer's tokens that were the most probable.",
    "lean/verified": EXPLAINED["verified"],
    "lean/solved": "Share of the sampled tactics that leave no goal.",
}
_BEGINNINGS = {
    "rewards/": "Statistic of the reward of this name, over the completions of a step.",
    "lean/refused": "Share of the completions that were refused as an attempt to cheat.",
    "lean/unparsed": "Share of the completions that were not a single tactic.",
    "lean/": "Share of the completions for which Lean gave this verdict.",
    "completions/": "Statistic of the completions' lengths, in tokens.",
    "Recall@": "Percentage of a step's premises that are among the first k retrieved.",
    "R@": "Percentage of a step's premises that are among the first k retrieved.",
    "MRR": "Mean reciprocal rank of the first correct premise.",
    "clip_ratio": "Share of the tokens whose update was clipped.",
    "eval_": "The same number on held-out data.",
}


def explain(metric: str) -> str:
    """Return the explanation of a metric, or a generic one.

    >>> explain("lean/refused/sorry")
    'Share of the completions that were refused as an attempt to cheat.'
    """
    if metric in _METRICS:
        return _METRICS[metric]
    found = next((text for start, text in _BEGINNINGS.items() if metric.startswith(start)), None)
    return found or f"The last value of {metric!r} that the trainer logged."
