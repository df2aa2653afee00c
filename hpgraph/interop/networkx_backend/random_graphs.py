"""Random graphs equal to NetworkX's for the same seed.

NumPy draws from the state of Python's generator, which is left as NetworkX leaves it.
"""

import math
import random
from collections.abc import Callable, Mapping
from itertools import accumulate, combinations_with_replacement, pairwise, product
from typing import Any

import networkx as nx
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from hpgraph.interop.networkx_backend.generators import complete, joined, made, no_nodes, refuse_before_3_6
from hpgraph.interop.networkx_backend.returned import graph_of_edges
from hpgraph.interop.networkx_backend.serving import NETWORKX, family, registered

# Draws at a time.
_BLOCK = 1 << 20


def _drawn(seed: Any, draw: Callable[[Any], np.ndarray]) -> np.ndarray:
    """Draws of NumPy's generator, which continues Python's: the Mersenne twister is in both."""
    version, (*keys, place), gauss = seed.getstate()
    drawing: Any = np.random.RandomState()
    drawing.set_state(("MT19937", keys, place))
    values = draw(drawing)
    state: Any = drawing.get_state(legacy=True)
    seed.setstate((version, (*state[1].tolist(), state[2]), gauss))
    return values


def _uniform(seed: Any, count: int) -> np.ndarray:
    """The results of the next calls of ``seed.random()``."""
    return _drawn(seed, lambda drawing: drawing.random_sample(count))


def _words(seed: Any, count: int) -> np.ndarray:
    """The results of the next calls of ``seed.getrandbits(32)``."""
    return _drawn(seed, lambda drawing: drawing.randint(0, 1 << 32, count, np.uint32))


def _below(seed: Any, count: int, p: float) -> np.ndarray:
    """Indices of the next draws that are less than a probability."""
    hits = [begin + np.flatnonzero(_uniform(seed, min(_BLOCK, count - begin)) < p) for begin in range(0, count, _BLOCK)]
    return np.concatenate(hits) if hits else no_nodes


def _skips(seed: Any, total: int, share: float, step: Callable[[float], int]) -> np.ndarray:
    """Places below `total`, each drawn by how many are passed over; `share`: of the places, about."""
    last, places = -1, list[np.ndarray]()
    while last < total:
        state = seed.getstate()
        draws = _uniform(seed, min(_BLOCK, int(1.1 * share * (total - last)) + 16))
        found = last + np.cumsum([1 + step(value) for value in draws.tolist()])
        used = int(np.searchsorted(found, total)) + 1
        if used <= len(draws):
            # As many draws as NetworkX takes: up to the first beyond all places.
            seed.setstate(state)
            _uniform(seed, used)
        places.append(found[:used])
        last = int(places[-1][-1])
    place = np.concatenate(places)
    return place[place < total]


def _ordered(place: np.ndarray, n: int) -> tuple[Any, Any]:
    """The pairs at these places among all permutations of two of n."""
    source, target = np.divmod(place, max(n - 1, 1))
    return source, target + (target >= source)


def _unordered(place: np.ndarray, n: int) -> tuple[Any, Any]:
    """The pairs at these places among all combinations of two of n."""
    begins = np.concatenate([[0], np.cumsum(np.arange(n - 1, 0, -1))])
    source = np.searchsorted(begins, place, "right") - 1
    return source, place - begins[source] + source + 1


def _gnp(n: int, p: float, seed: Any, directed: bool) -> tuple[Any, ...]:
    if p >= 1:
        return complete(n, directed)
    total = 0 if p <= 0 else n * (n - 1) if directed else n * (n - 1) // 2
    return range(n), *(_ordered if directed else _unordered)(_below(seed, total, p), n)


def _fast_gnp(n: int, p: float, seed: Any, directed: bool) -> tuple[Any, ...]:
    if p <= 0 or p >= 1 or n < 2:
        return _gnp(n, p, seed, directed)
    begins, log = np.cumsum(np.arange(n)), math.log(1.0 - p)

    def lower() -> tuple[Any, Any]:
        """Pairs of a larger and a smaller node."""
        place = _skips(seed, n * (n - 1) // 2, p, lambda value: int(math.log(1.0 - value) / log))
        source = np.searchsorted(begins, place, "right")
        return source, place - begins[source - 1]

    first = lower()
    return range(n), *(joined(first[::-1], lower()) if directed else first)


def _gnm(n: int, m: float, seed: Any, directed: bool) -> tuple[Any, ...]:
    if n == 1:
        return range(1), no_nodes, no_nodes
    if m >= n * (n - 1) // (1 if directed else 2):
        return complete(n, directed)
    if not m > 0:
        return range(n), no_nodes, no_nodes
    m = math.ceil(m)
    bits, state, count = n.bit_length(), seed.getstate(), 4 * m + 64
    while True:
        # Python's choice takes as many bits as n has, until they make a number below n.
        words = _words(seed, count) >> np.uint32(32 - bits)
        seed.setstate(state)
        taken = np.flatnonzero(words < n)
        taken = taken[: len(taken) // 2 * 2]
        source, target = words[taken].astype(np.int64).reshape(-1, 2).T
        key = source * n + target if directed else np.minimum(source, target) * n + np.maximum(source, target)
        _, first = np.unique(key, return_index=True)
        chosen = np.sort(first[source[first] != target[first]])[:m]
        if len(chosen) == m:
            _words(seed, int(taken[2 * chosen[-1] + 1]) + 1)
            return range(n), source[chosen], target[chosen]
        count *= 2


def _block_places(seed: Any, count: int, p: float, sparse: bool) -> np.ndarray:
    if not sparse:
        return _below(seed, count, p)
    if p == 1 or p == 0:
        return np.arange(count if p else 0)
    return _skips(seed, count, p, lambda value: math.floor(math.log(value) / math.log(1 - p)))


def _block_model(
    sizes: Any, p: Any, seed: Any, directed: bool, selfloops: bool = False, sparse: bool = True
) -> tuple[Any, ...]:
    if len(sizes) != len(p):
        raise nx.NetworkXException("'sizes' and 'p' do not match.")
    for row in p:
        if len(p) != len(row):
            raise nx.NetworkXException("'p' must be a square matrix.")
    table = np.array(p, float).reshape(len(p), len(p))
    if not directed and (np.abs(table - table.T) > 1e-08).any():
        raise nx.NetworkXException("'p' must be symmetric.")
    if ((table < 0) | (table > 1)).any():
        raise nx.NetworkXException("Entries of 'p' not in [0,1].")
    if selfloops:
        raise NotImplementedError("selfloops must be False")
    # Nodes are in the order of sets, as NetworkX takes them.
    parts = [list(set(range(begin, end))) for begin, end in pairwise(accumulate((0, *sizes)))]
    place, edges = np.argsort(np.array([node for part in parts for node in part], np.int64)), []
    for i, j in product(range(len(p)), repeat=2) if directed else combinations_with_replacement(range(len(p)), 2):
        own, other = place[parts[i]] if parts[i] else no_nodes, place[parts[j]] if parts[j] else no_nodes
        if i != j:
            rows, columns = np.divmod(_block_places(seed, len(own) * len(other), p[i][j], sparse), max(len(other), 1))
        else:
            n = len(own)
            count = n * (n - 1) if directed else n * (n - 1) // 2
            if NETWORKX < (3, 7):
                # There each pair is drawn, and sparse blocks end with one draw more.
                found = _below(seed, count, p[i][j])
                _block_places(seed, 0, p[i][j], sparse)
            else:
                found = _block_places(seed, count, p[i][j], sparse)
            rows, columns = (_ordered if directed else _unordered)(found, n)
        edges.append((own[rows], other[columns]))
    nodes = [node for part in parts for node in part]
    data = {node: {"block": number} for number, part in enumerate(parts) for node in part}
    partition = [set(range(begin, end)) for begin, end in pairwise(accumulate((0, *sizes)))]
    return nodes, *joined(*edges), data, {"partition": partition, "name": "stochastic_block_model"}


def _partition(sizes: Any, p_in: float, p_out: float, seed: Any, directed: bool) -> tuple[Any, ...]:
    for name, value in (("p_in", p_in), ("p_out", p_out)):
        if not 0.0 <= value <= 1.0:
            raise nx.NetworkXError(f"{name} must be in [0,1]")
    blocks = range(len(sizes))
    return _block_model(sizes, [[p_in if i == j else p_out for j in blocks] for i in blocks], seed, directed)


def _attached(n: int, m: int, seed: Any) -> tuple[Any, ...]:
    """Barabási and Albert's: each node joins m others, drawn from the ends of all edges so far."""
    refuse_before_3_6()
    if m < 1 or m >= n:
        raise nx.NetworkXError(f"Barabási–Albert network must have m >= 1 and m < n, m = {m}, n = {n}")
    bits, ends = seed.getrandbits, [0] * m + list(range(1, m + 1))
    for source in range(m + 1, n):
        targets, width = set[int](), len(ends).bit_length()
        while len(targets) < m:
            # As Python's `choice` draws.
            if (place := bits(width)) < len(ends):
                targets.add(ends[place])
        ends += targets
        ends += [source] * m
    own, others = np.array(ends[2 * m :], np.int64).reshape(-1, 2, m).swapaxes(0, 1)[::-1].reshape(2, -1)
    return range(n), *joined((0, np.arange(1, m + 1)), (own, others))


def _small_world(n: int, k: int, p: float, seed: Any) -> tuple[Any, ...]:
    """Watts and Strogatz's: a ring of which each edge's other end is drawn anew with a probability."""
    if k > n:
        raise nx.NetworkXError("k>n, choose smaller k or larger n")
    if k == n:
        return complete(n, directed=False)
    nodes, bits, width = np.arange(n), seed.getrandbits, n.bit_length()

    def other() -> int:
        while (node := bits(width)) >= n:
            pass
        return node  # type: ignore[no-any-return]

    source, target = joined(*((nodes, (nodes + j) % n) for j in range(1, k // 2 + 1)))
    keys = (np.minimum(source, target) * n + np.maximum(source, target)).tolist()
    edges, degree = dict.fromkeys(keys), [2 * (k // 2)] * n
    for u, v, key in zip(source.tolist(), target.tolist(), keys, strict=True):
        if seed.random() < p:
            w = other()
            while w == u or min(u, w) * n + max(u, w) in edges:
                w = other()
                if degree[u] >= n - 1:
                    break
            else:
                del edges[key]
                edges[min(u, w) * n + max(u, w)] = None
                degree[v] -= 1
                degree[w] += 1
    return range(n), *np.divmod(np.array(list(edges), np.int64), max(n, 1))


def _connected_small_world(n: int, k: int, p: float, tries: int, seed: Any) -> tuple[Any, ...]:
    for _ in range(tries):
        nodes, source, target = _small_world(n, k, p, seed)
        if n == 0:
            raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
        arcs = csr_array((np.ones(len(source)), (source, target)), shape=(n, n))
        if connected_components(arcs, directed=False, return_labels=False) == 1:
            return nodes, source, target
    raise nx.NetworkXError("Maximum number of tries exceeded")


class _Edges(nx.Graph):
    """Of a generator that adds all edges at once: these, as they are."""

    listed: Any = ()

    def add_edges_from(self, edges: Any, **_: Any) -> None:
        self.listed = list(edges)


def _by_networkx(name: str, *given: Any, **options: Any) -> tuple[Any, ...]:
    """The edges that NetworkX's own code draws."""
    graph = registered()[name].orig_func(*given, create_using=_Edges, **options)
    source, target = np.array(graph.listed, np.int64).reshape(-1, 2).T
    return list(graph), source, target


def _of_degrees(deg_sequence: Any, seed: Any) -> Any:
    nodes, source, target = _by_networkx("configuration_model", deg_sequence, seed=seed)
    return graph_of_edges(nodes, source, target, directed=False)


def _drawn_by_python(call: Mapping[str, Any]) -> str | None:
    return None if type(call["seed"]) is random.Random else "seed is not a generator of Python's"


globals().update(
    family(
        {
            "gnp_random_graph": made(_gnp),
            "fast_gnp_random_graph": made(_fast_gnp),
            "gnm_random_graph": made(_gnm),
            "stochastic_block_model": made(_block_model),
            "random_partition_graph": made(_partition),
            "planted_partition_graph": made(
                lambda l, k, p_in, p_out, seed, directed: _partition([k] * l, p_in, p_out, seed, directed)  # noqa: E741
            ),
            "barabasi_albert_graph": made(_attached),
            "watts_strogatz_graph": made(_small_world),
            "connected_watts_strogatz_graph": made(_connected_small_world),
            "random_regular_graph": made(lambda d, n, seed: _by_networkx("random_regular_graph", d, n, seed)),
        },
        unless=_drawn_by_python,
    )
    | family({"configuration_model": _of_degrees}, unless=_drawn_by_python, only={"create_using": (nx.Graph,)})
)
