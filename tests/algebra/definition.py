"""GraphBLAS by its definition, entry by entry in dictionaries: what the tests ask python-graphblas where it is missing.

As much of its interface as the tests use, under the same names, and nothing of ours. It is slow, and short enough to
be read against "The GraphBLAS C API specification" (version 2.1).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np

Place = tuple[int, ...]
KINDS = {"BOOL": "bool", "INT8": "int8", "UINT8": "uint8", "INT64": "int64", "FP64": "float64"}


def _same_type(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operator whose result has its operands' type."""

    def operator(x: Any, y: Any) -> Any:
        kind = np.result_type(x, y).type
        return kind(function(kind(x), kind(y)))

    return operator


binary = SimpleNamespace(
    plus=_same_type(lambda x, y: x + y),
    minus=_same_type(lambda x, y: x ^ y if x.dtype == bool else x - y),
    times=_same_type(lambda x, y: x * y),
    min=_same_type(min),
    max=_same_type(max),
    first=lambda x, y: x,
    second=lambda x, y: y,
    pair=lambda x, y: type(x)(1),
    any=lambda x, y: x,
    lt=lambda x, y: np.bool_(x < y),
    eq=lambda x, y: np.bool_(x == y),
    truediv=lambda x, y: np.float64(x) / np.float64(y),
    lor=_same_type(lambda x, y: bool(x) or bool(y)),
    land=_same_type(lambda x, y: bool(x) and bool(y)),
    lxor=_same_type(lambda x, y: bool(x) != bool(y)),
)
monoid = binary
unary = SimpleNamespace(
    abs=abs,
    ainv=lambda x: x if x.dtype == bool else -x,
    one=lambda x: type(x)(1),
    lnot=lambda x: type(x)(not x),
    identity=lambda x: x,
)
indexunary = SimpleNamespace(
    rowindex=lambda i, j, k: i + k, colindex=lambda i, j, k: j + k, diagindex=lambda i, j, k: j - (i + k),
    index=lambda i, j, k: i + k,
)  # fmt: skip


def _selection(keep: Callable[[int, int, Any, Any], Any]) -> Callable[[Sparse, Any], Sparse]:
    def select(A: Sparse, thunk: Any) -> Sparse:
        kept = {at: x for at, x in A.entries.items() if keep(at[0], at[-1], x, thunk)}
        return Sparse(A.shape, A.kind, kept)

    return select


select = SimpleNamespace(
    tril=_selection(lambda i, j, x, k: j <= i + k), triu=_selection(lambda i, j, x, k: j >= i + k),
    diag=_selection(lambda i, j, x, k: j == i + k), offdiag=_selection(lambda i, j, x, k: j != i + k),
    rowle=_selection(lambda i, j, x, k: i <= k), rowgt=_selection(lambda i, j, x, k: i > k),
    colle=_selection(lambda i, j, x, k: j <= k), colgt=_selection(lambda i, j, x, k: j > k),
    valueeq=_selection(lambda i, j, x, k: x == k), valuene=_selection(lambda i, j, x, k: x != k),
    valuelt=_selection(lambda i, j, x, k: x < k), valuele=_selection(lambda i, j, x, k: x <= k),
    valuegt=_selection(lambda i, j, x, k: x > k), valuege=_selection(lambda i, j, x, k: x >= k),
)  # fmt: skip


class Aggregator:
    """What it makes of a line's values and their indices, and the type of the result, None for that of the values."""

    def __init__(self, of: Callable[[list[Any], list[int]], Any], kind: Any = None) -> None:
        self.of, self.kind = of, kind


agg = SimpleNamespace(
    sum=Aggregator(lambda x, i: sum(x)), prod=Aggregator(lambda x, i: functools.reduce(lambda a, b: a * b, x)),
    min=Aggregator(lambda x, i: min(x)), max=Aggregator(lambda x, i: max(x)),
    any=Aggregator(lambda x, i: any(x), bool), all=Aggregator(lambda x, i: all(x), bool),
    count=Aggregator(lambda x, i: len(x), int), mean=Aggregator(lambda x, i: np.mean(x), float),
    stdp=Aggregator(lambda x, i: np.std(x), float),
    ss=SimpleNamespace(
        argmin=Aggregator(lambda x, i: i[x.index(min(x))], int),
        argmax=Aggregator(lambda x, i: i[x.index(max(x))], int),
        first=Aggregator(lambda x, i: x[0]), last=Aggregator(lambda x, i: x[-1]),
    ),
)  # fmt: skip


class _Semirings:
    def __getattr__(self, name: str) -> tuple[Any, str]:
        add, _, multiply = name.partition("_")
        return getattr(binary, add), multiply


semiring = _Semirings()


class Sparse:
    """A matrix, or with one axis a vector: its entries by place. It is an expression, too."""

    def __init__(self, shape: Place, kind: Any, entries: dict[Place, Any]) -> None:
        self.shape, self.kind = shape, np.dtype(kind)
        with np.errstate(all="ignore"):
            self.entries = {at: self.kind.type(entries[at]) for at in sorted(entries)}

    @property
    def dtype(self) -> Any:
        return SimpleNamespace(np_type=self.kind)

    @property
    def T(self) -> Sparse:
        return Sparse(self.shape[::-1], self.kind, {at[::-1]: x for at, x in self.entries.items()})

    @property
    def V(self) -> Mask:
        return Mask({at for at, x in self.entries.items() if x})

    @property
    def S(self) -> Mask:
        return Mask(set(self.entries))

    def to_coo(self) -> tuple[Any, ...]:
        places = np.array(list(self.entries), dtype=np.int64).reshape(-1, len(self.shape))
        return *places.T, np.array(list(self.entries.values()), dtype=self.kind)

    def new(self, mask: Mask | None = None) -> Sparse:
        return Sparse(self.shape, self.kind, {at: x for at, x in self.entries.items() if mask is None or at in mask})

    def _made(self, entries: dict[Place, Any], sample: Any, shape: Place | None = None) -> Sparse:
        """A result whose type is that of an example, worked out from ones so that an empty one has it as well."""
        return Sparse(self.shape if shape is None else shape, np.asarray(sample).dtype, entries)

    def _one(self) -> Any:
        return self.kind.type(1)

    def ewise_add(self, other: Sparse, op: Any) -> Sparse:
        a, b = self.entries, other.entries
        with np.errstate(all="ignore"):
            joined = {at: op(a[at], b[at]) if at in a and at in b else a.get(at, b.get(at)) for at in {*a, *b}}
            return self._made(joined, op(self._one(), other._one()))

    def ewise_mult(self, other: Sparse, op: Any) -> Sparse:
        a, b = self.entries, other.entries
        with np.errstate(all="ignore"):
            return self._made({at: op(a[at], b[at]) for at in a if at in b}, op(self._one(), other._one()))

    def ewise_union(self, other: Sparse, op: Any, fill: Any, other_fill: Any) -> Sparse:
        a, b = self.entries, other.entries
        x, y = self.kind.type(fill), other.kind.type(other_fill)
        with np.errstate(all="ignore"):
            joined = {at: op(a.get(at, x), b.get(at, y)) for at in {*a, *b}}
            return self._made(joined, op(self._one(), other._one()))

    def apply(self, op: Any, thunk: Any = None, *, left: Any = None, right: Any = None) -> Sparse:
        if op in vars(indexunary).values():
            # Of a vector's entry the column is 0.
            return Sparse(self.shape, np.int64, {at: op(*(*at, 0)[:2], thunk) for at in self.entries})
        kind = self.kind.type
        with np.errstate(all="ignore"):
            if left is not None:
                function = functools.partial(op, kind(left))
            else:
                function = op if right is None else lambda x: op(x, kind(right))
            return self._made({at: function(x) for at, x in self.entries.items()}, function(self._one()))

    def _folded(self, axis: int | None, op: Any) -> dict[Place, Any]:
        """What becomes of the entries that share an index, or of all."""
        lines: dict[Place, list[tuple[int, Any]]] = {}
        for at, x in self.entries.items():
            lines.setdefault(() if axis is None else (at[axis],), []).append((at[-1 if axis == 0 else 0], x))
        with np.errstate(all="ignore"):
            if isinstance(op, Aggregator):
                return {at: op.of([x for _, x in line], [i for i, _ in line]) for at, line in lines.items()}
            return {at: functools.reduce(op, [x for _, x in line]) for at, line in lines.items()}

    def _reduced(self, axis: int, op: Any) -> Sparse:
        kind = getattr(op, "kind", None)
        return Sparse((self.shape[axis],), self.kind if kind is None else kind, self._folded(axis, op))

    def reduce_rowwise(self, op: Any) -> Sparse:
        return self._reduced(0, op)

    def reduce_columnwise(self, op: Any) -> Sparse:
        return self._reduced(1, op)

    def reduce(self, op: Any) -> Any:
        value = self._folded(None, op).get(())
        return SimpleNamespace(new=lambda: SimpleNamespace(value=value))

    reduce_scalar = reduce

    def mxm(self, other: Sparse, ring: tuple[Any, str]) -> Sparse:
        add, name = ring
        positions: dict[str, Callable[[int, int, int], int]] = {
            "firsti": lambda i, k, j: i,
            "secondi": lambda i, k, j: k,
            "secondj": lambda i, k, j: j,
        }
        op = getattr(binary, name, None)
        made: dict[Place, Any] = {}
        for (i, k), x in self.entries.items():
            for (m, j), y in other.entries.items():
                if k == m:
                    value = np.int64(positions[name](i, k, j)) if op is None else op(x, y)
                    made[i, j] = add(made[i, j], value) if (i, j) in made else value
        sample = np.int64(0) if op is None else op(self._one(), other._one())
        return self._made(made, sample, (self.shape[0], other.shape[1]))

    def mxv(self, x: Sparse, ring: tuple[Any, str]) -> Sparse:
        column = Sparse((x.shape[0], 1), x.kind, {(at[0], 0): value for at, value in x.entries.items()})
        made = self.mxm(column, ring)
        return Sparse(made.shape[:1], made.kind, {at[:1]: value for at, value in made.entries.items()})

    def vxm(self, A: Sparse, ring: tuple[Any, str]) -> Sparse:
        row = Sparse((1, self.shape[0]), self.kind, {(0, at[0]): value for at, value in self.entries.items()})
        made = row.mxm(A, ring)
        return Sparse(made.shape[1:], made.kind, {at[1:]: value for at, value in made.entries.items()})

    def kronecker(self, other: Sparse, op: Any) -> Sparse:
        rows, columns = other.shape
        made = {
            (i * rows + p, j * columns + q): op(x, y)
            for (i, j), x in self.entries.items()
            for (p, q), y in other.entries.items()
        }
        shape = self.shape[0] * rows, self.shape[1] * columns
        return self._made(made, op(self._one(), other._one()), shape)

    def __getitem__(self, index: Any) -> Region:
        return Region(self, index)

    def __call__(self, mask: Mask | None = None, accum: Any = None, replace: bool = False) -> Writer:
        return Writer(self, mask, accum, replace)


class Mask:
    """The places that may be written."""

    def __init__(self, places: Iterable[Place], complement: bool = False) -> None:
        self.places, self.complement = set(places), complement

    def __invert__(self) -> Mask:
        return Mask(self.places, not self.complement)

    def __contains__(self, at: Place) -> bool:
        return (at in self.places) != self.complement


class Region(Sparse):
    """Rows and columns of a matrix, or entries of a vector: a part to be read, or where to assign."""

    def __init__(self, whole: Sparse, index: Any) -> None:
        axes = index if isinstance(index, tuple) else (index,)
        self.axes = [list(axis) for axis in axes]
        self.whole = whole
        found = {at: whole.entries[self.place(at)] for at in np.ndindex(*map(len, self.axes))
                 if self.place(at) in whole.entries}  # fmt: skip
        super().__init__(tuple(map(len, self.axes)), whole.kind, found)

    def place(self, at: Place) -> Place:
        """Where in the whole a place of the region lies."""
        return tuple(axis[k] for axis, k in zip(self.axes, at, strict=True))

    def __call__(self, mask: Mask | None = None, accum: Any = None, replace: bool = False) -> Writer:
        return Writer(self, mask, accum, replace)


class Writer:
    """``out(mask, accum, replace) << expression``: all of it, a region, or all of it where a region is assigned."""

    def __init__(self, out: Sparse, mask: Mask | None, accum: Any, replace: bool, region: Region | None = None) -> None:
        self.out, self.mask, self.accum, self.replace, self.region = out, mask, accum, replace, region

    def __getitem__(self, index: Any) -> Writer:
        return Writer(self.out, self.mask, self.accum, self.replace, Region(self.out, index))

    def __lshift__(self, source: Any) -> None:
        target = self.out if self.region is None else self.region
        if not isinstance(source, Sparse):
            places = np.ndindex(*target.shape)
            source = Sparse(target.shape, target.kind, dict.fromkeys(places, source))
        result = source.entries
        if self.region is not None:
            result = {self.region.place(at): x for at, x in result.items()}
            inside = {self.region.place(at) for at in np.ndindex(*self.region.shape)}
        held = dict(self.out.entries)
        if self.accum is not None:
            joined = {at: self.accum(held[at], x) if at in held else x for at, x in result.items()}
            merged = {**held, **joined}
        elif self.region is not None:
            merged = {**{at: x for at, x in held.items() if at not in inside}, **result}
        else:
            merged = result
        allowed = self.mask
        final = merged if allowed is None else {at: x for at, x in merged.items() if at in allowed}
        if allowed is not None and not self.replace:
            final.update({at: x for at, x in held.items() if at not in allowed})
        self.out.entries = Sparse(self.out.shape, self.out.kind, final).entries
        if isinstance(self.out, Region):
            outer = self.out.whole.entries
            for at in np.ndindex(*self.out.shape):
                outer.pop(self.out.place(at), None)
            outer.update({self.out.place(at): x for at, x in self.out.entries.items()})


class Matrix(Sparse):
    """How the tests make one."""

    @staticmethod
    def from_coo(row: Any, column: Any, data: Any, *, nrows: int, ncols: int, dtype: str) -> Sparse:
        places = zip(row.tolist(), column.tolist(), strict=True)
        return Sparse((nrows, ncols), KINDS[dtype], dict(zip(places, data, strict=True)))


class Vector(Sparse):
    """How the tests make one."""

    @staticmethod
    def from_coo(indices: Any, data: Any, *, size: int, dtype: str) -> Sparse:
        return Sparse((size,), KINDS[dtype], {(i,): x for i, x in zip(indices.tolist(), data, strict=True)})
