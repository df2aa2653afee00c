"""Kernels for the GPU: CUDA C++ templates, link-time code of Python functions, and a cache on disk.

A kernel's text is a ``.cuh`` file behind a prologue that names its types and functors. NVRTC compiles it for the
architecture of the present GPU, so the driver never has to translate; if it calls Python functions, Numba's LTO-IR of
them is linked in by nvJitLink and inlined. The result is cached under ``config.cache_dir``; a process that finds it
there, or in a package of kernels compiled ahead (`ready_folder`), needs neither compiler and loads in milliseconds.

`load` begins to compile, in a thread; the first launch waits. So kernels that an algorithm will need compile side by
side, and beside those of CuPy's, if they are asked for before the first of them is launched.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hpgraph.core import cache_folder, patches, work_clock
from hpgraph.core.config import config
from hpgraph.core.device import cuda_extra, cupy
from hpgraph.core.errors import OutOfBoundsError
from hpgraph.core.locks import Lock
from hpgraph.core.platform import at_fork
from hpgraph.core.ready_kernels import ready_folder
from hpgraph.kernels.runtime.cuda.multiprocessors import multiprocessors
from hpgraph.kernels.runtime.cuda.nvrtc import build, compiler_version, texts
from hpgraph.kernels.runtime.cuda.structs import Block, packed
from hpgraph.semiring.cuda import LinkedCode

if TYPE_CHECKING:
    from hpgraph.semiring.function import Function


class _Thread(threading.local):
    # Modules launched in the current run, with the counts known at launch. None outside of runs.
    launched: dict[Faults, int] | None = None

    def __init__(self) -> None:
        # Devices whose context is known to be the thread's when they are current.
        self.devices: set[int] = set()


_thread = _Thread()


# A run raises if the count of a module that it launched differs from that at its first launch. Another thread's run of
# the same module may raise, too; neither returns results of an index out of bounds.
class Faults:
    """The exceptions in the functions of one module on its device, which the module counts (faults.cuh)."""

    def __init__(self, module: Any, functions: Sequence[Function]) -> None:
        self._device = cupy.cuda.Device()
        self._words = cupy.ndarray(2, np.uint32, module.get_global("hpgraph_faults"))
        self._functions = {function.fault: function for function in functions}
        self._seen = 0

    def launched(self) -> None:
        """Record a launch: checked at the end of the current run or, without one, now, which waits for the device."""
        if _thread.launched is not None:
            _thread.launched.setdefault(self, self._seen)
        else:
            self.check(self._seen)

    def check(self, before: int) -> None:
        """Raise where a function has ended by an exception since the count was `before`; waits for the device."""
        with self._device:
            count, function = self._words.get().tolist()
        self._seen = count
        if count != before:
            raise _exception_of(self._functions[function])


def _exception_of(function: Function) -> Exception:
    if not function.raises:
        return OutOfBoundsError(function.name)
    return RuntimeError(f"{function.name}() raised an exception on the GPU; the same on the CPU says which")


class checked:
    """Context manager for a run: its kernels' functions are checked once, at the end of the outermost block."""

    def __enter__(self) -> None:
        self._inner = _thread.launched is not None
        if not self._inner:
            _thread.launched = {}

    def __exit__(self, kind: Any, *error: Any) -> None:
        if self._inner:
            return
        launched, _thread.launched = _thread.launched or {}, None
        for faults, before in launched.items():
            # The next run must not raise this run's exceptions. A device that failed fails here again.
            with contextlib.suppress(Exception) if kind else contextlib.nullcontext():
                faults.check(before)


_lock = Lock()
_modules: dict[tuple[Any, ...], Module] = {}
# Kernels that are compiled at a time: each takes a thread and some 100 MB.
_COMPILERS = 4
# Compilations that were begun in threads, by their entries in the cache.
_under_way: dict[Path, Future[tuple[Path, dict[str, str]]]] = {}


class Request(NamedTuple):
    """Kernels to build, as `build_cached` takes them, without code of Python functions to link."""

    source: str
    prologue: str
    names: tuple[str, ...]
    title: str
    checks: str


# While it is a list, the requests of this process are added to it.
requests: list[Request] | None = None


class Kernel:
    """A kernel of a module, called to be launched on CuPy's current stream."""

    def __init__(self, module: Module, name: str) -> None:
        self._module, self._name = module, name
        self._shared = 0
        self._resident: dict[tuple[int, int], int] = {}

    @functools.cached_property
    def raw(self) -> Any:
        """CuPy's kernel; waits for the compilation."""
        return self._module.loaded.function(self._name)

    @property
    def is_built(self) -> bool:
        """Whether a launch need not wait for the compilation."""
        return self._module.is_built

    @functools.cached_property
    def faults(self) -> Faults | None:
        """The counter of its functions' exceptions, if they may raise any."""
        return self._module.loaded.faults

    @functools.cached_property
    def _launch(self) -> Callable[..., None]:
        driver, pointer = cupy.cuda.driver, self.raw.kernel.ptr
        if self._module.cooperative:
            return functools.partial(driver.launchCooperativeKernel, pointer)
        # The other way of launching has a place for arguments given otherwise.
        return lambda *given: driver.launchKernel(pointer, *given, 0)

    def __call__(
        self, grid: tuple[int, ...], block: tuple[int, ...], arguments: Sequence[Any], shared_mem: int = 0
    ) -> None:
        """Launch it; an argument None is a null pointer."""
        memory = packed(arguments)
        self.launch(grid, block, memory, cupy.cuda.get_current_stream().ptr, shared_mem)

    def launch(
        self, grid: tuple[int, ...], block: tuple[int, ...], arguments: Block, stream: int, shared_mem: int = 0
    ) -> None:
        """Launch it on a stream of its device, which is the current one; the memory of its arguments is given back."""
        if shared_mem > self._shared:
            self._allow(shared_mem)
        if self._module.device not in _thread.devices:
            # A thread has a context once it has called the runtime.
            cupy.cuda.runtime.free(0)
            _thread.devices.add(self._module.device)
        self._launch(*(*grid, 1, 1)[:3], *(*block, 1, 1)[:3], shared_mem, stream, arguments.address)
        arguments.free.append(arguments)
        if self.faults is not None:
            self.faults.launched()

    def resident(self, threads: int, shared_mem: int = 0) -> int:
        """Blocks that all multiprocessors hold at once: the most of a cooperative launch."""
        found = self._resident.get((threads, shared_mem))
        if found is None:
            self._allow(shared_mem)
            each = cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(self.raw.kernel.ptr, threads, shared_mem)
            found = self._resident[threads, shared_mem] = each * multiprocessors()
        return found

    def _allow(self, shared_mem: int) -> None:
        # Beyond 48 KiB shared memory is opt-in.
        self.raw.max_dynamic_shared_size_bytes = self._shared = max(shared_mem, self._shared)


class _Loaded:
    """Machine code on a device."""

    def __init__(
        self, path: Path, symbols: dict[str, str], cooperative: bool, ltoir: Sequence[bytes | LinkedCode]
    ) -> None:
        self._module = cupy.RawModule(path=os.fspath(path), enable_cooperative_groups=cooperative)
        self._symbols = symbols
        linked = (code.function for code in ltoir if isinstance(code, LinkedCode))
        functions = [function for function in linked if function is not None and function.fault]
        self.faults = Faults(self._module, functions) if functions else None

    def function(self, name: str) -> Any:
        """CuPy's kernel of a name expression."""
        return self._module.get_function(self._symbols[name])


class Module:
    """Kernels of one compilation on a device, loaded when one is first launched.

    ``begin``: begins to build the machine code and the symbols; called again after it has failed.
    """

    def __init__(
        self, begin: Callable[[], Future[tuple[Path, dict[str, str]]]], names: Sequence[str], cooperative: bool,
        ltoir: Sequence[bytes | LinkedCode] = (),
    ) -> None:  # fmt: skip
        self._device, self._more = cupy.cuda.Device(), (cooperative, ltoir)
        self.device, self.cooperative = self._device.id, cooperative
        self._begin = begin
        self._built: Future[tuple[Path, dict[str, str]]] | None = begin()
        self._kernels = {name: Kernel(self, name) for name in names}
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None

    @property
    def is_built(self) -> bool:
        """Whether its code is on the device, or compiled to be put there."""
        built = self._built
        return built is None or built.done()

    @property
    def loaded(self) -> _Loaded:
        """Its code on the device; waits for the compilation."""
        with self._lock:
            if self._loaded is None:
                with work_clock.compiling():
                    # If this fails, as on a full disk, the next launch retries.
                    built, self._built = self._built or self._begin(), None
                    path, symbols = built.result()
                    with self._device:
                        self._loaded = _Loaded(path, symbols, *self._more)
            return self._loaded

    def function(self, name: str) -> Kernel:
        """The kernel of a name expression."""
        if name not in self._kernels:
            raise KeyError(f"no kernel {name!r} in this module; it has {', '.join(self._kernels)}")
        return self._kernels[name]


def load(
    source: str, *, prologue: str = "", ltoir: Sequence[bytes | LinkedCode] = (), names: Sequence[str],
    cooperative: bool = False, title: str = "", checks: str = "",
) -> Module:  # fmt: skip
    """Kernels for CuPy's current device: out of this process's memory, else the cache on disk, else to be compiled."""
    device = cupy.cuda.Device()
    memo = (device.id, source, prologue, tuple(ltoir), tuple(names), cooperative, checks)
    module = _modules.get(memo)
    if module is None:
        # One at a time: two threads with the same request must not both build.
        with _lock:
            module = _modules.get(memo)
            if module is None:
                arch = f"sm_{device.compute_capability}"
                begin = functools.partial(begin_build, source, prologue, ltoir, names, arch, title, checks)
                with work_clock.compiling():
                    module = _modules[memo] = Module(begin, names, cooperative, ltoir)
    return module


@functools.cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_COMPILERS, thread_name_prefix="hpgraph-nvrtc")


def _after_fork() -> None:
    # A forked child has none of the threads, so their compilations never end there.
    _threads.cache_clear()
    _under_way.clear()


at_fork(after_in_child=_after_fork)


@functools.cache
def _translation() -> bytes:
    """Compilers of Python functions for the GPU: numba-cuda, and the modules that complete it."""
    lto = importlib.util.find_spec("hpgraph.semiring.lto")
    assert lto is not None and lto.origin is not None
    ours = (Path(file).read_bytes() for file in (lto.origin, patches.__file__))
    return b"".join((importlib.metadata.version("numba-cuda").encode(), *ours))


def cache_key(
    source: str, prologue: str, ltoir: Sequence[bytes | LinkedCode], names: Sequence[str], arch: str,
    compiler: str | None = None,
) -> str:  # fmt: skip
    """Fingerprint of all inputs of the machine code; ``compiler``: its version, by default the installed one's."""
    parts: Iterable[bytes] = (
        *(text.encode() for item in texts(source, prologue).items() for text in item), prologue.encode(),
        *(code if isinstance(code, bytes) else code.key.encode() for code in ltoir), *(name.encode() for name in names),
        arch.encode(), (compiler_version() if compiler is None else compiler).encode(),
        repr(patches.PATCHES["CS2R"][:3]).encode(),
        *((_translation(),) if any(isinstance(code, LinkedCode) for code in ltoir) else ()),
    )  # fmt: skip
    digest = hashlib.sha256()
    for part in parts:
        # Each part is prefixed with its length, so that parts cannot be confused.
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def build_cached(
    source: str, prologue: str = "", ltoir: Sequence[bytes | LinkedCode] = (), names: Sequence[str] = (),
    arch: str = "sm_90", title: str = "", checks: str = "",
) -> tuple[Path, dict[str, str]]:  # fmt: skip
    """The cubin in the cache on disk, compiled first if missing or damaged; needs no GPU."""
    return begin_build(source, prologue, ltoir, names, arch, title, checks).result()


def begin_build(
    source: str, prologue: str, ltoir: Sequence[bytes | LinkedCode], names: Sequence[str], arch: str, title: str,
    checks: str,
) -> Future[tuple[Path, dict[str, str]]]:  # fmt: skip
    """The same, compiled in a thread; where Python functions are linked, in this one, as Numba compiles them."""
    done: Future[tuple[Path, dict[str, str]]] = Future()
    if not ltoir:
        if requests is not None:
            requests.append(Request(source, prologue, tuple(names), title, checks))
        # Code compiled ahead is valid whichever compiler version made it.
        ready = ready_folder(cuda_extra())
        found = ready and _read(ready / f"{cache_key(source, prologue + checks, (), names, arch, '')}.kernels", True)
        if found:
            done.set_result(found)
            return done
    lasting = all(isinstance(code, bytes) or code.lasting for code in ltoir)
    folder = cache_folder.subfolder(config.cache_dir, "cuda") if lasting else cache_folder.process_folder()
    entry = folder / f"{cache_key(source, prologue + checks, ltoir, names, arch)}.kernels"

    def make() -> tuple[Path, dict[str, str]]:
        cubin, symbols = build(source, prologue, ltoir, names, arch, checks)
        try:
            return keep(entry, cubin, symbols), symbols
        except OSError:
            # The disk may be full or read-only; this process continues.
            return keep(cache_folder.process_folder() / entry.name, cubin, symbols), symbols

    with _lock:
        begun = _under_way.get(entry)
        if begun is not None and not begun.done():
            return begun
        found = _read(entry)
        if found is None:
            config.announce(f"{title or Path(source).stem} for the GPU")
            if not ltoir:
                begun = _under_way[entry] = _threads().submit(make)
                return begun
            found = make()
    done.set_result(found)
    return done


def keep(entry: Path, cubin: bytes, symbols: dict[str, str]) -> Path:
    """Write machine code and its entry into a folder; the path of the code."""
    digest = hashlib.sha256(cubin).hexdigest()
    # Machine code is stored under its own hash, which the entry holds: concurrent writers leave a consistent pair.
    path = entry.parent / f"{digest}.cubin"
    cache_folder.write(path, cubin)
    cache_folder.write_sealed(entry, json.dumps({"cubin": digest, "symbols": symbols}).encode())
    return path


def _read(entry: Path, installed: bool = False) -> tuple[Path, dict[str, str]] | None:
    content = cache_folder.read_sealed(entry, installed)
    if content is None:
        return None
    record = json.loads(content)
    path = entry.parent / f"{record['cubin']}.cubin"
    cubin = cache_folder.read(path, installed)
    whole = cubin is not None and hashlib.sha256(cubin).hexdigest() == record["cubin"]
    return (path, record["symbols"]) if whole else None
