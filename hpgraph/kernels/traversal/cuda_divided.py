"""Programs whose first message wins, on several GPUs at once: one persistent kernel on each, and their launch."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cuda.multi_gpu_barrier import POST, SHARED, DividedRecord, Launch, Parts, message_dtype
from hpgraph.kernels.runtime.cuda.part import MAX_PARTS, Elements, Part
from hpgraph.kernels.runtime.cuda.persistent import (
    FRONTIER,
    heavy_pieces,
    kernel,
    sources_struct,
    techniques_type,
    weight_dtype,
)
from hpgraph.kernels.runtime.cuda.program import cuda_program
from hpgraph.kernels.runtime.cuda.structs import Layout
from hpgraph.kernels.runtime.program import Beginning, ProgramCode
from hpgraph.kernels.traversal.cuda import POLICY, policy_struct

SPACE = Layout(
    "DividedTraversalSpace<{Index}, {Message}>", no_in_arcs="*", mail=("*", 3 * MAX_PARTS),
    fronts=("*", 2 * MAX_PARTS), queue=FRONTIER, following=FRONTIER, post=POST,
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
    apart: bool = False,
) -> DividedRecord:
    """Run a program whose first message wins; see `hpgraph.kernels.traversal.Traversal`.

    ``state`` (tuple of CuPy arrays of length n): the properties, on the first part's device; changed in place.
    """
    some = parts.all[0].rows.out
    program, ids = cuda_program(code, weight_dtype(some)), some.indices.dtype
    layout, chosen = SPACE.of(Index=ids, Message=code.message), techniques_type()
    policy = policy_struct(parts.n, parts.arcs, alpha, beta, forced, limit, False, parts.limits)
    n = np.int64(parts.n)

    def found(part: Part) -> tuple[Any, np.ndarray]:
        space = parts.once(("traversal", part.number, code.message), lambda: _space(parts, part, ids, code.message))
        launch = kernel(
            program, "divided_traversal.cuh", "traverse_divided", "", ids, some.data is None, chosen, part.rows.device,
            layouts=(POLICY, layout, *SHARED), beside=part.beside,
        )  # fmt: skip
        return launch, layout(*space)

    def prepare(part: Part, own: tuple[Elements, ...], trace: np.ndarray) -> Launch:
        rows = part.rows
        launch, space = parts.once(("traversal", part.number, program, chosen), lambda: found(part))
        mine = program.struct(own, world, beginnings)
        starts = sources_struct(part.sources(sources))
        return Launch(launch, (mine, n, rows.sending, rows.gathering, starts, policy, space, trace))

    return parts.run(prepare, state, beginnings, apart=apart)


def _space(parts: Parts, part: Part, ids: np.dtype, message: np.dtype) -> list[int]:
    """The fields of a struct ``DividedTraversalSpace``."""
    row, rows = (parts.n + 63) // 64 * 8, part.rows
    vertices = (rows.last - rows.first) * ids.itemsize
    pieces = max(heavy_pieces(rows.out), heavy_pieces(rows.in_)) * 2 * ids.itemsize
    messages = parts.shared(f"messages of {message.itemsize} bytes", parts.n * message.itemsize)
    mail = [*parts.shared("settled", row), *parts.shared("settled before", row), *messages]
    fronts = [*parts.shared("active", row), *parts.shared("next", row)]
    sizes = {"queue": vertices, "pieces": pieces, "following": vertices, "following pieces": pieces}
    queues = [part.room(f"{name} of traversals", size) for name, size in sizes.items()]
    return [
        rows.no_in_arcs.data.ptr - rows.first // 8, *mail, *fronts, *queues,
        *parts.post(part, message_dtype(ids, message), places=2),
    ]  # fmt: skip
