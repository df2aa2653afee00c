"""KONECT's files, ``out.NAME``: J. Kunegis, "KONECT: the Koblenz network collection", WWW'13, and its handbook.

``% sym``, ``asym`` or ``bip``, and the kind of weights; perhaps ``% edges rows columns``; then edges, their weights or
numbers, and their times, which are passed over. Ids begin at 1; those of the two sides of a bipartite network are told
apart by the column that they stand in.
"""

import dataclasses
from pathlib import Path

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.core.errors import FileFormatError
from hpgraph.io.arcs import Arcs
from hpgraph.io.edge_list import read_edge_list
from hpgraph.io.memory import Budget
from hpgraph.io.stream import LONGEST_LINE, open_bytes

_EDGES = {"sym": False, "bip": False, "asym": True}


def read_konect(path: Path, progress: bool | None, budget: Budget) -> Arcs:
    """A `Reader`; of a bipartite network the vertices of the second column follow those of the first."""
    with open_bytes(path) as file:
        first, second = (file.readline(LONGEST_LINE).split() for _ in range(2))
    kind = first[1].decode(errors="replace") if len(first) > 1 and first[0] == b"%" else ""
    if kind not in _EDGES:
        raise FileFormatError(path, "its first line is not % sym, asym or bip, and the kind of weights", line=1)
    declared = [int(word) for word in second[1:4] if word.isdigit()] if second[:1] == [b"%"] else []
    arcs = read_edge_list(path, progress, budget, comments=("%",), delimiter=None, n_vertices=None, names=False)
    if arcs.source.size and min(int(arcs.source.min()), int(arcs.target.min())) < 1:
        raise FileFormatError(path, "an id below 1")
    rows, columns = (int(ends.max()) if ends.size else 0 for ends in (arcs.source, arcs.target))
    if len(declared) == 3:
        found = arcs.source.size
        # A line may stand for several edges, as many as its weight.
        if found < declared[0] and (arcs.weight is None or arcs.weight.sum() != declared[0]):
            raise FileFormatError(path, f"{declared[0]} edges expected, as its second line says, {found} found")
        if rows > declared[1] or columns > declared[2]:
            raise FileFormatError(path, f"an id above {declared[1]} and {declared[2]}, which its second line says")
        rows, columns = declared[1:]
    n = rows + columns if kind == "bip" else max(rows, columns)
    budget.check(16 * n, f"a graph of {n} vertices, as {path} says,")
    # The sum of both sides may need more bits than an id of one.
    source, target = (ends.astype(np.int64) for ends in (arcs.source, arcs.target))
    target += rows if kind == "bip" else 0
    return dataclasses.replace(
        arcs, source=source - 1, target=target - 1, n_vertices=n, directed=_EDGES[kind], names=None
    )


def write_konect(graph: Graph, path: Path) -> None:
    """A `Writer` that refuses: only KONECT names its files so."""
    raise ValueError(f"{path}: files of KONECT are read alone; .tsv and other suffixes of edge lists are written")
