"""CuPy's own kernels, compiled side by side from the moment a function of a graph on the GPU is called.

cupy_kernels.json.xz has the texts that each function asks one version of CuPy for (`python -m wheels.kernels list`).
"""

import contextlib
import functools
import json
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from hpgraph.core import cache_folder, patches
from hpgraph.core.config import config
from hpgraph.core.ready_kernels import CuPyRequest, request_of

# NVRTC options that CuPy derives from those of its operations and of RawModules.
OPTIONS: dict[tuple[str, ...], tuple[str, ...]] = {("--std=c++17",): (), ("-std=c++17",): ("-std=c++17",)}
RECORD = Path(__file__).with_name("cupy_kernels.json.xz")
# Threads that compile CuPy's kernels, some 40 ms each and up to fifty a call, beside those for the library's own. NVRTC
# holds a lock for most of that time: more threads gain nothing, and delay the library's larger kernels.
_THREADS = 2
_compile: Callable[..., Any] | None = None
# By device and request; None once CuPy has requested the kernel.
_under_way: dict[tuple[int, CuPyRequest], Future[Any] | None] = {}


def compile_for_cupy() -> None:
    """Make CuPy use the kernels whose compilation `begin` started, and compile others itself."""

    def replaced(compiled: Callable[..., Any]) -> Callable[..., Any]:
        global _compile
        _compile = compiled
        return functools.partial(_taken_or, compiled)

    patches.replace_cupys_compiler(replaced)


def _taken_or(compiled: Callable[..., Any], source: str, options: Any = (), **given: Any) -> Any:
    request = request_of(source, options, given)
    if request is not None:
        import cupy

        key = cupy.cuda.runtime.getDevice(), request
        begun, _under_way[key] = _under_way.get(key), None
        # A compilation that no thread has started runs here.
        if begun is not None and not begun.cancel() and begun.exception() is None:
            return begun.result()
    return compiled(source, options, **given)


@functools.cache
def begin(function: str) -> None:
    """Begin to compile CuPy's kernels that a function is known to use on the GPU; once a process."""
    import cupy
    from cupy._core import core

    if _compile is None or not RECORD.exists():
        return
    record, device = _record(), cupy.cuda.Device()
    if record["cupy"] != cupy.__version__ or function not in record["calls"]:
        return
    # Kernels in CuPy's own cache are loaded on request, so nothing is compiled twice for one cache.
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
            # With CuPy's arguments, so that the next process finds the kernel in CuPy's cache.
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
