"""Compile the engine's program and put it into the package: ``make engine-program``."""

from lean_dojo_v2.lean.engines.embedded.install import ensure_installed
from lean_dojo_v2.lean.engines.embedded.launch import compiled_for
from lean_dojo_v2.lean.engines.embedded.shipped import SHIPPED, ship
from lean_dojo_v2.lean.engines.program import program

if __name__ == "__main__":
    print(ship(program(SHIPPED), compiled_for(ensure_installed()).read_bytes()))
