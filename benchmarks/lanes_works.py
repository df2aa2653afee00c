"""What `benchmarks.lanes` measures: each work in lanes, one of its single calls, and how answers are checked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import hpgraph as hpg
from hpgraph.core.device import to_device

from .answers import ITERATIONS
from .graphs import Case

PROVEN = 2
"""Lanes whose answers are proven from the graph itself; the others are compared with single calls."""


def _unequal(answer: Any, alone: Any) -> str | None:
    different = int((answer != alone).sum())
    return f"{different:,} vertices have another value" if different else None


def _apart(answer: Any, alone: Any) -> str | None:
    gap = float(abs(answer - alone).sum())
    return None if gap <= 1e-6 * max(1.0, float(abs(alone).sum())) else f"off by {gap:.1e} in sum"


@dataclass(frozen=True)
class Work:
    """One row of a table.

    ``counts`` is the number of sources by device; ``singles`` how many single calls are timed, whose mean stands for
    all, and ``compared`` how many lanes are compared with them. ``total`` checks an answer as a whole. ``aims`` says
    what is aimed at, by graph: milliseconds on the GPU, or a share of single calls.
    """

    title: str
    counts: Mapping[str, int]
    lanes: Callable[[Case, np.ndarray], Any]
    single: Callable[[Case, int], Any] | None = None
    lane: Callable[[Any, int], Any] = lambda answer, lane: answer[lane]
    differ: Callable[[Any, Any], str | None] = _unequal
    proof: str | None = None
    singles: int = 8
    compared: int = 128
    every_single: bool = False
    total: Callable[[Case, np.ndarray, Any], str | None] | None = None
    aims: Mapping[str, str] = field(default_factory=dict)


def _by_graph(kron: str, social: str, urand: str, road: str, cpu: str = "") -> dict[str, str]:
    aims = {"kron21": kron, "social22": social, "urand23": urand, "road2048": road}
    return aims | (dict.fromkeys(("kron18", "urand18", "road1000"), cpu) if cpu else {})


def _closeness_alone(case: Case, source: int) -> Any:
    """From the levels of one search, as the definition has it."""
    level = hpg.bfs(case.graph, source, parents=False).level
    reached, total = int((level >= 0).sum()) - 1, int(level[level > 0].sum())
    return reached / total * reached / (case.n - 1) if total else 0.0


def _pairs(case: Case, chosen: np.ndarray, scores: Any) -> str | None:
    """The vertices between s and t on shortest paths are d(s, t) - 1 on the average: so the scores' sum is known."""
    scores = to_device(scores, "cpu")
    # NetworkX's scaling is undone, which scales what a sample gives, and its sources apart.
    share = 2 * len(chosen) / (case.n - 1)
    found = float(scores.sum()) * share - float(scores[chosen].sum()) * share / len(chosen)
    expected = 0
    for source in chosen.tolist():
        level = hpg.bfs(case.graph, source, parents=False).level
        away = level[level > 0]
        expected += int(away.sum()) - int(away.size)
    return None if abs(found - expected) <= 1e-6 * max(expected, 1) else f"sum {found:.9g}, not {expected}"


def _dijkstra_wrong(case: Case, chosen: np.ndarray, distance: Any) -> str | None:
    for lane, source in enumerate(chosen[:4].tolist()):
        alone = to_device(hpg.sssp(case.graph, source).distance, "cpu")
        if complaint := _unequal(distance[lane], alone):
            return f"lane {lane}: {complaint}"
    return None


def _betweenness(case: Case, chosen: np.ndarray) -> Any:
    return hpg.betweenness_centrality(case.graph, sources=chosen, normalized=False)


def _seeds(case: Case, chosen: np.ndarray) -> Any:
    """One distribution a row, all of it at one vertex."""
    seeds = case.xp.zeros((len(chosen), case.n))
    seeds[case.xp.arange(len(chosen)), case.xp.asarray(chosen)] = 1
    return seeds


def _pagerank_alone(case: Case, source: int) -> Any:
    seed = case.xp.zeros(case.n)
    seed[source] = 1
    return hpg.pagerank(case.graph, personalization=seed, tol=0, max_iteration=ITERATIONS).rank


WORKS = {
    "bfs": Work(
        "{} BFS, all levels",
        {"cpu": 64, "cuda": 128},
        lambda case, chosen: hpg.bfs(case.graph, sources=chosen, parents=False).level,
        lambda case, source: hpg.bfs(case.graph, source, parents=False).level,
        proof="bfs",
        every_single=True,
        aims=_by_graph("3.0 ms", "6.0 ms", "14 ms", "80 ms", "0.25"),
    ),
    "closeness": Work(
        "{} BFS to closeness",
        {"cpu": 256, "cuda": 1024},
        lambda case, chosen: hpg.closeness_centrality(case.graph, chosen),
        _closeness_alone,
        differ=lambda answer, alone: None if abs(float(answer) - alone) < 1e-12 else f"{float(answer)}, not {alone}",
        compared=16,
        aims=_by_graph("20 ms", "45 ms", "110 ms", "700 ms"),
    ),
    "sssp": Work(
        "{} SSSP",
        {"cpu": 32, "cuda": 32},
        lambda case, chosen: hpg.sssp(case.graph, sources=chosen).distance,
        lambda case, source: hpg.sssp(case.graph, source).distance,
        proof="sssp",
        every_single=True,
        aims=_by_graph("0.35", "0.35", "0.4", "0.2"),
    ),
    "pagerank": Work(
        f"PageRank of {{}} seeds, {ITERATIONS} iterations",
        {"cpu": 64, "cuda": 64},
        lambda case, chosen: (
            hpg.pagerank(case.graph, personalization=_seeds(case, chosen), tol=0, max_iteration=ITERATIONS).rank
        ),
        _pagerank_alone,
        differ=_apart,
        singles=4,
        compared=4,
        aims=_by_graph("0.3", "0.3", "0.3", "0.4"),
    ),
    "betweenness": Work(
        "betweenness, {} sources",
        {"cpu": 16, "cuda": 64},
        _betweenness,
        total=_pairs,
        aims=_by_graph("150 ms", "180 ms", "360 ms", "900 ms", "GAPBS"),
    ),
    "dijkstra": Work(
        "csgraph.dijkstra, {} indices",
        {"cpu": 64},
        lambda case, chosen: hpg.csgraph.dijkstra(case.matrix, directed=True, indices=chosen),
        total=_dijkstra_wrong,
        aims=_by_graph("", "", "", "", "0.15 of SciPy"),
    ),
}
