"""Kernels compiled ahead, in an installed data package: its location, and its kernels of CuPy's own operations.

CuPy compiles a kernel, for a tenth of a second, for each new combination of operation and types in a process; a first
call may need fifty. The package (wheels/kernels.py) has those of the built-in algorithms for one version of CuPy.
Without it they are compiled side by side, in threads, from the moment a function is called: cupy_kernels.json.xz has
the texts that each function asks that version for.
"""

import contextlib
import functools
import hashlib
import importlib.util
import json
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from hpgraph.core import cache_folder, patches
from hpgraph.core.config import config


class CuPyRequest(NamedTuple):
    """Kernels that CuPy was to compile: the text, options but for the folders of headers, and those of a RawModule."""

    source: str
    options: tuple[str, ...]
    kernels: tuple[str, ...] = ()

    def key(self, version: str, arch: str) -> str:
        """Fingerprint for a version of CuPy and an architecture, which decide the machine code with it."""
        parts = (_FORM, self.source, *self.options, *self.kernels, version, arch)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


# Of a file: a line of JSON, the symbols of a RawModule's kernels, before the machine code.
_FORM = "2"
# While it is a list, the requests of this process are added to it.
requests: list[CuPyRequest] | None = None


@functools.cache
def ready_folder(extra: str) -> Path | None:
    """The package for a driver of the extra "cuda13" or "cuda12"; CUDA 12's runs by a newer driver, too."""
    for release in ("cu13", "cu12") if extra == "cuda13" else ("cu12",):
        spec = importlib.util.find_spec(f"hpgraph_kernels_{release}")
        if spec is not None and spec.origin is not None:
            return Path(spec.origin).parent
    return None


def serve_cupy(folder: Path) -> None:
    """Have CuPy take its kernels from a folder where they are there, and compile the others as ever."""
    patches.replace_cupys_compiler(lambda compiled: functools.partial(_found_or, compiled, folder))


def _found_or(compiled: Callable[..., Any], folder: Path, source: str, options: Any = (), **given: Any) -> Any:
    import cupy

    request = _request_of(source, options, given)
    if request is not None:
        if requests is not None:
            requests.append(request)
        arch = f"sm_{cupy.cuda.Device().compute_capability}"
        found = cache_folder.read_sealed(folder / f"{request.key(cupy.__version__, arch)}.cupy", True)
        if found is not None:
            symbols, _, code = found.partition(b"\n")
            module = cupy.cuda.function.Module()
            module.load(code)
            module._set_mapping(json.loads(symbols))
            return module
    return compiled(source, options, **given)


def _request_of(source: str, options: Any, given: dict[str, Any]) -> CuPyRequest | None:
    """What CuPy's compiler was called with, unless it is asked for more than machine code for this GPU."""
    more = any(given.get(name) for name in ("arch", "log_stream", "jitify", "to_ltoir"))
    if more or given.get("backend", "nvrtc") != "nvrtc" or "-DCUPY_USE_JITIFY" in options:
        return None
    kernels = tuple(given.get("name_expressions") or ())
    return CuPyRequest(source, tuple(option for option in options if not option.startswith("-I")), kernels)


# What CuPy makes of the options that its operations and its RawModules here give.
OPTIONS: dict[tuple[str, ...], tuple[str, ...]] = {("--std=c++17",): (), ("-std=c++17",): ("-std=c++17",)}
RECORD = Path(__file__).with_name("cupy_kernels.json.xz")
# Threads that compile for CuPy, beside those of the library's own kernels: some 40 ms a kernel, of which a call needs
# fifty at most.
_THREADS = 6
_compile: Callable[..., Any] | None = None
# By device and request; None once CuPy has asked for it.
_under_way: dict[tuple[int, CuPyRequest], Future[Any] | None] = {}


def compile_for_cupy() -> None:
    """Have CuPy take the kernels that `begin` has begun to compile, and compile the others as ever."""

    def replaced(compiled: Callable[..., Any]) -> Callable[..., Any]:
        global _compile
        _compile = compiled
        return functools.partial(_taken_or, compiled)

    patches.replace_cupys_compiler(replaced)


def _taken_or(compiled: Callable[..., Any], source: str, options: Any = (), **given: Any) -> Any:
    request = _request_of(source, options, given)
    if request is not None:
        import cupy

        key = cupy.cuda.runtime.getDevice(), request
        begun, _under_way[key] = _under_way.get(key), None
        # What no thread has begun is compiled here.
        if begun is not None and not begun.cancel() and begun.exception() is None:
            return begun.result()
    return compiled(source, options, **given)


@functools.cache
def begin(function: str) -> None:
    """Begin to compile what a function of a graph on the GPU is known to ask CuPy for; once a process."""
    import cupy
    from cupy._core import core

    if _compile is None or not RECORD.exists():
        return
    record, device = _record(), cupy.cuda.Device()
    if record["cupy"] != cupy.__version__ or function not in record["calls"]:
        return
    # Once a cache: what CuPy finds in its own is loaded when it is asked for.
    folder = cache_folder.subfolder(config.cache_dir, "cuda")
    marker = folder / f"{function}.{cupy.__version__}.sm_{device.compute_capability}.begun"
    if marker.exists():
        return
    with contextlib.suppress(OSError):
        cache_folder.write(marker, b"")

    def made(request: CuPyRequest) -> Any:
        with device:
            assert _compile is not None
            options, headers = core.assemble_cupy_compiler_options(OPTIONS[request.options]), core._get_header_source()
            # As CuPy asks for it, so that the next process finds it in CuPy's cache.
            return _compile(request.source, options, extra_source=headers, name_expressions=request.kernels or None)

    threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="hpgraph-cupy")
    for at in record["calls"][function]:
        source, options, kernels = record["texts"][at]
        request = CuPyRequest(source, tuple(options), tuple(kernels))
        if (device.id, request) not in _under_way:
            _under_way[device.id, request] = threads.submit(made, request)
    threads.shutdown(wait=False)


@functools.cache
def _record() -> Any:
    import lzma

    return json.loads(lzma.decompress(RECORD.read_bytes()))
