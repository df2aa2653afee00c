"""The general loop: messages along arcs, update, next frontier; one superstep after another.

Serves any program: several properties, any monoid, sums over all vertices. A superstep costs what its frontier costs.
Floating-point sums are combined in a fixed order, so that they repeat bit for bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.core.work_clock import now
from hpgraph.formats import Frontier
from hpgraph.kernels.runtime.direction import PULL, PUSH
from hpgraph.kernels.superstep import pushes_repeat

if TYPE_CHECKING:
    from hpgraph.engine.state import Run
    from hpgraph.formats import Bitmask


class Listed:
    """Trace rows, fetched when called, of so many supersteps: a kernel of the GPU does not list all of very many.

    Parameters
    ----------
    tables : list of int64 arrays of shape (some, 4)
        The rows, in parts.
    done : int
        How many supersteps there were.
    """

    def __init__(self, tables: list[np.ndarray], done: int) -> None:
        self._tables, self._done = tables, done

    def supersteps(self) -> int:
        """How many there were, listed or not."""
        return self._done

    def __call__(self) -> np.ndarray:
        """The rows, an int64 array of shape (listed supersteps, 4)."""
        return np.concatenate(self._tables) if self._tables else np.empty((0, 4), np.int64)


def supersteps(run: Run, frontier: Frontier, settled: Bitmask | None) -> tuple[Listed, Any]:
    """Run a program superstep by superstep.

    Parameters
    ----------
    run : Run
        Its properties are filled.
    frontier : Frontier
        Who is active at first.
    settled : Bitmask or None
        Where each vertex receives only once, who does not any more.

    Returns
    -------
    rows : Listed
        The trace.
    active : array of vertex ids, or None
        Who was still active at the end; None for nobody.
    """
    code, arcs, world = run.code, run.arcs, run.world
    everyone, n = run.everyone, run.n
    steps = run.work_space(settled)
    if code.aggregate is not None and n:
        run.note_sums(run.backend.aggregate(code, run.state, tuple(world.values())))
    may_push = not everyone and pushes_repeat(code, steps)
    # Sums reach the next superstep's world, and `converged`, through Python.
    asked = code.aggregate is not None or run.declared.functions["converged"] is not None
    alone = may_push and run.policy.mode != "pull" and not asked and arcs.in_one_part
    tables: list[np.ndarray] = []
    done_before = 0
    while frontier.size and done_before < run.limit:
        table, steps_done = None, 1
        if alone:
            some = steps.run_small(arcs, frontier, tuple(world.values()), done_before, run.limit)
            if some is not None:
                table, steps_done, frontier = some
        if table is None:
            began, step, active = now(), done_before + 1, frontier.size
            if code.cells:
                steps.turn(tuple(world.values()), step)
            push, looked = arcs.direction(frontier, run.policy, may_push, steps)
            for part in arcs.parts(frontier, push, steps):
                (steps.push if push else steps.pull)(part, frontier)
            frontier, sums = steps.apply(arcs, tuple(world.values()), step, everyone)
            run.note_sums(sums)
            table = np.array([[PUSH if push else PULL, active, looked, now() - began]], np.int64)
            if everyone and frontier.size:
                frontier = Frontier(n, device=run.device)
        tables.append(table)
        done_before += steps_done
        if run.has_converged(done_before):
            return Listed(tables, done_before), None
    return Listed(tables, done_before), frontier.ids.copy() if frontier.size else None
