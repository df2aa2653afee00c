"""A graph whose blocks are on the workers of a Dask cluster."""

import contextlib
import uuid
import weakref
from collections.abc import Callable
from typing import Any, Literal, Self, TypedDict, Unpack

import numpy as np
from distributed import Client

from hpgraph.algorithms.adjacency_operator import AdjacencyOperator
from hpgraph.algorithms.distances import WeightFacts
from hpgraph.cluster.algorithms import Algorithms
from hpgraph.cluster.errors import Limits
from hpgraph.cluster.grid import Grid, Order, shape_for
from hpgraph.cluster.placement import Placement
from hpgraph.cluster.programs import InDegree, Loops, OfDegrees, OutDegree
from hpgraph.cluster.result import ClusterResult
from hpgraph.cluster.runs import count_triangles, options_of, run_declared
from hpgraph.cluster.sources import File, InMemory, checksum_of
from hpgraph.cluster.tables import Tables, parquet_files
from hpgraph.cluster.worker import drop
from hpgraph.cluster.workers import Workers
from hpgraph.containers.graph import Graph as LocalGraph
from hpgraph.containers.graph import as_graph, one_of, whole
from hpgraph.containers.layouts import Layouts
from hpgraph.containers.names import Names, as_names
from hpgraph.containers.streamed_graph import StreamedGraph
from hpgraph.core.device import Device, normalize_device, prefix_sum
from hpgraph.core.devices import even_ranges
from hpgraph.core.placements import check_serves, not_served
from hpgraph.engine.run import run
from hpgraph.formats import CSR
from hpgraph.formats.duplicates import Duplicates
from hpgraph.io.hpg_reader import GraphFile
from hpgraph.io.opening import in_pages
from hpgraph.io.remote import given_path
from hpgraph.placement.of_graph import arcs_of


class Layout(TypedDict, total=False):
    """Parameters of the partition into blocks, and the device that computes them; see `Graph`."""

    blocks: int | None
    shape: tuple[int, int] | None
    limits: Limits | None
    device: Device


class Graph(Algorithms, Placement):
    """A graph on a cluster, in an r × c grid of blocks; made by `from_graph`, `from_edges`, `from_parquet` or `open`.

    Attributes
    ----------
    client : distributed.Client
    grid : Grid
        The vertices and arcs of each block.
    limits : Limits
        Timeouts.
    blocks_on : {"cpu", "cuda"}
        Device on which blocks are computed.

    Notes
    -----
    Blocks are in the workers' processes, outside the memory that Dask manages, until `close`, or until no reference to
    the graph is left. All constructors accept ``**layout``: ``blocks`` (int; default, the number of workers), ``shape``
    ((int, int), rows and columns of the grid; default, the squarest of `blocks`), ``limits``, and ``device``, "cpu" or
    "cuda", the first GPU that a worker sees: `local` and dask-cuda give each its own. They raise a ClusterError if
    there are no workers, or their versions of Python, NumPy, Numba or hpgraph differ, and a DeviceMemoryError if a
    worker's memory is too small for its blocks, before these are sent.

    Examples
    --------
    >>> client = hpg.cluster.local(n_workers=2)  # doctest: +SKIP
    >>> C = hpg.cluster.Graph.from_graph(client, hpg.datasets.grid(100))  # doctest: +SKIP
    >>> C.bfs(0).level.max()  # doctest: +SKIP
    198
    """

    on_cluster, in_one_memory = True, False
    # Data in the client's own memory.
    device = "cpu"
    run_on_workers = run_declared

    def __init__(
        self, client: Client, source: Any, grid: Grid, *, arcs: np.ndarray | None = None, weight: np.dtype | None,
        directed: bool, names: Names | None = None, **layout: Unpack[Layout],
    ) -> None:  # fmt: skip
        self.client, self.source, self.grid = client, source, grid
        self.limits = layout.get("limits") or Limits()
        self.blocks_on = normalize_device(layout.get("device", "cpu"))
        self.n_vertices, self.id_dtype = grid.n, grid.ids
        self.dtype, self.weighted = weight, weight is not None
        self._layouts, self._names = Layouts(directed=directed), names
        self.key = uuid.uuid4().hex
        self._begin_placement(arcs)
        self.settle(Workers(client, self.limits))
        self._finalizer = weakref.finalize(self, _drop, client, self.key)

    @classmethod
    def from_graph(
        cls, client: Client, G: Any, *, order: Literal["auto", "given", "scattered"] = "auto",
        duplicates: Duplicates | None = None, **layout: Unpack[Layout],
    ) -> Self:  # fmt: skip
        """Distribute a graph in this process over the workers.

        Parameters
        ----------
        client : distributed.Client
        G : Graph or what `hpgraph.as_graph` takes
            On the CPU. It is kept in memory, because blocks may have to be loaded again.
        order : {"auto", "given", "scattered"}
            Whether ranges of vertices follow their order, which keeps short arcs inside blocks, or are scattered;
            "auto" scatters them if blocks would be uneven.
        duplicates : {"min", "max", "sum", "first", "error"}, optional
            As for `hpgraph.Graph`, if `G` is not a graph yet.
        **layout
            As for the class.
        """
        graph = (as_graph(G) if isinstance(G, LocalGraph) else LocalGraph(G, duplicates=duplicates)).to("cpu")
        graph.require_simple("a graph on a cluster")
        rows, columns = _shape(client, **layout)
        one_of(order, "order", ("auto", "given", "scattered"))
        source = InMemory(graph)
        grid, arcs = source.grid(rows, columns, order)
        names = None if graph.names is None else as_names(graph.names, graph.n_vertices)
        return cls(client, source, grid, arcs=arcs, weight=graph.dtype, directed=graph.directed, names=names, **layout)

    @classmethod
    def from_edges(  # type: ignore[override]
        cls, client: Client, source: Any, target: Any = None, weight: Any = None, *, n_vertices: int | None = None,
        directed: bool = True, duplicates: Duplicates | None = None, **layout: Unpack[Layout],
    ) -> Self:  # fmt: skip
        """A graph of the arcs ``source[k] -> target[k]``, from local arrays or Dask collections (scattered).

        Parameters
        ----------
        client : distributed.Client
        source : Dask data frame, Dask array, or array of integers
            A data frame with the columns source, target and optionally weight; or an array of sources.
        target, weight : arrays of the same kind, optional
            Dask arrays must have the same chunks.
        n_vertices : int, optional
            Default: one more than the largest id, for which the data are read twice.
        directed : bool
            False adds the reverse of each arc.
        duplicates : {"min", "max", "sum", "first", "error"}, optional
            As for `hpgraph.Graph`; "first" is in the order of partitions or chunks, and of rows within each.
        **layout
            As for the class.

        Raises
        ------
        ValueError, TypeError, IndexError
            If ids are not integers, negative, or too large; if there are duplicate arcs and `duplicates` is "error".

        Warns
        -----
        DuplicateEdgesWarning
            If duplicate arcs have different weights, and `duplicates` is not given.
        """
        if not hasattr(source, "to_delayed"):
            G = LocalGraph.from_edges(
                source, target, weight, n_vertices=n_vertices, directed=directed, duplicates=duplicates
            )
            return cls.from_graph(client, G, **layout)
        if target is None:
            pieces = list(client.compute(source.to_delayed()))
        else:
            columns = [np.ravel(one.to_delayed()) for one in (source, target, weight) if one is not None]
            if len({one.chunks for one in (source, target, weight) if one is not None}) > 1:
                raise ValueError("source, target and weight must have the same chunks: rechunk one as the other")
            pieces = [tuple(client.compute(list(columns_of_piece))) for columns_of_piece in zip(*columns, strict=True)]
        return cls._of_tables(client, Tables(pieces, not directed, duplicates), n_vertices, directed, **layout)

    @classmethod
    def from_parquet(
        cls, client: Client, paths: Any, *, n_vertices: int | None = None, directed: bool | None = None,
        duplicates: Duplicates | None = None, **layout: Unpack[Layout],
    ) -> Self:  # fmt: skip
        """A graph from Parquet files, read by workers; the client reads only metadata. Vertices are scattered.

        Parameters
        ----------
        client : distributed.Client
        paths : str, os.PathLike or list of such
            Paths or URLs of `fsspec`, with ``*`` as wildcard: ``"s3://web/edges/*.parquet"``. Columns source, target
            and, optionally, weight; ids are integers.
        n_vertices, directed : optional
            Default: from the metadata of `hpgraph.write`, else as for `from_edges`.
        duplicates : {"min", "max", "sum", "first", "error"}, optional
            As for `from_edges`; "first" is in the order of files, and of rows within each.
        **layout
            As for the class.

        Raises
        ------
        ValueError, FileNotFoundError, FileFormatError, IndexError
            As for `from_edges`; if vertices have names, or only some files are of undirected graphs.
        """
        files = parquet_files(paths, n_vertices, directed)
        tables = Tables(files.pieces, not files.directed, duplicates)
        return cls._of_tables(client, tables, files.n_vertices, files.directed, **layout)

    @classmethod
    def _of_tables(
        cls, client: Client, tables: Tables, n_vertices: int | None, directed: bool, **layout: Unpack[Layout]
    ) -> Self:
        rows, columns = _shape(client, **layout)
        found, weight = tables.facts(client)
        n = found if n_vertices is None else whole(n_vertices, "n_vertices")
        if n < found:
            raise IndexError(f"vertex {found - 1} is out of range for {n} vertices: give n_vertices={found}")
        bounds = np.arange(rows * columns + 1) * n // (rows * columns)
        grid = Grid(rows, columns, bounds, Order.scattered(n))
        return cls(client, tables, grid, weight=weight, directed=directed, **layout)

    @classmethod
    def open(cls, client: Client, path: Any, **layout: Unpack[Layout]) -> Self:
        """A graph from an ``.hpg`` file that all workers can read; each reads the pages of its blocks.

        Vertices keep their order; ranges have about equally many arcs. ``**layout`` is as for the class. A
        FileFormatError is raised if the file is damaged or of another format.
        """
        file = GraphFile(given_path(path).absolute())
        streamed = in_pages(file, StreamedGraph)
        rows, columns = _shape(client, **layout)
        n = streamed.n_vertices
        arcs = prefix_sum(streamed.out_degree + 1)
        grid = Grid(rows, columns, even_ranges(arcs, rows * columns, multiple=1), Order(n))
        names = None if streamed.names is None else as_names(streamed.names, n)
        source, directed = File(str(file.path), checksum_of(file)), streamed.directed
        return cls(client, source, grid, weight=streamed.dtype, directed=directed, names=names, **layout)

    def run(self, program: Any, **arguments: Any) -> ClusterResult:
        """`hpgraph.run` of a vertex program from one start, superstep by superstep, on all workers.

        Parameters
        ----------
        program : VertexProgram
        **arguments
            As for `hpgraph.run`, and options of the run: ``gather=False`` leaves properties on the workers, as Dask
            arrays; ``checkpoint``: a folder, or a URL of an object store, for checkpoints; ``every``: seconds between
            them (60); ``restarts``: maximum number of restarts after lost workers without a checkpoint in between (8);
            ``threads``: threads of each block.
        """
        with options_of(arguments).given():
            return run(program, self, **arguments)  # type: ignore[return-value]

    def count_triangles(self, **options: Any) -> ClusterResult:
        """Count the triangles at each vertex of an undirected graph, as the property ``count``."""
        with options_of(options).given():
            return count_triangles(self)

    def count_in_blocks(self, kernel: str) -> list[Any]:
        """The triangles at each vertex, or their total, counted as by the kernels for a graph in memory."""
        if kernel == "triangles_of_each":
            return [count_triangles(self).count]
        return [int(count_triangles(self).count.sum()) // 3]

    def __matmul__(self, x: Any) -> np.ndarray:
        """The adjacency matrix times `x`, an array of shape (n,) or (n, k); float64."""
        x = np.asarray(x, np.float64)
        if x.ndim not in (1, 2) or len(x) != self.n_vertices:
            raise ValueError(f"x must have a row for each of {self.n_vertices} vertices, not the shape {x.shape}")
        return AdjacencyOperator(self) @ x

    def _check_serves(self, name: str) -> None:
        check_serves("on a cluster", name, self.directed)

    def least_weight(self) -> float:
        """The least weight of all arcs, 1 without weights, NaN if any is NaN."""
        return float(np.min([one.facts.least for one in self._loaded.values()])) if self.weighted else 1.0

    @property
    def out_csr(self) -> CSR:  # type: ignore[override]
        """Raises: the arcs stay on the workers."""
        raise not_served("on a cluster")

    in_csr = out_csr

    def of_out_degrees(self, make: Callable[[Any], Any]) -> OfDegrees:
        """An array by vertex that blocks compute from their out-degrees."""
        return OfDegrees(self, make)

    def _build_out_degree(self) -> np.ndarray:
        return self.run(OutDegree, degree=OfDegrees(self, np.asarray)).degree

    def _build_in_degree(self) -> np.ndarray:
        if not self.directed:
            return np.asarray(self.out_degree)
        return self.run(InDegree, degree=OfDegrees(self, np.asarray)).degree

    def loops(self) -> np.ndarray:
        """Number of loops of each vertex."""
        return self.run(Loops, degree=0).degree

    def memory_for_arcs(self) -> contextlib.AbstractContextManager[int]:
        """Bytes of this process for arcs: none, since they stay on the workers."""
        return contextlib.nullcontext(-1)

    def weight_facts_of_blocks(self) -> list[tuple[WeightFacts, int]]:
        """Facts of the weights of each block, and their number."""
        found = [(one.facts, one.arcs) for _, one in sorted(self._loaded.items())]
        if any(facts.least < 0 for facts, _ in found):
            raise not_served("on a cluster", "weights are negative")
        return found

    def close(self) -> None:
        """Free the blocks on the workers."""
        self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        rows, columns = self.grid.rows, self.grid.columns
        kind = "directed" if self.directed else "undirected"
        where = f"{rows} × {columns} blocks on {len(set(self.placed.values()))} workers"
        return f"cluster.Graph: {self.n_vertices:,} vertices, {self.n_edges:,} arcs, {kind}, {where}"


@arcs_of.register
def _(graph: Graph, edges: str, weighted: bool, code: Any) -> Any:
    raise not_served("on a cluster", "active is of several starts, or phases are wanted")


def _shape(
    client: Client, blocks: int | None = None, shape: tuple[int, int] | None = None, limits: Limits | None = None,
    device: Device = "cpu",
) -> tuple[int, int]:  # fmt: skip
    """Rows and columns of the grid for a layout."""
    if shape is not None:
        rows, columns = (whole(side, "shape") for side in shape)
        if rows < 1 or columns < 1:
            raise ValueError(f"shape must be two numbers of at least 1, rows and columns, not {shape!r}")
        return rows, columns
    if blocks is None:
        return shape_for(len(Workers(client, limits or Limits()).wait_for_any()))
    return shape_for(whole(blocks, "blocks", least=1))


def _drop(client: Client, key: str) -> None:
    """Free a graph on the remaining workers."""
    if client.status != "running":
        return
    workers = Workers(client, Limits(silence=5))
    # If the scheduler or a worker is lost, so are its blocks.
    with contextlib.suppress(Exception):
        workers.ask(drop, key, workers=workers.there())
