"""Paths, centralities and motifs in time on generated contacts, beside Raphtory where it is installed.

Contacts are like those that badges record in a school (SocioPatterns): 327 people in 9 classes, every 20 seconds of the
hours of five days a row for each pair face to face; encounters last for some rows, most are short.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import hpgraph as hpg

from .record import RESULTS, Record

STEP, DAYS, HOURS = 20, 5, 8
# From the first contact of a motif to its last, in seconds.
SPAN = 600


def contacts(people: int, rows: int, seed: int = 0) -> dict[str, Any]:
    """Columns source, target and time of so many contacts.

    Returns
    -------
    dict of int64 arrays of shape (rows,)
    """
    rng = np.random.default_rng(seed)
    group = np.arange(people) % 9
    order = np.argsort(group, kind="stable")
    begins = np.searchsorted(group[order], group)
    sizes = np.bincount(group, minlength=9)[group]
    lasting = np.minimum(rng.zipf(2.2, rows), 60)
    lasting = lasting[: int(np.searchsorted(np.cumsum(lasting), rows)) + 1]
    one = rng.integers(0, people, len(lasting))
    inside = order[begins[one] + (rng.random(len(one)) * sizes[one]).astype(np.int64)]
    other = np.where(rng.random(len(one)) < 0.8, inside, rng.integers(0, people, len(one)))
    other = np.where(one == other, (one + 1) % people, other)
    slot = rng.integers(0, HOURS * 3600 // STEP, len(one)) + rng.integers(0, DAYS, len(one)) * 24 * 3600 // STEP
    later = np.concatenate([np.arange(length) for length in lasting])
    columns = np.repeat(one, lasting), np.repeat(other, lasting), (np.repeat(slot, lasting) + later) * STEP
    return {name: column[:rows] for name, column in zip(("source", "target", "time"), columns, strict=True)}


def works(columns: dict[str, Any]) -> dict[str, Callable[[], Any]]:
    """What is timed, on graphs that are made beforehand."""
    T = hpg.TemporalGraph(columns, directed=False)
    D, L = hpg.TemporalGraph(columns), hpg.TemporalGraph(columns, duration=STEP, directed=False)
    return {
        "closeness, hops, all pairs": lambda: hpg.temporal_closeness(T),
        "closeness, arrivals, all pairs": lambda: hpg.temporal_closeness(L, distance="arrival"),
        "closeness, durations, all pairs": lambda: hpg.temporal_closeness(L, distance="duration"),
        "betweenness, 32 sources": lambda: hpg.temporal_betweenness(T, 32, seed=0),
        "Katz": lambda: hpg.temporal_katz(T, 1e-3),
        "36 motifs": lambda: hpg.temporal_motifs(D, SPAN),
        "windows of an hour": lambda: [G.n_edges for _, G in T.windows(3600)],
    }


def raphtory_motifs(columns: dict[str, Any]) -> Callable[[], Any] | None:
    """Raphtory's count of the same motifs; None where it is not installed."""
    try:
        import raphtory
    except ImportError:
        return None
    graph = raphtory.Graph()
    for u, v, t in zip(*(column.tolist() for column in columns.values()), strict=True):
        graph.add_edge(t, u, v)
    return lambda: raphtory.algorithms.global_temporal_three_node_motif(graph, SPAN)


def main(words: Sequence[str]) -> int:
    """Measure, print a table, and save the results.

    Returns
    -------
    int
        0.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks temporal", description=__doc__)
    parser.add_argument("command", choices=["temporal"])
    parser.add_argument("--people", type=int, default=327, help="vertices (327)")
    parser.add_argument("--contacts", type=int, default=188_000, help="rows (188000)")
    parser.add_argument("--repeats", type=int, default=5, help="calls of which the median is taken (5)")
    parser.add_argument("--output", type=Path, help="the JSON file (benchmarks/results/temporal-DATE.json)")
    chosen = parser.parse_args(words)
    path = chosen.output or RESULTS / f"temporal-{Record.today()}.json"
    record, columns = Record(path, words, "cpu"), contacts(chosen.people, chosen.contacts)
    calls = {("hpgraph", name): call for name, call in works(columns).items()}
    if (peer := raphtory_motifs(columns)) is not None:
        calls["Raphtory", "36 motifs"] = peer
    found = []
    for (library, work), call in calls.items():
        call()
        seconds = []
        for _ in range(chosen.repeats):
            begin, spent = time.perf_counter(), time.process_time()
            call()
            seconds.append((time.perf_counter() - begin, time.process_time() - spent))
        wall, processor = (statistics.median(column) for column in zip(*seconds, strict=True))
        found.append({"library": library, "work": work, "median_s": wall, "processor_s": processor})
        print(f"{library:10}{work:34}{wall:9.3f} s{processor:9.3f} s of processors", flush=True)
        record.save(temporal={"people": chosen.people, "contacts": chosen.contacts, "results": found})
    print(f"saved in {path}")
    return 0
