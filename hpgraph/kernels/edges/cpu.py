"""Supersteps of edge-vertex programs on the CPU."""

from __future__ import annotations

from hpgraph.formats import Frontier
from hpgraph.kernels.runtime.cpu.threads import team
from hpgraph.kernels.superstep import Part, cpu, cpu_frontier


class EdgeSupersteps(cpu.Supersteps):
    """Work space of one run; see `hpgraph.kernels.superstep.cpu.Supersteps`."""

    def pull(self, part: Part, frontier: Frontier) -> None:
        """Every vertex combines the messages of its active in-neighbours (bottom-up).

        Parameters
        ----------
        part : Part
            Arcs by their target.
        frontier : Frontier
            Who sends.
        """
        with team() as workers:
            # A product would make messages of arcs that have no part, four abreast, and change these.
            cpu_frontier.pull_some(
                self._functions, None, self.state, self._arcs(part.gathering), self._inbox, frontier.bits.words, workers
            )
