"""Arcs from tables: Parquet files, Dask data frames and Dask arrays; each worker reads pieces.

Each piece is split by block on its worker, and Dask transfers the parts to the blocks' workers and recomputes them if a
worker is lost meanwhile.
"""

import operator
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from distributed import Client

from hpgraph.cluster.blocks import Block
from hpgraph.cluster.grid import Grid
from hpgraph.cluster.sources import Loading
from hpgraph.containers.adjacency import with_reverses
from hpgraph.core.errors import FileFormatError, optional
from hpgraph.formats.duplicates import Duplicates, merging
from hpgraph.io.arrow_stream import table_metadata
from hpgraph.io.line_format import arc_columns


class Tables:
    """Pieces of a table of arcs, in order: the first of duplicate arcs is that in the first piece."""

    def __init__(self, pieces: Sequence[Any], both_ways: bool, duplicates: Duplicates | None) -> None:
        self.pieces, self.both_ways = list(pieces), both_ways
        self.duplicates = merging(duplicates, "a graph on a cluster")

    def facts(self, client: Client) -> tuple[int, np.dtype | None]:
        """One more than the largest id, and the type of the weights; every piece is read once."""
        facts = client.gather([client.submit(facts_of, _spread(piece), pure=False) for piece in self.pieces])
        dtypes = [dtype for _, dtype in facts if dtype is not None]
        if self.duplicates == "sum":
            dtypes = dtypes or [np.dtype(np.int64)]
        return max((largest for largest, _ in facts), default=-1) + 1, np.result_type(*dtypes) if dtypes else None

    def loadings(self, client: Client, grid: Grid, placed: dict[int, str]) -> Iterator[Loading]:
        """Split the pieces, and assemble blocks from the parts."""
        blocks, table = sorted(placed), grid.table()
        split = [
            client.submit(split_piece, _spread(piece), table, blocks, self.both_ways, pure=False)
            for piece in self.pieces
        ]
        for block in blocks:
            parts = [client.submit(operator.itemgetter(block), future, pure=False) for future in split]
            yield block, Block.of_parts, (parts, self.duplicates)

    def table(self, graph: str) -> dict[str, Any]:
        """Tables may change, so the blocks are saved."""
        return {"kind": "saved", "name": f"graph-{graph}"}


def _spread(piece: Any) -> Any:
    """A piece as an argument of a task: futures in a list are found by Dask."""
    return list(piece) if isinstance(piece, tuple) else piece


class Files(NamedTuple):
    """Parquet files: path and number of each row group, and the metadata of `hpgraph.write`."""

    pieces: list[tuple[str, int]]
    n_vertices: int | None
    directed: bool


def parquet_files(paths: Any, n_vertices: int | None, directed: bool | None) -> Files:
    """The row groups of Parquet files, and their metadata."""
    import fsspec  # type: ignore[import-untyped]

    parquet = optional("pyarrow.parquet", "arrow", "reading Parquet files")
    listed = [str(path) for path in (paths if isinstance(paths, list | tuple) else [paths])]
    files = [file for path in listed for file in fsspec.open_files(path, "rb")]
    pieces, metadata = [], {}
    for one in files:
        with one as file:
            table = parquet.ParquetFile(file)
            metadata[one.full_name] = own = table_metadata(one.full_name, table.schema_arrow.metadata or {})
            pieces += [(one.full_name, group) for group in range(table.metadata.num_row_groups)]
        if own.get("ids") == "name" or (own.get("ids") == "number" and n_vertices is None):
            remedy = ", or give n_vertices to take them as ids" if own["ids"] == "number" else ""
            raise ValueError(
                f"the vertices of {one.full_name} have names, which blocks do not store: "
                f"Graph.from_graph(client, hpgraph.read(path)) keeps them{remedy}"
            )
    if not pieces:
        raise FileNotFoundError(f"no Parquet file matches {', '.join(listed)}, or all are empty")
    ways = {own.get("directed", True) for own in metadata.values()}
    if directed is None and len(ways) > 1:
        one_way = next(name for name, own in metadata.items() if own.get("directed", True))
        both = next(name for name, own in metadata.items() if not own.get("directed", True))
        raise ValueError(f"{both} is of an undirected graph and {one_way} is not: give directed=True or directed=False")
    counts = [own["n_vertices"] for own in metadata.values() if "n_vertices" in own]
    return Files(
        pieces, max(counts, default=None) if n_vertices is None else n_vertices,
        ways == {True} if directed is None else bool(directed),
    )  # fmt: skip


def arrays_of(piece: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Sources, targets and weights of a piece of any kind."""
    if isinstance(piece, list) and isinstance(piece[0], str):
        return _of_parquet(*piece)
    if hasattr(piece, "columns"):
        titles = [str(title) for title in piece.columns]
        columns = [piece[piece.columns[place]].to_numpy() for place in arc_columns("the data frame", titles)]
    else:
        columns = [np.asarray(column) for column in piece]
    for column, name in zip(columns, ("source", "target"), strict=False):
        if column.dtype.kind not in "iu":
            raise ValueError(f"{name} must be whole numbers, not {column.dtype}")
        if len(column) and int(column.min()) < 0:
            raise IndexError(f"{name} has a negative id, {int(column.min())}")
    return columns[0], columns[1], columns[2] if len(columns) > 2 else None


def _of_parquet(path: str, group: int) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    import fsspec
    import pyarrow.parquet

    with fsspec.open(path, "rb") as file:
        table = pyarrow.parquet.ParquetFile(file)
        names = table.schema_arrow.names
        chosen = [names[place] for place in arc_columns(path, names)]
        read = table.read_row_group(group, columns=chosen)
        if any(read.column(name).null_count for name in chosen):
            raise FileFormatError(path, "a column has rows without a value")
        return arrays_of([read.column(name).to_numpy() for name in chosen])


def facts_of(piece: Any) -> tuple[int, np.dtype | None]:
    """The largest id of a piece, and the type of its weights."""
    source, target, weight = arrays_of(piece)
    return max(int(source.max(initial=-1)), int(target.max(initial=-1))), None if weight is None else weight.dtype


def split_piece(piece: Any, table: dict[str, Any], blocks: list[int], both_ways: bool) -> dict[int, Any]:
    """A piece's arcs by block: positions of sources and of targets, and weights."""
    grid = Grid.of_table(table)
    source, target, weight = arrays_of(piece)
    largest = max(int(source.max(initial=-1)), int(target.max(initial=-1)))
    if largest >= grid.n:
        raise IndexError(f"vertex {largest} is out of range for {grid.n} vertices: give n_vertices={largest + 1}")
    ends = [grid.order.positions(column).astype(grid.ids) for column in (source, target)]
    if both_ways:
        *ends, weight = with_reverses(ends[0], ends[1], weight)
    of = grid.block_of(*ends)
    order = np.argsort(of, kind="stable")
    bounds = np.searchsorted(of[order], np.arange(grid.blocks + 1))
    made = {}
    for block in blocks:
        rows = order[bounds[block] : bounds[block + 1]]
        made[block] = ends[0][rows], ends[1][rows], None if weight is None else weight[rows]
    return made
