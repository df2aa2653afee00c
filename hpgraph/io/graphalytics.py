"""Graphs of the LDBC Graphalytics benchmark: ``NAME.v`` with an id a line, ``NAME.e`` with an edge a line.

A. Iosup et al., "The LDBC Graphalytics benchmark", version 1.0.5, section 2.2: ids are any whole numbers, edges are
separated by one blank, with a weight where there are weights. ``NAME.properties`` beside them says whether edges have a
direction, in a line ``graph.NAME.directed = true``.
"""

import re
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.core.errors import FileFormatError
from hpgraph.io.arcs import Arcs, Array
from hpgraph.io.memory import Budget, Taken
from hpgraph.io.replace import replacing_text
from hpgraph.io.stream import open_text
from hpgraph.io.text_numbers import columns_of, edge_columns

_DIRECTED = re.compile(r"^\s*graph\.[^=]*\bdirected\s*[=:]\s*(true|false)\s*$", re.IGNORECASE)
_LINE_BYTES = 250


def read_graphalytics(path: Path, progress: bool | None, budget: Budget) -> Arcs:
    """A `Reader`: the arcs of ``NAME.e`` between the vertices of ``NAME.v``, from the path of either of the two."""
    properties = path.with_suffix(".properties")
    match = None
    if properties.is_file():
        with open_text(properties) as text:
            match = next(filter(None, map(_DIRECTED.match, text)), None)
    vertices, at = _lines(path.with_suffix(".v"), progress, budget)
    (ids,) = columns_of(path.with_suffix(".v"), vertices, at, "i8,")
    edges, at = _lines(path.with_suffix(".e"), progress, budget)
    columns = len(edges[0].split()) if edges else 2
    if columns not in (2, 3):
        raise FileFormatError(path.with_suffix(".e"), f"two ids and perhaps a weight expected: {edges[0]!r}", at[0])
    *ends, weight = edge_columns(path.with_suffix(".e"), edges, at, columns)
    order = np.argsort(ids, kind="stable")
    known = ids[order]
    if (np.diff(known) == 0).any():
        raise FileFormatError(path.with_suffix(".v"), f"vertex {known[1:][np.diff(known) == 0][0]} is there twice")
    source, target = (_places(path.with_suffix(".e"), known, order, ids, at) for ids in ends)
    names = None if np.array_equal(ids, np.arange(ids.size)) else ids
    return Arcs(source, target, weight, ids.size, match is None or match[1].lower() == "true", names)


def _lines(path: Path, progress: bool | None, budget: Budget) -> tuple[list[str], list[int]]:
    lines, numbers = [], []
    taken = Taken(budget, path)
    with open_text(path, progress) as text:
        for at, line in enumerate(text, start=1):
            if line.strip():
                lines.append(line)
                numbers.append(at)
                taken.add(_LINE_BYTES + len(line))
    return lines, numbers


def _places(path: Path, known: Array, order: Array, ids: Array, lines: list[int]) -> Array:
    place = np.searchsorted(known, ids)
    found = known[np.minimum(place, known.size - 1)] == ids if known.size else np.zeros(ids.size, np.bool_)
    if not found.all():
        at = int(np.flatnonzero(~found)[0])
        raise FileFormatError(path, f"vertex {ids[at]} is not in the file of vertices beside it", lines[at])
    return order[place]


def write_graphalytics(graph: Graph, path: Path) -> None:
    """A `Writer` of ``NAME.v``, ``NAME.e`` and ``NAME.properties``: an undirected edge once, names whole numbers."""
    arcs = Arcs.of(graph).each_edge_once()
    ids = np.arange(arcs.n_vertices) if arcs.names is None else np.asarray(arcs.names)
    if ids.dtype.kind not in "iu":
        raise ValueError(f"{path}: vertices are whole numbers there, and some names are not; .csv holds text")
    columns = [ids[arcs.source].tolist(), ids[arcs.target].tolist()]
    if arcs.weight is not None:
        columns.append(arcs.weight.tolist())
    lines = (" ".join(map(repr, row)) + "\n" for row in zip(*columns, strict=True))
    places = (path.with_suffix(suffix) for suffix in (".v", ".properties", ".e"))
    with ExitStack() as files:
        texts = vertices, properties, edges = [files.enter_context(replacing_text(place)) for place in places]
        vertices.writelines(f"{id}\n" for id in ids.tolist())
        properties.write(f"graph.{path.stem}.directed = {str(graph.directed).lower()}\n")
        edges.writelines(lines)
        # All three are on the disk before the first takes its place: new vertices do not fit old edges.
        for text in texts:
            text.flush()
