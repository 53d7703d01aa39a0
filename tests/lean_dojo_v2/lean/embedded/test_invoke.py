"""Calls of functions whose exceptions C++ catches, without JavaScript in between (``host/invoke.js``)."""

from __future__ import annotations

import subprocess
from pathlib import Path

from lean_dojo_v2.lean.engines.embedded import install

HOST = Path(install.__file__).parent / "host"


def vector(*items: bytes) -> bytes:
    return bytes([len(items)]) + b"".join(items)


def named(text: str) -> bytes:
    return bytes([len(text)]) + text.encode()


SIGNATURES = {
    "emscripten_stack_get_current": b"\x60\x00\x01\x7f",
    "_emscripten_stack_restore": b"\x60\x01\x7f\x00",
    "setThrew": b"\x60\x02\x7f\x7f\x00",
    "viji": b"\x60\x03\x7f\x7e\x7f\x00",
    "iii": b"\x60\x02\x7f\x7f\x01\x7f",
    "ji": b"\x60\x01\x7f\x01\x7e",
    "did": b"\x60\x02\x7f\x7c\x01\x7c",
    "fi": b"\x60\x01\x7f\x01\x7d",
}
# A table holds functions of WebAssembly: a module makes such ones of its imports.
IMPORTS = [named("env") + named(one) + bytes([0, i]) for i, one in enumerate(SIGNATURES)]
EXPORTS = [named(one) + bytes([0, i]) for i, one in enumerate(SIGNATURES)]
SECTIONS = {1: vector(*SIGNATURES.values()), 2: vector(*IMPORTS), 7: vector(*EXPORTS)}


def number(value: int) -> bytes:
    return bytes([value]) if value < 0x80 else bytes([value & 0x7F | 0x80]) + number(value >> 7)


MODULE = b"\0asm\1\0\0\0" + b"".join(
    bytes([i]) + number(len(content)) + content for i, content in SECTIONS.items()
)
SCRIPT = """
const { createInvokers } = require(process.argv[1] + '/invoke.js');
const tag = new WebAssembly.Tag({ parameters: [] });
const said = [];
let body = () => 0;
const env = {
  emscripten_stack_get_current: () => 4096,
  _emscripten_stack_restore: (stack) => said.push(`stack ${stack}`),
  setThrew: (...values) => said.push(`threw ${values}`),
};
for (const one of ['viji', 'iii', 'ji', 'did', 'fi']) env[one] = (...values) => body(...values);
const wasm = new WebAssembly.Module(Buffer.from(process.argv[2], 'hex'));
const { exports } = new WebAssembly.Instance(wasm, { env });
const table = new WebAssembly.Table({ element: 'anyfunc', initial: 200 });
const places = Object.keys(exports);
places.forEach((one, i) => table.set(100 + i, exports[one]));
const placeOf = (name) => 100 + places.indexOf(name);
const names = ['viji', 'iii', 'ji', 'did', 'fi'].map((one) => `invoke_${one}`);
const invokers = createInvokers(names, table, tag, placeOf);
function tried(name, ...values) {
  try {
    said.push(String(invokers[`invoke_${name}`](placeOf(name), ...values)));
  } catch (error) {
    said.push(error.message ?? 'another tag');
  }
}
function all() {
  tried('viji', 1, 2n ** 40n, 3);
  tried('iii', 70, 2);
  tried('ji', 5);
  tried('did', 1, 0.25);
  tried('fi', 2);
}
body = (...values) => { said.push(values.join()); return values.at(-1); };
tried('viji', 1, 2n ** 40n, 3);
tried('iii', 70, 2);
body = (one) => BigInt(one) << 40n;
tried('ji', 5);
body = (one, two) => two * 2;
tried('did', 1, 0.25);
body = () => { throw new WebAssembly.Exception(tag, []); };
all();
body = () => { throw new Error('not of C++'); };
tried('iii', 70, 2);
body = () => { throw new WebAssembly.Exception(new WebAssembly.Tag({ parameters: [] }), []); };
tried('iii', 70, 2);
console.log(said.join('\\n'));
"""


def test_an_exception_of_cpp_is_caught_and_nothing_else() -> None:
    said = subprocess.run(
        [install.node_program(), "-e", SCRIPT, str(HOST), MODULE.hex()],
        capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    caught = ["stack 4096", "threw 1,0"]
    assert said == [
        *("1,1099511627776,3", "undefined", "70,2", "2", "5497558138880", "0.5"),
        *(*caught, "undefined", *caught, "0", *caught, "0", *caught, "0", *caught, "0"),
        "not of C++",
        "another tag",
    ]
