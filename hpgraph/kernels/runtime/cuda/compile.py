"""CUDA C++ templates to machine code: NVRTC, link-time code of Python functions, and a cache on disk.

A kernel's text is a ``.cuh`` file of some room behind a prologue that names its types and functors. NVRTC compiles
it for the very GPU at hand, so the driver never has to translate; where Python functions take part, Numba's LTO-IR of
them is linked in by nvJitLink and inlined. What comes out is kept under ``config.cache_dir``; a process that finds it
there needs neither compiler, and loads in milliseconds.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import re
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from hpgraph.core import cache_folder, work_clock
from hpgraph.core.config import config
from hpgraph.core.errors import CompileError, MissingExtraError
from hpgraph.kernels.runtime.cuda.machine_code import MENDS, mended
from hpgraph.semiring.cuda import LinkedCode

_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
_KERNELS = Path(__file__).resolve().parents[2]
_lock = threading.RLock()
_modules: dict[tuple[Any, ...], Module] = {}


class Module:
    """Loaded kernels of one compilation.

    Parameters
    ----------
    path : pathlib.Path
        The cubin.
    symbols : dict
        Linker's name of each kernel by its C++ name expression.
    cooperative : bool
        Whether launches are cooperative, as grid barriers need.
    """

    def __init__(self, path: Path, symbols: dict[str, str], cooperative: bool) -> None:
        import cupy

        self._module = cupy.RawModule(path=os.fspath(path), enable_cooperative_groups=cooperative)
        self._symbols = symbols
        self._functions: dict[str, Any] = {}

    def function(self, name: str) -> Any:
        """The kernel of a name expression, to be called as ``kernel(grid, block, arguments, shared_mem=0)``.

        Parameters
        ----------
        name : str
            One of the `names` that `load` was given, to the letter.

        Returns
        -------
        cupy.RawKernel
            It launches on CuPy's current stream.

        Raises
        ------
        KeyError
            If the module was compiled without that name.
        """
        kernel = self._functions.get(name)
        if kernel is None:
            if name not in self._symbols:
                raise KeyError(f"no kernel {name!r} in this module; it has {', '.join(self._symbols)}")
            kernel = self._functions[name] = self._module.get_function(self._symbols[name])
        return kernel


def load(
    source: str,
    *,
    prologue: str = "",
    ltoir: Sequence[bytes | LinkedCode] = (),
    names: Sequence[str],
    cooperative: bool = False,
    title: str = "",
    checks: str = "",
) -> Module:
    """Kernels for CuPy's current device: out of this process's memory, else the cache on disk, else compiled.

    Parameters
    ----------
    source : str
        A ``.cuh`` file of `hpgraph.kernels`, by its name alone: no two rooms have files of one name.
    prologue : str
        C++ text put before it, which may include others (``#include "operators.cuh"``).
    ltoir : sequence of bytes or LinkedCode
        LTO-IR that defines the ``extern "C"`` device functions declared in the prologue. `LinkedCode` is produced only
        if no finished kernel is found.
    names : sequence of str
        Name expressions of the kernels to instantiate, for instance ``"hpgraph::pull_slab<Product>"``.
    cooperative : bool
        Whether the kernels are launched cooperatively.
    title : str
        What the notice of a cold compile calls the kernels. Default: the name of the file.
    checks : str
        C++ text put after the file, such as ``static_assert``.

    Returns
    -------
    Module

    Raises
    ------
    CompileError
        If the text does not compile.
    MissingExtraError
        If it is not cached and the compiler, cuda-core, is not installed.
    """
    import cupy

    device = cupy.cuda.Device()
    memo = (device.id, source, prologue, tuple(ltoir), tuple(names), cooperative, checks)
    module = _modules.get(memo)
    if module is None:
        # One compile at a time: two threads that ask for the same kernels must not both build them.
        with _lock:
            module = _modules.get(memo)
            if module is None:
                arch = f"sm_{device.compute_capability}"
                with work_clock.compiling():
                    path, symbols = build_cached(source, prologue, ltoir, names, arch, title, checks)
                    module = _modules[memo] = Module(path, symbols, cooperative)
    return module


def compile_only(
    source: str,
    prologue: str = "",
    ltoir: Sequence[bytes | LinkedCode] = (),
    names: Sequence[str] = (),
    arch: str = "sm_90",
    checks: str = "",
) -> bytes:
    """Machine code for a given GPU architecture; needs no GPU and reads and writes no cache.

    Parameters
    ----------
    source, prologue, ltoir, names, checks
        As for `load`.
    arch : str
        For instance "sm_75".

    Returns
    -------
    bytes
        A cubin.

    Raises
    ------
    CompileError
        If the text does not compile, or uses a name it does not define.
    MissingExtraError
        If cuda-core is not installed.
    """
    return _build(source, prologue, ltoir, names, arch, checks)[0]


@functools.cache
def include_folders() -> tuple[Path, ...]:
    """Where ``#include`` looks: the folders of the kernels, of the operators and of the formats.

    Returns
    -------
    tuple of pathlib.Path
    """
    beside = []
    for package in ("hpgraph.semiring", "hpgraph.formats"):
        found = importlib.util.find_spec(package)
        if found is None or not found.submodule_search_locations:
            raise ImportError(f"{package} is not installed beside hpgraph; reinstall hpgraph")
        beside += [Path(folder) for folder in found.submodule_search_locations]
    rooms = sorted({file.parent for file in _KERNELS.rglob("*.cuh")})
    return (*rooms, *beside)


def texts(source: str, prologue: str = "") -> dict[str, str]:
    """Every file that takes part in a compilation, found by following its includes.

    Parameters
    ----------
    source, prologue : str
        As for `load`.

    Returns
    -------
    dict
        Text by file name, in order of name. Names that are no files of ours (CUDA's own headers) are left out.
    """
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
    """Version of NVRTC, without loading it where a package says.

    Returns
    -------
    str
    """
    for package in ("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12"):
        try:
            return importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    try:
        from cupy.cuda import nvrtc

        return ".".join(str(part) for part in nvrtc.getVersion())
    except (ImportError, RuntimeError):
        return "unknown"


@functools.cache
def _translation() -> bytes:
    """What Python functions mean on the GPU: numba-cuda, and the module that mends it."""
    lto = importlib.util.find_spec("hpgraph.semiring.lto")
    assert lto is not None and lto.origin is not None
    return importlib.metadata.version("numba-cuda").encode() + Path(lto.origin).read_bytes()


def cache_key(source: str, prologue: str, ltoir: Sequence[bytes | LinkedCode], names: Sequence[str], arch: str) -> str:
    """Fingerprint of all that decides the machine code.

    Parameters
    ----------
    source, prologue, ltoir, names
        As for `load`.
    arch : str
        For instance "sm_90".

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    parts: Iterable[bytes] = (
        *(text.encode() for item in texts(source, prologue).items() for text in item),
        prologue.encode(),
        *(code if isinstance(code, bytes) else code.key.encode() for code in ltoir),
        *(name.encode() for name in names),
        arch.encode(),
        compiler_version().encode(),
        MENDS,
        *((_translation(),) if any(isinstance(code, LinkedCode) for code in ltoir) else ()),
    )
    digest = hashlib.sha256()
    for part in parts:
        # With its length before it, no part can run into the next.
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def build_cached(
    source: str,
    prologue: str = "",
    ltoir: Sequence[bytes | LinkedCode] = (),
    names: Sequence[str] = (),
    arch: str = "sm_90",
    title: str = "",
    checks: str = "",
) -> tuple[Path, dict[str, str]]:
    """The cubin in the cache on disk, compiled first where it is missing or damaged; needs no GPU.

    Code of functions that refer to something unreadable lies in a folder that goes with the process.

    Parameters
    ----------
    source, prologue, ltoir, names, title, checks
        As for `load`.
    arch : str
        For instance "sm_90".

    Returns
    -------
    pathlib.Path, dict
        The cubin, and the linker's name of each kernel by its name expression.

    Raises
    ------
    CompileError, MissingExtraError
        As `load`.
    """
    lasting = all(isinstance(code, bytes) or code.lasting for code in ltoir)
    folder = cache_folder.subfolder(config.cache_dir, "cuda") if lasting else cache_folder.process_folder()
    entry = folder / f"{cache_key(source, prologue + checks, ltoir, names, arch)}.kernels"
    found = _read(entry)
    if found is not None:
        return found
    config.announce(f"{title or Path(source).stem} for the GPU")
    cubin, symbols = _build(source, prologue, ltoir, names, arch, checks)
    try:
        return _keep(entry, cubin, symbols), symbols
    except OSError:
        # The disk may be full, or the file system read-only by now; this process goes on.
        return _keep(cache_folder.process_folder() / entry.name, cubin, symbols), symbols


def _keep(entry: Path, cubin: bytes, symbols: dict[str, str]) -> Path:
    digest = hashlib.sha256(cubin).hexdigest()
    # The machine code lies under its own hash and the entry names it: whoever writes last, both fit together.
    path = entry.parent / f"{digest}.cubin"
    cache_folder.write(path, cubin)
    cache_folder.write_sealed(entry, json.dumps({"cubin": digest, "symbols": symbols}).encode())
    return path


def _read(entry: Path) -> tuple[Path, dict[str, str]] | None:
    content = cache_folder.read_sealed(entry)
    if content is None:
        return None
    record = json.loads(content)
    path = entry.parent / f"{record['cubin']}.cubin"
    cubin = cache_folder.read(path)
    whole = cubin is not None and hashlib.sha256(cubin).hexdigest() == record["cubin"]
    return (path, record["symbols"]) if whole else None


def _cuda_core() -> ModuleType:
    try:
        import cuda.core as core

        if not hasattr(core, "Program"):
            # Releases before 1.0 kept everything in a module of its own.
            import cuda.core.experimental as core
    except ImportError:
        raise MissingExtraError("cuda-core", "cuda13", "compiling for the GPU") from None
    return core


def _build(
    source: str, prologue: str, ltoir: Sequence[bytes | LinkedCode], names: Sequence[str], arch: str, checks: str
) -> tuple[bytes, dict[str, str]]:
    if not names:
        raise ValueError("names must list at least one kernel: a template nobody names leaves no machine code")
    texts(source, prologue)
    core = _cuda_core()
    link = bool(ltoir)
    options = core.ProgramOptions(
        arch=arch,
        std="c++17",
        # Releases before 13.1 take generic lambdas in device functions for host code otherwise.
        device_as_default_execution_space=True,
        include_path=[os.fspath(folder) for folder in include_folders()],
        relocatable_device_code=link,
        link_time_optimization=link or None,
    )
    try:
        program = core.Program(f'{prologue}\n#include "{source}"\n{checks}\n', "c++", options)
        compiled = program.compile("ltoir" if link else "cubin", name_expressions=tuple(names))
        mangled = compiled.symbol_mapping
        if link:
            codes = [code if isinstance(code, bytes) else code.produce() for code in ltoir]
            linker = core.Linker(
                compiled,
                *(core.ObjectCode.from_ltoir(code) for code in codes),
                options=core.LinkerOptions(arch=arch, link_time_optimization=True),
            )
            compiled = linker.link("cubin")
    except CompileError:
        raise
    except Exception as error:
        # NVRTC's and nvJitLink's errors have no common type in cuda.core; all of them carry the log.
        raise CompileError(f"{Path(source).stem}[{arch}]", _log(error)) from error
    symbols = {name: symbol.decode() if isinstance(symbol, bytes) else symbol for name, symbol in mangled.items()}
    return mended(bytes(compiled.code), arch), symbols


def _log(error: BaseException) -> str:
    """What the compiler said, cut to its first complaints."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    complaints = [line for line in lines if "error" in line.lower()]
    return "\n".join((complaints or lines)[:8])
