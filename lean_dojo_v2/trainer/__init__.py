"""The documented import path of the trainers; they live in plugins and are loaded on first use.

>>> import lean_dojo_v2.trainer
>>> "SFTTrainer" in dir(lean_dojo_v2.trainer)
True
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
