"""Each constant that a rule chooses, swept beside the rule on kinds of graphs that nothing was fitted to.

    python -m benchmarks constants --device cuda --kinds lattice,cliques

For every kind: the time with the rule, the best time of the sweep, at which value, and their ratio, which is to stay
below 1.3. Graphs are those of `benchmarks.unseen`, in sizes that the device takes milliseconds for.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import hpgraph as hpg
from hpgraph.algorithms.distances import weight_facts
from hpgraph.core.device import array_module, cuda_available, to_device

from . import unseen
from .timing import timed

# Sizes for the GPU; the CPU takes the makers' own.
LARGE: dict[str, tuple[Any, ...]] = {
    "small-world": (1 << 20,), "lattice": (128,), "cliques": (20_000,), "stars": (64, 1 << 15), "web-like": (1 << 20,),
    "power-law": (1 << 20,), "tree": (1 << 21,), "bipartite": (1 << 20,), "mild-rmat": (20,), "geometric": (1 << 20,),
    "de-bruijn": (11,),
}  # fmt: skip
# Mean weights; shares of all arcs; shares of all vertices.
WIDTHS = tuple(4.0**k for k in range(-2, 6))
ALPHAS = (0.0125, 0.025, 0.05, 0.1, 0.2, 0.4)
BETAS = (1 / 160, 1 / 54, 1 / 18, 1 / 6)
TRIALS = 4


def make(kind: str, device: str) -> hpg.Graph:
    """A graph of a kind, undirected, its weights whole numbers from 1 to 64 that follow from the ends of an edge."""
    source, target, n = unseen.KINDS[kind](*(LARGE.get(kind, ()) if device == "cuda" else ()))
    low, high = np.minimum(source, target).astype(np.uint64), np.maximum(source, target).astype(np.uint64)
    # Of neighbouring ids the weights must not form a pattern: Fibonacci hashing.
    mixed = (low * np.uint64(0x9E3779B97F4A7C15)) ^ (high * np.uint64(0xC2B2AE3D27D4EB4F))
    mixed = (mixed ^ mixed >> np.uint64(29)) * np.uint64(0xBF58476D1CE4E5B9)
    weights = ((mixed >> np.uint64(40)) % np.uint64(64) + np.uint64(1)).astype(np.float32)
    apart = source != target
    edges = (to_device(array[apart], device) for array in (source, target, weights))
    return hpg.Graph.from_edges(*edges, n_vertices=n, directed=False)


def best(call: Callable[[], Any], device: str) -> float:
    """The least of some times of a call, in milliseconds, one call before them left out."""
    timed(call, device)
    return min(timed(call, device)[0] for _ in range(TRIALS)) * 1e3


def sweeps(graph: hpg.Graph) -> Iterator[tuple[str, Callable[[], Any], dict[str, Callable[[], Any]]]]:
    """Constants by name: the call with the rule, and those with values of their own."""
    degree = to_device(array_module(graph.device).diff(graph.out_csr.indptr), "cpu")
    start = hpg.id(int(np.flatnonzero(degree)[degree.size // 3 % np.count_nonzero(degree)]))
    mean = weight_facts(graph.out_csr).mean

    def fixed(width: float) -> Callable[[], Any]:
        def call() -> Any:
            with hpg.techniques(adaptive_buckets=False):
                return hpg.sssp(graph, start, delta=mean * width)

        return call

    yield "width of a bucket", lambda: hpg.sssp(graph, start), {f"{width:g}": fixed(width) for width in WIDTHS}
    for name, values in (("alpha", ALPHAS), ("beta", BETAS)):
        policies = {f"{value:.4g}": hpg.Direction(**{name: value}) for value in values}  # type: ignore[arg-type]
        yield (
            name,
            lambda: hpg.bfs(graph, start),
            {
                value: lambda policy=policy: hpg.bfs(graph, start, direction=policy)
                for value, policy in policies.items()
            },
        )


def main(words: Sequence[str] | None = None) -> int:
    """Print a line for each kind and constant.

    Returns
    -------
    int
        The exit status: 1 where the rule takes more than 1.3 times the best value's time, else 0.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks constants", description=__doc__)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda" if cuda_available() else "cpu")
    parser.add_argument("--kinds", default=",".join(unseen.KINDS), help="separated by commas")
    chosen = parser.parse_args(list(words or sys.argv[1:])[1:])
    status = 0
    print(f"{'kind':14}{'constant':20}{'rule, ms':>10}{'best, ms':>10}{'at':>8}{'ratio':>7}")
    for kind in chosen.kinds.split(","):
        graph = make(kind, chosen.device)
        for constant, rule, others in sweeps(graph):
            mine = best(rule, chosen.device)
            found = {value: best(call, chosen.device) for value, call in others.items()}
            value = min(found, key=found.__getitem__)
            ratio = mine / found[value]
            status |= ratio > 1.3
            print(f"{kind:14}{constant:20}{mine:10.3f}{found[value]:10.3f}{value:>8}{ratio:7.2f}", flush=True)
    return int(status)
