"""Programs whose first message wins, on one GPU or several: work space of the persistent kernel, and its launch."""

import contextlib
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import CSR, attached
from hpgraph.kernels.runtime.cuda import persistent
from hpgraph.kernels.runtime.cuda.compile import Kernel
from hpgraph.kernels.runtime.cuda.multi_gpu_barrier import POST, SHARED, DividedRecord, Launch, Parts, message_dtype
from hpgraph.kernels.runtime.cuda.part import MAX_PARTS, Elements, Part
from hpgraph.kernels.runtime.cuda.program import cuda_program
from hpgraph.kernels.runtime.cuda.structs import Layout
from hpgraph.kernels.runtime.cuda.takeover import Continued, Takeover, on_host, takeover
from hpgraph.kernels.runtime.direction import PULL
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.kernels.runtime.search import Search
from hpgraph.kernels.runtime.techniques import techniques
from hpgraph.kernels.structure.empty_rows import empty_rows

POLICY = Layout(
    "Policy", alpha="i64", beta="i64", forced="int", limit="i64", arcs="i64", receivers="i64", local=persistent.LIMITS
).of()
SPACE = Layout(
    "TraversalSpace<{Index}>", no_in_arcs="*", settled="*", active="*", next="*", queue=persistent.FRONTIER,
    following=persistent.FRONTIER,
)  # fmt: skip
TRACE = persistent.TRACE.of()
# Blocks of the cluster that searches graphs of small frontiers, as in cluster_traversal.cuh, and threads of each: with
# more or fewer, a level of a road network takes longer on an H200. Mean degree above which a graph is dense, as there.
CLUSTER, CLUSTER_THREADS, DENSE = 16, 512, 8
# Supersteps from which the cluster gains more than the host's wait at the end costs, and mean arcs of a superstep up to
# which it is faster than the grid on an H200; the same of dense graphs, where few warps may find most of a frontier.
NARROW, NARROW_IF_DENSE = (16, 16384), (256, 4096)
# CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, without which a cluster has up to 8 blocks.
_NON_PORTABLE_CLUSTER = 14
EXCHANGE = Layout(
    "TraversalExchange<{Index}, {Message}>", mail=("*", 3 * MAX_PARTS), fronts=("*", 2 * MAX_PARTS), post=POST
)


def policy_struct(
    n: int, arcs: int, receivers: int, alpha: float, beta: float, forced: int, limit: int, local: bool,
    leaving: tuple[Any, ...],
) -> bytes:  # fmt: skip
    """A struct ``Policy``, its shares turned into numbers of all arcs and vertices."""
    # An infinite threshold becomes a very large one.
    bounds = [np.int64(min(share, 1 << 62)) for share in (alpha * arcs, np.ceil(beta * n))]
    return POLICY(*bounds, np.int32(forced), limit, arcs, receivers, *persistent.local_limits(local), *leaving)


@attached
def _policy(
    out: CSR, receivers: int, alpha: float, beta: float, forced: int, limit: int, local: bool, waits: bool
) -> bytes:
    n, leaving = out.shape[0], takeover(out).limits(waits)
    return policy_struct(n, len(out.indices), receivers, alpha, beta, forced, limit, local, leaving)


@attached
def _plan(out: CSR, code: ProgramCode, chosen: str) -> persistent.Plan:
    layouts = POLICY, SPACE.of(Index=out.indices.dtype)
    return persistent.plan(out, code, "traversal.cuh", "traverse", chosen, layouts)


@cache
def _has_clusters(device: int) -> bool:
    """Whether a device may run a cluster of 16 blocks: those of servers, from compute capability 9.0."""
    return int(cupy.cuda.Device(device).compute_capability) // 10 in (9, 10)


@attached
def _plan_in_cluster(out: CSR, code: ProgramCode, chosen: str) -> persistent.Plan:
    return persistent.plan(
        out, code, "cluster_traversal.cuh", "traverse_in_cluster", chosen, (POLICY,), CLUSTER_THREADS, CLUSTER
    )


@cache
def _allow_cluster(kernel: Kernel) -> None:
    cupy.cuda.driver.funcSetAttribute(kernel.raw.kernel.ptr, _NON_PORTABLE_CLUSTER, 1)


def _in_cluster(plan: persistent.Plan, search: Search, turn: Takeover, policy: bytes) -> persistent.Record | None:
    """Search by one cluster of blocks, and wait; None if it is being compiled, or a frontier was too large for it."""
    kernel: Kernel = plan.launch.func  # type: ignore[assignment]
    if not kernel.is_built:
        return None
    n = search.out.shape[0]
    space, record = persistent.Space((n + 31) // 32 * 4), persistent.Record(n)
    arguments = (
        plan.program.struct(search.state, search.world, search.beginnings), n, plan.arcs,
        persistent.sources_struct(search.sources), policy, np.uintp(empty_rows(search.in_).words.data.ptr),
        np.uintp(space.addresses[0]), TRACE(*record.fields),
    )  # fmt: skip
    with contextlib.suppress(cupy.cuda.driver.CUDADriverError):
        # A part of a GPU may have no room for a cluster.
        _allow_cluster(kernel)
        plan.launch(arguments)
        turn.fits_cluster = not record.counts()[1]
        return record if turn.fits_cluster else None
    turn.fits_cluster = False
    return None


def traverse(search: Search) -> Callable[[], np.ndarray]:
    """See `hpgraph.kernels.traversal.Traversal`; the trace stays on the device until its rows are asked for."""
    out, in_, forced, local = search.out, search.in_, search.forced, techniques.local_block
    chosen = persistent.techniques_type()
    plan = _plan(out, search.code, chosen)
    n, arcs, width, turn = out.shape[0], len(out.indices), out.indices.itemsize, takeover(out)
    # A push lists pieces of rows of `out`, a pull those of `in_`.
    receiving = persistent.row_lengths(in_)
    pieces = max(plan.pieces, receiving.pieces) * 2 * width
    # A push in two passes stores the messages in the next queue.
    words, vertices = (n + 31) // 32 * 4, n * max(width, search.code.message.itemsize)
    space, record = persistent.Space(words, words, words, vertices, pieces, vertices, pieces), persistent.Record(n)
    # A pull searches all unsettled rows, so it is never thin.
    waits = turn.waits() and forced != PULL
    policy = _policy(out, receiving.filled, search.alpha, search.beta, forced, search.limit, local, waits)
    # A restarted search needs values that the kernel initializes.
    restarts = forced != PULL and None not in search.beginnings and local
    dense = arcs > DENSE * n
    least, most = NARROW_IF_DENSE if dense else NARROW
    narrow = turn.supersteps >= least and arcs <= turn.supersteps * most
    # Compiled in a thread, beside the kernel of the first search, unless code of Python functions is to be linked.
    may_be = not plan.pieces and (narrow or not (dense or plan.program.ltoir))
    if may_be and restarts and turn.fits_cluster and _has_clusters(cupy.cuda.runtime.getDevice()):
        beside = _plan_in_cluster(out, search.code, chosen)
        found = _in_cluster(beside, search, turn, policy) if narrow and not waits else None
        if found is not None:
            return found
    plan.launch(
        (
            plan.program.struct(search.state, search.world, search.beginnings), n, plan.arcs,
            persistent.arcs_struct(in_), persistent.sources_struct(search.sources), policy,
            plan.layout(empty_rows(in_).words.data.ptr, *space.addresses), TRACE(*record.fields), space.header,
        )
    )  # fmt: skip
    if not waits:
        return record
    done, queued = record.counts()
    if not queued:
        turn.end_on_gpu()
        return record
    address, _ = record.passed()
    queue = space.array(address, queued, out.indices.dtype)
    settled = space.array(space.addresses[0], words, np.uint8)
    return Continued(record, _on_host(turn, search._replace(sources=queue), settled, done))


def _on_host(turn: Takeover, search: Search, settled: np.ndarray, done: int) -> Callable[[], np.ndarray]:
    """Run the supersteps after the first `done` on the host."""
    # Imported on demand.
    from hpgraph.kernels.traversal import cpu

    out, in_ = search.out, search.in_
    bits = np.full((out.shape[0] + 63) // 64 * 8, 0xFF, np.uint8)
    bits[: len(settled)] = settled
    sends = turn.copy("out", out)
    gathers = sends if in_ is out else turn.copy("in", in_)
    host_search = search._replace(out=sends, in_=gathers)
    return on_host(
        search.state, lambda copies: cpu.go_on(host_search._replace(state=copies), bits.view(np.uint64), done)
    )


def traverse_divided(search: Search, parts: Parts, apart: bool = False) -> DividedRecord:
    """`traverse` on several GPUs: one kernel on each; the properties lie on the first part's device."""
    code, beginnings = search.code, search.beginnings
    first_rows = parts.all[0].rows.out
    program, ids, pattern = (
        cuda_program(code, persistent.weight_dtype(first_rows)),
        first_rows.indices.dtype,
        first_rows.data is None,
    )
    own, exchange = SPACE.of(Index=ids), EXCHANGE.of(Index=ids, Message=code.message)
    chosen = persistent.techniques_type()
    policy = policy_struct(
        parts.n, parts.arcs, parts.n, search.alpha, search.beta, search.forced, search.limit, False, parts.limits
    )

    def found(part: Part) -> tuple[Any, bytes, bytes]:
        space, shared = parts.once(
            ("traversal", part.number, code.message), lambda: _divided_space(parts, part, ids, code.message)
        )
        launch = persistent.kernel(
            program, "traversal.cuh", "traverse_divided", chosen, ids, pattern, part.rows.device,
            layouts=(POLICY, own, exchange, *SHARED), beside=part.beside,
        )  # fmt: skip
        return launch, own(*space), exchange(*shared)

    def prepare(part: Part, state: tuple[Elements, ...], trace: bytes) -> Launch:
        rows = part.rows
        launch, space, shared = parts.once(("traversal", part.number, program, chosen), lambda: found(part))
        arguments = (
            program.struct(state, search.world, beginnings), np.int64(parts.n), rows.sending, rows.gathering,
            persistent.sources_struct(part.sources(search.sources)), policy, space, trace, shared,
        )  # fmt: skip
        return Launch(launch, arguments)

    return parts.run(prepare, search.state, beginnings, apart=apart)


def _divided_space(parts: Parts, part: Part, ids: np.dtype, message: np.dtype) -> tuple[list[int], list[int]]:
    """The fields of a part's structs ``TraversalSpace`` and ``TraversalExchange``."""
    row, rows, me = (parts.n + 63) // 64 * 8, part.rows, part.number
    vertices = (rows.last - rows.first) * ids.itemsize
    pieces = max(persistent.heavy_pieces(rows.out), persistent.heavy_pieces(rows.in_)) * 2 * ids.itemsize
    settled, before = parts.shared("settled", row), parts.shared("settled before", row)
    messages = parts.shared(f"messages of {message.itemsize} bytes", parts.n * message.itemsize)
    active, following = parts.shared("active", row), parts.shared("next", row)
    sizes = {"queue": vertices, "pieces": pieces, "following": vertices, "following pieces": pieces}
    queues = [part.room(f"{name} of traversals", size) for name, size in sizes.items()]
    own = [rows.no_in_arcs.data.ptr - rows.first // 8, settled[me], active[me], following[me], *queues]
    post = parts.post(part, message_dtype(ids, message), places=2)
    return own, [*settled, *before, *messages, *active, *following, *post]
