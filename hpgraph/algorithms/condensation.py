"""The condensation of a directed graph: its strong components, and the arcs between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hpgraph.algorithms.components import connected_components
from hpgraph.containers.graph import Graph, as_graph
from hpgraph.containers.names import Names
from hpgraph.containers.result_table import ResultTable
from hpgraph.core.arrays import Array
from hpgraph.core.device import array_module, to_device
from hpgraph.core.number import whole
from hpgraph.core.suggestions import naming_arguments


@dataclass(frozen=True, eq=False)
class Condensation(ResultTable, columns=("label",), groups=True):
    """A graph's strong components as the vertices of a graph; as a table, the component of each vertex.

    Attributes
    ----------
    graph : Graph
        Directed, without cycles, without weights and names: vertex i is component i.
    label : integer array of shape (n,)
        The component of each vertex of the graph that was condensed, on its device; components are numbered by their
        smallest vertex.
    names : NumPy array or None
        The names of those vertices.
    """

    graph: Graph
    label: Array
    names: Any

    @property
    def _names(self) -> Any:  # type: ignore[override]
        return None if self.names is None else Names(self.names)

    def members(self, component: int) -> Any:
        """The vertices of a component: names where the graph has names, else indices, on its device.

        Parameters
        ----------
        component : int
            Its number.

        Returns
        -------
        array
            In ascending order of index.

        Raises
        ------
        TypeError, IndexError
            If there is no component of that number.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> hpg.condensation(([0, 1, 1], [1, 0, 2])).members(0).tolist()
        [0, 1]
        """
        component, count = whole(component, "component"), self.graph.n_vertices
        if not 0 <= component < count:
            raise IndexError(f"component {component} is not in 0..{count - 1}")
        vertices = array_module(self.label).flatnonzero(self.label == component)
        return vertices if self.names is None else self.names[to_device(vertices, "cpu")]

    def __repr__(self) -> str:
        count, arcs = self.graph.n_vertices, self.graph.n_edges
        return f"<Condensation: {count:,} components of {len(self.label):,} vertices, {arcs:,} arcs>"


@naming_arguments
def condensation(G: Graph | Any) -> Condensation:
    """The graph of strong components: each a vertex, with an arc where one leads from the one into the other.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. Of an undirected one the components are the connected ones, without arcs between them.

    Returns
    -------
    Condensation
        Its `graph` has no cycles, so that `topological_sort` and `dag_longest_path` take it.

    References
    ----------
    G. M. Slota, S. Rajamanickam, K. Madduri, "BFS and coloring-based parallel algorithms for strongly connected
    components and related problems", IPDPS'14.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> found = hpg.condensation(([0, 1, 1, 2], [1, 0, 2, 3]))
    >>> found, found.label.tolist()
    (<Condensation: 3 components of 4 vertices, 2 arcs>, [0, 0, 1, 2])
    """
    graph = as_graph(G)
    found = connected_components(graph, connection="strong")
    source, target = found.label[graph.out_csr.expand_rows()], found.label[graph.out_csr.indices]
    between = source != target
    arcs = Graph.from_edges(source[between], target[between], n_vertices=found.count)
    return Condensation(arcs, found.label, graph.names)
