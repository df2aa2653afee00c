"""The general loop: messages along arcs, exchange, update, next frontier; one superstep after another.

Serves any program on any placement: several properties, any monoid, sums over all vertices. A superstep costs what its
frontier costs. Floating-point sums are combined in a fixed order, so that they repeat bit for bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.core.work_clock import now
from hpgraph.engine.several_devices import SeveralDevices
from hpgraph.formats import Frontier
from hpgraph.kernels.runtime.direction import PULL, PUSH

if TYPE_CHECKING:
    from hpgraph.engine.state import Run
    from hpgraph.formats import Bitmask


class Listed:
    """Trace rows in parts, fetched when called; of very many supersteps, a GPU kernel lists only the first."""

    def __init__(self, tables: list[np.ndarray], done: int) -> None:
        self._tables, self._done = tables, done

    def supersteps(self) -> int:
        """Number of supersteps, listed or not."""
        return self._done

    def __call__(self) -> np.ndarray:
        """The rows, an int64 array of shape (listed supersteps, 4)."""
        return np.concatenate(self._tables) if self._tables else np.empty((0, 4), np.int64)


class OneDevice:
    """The supersteps of a run whose properties lie on one device, its arcs in memory or in windows over pages."""

    def __init__(self, run: Run, frontier: Frontier, settled: Bitmask | None) -> None:
        self.run, self.frontier = run, frontier
        self.steps = run.work_space(settled)

    @property
    def active(self) -> int:
        """Number of active vertices."""
        return self.frontier.size

    def send(self, may_push: bool, step: int) -> tuple[bool, int]:
        """Send along the arcs of the frontier; returns whether by push, and how many arcs were visited."""
        run, steps, frontier = self.run, self.steps, self.frontier
        if run.code.cells:
            steps.turn(tuple(run.world.values()), step)
        push, looked = run.arcs.direction(frontier, run.policy, may_push, steps)
        for part in run.arcs.parts(frontier, push, steps):
            (steps.push if push else steps.pull)(part, frontier)
        return push, looked

    def apply(self, step: int) -> np.ndarray:
        """Update the vertices that received a message; the sums of `aggregate`."""
        run = self.run
        self.frontier, sums = self.steps.apply(run.arcs, tuple(run.world.values()), step, run.everyone)
        if run.everyone and self.frontier.size:
            self.frontier = Frontier(run.n, device=run.device)
        return sums

    def run_small(self, done: int) -> tuple[np.ndarray, int] | None:
        """Supersteps in one kernel while frontiers are small: trace rows, and how many; None where one is not small."""
        run = self.run
        some = self.steps.run_small(run.arcs, self.frontier, tuple(run.world.values()), done, run.limit)
        if some is None:
            return None
        table, steps_done, self.frontier = some
        return table, steps_done

    def finish(self) -> Any:
        """The vertices still active, or None."""
        return self.frontier.ids.copy() if self.frontier.size else None


def supersteps(run: Run, frontier: Frontier, settled: Bitmask | None) -> tuple[Listed, Any]:
    """Run a program superstep by superstep; returns the trace, and the vertices still active.

    The properties of the run are initialized. ``settled`` marks the vertices that receive no more, if each receives
    once. The second result is None if no vertex is active, or the program has converged.
    """
    code = run.code
    placed: OneDevice | SeveralDevices = (SeveralDevices if run.arcs.in_shards else OneDevice)(run, frontier, settled)
    if code.aggregate is not None and run.n:
        run.note_sums(run.backend.aggregate(code, run.state, tuple(run.world.values())))
    may_push = run.may_push(placed.steps)
    # Sums reach the next superstep's world, and `converged`, through Python.
    asked = code.aggregate is not None or run.declared.functions["converged"] is not None
    in_one_kernel = may_push and run.policy.mode != "pull" and not asked and run.arcs.in_one_part
    tables: list[np.ndarray] = []
    done, converged = 0, False
    while placed.active and done < run.limit and not converged:
        some = placed.run_small(done) if in_one_kernel else None
        if some is None:
            began, active = now(), placed.active
            push, looked = placed.send(may_push, done + 1)
            run.note_sums(placed.apply(done + 1))
            some = np.array([[PUSH if push else PULL, active, looked, now() - began]], np.int64), 1
        tables.append(some[0])
        done += some[1]
        converged = run.has_converged(done)
    left = placed.finish()
    return Listed(tables, done), None if converged else left
