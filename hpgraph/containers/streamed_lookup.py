"""What a graph in pages is asked: rows are read for it, and parts are graphs in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from hpgraph.containers.graph import Graph
from hpgraph.containers.graph_lookup import Edges
from hpgraph.containers.joined_pages import checked
from hpgraph.containers.names import Names
from hpgraph.containers.row_blocks import arcs_that, edges_of, has_edges, row_blocks
from hpgraph.core.device import array_module
from hpgraph.formats import CSR, Bitmask

if TYPE_CHECKING:
    from hpgraph.containers.streamed_graph import StreamedGraph


class StreamedLookup(Graph):
    """The questions that a `StreamedGraph` answers in its own way."""

    @property
    def _pages_graph(self) -> StreamedGraph:
        return cast("StreamedGraph", self)

    def _ids_of_row(self, row: int, by_target: bool) -> Any:
        one = Bitmask.from_indices(array_module(self.device).asarray([row]), self.n_vertices)
        parts = [block.csr.indices for block in row_blocks(self._pages_graph, by_target=by_target, rows=one)]
        return array_module(self.device).concatenate([*parts, array_module(self.device).empty(0, self.id_dtype)])

    def _have_edges(self, rows: Any, columns: Any) -> Any:
        return has_edges(self._pages_graph, rows, columns)

    def _arcs_among(self, chosen: Bitmask) -> CSR:
        flags = chosen.to_bool()
        return arcs_that(self._pages_graph, chosen, lambda source, target: flags[target], weighted=True)

    @classmethod
    def _made(cls, csr: CSR, directed: bool | None, names: Names | None) -> Any:
        """A part of the graph, which is in memory; what pages hold is not known to be in order."""
        return Graph._made(checked(csr, directed is False, "the pages"), directed, names)

    def edge_blocks(self, *, names: bool = False, both_ways: bool = False) -> Iterator[Edges]:
        """All edges, as arrays, some at a time: those of `Graph.edges` in the same order.

        Parameters
        ----------
        names, both_ways : bool
            As for `Graph.edges`.

        Yields
        ------
        Edges
            Of a window over the pages.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> G = hpg.StreamedGraph.of(hpg.Graph.from_edges([0, 1], [1, 2], directed=False))
        >>> for source, target, weight in G.edge_blocks():
        ...     print(source.tolist(), target.tolist(), weight)
        [0, 1] [1, 2] None
        """
        for block in row_blocks(self._pages_graph, weighted=True):
            found = edges_of(block, not both_ways and not self.directed)
            if names and self._names is not None:
                found = found._replace(source=self._named(found.source), target=self._named(found.target))
            yield found
