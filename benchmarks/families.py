"""Flows of least cost, trees, hashes and the like, beside the best CPU library that has them, where it is installed.

OR-tools has flows of least cost, networkit the vertices of largest closeness, rustworkx Steiner trees; for the others
NetworkX stands, on smaller graphs.
"""

import argparse
import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import hpgraph as hpg

from .record import RESULTS, Record
from .timing import medians

Works = dict[tuple[str, str], Callable[[], Any]]


def _installed(name: str) -> Any:
    """A library, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def flows(n: int, m: int) -> Works:
    """Whole costs and capacities at random; a ring of dear arcs makes every demand one that can be met."""
    rng = np.random.default_rng(1)
    source = np.concatenate([rng.integers(0, n, m - n), np.arange(n)])
    target = np.concatenate([rng.integers(0, n, m - n), (np.arange(n) + 1) % n])
    cost = np.concatenate([rng.integers(1, 1000, m - n), np.full(n, 10**5)])
    G = hpg.Graph((source, target, cost), directed=True, duplicates="keep")
    ends = (G.out_csr.expand_rows(), G.out_csr.indices)
    bound = np.where(np.asarray(G.weights) == 10**5, 10**6, rng.integers(1, 100, G.n_edges))
    demand = rng.integers(-50, 50, n)
    demand[0] -= demand.sum()
    work = f"min_cost_flow, {n:,} vertices, {m:,} arcs"
    calls: Works = {("hpgraph", work): lambda: hpg.min_cost_flow(G, demand, bound).cost}
    solver = _installed("ortools.graph.python.min_cost_flow")
    if solver is not None:

        def by_ortools() -> int:
            flow = solver.SimpleMinCostFlow()
            flow.add_arcs_with_capacity_and_unit_cost(*(part.astype(np.int64) for part in (*ends, bound, G.weights)))
            flow.set_nodes_supplies(np.arange(n), -demand)
            flow.solve()
            return int(flow.optimal_cost())

        calls["OR-tools", work] = by_ortools
    return calls


def closeness(G: hpg.Graph) -> Works:
    """Ten vertices of largest closeness."""
    work = f"top_closeness, {G.n_edges:,} arcs"
    calls: Works = {("hpgraph", work): lambda: round(float(hpg.top_closeness(G, 10).closeness[-1]), 9)}
    nk = _installed("networkit")
    if nk is not None:
        source, target = G.edges()[:2]
        graph = nk.GraphFromCoo((source, target), n=G.n_vertices)

        def by_networkit() -> float:
            top = nk.centrality.TopCloseness(graph, 10, False, True)
            top.run()
            return round(float(top.topkScoresList()[-1]), 9)

        calls["networkit", work] = by_networkit
    return calls


def steiner(G: hpg.Graph, k: int) -> Works:
    """Terminals at random on a road."""
    ends = np.random.default_rng(2).choice(G.n_vertices, k, replace=False)
    work = f"steiner_tree, {k} of {G.n_vertices:,} vertices"
    calls: Works = {("hpgraph", work): lambda: hpg.steiner_tree(G, hpg.id(ends)).total}
    rx = _installed("rustworkx")
    if rx is not None:
        graph = rx.PyGraph()
        graph.add_nodes_from(range(G.n_vertices))
        graph.extend_from_weighted_edge_list([(int(u), int(v), float(w)) for u, v, w in zip(*G.edges(), strict=True)])
        calls["rustworkx", work] = lambda: sum(rx.steiner_tree(graph, ends.tolist(), float).edges())
    return calls


def of_networkx(G: hpg.Graph) -> Works:
    """What no compiled library has."""
    nx = _installed("networkx")
    graph, states = hpg.to_networkx(G), np.random.default_rng(3).random(G.n_vertices)
    mine = {
        "weisfeiler_lehman_graph_hash": lambda: hpg.weisfeiler_lehman_graph_hash(G),
        "percolation_centrality": lambda: round(float(hpg.percolation_centrality(G, states).sum()), 6),
        "simrank_similarity": lambda: round(float(hpg.simrank_similarity(G, importance_factor=0.6).sum()), 2),
        "random_spanning_tree": lambda: len(hpg.random_spanning_tree(G).source),
    }
    theirs = {
        "weisfeiler_lehman_graph_hash": lambda: nx.weisfeiler_lehman_graph_hash(graph),
        "percolation_centrality": lambda: round(
            sum(nx.percolation_centrality(graph, states=dict(enumerate(states.tolist()))).values()), 6
        ),
        "simrank_similarity": lambda: round(float(nx.similarity._simrank_similarity_numpy(
            graph, importance_factor=0.6).sum()), 2),
    }  # fmt: skip
    size = f"{G.n_vertices:,} vertices, {G.n_edges:,} arcs"
    return {
        (library, f"{work}, {size}"): call
        for library, calls in (("hpgraph", mine), ("NetworkX", theirs)) for work, call in calls.items()
    }  # fmt: skip


def main(words: Sequence[str]) -> int:
    """Measure, print a table, and save the results.

    Returns
    -------
    int
        0, or 1 where two libraries answer differently.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks families", description=__doc__)
    parser.add_argument("command", choices=["families"])
    parser.add_argument("--scale", type=int, default=14, help="kron graph of 2 to the power of SCALE vertices (14)")
    parser.add_argument("--repeats", type=int, default=3, help="calls of which the median is taken (3)")
    parser.add_argument("--output", type=Path, help="the JSON file (benchmarks/results/families-DATE.json)")
    chosen = parser.parse_args(words)
    path = chosen.output or RESULTS / f"families-{Record.today()}.json"
    record = Record(path, words, "cpu")
    kron, road = (
        hpg.datasets.kron(chosen.scale),
        hpg.datasets.grid(2 ** (chosen.scale // 2 + 1), weighted=True, removed=0),
    )
    many = 2**chosen.scale
    calls = {
        **flows(many // 2, 8 * many), **closeness(kron.undirected), **steiner(road.undirected, 100),
        **of_networkx(hpg.datasets.kron(chosen.scale - 4).undirected),
    }  # fmt: skip
    found, answers, unlike = [], dict[str, Any](), 0
    for (library, work), call in calls.items():
        answer = call()
        took = medians(call, chosen.repeats)
        found.append({"library": library, "work": work, **took})
        same = answers.setdefault(work, answer) == answer
        print(
            f"{library:10}{work:62}{took['median_s']:9.3f} s{took['processor_s']:9.3f} s of processors  {answer}",
            flush=True,
        )
        unlike += not same and library in ("OR-tools", "NetworkX")
        record.save(families={"scale": chosen.scale, "results": found})
    print(f"saved in {path}")
    return int(unlike > 0)
