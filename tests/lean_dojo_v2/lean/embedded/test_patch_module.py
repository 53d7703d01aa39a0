"""The patch of the WebAssembly module, on a module small enough to read."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest

from lean_dojo_v2.lean.engines.embedded.install import node_program
from lean_dojo_v2.lean.engines.embedded.patch_module import patch_module

HOST = Path(patch_module.__code__.co_filename).parent / "host"
GLUE = '_kept=Module["_kept"]=wasmExports["kept"]'


def section(identity: int, content: bytes) -> bytes:
    return bytes([identity, len(content)]) + content


def name(text: str) -> bytes:
    return bytes([len(text)]) + text.encode()


# Functions of no argument that return 10, 11, 12; the table holds the second one alone.
PARTS = [
    section(1, b"\x01\x60\x00\x01\x7f"),
    section(2, b"\x01" + name("env") + name("memory") + b"\x02\x00\x01"),
    section(3, b"\x03\x00\x00\x00"),
    section(4, b"\x01\x70\x00\x02"),
    section(6, b"\x02\x7f\x01\x41\x00\x0b" + b"\x7f\x00\x41\x80\x01\x0b"),
    section(
        7,
        b"\x06"
        + (name("kept") + b"\x00\x00" + name("listed") + b"\x00\x01" + name("other") + b"\x00\x02")
        + (name("alias") + b"\x00\x02" + name("data") + b"\x03\x01")
        + (name("__indirect_function_table") + b"\x01\x00"),
    ),
    section(9, b"\x01\x00\x41\x01\x0b\x01\x01"),
    section(10, b"\x03" + b"".join(bytes([4, 0, 0x41, 10 + i, 0x0B]) for i in range(3))),
]
MODULE = b"\0asm\1\0\0\0" + b"".join(PARTS)
LOOK = """
const fs = require('node:fs');
const { openSymbols } = require(process.argv[1] + '/symbols.js');
const { find, places } = openSymbols(process.argv[3]);
const memory = new WebAssembly.Memory({ initial: 1 });
const code = new WebAssembly.Module(fs.readFileSync(process.argv[2]));
const table = new WebAssembly.Table({ element: 'anyfunc', initial: places() });
const env = { memory, __indirect_function_table: table };
const { exports } = new WebAssembly.Instance(code, { env });
const called = (name) => table.get(find(name))();
console.log(Object.keys(exports).join(), ['kept', 'listed', 'other', 'alias'].map(called).join(),
  ~find('data'), find('listed'), find('dat'), find('zzz'),
  places(), exports.__indirect_function_table === table);
"""


def test_every_function_is_found_by_its_name_in_the_table(tmp_path: Path) -> None:
    patched = patch_module(MODULE, GLUE)
    (tmp_path / "lean.wasm").write_bytes(patched.wasm)
    (tmp_path / "symbols.bin").write_bytes(patched.symbols)
    files = [str(tmp_path / name) for name in ("lean.wasm", "symbols.bin")]
    said = subprocess.run(
        [node_program(), "-e", LOOK, str(HOST), *files], capture_output=True, text=True, check=True
    )
    assert said.stdout.split() == [
        "kept,__indirect_function_table",
        "10,11,12,12",
        "128",  # the address that `data` is a constant of
        "1",  # where it was before
        "undefined",
        "undefined",
        "4",
        "true",
    ]
    assert struct.unpack_from("<2i", patched.symbols) == (4, 5)


@pytest.mark.parametrize(
    ("old", "new"),
    [(section(9, b"\x01\x00\x41\x01\x0b\x01\x01"), section(9, b"\x01\x01\x00\x01\x01")),
     (section(4, b"\x01\x70\x00\x02"), section(4, b"\x01\x70\x00\x05")),
     (b"\x7f\x01\x41\x00\x0b", b"\x7e\x01\x42\x00\x0b")],
)  # fmt: skip
def test_a_module_of_another_build_is_refused(old: bytes, new: bytes) -> None:
    with pytest.raises(AssertionError):
        patch_module(MODULE.replace(old, new), GLUE)
