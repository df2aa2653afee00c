"""The data of a graph, vertices 0..n-1, arcs and names: construction, saving, transfer and display."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, Self

import numpy as np

from hpgraph.containers import adjacency
from hpgraph.containers.columns import NO_COLUMNS, Columns, alike_both_ways, as_columns, of_rows
from hpgraph.containers.graph_columns import GraphColumns
from hpgraph.containers.names import Names, as_names
from hpgraph.containers.public import public
from hpgraph.containers.result_table import html_table
from hpgraph.containers.vertices import as_collection, checked_index, checked_indices, id
from hpgraph.core.caller import each_warning_once
from hpgraph.core.device import unmasked
from hpgraph.core.devices import Devices, device_index
from hpgraph.formats.duplicates import Duplicates, checked_duplicates

# Up to this many arcs, printing a graph checks whether it is directed; beyond, the check takes noticeable time.
_QUICKLY_CHECKED = 1 << 22


class GraphStorage(GraphColumns):
    """The arcs of a graph, with the names of its vertices; `hpgraph.Graph` describes the arguments."""

    @each_warning_once()
    def __init__(
        self, data: Any, /, *, source: Any = None, target: Any = None, weight: Any = None, directed: bool | None = None,
        names: bool | Iterable[Any] | None = None, copy: bool = True, device: Any = None,
        duplicates: Duplicates | None = None,
    ) -> None:  # fmt: skip
        if directed is not None and not isinstance(directed, bool | np.bool_):
            raise TypeError(f"directed must be True, False or None (find out), not {directed!r}")
        directed = None if directed is None else bool(directed)
        checked_duplicates(duplicates)
        edges = _edges_of(data, source, target, weight, names)
        sparse, names = names is not None, None if isinstance(names, bool) else names
        if isinstance(data, GraphStorage) or edges is not None:
            explicit: dict[str, Any] = {"directed": False} if directed is False else {}
            if sparse and edges is not None and edges.get("names") is None:
                explicit["names"] = False
            given = data if edges is None else self.from_edges(
                **{"directed": None, **edges, **explicit}, duplicates=duplicates
            )  # fmt: skip
            csr, own = given.out_csr, given._names
            keep = duplicates == "keep" or (duplicates is None and given.multigraph)
            if given.multigraph and not keep:
                csr = csr.canonical(duplicates)
            if directed is False and given.directed:
                csr = adjacency.add_reverses(csr, "keep" if keep else duplicates)
            symmetrized = directed is False and given.directed
            directed = given._layouts.get("directed") if directed is None else directed
        else:
            both, keep = directed is False, duplicates == "keep"
            csr, own = adjacency.of(data, both_ways=both, copy=copy, duplicates=duplicates, sparse=sparse), None
        self._set(csr, directed, own if names is None else as_names(names, csr.shape[0]), keep)
        if isinstance(data, GraphColumns) and csr is data.out_csr:
            self._columns_held = data._columns_held
        elif isinstance(data, GraphColumns) and data._columns_held is not NO_COLUMNS:
            self._columns_held = data._columns_of(csr, "keep" if keep else duplicates, symmetrized)
        if device is not None:
            # A graph on several devices is of another class.
            moved = self.to(device)
            self.__class__, self.__dict__ = type(moved), moved.__dict__

    @classmethod
    def from_edges(
        cls,
        source: Any,
        target: Any,
        weight: Any = None,
        n_vertices: int | None = None,
        directed: bool | None = True,
        names: Iterable[Any] | Literal[False] | None = None,
        *,
        duplicates: Duplicates | None = None,
        columns: Mapping[str, Any] | None = None,
        vertex_columns: Mapping[str, Any] | None = None,
    ) -> Self:
        """A graph of the arcs ``source[k] -> target[k]`` on the device of the arrays. Loops are kept.

        Parameters
        ----------
        source, target : array or sequence of integers, shape (m,)
            Ends of each arc, numbered from 0.
        weight : array or sequence of real numbers, shape (m,), optional
            Weight of each arc.
        n_vertices : int, optional
            Number of vertices; by default one more than the largest id, or as many as there are names.
        directed : bool or None, default True
            False adds the reverse of each arc; None determines whether all are present.
        names : sequence or False, optional
            A name for each vertex. False declares that ids are indices, however few of them are used.
        duplicates : {"min", "max", "sum", "first", "keep", "error"}, optional
            As for `Graph`.
        columns, vertex_columns : dict of arrays or sequences, optional
            Further values of each arc, and of each vertex, by title: numbers, dates, or text, which is kept as codes
            and categories. An edge that occurs more than once has the values of the row whose weight is kept (the first
            of several); "sum" adds values, and refuses text and dates; see `edge_column` and `with_columns`.

        Raises
        ------
        ValueError, IndexError
            When lengths differ, or an id does not fit 64 bits; when an id is negative or not below `n_vertices`.
        TypeError
            When ids are not integers, weights are not real numbers, or arrays lie on different devices.
        DeviceMemoryError
            When it will not fit, as with few vertices of very large ids.

        Examples
        --------
        >>> hpg.Graph.from_edges([0, 1], [1, 2], directed=False)
        Graph: 3 vertices, 4 arcs, undirected, no weights, cpu
        """
        checked_duplicates(duplicates)
        sparse, names = names is not None, None if names is False else names
        if names is not None and n_vertices is None and hasattr(names, "__iter__"):
            names = list(names) if not hasattr(names, "__len__") else names
            n_vertices = len(names)  # type: ignore[arg-type]
        csr = adjacency.from_arcs(
            source, target, weight, n_vertices, both_ways=directed is False, duplicates=duplicates, sparse=sparse
        )
        graph = cls._from_csr(csr, directed, as_names(names, csr.shape[0]), duplicates == "keep")
        if columns is not None or vertex_columns is not None:
            column_arrays = as_columns(columns, len(source), "columns", csr.device)
            of_arcs = (
                of_rows(csr, (source, target), weight, column_arrays, directed is False, duplicates)
                if column_arrays
                else {}
            )
            if directed is None:
                graph._layouts["directed"] = graph.directed or not alike_both_ways(csr, of_arcs, graph.multigraph)
            of_vertices = as_columns(vertex_columns, csr.shape[0], "vertex_columns", csr.device)
            graph._columns_held = Columns(of_arcs, of_vertices)
        return graph

    @property
    def names(self) -> np.ndarray[Any, Any] | None:
        """Name of each vertex, always in a NumPy array, which is read-only; or None."""
        return None if self._names is None else self._names.array

    def index_of(self, vertex: Any, argument: str = "vertex") -> int:
        """The index of a vertex: its position in ``G.names`` and in the results of algorithms.

        Parameters
        ----------
        vertex : hashable or hpgraph.id
            Its name, or its index if the graph has no names.
        argument : str, optional
            Name of the argument in error messages.

        Raises
        ------
        ValueError, TypeError, IndexError
            If no vertex has the name (similar names are suggested), or vertices have no names; if an index is not an
            integer, or not below the number of vertices.

        Examples
        --------
        >>> hpg.Graph.from_edges([0], [1], names=["ann", "bob"]).index_of("bob")
        1
        """
        if vertex is None and argument != "vertex" and (self._names is None or None not in self._names):
            raise TypeError(f"{argument}=... is needed: which vertex of the graph")
        if self._names is not None and not isinstance(vertex, id):
            return self._names.index_of(vertex)
        n = self.n_vertices
        return vertex if type(vertex) is int and 0 <= vertex < n else checked_index(vertex, n, argument)

    def indices_of(self, vertices: Any, argument: str = "vertices") -> Any:
        """The indices of many vertices, in the order given; errors are those of `index_of`.

        Parameters
        ----------
        vertices : array or sequence of names, or hpgraph.id
            As for `index_of`; a single vertex counts as a sequence of one, a tuple as a sequence.
        argument : str, optional
            Name of the argument in error messages.

        Returns
        -------
        integer array of shape (k,)
            On the CPU if they were looked up by name, else on the device of the argument.

        Examples
        --------
        >>> hpg.Graph.from_edges([0], [1], names=[1001, 7]).indices_of([7, 1001, 7]).tolist()
        [1, 0, 1]
        """
        vertices = as_collection(vertices)
        if self._names is None or isinstance(vertices, id):
            return checked_indices(vertices, self.n_vertices, argument)
        return self._names.indices_of(unmasked(vertices, argument))

    def save(self, path: Any, *, compression: str | None = None) -> None:
        """Write the graph to a file, as `hpgraph.write`, with its errors.

        Parameters
        ----------
        path : str or os.PathLike
            The file, whose suffix determines the format: ``.hpg``, which `hpgraph.open` reads page by page, or another
            one of `hpgraph.read`.
        compression : {"gaps", "none"}, optional
            How ``.hpg`` stores ids.

        Examples
        --------
        >>> hpg.Graph.from_edges([0, 1], [1, 2]).save("path.hpg")
        >>> hpg.read("path.hpg")
        Graph: 3 vertices, 2 arcs, directed, no weights, cpu
        """
        public("io").write(self, path, compression=compression)

    def to(self, device: Any) -> Self:
        """The graph on a device, with every layout built so far; the graph itself where it lies there already.

        Parameters
        ----------
        device : str, or list of str
            "cpu"; "cuda", CuPy's current GPU; "cuda:1", a GPU by number, which must be the current one wherever the
            graph is worked on (``with cupy.cuda.Device(1): ...``); or several, "cuda:0,1", "cuda:all" or ``["cuda:0",
            "cuda:1"]``, between which the graph is divided, as a `DividedGraph`.

        Raises
        ------
        ValueError, DeviceMemoryError, MissingExtraError, DeviceError
            For another name, or the same GPU twice; if the graph does not fit; if CUDA, or that GPU, is not available.

        Examples
        --------
        >>> G = hpg.Graph.from_edges([0], [1])
        >>> G.to("cpu") is G
        True
        """
        devices = Devices.of(device)
        if len(devices) > 1:
            return public("DividedGraph").of(self, devices)
        lies = device_index(self.out_csr.indptr)
        if devices.kind == self.device and devices.indices in ((), (lies,)):
            return self
        graph = object.__new__(type(self))
        graph._names = self._names
        layouts = self._layouts
        if self.device == devices.kind:
            # From one GPU to another; other layouts are rebuilt there.
            layouts_to_copy = {
                name: layouts[name] for name in ("out_csr", "in_csr", "directed", "multigraph") if name in layouts
            }
            layouts = type(layouts)(**layouts_to_copy)
        with devices.here:
            graph._hold(layouts.to(devices.kind, "the graph"))
        if self._columns_held is not NO_COLUMNS:
            with devices.here:
                graph._columns_held = self._columns_held.to(devices.kind)
        return graph

    def __getstate__(self) -> dict[str, Any]:
        # Other layouts can be rebuilt.
        kept = {name: self._layouts.get(name) for name in ("directed", "multigraph")}
        return {"out_csr": self.out_csr, "names": self.names, "columns": self._columns_held, **kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        names = state["names"]
        names = None if names is None else Names(names)
        self._set(state["out_csr"], state["directed"], names, bool(state.get("multigraph")))
        self._columns_held = state.get("columns", NO_COLUMNS)

    def __repr__(self) -> str:
        return "Graph: " + ", ".join(
            [f"{self.n_vertices:,} vertices", f"{self.n_edges:,} arcs", *self._kind(), str(self.device)]
            + ([f"columns {', '.join(self.edge_columns)}"] if self.edge_columns else [])
            + ([] if self._names is None else [f"named {self._names.some}"])
        )

    def _kind(self) -> list[str]:
        """Whether directed, if known or quickly checked, and the type of the weights."""
        words = []
        if "directed" in self._layouts or self.n_edges <= _QUICKLY_CHECKED:
            words.append("directed" if self.directed else "undirected")
        if self.multigraph:
            words.append("parallel edges kept")
        words.append(f"{self.dtype} weights" if self.weighted else "no weights")
        return words

    def _repr_html_(self) -> str:
        rows = [
            ("vertices", f"{self.n_vertices:,}"),
            ("arcs", f"{self.n_edges:,}"),
            ("kind", ", ".join(self._kind())),
            ("device", self.device),
            ("memory", f"{self.nbytes / 2**20:,.1f} MiB"),
        ]
        if self._names is not None:
            rows.append(("names", self._names.some))
        return html_table("Graph", rows)


def _edges_of(data: Any, source: Any, target: Any, weight: Any, names: Any) -> dict[str, Any] | None:
    """Edges from a table, rows or another library's graph; None for arrays and matrices."""
    if adjacency.is_known(data) or isinstance(data, GraphStorage):
        edges = None
    else:
        edges = public("interop").edges_given(data, source, target, weight, names)
    if edges is None:
        for what, given in (("source", source), ("target", target), ("weight", weight)):
            if given is not None:
                raise TypeError(f"{what} is a column of a table, and {type(data).__name__} is none")
        if names is True or (names is False and not isinstance(data, tuple)):
            raise TypeError("names must be a sequence with one name for each vertex; True and False are for tables")
    return edges
