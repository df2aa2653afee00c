"""Communities that were planted: how much of them each search finds, and its modularity, beside other libraries.

Graphs are those of A. Lancichinetti, S. Fortunato, F. Radicchi, "Benchmark graphs for testing community detection
algorithms", Physical Review E 78 (2008), by NetworkX's generator: 5,000 vertices, degrees of 20 on average by a power
law of exponent 2.5, sizes of communities by one of 1.5. Vertices are numbered at random, anew in each run, since no
order of them should decide. What is found is said as normalized mutual information (over the mean of the entropies).
"""

import importlib.util
import itertools
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import hpgraph as hpg

from .record import Record, command_parser
from .report import aligned

N, DEGREE, OF_DEGREES, OF_SIZES = 5000, 20, 2.5, 1.5


class Kind(NamedTuple):
    """The largest degree, and the least and the largest size of a community."""

    most: int
    least: int
    largest: int


KINDS = {"large": Kind(100, 20, 200), "small": Kind(50, 10, 50)}


class Planted(NamedTuple):
    """A graph's edges, each once, and the community of each vertex."""

    edges: Any
    label: Any


def planted(kind: Kind, mixing: float, seed: int) -> Planted:
    """A graph with planted communities.

    Parameters
    ----------
    kind : Kind
    mixing : float
        The share of a vertex's edges that lead out of its community.
    seed : int

    Returns
    -------
    Planted
    """
    import networkx as nx

    g = nx.LFR_benchmark_graph(
        N, OF_DEGREES, OF_SIZES, mixing, average_degree=DEGREE, max_degree=kind.most, min_community=kind.least,
        max_community=kind.largest, max_iters=1000, seed=seed,
    )  # fmt: skip
    g.remove_edges_from(list(nx.selfloop_edges(g)))
    label = np.array([min(members) for _, members in sorted(g.nodes(data="community"))])
    return Planted(np.array(g.edges), label)


def shuffled(given: Planted, seed: int) -> Planted:
    """The same graph, its vertices numbered at random."""
    order = np.random.default_rng(seed).permutation(len(given.label))
    label = np.empty_like(given.label)
    label[order] = given.label
    return Planted(order[given.edges], label)


Search = Callable[[], Any]


def hpgraph_searches(given: Planted, seed: int, device: str) -> Iterator[tuple[str, Search]]:
    """Ours, with the defaults."""
    G = hpg.Graph.from_edges(*given.edges.T, n_vertices=len(given.label), directed=False).to(device)
    yield "louvain", lambda: hpg.louvain(G, seed=seed)
    yield "leiden", lambda: hpg.leiden(G, seed=seed)
    yield "infomap", lambda: hpg.infomap(G, seed=seed)
    yield "ecg", lambda: hpg.ecg(G, seed=seed)


def networkit_searches(given: Planted, seed: int, device: str) -> Iterator[tuple[str, Search]]:
    """networkit's, on one thread, so that they repeat."""
    import networkit as nk

    nk.setNumberOfThreads(1)
    nk.setSeed(seed, False)
    source, target = (np.ascontiguousarray(column) for column in given.edges.T)
    G = nk.GraphFromCoo((np.ones(len(source)), (source, target)), n=len(given.label))
    for name, made in (("PLM", nk.community.PLM), ("ParallelLeiden", nk.community.ParallelLeiden)):
        yield f"networkit {name}", lambda made=made: made(G).run().getPartition().getVector()


def igraph_searches(given: Planted, seed: int, device: str) -> Iterator[tuple[str, Search]]:
    """Igraph's."""
    import igraph

    G = igraph.Graph(n=len(given.label), edges=given.edges)
    igraph.set_random_number_generator(random.Random(seed))
    yield "igraph multilevel", lambda: G.community_multilevel().membership
    yield "igraph leiden", lambda: G.community_leiden(objective_function="modularity", n_iterations=2).membership


def leidenalg_searches(given: Planted, seed: int, device: str) -> Iterator[tuple[str, Search]]:
    """leidenalg's, in two iterations."""
    import igraph
    import leidenalg

    G = igraph.Graph(n=len(given.label), edges=given.edges)
    kind = leidenalg.ModularityVertexPartition
    yield "leidenalg", lambda: leidenalg.find_partition(G, kind, seed=seed).membership


LIBRARIES = {
    "hpgraph": hpgraph_searches,
    "networkit": networkit_searches,
    "igraph": igraph_searches,
    "leidenalg": leidenalg_searches,
}


def main(words: Sequence[str]) -> int:
    """Search, print a table, and save the results.

    Returns
    -------
    int
        0.
    """
    parser = command_parser("planted", __doc__)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"], help="where hpgraph runs (cpu)")
    parser.add_argument("--kinds", default="large,small", help="of communities, of " + ", ".join(KINDS))
    parser.add_argument("--mixing", default="0.5,0.6", help="shares of edges that lead out of a community (0.5,0.6)")
    parser.add_argument("--graphs", type=int, default=6, help="of each kind and mixing (6)")
    parser.add_argument("--seeds", type=int, default=4, help="runs on each graph (4)")
    parser.add_argument("--libraries", help="names separated by commas, of " + ", ".join(LIBRARIES))
    parser.add_argument("--budget", type=float, default=100, help="processor seconds of each search (100)")
    chosen = parser.parse_args(words)
    installed = [name for name in LIBRARIES if importlib.util.find_spec(name)]
    libraries = chosen.libraries.split(",") if chosen.libraries else installed
    record = Record.of(chosen, words, chosen.device, [name for name in libraries if name != "hpgraph"])
    cases = [(kind, float(mixing)) for kind in chosen.kinds.split(",") for mixing in chosen.mixing.split(",")]
    results: list[dict[str, Any]] = []
    for kind, mixing in cases:
        graphs = (planted(KINDS[kind], mixing, number) for number in range(1, chosen.graphs + 1))
        runs = ((shuffled(graph, seed), seed) for graph in graphs for seed in range(1, chosen.seeds + 1))
        for name, qualities in qualities_of(runs, libraries, chosen.device, chosen.budget / len(cases)).items():
            measures = dict(zip(("mutual_information", "modularity"), np.mean(qualities, axis=0).tolist(), strict=True))
            of = {"search": name, "communities": kind, "mixing": mixing, "runs": len(qualities)}
            results.append({**of, **measures})
        record.save(planted={"graphs": chosen.graphs, "seeds": chosen.seeds, "results": results})
    means = {(row["search"], row["communities"], row["mixing"]): row for row in results}
    rows = [["mutual information, modularity", *(f"{kind} {mixing:g}" for kind, mixing in cases)]]
    for name in dict.fromkeys(row["search"] for row in results):
        of_cases = [means[name, *case] for case in cases]
        rows.append([name, *(f"{row['mutual_information']:.3f} {row['modularity']:.4f}" for row in of_cases)])
    print("\n".join(aligned(rows)))
    return 0


def qualities_of(
    runs: Iterable[tuple[Planted, int]], libraries: Sequence[str], device: str, budget: float
) -> dict[str, list[tuple[float, float]]]:
    """Mutual information and modularity of each search's runs, none begun after so many seconds of others."""
    found: dict[str, list[tuple[float, float]]] = {}
    spent: dict[str, float] = {}
    for given, seed in runs:
        G = hpg.Graph.from_edges(*given.edges.T, n_vertices=N, directed=False)
        searches = (LIBRARIES[library](given, seed, device) for library in libraries)
        for name, search in itertools.chain.from_iterable(searches):
            if spent.get(name, 0) > budget:
                continue
            start = time.process_time()
            label = np.asarray(search())
            spent[name] = spent.get(name, 0) + time.process_time() - start
            information = hpg.normalized_mutual_information(label, given.label)
            found.setdefault(name, []).append((information, hpg.modularity(G, label)))
    return found
