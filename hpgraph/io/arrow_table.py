"""Whole graphs in Parquet, Arrow and Feather files: a table of edges, and in its metadata what a table cannot say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hpgraph.containers.name_arrays import text_or_numbers
from hpgraph.core.errors import MissingExtraError
from hpgraph.io.arc_stream import joined
from hpgraph.io.arcs import Arcs
from hpgraph.io.arrow_stream import OWN, ROWS, arrow_stream
from hpgraph.io.memory import Budget
from hpgraph.io.replace import replacing

if TYPE_CHECKING:
    from hpgraph.containers.graph import Graph


def read_arrow(path: Path, progress: bool | None, budget: Budget, **how: Any) -> Arcs:
    """A `Reader` with the further parameters of `arrow_stream`. It needs pyarrow."""
    return joined(path, arrow_stream(path, progress, budget, **how), budget)


def write_arrow(graph: Graph, path: Path) -> None:
    """A `Writer` of a table of columns source, target and weight: an undirected edge once. It needs pyarrow.

    Names must be all text or all whole numbers; vertices without an edge are then left out, as in edge lists.
    """
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError("pyarrow", "arrow", f"writing {path.suffix} files") from None
    arcs = Arcs.of(graph).each_edge_once()
    said: dict[str, Any] = {"directed": arcs.directed, "ids": "index", "n_vertices": arcs.n_vertices}
    ends: list[Any] = [arcs.source, arcs.target]
    if arcs.names is not None:
        known = text_or_numbers(arcs.names)
        if known is None:
            raise ValueError(f"{path}: names are all text or all whole numbers there, and some are neither")
        said = {"directed": arcs.directed, "ids": "number" if known.dtype.kind in "iu" else "name"}
        called = pyarrow.array(known.astype(object) if known.dtype.kind not in "iu" else known)
        ends = [called.take(pyarrow.array(end)) for end in ends]
    columns = {"source": ends[0], "target": ends[1]}
    if arcs.weight is not None:
        columns["weight"], said["weight"] = arcs.weight, arcs.weight.dtype.str
    table = pyarrow.table(columns).replace_schema_metadata({OWN: json.dumps(said)})
    with replacing(path) as file:
        if path.suffix.lower() == ".parquet":
            import pyarrow.parquet

            pyarrow.parquet.write_table(table, file, compression="zstd")
        else:
            with pyarrow.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table, max_chunksize=ROWS)
