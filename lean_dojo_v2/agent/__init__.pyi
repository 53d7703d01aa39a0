from .base_agent import BaseAgent as BaseAgent, ProverAgent as ProverAgent
from .external_agent import ExternalAgent as ExternalAgent
from .hf_agent import HFAgent as HFAgent
from .lean_agent import LeanAgent as LeanAgent
from .proofs import (
    ProofLog as ProofLog,
    ProvedTheorem as ProvedTheorem,
    file_patch as file_patch,
    make_patch as make_patch,
)
