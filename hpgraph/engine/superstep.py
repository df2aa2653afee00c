"""The general loop: messages along arcs, exchange, update, next frontier; any program on any placement.

A superstep costs what its frontier costs. Sums of floats are combined in a fixed order, so that they repeat to the bit.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hpgraph.core.work_clock import now
from hpgraph.engine.state import Run
from hpgraph.formats import Bitmask, Frontier
from hpgraph.kernels.runtime.direction import PULL, PUSH
from hpgraph.placement import End, Share


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


def supersteps(
    run: Run, frontier: Frontier, settled: Bitmask | None, *, done: int = 0, tables: Sequence[np.ndarray] = (),
    after: Callable[[int, list[np.ndarray]], None] | None = None,
) -> tuple[Listed, Any]:  # fmt: skip
    """Run a program superstep by superstep; the trace, and the vertices still active, if any and it has not converged.

    Properties and sums are initialized. ``settled``: vertices that receive no more, if each receives once; ``done,
    tables``: supersteps done before, and their trace; ``after(done, tables)`` is called after each superstep but the
    last one.
    """
    code, arcs = run.code, run.arcs
    shares = arcs.shares(run.state, frontier, settled, run.work_space)
    first = shares[0]
    may_push = run.may_push(first.steps)
    # Sums reach the next superstep's world, and `converged`, through Python.
    in_python = code.aggregate is not None or run.declared.functions["converged"] is not None
    in_one_kernel = may_push and run.policy.mode != "pull" and not in_python and arcs.in_one_part
    tables, converged = list(tables), False
    while arcs.active(shares) and done < run.limit and not converged:
        world = tuple(run.world.values())
        outcome = first.steps.run_small(arcs, first.frontier, world, done, run.limit) if in_one_kernel else None
        if outcome is not None:
            rows, taken, first.frontier = outcome
        else:
            began, active, taken = now(), arcs.active(shares), 1
            push, examined = arcs.direction(shares, run.policy, may_push)
            arcs.each(shares, lambda share: _send(run, share, push, done + 1))  # noqa: B023
            arcs.exchange_messages(shares, push)
            ends = arcs.each(shares, lambda share: _apply(run, share, done + 1))  # noqa: B023
            run.note_sums(arcs.exchange_values(shares, ends, run.all_active))
            rows = np.array([[PUSH if push else PULL, active, examined, now() - began]], np.int64)
        tables.append(rows)
        done += taken
        converged = run.has_converged(done)
        if after is not None and not converged:
            after(done, tables)
    left = arcs.finish(shares, run)
    return Listed(tables, done), None if converged else left


def _send(run: Run, share: Share, push: bool, step: int) -> None:
    """Send along the arcs of a share's parts."""
    if run.code.cells:
        share.steps.turn(tuple(run.world.values()), step)
    send = share.steps.push if push else share.steps.pull
    for part, frontier in run.arcs.parts(share, push):
        send(part, frontier)


def _apply(run: Run, share: Share, step: int) -> End:
    """Update the vertices of a share that received a message."""
    steps, world = share.steps, tuple(run.world.values())
    if share.own is None:
        changed, sums = steps.apply(run.arcs, world, step, run.all_active)
        if run.ceiling is not None:
            changed = Frontier(run.n, ids=run.below_ceiling(changed.ids, share.state[0]))
        return End(changed, None, sums)
    if run.arcs.joins:
        # Vertices of the same pages outside the range may have received only some of their messages.
        steps.keep(share.own)
    updated = None
    if run.all_active:
        steps.address(Frontier(run.n, bits=share.own.copy(), size=share.last - share.first))
    elif run.code.sends is not None:
        # With `sends`, a vertex may change without being active next; its value is exchanged all the same.
        updated = steps.addressed().to_indices()
    changed, sums = steps.apply(run.arcs, world, step, False)
    # The work space overwrites its lists in the next superstep.
    ids = run.below_ceiling(changed.ids, share.state[0]).copy()
    return End(Frontier(run.n, ids=ids), None if run.all_active else ids if updated is None else updated, sums)
