"""The general loop: product over the active set, update, next active set; one superstep after another.

Serves any program: several properties, any monoid, sums over all vertices. Floating-point sums are combined by pulls
alone, in a fixed order, so that they repeat bit for bit.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.device import array_module, device_of, kernels
from hpgraph.engine.program import function_of
from hpgraph.formats import Bitmask

if TYPE_CHECKING:
    from hpgraph.engine.direction import Direction
    from hpgraph.engine.program import VertexProgram
    from hpgraph.kernels.program import ProgramCode

PUSH, PULL = 0, 1


def supersteps(
    kind: type[VertexProgram],
    code: ProgramCode,
    arcs: Any,
    state: tuple[Any, ...],
    world: dict[str, Any],
    sources: Any,
    policy: Direction,
    limit: int,
) -> tuple[np.ndarray, Any]:
    """Run a program superstep by superstep.

    Parameters
    ----------
    kind : subclass of VertexProgram
        The program.
    code : ProgramCode
        Its code.
    arcs : object
        Has ``product``, the arcs by the vertex that gathers, and ``sending``, by the vertex that sends.
    state : tuple of arrays
        The properties; changed in place.
    world : dict
        Parameters and sums; the sums are changed in place.
    sources : array of vertex ids
        Who is active at first.
    policy : Direction
        Push or pull.
    limit : int
        Supersteps at the most.

    Returns
    -------
    rows : int64 array of shape (supersteps, 4)
        The trace.
    active : array of vertex ids
        Who was still active at the end.
    """
    rows_of = arcs.product
    n = rows_of.shape[0]
    device = device_of(*state)
    backend, xp = kernels(device), array_module(device)
    everyone = kind.activity == "all"
    stop = function_of(kind, "converged")
    message = xp.empty(n, code.message)
    active = Bitmask.full(n, device=device) if everyone else Bitmask.from_indices(sources, n)
    following, received = Bitmask.zeros(n, device=device), Bitmask.zeros(n, device=device)
    count = n if everyone else int(sources.size)
    may_push = not everyone and (code.reduce.idempotent or code.message.kind != "f")
    rows: list[tuple[int, int, int, int]] = []
    if code.aggregate is not None:
        world.update(zip(kind.aggregators, backend.aggregate(code, state, tuple(world.values())), strict=True))
    while count and len(rows) < limit:
        began = time.perf_counter_ns()
        step = len(rows) + 1
        frontier = None if everyone or not may_push or policy.mode == "pull" else active.to_indices()
        looked = rows_of.nnz if frontier is None else int(arcs.sending.degrees[frontier].sum())
        push = frontier is not None and (policy.mode == "push" or looked <= policy.alpha * rows_of.nnz)
        if push:
            backend.push_messages(code, arcs.sending, state, frontier, message, received)
        else:
            looked = rows_of.nnz
            backend.pull_messages(code, rows_of, state, None if everyone else active, message, received)
        sums, changed, _ = backend.apply(
            code, state, message, active if everyone else received, tuple(world.values()), step, following
        )
        world.update(zip(kind.aggregators, sums, strict=True))
        rows.append((PUSH if push else PULL, count, looked, time.perf_counter_ns() - began))
        if not everyone:
            active, following = following, active
            count = changed
        if stop is not None and stop(code.world(step, *world.values())):  # type: ignore[call-arg]
            count = 0
            break
        if everyone and changed == 0:
            count = 0
    left = active.to_indices() if count else sources[:0]
    return np.array(rows, np.int64).reshape(-1, 4), left
