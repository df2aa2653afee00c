"""Paths and motifs in time on generated contacts, beside other libraries where they are installed.

Contacts are those of `hpgraph.datasets.contacts`, like SocioPatterns' of a school. Raphtory counts motifs and windows,
pathpyG closeness: of fewer contacts, as it takes minutes for all of them.
"""

from collections.abc import Callable, Sequence
from typing import Any

import hpgraph as hpg

from .record import Record, command_parser
from .timing import medians

# Seconds: between readings of the badges; from the first contact of a motif to its last; windows, and their steps.
STEP, SPAN, HOUR, DAY = 20, 600, 3600, 86400

Works = dict[tuple[str, str], Callable[[], Any]]


def works(T: hpg.TemporalGraph) -> Works:
    """What is timed, on graphs that are made beforehand."""
    columns = {"source": T.source, "target": T.target, "time": T.time}
    D, L = hpg.TemporalGraph(columns), hpg.TemporalGraph(columns, duration=STEP, directed=False)
    found = hpg.earliest_arrival(T, 0)
    return {
        ("hpgraph", name): call
        for name, call in {
            "closeness, hops, all pairs": lambda: hpg.temporal_closeness(T),
            "closeness, arrivals, all pairs": lambda: hpg.temporal_closeness(L, distance="arrival"),
            "closeness, durations, all pairs": lambda: hpg.temporal_closeness(L, distance="duration"),
            "a path to the last vertex": lambda: found.path_to(T.n_vertices - 1),
            "reachability graph": lambda: hpg.reachability_graph(T),
            "betweenness, 32 sources": lambda: hpg.temporal_betweenness(T, 32, seed=0),
            "Katz": lambda: hpg.temporal_katz(T, 1e-3),
            "36 motifs": lambda: hpg.temporal_motifs(D, SPAN),
            "windows of an hour": lambda: [G.n_edges for _, G in T.windows(HOUR)],
            "windows of a day, each hour": lambda: [G.n_edges for _, G in T.windows(DAY, HOUR)],
            "activity of vertices": lambda: hpg.activity_statistics(T),
        }.items()
    }


def raphtory_works(T: hpg.TemporalGraph) -> Works:
    """The same of Raphtory, Rust; nothing where it is not installed. Its windows are views, whose edges are counted."""
    try:
        import raphtory
    except ImportError:
        return {}
    graph, both = raphtory.Graph(), raphtory.Graph()
    for u, v, t in zip(T.source.tolist(), T.target.tolist(), T.time.tolist(), strict=True):
        graph.add_edge(t, u, v)
        both.add_edge(t, u, v)
        both.add_edge(t, v, u)
    return {
        ("Raphtory", "36 motifs"): lambda: raphtory.algorithms.global_temporal_three_node_motif(graph, SPAN),
        ("Raphtory", "windows of an hour"): lambda: [view.count_edges() for view in both.rolling(HOUR)],
        ("Raphtory", "windows of a day, each hour"): lambda: [view.count_edges() for view in both.rolling(DAY, HOUR)],
    }


def pathpy_works(rows: int) -> Works:
    """Closeness of so many of the contacts by pathpyG, PyTorch, and by this library; nothing without pathpyG."""
    try:
        import pathpyG
    except ImportError:
        return {}
    T = hpg.datasets.contacts(rows=rows)
    both = [(str(u), str(v), t) for u, v, t in zip(T.source.tolist(), T.target.tolist(), T.time.tolist(), strict=True)]
    both = sorted(both + [(v, u, t) for u, v, t in both], key=lambda arc: arc[2])
    graph = pathpyG.TemporalGraph.from_edge_list(both)
    closeness = pathpyG.algorithms.centrality.temporal_closeness_centrality
    # Waiting as long as there is time.
    span = int(T.time[-1]) + 1
    name = f"closeness of {rows} contacts, all pairs"
    return {("pathpyG", name): lambda: closeness(graph, span), ("hpgraph", name): lambda: hpg.temporal_closeness(T)}


def main(words: Sequence[str]) -> int:
    """Measure, print a table, and save the results.

    Returns
    -------
    int
        0.
    """
    parser = command_parser("temporal", __doc__)
    parser.add_argument("--people", type=int, default=327, help="vertices (327)")
    parser.add_argument("--contacts", type=int, default=188_000, help="rows (188000)")
    parser.add_argument("--repeats", type=int, default=5, help="calls of which the median is taken (5)")
    parser.add_argument("--fewer", type=int, default=2000, help="rows for pathpyG (2000)")
    chosen = parser.parse_args(words)
    record, T = Record.of(chosen, words, "cpu"), hpg.datasets.contacts(chosen.people, chosen.contacts)
    calls = {**works(T), **raphtory_works(T), **pathpy_works(chosen.fewer)}
    found = []
    for (library, work), call in calls.items():
        call()
        took = medians(call, chosen.repeats)
        found.append({"library": library, "work": work, **took})
        print(f"{library:10}{work:34}{took['median_s']:9.3f} s{took['processor_s']:9.3f} s of processors", flush=True)
        record.save(temporal={"people": chosen.people, "contacts": chosen.contacts, "results": found})
    print(f"saved in {record.path}")
    return 0
