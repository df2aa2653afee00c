"""Arcs that carry their number, by which a program's functions find what lies beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hpgraph.containers.numbered_arcs import number_type
from hpgraph.containers.streamed_graph import StreamedGraph
from hpgraph.engine.arcs import Arcs
from hpgraph.engine.paged_arcs import PagedArcs
from hpgraph.formats import CSR

if TYPE_CHECKING:
    import numpy as np

    from hpgraph.containers.graph import Graph
    from hpgraph.engine.direction import Direction
    from hpgraph.formats import Frontier
    from hpgraph.kernels.out_of_core import WindowWorkSpace


class NumberedArcs(Arcs):
    """The arcs of a graph, in one part, each with its number in the order of `Graph.out_csr` where weights stand."""

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


class NumberedPages(PagedArcs):
    """The arcs of a graph in pages by source: of those going by targets, pages do not hold the numbers."""

    def __init__(self, graph: StreamedGraph) -> None:
        super().__init__(graph, "in", weighted=False)

    @property
    def places(self) -> np.dtype[Any]:
        """Type of the numbers."""
        return number_type(self._graph.n_edges)

    def direction(
        self, frontier: Frontier, policy: Direction, may_push: bool, steps: WindowWorkSpace
    ) -> tuple[bool, int]:
        """Always a push; and how many arcs it visits."""
        (side,) = self._sides
        wanted = side.sender.survey(None if frontier.everyone else frontier, spread=True)
        frontier.arcs = wanted.arcs
        return self._chosen(True, [wanted])


def numbered_arcs_of(graph: Graph) -> NumberedArcs | NumberedPages:
    """The arcs of a graph by number, wherever they lie."""
    return NumberedPages(graph) if isinstance(graph, StreamedGraph) else NumberedArcs(graph)
