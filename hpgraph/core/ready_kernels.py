"""Kernels compiled ahead, in an installed data package: its location, and its kernels of CuPy's own operations.

CuPy compiles a kernel, for a tenth of a second, for each new combination of operation and types in a process; a first
call may need fifty. The package (wheels/kernels.py) has those of the built-in algorithms for one version of CuPy;
without it `hpgraph.core.cupy_kernels` compiles them.
"""

import functools
import hashlib
import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from hpgraph.core import cache_folder, patches


class CuPyRequest(NamedTuple):
    """A request to CuPy's compiler: source, options without header folders, and those of a RawModule."""

    source: str
    options: tuple[str, ...]
    kernels: tuple[str, ...] = ()

    def key(self, version: str, arch: str) -> str:
        """Fingerprint for a version of CuPy and an architecture, which decide the machine code with it."""
        parts = (_FORM, self.source, *self.options, *self.kernels, version, arch)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


# Version of the file format: a line of JSON with the symbols of a RawModule's kernels, then the machine code.
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
    """Make CuPy use the kernels in a folder, and compile others as usual."""
    patches.replace_cupys_compiler(lambda compiled: functools.partial(_stored_or, compiled, folder))


def _stored_or(compiled: Callable[..., Any], folder: Path, source: str, options: Any = (), **given: Any) -> Any:
    import cupy

    request = request_of(source, options, given)
    if request is not None:
        if requests is not None:
            requests.append(request)
        arch = f"sm_{cupy.cuda.Device().compute_capability}"
        cubin = cache_folder.read_sealed(folder / f"{request.key(cupy.__version__, arch)}.cupy", True)
        if cubin is not None:
            symbols, _, code = cubin.partition(b"\n")
            module = cupy.cuda.function.Module()
            module.load(code)
            module._set_mapping(json.loads(symbols))
            return module
    return compiled(source, options, **given)


def request_of(source: str, options: Any, given: dict[str, Any]) -> CuPyRequest | None:
    """The request of a call of CuPy's compiler; None if it asks for more than machine code for this GPU."""
    more = any(given.get(name) for name in ("arch", "log_stream", "jitify", "to_ltoir"))
    if more or given.get("backend", "nvrtc") != "nvrtc" or "-DCUPY_USE_JITIFY" in options:
        return None
    kernels = tuple(given.get("name_expressions") or ())
    return CuPyRequest(source, tuple(option for option in options if not option.startswith("-I")), kernels)
