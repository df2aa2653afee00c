"""APPLY on the GPU: updates of vertices from their messages, sums over all, and the vertices that conditions choose."""

from functools import lru_cache
from typing import Any

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import Bitmask
from hpgraph.kernels.runtime.cuda.compile import Module
from hpgraph.kernels.runtime.cuda.persistent import load_program
from hpgraph.kernels.runtime.cuda.program import CUDAProgram, ShapedProgram, cuda_program
from hpgraph.kernels.runtime.program import ProgramCode

# As in apply.cuh.
SPAN, APPLY_THREADS = 2048, 256
APPLY = tuple(f"hpgraph::{name}<Program>" for name in ("apply", "contribute", "total", "settle"))


@lru_cache(maxsize=256)
def shaped_program(code: ProgramCode, weight: np.dtype | None, ids: np.dtype, replies: bool = False) -> ShapedProgram:
    """The C++ form of a program with a width, cached. ``weight``: type of the weights; None for a pattern."""
    return ShapedProgram(code, weight, ids, replies)


def _vertices(code: ProgramCode) -> tuple[CUDAProgram | ShapedProgram, Module]:
    """The C++ form of a program for work on vertices alone, and the kernels of apply.cuh."""
    program: Any = shaped_program(code, None, np.dtype(np.int32)) if code.is_shaped else cuda_program(code, None)
    return program, load_program(program, "apply.cuh", *APPLY)


def _grid(n: int) -> tuple[tuple[int], tuple[int]]:
    return (-(-n // SPAN),), (APPLY_THREADS,)


def _total(module: Module, rows: Any, sums: Any) -> None:
    """The rows' total."""
    module.function(APPLY[2])((1,), (APPLY_THREADS,), (rows, np.int64(len(rows)), sums))


def update(
    code: ProgramCode, state: tuple[Any, ...], messages: Any, received: Bitmask, world: tuple[Any, ...], step: int
) -> tuple[Bitmask, np.ndarray]:
    """Update receivers: the changed ones, the sums, and how many changed and were updated. Waits for the device."""
    n, (program, module) = received.n, _vertices(code)
    active = Bitmask.zeros(n, "cuda")
    rows = cupy.empty((-(-n // SPAN), code.aggregates + 2), np.float64)
    module.function(APPLY[0])(
        *_grid(n),
        (program.struct(state, world), np.int64(n), messages, received.words, np.int64(step), active.words, rows),
    )
    sums = cupy.empty(rows.shape[1], np.float64)
    _total(module, rows, sums)
    return active, sums.get()  # the host decides by it whether to continue


def aggregate(code: ProgramCode, state: tuple[Any, ...], world: tuple[Any, ...]) -> np.ndarray:
    """The sums of `aggregate` over all vertices, without an update. Waits for the device."""
    sums = cupy.empty(code.aggregates + 2, np.float64)
    aggregate_to(code, state, world, sums)
    return sums.get()[: code.aggregates]


def aggregate_to(code: ProgramCode, state: tuple[Any, ...], world: tuple[Any, ...], sums: Any) -> None:
    """The same, left on the device: in `sums`, with two zeros for the vertices that changed and were updated."""
    n, (program, module) = len(state[0]), _vertices(code)
    state = flat(code, state, cupy.zeros(len(code.cells), np.uint64))
    rows = cupy.empty((-(-n // SPAN), code.aggregates + 2), np.float64)
    module.function(APPLY[1])(*_grid(n), (program.struct(state, world), np.int64(n), rows))
    _total(module, rows, sums)


def starting(code: ProgramCode, state: tuple[Any, ...], world: tuple[Any, ...]) -> Bitmask:
    """The vertices that satisfy `starts`."""
    chosen = code.choosing
    shown = cupy.zeros(len(chosen.cells), np.uint64)
    if chosen.cells:
        shown.set(held(chosen, (0, *world)))
    found = masked(chosen, flat(chosen, state, shown), len(state[0]))
    assert found is not None
    return ~found


def masked(code: ProgramCode, state: tuple[Any, ...], n: int) -> Bitmask | None:
    """Vertices masked by `cond`; ``state``: as of `flat`."""
    if code.cond is None:
        return None
    words = cupy.empty((n + 63) // 64, np.uint64)
    program, module = _vertices(code)
    world = tuple(dtype.type(0) for _, dtype in code.parameters)  # `cond` does not read it
    module.function(APPLY[3])(
        (-(-(words.size * 64) // APPLY_THREADS),), (APPLY_THREADS,), (program.struct(state, world), np.int64(n), words)
    )
    return Bitmask(n, words, validate=False)


def held(code: ProgramCode, values: tuple[Any, ...]) -> np.ndarray:
    """Content of the array of cells: superstep and parameters, eight bytes each."""
    made = np.zeros(len(code.cells), np.uint64)
    for i, (value, dtype) in enumerate(zip(values, code.cells, strict=True)):
        made[i : i + 1].view(dtype)[0] = value
    return made


def flat(code: ProgramCode, state: tuple[Any, ...], world: Any) -> tuple[Any, ...]:
    """The state as kernels take it: flattened properties, views of the cells in `world`, arrays that functions mark."""
    cells = (world[i : i + 1].view(dtype)[:1] for i, dtype in enumerate(code.cells))
    notes = (cupy.zeros(len(state[0]), dtype) for dtype in code.notes)
    return (*(values.reshape(-1) if values.ndim > 1 else values for values in state), *cells, *notes)
