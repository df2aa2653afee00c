"""Reverse reachable sets of independent cascades on the CPU, and vertices that are in most of them."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from hpgraph.core.config import config
from hpgraph.core.device import prefix_sum
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.kernel import njit, peek, put, vertex
from hpgraph.kernels.sampling.cpu_random import GOLDEN, below, bits, mixed, unit

# Sets that a thread draws at a time.
_PIECE = 1 << 13


class ReverseSets:
    """For vertices drawn at random, those from which a cascade over live arcs reaches them."""

    def __init__(self, inward: CSR, probability: float, seed: int) -> None:
        self._inward, self._probability, self._seed = inward, np.float64(probability), np.int64(seed)
        probabilities = inward.data
        self._probabilities = np.empty(0) if probabilities is None else probabilities.astype(np.float64)
        self._drawn = 0
        self.forget()

    def forget(self) -> None:
        """Discard the sets; later sets are new draws."""
        self._first, self._pieces = self._drawn, list[tuple[Any, Any]]()

    @property
    def count(self) -> int:
        """Number of sets."""
        return self._drawn - self._first

    def extend(self, count: int) -> None:
        """Draw sets up to the given number."""

        def drawn(begin: int) -> tuple[Any, Any]:
            ends = min(begin + _PIECE, self._first + count)
            return _draw(  # type: ignore[no-any-return]
                self._inward.indptr,
                self._inward.indices,
                self._probabilities,
                self._probability,
                self._seed,
                begin,
                ends,
            )

        with ThreadPoolExecutor(config.threads) as threads:
            self._pieces += threads.map(drawn, range(self._drawn, self._first + count, _PIECE))
        self._drawn = max(self._drawn, self._first + count)

    def choose(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Greedy maximum coverage: k vertices, and numbers of sets covered by the first 1, 2, ..., k."""
        sizes, members = (np.concatenate(side) for side in zip(*self._pieces, strict=True))
        ends = prefix_sum(sizes)
        of_vertex = CSR((len(sizes), self._inward.shape[0]), ends, members, validate=False).transpose()
        return _choose(ends, members, of_vertex.indptr, of_vertex.indices, np.int64(k))  # type: ignore[no-any-return]


@njit(cache=True, nogil=True)
def _draw(indptr, indices, probabilities, probability, seed, begin, end):
    """Sizes and members of the sets begin..end, each drawn from its own random stream."""
    n = indptr.size - 1
    reached_in, sizes = np.full(n, -1, np.int64), np.empty(end - begin, np.int64)
    members, count = np.empty(max(n, 4 * (end - begin)), indices.dtype), 0
    for number in range(begin, end):
        if members.size < count + n:
            longer = np.empty(2 * members.size + n, indices.dtype)
            longer[:count] = members[:count]
            members = longer
        key = bits(seed, number)
        root = below(mixed(key), n)
        reached_in[root], members[count] = number, root
        first, following = count, count + 1
        while first < following:
            v = vertex(members, first)
            first += 1
            for p in range(peek(indptr, v), peek(indptr, v + 1)):
                u = vertex(indices, p)
                if peek(reached_in, u) != number:
                    key += GOLDEN
                    if unit(mixed(key)) < (peek(probabilities, p) if probabilities.size else probability):
                        put(reached_in, u, number)
                        members[following] = u
                        following += 1
        sizes[number - begin] = following - count
        count = following
    return sizes, members[:count].copy()


@njit(cache=True, nogil=True)
def _choose(ends, members, ends_of, sets_of, k):
    n = ends_of.size - 1
    left, covered = ends_of[1:] - ends_of[:-1], np.zeros(ends.size - 1, np.bool_)
    chosen, reached, total = np.empty(k, np.int64), np.empty(k, np.int64), np.int64(0)
    for i in range(k):
        best: Any = np.int64(0)
        for v in range(1, n):
            if left[v] > left[best]:
                best = v
        total += left[best]
        chosen[i], reached[i] = best, total
        for p in range(ends_of[best], ends_of[best + 1]):
            found = sets_of[p]
            if not covered[found]:
                covered[found] = True
                for q in range(ends[found], ends[found + 1]):
                    left[members[q]] -= 1
        left[best] = -1
    return chosen, reached
