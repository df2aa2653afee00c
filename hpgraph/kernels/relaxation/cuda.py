"""Programs with one monotone property, on one GPU or several: work space of the persistent kernel, and its launch."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import CSR, Bitmask, attached
from hpgraph.kernels.runtime.cuda import persistent
from hpgraph.kernels.runtime.cuda.multi_gpu_barrier import POST, SHARED, Launch, Parts, message_dtype
from hpgraph.kernels.runtime.cuda.part import Elements, Part
from hpgraph.kernels.runtime.cuda.program import cuda_program
from hpgraph.kernels.runtime.cuda.structs import Layout
from hpgraph.kernels.runtime.cuda.takeover import Continued, on_host, takeover
from hpgraph.kernels.runtime.program import Beginning, ProgramCode, bucket_bounds
from hpgraph.kernels.runtime.search import Search
from hpgraph.kernels.runtime.techniques import techniques

PRIORITY = Layout(
    "Priority<{Value}>", on="int", adapts="int", threshold="Value", delta="Value", ceiling="Value", largest="Value"
)
SPACE = Layout(
    "RelaxSpace<{Index}, {Value}>", queued="*", following_queued="*", waiting="*", least="*", queue=persistent.FRONTIER,
    following=persistent.FRONTIER, far="*", far_kept="*",
)  # fmt: skip
EXCHANGE = Layout("RelaxExchange<{Index}, {Message}>", listed="*", post=POST)
LIMITS, TRACE = persistent.LIMITS.of(), persistent.TRACE.of()
SOURCE, MESSAGE = "delta_stepping.cuh", "Program::Message"
# Mean degree above which a graph's first search is expected to occupy the whole grid.
DENSE = 8
# Mean degree up to which a warp of a short queue looks ahead: elsewhere too many arcs are repeated (on chained cliques
# half of the time more).
SPARSE = 4
# Threads, and arcs of each in flight, without buckets and with them. Against 1,024 threads with three arcs, which have
# too few registers, widest paths take 0.98 of the time on kron21 and on social22 and 0.96 on urand23, shortest paths
# 0.96, 0.94 and 0.92 (H100; as without buckets 0.97, 0.98 and 0.94).
OF_MANY_ARCS = {False: (896, 3), True: (768, 4)}


def threads_and_batch(ordered: bool, seen: int, arcs: int, n: int, gpus: int = 1) -> tuple[int, int]:
    """Threads of a block and arcs in flight, with buckets or not: more if supersteps exceed those of the grid."""
    expected = seen or (arcs if arcs > DENSE * n else 0)
    return OF_MANY_ARCS[ordered] if expected > gpus * persistent.wave() else (persistent.THREADS, persistent.BATCH)


def least_of_sources(values: Any, beginning: Beginning | None, sources: Any) -> Any:
    """The least value of a source, where buckets begin; waits for the device if an array was given."""
    if beginning is None:
        return values[sources].min().item() if len(sources) else 0
    if isinstance(beginning.start, str):  # "id"
        return sources.min().item() if len(sources) else 0
    return beginning.fill if beginning.start is None else beginning.start


def priority_struct(
    values: Any, beginning: Beginning | None, sources: Any, delta: float | None, ceiling: float | None
) -> bytes:
    """A struct ``Priority``: the first bucket begins at the least value of a source."""
    least_source = 0 if delta is None else least_of_sources(values, beginning, sources)
    return _priority(values.dtype, least_source, delta, ceiling, techniques.adaptive_buckets)


@lru_cache(maxsize=256)
def _priority(dtype: np.dtype, least: Any, delta: float | None, ceiling: float | None, adapts: bool) -> bytes:
    step, end, last = bucket_bounds(dtype, delta, ceiling, least)
    largest = np.inf if dtype.kind == "f" else np.iinfo(dtype).max
    ordered = delta is not None or ceiling is not None
    return PRIORITY.of(Value=dtype)(ordered, adapts and delta is not None, end, step, last, largest)


@attached
def _plan(out: CSR, code: ProgramCode, chosen: str, threads: int) -> persistent.Plan:
    ids, dtype = out.indices.dtype, code.message
    sparse = threads == persistent.THREADS and len(out.indices) <= SPARSE * out.shape[0]
    layouts = PRIORITY.of(Value=dtype), SPACE.of(Index=ids, Value=dtype)
    return persistent.plan(out, code, SOURCE, "relax", f"{MESSAGE}, {chosen}, {int(sparse)}", layouts, threads)


def relax(search: Search) -> tuple[Callable[[], np.ndarray], Any]:
    """Run a program that lowers one property in place; see `hpgraph.kernels.relaxation.delta_stepping`."""
    out, state, sources, limit = search.out, search.state, search.sources, search.limit
    n, arcs, width, turn = out.shape[0], len(out.indices), out.indices.itemsize, takeover(out)
    threads, batch = threads_and_batch(search.delta is not None, turn.arcs_a_superstep, arcs, n)
    plan = _plan(out, search.code, persistent.techniques_type(batch), threads)
    row, pieces, vertices = (n + 63) // 64 * 8, plan.pieces * 2 * width, n * width
    space = persistent.Space(row, row, row, 16, vertices, pieces, vertices, pieces, vertices, vertices, cleared=3)
    record, waits = persistent.Record(n), turn.waits()
    bounds = priority_struct(state[0], search.beginnings[0], sources, search.delta, search.ceiling)
    plan.launch(
        (
            plan.program.struct(state, search.world, search.beginnings), n, arcs, plan.arcs,
            persistent.sources_struct(sources), bounds, limit,
            LIMITS(*persistent.local_limits(techniques.local_block), *turn.limits(waits)),
            plan.layout(*space.addresses), TRACE(*record.fields), space.header,
        ),
    )  # fmt: skip
    endless = limit >= np.iinfo(np.int64).max
    if endless and not waits:
        return record, sources[:0]
    done, left = record.counts()
    if not left:
        turn.end_on_gpu()
        return record, sources[:0]
    active = _active(n, [space.on_device(address, row // 8, np.uint64) for address in space.addresses[:3]], done)
    if done >= limit:
        return record, active
    # Imported on demand.
    from hpgraph.kernels.relaxation import cpu

    on_cpu = search._replace(
        out=turn.copy("out", out), beginnings=(None,) * len(state), sources=active.get(),
        limit=limit if endless else limit - done,
    )  # fmt: skip
    rows, active = on_host(state, lambda copies: cpu.relax(on_cpu._replace(state=copies)))
    return Continued(record, rows), cupy.asarray(active)


def _masks(bits: Any) -> list[int]:
    """Addresses of the three bitmasks of a launch."""
    return [int(row.data.ptr) for row in bits]


def _active(n: int, bits: Any, done: int) -> Any:
    """The vertices that are near or far after `done` supersteps, each of which swaps the two queues' bitmasks."""
    return Bitmask(n, bits[done % 2] | bits[2]).to_indices()


def relax_divided(search: Search, parts: Parts) -> tuple[Callable[[], np.ndarray], Any]:
    """`relax` on several GPUs: one kernel on each; the property is on the first part's device."""
    code, state, sources, beginnings = search.code, search.state, search.sources, search.beginnings
    first_rows, dtype = parts.all[0].rows.out, state[0].dtype
    program, ids = cuda_program(code, persistent.weight_dtype(first_rows)), first_rows.indices.dtype
    layouts = PRIORITY.of(Value=dtype), SPACE.of(Index=ids, Value=dtype), EXCHANGE.of(Index=ids, Message=code.message)
    bounds = priority_struct(state[0], beginnings[0], sources, search.delta, search.ceiling)
    limits = LIMITS(*persistent.local_limits(False), *parts.limits)
    ordered = search.delta is not None
    threads, batch = threads_and_batch(ordered, parts.arcs_a_superstep, parts.arcs, parts.n, parts.gpus)
    all_bits = []

    def prepare(part: Part, own: tuple[Elements, ...], trace: bytes) -> Launch:
        rows, bits = part.rows, cupy.zeros((3, (parts.n + 63) // 64), np.uint64)
        all_bits.append(bits)
        space, exchange = parts.once(
            ("relaxation", part.number, code.message), lambda: _divided_space(parts, part, ids, code.message)
        )
        launch = persistent.kernel(
            program, SOURCE, "relax_divided", f"{MESSAGE}, {persistent.techniques_type(batch)}", ids,
            first_rows.data is None, rows.device, threads, (*layouts, *SHARED), part.beside,
        )  # fmt: skip
        arguments = (
            program.struct(own, search.world, beginnings), np.int64(parts.n), np.int64(parts.arcs), rows.sending,
            persistent.sources_struct(part.sources(sources)), bounds, np.int64(search.limit), limits,
            layouts[1](*_masks(bits), *space), trace, layouts[2](*exchange),
        )  # fmt: skip
        return Launch(launch, arguments)

    record = parts.run(prepare, state, beginnings, whole=True)
    none = sources[:0]
    if search.limit >= np.iinfo(np.int64).max:
        return record, none
    done, left = record.counts()
    if not left:
        return record, none
    active = []
    for part, bits in zip(parts, all_bits, strict=True):
        with part.here:
            active.append(_active(parts.n, bits, done).get())
    return record, cupy.asarray(np.concatenate(active))


def _divided_space(parts: Parts, part: Part, ids: np.dtype, message: np.dtype) -> tuple[list[int], list[int]]:
    """The fields of a part's structs ``RelaxSpace``, after the bits, and ``RelaxExchange``."""
    vertices = (part.rows.last - part.rows.first) * ids.itemsize
    pieces = persistent.heavy_pieces(part.rows.out) * 2 * ids.itemsize
    sizes = {
        "least": 16, "queue": vertices, "pieces": pieces, "following": vertices, "following pieces": pieces,
        "far": vertices, "far kept": vertices, "listed": parts.n * ids.itemsize,
    }  # fmt: skip
    *own, listed = (part.room(f"{name} of relaxations", size) for name, size in sizes.items())
    return own, [listed, *parts.post(part, message_dtype(ids, message))]
