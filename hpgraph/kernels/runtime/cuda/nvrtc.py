"""CUDA C++ templates to machine code by NVRTC and nvJitLink, for any architecture; needs no GPU and keeps nothing.

NVRTC is called directly: cuda.core, which takes a tenth of a second to import, is imported only to link.
"""

import contextlib
import functools
import importlib.metadata
import importlib.util
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hpgraph.core.device import cuda_core, cupy
from hpgraph.core.errors import CompileError, MissingExtraError
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
    return _translated(source, prologue, names, arch, checks, True)[0]


def build(
    source: str, prologue: str, ltoir: Sequence[bytes | LinkedCode], names: Sequence[str], arch: str, checks: str
) -> tuple[bytes, dict[str, str]]:
    """Machine code, and each kernel's symbol."""
    made, symbols = _translated(source, prologue, names, arch, checks, bool(ltoir))
    if ltoir:
        core = cuda_core()
        codes = [made, *(code if isinstance(code, bytes) else code.produce() for code in ltoir)]
        with _compile_errors(source, arch):
            linker = core.Linker(
                *(core.ObjectCode.from_ltoir(code) for code in codes),
                options=core.LinkerOptions(arch=arch, link_time_optimization=True),
            )
            made = bytes(linker.link("cubin").code)
    return mended(made, arch, _maker(bool(ltoir))), symbols


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
    if linked:
        from cuda.bindings import nvjitlink

        return tuple(nvjitlink.version())
    return tuple(_nvrtc("Version"))


def _translated(
    source: str, prologue: str, names: Sequence[str], arch: str, checks: str, link: bool
) -> tuple[bytes, dict[str, str]]:
    if not names:
        raise ValueError("names must list at least one kernel: a template that is not named leaves no machine code")
    texts(source, prologue)
    text = f'{prologue}\n#include "{source}"\n{checks}\n'
    options = [f"--include-path={folder}" for folder in include_folders()]
    return translated(text, names, arch, options, f"{Path(source).stem}[{arch}]", link)


def translated(
    text: str, names: Sequence[str], arch: str, options: Sequence[str], title: str, link: bool = False
) -> tuple[bytes, dict[str, str]]:
    """NVRTC's output for C++ text, machine code or LTO-IR to be linked, and each kernel's symbol."""
    # Releases before 13.1 take generic lambdas in device functions for host code without the third.
    fixed = (f"-arch={arch}", "--std=c++17", "--device-as-default-execution-space")
    linked = ("--relocatable-device-code=true", "--dlink-time-opt") if link else ()
    chosen = [option.encode() for option in (*fixed, *linked, *options)]
    (program,) = _nvrtc("CreateProgram", text.encode(), b"", 0, None, None)
    try:
        for name in names:
            _nvrtc("AddNameExpression", program, name.encode())
        try:
            _nvrtc("CompileProgram", program, len(chosen), chosen)
        except RuntimeError as error:
            log = _filled("ProgramLog", program).decode(errors="replace").rstrip("\0")
            raise CompileError(title, _first_errors(log or str(error))) from None
        symbols = {name: _nvrtc("GetLoweredName", program, name.encode())[0].decode() for name in names}
        return _filled("LTOIR" if link else "CUBIN", program), symbols
    finally:
        _nvrtc("DestroyProgram", program)


def _filled(what: str, program: Any) -> bytes:
    """What a program has of a kind, copied by NVRTC."""
    content = bytearray(_nvrtc(f"Get{what}Size", program)[0])
    _nvrtc(f"Get{what}", program, content)
    return bytes(content)


def _nvrtc(name: str, *arguments: Any) -> list[Any]:
    """The results of a function of NVRTC."""
    try:
        from cuda.bindings import nvrtc
    except ImportError:
        raise MissingExtraError("cuda-core", "cuda13", "compiling for the GPU") from None
    status, *results = getattr(nvrtc, f"nvrtc{name}")(*arguments)
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise RuntimeError(f"nvrtc{name}: {status.name}")
    return results


@contextlib.contextmanager
def _compile_errors(source: str, arch: str) -> Iterator[None]:
    """Errors of nvJitLink have no common type in cuda.core, but its name; all of them carry the log."""
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith("cuda."):
            # Raised during the compilation, as by a signal's handler.
            raise
        raise CompileError(f"{Path(source).stem}[{arch}]", _first_errors(str(error))) from error


def _first_errors(log: str) -> str:
    lines = [line for line in log.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return "\n".join((errors or lines)[:8])
