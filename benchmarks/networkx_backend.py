"""NetworkX's functions on its backend hpgraph beside NetworkX alone, conversion included once: through dispatching.

"ratio" is that of a script which converts for the one call, "converted" that of a call which finds the graph converted;
the last line is that of a script which makes all of them and converts once. Kernels are compiled beforehand, times are
medians. "reading" is how long Python takes to hand out all neighbours, the least that a conversion can take, and
"at most" what the ratio would be if it took no longer.
"""

import argparse
import os
import statistics
import time
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from functools import cache, partial
from heapq import nlargest
from importlib.metadata import EntryPoint
from itertools import chain
from pathlib import Path
from typing import Any

import networkx as nx

import hpgraph as hpg

from .record import Record

AIM = 20.0
# Calls of which the median is taken, and seconds after which no further one is made.
REPEATS, LONG = 5, 20.0
Call = Callable[..., Any]


def _sources(G: Any) -> list[Any]:
    nodes = list(G)
    return nodes[:: max(1, len(nodes) // 8)][:8]


def _lengths(G: Any, **options: Any) -> Any:
    return [nx.single_source_shortest_path_length(G, node, **options) for node in _sources(G)]


def _pairs(G: Any) -> list[tuple[Any, Any]]:
    nodes = list(G)
    return list(zip(nodes[:: len(nodes) // 1000], nodes[len(nodes) // 2 :: len(nodes) // 1000], strict=False))


def _between(G: Any, **options: Any) -> Any:
    found = []
    for u, v in _pairs(G)[::100]:
        try:
            found.append(nx.shortest_path(G, u, v, **options))
        except nx.NetworkXNoPath:
            found.append(None)
    return found


@cache
def _hubs(G: Any, k: int) -> list[Any]:
    """The nodes of the most neighbours."""
    return nlargest(k, G, key=G.degree)


def _of_hubs(name: str, k: int) -> Call:
    """A function of a set of nodes."""
    return lambda G, **options: getattr(nx, name)(G, set(_hubs(G, k)), **options)


def _first(name: str, *args: Any, lazily: bool = False, **chosen: Any) -> Call:
    """A function by its name, called with the graph and the first of its nodes of the most neighbours."""

    def call(G: Any, **options: Any) -> Any:
        found = getattr(nx, name)(G, max(G, key=G.degree), *args, **chosen, **options)
        return list(found) if lazily else found

    return call


def _of_graph(name: str, *args: Any, lazily: bool = False, **chosen: Any) -> Call:
    module = nx.community if name.endswith("communities") else nx

    def call(G: Any, **options: Any) -> Any:
        found = getattr(module, name)(G, *args, **chosen, **options)
        return list(found) if lazily else found

    return call


def _made(name: str, *args: Any, read: bool = False) -> Call:
    """A generator, which no graph is converted for; `read`: with all of its dicts filled."""

    def call(G: Any, **options: Any) -> Any:
        found = getattr(nx, name)(*args, **options)
        return (found._adj, found) if read else found

    return call


# By name: the call, and whether its graph is directed.
CALLS: dict[str, tuple[Call, bool]] = {
    "pagerank": (_of_graph("pagerank"), True),
    "connected_components": (_of_graph("connected_components", lazily=True), False),
    "betweenness_centrality k=64": (_of_graph("betweenness_centrality", k=64, seed=1), False),
    "core_number": (_of_graph("core_number"), False),
    "triangles": (_of_graph("triangles"), False),
    "louvain_communities": (_of_graph("louvain_communities", seed=1), False),
    "shortest path lengths, 8 sources": (_lengths, False),
    "shortest_path, 10 pairs": (_between, False),
    "single_source_dijkstra": (_first("single_source_dijkstra"), False),
    "single_source_bellman_ford": (_first("single_source_bellman_ford"), False),
    "single_source_shortest_path": (_first("single_source_shortest_path"), False),
    "bfs_tree": (_first("bfs_tree"), False),
    "dfs_preorder_nodes": (_of_graph("dfs_preorder_nodes", lazily=True), True),
    "strongly_connected_components": (_of_graph("strongly_connected_components", lazily=True), True),
    "condensation": (_of_graph("condensation"), True),
    "biconnected_components": (_of_graph("biconnected_components", lazily=True), False),
    "k_core k=5": (_of_graph("k_core", 5), False),
    "k_truss k=4": (_of_graph("k_truss", 4), False),
    "onion_layers": (_of_graph("onion_layers"), False),
    "ego_graph radius=2": (_first("ego_graph", 2), False),
    "minimum_spanning_tree": (_of_graph("minimum_spanning_tree"), False),
    "greedy_color": (_of_graph("greedy_color"), False),
    "maximal_independent_set": (_of_graph("maximal_independent_set", seed=1), False),
    "degree_assortativity_coefficient": (_of_graph("degree_assortativity_coefficient"), False),
    "average_neighbor_degree": (_of_graph("average_neighbor_degree"), False),
    "reciprocity": (_of_graph("overall_reciprocity"), True),
    "voterank 20": (_of_graph("voterank", 20), False),
    "asyn_lpa_communities": (_of_graph("asyn_lpa_communities", lazily=True, seed=1), False),
    "group_closeness_centrality of 10": (_of_hubs("group_closeness_centrality", 10), False),
    "voronoi_cells of 10": (_of_hubs("voronoi_cells", 10), False),
    "jaccard_coefficient, 1,000 pairs": (lambda G, **o: list(nx.jaccard_coefficient(G, _pairs(G), **o)), False),
    "to_scipy_sparse_array": (_of_graph("to_scipy_sparse_array"), False),
    "laplacian_matrix": (_of_graph("laplacian_matrix"), False),
    "fast_gnp_random_graph 50,000": (_made("fast_gnp_random_graph", 50_000, 2e-4, 1), False),
    "the same, and its dicts": (_made("fast_gnp_random_graph", 50_000, 2e-4, 1, read=True), False),
    "barabasi_albert_graph 50,000": (_made("barabasi_albert_graph", 50_000, 5, 1), False),
    "watts_strogatz_graph 50,000": (_made("watts_strogatz_graph", 50_000, 10, 0.1, 1), False),
    "grid_2d_graph 300 x 300": (_made("grid_2d_graph", 300, 300), False),
}


def registered() -> None:
    """Make the backend known where hpgraph was installed before it had one."""
    backends = nx.utils.backends
    if "hpgraph" not in backends.backends:
        from hpgraph.interop.networkx_backend.info import get_info

        place = "hpgraph.interop.networkx_backend.interface"
        backends.backends["hpgraph"] = EntryPoint("hpgraph", place, "networkx.backends")
        backends.backend_info["hpgraph"] = get_info()
        nx.config.backends = nx.utils.Config(hpgraph=nx.utils.Config(least_edges=1000), **nx.config.backends)
        backends._dispatchable.__call__ = backends._dispatchable._call_if_any_backends_installed
    nx.config.warnings_to_ignore.add("cache")


def load(name: str) -> Any:
    """A directed NetworkX graph: "debian", which is bundled, or a file of the folder HPGRAPH_DATA."""
    if name == "debian":
        graph = hpg.datasets.debian()
    else:
        graph = hpg.read(Path(os.environ["HPGRAPH_DATA"]) / f"{name}.mtx.gz")
    loaded = nx.DiGraph(hpg.to_networkx(graph))
    loaded.remove_edges_from(list(nx.selfloop_edges(loaded)))  # core numbers are refused where there are any
    return loaded


def _median(
    clock: Callable[[], float], call: Callable[[], Any], repeats: int, before: Callable[[], Any] = lambda: None
) -> float:
    """Seconds of a call; of a long one, which its own length steadies, once."""
    times: list[float] = []
    while len(times) < repeats and sum(times) < LONG:
        before()
        start = clock()
        call()
        times.append(clock() - start)
    return statistics.median(times)


def _read(graph: Any) -> None:
    """All neighbours of all nodes, one by one, and nothing done with them."""
    deque(chain.from_iterable(graph._adj.values()), maxlen=0)


def measure(
    name: str, calls: Sequence[str], clock: Callable[[], float], repeats: int = REPEATS
) -> dict[str, dict[str, float]]:
    """One graph's table, printed; returns the seconds of each call."""
    directed = load(name)
    undirected = directed.to_undirected()
    print(f"{name}: {len(directed):,} nodes, {directed.number_of_edges():,} arcs", flush=True)
    all_plain, all_ours, conversion = 0.0, 0.0, 0.0
    seconds_of: dict[str, dict[str, float]] = {}
    titles = ("NetworkX", "first", "then", "reading", "ratio", "converted", "at most")
    print(f"  {'':34}" + "".join(f"{title:>11}" for title in titles), flush=True)
    for title in calls:
        call, along_arcs = CALLS[title]
        graph = directed if along_arcs else undirected
        ours, cache = partial(call, graph, backend="hpgraph"), graph.__networkx_cache__
        ours()
        first, again = _median(clock, ours, repeats, cache.clear), _median(clock, ours, repeats)
        reading = _median(clock, partial(_read, graph), repeats)
        plain = _median(clock, partial(call, graph, backend="networkx"), repeats)
        all_plain, all_ours, conversion = all_plain + plain, all_ours + again, max(conversion, first - again)
        seconds_of[title] = {"networkx": plain, "first": first, "then": again, "reading": reading}
        times = "".join(f"{seconds:10.4f}s" for seconds in (plain, first, again, reading))
        ratios = "".join(f"{plain / seconds:10.1f}x" for seconds in (first, again, reading + again))
        print(f"  {title:34}{times}{ratios}" + ("" if plain / first >= AIM else f"  below {AIM:g}"), flush=True)
    ours_in_all = all_ours + 2 * conversion  # once along arcs, once both ways
    ratio = all_plain / ours_in_all
    print(f"  all, each graph converted once: {all_plain:.2f}s, {ours_in_all:.2f}s: {ratio:.1f}x", flush=True)
    return seconds_of


def main(words: Sequence[str]) -> int:
    """Print one table a graph."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks {words[0]}", description=__doc__)
    parser.add_argument("--graphs", nargs="+", default=["debian"], help="debian, or files of HPGRAPH_DATA: cnr-2000")
    parser.add_argument("--calls", nargs="+", choices=CALLS, default=list(CALLS))
    parser.add_argument("--processor", action="store_true", help="processor time of all threads, not elapsed time")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="calls of which the median is taken")
    parser.add_argument("--output", type=Path, help="file to put the seconds into, kept with those it holds")
    options = parser.parse_args(words[1:])
    registered()
    warnings.simplefilter("ignore", hpg.ConvergenceWarning)
    record = Record(options.output, words, "cpu", merge=True) if options.output else None
    for name in options.graphs:
        clock = time.process_time if options.processor else time.perf_counter
        found = measure(name, options.calls, clock, options.repeats)
        if record:
            seconds = record.content.get("seconds", {})
            record.save(networkx=nx.__version__, seconds={**seconds, name: {**seconds.get(name, {}), **found}})
    return 0
