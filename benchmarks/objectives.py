"""Objectives of communities on twenty-one real, generated and planted graphs, beside other libraries.

Each search runs with its defaults from some seeds; the mean of the values is shown, all computed by hpgraph from the
labels, and leidenalg, igraph, networkit and Infomap must give the same value to hpgraph's labels. Each of hpgraph's
communities must be connected, and the labels the same bits on one thread and on two. networkit searches by modularity
alone, on one thread, so that it repeats.
"""

import importlib.util
import os
import statistics
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import hpgraph as hpg

from .planted import KINDS, planted
from .record import Record, command_parser
from .report import aligned

LIBRARIES = ("hpgraph", "leidenalg", "igraph", "networkit", "Infomap")
OBJECTIVES = ("modularity", "RBConfiguration", "CPM", "RBER", "map equation")
CLASSIC = ("karate_club_graph", "les_miserables_graph", "florentine_families_graph", "davis_southern_women_graph")
REAL = ("email-Enron", "ca-AstroPh", "jagmesh7", "bcsstk13", "west0067")


def graphs() -> dict[str, Callable[[], hpg.Graph]]:
    """What makes each graph, undirected, without loops and weights; real ones if HPGRAPH_DATA names their folder."""
    import networkx as nx

    from .graphs import make

    folder = Path(os.environ.get("HPGRAPH_DATA", "."))
    inside = np.full((20, 20), 0.003) + np.eye(20) * 0.1
    real = [name for name in REAL if (folder / f"{name}.mtx.gz").exists()]
    lfr = [(kind, mixing) for kind in KINDS for mixing in (0.4, 0.6)]
    return {
        **{name.removesuffix("_graph"): partial(_classic, getattr(nx, name)) for name in CLASSIC},
        **{name: lambda name=name: _without_loops(hpg.read(folder / f"{name}.mtx.gz")) for name in real},
        **{f"LFR {k} {mixing:g}": lambda k=k, m=mixing: _of_edges(planted(KINDS[k], m, 1).edges) for k, mixing in lfr},
        **{
            name: lambda name=name: _without_loops(make(name, "cpu", 1).graph)
            for name in ("kron12", "urand12", "road64")
        },
        "scale-free": lambda: hpg.datasets.barabasi_albert_graph(5000, 4, seed=1),
        "small world": lambda: hpg.datasets.watts_strogatz_graph(5000, 8, 0.1, seed=1),
        "blocks": lambda: hpg.datasets.stochastic_block_model([100] * 20, inside, seed=1),
        "cliques": lambda: _classic(lambda: nx.ring_of_cliques(50, 8)),
        "geometric": lambda: hpg.datasets.random_geometric_graph(3000, 0.04, seed=1),
    }


def _classic(make: Callable[[], Any]) -> hpg.Graph:
    import networkx as nx

    return _of_edges(np.array(nx.convert_node_labels_to_integers(make()).edges))


def _without_loops(G: hpg.Graph) -> hpg.Graph:
    return _of_edges(np.stack(G.edges()[:2], axis=1))


def _of_edges(edges: Any) -> hpg.Graph:
    edges = np.unique(np.sort(edges[edges[:, 0] != edges[:, 1]], axis=1), axis=0)
    return hpg.Graph.from_edges(*edges.T, directed=False)


Search = Callable[[int], Any]


def searches(G: hpg.Graph, objective: str, resolution: float) -> Iterator[tuple[str, Search]]:
    """The searches of an objective, of the libraries that are installed: labels, from a seed."""
    if objective == "map equation":
        yield "hpgraph", lambda seed: hpg.infomap(G, weight=None, seed=seed)
    else:
        yield "hpgraph", lambda seed: hpg.leiden(G, None, resolution, seed=seed, objective=objective)
    edges = np.stack(G.edges()[:2], axis=1)
    if objective == "map equation" and importlib.util.find_spec("infomap"):
        yield "Infomap", lambda seed: _infomap(edges, seed, G.n_vertices)
    if objective in ("modularity", "CPM", "map equation") and importlib.util.find_spec("igraph"):
        yield "igraph", lambda seed: _igraph(G, edges, seed, objective, resolution)
    if objective != "map equation" and importlib.util.find_spec("leidenalg"):
        yield "leidenalg", lambda seed: _leidenalg(G, edges, seed, objective, resolution).membership
    if objective == "modularity" and importlib.util.find_spec("networkit"):
        yield "networkit", lambda seed: _networkit(edges, seed, G.n_vertices)


def _infomap(edges: Any, seed: int, n: int) -> Any:
    from infomap import Infomap

    search = Infomap(two_level=True, silent=True, seed=seed)
    search.add_links(edges.tolist())
    search.run()
    label = np.arange(n) + n
    for vertex, community in search.get_modules().items():
        label[vertex] = community
    return label


def _igraph(G: hpg.Graph, edges: Any, seed: int, objective: str, resolution: float) -> Any:
    import random

    import igraph

    igraph.set_random_number_generator(random.Random(seed))
    theirs = igraph.Graph(n=G.n_vertices, edges=edges)
    if objective == "map equation":
        return theirs.community_infomap(trials=1).membership
    return theirs.community_leiden(objective_function=objective, resolution=resolution, n_iterations=2).membership


def _leidenalg(G: hpg.Graph, edges: Any, seed: int, objective: str, resolution: float, **start: Any) -> Any:
    import igraph
    import leidenalg

    theirs = igraph.Graph(n=G.n_vertices, edges=edges)
    kind = getattr(leidenalg, f"{objective[0].upper()}{objective[1:]}VertexPartition")
    options = {} if objective == "modularity" else {"resolution_parameter": resolution}
    if start:
        return kind(theirs, **start, **options)
    return leidenalg.find_partition(theirs, kind, seed=seed, **options)


def _networkit(edges: Any, seed: int, n: int) -> Any:
    import networkit as nk

    nk.setNumberOfThreads(1)
    nk.setSeed(seed, False)
    return nk.community.ParallelLeiden(_graph_of_networkit(edges, n)).run().getPartition().getVector()


def _graph_of_networkit(edges: Any, n: int) -> Any:
    import networkit as nk

    return nk.GraphFromCoo((np.ones(len(edges)), tuple(np.ascontiguousarray(edges.T))), n=n)


def qualities(G: hpg.Graph, objective: str, resolution: float, label: list[int]) -> Iterator[tuple[str, float]]:
    """The value that each library that is installed and has the objective gives to labels."""
    edges = np.stack(G.edges()[:2], axis=1)
    if objective == "map equation":
        if importlib.util.find_spec("infomap"):
            from infomap import Infomap

            theirs = Infomap(two_level=True, silent=True, no_infomap=True)
            theirs.add_links(edges.tolist())
            # Vertices without arcs are unknown to it, and cost no bits.
            theirs.initial_partition = {vertex: label[vertex] for vertex in np.unique(edges).tolist()}
            theirs.run()
            yield "Infomap", -theirs.codelength
        return
    if importlib.util.find_spec("leidenalg"):
        yield "leidenalg", _leidenalg(G, edges, 1, objective, resolution, initial_membership=label).quality()
    if objective == "modularity" and importlib.util.find_spec("igraph"):
        import igraph

        yield "igraph", igraph.Graph(n=G.n_vertices, edges=edges).modularity(label, resolution=resolution)
    if objective == "modularity" and importlib.util.find_spec("networkit"):
        import networkit as nk

        partition = nk.Partition(len(label), label)
        partition.setUpperBound(len(label))
        yield "networkit", nk.community.Modularity().getQuality(partition, _graph_of_networkit(edges, len(label)))


def value(G: hpg.Graph, objective: str, resolution: float, label: Any) -> float:
    """An objective, by hpgraph."""
    if objective == "map equation":
        return hpg.map_equation(G, label, None)
    return hpg.community_quality(G, label, objective, None, resolution)


def faults(G: hpg.Graph, objective: str, resolution: float, search: Search) -> list[str]:
    """What is wrong with communities of hpgraph's."""
    made = []
    for threads in (1, 2):
        with hpg.config(threads=threads):
            made.append(search(1))
    label = np.asarray(made[0])
    wrong = [] if np.array_equal(label, made[1]) else ["another label on two threads"]
    source, target = G.edges(both_ways=True)[:2]
    inside = label[source] == label[target]
    parts = hpg.connected_components(hpg.Graph.from_edges(source[inside], target[inside], n_vertices=len(label)))
    if len(np.unique(parts)) != made[0].count:
        wrong.append("a community that is not connected")
    for library, same in qualities(G, objective, resolution, label.tolist()):
        if abs(made[0].quality - same) > 1e-10 * max(1, abs(same)):
            wrong.append(f"quality {made[0].quality!r}, by {library} {same!r}")
    return wrong


def main(words: Sequence[str]) -> int:
    """Search, print a table, and save the results.

    Returns
    -------
    int
        1 if anything is wrong with communities of hpgraph's, else 0.
    """
    parser = command_parser("objectives", __doc__)
    parser.add_argument("--graphs", help="names separated by commas; all by default")
    parser.add_argument("--seeds", type=int, default=3, help="runs on each graph (3)")
    chosen = parser.parse_args(words)
    wanted = chosen.graphs.split(",") if chosen.graphs else None
    record = Record.of(
        chosen, words, "cpu", [name.lower() for name in LIBRARIES[1:] if importlib.util.find_spec(name.lower())]
    )
    rows: list[dict[str, Any]] = []
    for name, make in graphs().items():
        if wanted is not None and name not in wanted:
            continue
        G = make()
        for objective in OBJECTIVES:
            rows.append(
                {"graph": name, "vertices": G.n_vertices, "edges": G.n_edges // 2, **_row(G, objective, chosen.seeds)}
            )
            record.save(objectives=rows)
    cells = [["graph, objective", "vertices", "edges", *LIBRARIES, "wrong"]]
    for row in rows:
        means = [f"{row['means'][each]:.5g}" if each in row["means"] else "" for each in LIBRARIES]
        size = f"{row['vertices']:,}", f"{row['edges']:,}"
        cells.append([f"{row['graph']}, {row['objective']}", *size, *means, "; ".join(row["wrong"])])
    print("\n".join(aligned(cells)))
    return int(any(row["wrong"] for row in rows))


def _row(G: hpg.Graph, objective: str, seeds: int) -> dict[str, Any]:
    """What each library finds by one objective, and what is wrong with hpgraph's communities."""
    # Communities of three times the density of the graph.
    resolution = 3 * G.n_edges / G.n_vertices**2 if objective == "CPM" else 1.0
    means, wrong = {}, []
    for library, search in searches(G, objective, resolution):
        labels = [np.asarray(search(seed)) for seed in range(1, seeds + 1)]
        means[library] = statistics.mean(value(G, objective, resolution, label) for label in labels)
        wrong += faults(G, objective, resolution, search) if library == "hpgraph" else []
    return {"objective": objective, "resolution": resolution, "means": means, "wrong": wrong}
