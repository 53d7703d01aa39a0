"""``python -m lean_dojo_v2`` is ``lean-dojo``."""

import sys

from lean_dojo_v2.cli import main

if __name__ == "__main__":
    sys.exit(main())
