"""Multi-source traversal on several GPUs, each with the whole graph: one persistent kernel on each.

The rows that pulls search are divided among them; see multi_source_team.cuh. Results are written on the first GPU,
which has all bits.
"""

from typing import Any

import numpy as np

from hpgraph.core.device import check_memory, cupy
from hpgraph.kernels.runtime.cuda.multi_gpu_barrier import SHARED, Launch, Parts
from hpgraph.kernels.runtime.cuda.part import MAX_PARTS, Part
from hpgraph.kernels.runtime.cuda.persistent import kernel, weight_dtype
from hpgraph.kernels.runtime.cuda.program import cuda_program
from hpgraph.kernels.runtime.cuda.structs import Layout
from hpgraph.kernels.runtime.program import Beginning, ProgramCode
from hpgraph.kernels.runtime.search import Search, Starts
from hpgraph.kernels.traversal import JointOutcome
from hpgraph.kernels.traversal import cuda_sources as one_gpu

# As in source_pull.cuh.
_GRAIN = 64
ROW_SHARE = Layout("RowShare", part="i64", parts="i64", tiles="i64", pushed="i64").of()
FRONTS = Layout("TeamFronts", of=("*", 2 * MAX_PARTS)).of()
# Measured on two H200: bandwidth of writes into the other GPU's memory in bytes a second, and seconds of a barrier
# between them.
LINK, MEETING = 3.7e11, 2e-5


def may_share(code: ProgramCode, beginnings: tuple[Beginning | None, ...], sources: int) -> bool:
    """Whether rows can be divided: all messages of a superstep are equal, and one launch takes all sources."""
    return 1 < sources <= one_gpu.MAX_SOURCES and one_gpu.may_wait(code, beginnings)


def traverse_sources_together(search: Search, parts: Parts) -> JointOutcome:
    """As `traverse_sources`, on several GPUs; the properties lie on the first part's device, and are overwritten."""
    code, state, beginnings, world, starts = (
        search.code, search.state, search.beginnings, search.world, search.sources,
    )  # fmt: skip
    first_rows = parts.all[0].rows.out
    n, ids = parts.n, first_rows.indices.dtype
    program = cuda_program(code, weight_dtype(first_rows))
    words = one_gpu.words_of(starts.k)
    # Words are written in pairs.
    row = -(-n * words // 2) * 16
    fronts = [parts.shared(f"{name} of many sources", row) for name in ("front", "next")]
    tiles = -(-n // (32 * _GRAIN))
    scratch = one_gpu.work_space(n, starts.k, ids) + sum(values.nbytes for values in state)
    what = "what a GPU that shares searches from many sources works in"
    works: list[one_gpu.Work] = []
    kept: list[Any] = []
    flat = tuple(values.T.reshape(-1) for values in state)

    def prepare(part: Part, own: Any, trace: bytes) -> Launch:
        rows, number = part.rows, part.number
        if number:
            # The driver call is slow: space that fitted once is assumed to fit again.
            parts.once(("room for sources", number, starts.k, scratch), lambda: check_memory(scratch, what, "cuda"))
        own_starts = Starts(part.sources(starts.vertices), part.sources(starts.source), starts.k)
        own_search = search._replace(out=rows.out, in_=rows.in_, sources=own_starts)
        work = one_gpu.Work(own_search, True, fronts=(fronts[0][number], fronts[1][number]))
        samples = one_gpu.samples_of(flat, beginnings)
        # Only the first GPU writes results; the others get scratch arrays.
        copies = tuple(values if number == 0 else cupy.empty(values.shape, values.dtype) for values in flat)
        works.append(work)
        kept.append((own_starts, samples, copies))
        launch = kernel(
            program, "multi_source_team.cuh", "traverse_sources_together", f"{words}, {one_gpu.chosen()}", ids,
            rows.out.data is None, rows.device, one_gpu.threads_for(rows.out),
            (*one_gpu.layouts(ids), ROW_SHARE, FRONTS, *SHARED), part.beside,
        )  # fmt: skip
        pushed = _arcs_worth_sharing(work.push_seconds, 8 * words / LINK, n, len(parts))
        share = ROW_SHARE(number, len(parts), -(-(tiles - number) // len(parts)) * _GRAIN, pushed)
        return Launch(launch, (
            program.struct(copies, world, beginnings), program.struct(samples, world, beginnings), *work.arguments,
            share, FRONTS(*fronts[0], *fronts[1]),
        ))  # fmt: skip

    record = parts.run(prepare)
    work, (_, samples, _) = works[0], kept[0]
    work.write_histories(flat, samples)
    unfinished = search.limit < n and work.record.counts()[1] > 0

    def rows() -> np.ndarray:
        record.wait()
        return work.rows()

    return JointOutcome(rows, unfinished)


def _arcs_worth_sharing(arc: float, row: float, n: int, parts: int) -> int:
    """Number of arcs above which a push is divided, from the seconds for an arc and for a remote write of a row.

    Each GPU skips the arcs to the others' rows, and writes its own rows to the others: each vertex once, and at most as
    many as there are arcs.
    """
    barrier = MEETING / (1 - 1 / parts)
    return int(min((barrier + n * row) / arc, barrier / (arc - row) if arc > row else np.inf))
