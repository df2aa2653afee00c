"""Formats of graph files by suffix, and their readers and writers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hpgraph.io.arc_stream import ArcStream, matrix_market_stream, npz_stream
from hpgraph.io.arcs import Arcs, Reader, Writer
from hpgraph.io.arrow_stream import ARROW, arrow_stream
from hpgraph.io.arrow_table import read_arrow, write_arrow
from hpgraph.io.dimacs import read_dimacs, write_dimacs
from hpgraph.io.edge_list import edge_list_stream, read_edge_list
from hpgraph.io.edge_list_writer import write_edge_list
from hpgraph.io.gapbs import read_gapbs, write_gapbs
from hpgraph.io.graphalytics import read_graphalytics, write_graphalytics
from hpgraph.io.graphml import read_graphml, write_graphml
from hpgraph.io.matrix_market import read_matrix_market, write_matrix_market
from hpgraph.io.metis import read_metis, write_metis
from hpgraph.io.npz import read_npz, write_npz
from hpgraph.io.replace import is_zipped

EDGE_LISTS = (".txt", ".tsv", ".csv", ".el", ".wel")
"""Suffixes of edge lists; each also with .gz and .zst."""

_KINDS = {
    ".mtx": "Matrix Market",
    ".npz": "npz",
    ".hpg": "hpg",
    **dict.fromkeys(EDGE_LISTS, "edge list"),
    **dict.fromkeys(ARROW, "Arrow"),
    ".graphml": "GraphML",
    ".graph": "METIS",
    ".metis": "METIS",
    ".gr": "DIMACS",
    ".col": "DIMACS",
    ".sg": "GAPBS",
    ".wsg": "GAPBS",
    ".v": "Graphalytics",
    ".e": "Graphalytics",
}
# Compressed internally, or of several files.
_NOT_ZIPPED = frozenset({"npz", "hpg", "Arrow", "Graphalytics"})

_READERS: dict[str, Reader] = {
    "Matrix Market": read_matrix_market,
    "npz": read_npz,
    "GraphML": read_graphml,
    "METIS": read_metis,
    "DIMACS": read_dimacs,
    "GAPBS": read_gapbs,
    "Graphalytics": read_graphalytics,
}
READERS: dict[str, Callable[..., Arcs]] = {**_READERS, "edge list": read_edge_list, "Arrow": read_arrow}
"""Readers of whole files; those of edge lists and of tables take more parameters."""

STREAMS: dict[str, Callable[..., ArcStream]] = {
    "edge list": edge_list_stream,
    "Arrow": arrow_stream,
    "Matrix Market": matrix_market_stream,
    "npz": npz_stream,
}
"""Readers in batches of arcs, with the parameters of the whole-file readers."""

WRITERS: dict[str, Writer] = {
    "Matrix Market": write_matrix_market,
    "npz": write_npz,
    "edge list": write_edge_list,
    "Arrow": write_arrow,
    "GraphML": write_graphml,
    "METIS": write_metis,
    "DIMACS": write_dimacs,
    "GAPBS": write_gapbs,
    "Graphalytics": write_graphalytics,
}


def kind_of(path: Path) -> str:
    """The format that the name of a file says."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    zipped = is_zipped(path)
    kind = _KINDS.get("".join(suffixes[-2:-1] if zipped else suffixes[-1:]))
    if kind is None or (zipped and kind in _NOT_ZIPPED):
        raise ValueError(
            f"{path}: the suffix does not name a known format; known are .mtx (Matrix Market), "
            f"{', '.join(EDGE_LISTS)} (edge lists), .graphml, .graph (METIS), .gr and .col (DIMACS), .sg and .wsg "
            "(GAPBS), these also with .gz or .zst, .v and .e (LDBC Graphalytics), .parquet, .arrow, .feather, .npz "
            "(SciPy sparse array) and .hpg (hpgraph's own)"
        )
    return kind
