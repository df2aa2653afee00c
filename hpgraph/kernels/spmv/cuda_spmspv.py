"""SpMSpV on the GPU: the product that `spmspv.cuh` is compiled for, and its launches."""

from typing import Any

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import CSR, Bitmask
from hpgraph.kernels.runtime.cuda.multiprocessors import multiprocessors
from hpgraph.kernels.runtime.cuda.row_bins import BLOCK, make_bins
from hpgraph.kernels.runtime.cuda.specialization import DeviceGather, Specialization, contiguous, launch, specialize
from hpgraph.kernels.runtime.cuda.structs import struct
from hpgraph.kernels.spmv.cuda import PULL_ROWS, pull_rows
from hpgraph.semiring.c_types import c_type
from hpgraph.semiring.cuda import INCLUDE

PUSHES = ("push_atomic", "push_expand", "push_write")
# Blocks of a multiprocessor in flight: enough to fill any GPU; blocks loop over the stretches.
_BLOCKS_PER_PROCESSOR = 8


def is_order_free(reduce: Any, dtype: np.dtype[Any]) -> bool:
    """Whether reduction is bitwise independent of order: not of floats' sums, nor complex numbers, without atomics."""
    return dtype.kind in "biu" or (reduce.idempotent and dtype.kind != "c")


def specialize_sorted(reduce: Any, message_dtype: np.dtype[Any]) -> Specialization:
    """`specialize` for messages sorted by target, as rows: entry u is message u."""
    message = c_type(message_dtype)
    source = f"""{INCLUDE}struct Gather {{
    const {message}* messages;
    __device__ {message} operator()(long long u, {message}, long long) const {{ return messages[u]; }}
}};
"""
    gather = DeviceGather(source, (), (message_dtype,), message_dtype, message_dtype)
    return specialize(gather, reduce, None, None, np.dtype(np.int64), (message_dtype,), message_dtype, False)


def push(
    rows: CSR, gather: Any, reduce: Any, state: tuple[Any, ...], frontier: Any, out: Any, *,
    mask: Bitmask | None = None, complement: bool = False, accum: Any = None,
) -> Any:  # fmt: skip
    """Push messages along the out-arcs of a frontier; see `hpgraph.kernels.spmv.cpu_spmspv.push`.

    Waits for the device: the host needs the number of targets. Results are bitwise reproducible, except for ``any``,
    which may take another message each time. Takes memory for one message a vertex; if messages must be sorted (sums of
    floats), some 40 bytes for each out-arc of the frontier.
    """
    n = rows.shape[1]
    state = contiguous(state)
    frontier = cupy.ascontiguousarray(frontier, dtype=rows.indices.dtype)
    if not len(frontier):
        return cupy.empty(0, rows.indices.dtype)
    special = specialize(
        gather, reduce, accum, None if rows.data is None else rows.data.dtype, rows.indices.dtype,
        tuple(array.dtype for array in state), out.dtype, False,
    )  # fmt: skip
    offsets = cupy.zeros(len(frontier) + 1, np.int64)
    offsets[1:] = cupy.cumsum(rows.indptr[frontier + 1] - rows.indptr[frontier])
    pushed = struct(frontier, offsets, len(frontier), rows.indptr, rows.indices, rows.data)
    order_free = is_order_free(reduce, out.dtype)
    # If messages are sorted, there may be no atomic operation to compile.
    module = special.load("spmspv.cuh", *(PUSHES if order_free else PUSHES[1:]))
    arguments = special.gather.arguments(state)
    blocks = _BLOCKS_PER_PROCESSOR * multiprocessors()
    permitted = None if mask is None else mask.words
    if order_free:
        values = cupy.full(n, reduce.identity_for(out.dtype), out.dtype)
        seen = Bitmask.zeros(n, "cuda")
        sets = struct(None, permitted, seen.words, int(complement))
        launch(module, "push_atomic", blocks, arguments, pushed, sets, values)
        touched = seen.to_indices()
    else:
        # Waits: the number of messages is needed to allocate them.
        arcs = int(offsets[-1])
        if not arcs:
            return cupy.empty(0, rows.indices.dtype)
        targets = cupy.empty(arcs, rows.indices.dtype)
        messages = cupy.empty(arcs, out.dtype)
        sets = struct(None, permitted, None, int(complement))
        nowhere = rows.indices.dtype.type(n)
        launch(module, "push_expand", blocks, arguments, pushed, sets, nowhere, targets, messages)
        values = cupy.empty(n, out.dtype)
        touched = _reduce_sorted(targets, messages, reduce, values)
    touched = touched.astype(rows.indices.dtype, copy=False)
    launch(module, "push_write", -(-len(touched) // BLOCK), touched, np.int64(len(touched)), values, out)
    return touched


def _reduce_sorted(targets: Any, messages: Any, reduce: Any, values: Any) -> Any:
    """Reduce the messages of each target below len(values), in order, into `values`; returns those targets."""
    # CuPy's sort is stable, so that a target's messages stay in the order of the frontier.
    order = cupy.argsort(targets)
    targets = targets[order]
    allowed = int(cupy.searchsorted(targets, cupy.asarray([len(values)], targets.dtype))[0])
    if not allowed:
        return cupy.empty(0, np.int64)
    targets, order = targets[:allowed], order[:allowed]
    first = cupy.ones(allowed, np.bool_)
    first[1:] = targets[1:] != targets[:-1]
    starts = cupy.flatnonzero(first)
    touched = targets[starts].astype(np.int64)
    indptr = cupy.append(starts, allowed).astype(np.int64)
    special = specialize_sorted(reduce, values.dtype)
    tail = struct(touched, indptr, order, None, 0)
    module = special.load("spmv.cuh", *PULL_ROWS)
    pull_rows(
        module, special.gather.arguments((messages,)), tail, make_bins(indptr), struct(None, None, None, 0), values
    )
    return touched
