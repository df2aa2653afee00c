"""The general loop: messages along arcs, update, next frontier; one superstep after another.

Serves any program: several properties, any monoid, sums over all vertices. A superstep costs what its frontier costs.
Floating-point sums are combined in a fixed order, so that they repeat bit for bit.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.core.device import array_module, device_of
from hpgraph.formats import Bitmask, Frontier
from hpgraph.kernels.backend import kernels

if TYPE_CHECKING:
    from hpgraph.engine.arcs import Arcs
    from hpgraph.engine.declarations import Declarations
    from hpgraph.engine.direction import Direction
    from hpgraph.kernels.runtime.program import ProgramCode
    from hpgraph.kernels.superstep import Supersteps

PUSH, PULL = 0, 1


def supersteps(
    declared: Declarations,
    code: ProgramCode,
    arcs: Arcs,
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
    arcs : Arcs
        What its messages go along.
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
    n = len(state[0])
    everyone = declared.activity == "all"
    if everyone and n and code.cond is None:
        # Supersteps that nothing but their sums decides have a loop of their own.
        done = _sweeps(declared, code, arcs, state, world, sources, limit)
        if done is not None:
            return done
    device = device_of(*state)
    backend = kernels(device)
    # Where any message will do, a vertex receives once in the whole run.
    settled = Bitmask.from_indices(sources, n) if code.reduce.ends_on_anything and not everyone else None
    steps: Supersteps = backend.Supersteps(code, state, settled, sources.dtype)
    frontier = Frontier(n, device=device) if everyone or len(sources) == n else Frontier(n, ids=sources)
    if code.aggregate is not None and n:
        world.update(zip(declared.aggregators, backend.aggregate(code, state, tuple(world.values())), strict=True))
    stop = declared.functions["converged"]
    may_push = not everyone and (steps.pushes_repeat or code.reduce.idempotent or code.message.kind != "f")
    # Sums reach the next superstep's world, and `converged`, through Python.
    alone = may_push and policy.mode != "pull" and code.aggregate is None and stop is None
    tables: list[np.ndarray] = []
    done_before = 0
    while frontier.size and done_before < limit:
        table = None
        if alone:
            some = steps.few(arcs, frontier, tuple(world.values()), done_before, limit)
            if some is not None:
                table, frontier, _ = some
        if table is None:
            began, step, active = time.perf_counter_ns(), done_before + 1, frontier.size
            push, looked = (
                policy.pushes(frontier.out_arcs(arcs.sending.indptr), arcs.sending.nnz)
                if may_push
                else (False, arcs.sending.nnz)
            )
            for part in arcs.parts(frontier, push):
                (steps.push if push else steps.pull)(part, frontier)
            frontier, sums = steps.apply(arcs, tuple(world.values()), step, everyone)
            world.update(zip(declared.aggregators, sums, strict=True))
            table = np.array([[PUSH if push else PULL, active, looked, time.perf_counter_ns() - began]], np.int64)
            if everyone and frontier.size:
                frontier = Frontier(n, device=device)
        tables.append(table)
        done_before += len(table)
        if stop is not None:
            with backend.in_python():
                stopped = stop(code.world(done_before, *world.values()))  # type: ignore[call-arg]
            if stopped:
                return np.concatenate(tables), sources[:0]
    rows = np.concatenate(tables) if tables else np.empty((0, 4), np.int64)
    return rows, frontier.ids.copy() if frontier.size else sources[:0]


def _sweeps(
    declared: Declarations,
    code: ProgramCode,
    arcs: Arcs,
    state: tuple[Any, ...],
    world: dict[str, Any],
    sources: Any,
    limit: int,
) -> tuple[np.ndarray, Any] | None:
    """The same where everyone is active and no vertex is closed to messages; None where no kernel serves for that."""
    n, rows_of = len(state[0]), arcs.gathering
    done = kernels(device_of(*state)).sweeps(
        code, rows_of, state, tuple(world.values()), declared.functions["converged"], limit
    )
    if done is None:
        return None
    steps, stopped, sums, nanoseconds = done
    world.update(zip(declared.aggregators, sums, strict=True))
    table = np.empty((steps, 4), np.int64)
    # Time is that of each superstep, or of all where they follow each other without the host.
    table[:, :3] = PULL, n, rows_of.nnz
    table[:, 3] = nanoseconds if np.ndim(nanoseconds) else nanoseconds // max(steps, 1)
    xp = array_module(device_of(*state))
    everyone_active = sources if len(sources) == n else xp.arange(n, dtype=sources.dtype)
    return table, sources[:0] if stopped else everyone_active
