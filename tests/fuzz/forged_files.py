"""``.hpg`` files that are whole, checksums and all, and whose arcs are not what the format says, are refused.

    python -m tests.fuzz.forged_files --cases 10000 --seed 0

The arcs of a small graph are changed before a file is made of them: rows out of order, arcs twice, reverses missing or
of another weight, a false flag "undirected", arcs by target that are not those by source. A file that then breaks the
format must be refused when it is read whole; what is accepted, and what is opened and streamed, must end in eight
algorithms, within a time, by a result or an error of ours. Processes of their own do that, so that a crash is seen:
``--jobs J``, or ``make fuzz-files N=10000 JOBS=16``. A case follows from the seed and its number: ``--seed S --first K
--cases 1`` repeats one.
"""

from __future__ import annotations

import itertools
import sys
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import hpgraph as hpg
from hpgraph.io.hpg_writer import write_hpg
from tests.fuzz.supervised import is_ours, keep, limited, run

SECONDS = 120
"""That one algorithm may take."""
WARMING = 200
"""Cases of which those without a forgery are run before all others, with each algorithm."""
ALGORITHMS = 8
"""That are run on a graph."""

ODD: dict[str, list[Any]] = {
    "int64": [0, -1, -7, 2**62, 2**63 - 1, -(2**63)],
    "float32": [0.0, -0.0, -1.0, 3e38, 1e-45, np.inf, -np.inf, np.nan],
}
"""Weights that kernels could stumble on."""


@dataclass
class Side:
    """Rows as they go into a file, whether or not they are what they should be."""

    n: int
    rows: list[list[tuple[int, Any]]]
    dtype: str | None

    @property
    def indptr(self) -> np.ndarray:
        """Offsets of the rows."""
        return np.cumsum([0, *map(len, self.rows)], dtype=np.int64)

    @property
    def indices(self) -> np.ndarray:
        """Columns."""
        return np.array([column for row in self.rows for column, _ in row], np.int32)

    @property
    def data(self) -> np.ndarray | None:
        """Weights."""
        return None if self.dtype is None else np.array([w for row in self.rows for _, w in row], self.dtype)

    @classmethod
    def of(cls, n: int, arcs: dict[tuple[int, int], Any], dtype: str | None) -> Side:
        """Rows in order."""
        rows: list[list[tuple[int, Any]]] = [[] for _ in range(n)]
        for (u, v), weight in sorted(arcs.items()):
            rows[u].append((v, weight))
        return cls(n, rows, dtype)

    @property
    def keeps_order(self) -> bool:
        """Whether columns rise in every row."""
        return all(a[0] < b[0] for row in self.rows for a, b in itertools.pairwise(row))

    def arcs(self, turned: bool = False) -> list[tuple[int, int, Any]]:
        """Sorted triplets; every NaN is the same here, and 0.0 is -0.0."""
        found = [(u, v, w) for u, row in enumerate(self.rows) for v, w in row]
        found = [(u, v, 0 if w is None else "NaN" if w != w else w + 0) for u, v, w in found]
        return sorted([(v, u, w) for u, v, w in found] if turned else found, key=str)


@dataclass
class Forged:
    """What `write_hpg` asks of a graph."""

    directed: bool
    out_csr: Side
    in_csr: Side
    names: np.ndarray | None = None
    done: list[str] = field(default_factory=list)
    edge_columns = vertex_columns = ()
    # Rows may repeat a column: the reader is to refuse that.
    multigraph = False

    def simple(self) -> Forged:
        """Itself."""
        return self

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return self.out_csr.n

    @property
    def n_edges(self) -> int:
        """Number of arcs."""
        return sum(map(len, self.out_csr.rows))

    @property
    def dtype(self) -> np.dtype | None:
        """Type of weights."""
        return None if self.out_csr.dtype is None else np.dtype(self.out_csr.dtype)

    @property
    def keeps_format(self) -> bool:
        """Whether the arcs by source, which is what is read whole, are what docs/format.md says."""
        symmetric = self.directed or self.out_csr.arcs() == self.out_csr.arcs(turned=True)
        return self.out_csr.keeps_order and symmetric

    @property
    def sides_agree(self) -> bool:
        """Whether arcs by source and by target are the same, each in order."""
        other = self.in_csr if self.directed else self.out_csr
        return self.keeps_format and other.keeps_order and self.out_csr.arcs() == other.arcs(turned=True)


def forged(random: Random) -> Forged:
    """A graph of up to 40 vertices after none to three forgeries."""
    n, dtype = random.randrange(2, 40), random.choice([None, None, "int64", "float32"])
    undirected = random.random() < 0.6
    arcs: dict[tuple[int, int], Any] = {}
    for _ in range(random.choice([n, 3 * n, 6 * n])):
        u, v = random.randrange(n), random.randrange(n)
        arcs[u, v] = weight = _weight(random, dtype)
        if undirected:
            arcs[v, u] = weight
    turned = {(v, u): weight for (u, v), weight in arcs.items()}
    names = np.array([f"v{k}" for k in range(n)]) if random.random() < 0.2 else None
    graph = Forged(not undirected, Side.of(n, arcs, dtype), Side.of(n, turned, dtype), names)
    for _ in range(random.choice([0, 1, 1, 1, 2, 3])):
        forgery = random.choice(FORGERIES)
        side = random.choice([graph.out_csr, graph.out_csr, graph.in_csr])
        forgery(random, graph, side)
        graph.done.append(forgery.__name__)
    if graph.directed and len(graph.in_csr.indices) != graph.n_edges:
        # The header has one number of arcs for both sides.
        graph.in_csr = _as_long(random, graph.in_csr, graph.n_edges)
    return graph


def _weight(random: Random, dtype: str | None) -> Any:
    if dtype is None:
        return None
    return random.randrange(1, 9) if dtype == "int64" else float(np.float32(random.random()))


def _as_long(random: Random, side: Side, count: int) -> Side:
    """With arcs taken away, or given twice, until there are so many."""
    while (held := sum(map(len, side.rows))) != count:
        row = random.choice(side.rows)
        if held > count and row:
            row.pop()
        elif held < count:
            row.append((random.randrange(side.n), _weight(random, side.dtype)))
    return side


def _row(random: Random, side: Side, length: int = 1) -> list[tuple[int, Any]]:
    """A row of so many arcs at the least, or a new one."""
    return random.choice([row for row in side.rows if len(row) >= length] or [[]])


def call_directed_undirected(random: Random, graph: Forged, side: Side) -> None:
    """Clear the flag of a directed graph."""
    graph.directed = False


def call_undirected_directed(random: Random, graph: Forged, side: Side) -> None:
    """Set the flag: harmless where the arcs by target are there."""
    graph.directed = True


def turn_arc(random: Random, graph: Forged, side: Side) -> None:
    """Give an arc another target, in order."""
    row = _row(random, side)
    others = sorted(set(range(side.n)) - {v for v, _ in row})
    if row and others:
        _, weight = row.pop(random.randrange(len(row)))
        row.append((random.choice(others), weight))
        row.sort(key=lambda arc: arc[0])


def turn_cycle(random: Random, graph: Forged, side: Side) -> None:
    """Replace arcs so that no degree changes: a -> b, c -> d become a -> d, c -> b."""
    a, c = _row(random, side), _row(random, side)
    if a is not c and a and c:
        i, j = random.randrange(len(a)), random.randrange(len(c))
        a[i], c[j] = c[j], a[i]
        for row in (a, c):
            row.sort(key=lambda arc: arc[0])


def lose_arc(random: Random, graph: Forged, side: Side) -> None:
    """Leave an arc out."""
    row = _row(random, side)
    if row:
        row.pop(random.randrange(len(row)))


def add_arcs(random: Random, graph: Forged, side: Side) -> None:
    """More arcs, in order, without their reverses."""
    row = random.choice(side.rows)
    there = {v for v, _ in row}
    for v in random.sample(range(side.n), random.randrange(1, side.n)):
        if v not in there:
            row.append((v, _weight(random, side.dtype)))
    row.sort(key=lambda arc: arc[0])


def shuffle_row(random: Random, graph: Forged, side: Side) -> None:
    """A row out of order."""
    random.shuffle(_row(random, side, 2))


def repeat_arc(random: Random, graph: Forged, side: Side) -> None:
    """An arc twice, or many times."""
    row = _row(random, side)
    if row:
        at = random.randrange(len(row))
        row[at:at] = [row[at]] * random.choice([1, 1, side.n])


def move_rows(random: Random, graph: Forged, side: Side) -> None:
    """Rows that change places: another owner for the same arcs."""
    a, b = random.randrange(side.n), random.randrange(side.n)
    side.rows[a], side.rows[b] = side.rows[b], side.rows[a]


def join_rows(random: Random, graph: Forged, side: Side) -> None:
    """All arcs in one row."""
    row = [arc for row in side.rows for arc in row]
    side.rows[:] = [[] for _ in side.rows]
    side.rows[random.randrange(side.n)] = row


def reweigh_arc(random: Random, graph: Forged, side: Side) -> None:
    """Another weight in one direction."""
    row = _row(random, side)
    if row and side.dtype is not None:
        at = random.randrange(len(row))
        row[at] = (row[at][0], random.choice(ODD[side.dtype]))


def reweigh_edge(random: Random, graph: Forged, side: Side) -> None:
    """Odd weights in both directions: no forgery, as long as it is all."""
    odd = random.choice(ODD[graph.out_csr.dtype]) if graph.out_csr.dtype is not None else None
    for side in (graph.out_csr, graph.in_csr):
        if side.dtype is not None:
            side.rows[:] = [[(v, odd if (u + v) % 7 == 0 else w) for v, w in row] for u, row in enumerate(side.rows)]


FORGERIES: list[Callable[[Random, Forged, Side], None]] = [
    call_directed_undirected, call_undirected_directed, turn_arc, turn_cycle, lose_arc, add_arcs, shuffle_row,
    repeat_arc, move_rows, join_rows, reweigh_arc, reweigh_edge,
]  # fmt: skip


def _of(name: str, **arguments: Any) -> Callable[[Any, int], Any]:
    return lambda G, v: getattr(hpg, name)(G, **arguments)


def _from(name: str, **arguments: Any) -> Callable[[Any, int], Any]:
    return lambda G, v: getattr(hpg, name)(G, hpg.id(v), **arguments)


STREAM: dict[str, Callable[[Any, int], Any]] = {
    "bfs": _from("bfs"), "sssp": _from("sssp"), "connected_components": _of("connected_components"),
    "pagerank": _of("pagerank"), "hits": _of("hits"), "core_number": _of("core_number"), "cdlp": _of("cdlp"),
    "triangle_count": _of("triangle_count"), "triangles": _of("triangles"), "clustering": _of("clustering"),
    "betweenness": _of("betweenness_centrality"), "closeness": _of("closeness_centrality"),
    "katz": _of("katz_centrality"), "eigenvector": _of("eigenvector_centrality"),
    "matching": _of("maximal_matching"), "independent_set": _of("maximal_independent_set"),
    "color": _of("greedy_color"), "is_dag": _of("is_dag"), "forest": _of("minimum_spanning_forest"),
    "strong": _of("connected_components", connection="strong"), "diameter": _of("diameter"),
    "eccentricity": _of("eccentricity"), "harmonic": _of("harmonic_centrality"), "k_hop": _from("k_hop", k=2),
    "bipartite": _of("is_bipartite"), "degree": _of("degree_centrality"),
    "histogram": _of("distance_histogram"), "heat_kernel": lambda G, v: hpg.heat_kernel(G, np.ones(G.n_vertices)),
}  # fmt: skip
"""What works on pages, or says that it does not."""
WHOLE: dict[str, Callable[[Any, int], Any]] = STREAM | {
    "truss_number": _of("truss_number"), "k_truss": _of("k_truss", k=3), "louvain": _of("louvain"),
    "leiden": _of("leiden"), "biconnected": _of("biconnected_components"), "bridges": _of("bridges"),
    "flow": lambda G, v: hpg.maximum_flow(G, hpg.id(v), hpg.id((v + 1) % G.n_vertices)),
    "edge_betweenness": _of("edge_betweenness_centrality"), "square": _of("square_clustering"),
    "jaccard": _of("jaccard"), "condensation": _of("condensation"), "k_core": _of("k_core"),
    "walk": lambda G, v: hpg.random_walk(G, hpg.id(v), 5), "topological": _of("topological_sort"),
    "label_communities": _of("label_propagation_communities"), "landmarks": _of("landmarks", k=2),
    "modularity": lambda G, v: hpg.modularity(G, np.arange(G.n_vertices) % 3),
    "silhouette": lambda G, v: hpg.silhouette(G, np.arange(G.n_vertices) % 3),
    "conductance": lambda G, v: hpg.conductance(G, np.arange(G.n_vertices) % 3),
    "community_quality": lambda G, v: hpg.community_quality(G, np.arange(G.n_vertices) % 3, "CPM"),
}  # fmt: skip


def _work(folder: Path, seed: int, first: int, cases: int) -> int:
    """Read each case, and work on what is accepted; say what it raised that it must not."""
    refused = 0
    for case in range(first, first + cases):
        (folder / "case").write_text(str(case))
        random = Random(f"{seed} {case}")
        graph = forged(random)
        try:
            check(graph, folder / "graph.hpg", random)
            refused += not graph.keeps_format
        except BaseException as error:
            trace = "".join(traceback.format_exception(error)[-6:])
            print(f"FAILED case {case}, {', '.join(graph.done)}: {trace}", flush=True)
            keep(folder, case)
    print(f"cases {first} to {case}: {refused} refused when read whole")
    return 0


def _warm(folder: Path, part: int, parts: int) -> None:
    """Compile what some of the algorithms need, so that processes that start together find it done."""
    for name in sorted(WHOLE)[part::parts]:
        for case in range(WARMING):
            random = Random(case)
            graph = forged(random)
            if not graph.done:
                check(graph, folder / "graph.hpg", random, {name})


def check(graph: Forged, path: Path, random: Random, names: set[str] | None = None) -> None:
    """Write a file, read it, and open it; some algorithms on what is accepted end by a result or an error of ours."""
    compression, most = random.choice(["gaps", "none"]), random.choice([3, 20, 10_000])
    write_hpg(graph, path, compression=compression, arcs_per_page=most)
    source = random.randrange(graph.n_vertices)
    try:
        found = hpg.read(path, memory=1 << 24)
    except hpg.FileFormatError as error:
        assert not graph.keeps_format, f"refused: {error}"
    else:
        assert graph.keeps_format, "accepted, and is not what the format says"
        _work_on(found, source, random, WHOLE, names)
    # 100,000 bytes are less than three times what the larger of these graphs take in memory.
    opened = hpg.open(path, memory=random.choice([None, 100_000]))
    try:
        assert opened.in_memory().n_edges == graph.n_edges and graph.keeps_format, "brought, and is not what it should"
    except hpg.FileFormatError as error:
        assert not graph.keeps_format, f"not brought: {error}"
    _work_on(opened, source, random, STREAM, names)


def _work_on(
    graph: Any, source: int, random: Random, algorithms: dict[str, Callable[[Any, int], Any]], names: set[str] | None
) -> None:
    for name in sorted(names & algorithms.keys()) if names else random.sample(sorted(algorithms), ALGORITHMS):
        with limited(SECONDS), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                algorithms[name](graph, source)
            except Exception as error:
                if not is_ours(error):
                    error.add_note(f"in {name} of {graph}")
                    raise


if __name__ == "__main__":
    sys.exit(run("tests.fuzz.forged_files", __doc__, "forged files", 10_000, _work, _warm))
