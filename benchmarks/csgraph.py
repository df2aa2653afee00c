"""The functions of `scipy.sparse.csgraph`, SciPy's and hpgraph's, each given SciPy's matrix at each call.

Processor time of all threads, the two libraries in turn; the ratio is SciPy's median over ours. Answers are compared by
what any right one has in common: sums of distances, numbers of vertices reached and matched, weights of trees, flows.
"""

import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.csgraph

from hpgraph import csgraph

from .peers_cpu import SciPy
from .record import Record, command_parser

# Calls of which the median is taken, fewer where SciPy's take more than `LONG` seconds together; none where the first
# takes as long as that. Shorter calls than `SHORT` are made several times in a row.
REPEATS, LONG, SHORT = 5, 1.0, 0.01
# The largest dense graph: shortest paths between all of its vertices take seconds.
MAX_DENSE = 700

Call = tuple[tuple[Any, ...], dict[str, Any]]
Digest = Callable[[Any], Any]


def shapes(arcs: int) -> dict[str, Any]:
    """Weighted graphs of about so many arcs, as SciPy's arrays: symmetric, but for three."""
    rng = np.random.default_rng(1)
    side, degree = int((arcs / 4) ** 0.5), 8
    ids = np.arange(side * side).reshape(side, side)
    grid = (np.r_[ids[:-1].ravel(), ids[:, :-1].ravel()], np.r_[ids[1:].ravel(), ids[:, 1:].ravel()], side * side)
    n, many = arcs // degree, arcs // 2
    ring = np.tile(np.arange(n), degree // 2)
    far = (ring + np.repeat(np.arange(1, degree // 2 + 1), n)) % n
    rewired = np.where(rng.random(len(ring)) < 0.1, rng.integers(0, n, len(ring)), far)
    expected = np.cumsum((1 + np.arange(n)) ** -0.75)
    skewed = rng.permutation(n)[np.searchsorted(expected, rng.random((2, arcs)) * expected[-1])]
    uniform = rng.integers(0, n, (2, arcs))
    return {
        "grid": _weighed(*grid, rng.random),
        "grid, whole weights": _weighed(*grid, lambda count: rng.integers(1, 9, count)),
        "skewed": _weighed(*skewed, n, rng.random, both=False),
        "skewed, symmetric": _weighed(*skewed[:, :many], n, rng.random),
        "uniform": _weighed(*uniform, n, rng.random, both=False),
        "uniform, int64 ids": _weighed(*uniform, n, rng.random, both=False, ids=np.int64),
        "path": _weighed(np.arange(many), np.arange(1, many + 1), many + 1, rng.random),
        "star": _weighed(np.zeros(many, np.int64), np.arange(1, many + 1), many + 1, rng.random),
        "small world": _weighed(ring, rewired, n, rng.random),
    }


def _weighed(
    source: Any, target: Any, n: int, draw: Callable[[int], Any], both: bool = True, ids: Any = np.int32
) -> Any:
    low, high = (np.minimum(source, target), np.maximum(source, target)) if both else (source, target)
    kept = np.flatnonzero(low != high)
    kept = kept[np.unique(low[kept] * n + high[kept], return_index=True)[1]]
    low, high, weight = low[kept], high[kept], np.asarray(draw(len(kept)) + 0.001, np.float64)
    ends = (np.r_[low, high], np.r_[high, low]) if both else (low, high)
    made = sp.csr_array((np.r_[weight, weight] if both else weight, ends), shape=(n, n))
    made.indices, made.indptr = made.indices.astype(ids), made.indptr.astype(ids)
    return made


def _sum(answer: Any) -> float:
    values = np.asarray(answer[0] if isinstance(answer, tuple) else answer, np.float64)
    return float(values[np.isfinite(values)].sum())


def _length(answer: Any) -> int:
    return len(answer[0] if isinstance(answer, tuple) else answer)


def _count(answer: Any) -> int:
    return int(np.count_nonzero(np.asarray(answer) >= 0))


def _total(answer: Any) -> float:
    return float(answer.sum())


def _first(answer: Any) -> Any:
    return answer[0] if isinstance(answer, tuple) else answer


def sparse_works(S: Any) -> dict[str, tuple[str, Call, Digest]]:
    """Works on a sparse graph: a function's name, its arguments, and what to compare of its answer."""
    n = S.shape[0]
    busy = int(np.argmax(np.diff(S.indptr)))
    few, several = np.linspace(0, n - 1, 4).astype(int), np.linspace(0, n - 1, 32).astype(int)
    far = scipy.sparse.csgraph.dijkstra(S, indices=busy)
    reached = np.sort(far[np.isfinite(far)])
    near, farther = (float(reached[int(share * (len(reached) - 1))]) for share in (0.01, 0.5))
    middle, sink = (int(np.flatnonzero(far == reached[place])[0]) for place in (len(reached) // 16, -1))
    tree = scipy.sparse.csgraph.breadth_first_order(S, busy)[1]
    capacity = sp.csr_array((np.ceil(S.data * 1000).astype(np.int32), S.indices, S.indptr), shape=S.shape)
    full = sp.csr_array(S + 9 * sp.eye_array(n))
    # Equal weights are ties, of which SciPy's search has exponentially many.
    full.data *= np.random.default_rng(3).uniform(0.9, 1.1, full.nnz)
    works: dict[str, tuple[str, Call, Digest]] = {}

    def add(name: str, digest: Digest, *arguments: Any, words: str = "", **options: Any) -> None:
        said = [words, *(key if value is True else f"{key}={value}" for key, value in options.items()
                         if not isinstance(value, np.ndarray | float) and key != "indices")]  # fmt: skip
        works[f"{name}({', '.join(filter(None, said))})"] = name, (arguments, options), digest

    for both in ({}, {"directed": False}):
        for alone in ({}, {"return_predecessors": False}):
            add("breadth_first_order", _length, S, busy, **both, **alone)
            add("depth_first_order", _length, S, busy, **both, **alone)
        add("breadth_first_tree", lambda made: made.nnz, S, busy, **both)
        add("depth_first_tree", lambda made: made.nnz, S, busy, **both)
        add("reconstruct_path", _total, S, tree, **both)
        add("connected_components", _first, S, **both)
        add("yen", _sum, S, busy, middle, K=2, **both)
        for trees in ({}, {"return_predecessors": True}):
            options = {**both, **trees}
            add("shortest_path", _sum, S, indices=busy, **options)
            add("dijkstra", _sum, S, indices=busy, **options)
            add("dijkstra", _sum, S, indices=busy, words="limit: 1%", limit=near, **options)
            add("dijkstra", _sum, S, indices=busy, words="limit: 50%", limit=farther, **options)
            add("dijkstra", _sum, S, indices=busy, unweighted=True, **options)
            add("dijkstra", _sum, S, indices=few, words="4 indices", **options)
            add("dijkstra", _sum, S, indices=several, words="32 indices", min_only=True, **options)
    add("dijkstra", _sum, S, indices=few, words="4 indices", unweighted=True)
    add("dijkstra", _sum, S, indices=few, words="4 indices, limit: 1%", limit=near)
    add("dijkstra", _sum, S, indices=several, words="32 indices", return_predecessors=True)
    add("connected_components", _first, S, connection="strong")
    add("minimum_spanning_tree", _total, S)
    add("maximum_flow", lambda found: found.flow_value, capacity, busy, sink)
    add("maximum_bipartite_matching", _count, S)
    add("maximum_bipartite_matching", _count, S, perm_type="column")
    add("structural_rank", int, S)
    add("min_weight_full_bipartite_matching", lambda found: float(full[found].sum()), full)
    add("reverse_cuthill_mckee", _length, S)
    add("reverse_cuthill_mckee", _length, S, symmetric_mode=True)
    for options in ({}, {"normed": True}, {"symmetrized": True}, {"return_diag": True}):
        add("laplacian", lambda made: float(abs(_first(made)).sum()), S, **options)
    return works


def dense_works(n: int) -> dict[str, tuple[str, Call, Digest]]:
    """Works on a graph of n vertices of which two of three pairs are arcs, and on its dense form."""
    rng = np.random.default_rng(2)
    D = rng.random((n, n)) * (rng.random((n, n)) < 0.66)
    S, masked = sp.csr_array(D), np.ma.masked_values(D, 0)
    _, before = scipy.sparse.csgraph.shortest_path(S, return_predecessors=True)
    lifted = rng.random(n)
    negative = sp.csr_array((S.data + lifted[S.tocoo().row] - lifted[S.indices], S.indices, S.indptr), shape=S.shape)
    works: dict[str, tuple[str, Call, Digest]] = {
        "csgraph_from_dense()": ("csgraph_from_dense", ((D,), {}), _total),
        "csgraph_from_masked()": ("csgraph_from_masked", ((masked,), {}), _total),
        "csgraph_masked_from_dense()": ("csgraph_masked_from_dense", ((D,), {}), _total),
        "csgraph_to_dense()": ("csgraph_to_dense", ((S,), {}), _sum),
        "csgraph_to_masked()": ("csgraph_to_masked", ((S,), {}), _total),
        "construct_dist_matrix()": ("construct_dist_matrix", ((S, before), {}), _sum),
        "laplacian(dense)": ("laplacian", ((D,), {}), _sum),
        "connected_components(dense)": ("connected_components", ((D,), {}), _first),
        "minimum_spanning_tree(dense)": ("minimum_spanning_tree", ((D,), {}), _total),
        "dijkstra(dense)": ("dijkstra", ((D,), {"indices": 0}), _sum),
    }
    for both in ({}, {"directed": False}):
        for trees in ({}, {"return_predecessors": True}):
            options: dict[str, Any] = {**both, **trees}
            words = ", ".join(f"{key}={value}" for key, value in options.items())
            for name in ("floyd_warshall", "shortest_path", "johnson", "bellman_ford", "dijkstra"):
                works[f"{name}({words})"] = name, ((S,), options), _sum
            for name in ("johnson", "bellman_ford"):
                # Symmetric negative weights are cycles of negative length.
                if not both:
                    works[f"{name}({words or 'all'}, negative)"] = name, ((negative,), options), _sum
                works[f"{name}({words or 'directed'}, one index)"] = name, ((S,), {**options, "indices": 0}), _sum
    return works


def spent(call: Callable[[], Any], times: int) -> float:
    """Processor time of one call, of several in a row."""
    begin = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - begin) / times


def compared(name: str, call: Call, digest: Digest, repeats: int) -> dict[str, Any] | None:
    """Medians of the seconds of SciPy's function and ours, whether answers agree; None where SciPy's is of no use."""
    arguments, options = call
    theirs, ours = (partial(getattr(module, name), *arguments, **options) for module in (scipy.sparse.csgraph, csgraph))
    begin = time.process_time()
    try:
        answers = [digest(theirs())]
    except ValueError:
        # SciPy's yen takes no 64-bit ids.
        return None
    first = time.process_time() - begin
    if first > LONG:
        return None
    # The first call of ours may compile.
    answers.append(digest(ours()))
    times = max(1, min(100, int(SHORT / max(first, 1e-6))))
    repeats = max(1, min(repeats, int(LONG / first)))
    seconds = [(spent(theirs, times), spent(ours, times)) for _ in range(repeats)]
    scipys, own = (statistics.median(column) for column in zip(*seconds, strict=True))
    return {"scipy_s": scipys, "hpgraph_s": own, "ratio": scipys / own, "same": bool(np.allclose(*answers))}


def main(words: Sequence[str]) -> int:
    """Measure, print a row for each work, and save the results.

    Returns
    -------
    int
        1 where answers differ, else 0.
    """
    parser = command_parser("csgraph", __doc__, "graphs and works")
    parser.add_argument("--arcs", default="100000,1000000", help="arcs of the graphs, separated by commas")
    parser.add_argument("--shapes", help="beginnings of shapes, separated by semicolons; all, and dense, by default")
    parser.add_argument("--works", help="beginnings of works, separated by semicolons; all by default")
    parser.add_argument("--repeats", type=int, default=REPEATS, help=f"calls of which the median is taken ({REPEATS})")
    chosen = parser.parse_args(words)
    record, unlike, below = Record.of(chosen, words, "cpu", [SciPy.distribution]), 0, 0
    results = {_place(row): row for row in record.content.get("csgraph", [])}
    warnings.simplefilter("ignore")

    def wanted(name: str, asked: str | None) -> bool:
        return asked is None or any(name.startswith(begin) for begin in asked.split(";"))

    for arcs in map(int, chosen.arcs.split(",")):
        n = min(int((arcs / 0.66) ** 0.5), MAX_DENSE)
        makers = {shape: (lambda S=S: sparse_works(S)) for shape, S in shapes(arcs).items()}
        for shape, make in {**makers, "dense": lambda n=n: dense_works(n)}.items():
            for work, (name, call, digest) in make().items() if wanted(shape, chosen.shapes) else ():
                row = compared(name, call, digest, chosen.repeats) if wanted(work, chosen.works) else None
                if row is None:
                    continue
                row = {"work": work, "shape": shape, "arcs": arcs, **row}
                results[_place(row)] = row
                unlike += not row["same"]
                below += row["ratio"] < 1
                print(
                    f"{arcs:9,} {shape:20} {work:72} {1e3 * row['scipy_s']:9.2f} {1e3 * row['hpgraph_s']:9.2f} ms "
                    f"{row['ratio']:6.2f}{'' if row['same'] else '  UNLIKE'}",
                    flush=True,
                )
            record.save(csgraph=sorted(results.values(), key=lambda row: row["arcs"]))
    print(f"{below} ratios below 1; {len(results)} rows saved in {record.path}")
    return int(unlike > 0)


def _place(row: dict[str, Any]) -> tuple[Any, ...]:
    """What a row is of."""
    return row["arcs"], row["shape"], row["work"]
