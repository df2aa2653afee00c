"""NetworkX's functions on its backend hpgraph beside NetworkX alone, conversion included once: through dispatching.

"ratio" is that of a script which converts for the one call, "converted" that of a call which finds the graph converted;
the last line is that of a script which makes all of them and converts once. Kernels are compiled beforehand, times are
medians. "reading" is how long Python takes to hand out all neighbours, the least that a conversion can take, and
"at most" what the ratio would be if it took no longer.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import EntryPoint
from itertools import chain
from pathlib import Path
from typing import Any

import networkx as nx

import hpgraph as hpg

AIM = 20.0
# Calls of which the median is taken, and seconds after which no further one is made.
REPEATS, LONG = 5, 20.0
Call = Callable[..., Any]


def _sources(G: Any) -> list[Any]:
    nodes = list(G)
    return nodes[:: max(1, len(nodes) // 8)][:8]


def _lengths(G: Any, **options: Any) -> Any:
    return [nx.single_source_shortest_path_length(G, node, **options) for node in _sources(G)]


# By name: the call, and whether its graph is directed.
CALLS: dict[str, tuple[Call, bool]] = {
    "pagerank": (lambda G, **o: nx.pagerank(G, **o), True),
    "connected_components": (lambda G, **o: list(nx.connected_components(G, **o)), False),
    "betweenness_centrality k=64": (lambda G, **o: nx.betweenness_centrality(G, k=64, seed=1, **o), False),
    "core_number": (lambda G, **o: nx.core_number(G, **o), False),
    "triangles": (lambda G, **o: nx.triangles(G, **o), False),
    "louvain_communities": (lambda G, **o: nx.community.louvain_communities(G, seed=1, **o), False),
    "shortest path lengths, 8 sources": (_lengths, False),
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


def measure(name: str, calls: Sequence[str], clock: Callable[[], float]) -> None:
    directed = load(name)
    undirected = directed.to_undirected()
    print(f"{name}: {len(directed):,} nodes, {directed.number_of_edges():,} arcs", flush=True)
    all_plain, all_ours, conversion = 0.0, 0.0, 0.0
    titles = ("NetworkX", "first", "then", "reading", "ratio", "converted", "at most")
    print(f"  {'':34}" + "".join(f"{title:>11}" for title in titles), flush=True)
    for title in calls:
        call, along_arcs = CALLS[title]
        graph = directed if along_arcs else undirected
        ours, cache = partial(call, graph, backend="hpgraph"), graph.__networkx_cache__
        ours()
        first, again = _median(clock, ours, REPEATS, cache.clear), _median(clock, ours, REPEATS)
        reading = _median(clock, partial(_read, graph), REPEATS)
        plain = _median(clock, partial(call, graph, backend="networkx"), REPEATS)
        all_plain, all_ours, conversion = all_plain + plain, all_ours + again, max(conversion, first - again)
        times = "".join(f"{seconds:10.4f}s" for seconds in (plain, first, again, reading))
        ratios = "".join(f"{plain / seconds:10.1f}x" for seconds in (first, again, reading + again))
        print(f"  {title:34}{times}{ratios}" + ("" if plain / first >= AIM else f"  below {AIM:g}"), flush=True)
    ours_in_all = all_ours + 2 * conversion  # once along arcs, once both ways
    ratio = all_plain / ours_in_all
    print(f"  all, each graph converted once: {all_plain:.2f}s, {ours_in_all:.2f}s: {ratio:.1f}x", flush=True)


def main(words: Sequence[str]) -> int:
    """Print one table a graph."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks {words[0]}", description=__doc__)
    parser.add_argument("--graphs", nargs="+", default=["debian"], help="debian, or files of HPGRAPH_DATA: cnr-2000")
    parser.add_argument("--calls", nargs="+", choices=CALLS, default=list(CALLS))
    parser.add_argument("--processor", action="store_true", help="processor time of all threads, not elapsed time")
    options = parser.parse_args(words[1:])
    registered()
    warnings.simplefilter("ignore", hpg.ConvergenceWarning)
    for name in options.graphs:
        measure(name, options.calls, time.process_time if options.processor else time.perf_counter)
    return 0
