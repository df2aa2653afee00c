"""Programs whose first message wins, on several GPUs at once: one persistent kernel on each, and their launch."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cuda.meeting import POST, SHARED, Parts, letter_dtype
from hpgraph.kernels.runtime.cuda.part import MOST_PARTS, Elements, Part
from hpgraph.kernels.runtime.cuda.persistent import (
    FRONTIER,
    TRACE,
    Record,
    heavy_pieces,
    kernel,
    local_limits,
    sources_struct,
    techniques_type,
    weight_dtype,
)
from hpgraph.kernels.runtime.cuda.program import cuda_program
from hpgraph.kernels.runtime.cuda.structs import Layout
from hpgraph.kernels.runtime.program import Beginning, ProgramCode
from hpgraph.kernels.traversal.cuda import POLICY

SPACE = Layout(
    "DividedTraversalSpace<{Index}, {Message}>", header="*", unheard="*", settled="*", fronts=("*", 2 * MOST_PARTS),
    queue=FRONTIER, following=FRONTIER, post=POST, trace=TRACE,
)  # fmt: skip


def traverse(
    code: ProgramCode,
    parts: Parts,
    state: tuple[Any, ...],
    beginnings: tuple[Beginning | None, ...],
    world: tuple[Any, ...],
    sources: Any,
    *,
    alpha: float,
    beta: float,
    forced: int,
    limit: int,
) -> Callable[[], np.ndarray]:
    """Run a program whose first message wins; see `hpgraph.kernels.traversal.cpu.traverse`.

    Parameters
    ----------
    code : ProgramCode
        Its functions read nothing of vertices but their ids, but for `update` and `cond`.
    parts : Parts
    state : tuple of CuPy arrays of length n
        The properties, on the first part's device; changed in place.
    beginnings, world, sources, alpha, beta, forced, limit
        As on one GPU.

    Returns
    -------
    callable
        Fetches the trace rows.
    """
    some = parts.all[0].rows.out
    program, ids = cuda_program(code, weight_dtype(some)), some.indices.dtype
    layout = SPACE.of(Index=ids, Message=code.message)
    policy = _policy(parts.n, parts.arcs, alpha, beta, forced, limit, parts.told)

    def prepare(part: Part, own: tuple[Elements, ...], record: Record, team: np.ndarray) -> Callable[[], None]:
        rows = part.rows
        space = parts.once(("traversal", part.number, code.message), lambda: _space(parts, part, ids, code.message))
        launch = kernel(
            program, "divided_traversal.cuh", "traverse_divided", "", ids, some.data is None, techniques_type(),
            rows.device, layouts=(POLICY, layout, *SHARED), beside=part.beside,
        )
        arguments = (
            program.struct(own, world, beginnings), np.int64(parts.n), rows.sending, rows.gathering,
            sources_struct(part.sources(sources)), policy, layout(part.header, *space, *record.fields), team,
        )  # fmt: skip
        return lambda: launch(arguments)

    return parts.run(prepare, state, beginnings)


@lru_cache(maxsize=256)
def _policy(n: int, arcs: int, alpha: float, beta: float, forced: int, limit: int, told: int) -> np.ndarray:
    bounds = [np.int64(min(share, 1 << 62)) for share in (alpha * arcs, np.ceil(beta * n))]
    return POLICY(*bounds, np.int32(forced), limit, arcs, *local_limits(False), np.int64(1 << 62), np.int32(0), told)


def _space(parts: Parts, part: Part, ids: np.dtype, message: np.dtype) -> list[int]:
    """The fields of a struct ``DividedTraversalSpace`` between the header and the trace."""
    row, rows = (parts.n + 63) // 64 * 8, part.rows
    vertices = (rows.last - rows.first) * ids.itemsize
    pieces = max(heavy_pieces(rows.out), heavy_pieces(rows.in_)) * 2 * ids.itemsize
    fronts = [*parts.shared("active", row), *parts.shared("next", row)]
    sizes = {"queue": vertices, "pieces": pieces, "following": vertices, "following pieces": pieces}
    queues = [part.room(f"{name} of traversals", size) for name, size in sizes.items()]
    return [
        rows.unheard.data.ptr - rows.first // 8, part.room("settled", row), *fronts, *queues,
        *parts.post(part, letter_dtype(ids, message)),
    ]  # fmt: skip
