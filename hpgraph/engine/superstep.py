"""The general loop: product over the active set, update, next active set; one superstep after another.

Serves any program: several properties, any monoid, sums over all vertices. Floating-point sums are combined by pulls
alone, in a fixed order, so that they repeat bit for bit.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.device import array_module, device_of, kernels
from hpgraph.formats import Bitmask
from hpgraph.kernels.runtime.functions import functions_of
from hpgraph.semiring import get_monoid

if TYPE_CHECKING:
    from hpgraph.engine.declarations import Declarations
    from hpgraph.engine.direction import Direction
    from hpgraph.kernels.runtime.program import ProgramCode

PUSH, PULL = 0, 1


def supersteps(
    declared: Declarations,
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
    declared : Declarations
        What the program declares.
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
    everyone = declared.activity == "all"
    # Where any message will do, a vertex receives once in the whole run.
    settled = None if everyone or not code.reduce.ends_on_anything else Bitmask.from_indices(sources, n)
    stop = declared.functions["converged"]
    if everyone and n and code.cond is None:
        # Supersteps that nothing but their sums decides have a loop of their own.
        done = backend.sweeps(code, rows_of, state, tuple(world.values()), stop, limit)
        if done is not None:
            steps, stopped, sums, nanoseconds = done
            world.update(zip(declared.aggregators, sums, strict=True))
            table = np.empty((steps, 4), np.int64)
            # Time is that of each superstep, or of all where they follow each other without the host.
            table[:, :3] = PULL, n, rows_of.nnz
            table[:, 3] = nanoseconds if np.ndim(nanoseconds) else nanoseconds // max(steps, 1)
            everyone_active = sources if len(sources) == n else xp.arange(n, dtype=sources.dtype)
            return table, sources[:0] if stopped else everyone_active
    message = xp.empty(n, code.message)
    active = Bitmask.full(n, device=device) if everyone else Bitmask.from_indices(sources, n)
    following, received = Bitmask.zeros(n, device=device), Bitmask.zeros(n, device=device)
    count = n if everyone else int(sources.size)
    may_push = not everyone and (code.reduce.idempotent or code.message.kind != "f")
    rows: list[tuple[int, int, int, int]] = []
    if code.aggregate is not None and n:
        world.update(zip(declared.aggregators, backend.aggregate(code, state, tuple(world.values())), strict=True))
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
            if everyone and code.cond is not None:
                # A product leaves out whom `cond` keeps from receiving; they are updated all the same, by no message.
                message.fill(code.reduce.identity_for(code.message))
            backend.pull_messages(code, rows_of, state, None if everyone else active, message, received)
        if code.edge_cond is not None and not everyone:
            along, senders = (arcs.sending, frontier) if push else (rows_of, active)
            received = _let_through(code, along, state, senders, received)
        if settled is not None:
            received = received.and_not(settled)
            settled = settled | received
        sums, changed, _ = backend.apply(
            code, state, message, active if everyone else received, tuple(world.values()), step, following
        )
        world.update(zip(declared.aggregators, sums, strict=True))
        rows.append((PUSH if push else PULL, count, looked, time.perf_counter_ns() - began))
        if not everyone:
            active, following = following, active
            count = changed
        if stop is not None:
            with backend.in_python():
                stopped = stop(code.world(step, *world.values()))  # type: ignore[call-arg]
            if stopped:
                count = 0
                break
        if everyone and changed == 0:
            count = 0
    left = active.to_indices() if count else sources[:0]
    return np.array(rows, np.int64).reshape(-1, 4), left


def _let_through(code: ProgramCode, arcs: Any, state: tuple[Any, ...], senders: Any, received: Bitmask) -> Bitmask:
    """Those among `received` to whom `edge_cond` let a message through; the product took the others' for neutral.

    `senders` is an array of vertices, if `arcs` lists whom they send to, or a bitmask, if `arcs` lists who gathers.
    """
    n = received.n
    device = device_of(*state)
    backend, lor = kernels(device), get_monoid("lor")
    passes = array_module(device).zeros(n, np.uint8)
    passable = functions_of(code).edge_cond
    if isinstance(senders, Bitmask):
        backend.pull(arcs, passable, lor, state, passes, active=senders, mask=received)
    else:
        backend.push(arcs, passable, lor, state, senders, passes, mask=received)
    return Bitmask.from_bool(passes != 0)
