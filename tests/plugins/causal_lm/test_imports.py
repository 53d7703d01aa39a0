"""What a prover imports: torch when it is made, never what only training needs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable

MADE = """
import json, sys
from lean_dojo_v2 import kinds
from lean_dojo_v2.prover.shipped import shipped_model
heavy = {"torch", "transformers", "trl", "peft", "datasets", "pandas", "pyarrow"}
kind = kinds.provers["hf"].load()
before = sorted(heavy & set(sys.modules))
prover = kind(str(shipped_model()), automation=True)
prover.generator.generate(["p : Prop ⊢ p → p"], num_samples=1, seeds=[1])
print(json.dumps([before, sorted(heavy & set(sys.modules))]))
"""


def test_a_prover_imports_no_library_of_training(
    environment: Callable[..., dict[str, str]],
) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", MADE], capture_output=True, text=True, check=True, env=environment()
    )
    assert json.loads(ran.stdout) == [[], ["torch", "transformers"]]
