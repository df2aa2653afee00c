"""Formats of graph files by suffix, and their readers and writers."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from hpgraph.io.arc_stream import ArcStream
from hpgraph.io.arcs import Arcs
from hpgraph.io.arrow_stream import ARROW, arrow_stream, read_arrow, write_arrow
from hpgraph.io.dimacs import read_dimacs, write_dimacs
from hpgraph.io.dot import read_dot, write_dot
from hpgraph.io.edge_list import edge_list_stream, read_edge_list, write_edge_list
from hpgraph.io.gapbs import read_gapbs, write_gapbs
from hpgraph.io.graph_tool import read_graph_tool, write_graph_tool
from hpgraph.io.graphalytics import read_graphalytics, write_graphalytics
from hpgraph.io.graphml import read_graphml, write_graphml
from hpgraph.io.konect import read_konect, write_konect
from hpgraph.io.matrix_market import matrix_market_stream, read_matrix_market, write_matrix_market
from hpgraph.io.metis import read_metis, write_metis
from hpgraph.io.networkx_formats import reader, writer
from hpgraph.io.npz import npz_stream, read_npz, write_npz
from hpgraph.io.replace import is_zipped

EDGE_LISTS = (".txt", ".tsv", ".csv", ".el", ".wel")
"""Suffixes of edge lists; each also with .gz and .zst."""


class Kind(NamedTuple):
    """A format: suffixes, `Reader`, `Writer`, reader in batches of arcs, and whether files may be zipped."""

    suffixes: tuple[str, ...]
    read: Callable[..., Arcs]
    write: Callable[..., None]
    stream: Callable[..., ArcStream] | None = None
    zipped: bool = True


# Formats that are compressed internally, or consist of several files, are not zipped.
KINDS = {
    "Matrix Market": Kind((".mtx",), read_matrix_market, write_matrix_market, matrix_market_stream),
    "npz": Kind((".npz",), read_npz, write_npz, npz_stream, zipped=False),
    "edge list": Kind(EDGE_LISTS, read_edge_list, write_edge_list, edge_list_stream),
    "Arrow": Kind(ARROW, read_arrow, write_arrow, arrow_stream, zipped=False),
    "GraphML": Kind((".graphml",), read_graphml, write_graphml),
    "DOT": Kind((".dot", ".gv"), read_dot, write_dot),
    "GML": Kind((".gml",), reader("GML"), writer("GML")),
    "GEXF": Kind((".gexf",), reader("GEXF"), writer("GEXF")),
    "Pajek": Kind((".net",), reader("Pajek"), writer("Pajek")),
    "JSON": Kind((".json",), reader("JSON"), writer("JSON")),
    "graph-tool": Kind((".gt",), read_graph_tool, write_graph_tool),
    "METIS": Kind((".graph", ".metis"), read_metis, write_metis),
    "DIMACS": Kind((".gr", ".col"), read_dimacs, write_dimacs),
    "GAPBS": Kind((".sg", ".wsg"), read_gapbs, write_gapbs),
    "KONECT": Kind((), read_konect, write_konect),
    "Graphalytics": Kind((".v", ".e"), read_graphalytics, write_graphalytics, zipped=False),
}


def kind_of(path: Path) -> str:
    """The format of a file, by its suffix."""
    zipped = is_zipped(path)
    suffix = "".join(path.suffixes[-2:-1] if zipped else path.suffixes[-1:]).lower()
    if suffix == ".hpg" and not zipped:
        return "hpg"
    kind = next((name for name, one in KINDS.items() if suffix in one.suffixes), None)
    if kind is None and path.name.startswith("out."):
        return "KONECT"
    if kind is None or (zipped and not KINDS[kind].zipped):
        raise ValueError(
            f"{path}: the suffix does not name a known format; known are .mtx (Matrix Market), "
            f"{', '.join(EDGE_LISTS)} (edge lists), .graphml, .dot, .gv, .gml, .gexf, .net (Pajek), .json "
            "(node-link), .gt (graph-tool), .graph (METIS), .gr and .col (DIMACS), .sg and .wsg (GAPBS), these also "
            "with .gz or .zst, .v and .e (LDBC Graphalytics), .parquet, .arrow, .feather, .npz (SciPy sparse array) "
            "and .hpg (hpgraph's own)"
        )
    return kind
