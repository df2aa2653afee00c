"""Supersteps of edge-vertex programs on the CPU."""

from __future__ import annotations

import numpy as np

from hpgraph.formats import Frontier
from hpgraph.kernels.runtime.cpu.threads import team
from hpgraph.kernels.spmv.cpu import plain
from hpgraph.kernels.superstep import Part, cpu, cpu_frontier


class EdgeSupersteps(cpu.Supersteps):
    """Work space of one run; see `hpgraph.kernels.superstep.cpu.Supersteps`."""

    def push(self, part: Part, frontier: Frontier) -> None:
        """The active vertices hear from the arcs that leave them, and send along them (top-down)."""
        self._hear(part, frontier)
        super().push(part, frontier)

    def pull(self, part: Part, frontier: Frontier) -> None:
        """Every vertex combines the messages of its active in-neighbours (bottom-up).

        Parameters
        ----------
        part : Part
            Arcs by their target.
        frontier : Frontier
            Who sends.
        """
        self._hear(part, frontier)
        # A product would make messages of arcs that have no part, four abreast, and change these.
        self._pull_some(None, part.gathering, frontier)

    def _hear(self, part: Part, frontier: Frontier) -> None:
        """Replies come first: they are of arcs as they were before the superstep."""
        if self._functions.reply is None:
            return
        ids = np.arange(self.n, dtype=part.sending.indices.dtype) if frontier.everyone else plain(frontier.ids)
        with team() as workers:
            cpu_frontier.hear_many(
                self._functions, self.state, self._arcs(part.sending), self._inbox, ids, workers
            )
