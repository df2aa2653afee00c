"""Embeddings by how well they predict edges, beside scikit-network's and karateclub's where these are installed.

A share of a graph's edges is taken out; each method embeds what is left. The removed edges, and as many pairs that are
no edges, are ranked twice: by the products of their vectors, and by a logistic regression on the entries' products
(A. Grover, J. Leskovec, "node2vec", KDD'16, section 4.4), fitted to edges that are left. AUC is the chance that an edge
is ranked before a pair that is none.
"""

import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import hpgraph as hpg
from hpgraph.core.device import to_device

from .families_peers import installed
from .record import Record, command_parser

GRAPHS = ("ca-AstroPh", "email-Enron", "soc-Epinions1")
# The share of edges that is taken out, coordinates, and edges that the regression is fitted to.
REMOVED, DIM, FITTED = 0.2, 64, 50_000
WALKS, LENGTH, WINDOW = 10, 40, 5


class Task(NamedTuple):
    """A graph without some edges, and pairs of vertices: edges that were removed, others, and those to fit to."""

    graph: hpg.Graph
    removed: np.ndarray
    others: np.ndarray
    known: np.ndarray
    known_others: np.ndarray


def task(name: str, seed: int = 0) -> Task:
    """The largest component of a graph of the folder HPGRAPH_DATA, its arcs both ways, without loops."""
    full = hpg.read(Path(os.environ["HPGRAPH_DATA"]) / f"{name}.mtx.gz").undirected
    label = hpg.connected_components(full).label
    full = full.subgraph(hpg.id(np.flatnonzero(label == np.bincount(label).argmax())))
    source, target = full.edges()[:2]
    ends = np.stack((source, target), axis=1)[source != target].astype(np.int64)
    rng, n = np.random.default_rng(seed), full.n_vertices
    drawn = rng.permutation(len(ends))
    removed, left = np.split(ends[drawn], [int(REMOVED * len(ends))])
    graph = hpg.Graph.from_edges(*left.T, n_vertices=n, directed=False)
    known = left[:FITTED]
    pairs = rng.integers(0, n, (4 * (len(removed) + len(known)), 2))
    pairs.sort(axis=1)
    keys = np.sort(ends, axis=1) @ [n, 1]
    others = pairs[~np.isin(pairs @ [n, 1], keys) & (pairs[:, 0] != pairs[:, 1])]
    return Task(graph, removed, others[: len(removed)], known, others[len(removed) :][: len(known)])


def methods(graph: hpg.Graph, device: str) -> Iterator[tuple[str, str, Callable[[], Any]]]:
    """Library, method and call of each embedding."""
    G, embed = graph.to(device), hpg.embed
    walks = {"walks": WALKS, "length": LENGTH, "window": WINDOW}
    mine: dict[str, Callable[[], Any]] = {
        "fastrp": lambda: embed.fastrp(G, DIM), "spectral": lambda: embed.spectral(G, DIM),
        "spectral, regularized, unit": lambda: _unit(embed.spectral(G, DIM, regularization=1.0)),
        "hope, Katz": lambda: embed.hope(G, DIM),
        "hope, PPR": lambda: embed.hope(G, DIM, proximity="ppr").reshape(-1, 2, DIM // 2),
        "strap": lambda: embed.strap(G, DIM), "node2vec (DeepWalk)": lambda: embed.node2vec(G, DIM, **walks),
        "node2vec, p 0.25, q 4": lambda: embed.node2vec(G, DIM, p=0.25, q=4.0, **walks),
    }  # fmt: skip
    for method, call in mine.items():
        yield "hpgraph", method, lambda call=call: to_device(call(), "cpu")
    peer = installed("sknetwork")
    if peer is not None:
        csr = graph.out_csr
        A = installed("scipy.sparse").csr_matrix((np.ones(csr.nnz), csr.indices, csr.indptr), shape=csr.shape)
        for method, made in (
            ("Spectral", peer.embedding.Spectral(DIM)), ("SVD", peer.embedding.SVD(DIM)),
            ("GSVD", peer.embedding.GSVD(DIM)), ("RandomProjection", peer.embedding.RandomProjection(DIM)),
        ):  # fmt: skip
            yield "scikit-network", method, lambda made=made: made.fit_transform(A)
    peer = installed("karateclub")
    if peer is not None:
        nx = installed("networkx")
        source, target = graph.edges()[:2]
        theirs = nx.empty_graph(graph.n_vertices)
        theirs.add_edges_from(zip(source.tolist(), target.tolist(), strict=True))
        words = {"walk_number": WALKS, "walk_length": LENGTH, "window_size": WINDOW, "workers": hpg.config.threads}
        for method, made in (
            ("RandNE", peer.RandNE(dimensions=DIM)), ("HOPE", peer.HOPE(dimensions=DIM)),
            ("NetMF", peer.NetMF(dimensions=DIM)), ("DeepWalk", peer.DeepWalk(dimensions=DIM, **words)),
        ):  # fmt: skip

            def fitted(made: Any = made) -> Any:
                # Each method checks, and adds a loop to, every vertex of the graph that it is given.
                made.fit(theirs.copy())
                return made.get_embedding()

            yield "karateclub", method, fitted


def _unit(vectors: Any) -> Any:
    """Rows of length 1, as scikit-network's spectral embedding has them."""
    return vectors / ((vectors**2).sum(axis=1, keepdims=True) ** 0.5).clip(1e-30, None)


def auc(edges: np.ndarray, others: np.ndarray) -> float:
    """The chance that the value of an edge is above that of another pair, half of which count where they are equal."""
    from scipy.stats import rankdata

    ranks = rankdata(np.concatenate((edges, others)))[: len(edges)]
    return float((ranks.mean() - (len(edges) + 1) / 2) / len(others))


def regression(edges: np.ndarray, others: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The values that a logistic regression, with a weak bound on its weights, gives to rows."""
    from scipy.optimize import minimize

    rows, sign = np.concatenate((edges, others)), np.repeat([1.0, -1.0], [len(edges), len(others)])
    scale = np.maximum(rows.std(axis=0), 1e-12)
    rows = np.column_stack((rows / scale, np.ones(len(rows))))

    def loss(weight: np.ndarray) -> tuple[float, np.ndarray]:
        margin = sign * (rows @ weight)
        slope = -sign / (1 + np.exp(np.minimum(margin, 500)))
        return float(np.logaddexp(0, -margin).mean() + 5e-6 * weight @ weight), slope @ rows / len(rows) + 1e-5 * weight

    weight = minimize(loss, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B").x
    return lambda more: (more / scale) @ weight[:-1]  # type: ignore[no-any-return]


def measured(given: Task, vectors: Any) -> dict[str, float]:
    """Both AUCs of an embedding, of shape (n, dim), or (n, 2, dim / 2) of vertices as sources and as targets."""
    vectors = np.asarray(vectors, dtype=np.float64)
    source, target = (vectors, vectors) if vectors.ndim == 2 else (vectors[:, 0], vectors[:, 1])

    def products(pairs: np.ndarray) -> np.ndarray:
        u, v = pairs.T
        return source[u] * target[v] + source[v] * target[u]  # type: ignore[no-any-return]

    edges, others = products(given.removed), products(given.others)
    value = regression(products(given.known), products(given.known_others))
    plain = auc(edges.sum(axis=1), others.sum(axis=1))
    return {"auc_product": plain, "auc_regression": auc(value(edges), value(others))}


def table(results: Sequence[dict[str, Any]]) -> str:
    """What `docs/performance.md` shows: both AUCs and seconds of the processors, the best of the first graph first."""
    graphs = list(dict.fromkeys(row["graph"] for row in results))
    lines = [f"| | {' | '.join(graphs)} |", "|---" * (len(graphs) + 1) + "|"]
    methods: dict[str, dict[str, dict[str, Any]]] = {}
    for row in results:
        shown = f"{row['library']}, {row['method']}"
        if row["library"] == "hpgraph":
            shown = re.sub(r"^(\w+)", r"`embed.\1`", row["method"])
        methods.setdefault(shown if "dim" in row else "`adamic_adar`, without vectors", {})[row["graph"]] = row
    for name, of in sorted(methods.items(), key=lambda item: -item[1].get(graphs[0], {}).get("auc_product", 0)):
        cells = [f"{of[graph]['auc_product']:.3f}" if graph in of else "" for graph in graphs]
        for k, graph in enumerate(graphs):
            if "dim" in of.get(graph, {}):
                cells[k] += f", {of[graph]['auc_regression']:.3f} ({of[graph]['processor_s']:.3g})"
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(words: Sequence[str]) -> int:
    """Measure, print a table, and save the results.

    Returns
    -------
    int
        0.
    """
    parser = command_parser("embeddings", __doc__, "libraries and graphs")
    parser.add_argument("--graphs", nargs="+", default=GRAPHS, help=f"files of HPGRAPH_DATA ({' '.join(GRAPHS)})")
    parser.add_argument("--libraries", default="hpgraph,scikit-network,karateclub", help="names, separated by commas")
    parser.add_argument("--methods", default="", help="only those in whose names this is")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="of hpgraph (cpu)")
    chosen = parser.parse_args(words)
    record = Record.of(chosen, words, chosen.device)
    found = list(record.content.get("embeddings", [])) if chosen.merge else []
    for library, _, call in methods(hpg.datasets.kron(8).undirected, chosen.device):
        if library == "hpgraph":
            call()  # compiles
    for name in chosen.graphs:
        given = task(name)
        print(f"{name}: {given.graph.n_vertices:,} vertices, {len(given.removed):,} edges to predict", flush=True)
        near = [hpg.adamic_adar(given.graph, pairs) for pairs in (given.removed, given.others)]
        row = {"graph": name, "library": "hpgraph", "method": "no vectors: adamic_adar", "auc_product": auc(*near)}
        found = _recorded(found, row)
        for library, method, call in methods(given.graph, chosen.device):
            if library not in chosen.libraries.split(",") or chosen.methods not in method:
                continue
            begin, busy = time.perf_counter(), time.process_time()
            vectors = call()
            took = {"seconds": time.perf_counter() - begin, "processor_s": time.process_time() - busy}
            row = {"graph": name, "library": library, "method": method, "dim": DIM, **took}
            found = _recorded(found, row | measured(given, vectors))
            record.save(embeddings=found)
    print(table(found))
    print(f"saved in {record.path}")
    return 0


def _recorded(found: list[dict[str, Any]], row: dict[str, Any]) -> list[dict[str, Any]]:
    """Results with one more, which is printed, in place of that of the same method."""
    shown = ("auc_product", "auc_regression", "processor_s")
    figures = [f"{row[key]:8.3f}" if key in row else " " * 8 for key in shown]
    print(f"  {row['library']:15}{row['method']:28}{''.join(figures)}", flush=True)
    which = ("graph", "library", "method")
    return [one for one in found if [one[key] for key in which] != [row[key] for key in which]] + [row]
