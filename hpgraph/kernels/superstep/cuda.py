"""One superstep on the GPU: messages along arcs (`push_messages`, `pull_messages`), then APPLY."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.formats import CSR, HYB, Bitmask
from hpgraph.kernels.runtime.cuda.compile import Module
from hpgraph.kernels.runtime.cuda.persistent import (
    load_program,
)
from hpgraph.kernels.runtime.cuda.program import cuda_program
from hpgraph.kernels.runtime.functions import functions_of
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.kernels.spmv.cuda import pull
from hpgraph.kernels.spmv.cuda_spmspv import push

SPAN, APPLY_THREADS = 2048, 256


def _grid(n: int) -> tuple[tuple[int], tuple[int]]:
    return (-(-n // SPAN),), (APPLY_THREADS,)


def _sum(module: Module, rows: Any, sums: Any) -> None:
    """The rows' total."""
    module.function("hpgraph::total<Program>")((1,), (APPLY_THREADS,), (rows, np.int64(len(rows)), sums))


def apply(
    code: ProgramCode,
    state: tuple[Any, ...],
    message: Any,
    received: Bitmask,
    world: tuple[Any, ...],
    step: int,
    active: Bitmask,
) -> tuple[np.ndarray, int, int]:
    """Update the vertices that received a message; see `hpgraph.kernels.superstep.cpu_apply`. Waits for the device."""
    import cupy

    program = cuda_program(code, None)
    n = len(message)
    rows = cupy.empty((-(-n // SPAN), code.aggregates + 2), np.float64)
    module = load_program(program, "apply.cuh", *_APPLY)
    module.function("hpgraph::apply<Program>")(
        *_grid(n),
        (program.struct(state, world), np.int64(n), message, received.words, np.int64(step), active.words, rows),
    )
    sums = cupy.empty(rows.shape[1], np.float64)
    _sum(module, rows, sums)
    total = sums.get()  # Python decides by it whether to go on
    return total[: code.aggregates], int(total[-2]), int(total[-1])


_APPLY = tuple(f"hpgraph::{name}<Program>" for name in ("apply", "contribute", "total", "settle"))


def aggregate(code: ProgramCode, state: tuple[Any, ...], world: tuple[Any, ...]) -> np.ndarray:
    """The sums of `aggregate` over all vertices as they are. Waits for the device."""
    import cupy

    sums = cupy.empty(code.aggregates + 2, np.float64)
    aggregate_to(code, state, world, sums)
    return sums.get()[: code.aggregates]


def aggregate_to(code: ProgramCode, state: tuple[Any, ...], world: tuple[Any, ...], sums: Any) -> None:
    """The same, left on the device.

    Parameters
    ----------
    code : ProgramCode
        Of a program that aggregates.
    state : tuple of CuPy arrays
    world : tuple of scalars
    sums : float64 CuPy array
        Written: the sums, and two zeros, the vertices that changed and were updated.
    """
    import cupy

    program = cuda_program(code, None)
    n = len(state[0])
    rows = cupy.empty((-(-n // SPAN), code.aggregates + 2), np.float64)
    module = load_program(program, "apply.cuh", *_APPLY)
    module.function("hpgraph::contribute<Program>")(*_grid(n), (program.struct(state, world), np.int64(n), rows))
    _sum(module, rows, sums)


def pull_messages(
    code: ProgramCode, rows: CSR | HYB, state: tuple[Any, ...], active: Bitmask | None, message: Any, received: Bitmask
) -> None:
    """Every vertex that may receive combines the messages of its active in-neighbours; see `hpgraph.kernels.cpu`."""
    offer = functions_of(code).offer
    pull(rows, offer, code.reduce, state, message, active=active, received=received, **_closed(code, state))


def push_messages(
    code: ProgramCode, arcs: CSR, state: tuple[Any, ...], frontier: Any, message: Any, received: Bitmask
) -> None:
    """The active vertices send along the arcs that leave them; see `hpgraph.kernels.cpu`."""
    message.fill(code.reduce.identity_for(code.message))
    touched = push(arcs, functions_of(code).offer, code.reduce, state, frontier, message, **_closed(code, state))
    received.words[:] = Bitmask.from_indices(touched, received.n).words


def _closed(code: ProgramCode, state: tuple[Any, ...]) -> dict[str, Any]:
    """The mask of a product: whoever `cond` keeps from receiving is left out."""
    import cupy

    if code.cond is None:
        return {}
    n = len(state[0])
    words = cupy.empty((n + 63) // 64, np.uint64)
    program = cuda_program(code, None)
    world = tuple(dtype.type(0) for _, dtype in code.parameters)  # `cond` does not read it
    module = load_program(program, "apply.cuh", *_APPLY)
    module.function("hpgraph::settle<Program>")(
        (-(-(words.size * 64) // APPLY_THREADS),), (APPLY_THREADS,), (program.struct(state, world), np.int64(n), words)
    )
    return {"mask": Bitmask(n, words, validate=False), "complement": True}
