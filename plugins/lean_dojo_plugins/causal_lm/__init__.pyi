from .generate.generator import (
    CausalTacticGenerator as CausalTacticGenerator,
    end_tokens as end_tokens,
    turn_end_tokens as turn_end_tokens,
)
from .generate.prover import HFProver as HFProver, Sampler as Sampler, write_proof as write_proof
from .generate.sampling import OwnDraws as OwnDraws, pick as pick, uniforms as uniforms
from .generate.serving import check_command as check_command, served_here as served_here
from .model.bases import ADAPTER_FILE as ADAPTER_FILE, is_adapter as is_adapter
from .model.label_head import add_label_head as add_label_head, restore_forward as restore_forward
from .model.loading import base_of as base_of, load_model as load_model
from .text.formatters import proof_text as proof_text
from .text.templates import render as render
from .text.tokenisation import (
    IGNORED as IGNORED,
    Tokeniser as Tokeniser,
    encode_prompt as encode_prompt,
    preview_rows as preview_rows,
)
from .trainer import (
    CausalBase as CausalBase,
    CausalSettings as CausalSettings,
    CausalTrainer as CausalTrainer,
    check_other_folder as check_other_folder,
)
