"""Arcs that carry their number, by which a program's functions find what lies beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hpgraph.containers.numbered_arcs import number_type
from hpgraph.engine.arcs import Arcs
from hpgraph.formats import CSR

if TYPE_CHECKING:
    import numpy as np

    from hpgraph.containers.graph import Graph


class NumberedArcs(Arcs):
    """The arcs of a graph, in one part, each with its number in the order of `Graph.out_csr` where weights stand.

    Parameters
    ----------
    graph : Graph
    """

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph, "in", weighted=True)

    @property
    def places(self) -> np.dtype[Any]:
        """Type of the numbers."""
        return number_type(self._graph.n_edges)

    @property
    def sending(self) -> CSR:
        """Arcs by the vertex that sends: their numbers ascend."""
        return self._graph.numbered_out_csr

    @property
    def by_target(self) -> CSR:
        """Arcs by the vertex that gathers: their numbers are a permutation."""
        return self._graph.numbered_in_csr

    @property
    def gathering(self) -> CSR:
        """The same."""
        return self.by_target

    @property
    def reverses(self) -> Any:
        """Number of each arc's reverse; -1 where there is none."""
        return self._graph.reverse_arcs
