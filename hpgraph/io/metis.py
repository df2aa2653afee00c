"""METIS's files (``.graph``): a line a vertex, with its neighbours and perhaps the weights of the edges to them.

G. Karypis, "METIS: a software package for partitioning unstructured graphs", version 5.1.0, section 4.1. The first line
gives the number of vertices and edges and, in FMT, the weights that are there. Weights of vertices are skipped.
"""

from array import array
from pathlib import Path

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.core.errors import FileFormatError
from hpgraph.io.arcs import Arcs, Array
from hpgraph.io.memory import Budget, Taken
from hpgraph.io.replace import replacing_text
from hpgraph.io.stream import open_text, shortened
from hpgraph.io.text_numbers import indices_of

_ARC_BYTES = 48
_ROW_BYTES = 40


def read_metis(path: Path, progress: bool | None, budget: Budget) -> Arcs:
    """A `Reader`: the edges, in both directions."""
    # Neighbours and weights of all rows, one after the other; the length of each row, and its line.
    flat, lengths, numbers = array("q"), array("q"), array("q")
    head: list[int] = []
    stride, skipped, taken = 0, 0, Taken(budget, path)
    with open_text(path, progress) as text:
        for at, line in enumerate(text, start=1):
            if line.startswith("%"):
                continue
            try:
                row = array("q", map(int, line.split()))
            except (ValueError, OverflowError):
                raise FileFormatError(path, f"no whole numbers: {shortened(line)!r}", at) from None
            if not head:
                head = row.tolist()[:5]
                flags = f"{head[2] if len(head) > 2 else 0:03d}"
                if not 2 <= len(head) <= 4 or min(head) < 0 or len(flags) > 3 or not set(flags) <= {"0", "1"}:
                    raise FileFormatError(path, f"'N M [FMT [NCON]]' expected: {shortened(line)!r}", at)
                stride = 2 if flags[-1] == "1" else 1
                skipped = int(flags[-3] == "1") + int(flags[-2] == "1") * (head[3] if len(head) > 3 else 1)
                budget.check(2 * head[1] * _ARC_BYTES, f"the {head[1]} edges that {path} says it has")
                continue
            if len(lengths) == head[0] and not row:
                continue
            if (len(row) - skipped) % stride or len(row) < skipped:
                raise FileFormatError(path, f"neighbours and weights must come in pairs: {shortened(line)!r}", at)
            flat += row[skipped:]
            lengths.append(len(row) - skipped)
            numbers.append(at)
            taken.add(_ROW_BYTES + len(row) * _ARC_BYTES // stride)
    if not head:
        raise FileFormatError(path, "the file is empty; its first line says how many vertices and edges there are")
    n, m = head[:2]
    if len(lengths) != n:
        raise FileFormatError(path, f"{n} vertices expected, as its first line says, {len(lengths)} lines found")
    sizes: Array = np.frombuffer(lengths, np.int64) // stride
    if sizes.sum() != 2 * m:
        raise FileFormatError(path, f"{m} edges expected, each at both ends, {sizes.sum()} ends found")
    table = np.frombuffer(flat, np.int64).reshape(-1, stride)
    source = np.repeat(np.arange(n), sizes)
    target = indices_of(path, table[:, 0], n, np.repeat(np.frombuffer(numbers, np.int64), sizes))
    weight = table[:, 1].copy() if stride == 2 else None
    return Arcs(source, target, weight, n, directed=False, mirrored=True)


def write_metis(graph: Graph, path: Path) -> None:
    """A `Writer`, without names, of an undirected graph without loops; weights are whole numbers above zero."""
    csr = graph.out_csr
    arcs = Arcs.of(graph)
    if graph.directed or (arcs.source == arcs.target).any():
        raise ValueError(f"{path}: METIS's files hold undirected graphs without loops; .mtx holds others")
    weight = csr.data
    if weight is not None and (weight.dtype.kind not in "iu" or weight.min(initial=1) < 1):
        raise ValueError(f"{path}: METIS's weights are whole numbers above zero; .mtx holds others")
    fields = csr.indices + 1 if weight is None else np.column_stack([csr.indices + 1, weight])
    with replacing_text(path) as text:
        text.write(f"{graph.n_vertices} {arcs.source.size // 2}{'' if weight is None else ' 001'}\n")
        for begin, end in zip(csr.indptr[:-1].tolist(), csr.indptr[1:].tolist(), strict=True):
            text.write(" ".join(map(str, fields[begin:end].ravel().tolist())) + "\n")
