"""Compiles and launches the CUDA kernels of the formats.

They are few and small, so CuPy's compiler and its disk cache are used; the kernels of products, which are specialized
by users' functions, have their own loader in a higher layer.
"""

import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np

from hpgraph.core.device import require_cupy

P = ParamSpec("P")
R = TypeVar("R")

THREADS = 256
_NULL = np.uint64(0)
_INCLUDE = re.compile(r'^#include "([^"]+)"$', re.MULTILINE)


def on_its_device(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator: run the function on the GPU of its first argument, if it is on one."""

    @functools.wraps(function)
    def placed(*args: P.args, **kwargs: P.kwargs) -> R:
        array: Any = args[0]
        if isinstance(array, np.ndarray):
            return function(*args, **kwargs)
        with array.device:
            return function(*args, **kwargs)

    return placed


def source(file: str) -> str:
    """The text of a ``.cuh`` file of this folder, with its includes: CuPy's cache does not track other files."""
    text = Path(__file__).with_name(file).read_text(encoding="utf-8")
    return _INCLUDE.sub(lambda found: source(found[1]).replace("#pragma once\n", ""), text)


@functools.cache
def _kernel(file: str, expression: str, gpu: int) -> Any:
    """A kernel compiled for the current GPU; CuPy keeps the machine code on disk."""
    module = require_cupy().RawModule(code=source(file), options=("-std=c++17",), name_expressions=(expression,))
    return module.get_function(expression)


def launch(file: str, expression: str, blocks: int, *args: Any) -> None:
    """Run a kernel template, for instance "fill_slab<int, float>", in blocks of `THREADS`; None is a null pointer."""
    kernel = _kernel(file, f"hpgraph::{expression}", require_cupy().cuda.runtime.getDevice())
    kernel((blocks,), (THREADS,), tuple(_NULL if argument is None else argument for argument in args))


def strided(items: int) -> int:
    """Number of blocks for a grid-stride kernel: enough to fill any GPU, not more."""
    return min(-(-items // THREADS), 1 << 16)
