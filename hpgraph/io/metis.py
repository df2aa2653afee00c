"""METIS's files (``.graph``): a line a vertex, with its neighbours and perhaps the weights of the edges to them.

G. Karypis, "METIS: a software package for partitioning unstructured graphs", version 5.1.0, section 4.1. The first line
says how many vertices and edges there are and, in FMT, which weights. Weights of vertices are passed over.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hpgraph.core.errors import FileFormatError
from hpgraph.io.arcs import Arcs, Array
from hpgraph.io.memory import Budget
from hpgraph.io.replace import replacing_text
from hpgraph.io.stream import open_text, shortened
from hpgraph.io.text_numbers import indices_of

if TYPE_CHECKING:
    from hpgraph.containers.graph import Graph

_ARC_BYTES = 48


def read_metis(path: Path, progress: bool | None, budget: Budget) -> Arcs:
    """A `Reader`: the edges, in both directions."""
    rows: list[Array] = []
    numbers: list[int] = []
    head: list[int] = []
    stride = skipped = 0
    with open_text(path, progress) as text:
        for at, line in enumerate(text, start=1):
            if line.startswith("%"):
                continue
            try:
                row = np.array(line.split(), dtype=np.int64)
            except (ValueError, OverflowError):
                raise FileFormatError(path, f"no whole numbers: {shortened(line)!r}", at) from None
            if not head:
                head = row.tolist()
                flags = f"{head[2] if len(head) > 2 else 0:03d}"
                if not 2 <= len(head) <= 4 or min(head) < 0 or len(flags) > 3 or not set(flags) <= {"0", "1"}:
                    raise FileFormatError(path, f"'N M [FMT [NCON]]' expected: {shortened(line)!r}", at)
                stride = 2 if flags[-1] == "1" else 1
                skipped = int(flags[-3] == "1") + int(flags[-2] == "1") * (head[3] if len(head) > 3 else 1)
                budget.check(2 * head[1] * _ARC_BYTES, f"the {head[1]} edges that {path} says it has")
                continue
            if len(rows) == head[0] and not row.size:
                continue
            if (row.size - skipped) % stride or row.size < skipped:
                raise FileFormatError(path, f"neighbours and weights must come in pairs: {shortened(line)!r}", at)
            rows.append(row[skipped:])
            numbers.append(at)
    if not head:
        raise FileFormatError(path, "the file is empty; its first line says how many vertices and edges there are")
    n, m = head[:2]
    if len(rows) != n:
        raise FileFormatError(path, f"{n} vertices expected, as its first line says, {len(rows)} lines found")
    sizes = np.fromiter((row.size // stride for row in rows), np.int64, n)
    if sizes.sum() != 2 * m:
        raise FileFormatError(path, f"{m} edges expected, each at both ends, {sizes.sum()} ends found")
    flat = np.concatenate([*rows, np.empty(0, np.int64)]).reshape(-1, stride)
    source = np.repeat(np.arange(n), sizes)
    target = indices_of(path, flat[:, 0], n, np.repeat(np.array(numbers, np.int64), sizes))
    return Arcs(source, target, flat[:, 1].copy() if stride == 2 else None, n, directed=False, mirrored=True)


def write_metis(graph: Graph, path: Path) -> None:
    """A `Writer`, of an undirected graph without loops.

    Names are not written. Weights must be whole numbers above zero.
    """
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
