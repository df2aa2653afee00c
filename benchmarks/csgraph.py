"""The functions of `scipy.sparse.csgraph`, SciPy's and hpgraph's, each given SciPy's matrix at each call.

Processor time of all threads, the two libraries in turn; the ratio is SciPy's median over ours. Answers are compared by
what any right one has in common: sums of distances, numbers of vertices reached and matched, weights of trees, flows.
With ``--device cuda`` ours is given CuPy's matrices; its seconds are those until the device is idle.
"""

import statistics
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.csgraph

from hpgraph import csgraph

from .csgraph_cuda import times_of_hpgraph, times_of_scipy
from .peers_cpu import SciPy
from .record import Record, command_parser

# Calls of which the median is taken, fewer where SciPy's take more than `LONG` seconds together; none where the first
# takes as long as that. Shorter calls than `SHORT` are made several times in a row.
REPEATS, LONG, SHORT = 5, 1.0, 0.01
# The largest dense graph: shortest paths between all of its vertices take seconds.
MAX_DENSE = 700
# Arcs of a vertex, on average.
DEGREE = 8

Ends = tuple[Any, Any, int]

Call = tuple[tuple[Any, ...], dict[str, Any]]
Digest = Callable[[Any], Any]


def _grid(arcs: int, rng: Any) -> Ends:
    side = int((arcs / 4) ** 0.5)
    ids = np.arange(side * side).reshape(side, side)
    return np.r_[ids[:-1].ravel(), ids[:, :-1].ravel()], np.r_[ids[1:].ravel(), ids[:, 1:].ravel()], side * side


def _skewed(arcs: int, rng: Any) -> Ends:
    n = arcs // DEGREE
    expected = np.cumsum((1 + np.arange(n)) ** -0.75)
    return *rng.permutation(n)[np.searchsorted(expected, rng.random((2, arcs)) * expected[-1])], n


def _skewed_pairs(arcs: int, rng: Any) -> Ends:
    source, target, n = _skewed(arcs, rng)
    return source[: arcs // 2], target[: arcs // 2], n


def _uniform(arcs: int, rng: Any) -> Ends:
    n = arcs // DEGREE
    return *rng.integers(0, n, (2, arcs)), n


def _path(arcs: int, rng: Any) -> Ends:
    return np.arange(arcs // 2), np.arange(1, arcs // 2 + 1), arcs // 2 + 1


def _star(arcs: int, rng: Any) -> Ends:
    return np.zeros(arcs // 2, np.int64), np.arange(1, arcs // 2 + 1), arcs // 2 + 1


def _small_world(arcs: int, rng: Any) -> Ends:
    n = arcs // DEGREE
    ring = np.tile(np.arange(n), DEGREE // 2)
    far = (ring + np.repeat(np.arange(1, DEGREE // 2 + 1), n)) % n
    return ring, np.where(rng.random(len(ring)) < 0.1, rng.integers(0, n, len(ring)), far), n


def _tree(arcs: int, rng: Any) -> Ends:
    n = arcs // 2
    names = rng.permutation(n)
    return names[(rng.random(n - 1) * np.arange(1, n)).astype(np.int64)], names[1:], n


def _components(arcs: int, rng: Any) -> Ends:
    # Of two to thirty vertices.
    n = arcs // 4
    first = np.cumsum(rng.integers(2, 31, n))
    part = np.searchsorted(first, np.arange(n), side="right")
    begin, end = np.r_[0, first][part], np.minimum(first[part], n)
    return *rng.permutation(n)[
        np.array([np.tile(np.arange(n), 2), rng.integers(np.tile(begin, 2), np.tile(end, 2))])
    ], n


def _acyclic(arcs: int, rng: Any) -> Ends:
    source, target, n = _uniform(arcs, rng)
    return np.minimum(source, target), np.maximum(source, target), n


def _banded(arcs: int, rng: Any) -> Ends:
    n = arcs // DEGREE
    source = np.repeat(np.arange(n), DEGREE // 2)
    return *rng.permutation(n)[np.array([source, (source + rng.integers(1, 20, len(source))) % n])], n


def shapes(arcs: int) -> dict[str, Callable[[], Any]]:
    """Makers of weighted graphs of about so many arcs, as SciPy's arrays."""

    def maker(ends: Callable[[int, Any], Ends], **options: Any) -> Callable[[], Any]:
        rng = np.random.default_rng(1)
        return lambda: _weighed(*ends(arcs, rng), rng, **options)

    return {
        "grid": maker(_grid),
        "grid, whole weights": maker(_grid, whole=True),
        "skewed": maker(_skewed, both=False),
        "skewed, symmetric": maker(_skewed_pairs),
        "uniform": maker(_uniform, both=False),
        "uniform, int64 ids": maker(_uniform, both=False, ids=np.int64),
        "path": maker(_path),
        "star": maker(_star),
        "small world": maker(_small_world),
        "path, directed": maker(_path, both=False),
        "tree": maker(_tree),
        "tree, directed": maker(_tree, both=False),
        "components": maker(_components),
        "acyclic": maker(_acyclic, both=False),
        "banded": maker(_banded),
    }


def _weighed(
    source: Any, target: Any, n: int, rng: Any, both: bool = True, whole: bool = False, ids: Any = np.int32
) -> Any:
    low, high = (np.minimum(source, target), np.maximum(source, target)) if both else (source, target)
    kept = np.flatnonzero(low != high)
    kept = kept[np.unique(low[kept] * n + high[kept], return_index=True)[1]]
    weight = rng.integers(1, 9, len(kept)) if whole else rng.random(len(kept))
    low, high, weight = low[kept], high[kept], weight + 0.001
    ends = (np.r_[low, high], np.r_[high, low]) if both else (low, high)
    made = sp.csr_array((np.r_[weight, weight] if both else weight, ends), shape=(n, n))
    made.indices, made.indptr = made.indices.astype(ids), made.indptr.astype(ids)
    return made


def _formed(value: Any, form: str) -> Any:
    """An argument of a work, a sparse one in a format, or with values or indices of a dtype."""
    if not sp.issparse(value) or form == "csr":
        return value
    if form in ("csc", "coo"):
        return value.asformat(form)
    if form == "int64":
        return sp.csr_array((value.data, value.indices.astype(form), value.indptr.astype(form)), shape=value.shape)
    return value.astype(form) if value.dtype.kind == "f" else value


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
    far = csgraph.dijkstra(S, indices=busy)
    reached = np.sort(far[np.isfinite(far)])
    near, farther = (float(reached[int(share * (len(reached) - 1))]) for share in (0.01, 0.5))
    middle, sink = (int(np.flatnonzero(far == reached[place])[0]) for place in (len(reached) // 16, -1))
    tree = csgraph.breadth_first_order(S, busy)[1]
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
    except (TypeError, ValueError):
        # SciPy's function does not take this format, or ids of 64 bits.
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
    parser.add_argument("--shapes", help="beginnings of shapes, separated by semicolons, a space behind a whole name")
    parser.add_argument("--forms", default="csr", help="of csr,csc,coo,float32,int64: formats, dtypes of values or ids")
    parser.add_argument("--works", help="beginnings of works, separated by semicolons; all by default")
    parser.add_argument("--repeats", type=int, default=REPEATS, help=f"calls of which the median is taken ({REPEATS})")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="where ours runs (cpu)")
    parser.add_argument("--only", choices=["scipy", "hpgraph"], help="with --device cuda, one library: merge the other")
    chosen = parser.parse_args(words)
    record = Record.of(chosen, words, chosen.device, [SciPy.distribution])
    results = {_place(row): row for row in record.content.get("csgraph", [])}
    warnings.simplefilter("ignore")
    begins = [None if asked is None else tuple(asked.split(";")) for asked in (chosen.shapes, chosen.works)]

    def wanted(name: str, asked: tuple[str, ...] | None) -> bool:
        return asked is None or f"{name} ".startswith(asked)

    made = []
    for arcs in map(int, chosen.arcs.split(",")):
        n = min(int((arcs / 0.66) ** 0.5), MAX_DENSE)
        makers = {shape: (lambda make=make: sparse_works(make())) for shape, make in shapes(arcs).items()}
        for shape, make in {**makers, "dense": lambda n=n: dense_works(n)}.items():
            if not wanted(shape, begins[0]):
                continue
            works = {
                f"{name} {form}" if form != "csr" else name: (
                    function,
                    (tuple(_formed(v, form) for v in given), how),
                    digest,
                )
                for name, (function, (given, how), digest) in make().items()
                if wanted(name, begins[1])
                for form in chosen.forms.split(",")
            }
            for work, found in _measured(works, chosen):
                place = {"work": work, "shape": shape, "arcs": arcs}
                row = results[_place(place)] = {**results.get(_place(place), {}), **place, **found}
                if {"scipy_answer", "hpgraph_answer"} <= row.keys():
                    row["same"] = bool(np.allclose(row["scipy_answer"], row["hpgraph_answer"], rtol=1e-4))
                    row["ratio"] = row["scipy_s"] / row["hpgraph_s"]
                made.append(row)
                _show(row)
                record.save(csgraph=sorted(results.values(), key=lambda row: row["arcs"]))
    below = sum(row.get("ratio", 1) < 1 for row in made)
    print(f"{below} ratios below 1; {len(results)} rows saved in {record.path}")
    return int(not all(row.get("same", True) for row in made))


def _measured(works: dict[str, tuple[str, Call, Digest]], chosen: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """What was measured of each work."""
    if chosen.device == "cpu":
        for work, given in works.items():
            found = compared(*given, chosen.repeats)
            if found is not None:
                yield work, found
        return
    if chosen.only != "hpgraph":
        yield from times_of_scipy(works)
    for work, given in works.items() if chosen.only != "scipy" else ():
        yield work, times_of_hpgraph(*given, chosen.repeats)


def _show(row: dict[str, Any]) -> None:
    milliseconds = [1e3 * row.get(side, np.nan) for side in ("scipy_s", "hpgraph_s")]
    print(
        f"{row['arcs']:10,} {row['shape']:20} {row['work']:72} {milliseconds[0]:9.2f} {milliseconds[1]:9.2f} ms "
        f"{row.get('ratio', np.nan):7.2f}{'' if row.get('same', True) else '  UNLIKE'}",
        flush=True,
    )


def _place(row: dict[str, Any]) -> tuple[Any, ...]:
    """What a row is of."""
    return row["arcs"], row["shape"], row["work"]
