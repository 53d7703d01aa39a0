"""Rewrite ``lean.wasm`` so that an instance of it exists in a moment.

The module as published exports 201,109 symbols. V8 makes an object for each, at every start and in
each thread, though nearly all are only looked up by name, when Lean's interpreter calls a function
of the library. :func:`patch_module` puts the exported functions into the module's own table and
their names into a file of their own, which ``host/symbols.js`` searches; it leaves as exports only
what the glue itself uses. The table becomes an import, so that ``host/invoke.js`` can use it too.
No instruction is changed.
"""

from __future__ import annotations

import itertools
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import attrs

_HEADER: Final = 8
_IMPORTS, _TABLES, _GLOBALS, _EXPORTS, _ELEMENTS = 2, 4, 6, 7, 9
"""Ids of the module's sections."""
_FUNCTION, _TABLE_KIND, _MEMORY, _GLOBAL = 0, 1, 2, 3
"""Kinds of what is imported and exported."""
_I32, _FUNCTIONS, _I32_CONST, _END = 0x7F, 0x70, 0x41, 0x0B
_USED_BY_GLUE: Final = re.compile(r'wasmExports\["([^"]+)"\]')
_TABLE: Final = b"__indirect_function_table"


@attrs.frozen
class PatchedModule:
    """The module, and its symbols as ``host/symbols.js`` reads them."""

    wasm: bytes
    symbols: bytes


def patch_module(wasm: bytes, glue: str) -> PatchedModule:
    """Return the rewritten module for a glue that ``patch_glue`` has patched."""
    sections = {identity: start for identity, start, _ in _sections(wasm)}
    exports = list(_exports(wasm, sections[_EXPORTS]))
    addresses = _addresses(wasm, sections)
    first, listed = _elements(wasm, sections)
    exported = dict.fromkeys(index for _, kind, index in exports if kind == _FUNCTION)
    added = list(exported.keys() - set(listed))
    places = {function: first + i for i, function in enumerate([*listed, *added])}
    values = {name: places[i] for name, kind, i in exports if kind == _FUNCTION}
    values |= {
        name: ~addresses[i] for name, kind, i in exports if kind == _GLOBAL and i in addresses
    }
    used = {_TABLE, *(name.encode() for name in _USED_BY_GLUE.findall(glue))}
    length = first + len(listed) + len(added)
    changed = {
        _IMPORTS: _with_table(_content(wasm, _IMPORTS), length),
        _TABLES: _vector([]),
        _EXPORTS: _vector([_export(*one) for one in exports if one[0] in used]),
        _ELEMENTS: _vector([_segment(first, listed), _segment(first + len(listed), added)]),
    }
    return PatchedModule(_rewritten(wasm, changed), _symbol_table(values, length))


# -- reading --------------------------------------------------------------------------------------


def _sections(wasm: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield the id of each section, and where its content begins and ends."""
    position = _HEADER
    while position < len(wasm):
        size, start = _read_number(wasm, position + 1)
        yield wasm[position], start, start + size
        position = start + size


def _content(wasm: bytes, section: int) -> bytes:
    return next(wasm[start:end] for identity, start, end in _sections(wasm) if identity == section)


def _read_number(wasm: bytes, position: int) -> tuple[int, int]:
    """Read an unsigned LEB128 number; return it, and the position behind it."""
    value = 0
    for shift in itertools.count(0, 7):
        byte = wasm[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
    return value, position


def _exports(wasm: bytes, position: int) -> Iterator[tuple[bytes, int, int]]:
    """Yield name, kind and index of each export."""
    count, position = _read_number(wasm, position)
    for _ in range(count):
        size, position = _read_number(wasm, position)
        name, kind = wasm[position : position + size], wasm[position + size]
        index, position = _read_number(wasm, position + size + 1)
        yield name, kind, index


def _elements(wasm: bytes, sections: Mapping[int, int]) -> tuple[int, list[int]]:
    """Return the place of the first function in the table, and the functions from there on."""
    count, position = _read_number(wasm, sections[_ELEMENTS])
    flags, position = _read_number(wasm, position)
    assert (count, flags, wasm[position]) == (1, 0, _I32_CONST), "not one plain segment"
    first, position = _read_number(wasm, position + 1)
    size, position = _read_number(wasm, position + 1)
    functions = []
    for _ in range(size):
        function, position = _read_number(wasm, position)
        functions.append(function)
    assert _read_number(wasm, sections[_TABLES] + 3)[0] == first + size, "a table that is not full"
    return first, functions


def _addresses(wasm: bytes, sections: Mapping[int, int]) -> dict[int, int]:
    """Return the constant globals, which are addresses of data, with their values."""
    imported = _imported_globals(wasm, sections[_IMPORTS])
    count, position = _read_number(wasm, sections[_GLOBALS])
    found = {}
    for index in range(imported, imported + count):
        assert (wasm[position], wasm[position + 2]) == (_I32, _I32_CONST), "no 32-bit constant"
        value, behind = _read_number(wasm, position + 3)
        if not wasm[position + 1]:
            found[index] = value
        position = behind + 1
    return found


def _imported_globals(wasm: bytes, position: int) -> int:
    count, position = _read_number(wasm, position)
    number = 0
    for _ in range(count):
        for _ in ("module", "name"):
            size, position = _read_number(wasm, position)
            position += size
        kind = wasm[position]
        position += 1
        if kind == _FUNCTION:
            _, position = _read_number(wasm, position)
        elif kind == _GLOBAL:
            number += 1
            position += 2
        else:
            assert kind == _MEMORY, "an import of an unknown kind"
            limits = 2 if wasm[position] & 1 else 1
            position += 1
            for _ in range(limits):
                _, position = _read_number(wasm, position)
    return number


# -- writing --------------------------------------------------------------------------------------


def _number(value: int) -> bytes:
    """Write an unsigned LEB128 number."""
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*written, value])


def _signed(value: int) -> bytes:
    """Write a LEB128 number whose highest bit is a sign, for a value that has none."""
    unsigned = _number(value)
    return unsigned[:-1] + bytes([unsigned[-1] | 0x80, 0]) if unsigned[-1] & 0x40 else unsigned


def _vector(items: Sequence[bytes]) -> bytes:
    return _number(len(items)) + b"".join(items)


def _name(text: bytes) -> bytes:
    return _number(len(text)) + text


def _export(name: bytes, kind: int, index: int) -> bytes:
    return _name(name) + bytes([kind]) + _number(index)


def _with_table(imports: bytes, length: int) -> bytes:
    """Add the table of functions to the imports, so that another module can have it, too."""
    count, start = _read_number(imports, 0)
    table = _name(b"env") + _name(_TABLE) + bytes([_TABLE_KIND, _FUNCTIONS, 0]) + _number(length)
    return _number(count + 1) + imports[start:] + table


def _segment(start: int, functions: Sequence[int]) -> bytes:
    """Write table elements that begin at ``start``."""
    offset = bytes([0, _I32_CONST]) + _signed(start) + bytes([_END])
    return offset + _vector([_number(function) for function in functions])


def _rewritten(wasm: bytes, changed: Mapping[int, bytes]) -> bytes:
    parts = [wasm[:_HEADER]]
    for identity, start, end in _sections(wasm):
        content = changed.get(identity, wasm[start:end])
        parts += [bytes([identity]), _number(len(content)), content]
    return b"".join(parts)


def _symbol_table(values: Mapping[bytes, int], length: int) -> bytes:
    """Write the table's length, the number of symbols, where each name ends, values, and names.

    Names are sorted. All numbers have 32 bits. A value is a place in the table or, complemented,
    an address.
    """
    names = sorted(values)
    ends = itertools.accumulate(len(name) for name in names)
    numbers = [length, len(names), *ends, *(values[name] for name in names)]
    return struct.pack(f"<{len(numbers)}i", *numbers) + b"".join(names)
