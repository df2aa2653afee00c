"""Files of the DIMACS challenges: ``.gr`` of shortest paths, with weights, and ``.col`` of colouring, without.

http://www.diag.uniroma1.it/challenge9/format.shtml: a line ``p sp N M``, then a line ``a U V W`` an arc; in files of
colouring ``p edge N M`` and ``e U V``. Vertices are counted from 1; lines that begin with c are comments.
"""

from pathlib import Path

from hpgraph.containers.graph import Graph
from hpgraph.core.errors import FileFormatError
from hpgraph.io.arcs import Arcs
from hpgraph.io.memory import Budget, Taken
from hpgraph.io.replace import replacing_text
from hpgraph.io.stream import open_text, shortened
from hpgraph.io.text_numbers import edge_columns, indices_of

# Variants of the line p: first letter of an edge's line, its number of numbers, and whether it is an arc.
_KINDS = {"sp": ("a", 3, True), "edge": ("e", 2, False), "edges": ("e", 2, False), "col": ("e", 2, False)}
# Comment written by `write_dimacs`: the arcs are those of an undirected graph, in both directions.
_UNDIRECTED = "c hpgraph: undirected"
# Likewise for a graph without weights: the format requires a weight, which is 1.
_UNWEIGHTED = "c hpgraph: no weights"
_EDGE_BYTES = 200


def read_dimacs(path: Path, progress: bool | None, budget: Budget) -> Arcs:
    """A `Reader` of ``.gr`` and ``.col``: weights are int64, float64 where one is no whole number."""
    head: list[str] | None = None
    directed, weighted, edges, numbers = True, True, [], []
    taken = Taken(budget, path)
    with open_text(path, progress) as text:
        for at, line in enumerate(text, start=1):
            kind = line[:1]
            if kind in ("c", "\n", "n"):
                directed &= line.rstrip() != _UNDIRECTED
                weighted &= line.rstrip() != _UNWEIGHTED
            elif kind == "p" and head is None:
                head = line.split()
                if len(head) != 4 or head[1] not in _KINDS or not all(field.isdecimal() for field in head[2:]):
                    raise FileFormatError(path, f"'p sp N M' or 'p edge N M' expected: {shortened(line)!r}", at)
                budget.check(int(head[3]) * _EDGE_BYTES, f"the {head[3]} edges that {path} says it has")
            elif head is not None and kind == _KINDS[head[1]][0] and line[1:2].isspace():
                edges.append(line[2:])
                numbers.append(at)
                taken.add(_EDGE_BYTES + len(line))
            else:
                raise FileFormatError(path, f"no line of a DIMACS file: {shortened(line)!r}", at)
    if head is None:
        raise FileFormatError(path, "there is no line that begins with p, which says how many vertices there are")
    _, columns, arcs = _KINDS[head[1]]
    n = int(head[2])
    if len(edges) != int(head[3]):
        raise FileFormatError(path, f"{head[3]} edges expected, as its line p says, {len(edges)} found")
    *ends, weight = edge_columns(path, edges, numbers, columns)
    source, target = (indices_of(path, ids, n, numbers) for ids in ends)
    return Arcs(source, target, weight if weighted else None, n, arcs and directed, mirrored=arcs)


def write_dimacs(graph: Graph, path: Path) -> None:
    """A `Writer`, without names: ``.gr`` with weights, or 1 and a comment for `read_dimacs`; ``.col`` undirected."""
    arcs = Arcs.of(graph)
    coloured = ".col" in path.suffixes[-2:]
    if coloured and (graph.directed or graph.weighted):
        raise ValueError(f"{path}: a .col file holds undirected edges without weights; .gr holds arcs with weights")
    if coloured:
        arcs = arcs.each_edge_once()
    ends = (arcs.source + 1).tolist(), (arcs.target + 1).tolist()
    weight = [1] * arcs.source.size if arcs.weight is None else arcs.weight.tolist()
    lines = (
        (f"e {u} {v}\n" for u, v in zip(*ends, strict=True))
        if coloured
        else (f"a {u} {v} {w!r}\n" for u, v, w in zip(*ends, weight, strict=True))
    )
    with replacing_text(path) as text:
        if not graph.directed and not coloured:
            text.write(f"{_UNDIRECTED}\n")
        if not graph.weighted and not coloured:
            text.write(f"{_UNWEIGHTED}\n")
        text.write(f"p {'edge' if coloured else 'sp'} {arcs.n_vertices} {arcs.source.size}\n")
        text.writelines(lines)
