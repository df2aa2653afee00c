"""CUDA kernels built without a GPU, kept in the user's cache like any, and what their machine code says of itself."""

import struct
from collections.abc import Iterable, Sequence
from typing import Any

from hpgraph.kernels.runtime.cuda.compile import build_cached
from hpgraph.kernels.runtime.cuda.nvrtc import translate_only

# Between the oldest GPU that is served and the newest the text of the kernels differs in one place, from sm_80 on.
GENERATIONS = ("sm_75", "sm_100")
# A few registers that do not suffice spill; an array that was to be in registers takes more.
LOCAL = 128
# EIATTR_FRAME_SIZE and EIATTR_REGCOUNT: index of a symbol, and bytes of local memory, or registers, of its function
_FRAME_SIZE, _REGISTERS = 0x11, 0x2F
_SIZED = 4  # EIFMT_SVAL: the record's last two bytes are the length of what follows


def compiles(
    source: str,
    prologue: str = "",
    ltoir: Sequence[Any] = (),
    names: Iterable[str] = (),
    arch: str = "sm_90",
    local: int = LOCAL,
    checks: str = "",
) -> None:
    """Parameters are those of `build_cached`, and the bytes of local memory that a thread may take at most.

    Each kernel asked for must have machine code, and no other function may: what a kernel calls is to be inlined,
    whether it was written in Python or in C++. What does not compile at all is a `CompileError`.
    """
    path, symbols = build_cached(source, prologue, ltoir, tuple(names), arch, checks=checks)
    code = path.read_bytes()
    assert set(symbols) == set(names)
    assert set(symbols.values()) <= kernels(code)
    assert not functions(code) - kernels(code), "not inlined"
    sizes = local_memory(code)
    assert {name: sizes[symbol] for name, symbol in symbols.items() if sizes[symbol] > local} == {}


def translates(
    source: str,
    prologue: str = "",
    ltoir: Sequence[Any] = (),
    names: Iterable[str] = (),
    arch: str = "sm_90",
    checks: str = "",
) -> None:
    """What is left to ask for of a kernel's other types where `compiles` has seen machine code of some.

    Everything is instantiated and type-checked, and Python functions are translated; structs lie as `checks` has it.
    """
    assert translate_only(source, prologue, ltoir, tuple(names), arch, checks)


def sections(cubin: bytes) -> list[tuple[str, bytes]]:
    """Name and content of each section of an ELF file, in order."""
    assert cubin[:6] == b"\x7fELF\x02\x01"
    (offset,) = struct.unpack_from("<Q", cubin, 0x28)
    size, count, strings = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", cubin, offset + i * size) for i in range(count)]

    def content(header: tuple[int, ...]) -> bytes:
        return b"" if header[1] == 8 else cubin[header[4] : header[4] + header[5]]  # 8: takes no room in the file

    names = content(headers[strings])
    return [(_text(names, header[0]), content(header)) for header in headers]


def functions(cubin: bytes) -> set[str]:
    """Functions with machine code of their own."""
    return {name.removeprefix(".text.") for name, _ in sections(cubin) if name.startswith(".text.")}


def kernels(cubin: bytes) -> set[str]:
    """Functions that the host may launch: their parameters are handed over in constant memory."""
    mark = ".nv.constant0."
    return {name.removeprefix(mark) for name, _ in sections(cubin) if name.startswith(mark)}


def local_memory(cubin: bytes) -> dict[str, int]:
    """Bytes of local memory that a thread takes, by function."""
    return _sizes(cubin, _FRAME_SIZE)


def registers(cubin: bytes) -> dict[str, int]:
    """Registers that a thread takes, by function."""
    return _sizes(cubin, _REGISTERS)


def _sizes(cubin: bytes, wanted: int) -> dict[str, int]:
    found = dict(sections(cubin))
    symbols = [_text(found[".strtab"], at) for (at,) in struct.iter_unpack("<I20x", found[".symtab"])]
    sizes, at, info = {}, 0, found[".nv.info"]
    while at < len(info):
        form, attribute, length = struct.unpack_from("<BBH", info, at)
        if (form, attribute) == (_SIZED, wanted):
            symbol, size = struct.unpack_from("<II", info, at + 4)
            sizes[symbols[symbol]] = size
        at += 4 + (length if form == _SIZED else 0)
    return sizes


def _text(strings: bytes, at: int) -> str:
    return strings[at : strings.index(b"\0", at)].decode()
