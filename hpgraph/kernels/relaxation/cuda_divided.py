"""Programs with one monotone property, on several GPUs: one persistent kernel on each, and their launch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.formats import Bitmask
from hpgraph.kernels.relaxation.cuda import PRIORITY, priority_struct, threads_and_batch
from hpgraph.kernels.runtime.cuda.multi_gpu_barrier import POST, SHARED, Launch, Parts, message_dtype
from hpgraph.kernels.runtime.cuda.part import Elements, Part
from hpgraph.kernels.runtime.cuda.persistent import (
    FRONTIER,
    LIMITS,
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

SPACE = Layout(
    "DividedRelaxSpace<{Index}, {Message}>", queued="*", following_queued="*", waiting="*", least="*",
    queue=FRONTIER, following=FRONTIER, far="*", far_kept="*", listed="*", post=POST,
)  # fmt: skip


def relax(
    code: ProgramCode,
    parts: Parts,
    state: tuple[Any, ...],
    beginnings: tuple[Beginning | None, ...],
    world: tuple[Any, ...],
    sources: Any,
    *,
    delta: float | None,
    ceiling: float | None,
    limit: int,
) -> tuple[Callable[[], np.ndarray], Any]:
    """Run a program that lowers one property in place; see `hpgraph.kernels.relaxation.delta_stepping`.

    ``state`` (tuple of CuPy arrays of length n): the property, on the first part's device; changed in place.
    """
    import cupy

    some, dtype = parts.all[0].rows.out, state[0].dtype
    program, ids = cuda_program(code, weight_dtype(some)), some.indices.dtype
    layout, priority = SPACE.of(Index=ids, Message=code.message), PRIORITY.of(Value=dtype)
    bounds = priority_struct(state[0], beginnings[0], sources, delta, ceiling)
    limits = LIMITS.of()(*local_limits(False), *parts.limits)
    threads, batch = threads_and_batch(parts.arcs_a_superstep, parts.arcs, parts.n, parts.gpus)
    row, all_bits = (parts.n + 63) // 64, []

    def prepare(part: Part, own: tuple[Elements, ...], trace: np.ndarray) -> Launch:
        rows, bits = part.rows, cupy.zeros((3, row), np.uint64)
        all_bits.append(bits)
        masks = [bits.data.ptr + 8 * row * i for i in range(3)]
        space = parts.once(("relaxation", part.number, code.message), lambda: _space(parts, part, ids, code.message))
        launch = kernel(
            program, "divided_relaxation.cuh", "relax_divided", ", Program::Message", ids, some.data is None,
            techniques_type(batch), rows.device, threads, (priority, layout, *SHARED), part.beside,
        )
        arguments = (
            program.struct(own, world, beginnings), np.int64(parts.n), np.int64(parts.arcs), rows.sending,
            sources_struct(part.sources(sources)), bounds, np.int64(limit), limits,
            layout(*masks, *space), trace,
        )  # fmt: skip
        return Launch(launch, arguments)

    record = parts.run(prepare, state, beginnings, whole=True)
    none = sources[:0]
    if limit >= np.iinfo(np.int64).max:
        return record, none
    done, left = record.counts()
    if not left:
        return record, none
    # The kernels swap the two queues' bitmasks in every superstep.
    active = []
    for part, bits in zip(parts, all_bits, strict=True):
        with part.here:
            active.append(Bitmask(parts.n, bits[done % 2] | bits[2]).to_indices().get())
    return record, cupy.asarray(np.concatenate(active))


def _space(parts: Parts, part: Part, ids: np.dtype, message: np.dtype) -> list[int]:
    """The fields of a struct ``DividedRelaxSpace`` behind the bits."""
    vertices = (part.rows.last - part.rows.first) * ids.itemsize
    pieces = heavy_pieces(part.rows.out) * 2 * ids.itemsize
    sizes = {
        "least": 16, "queue": vertices, "pieces": pieces, "following": vertices, "following pieces": pieces,
        "far": vertices, "far kept": vertices, "listed": parts.n * ids.itemsize,
    }  # fmt: skip
    return [
        *[part.room(f"{name} of relaxations", size) for name, size in sizes.items()],
        *parts.post(part, message_dtype(ids, message)),
    ]
