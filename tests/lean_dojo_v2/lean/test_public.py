"""The public names of ``lean_dojo_v2.lean``, and what importing them costs."""

from __future__ import annotations

import subprocess
import sys

import lean_dojo_v2.lean as lean


def test_every_public_name_is_there():
    assert [name for name in lean.__all__ if not hasattr(lean, name)] == []
    assert set(lean.__all__) <= set(dir(lean))


def test_importing_it_is_light():
    code = (
        "import sys, lean_dojo_v2.lean; light = set(sys.modules);"
        "from lean_dojo_v2.lean import EnginePool, Server;"
        "heavy = {'torch', 'transformers', 'ray', 'rich', 'datasets'} & set(sys.modules);"
        "assert not heavy, heavy; assert 'psutil' not in light"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
