"""Negative sampling: random pairs without an edge, for link prediction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from hpgraph.core.number import one_of, whole
from hpgraph.torch.adjacency import Adjacency
from hpgraph.torch.pattern import Pattern

# Exponent of degrees by which negatives are weighted: T. Mikolov et al., NIPS'13.
POWER = 0.75
# Rounds of rejection sampling before the rest is drawn from an explicit list of all candidates.
ROUNDS = 64


def negative_edges(
    A: Any, count: int | None = None, *, sources: Tensor | None = None, by: str = "uniform", loops: bool = False,
    among: Tensor | None = None, time: Tensor | None = None, column_time: Tensor | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:  # fmt: skip
    """Negative sampling: random pairs of vertices without an entry.

    Parameters
    ----------
    A : Adjacency, or what `Adjacency.of` takes, shape (n, m)
    count : int, optional
        Number of pairs, distinct if they are drawn uniformly.
    sources : integer tensor of shape (k,), optional
        Instead of `count`: draw for each of these rows one column without an entry.
    by : {"uniform", "degree"}
        Whether to draw pairs uniformly, or each end by the 0.75th power of its number of entries, with replacement:
        T. Mikolov et al., "Distributed representations of words and phrases", NIPS'13.
    loops : bool
        Whether row i and column i may be a pair, where A is square.
    among : integer tensor of shape (c,), optional
        With `sources`: columns to draw from, each as often as it is there; those of a batch, say (in-batch negatives).
    time, column_time : tensor of shape (k,) and (m,), optional
        With `sources`: draw columns that are not later than the source. Entries of A count whatever their time.
    generator : torch.Generator, optional
        On A's device; by default PyTorch's own.

    Returns
    -------
    int64 tensor of shape (2, count) or (2, k)

    Raises
    ------
    ValueError
        If there are not so many pairs, or a source has entries in all columns that can be drawn for it.

    Examples
    --------
    >>> import torch, hpgraph.torch
    >>> A = torch.tensor([[0, 0, 1], [1, 2, 2]])
    >>> found = hpgraph.torch.negative_edges(A, 3)
    >>> sorted(found.T.tolist())
    [[1, 0], [2, 0], [2, 1]]
    """
    one_of(by, "by", ("uniform", "degree"))
    if (count is None) == (sources is None):
        raise ValueError("give either count, how many pairs, or sources, one column for each")
    pairs = _Pairs(Adjacency.of(A).pattern, bool(loops), by == "degree", generator)
    if sources is not None:
        rows = pairs.checked(sources, "sources", pairs.rows)
        return pairs.for_rows(rows, *pairs.able(len(rows), among, time, column_time))
    if among is not None or time is not None or column_time is not None:
        raise ValueError("among, time and column_time need sources: they say what may be drawn for each")
    n_pairs = whole(count, "count", least=0)
    return pairs.alike(n_pairs) if by == "uniform" else pairs.by_degree(n_pairs)


class _Pairs:
    """Pairs as numbers, row times columns plus column."""

    def __init__(self, pattern: Pattern, loops: bool, by_degree: bool, generator: torch.Generator | None) -> None:
        self.rows, self.columns = pattern.csr.shape
        self.keys, self.loops = pattern.keys, loops or self.rows != self.columns
        self.device, self.generator = pattern.device, generator
        self.weights = (
            [torch.bincount(ends, minlength=size).double() ** POWER
             for ends, size in ((pattern.row, self.rows), (pattern.column, self.columns))] if by_degree else None
        )  # fmt: skip

    def checked(self, ids: Tensor, name: str, most: int) -> Tensor:
        if not isinstance(ids, Tensor) or ids.ndim != 1 or ids.dtype not in (torch.int32, torch.int64):
            raise TypeError(f"{name} must be a tensor of numbers of vertices, int32 or int64, of one dimension")
        if len(ids) and not (int(ids.min()) >= 0 and int(ids.max()) < most):
            raise IndexError(f"{name} must be from 0 to {most - 1}")
        return ids.to(self.device, torch.int64)

    def able(
        self, count: int, among: Tensor | None, time: Tensor | None, column_time: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Columns to draw from, in order of time, and for each of `count` rows how many of them it may have."""
        columns = (torch.arange(self.columns, device=self.device) if among is None
                   else self.checked(among, "among", self.columns))  # fmt: skip
        if (time is None) != (column_time is None):
            raise ValueError("give both time, of sources, and column_time, or neither")
        if time is None or column_time is None:
            return columns, torch.full((count,), len(columns), device=self.device)
        for name, given, size in (("time", time, count), ("column_time", column_time, self.columns)):
            if (
                not isinstance(given, Tensor)
                or given.shape != (size,)
                or given.is_complex()
                or bool(given.isnan().any())
            ):
                raise ValueError(f"{name} must be a tensor of {size} numbers, without NaN")
        times, order = column_time.to(self.device)[columns].sort(stable=True)
        kind = torch.float64 if times.is_floating_point() or time.is_floating_point() else torch.int64
        limit = torch.searchsorted(times.to(kind), time.to(self.device, kind), right=True)
        return columns[order], limit

    def free(self, keys: Tensor) -> Tensor:
        """Mask of the pairs without an entry."""
        at = torch.searchsorted(self.keys, keys)
        taken = torch.zeros_like(keys, dtype=torch.bool)
        inside = at < len(self.keys)
        taken[inside] = self.keys[at[inside]] == keys[inside]
        return ~taken if self.loops else ~taken & (keys // self.columns != keys % self.columns)

    def ends(self, axis: int, count: int) -> Tensor:
        if self.weights is not None:
            # Inverse of the running sums: torch.multinomial takes no more than 2²⁴ weights.
            running = self.weights[axis].cumsum(0)
            return self.below(torch.full((count,), len(running), device=self.device), running)
        size = self.columns if axis else self.rows
        return torch.randint(size, (count,), device=self.device, generator=self.generator)

    def alike(self, count: int) -> Tensor:
        total = self.rows * self.columns
        taken = torch.unique_consecutive(self.keys)
        loops = 0 if self.loops else self.rows - int((taken // self.columns == taken % self.columns).sum())
        free = total - len(taken) - loops
        if count > free:
            raise ValueError(f"count must be at most {free:,}, the number of pairs without an entry, not {count:,}")
        if free < total // 8 or count > free // 2:
            # Most pairs are drawn or have entries, so a list of all pairs is not much larger than result and matrix.
            every = torch.arange(total, device=self.device)
            every = every[self.free(every)]
            sample = torch.randperm(len(every), device=self.device, generator=self.generator)[:count]
            return self._split(every[sample])
        return self._split(self._rejected(count, _first_of_each))

    def by_degree(self, count: int) -> Tensor:
        if count and not len(self.keys):
            raise ValueError('by="degree" finds no pair: A has no entries')
        return self._split(self._rejected(count, lambda keys: keys))

    def _rejected(self, count: int, distinct: Callable[[Tensor], Tensor]) -> Tensor:
        drawn, rounds = self.keys.new_zeros(0), 0
        while len(drawn) < count:
            size = 16 + (count - len(drawn)) * 3 // 2
            keys = self.ends(0, size) * self.columns + self.ends(1, size)
            drawn, rounds = distinct(torch.cat([drawn, keys[self.free(keys)]])), rounds + 1
            if rounds > ROUNDS and not len(drawn):
                raise ValueError('by="degree" finds no pair without an entry: every vertex that has some has all')
        return drawn[:count]

    def for_rows(self, rows: Tensor, able: Tensor, limit: Tensor) -> Tensor:
        """For each row one of the first `limit` columns that it is `able` to have."""
        column = torch.zeros_like(rows)
        running = None if self.weights is None else self.weights[1][able].cumsum(0)
        left = (limit > 0).nonzero()[:, 0]
        none = (limit == 0).nonzero()[:1, 0]
        for _ in range(0 if len(none) else ROUNDS):
            if not len(left):
                break
            drawn = able[self.below(limit[left], running)]
            free = self.free(rows[left] * self.columns + drawn)
            if self.weights is not None:
                free &= self.weights[1][drawn] > 0
            column[left[free]] = drawn[free]
            left = left[~free]
        for one in none.tolist() or left.tolist():
            row, candidates = int(rows[one]), able[: int(limit[one])]
            candidates = candidates[self.free(row * self.columns + candidates)]
            probabilities = (
                torch.ones(len(candidates), device=self.device) if self.weights is None else self.weights[1][candidates]
            )
            if not bool((probabilities > 0).any()):
                raise ValueError(f"sources: row {row} has entries in all columns that can be drawn")
            column[one] = candidates[torch.multinomial(probabilities, 1, generator=self.generator)[0]]
        return torch.stack([rows, column])

    def below(self, limit: Tensor, running: Tensor | None) -> Tensor:
        """A random index below each limit, uniform or by running sums of weights."""
        share = torch.rand(len(limit), dtype=torch.float64, device=self.device, generator=self.generator)
        if running is None:
            return torch.minimum((share * limit).long(), limit - 1)
        return torch.minimum(torch.searchsorted(running, share * running[limit - 1], right=True), limit - 1)

    def _split(self, keys: Tensor) -> Tensor:
        columns = max(self.columns, 1)
        return torch.stack([keys // columns, keys % columns])


def _first_of_each(keys: Tensor) -> Tensor:
    """The distinct numbers in order of first occurrence, so that truncation does not depend on their size."""
    order = torch.argsort(keys, stable=True)
    first = torch.ones_like(order, dtype=torch.bool)
    first[1:] = keys[order[1:]] != keys[order[:-1]]
    return keys[order[first].sort().values]
