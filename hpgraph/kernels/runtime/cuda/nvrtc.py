"""CUDA C++ templates to machine code by NVRTC and nvJitLink, for any architecture; needs no GPU and keeps nothing."""

import contextlib
import functools
import importlib.metadata
import importlib.util
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hpgraph.core.device import cuda_core, cupy
from hpgraph.core.errors import CompileError
from hpgraph.core.machine_code import mended
from hpgraph.semiring.cuda import LinkedCode

_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
_KERNELS = Path(__file__).resolve().parents[2]


def compile_only(
    source: str, prologue: str = "", ltoir: Sequence[bytes | LinkedCode] = (), names: Sequence[str] = (),
    arch: str = "sm_90", checks: str = "",
) -> bytes:  # fmt: skip
    """Machine code for a given GPU architecture; needs no GPU and reads and writes no cache."""
    return build(source, prologue, ltoir, names, arch, checks)[0]


def translate_only(
    source: str, prologue: str = "", ltoir: Sequence[bytes | LinkedCode] = (), names: Sequence[str] = (),
    arch: str = "sm_90", checks: str = "",
) -> bytes:  # fmt: skip
    """Kernels type-checked and instantiated, without their machine code, which takes twenty times as long."""
    for code in ltoir:
        _ = code if isinstance(code, bytes) else code.produce()
    return bytes(_translated(source, prologue, names, arch, checks, True).code)


def build(
    source: str, prologue: str, ltoir: Sequence[bytes | LinkedCode], names: Sequence[str], arch: str, checks: str
) -> tuple[bytes, dict[str, str]]:
    """Machine code, and each kernel's symbol."""
    compiled = _translated(source, prologue, names, arch, checks, bool(ltoir))
    symbols = symbols_of(compiled)
    if ltoir:
        core = cuda_core()
        codes = [code if isinstance(code, bytes) else code.produce() for code in ltoir]
        with _compile_errors(source, arch):
            linker = core.Linker(
                compiled,
                *(core.ObjectCode.from_ltoir(code) for code in codes),
                options=core.LinkerOptions(arch=arch, link_time_optimization=True),
            )
            compiled = linker.link("cubin")
    return mended(bytes(compiled.code), arch, _maker(bool(ltoir))), symbols


def symbols_of(compiled: Any) -> dict[str, str]:
    """Symbol of each kernel, by name expression."""
    mangled = compiled.symbol_mapping.items()
    return {name: symbol.decode() if isinstance(symbol, bytes) else symbol for name, symbol in mangled}


@functools.cache
def include_folders() -> tuple[Path, ...]:
    """Search path of ``#include``: the folders of the kernels, of the operators and of the formats."""
    beside = []
    for package in ("hpgraph.semiring", "hpgraph.formats"):
        found = importlib.util.find_spec(package)
        if found is None or not found.submodule_search_locations:
            raise ImportError(f"{package} is not installed beside hpgraph; reinstall hpgraph")
        beside += [Path(folder) for folder in found.submodule_search_locations]
    rooms = sorted({file.parent for file in _KERNELS.rglob("*.cuh")})
    return (*rooms, *beside)


def texts(source: str, prologue: str = "") -> dict[str, str]:
    """Text by file name, in order, of every file of ours that a compilation includes; CUDA's own are left out."""
    found: dict[str, str] = {}
    wanted = [source, *_INCLUDE.findall(prologue)]
    while wanted:
        name = wanted.pop()
        if name in found:
            continue
        path = next((folder / name for folder in include_folders() if (folder / name).is_file()), None)
        if path is None:
            continue
        found[name] = path.read_text(encoding="utf-8")
        wanted += _INCLUDE.findall(found[name])
    if source not in found:
        raise FileNotFoundError(f"no kernel source {source!r} in {_KERNELS}")
    return dict(sorted(found.items()))


@functools.cache
def compiler_version() -> str:
    """Version of NVRTC, without loading it if a package has it in its metadata."""
    for package in ("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12"):
        try:
            return importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    try:
        return ".".join(str(part) for part in cupy.cuda.nvrtc.getVersion())
    except (ImportError, RuntimeError):
        return "unknown"


def _maker(linked: bool) -> tuple[int, ...]:
    """Version of the library that makes machine code: nvJitLink for linked code, else NVRTC."""
    from cuda.bindings import nvjitlink, nvrtc

    return tuple(nvjitlink.version()) if linked else tuple(nvrtc.nvrtcVersion()[1:])


def _translated(source: str, prologue: str, names: Sequence[str], arch: str, checks: str, link: bool) -> Any:
    """NVRTC's output: machine code, or LTO-IR to be linked."""
    if not names:
        raise ValueError("names must list at least one kernel: a template that is not named leaves no machine code")
    texts(source, prologue)
    core = cuda_core()
    options = core.ProgramOptions(
        arch=arch,
        std="c++17",
        # Releases before 13.1 take generic lambdas in device functions for host code otherwise.
        device_as_default_execution_space=True,
        include_path=[os.fspath(folder) for folder in include_folders()],
        relocatable_device_code=link,
        link_time_optimization=link or None,
    )
    with _compile_errors(source, arch):
        program = core.Program(f'{prologue}\n#include "{source}"\n{checks}\n', "c++", options)
        return program.compile("ltoir" if link else "cubin", name_expressions=tuple(names))


@contextlib.contextmanager
def _compile_errors(source: str, arch: str) -> Iterator[None]:
    """NVRTC's and nvJitLink's errors have no common type in cuda.core, but its name; all of them carry the log."""
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith("cuda."):
            # Raised during the compilation, as by a signal's handler.
            raise
        raise CompileError(f"{Path(source).stem}[{arch}]", _log(error)) from error


def _log(error: BaseException) -> str:
    """The compiler's log, cut to its first errors."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return "\n".join((errors or lines)[:8])
