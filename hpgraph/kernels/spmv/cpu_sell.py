"""The product over SELL on the CPU: a row's entries lie 32 slots apart, and 32 rows are interleaved."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from hpgraph.formats import SELL
from hpgraph.formats.sell import SLICE
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.progress import LOOPS
from hpgraph.kernels.spmv.cpu_fold import convert, is_allowed, is_set, join, message
from hpgraph.semiring.jit import call


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def _pull_slices(gather, reduce, accum, terminal, identity, one, state, order, slices, indices, data, active, mask,
                 complement, out, received):
    """Slices in parallel; each row is folded by one thread, from first entry to last."""
    for part in prange(slices.size - 1):
        for lane in range(min(SLICE, order.size - part * SLICE)):
            v = np.int64(order[part * SLICE + lane])
            if mask.size and not is_allowed(mask, complement, v):
                continue
            value, found = identity, False
            for j in range(slices[part] + lane, slices[part + 1], SLICE):
                u = np.int64(indices[j])
                if u < 0:
                    break
                if active.size and not is_set(active, u):
                    continue
                value = join(reduce, value, message(gather, state, indices, data, j, v, one))
                found = True
                if terminal is not None and call(terminal, value):
                    break
            if accum is None:
                out[v] = value
            elif found:
                out[v] = convert(value, call(accum, out[v], value))
            if received.size:
                received[v] = found


def pull_slices(
    rows: SELL, gather: Any, operators: tuple[Any, ...], state: tuple[Any, ...], out: Any, active: Any, mask: Any,
    complement: bool, received: Any,
) -> None:  # fmt: skip
    """`hpgraph.kernels.spmv.cpu.pull` from a SELL."""
    none = np.empty(0, np.uint64)
    noted = np.zeros(0 if received is None else len(out), np.bool_)
    _pull_slices(
        gather, *operators, state, rows.order, rows.slices, rows.indices, rows.data,
        none if active is None else active.words, none if mask is None else mask.words, bool(complement), out, noted,
    )  # fmt: skip
    if received is not None:
        received.words[:] = type(received).from_bool(noted).words
