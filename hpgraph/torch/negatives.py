"""Edges that are not there, drawn at random: what link prediction learns against."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from hpgraph.core.number import whole
from hpgraph.torch.adjacency import Adjacency
from hpgraph.torch.structure import Structure

# Exponent of degrees by which negatives are weighted: T. Mikolov et al., NIPS'13.
POWER = 0.75
# Rounds of rejection before what is left is drawn from the list of all that can be.
ROUNDS = 64


def negative_edges(
    A: Any, count: int | None = None, *, sources: Tensor | None = None, by: str = "uniform", loops: bool = False,
    generator: torch.Generator | None = None,
) -> Tensor:  # fmt: skip
    """Pairs of vertices that no entry of a matrix joins, drawn at random.

    Parameters
    ----------
    A : Adjacency, or what `Adjacency.of` takes, shape (n, m)
    count : int, optional
        How many pairs; drawn uniformly, no pair is drawn twice.
    sources : integer tensor of shape (k,), optional
        In place of `count`: draw for each of these rows one column that it has no entry in.
    by : {"uniform", "degree"}
        Whether all pairs are drawn alike, or each end by the 0.75th power of its number of entries, with replacement:
        T. Mikolov et al., "Distributed representations of words and phrases", NIPS'13.
    loops : bool
        Whether row i and column i may be a pair, where A is square.
    generator : torch.Generator, optional
        On A's device; by default PyTorch's own.

    Returns
    -------
    int64 tensor of shape (2, count) or (2, k)

    Raises
    ------
    ValueError
        If there are not so many pairs, or a source has entries in all columns.

    Examples
    --------
    >>> import torch, hpgraph.torch
    >>> A = torch.tensor([[0, 0, 1], [1, 2, 2]])
    >>> found = hpgraph.torch.negative_edges(A, 3)
    >>> sorted(found.T.tolist())
    [[1, 0], [2, 0], [2, 1]]
    """
    if by not in ("uniform", "degree"):
        raise ValueError(f"by must be 'uniform' or 'degree', not {by!r}")
    if (count is None) == (sources is None):
        raise ValueError("give either count, how many pairs, or sources, one column for each")
    pairs = _Pairs(Adjacency.of(A).places, bool(loops), by == "degree", generator)
    if sources is not None:
        return pairs.for_rows(pairs.checked(sources))
    wanted = whole(count, "count", least=0)
    return pairs.alike(wanted) if by == "uniform" else pairs.by_degree(wanted)


class _Pairs:
    """Pairs as numbers, row times columns plus column."""

    def __init__(self, places: Structure, loops: bool, by_degree: bool, generator: torch.Generator | None) -> None:
        self.rows, self.columns = places.csr.shape
        self.keys, self.loops = places.keys, loops or self.rows != self.columns
        self.device, self.generator = places.device, generator
        self.weights = (
            [torch.bincount(ends, minlength=size).double() ** POWER
             for ends, size in ((places.row, self.rows), (places.column, self.columns))] if by_degree else None
        )  # fmt: skip

    def checked(self, sources: Tensor) -> Tensor:
        if not isinstance(sources, Tensor) or sources.ndim != 1 or sources.dtype not in (torch.int32, torch.int64):
            raise TypeError("sources must be a tensor of row numbers, int32 or int64, of shape (k,)")
        if len(sources) and not (int(sources.min()) >= 0 and int(sources.max()) < self.rows):
            raise IndexError(f"sources must be from 0 to {self.rows - 1}")
        return sources.to(self.device, torch.int64)

    def free(self, keys: Tensor) -> Tensor:
        """Whether there is no entry at each of some pairs."""
        at = torch.searchsorted(self.keys, keys)
        taken = torch.zeros_like(keys, dtype=torch.bool)
        inside = at < len(self.keys)
        taken[inside] = self.keys[at[inside]] == keys[inside]
        return ~taken if self.loops else ~taken & (keys // self.columns != keys % self.columns)

    def ends(self, axis: int, count: int) -> Tensor:
        if self.weights is not None:
            # Inverse of the running sums: torch.multinomial takes no more than 2²⁴ weights.
            running = self.weights[axis].cumsum(0)
            share = torch.rand(count, dtype=torch.float64, device=self.device, generator=self.generator)
            return torch.searchsorted(running, share * running[-1], right=True).clamp(max=len(running) - 1)
        most = self.columns if axis else self.rows
        return torch.randint(most, (count,), device=self.device, generator=self.generator)

    def alike(self, count: int) -> Tensor:
        total = self.rows * self.columns
        taken = torch.unique_consecutive(self.keys)
        loops = 0 if self.loops else self.rows - int((taken // self.columns == taken % self.columns).sum())
        there = total - len(taken) - loops
        if count > there:
            raise ValueError(f"count must be at most {there:,}, the number of pairs without an entry, not {count:,}")
        if there < total // 8 or count > there // 2:
            # Most pairs are drawn or taken: the list of all is hardly longer than the result or the matrix.
            every = torch.arange(total, device=self.device)
            every = every[self.free(every)]
            some = torch.randperm(len(every), device=self.device, generator=self.generator)[:count]
            return self._split(every[some])
        return self._split(self._rejected(count, _first_of_each))

    def by_degree(self, count: int) -> Tensor:
        return self._split(self._rejected(count, lambda keys: keys))

    def _rejected(self, count: int, distinct: Callable[[Tensor], Tensor]) -> Tensor:
        found, rounds = self.keys.new_zeros(0), 0
        while len(found) < count:
            size = 16 + (count - len(found)) * 3 // 2
            keys = self.ends(0, size) * self.columns + self.ends(1, size)
            found, rounds = distinct(torch.cat([found, keys[self.free(keys)]])), rounds + 1
            if rounds > ROUNDS and not len(found):
                raise ValueError('by="degree" finds no pair without an entry: every vertex that has some has all')
        return found[:count]

    def for_rows(self, rows: Tensor) -> Tensor:
        column, left = torch.zeros_like(rows), torch.arange(len(rows), device=self.device)
        for _ in range(ROUNDS if self.columns else 0):
            if not len(left):
                break
            drawn = self.ends(1, len(left))
            free = self.free(rows[left] * self.columns + drawn)
            column[left[free]] = drawn[free]
            left = left[~free]
        for one in left.tolist():
            row, every = int(rows[one]), torch.arange(self.columns, device=self.device)
            able = every[self.free(row * self.columns + every)]
            if self.weights is not None:
                able = able[self.weights[1][able] > 0]
            if not len(able):
                raise ValueError(f"sources: row {row} has entries in all columns that can be drawn")
            chances = torch.ones(len(able), device=self.device) if self.weights is None else self.weights[1][able]
            column[one] = able[torch.multinomial(chances, 1, generator=self.generator)[0]]
        return torch.stack([rows, column])

    def _split(self, keys: Tensor) -> Tensor:
        columns = max(self.columns, 1)
        return torch.stack([keys // columns, keys % columns])


def _first_of_each(keys: Tensor) -> Tensor:
    """Each number where it first occurs: the order decides which are taken, and may not depend on their size."""
    order = torch.argsort(keys, stable=True)
    first = torch.ones_like(order, dtype=torch.bool)
    first[1:] = keys[order[1:]] != keys[order[:-1]]
    return keys[order[first].sort().values]
