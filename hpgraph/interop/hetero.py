"""Heterogeneous graphs: a matrix for each relation, metapaths as products, and conversion to a homogeneous graph.

Metapaths: Y. Sun, J. Han, X. Yan, P. S. Yu, T. Wu, "PathSim: meta path-based top-k similarity search in heterogeneous
information networks", VLDB'11.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Self

import numpy as np

from hpgraph.containers import adjacency
from hpgraph.containers.columns import as_columns, moved_to, of_rows
from hpgraph.containers.graph import Graph
from hpgraph.containers.names import Names
from hpgraph.containers.vertices import checked_index
from hpgraph.core.suggestions import did_you_mean
from hpgraph.formats.duplicates import Duplicates, merging
from hpgraph.interop.hetero_sampling import HeteroSample, sample_hetero
from hpgraph.interop.homogeneous import HomogeneousGraph, Relation, graph_columns, homogeneous_of
from hpgraph.interop.ids_by_kind import edges_of, numbered, of_geometric, tensors_of, to_geometric
from hpgraph.scipy_api.matrix import Matrix

# Prefix of a reversed relation's name, as in PyTorch Geometric's ToUndirected.
_REVERSED = "rev_"


class HeteroGraph:
    """A heterogeneous graph: vertices and edges of several kinds, each kind of vertex with ids of its own.

    Parameters
    ----------
    relations : dict, or HeteroData of PyTorch Geometric
        The edges of each relation ``(source kind, name, target kind)``: a table or rows as for `hpgraph.from_edges`,
        a tuple ``(source, target)`` or ``(source, target, weight)`` of arrays, or a sparse array with a row for each
        vertex of the source kind and a column for each of the target kind.
    vertices : dict, optional
        For each kind the number of vertices, or a sequence of their names; if names are strings, integer ids are
        indices of them. By default string ids are names, in order of first occurrence, and integers are indices, up
        to the largest that occurs.
    duplicates : {"min", "max", "sum", "first", "error"}, optional
        As for `Graph`, for the edges of each relation.
    columns : bool, default False
        Whether to keep the other columns of tables, `HeteroGraph.columns`.
    vertex_columns : dict, optional
        The columns of each kind, as for `hpgraph.from_edges`. All tensors of a HeteroData with a row for each vertex
        or edge are kept, except bfloat16.
    device : str, optional
        Device of the graph, "cpu" or "cuda"; by default that of the edges.

    Raises
    ------
    ValueError, TypeError, IndexError
        If a relation's key is not three strings; if an edge ends at a vertex that is not in `vertices`; as for
        `hpgraph.from_edges`.

    Attributes
    ----------
    kinds, relations : tuple
        Kinds of vertices; relations, each ``(source kind, name, target kind)``.
    device : {"cpu", "cuda"}
        Device of the matrices.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> H = hpg.HeteroGraph({
    ...     ("author", "writes", "paper"): [("ann", "p1"), ("bob", "p1"), ("bob", "p2")],
    ...     ("paper", "cites", "paper"): [("p2", "p1")],
    ... })
    >>> H
    HeteroGraph: 2 author, 2 paper; author writes paper (3), paper cites paper (1); cpu
    >>> H["writes"].shape, H.metapath("author", "writes", "paper", "writes", "author").toarray().tolist()
    ((2, 2), [[1, 1], [1, 2]])
    """

    kinds: tuple[str, ...]
    relations: tuple[Relation, ...]
    # Advice in the error of an algorithm that requires a Graph.
    _graphs_of_it = "H.graph(relation) and H.homogeneous().graph of a HeteroGraph are graphs"

    def __init__(
        self, relations: Any, vertices: Mapping[str, Any] | None = None, *, duplicates: Duplicates | None = None,
        columns: bool = False, vertex_columns: Mapping[str, Any] | None = None, device: Any = None,
    ) -> None:  # fmt: skip
        merging(duplicates, "a relation")
        tensors: dict[Any, dict[str, Any]] = {}
        if hasattr(relations, "edge_types") and hasattr(relations, "node_types"):
            tensors = tensors_of(relations)
            relations, vertices = of_geometric(relations, vertices)
        if not isinstance(relations, Mapping):
            raise TypeError(
                'relations must be a dict, {("author", "writes", "paper"): edges, ...}, or a HeteroData, not '
                f"{type(relations).__name__}"
            )
        edges = {_checked(relation): edges_of(data, relation, columns) for relation, data in relations.items()}
        given = dict(vertices or {})
        occurring = chain.from_iterable((source, target) for source, _, target in edges)
        self.kinds, self.relations = tuple(dict.fromkeys(chain(given, occurring))), tuple(edges)
        self._names: dict[str, Names | None] = {}
        self._counts: dict[str, int] = {}
        places: dict[tuple[Relation, int], Any] = {}
        for kind in self.kinds:
            ends = [(relation, end) for relation in edges for end in (0, 1) if relation[2 * end] == kind]
            numbers, self._names[kind], self._counts[kind] = numbered(
                [edges[relation][0][end] for relation, end in ends], given.get(kind), kind
            )
            places.update(zip(ends, numbers, strict=True))
        self._matrices: dict[Relation, Any] = {}
        self._columns: dict[Any, dict[str, Any]] = {}
        for relation, (_, weight, held) in edges.items():
            shape = self._counts[relation[0]], self._counts[relation[2]]
            between = places[relation, 0], places[relation, 1]
            csr = adjacency.merged(*between, weight, shape, duplicates, True)
            if held := as_columns(held, len(between[0]), str(relation), csr.device) | tensors.get(relation, {}):
                self._columns[relation] = of_rows(csr, between, weight, held, False, duplicates)
            self._matrices[relation] = Matrix._of(csr)
        for kind, held in (vertex_columns or {}).items():
            count = self.n_vertices(kind)
            self._columns[kind] = as_columns(held, count, f"vertices of {kind}", self.device)
        for kind in self.kinds:
            self._columns[kind] = tensors.get(kind, {}) | self._columns.get(kind, {})
        if device is not None:
            self.__dict__ = self.to(device).__dict__

    def n_vertices(self, kind: str) -> int:
        """The number of vertices of a kind."""
        return self._counts[self._known(kind)]

    def names(self, kind: str) -> Any:
        """The names of the vertices of a kind, in a NumPy array; None if ids are indices."""
        names = self._names[self._known(kind)]
        return None if names is None else names.array

    def index_of(self, kind: str, vertex: Any) -> int:
        """The index of a vertex within its kind, by its name; if the kind has no names, the index is checked.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> H = hpg.HeteroGraph({("author", "writes", "paper"): [("ann", 0), ("bob", 0)]})
        >>> H.index_of("author", "bob"), H.index_of("paper", 0)
        (1, 0)
        """
        names = self._names[self._known(kind)]
        return checked_index(vertex, self._counts[kind], kind) if names is None else names.index_of(vertex)

    def __getitem__(self, relation: str | Relation) -> Any:
        """The Matrix of a relation, by ``(source kind, name, target kind)``, or by its name if that is unique."""
        return self._matrices[self._meant(relation)]

    def __contains__(self, relation: Any) -> bool:
        return relation in self._matrices or any(relation == name for _, name, _ in self.relations)

    def __iter__(self) -> Iterator[Relation]:
        return iter(self.relations)

    def __len__(self) -> int:
        return len(self.relations)

    @property
    def device(self) -> str:
        """The device of the matrices: "cpu" or "cuda"."""
        return next((str(matrix.device) for matrix in self._matrices.values()), "cpu")

    def to(self, device: str) -> Self:
        """The graph on a device; itself if it is already there. Errors are those of `Matrix.to`."""
        if all(matrix.to(device) is matrix for matrix in self._matrices.values()):
            return self
        moved = object.__new__(type(self))
        moved.__dict__ = {
            **self.__dict__, "_matrices": {key: made.to(device) for key, made in self._matrices.items()},
            "_columns": {key: moved_to(held, device) for key, held in self._columns.items()},
        }  # fmt: skip
        return moved

    def graph(self, relation: str | Relation) -> Graph:
        """The directed Graph of a relation within one kind of vertices, with their names.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> H = hpg.HeteroGraph({("paper", "cites", "paper"): [("p2", "p1"), ("p3", "p2")]})
        >>> H.graph("cites")
        Graph: 3 vertices, 2 arcs, directed, no weights, cpu, named 'p2', 'p3', 'p1'
        """
        source, name, target = self._meant(relation)
        if source != target:
            raise ValueError(
                f"{name} joins {source} and {target}, two kinds: H.homogeneous([{name!r}]).graph has vertices of both"
            )
        made = Graph._from_csr(self._matrices[source, name, target].csr, True, self._names[source])
        made._columns_held = graph_columns(self.columns((source, name, target)), self.columns(source))
        return made

    def columns(self, of: str | Relation) -> dict[str, Any]:
        """The columns of a relation, in the order of its matrix, or of the vertices of a kind, by title.

        A column of strings is ``(codes, categories)``, as for `Graph.edge_column`. Do not write to the arrays.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> writes = {"source": ["bob", "ann"], "target": ["p1", "p1"], "year": [2021, 2020]}
        >>> H = hpg.HeteroGraph({("author", "writes", "paper"): writes}, columns=True)
        >>> H.columns("writes")["year"].tolist(), H.homogeneous().graph.edge_column("year").tolist()
        ([2021, 2020], [2021, 2020])
        """
        return dict(self._columns.get(of if of in self._counts else self._meant(of), {}))

    def metapath(self, *path: str, weight: bool = False, semiring: Any = "plus_times") -> Any:
        """The number of paths along a metapath, from each vertex of the first kind to each of the last.

        Parameters
        ----------
        *path : str
            Kinds and relations, alternating: ``"author", "writes", "paper", "cites", "paper"``. A relation of the
            opposite direction is followed backwards; within one kind of vertices, the prefix ``"rev_"`` does so.
        weight : bool, default False
            Whether an entry is the weight of the relation rather than 1.
        semiring : str or Semiring, default "plus_times"
            Semiring of the products: "plus_times" counts paths, or sums products of weights; "min_plus" with weights
            gives the lengths of shortest paths.

        Returns
        -------
        Matrix
            A row for each vertex of the first kind, a column for each of the last; `Graph` accepts it if the kinds are
            the same.

        Raises
        ------
        ValueError
            If no such relation joins two consecutive kinds, or a path does not begin and end with a kind.

        References
        ----------
        Y. Sun et al., "PathSim", VLDB'11.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> H = hpg.HeteroGraph({
        ...     ("author", "writes", "paper"): ([0, 1, 1], [0, 0, 1]), ("paper", "cites", "paper"): ([1], [0]),
        ... })
        >>> H.metapath("author", "writes", "paper", "cites", "paper").toarray().tolist()
        [[0, 0], [1, 0]]
        """
        if len(path) < 3 or len(path) % 2 == 0:
            raise ValueError(f"a path is a kind, a relation, a kind, and so on, and ends with a kind: not {path!r}")
        steps = [self._step(*step, weight) for step in zip(path[:-2:2], path[1::2], path[2::2], strict=True)]
        made = steps[0]
        for step in steps[1:]:
            made = made.mxm(step, semiring)
        return made

    def _step(self, source: str, name: str, target: str, weight: bool) -> Any:
        found = self._matrices.get((source, name, target))
        if found is None:
            transposed = self._matrices.get((target, name, source))
            if transposed is None and name.startswith(_REVERSED):
                transposed = self._matrices.get((target, name.removeprefix(_REVERSED), source))
            if transposed is None:
                raise ValueError(f"no relation {name!r} joins {source!r} and {target!r}; there are {self._listed()}")
            found = transposed.T
        return Matrix._of(found.csr.with_data(None).astype(np.int64)) if not weight else found

    def homogeneous(self, relations: Iterable[str | Relation] | None = None) -> HomogeneousGraph:
        """The homogeneous graph of all vertices and the edges of all relations.

        Parameters
        ----------
        relations : sequence of relations, optional
            Relations whose edges are included; by default all. Vertices of all kinds are included.

        Returns
        -------
        HomogeneousGraph
            The graph has weights if any relation has; edges of the others have weight 1. It has all columns, with
            missing values if a kind or a relation lacks a column. `HomogeneousGraph.split` splits results by kind.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> H = hpg.HeteroGraph({
        ...     ("author", "writes", "paper"): [("ann", "p1"), ("bob", "p2")],
        ...     ("paper", "cites", "paper"): [("p2", "p1")],
        ... })
        >>> both = H.homogeneous()
        >>> both.graph, both.offsets, both.kind.tolist(), both.relation.tolist()
        (Graph: 4 vertices, 3 arcs, directed, no weights, cpu, (0, 2, 4), [0, 0, 1, 1], [0, 0, 1])
        >>> hpg.bfs(both.graph, both.offsets[0] + H.index_of("author", "bob")).level.tolist()
        [-1, 0, 2, 1]
        """
        chosen = self.relations if relations is None else tuple(self._meant(one) for one in relations)
        return homogeneous_of(self, chosen)

    def sample_neighbors(
        self, seeds: Mapping[str, Any], fanouts: Any, *, replace: bool = False, incoming: bool = False,
        disjoint: bool = False, seed: int = 0,
    ) -> HeteroSample:  # fmt: skip
        """Multi-hop neighbour sampling over all relations.

        Parameters
        ----------
        seeds : dict
            Seed vertices by kind: names, or indices.
        fanouts : sequence of int, int, or dict of such
            Number of arcs of a relation to sample for each vertex at each hop, -1 for all; a dict gives them for the
            relations to follow, with equally many hops each.
        replace, disjoint, seed
            As for `hpgraph.sample_neighbors`.
        incoming : bool
            Whether to sample in-arcs: sources are drawn for the targets of relations.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> H = hpg.HeteroGraph({
        ...     ("author", "writes", "paper"): [(0, 0), (1, 0), (1, 1)], ("paper", "cites", "paper"): [(1, 0)],
        ... })
        >>> sample = H.sample_neighbors({"paper": [0]}, [-1, -1], incoming=True)
        >>> sample
        <HeteroSample: 2 author, 2 paper; 4 edges of 2 relations>
        >>> sample.edge_index["author", "writes", "paper"].tolist()
        [[0, 1, 1], [0, 0, 1]]
        """
        return sample_hetero(self, seeds, fanouts, replace, incoming, disjoint, seed)

    def to_pyg(self) -> Any:
        """A HeteroData of PyTorch Geometric: ``edge_index``, weights as ``edge_weight``, and columns of numbers.

        Names of vertices are left out: vertex i of a kind has the name ``H.names(kind)[i]``. Tensors are on the device
        of the matrices. Without torch_geometric a MissingExtraError is raised.
        """
        return to_geometric(self)

    def __repr__(self) -> str:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in self._counts.items())
        return f"HeteroGraph: {kinds}; {self._listed(True)}; {self.device}"

    def _listed(self, counts: bool = False) -> str:
        return ", ".join(
            f"{source} {name} {target}" + (f" ({matrix.nnz:,})" if counts else "")
            for (source, name, target), matrix in self._matrices.items()
        )

    def _known(self, kind: str) -> str:
        if kind not in self._counts:
            meant = did_you_mean(str(kind), self.kinds)
            raise ValueError(f"there are no vertices of kind {kind!r}, but {', '.join(self.kinds)}{meant}")
        return kind

    def _meant(self, relation: str | Relation) -> Relation:
        found = [one for one in self.relations if relation in (one, one[1])]
        if len(found) != 1:
            many = "is the name of several relations: give" if found else "is no relation of the graph; there are"
            raise ValueError(f"{relation!r} {many} {', '.join(map(str, found)) or self._listed()}")
        return found[0]


def _checked(relation: Any) -> Relation:
    if not (isinstance(relation, tuple) and len(relation) == 3 and all(isinstance(part, str) for part in relation)):
        raise TypeError(f"a relation is called (source kind, name, target kind), three texts, not {relation!r}")
    return relation
