"""Programs with one monotone property, on the GPU: work space for the persistent kernel, and its launch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.formats import Bitmask
from hpgraph.kernels.runtime.cuda.persistent import (
    BATCH,
    BATCH_OF_MANY_ARCS,
    FRONTIER,
    LIMITS,
    THREADS,
    THREADS_OF_MANY_ARCS,
    TRACE,
    Record,
    Space,
    arcs_struct,
    heavy_pieces,
    kernel,
    local_limits,
    sources_struct,
    techniques_type,
    wave,
    weight_dtype,
)
from hpgraph.kernels.runtime.cuda.program import cuda_program
from hpgraph.kernels.runtime.cuda.structs import Layout
from hpgraph.kernels.runtime.cuda.takeover import Continued, on_host, takeover
from hpgraph.kernels.runtime.program import Beginning, bucket_bounds
from hpgraph.kernels.runtime.search import Search
from hpgraph.kernels.runtime.techniques import techniques

PRIORITY = Layout(
    "Priority<{Value}>", on="int", adapts="int", threshold="Value", delta="Value", ceiling="Value", largest="Value"
)
SPACE = Layout(
    "RelaxSpace<{Index}, {Value}>", header="*", queued="*", following_queued="*", waiting="*", least="*",
    queue=FRONTIER, following=FRONTIER, far="*", far_kept="*", trace=TRACE,
)  # fmt: skip
# Mean degree above which a graph's first search is expected to occupy the whole grid.
DENSE = 8


def threads_and_batch(seen: int, arcs: int, n: int, gpus: int = 1) -> tuple[int, int]:
    """Threads of a block, and arcs in flight per thread: more if supersteps exceed the grid's arcs in flight."""
    expected = seen or (arcs if arcs > DENSE * n else 0)
    many = expected > gpus * wave()
    return (THREADS_OF_MANY_ARCS, BATCH_OF_MANY_ARCS) if many else (THREADS, BATCH)


def least_of_sources(values: Any, beginning: Beginning | None, sources: Any) -> Any:
    """The least value of a source, where buckets begin; waits for the device if an array was given."""
    if beginning is None:
        return values[sources].min().item() if len(sources) else 0
    if isinstance(beginning.start, str):  # "id"
        return sources.min().item() if len(sources) else 0
    return beginning.fill if beginning.start is None else beginning.start


def priority_struct(
    values: Any, beginning: Beginning | None, sources: Any, delta: float | None, ceiling: float | None
) -> np.ndarray:
    """A struct ``Priority``: the first bucket begins at the least value of a source."""
    dtype = values.dtype
    least_source = 0 if delta is None else least_of_sources(values, beginning, sources)
    step, end, last = bucket_bounds(dtype, delta, ceiling, least_source)
    largest = np.inf if dtype.kind == "f" else np.iinfo(dtype).max
    adapts = delta is not None and techniques.adaptive_buckets
    return PRIORITY.of(Value=dtype)(
        np.int32(delta is not None or ceiling is not None), np.int32(adapts), end, step, last, dtype.type(largest)
    )


def relax(search: Search) -> tuple[Callable[[], np.ndarray], Any]:
    """Run a program that lowers one property in place; see `hpgraph.kernels.relaxation.delta_stepping`."""
    import cupy

    out, state, sources, limit = search.out, search.state, search.sources, search.limit
    program = cuda_program(search.code, weight_dtype(out))
    n, ids = out.shape[0], out.indices.dtype
    dtype = state[0].dtype
    pieces, row = heavy_pieces(out) * 2 * ids.itemsize, (n + 63) // 64
    bits = cupy.zeros((3, row), np.uint64)
    vertices = n * ids.itemsize
    space = Space(16, vertices, pieces, vertices, pieces, vertices, vertices)
    record = Record(n)
    bounds = priority_struct(state[0], search.beginnings[0], sources, search.delta, search.ceiling)
    masks = [bits.data.ptr + 8 * row * i for i in range(3)]
    device = cupy.cuda.runtime.getDevice()
    turn = takeover(out)
    waits = turn.waits()
    source, message = "delta_stepping.cuh", ", Program::Message"
    threads, batch = threads_and_batch(turn.arcs_a_superstep, len(out.indices), n)
    priority, layout = PRIORITY.of(Value=dtype), SPACE.of(Index=ids, Value=dtype)
    kernel(
        program, source, "relax", message, ids, out.data is None, techniques_type(batch), device, threads,
        (priority, layout),
    )(
        (
            program.struct(state, search.world, search.beginnings), np.int64(n), arcs_struct(out),
            sources_struct(sources), bounds, np.int64(limit),
            LIMITS.of()(*local_limits(techniques.local_block), *turn.limits(waits)),
            layout(space.header, *masks, *space.addresses, *record.fields),
        ),
    )  # fmt: skip
    endless = limit >= np.iinfo(np.int64).max
    if endless and not waits:
        return record, sources[:0]
    done, left = record.counts()
    if not left:
        turn.ended_here()
        return record, sources[:0]
    # The kernel swaps the two queues' bitmasks in every superstep.
    active = Bitmask(n, bits[done % 2] | bits[2]).to_indices()
    if done >= limit:
        return record, active
    # Imported on demand.
    from hpgraph.kernels.relaxation import cpu

    here = search._replace(
        out=turn.copy("out", out), beginnings=(None,) * len(state), sources=active.get(),
        limit=limit if endless else limit - done,
    )  # fmt: skip
    rows, active = on_host(state, lambda copies: cpu.relax(here._replace(state=copies)))
    return Continued(record, rows()), cupy.asarray(active)
