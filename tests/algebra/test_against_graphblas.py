"""Every operation entry by entry, with every way to write its result, against python-graphblas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import DTYPES, SHAPE, Entries, Writing, agree, entries, examples, expected, gb, number, options, writing

import hpgraph as hpg

FEW = examples(40)
# Where each operator has a test of its own, so that none is left to chance.
EACH = examples(12)
SIZE = (6,)
# Our name and theirs.
# Of each kind: whose sides matter or not, of one operand or none, with results of bool and of float. Their values for
# every type are in semiring/test_operators.py.
BINARY = {
    "plus": "plus", "minus": "minus", "max": "max", "first": "first", "pair": "pair", "lt": "lt", "div": "truediv"
}  # fmt: skip
operators = st.sampled_from(sorted(BINARY))
# Operators with other result types: SuiteSparse's are the operands' or int64, ours bool or the operands'.
OTHERWISE_TYPED = {"pair", "lnot", "one"}


def theirs(name: str) -> Any:
    return getattr(gb.binary, BINARY[name])


def same(found: Any, wanted: Any, op: str) -> None:
    agree(found, wanted, dtype=op not in OTHERWISE_TYPED)


def two(shape: tuple[int, ...] = SHAPE, kinds: tuple[str, ...] = DTYPES, least: int = 0) -> Any:
    """Two operands of the same type: theirs promotes otherwise than NumPy."""
    one = lambda dtype: entries(shape, dtype, least)  # noqa: E731
    return st.sampled_from(kinds).flatmap(lambda dtype: st.tuples(one(dtype), one(dtype)))


# Every operator with one of the types, every type with two operators at least; with so many entries that most places
# have one of either operand.
TYPED = [(op, DTYPES[k % 3]) for k, op in enumerate(sorted(BINARY))]


@pytest.mark.parametrize(("op", "dtype"), TYPED)
@examples(8)
@given(data=st.data(), how=writing())
def test_union(op: str, dtype: str, data: st.DataObject, how: Writing, device: str) -> None:
    A, B = data.draw(two(SHAPE, (dtype,), least=8))
    found = hpg.ewise_add(A.ours(device), B.ours(device), op, **options(how, device))
    same(found, expected(how, A.theirs().ewise_add(B.theirs(), theirs(op))), op)


@pytest.mark.parametrize(("op", "dtype"), TYPED)
@examples(8)
@given(data=st.data(), how=writing())
def test_intersection(op: str, dtype: str, data: st.DataObject, how: Writing, device: str) -> None:
    A, B = data.draw(two(SHAPE, (dtype,), least=8))
    found = A.ours(device).ewise_mult(B.ours(device), op, **options(how, device))
    same(found, expected(how, A.theirs().ewise_mult(B.theirs(), theirs(op))), op)


@FEW
@given(
    # `test_union` goes through all operators and types; here sides matter, and results of another type.
    operands=two(kinds=("bool", "int64")),
    op=st.sampled_from(["minus", "lt", "first"]),
    how=writing(),
    fills=st.tuples(st.integers(0, 1), st.integers(0, 1)),
)
def test_union_with_fills(
    operands: tuple[Entries, Entries], op: str, how: Writing, fills: tuple[int, int], device: str
) -> None:
    A, B = operands
    a, b = (bool(fill) if A.dtype == "bool" else fill for fill in fills)
    found = hpg.ewise_union(A.ours(device), a, B.ours(device), b, op, **options(how, device))
    # Their numbers are int64, and promote as such.
    agree(found, expected(how, A.theirs().ewise_union(B.theirs(), theirs(op), a, b)), dtype=False)


@FEW
@given(operands=two(SIZE), op=operators, how=writing(SIZE), which=st.sampled_from(["add", "mult", "union"]))
def test_vectors(operands: tuple[Entries, Entries], op: str, how: Writing, which: str, device: str) -> None:
    A, B = operands
    u, v, x, y = A.ours(device), B.ours(device), A.theirs(), B.theirs()
    keywords = options(how, device)
    if which == "add":
        same(u.ewise_add(v, op, **keywords), expected(how, x.ewise_add(y, theirs(op))), op)
    elif which == "mult":
        same(u.ewise_mult(v, op, **keywords), expected(how, x.ewise_mult(y, theirs(op))), op)
    else:
        fill = A.dtype != "float64"
        agree(
            u.ewise_union(fill, v, fill, op, **keywords),
            expected(how, x.ewise_union(y, theirs(op), fill, fill)),
            dtype=False,
        )


class TestApply:
    @FEW
    @given(A=entries(), op=st.sampled_from(["abs", "ainv", "one", "lnot", "identity"]), how=writing())
    def test_unary(self, A: Entries, op: str, how: Writing, device: str) -> None:
        found = A.ours(device).apply(op, **options(how, device))
        same(found, expected(how, A.theirs().apply(getattr(gb.unary, op))), op)

    @FEW
    @given(A=entries(), op=st.sampled_from(["plus", "minus", "lt", "first"]), left=st.booleans(), how=writing())
    def test_bound(self, A: Entries, op: str, left: bool, how: Writing, device: str) -> None:
        bound: dict[str, Any] = {"left" if left else "right": A.dtype == "bool" or 2}
        found = A.ours(device).apply(op, **bound, **options(how, device))
        agree(found, expected(how, A.theirs().apply(getattr(gb.binary, op), **bound)), dtype=False)

    @pytest.mark.parametrize("op", ["rowindex", "colindex", "diagindex"])
    @pytest.mark.parametrize("shape", [SHAPE, SIZE], ids=["matrix", "vector"])
    @EACH
    @given(data=st.data(), thunk=st.integers(-2, 2))
    def test_places(self, op: str, shape: tuple[int, ...], data: st.DataObject, thunk: int, device: str) -> None:
        A, how = data.draw(entries(shape, "int64", least=3)), data.draw(writing(shape))
        found = hpg.apply(A.ours(device), op, thunk=thunk, **options(how, device))
        agree(found, expected(how, A.theirs().apply(getattr(gb.indexunary, op), thunk)))

    @pytest.mark.parametrize("op", ["rowindex", "colindex", "diagindex"])
    @pytest.mark.parametrize("thunk", [-2, 0, 3])
    def test_every_place(self, op: str, thunk: int, device: str) -> None:
        """Nothing is drawn: every place of a full matrix, whatever its thunk."""
        A = Entries(SHAPE, "int64", {(i, j): 1 for i in range(SHAPE[0]) for j in range(SHAPE[1])})
        agree(hpg.apply(A.ours(device), op, thunk=thunk), A.theirs().apply(getattr(gb.indexunary, op), thunk).new())


SELECT = ["tril", "triu", "diag", "offdiag", "rowle", "rowgt", "colle", "colgt"]
COMPARE = ["valueeq", "valuene", "valuelt", "valuele", "valuegt", "valuege"]


class TestSelect:
    @pytest.mark.parametrize("op", SELECT)
    @EACH
    @given(A=entries(dtype="int8", least=3), thunk=st.integers(-2, 2), how=writing())
    def test_places(self, op: str, A: Entries, thunk: int, how: Writing, device: str) -> None:
        found = A.ours(device).select(op, thunk, **options(how, device))
        agree(found, expected(how, getattr(gb.select, op)(A.theirs(), thunk)))

    @pytest.mark.parametrize(("op", "dtype"), [(op, DTYPES[k % 3]) for k, op in enumerate(COMPARE)])
    @examples(8)
    @given(thunk=st.integers(0, 1), data=st.data())
    def test_values(self, op: str, dtype: str, thunk: int, data: st.DataObject, device: str) -> None:
        shape = data.draw(st.sampled_from([SHAPE, SIZE]))
        A, how = data.draw(entries(shape, dtype, least=3)), data.draw(writing(shape))
        value = bool(thunk) if A.dtype == "bool" else thunk
        found = A.ours(device).select(op, value, **options(how, device))
        agree(found, expected(how, getattr(gb.select, op)(A.theirs(), value)))


# Each with one type: of numbers `TestReduce.test_monoids` has the other.
AGGREGATORS = {
    "sum": "float64", "prod": "float64", "min": "int64", "max": "float64", "any": "float64", "all": "int64",
    "count": "int64", "mean": "int64", "std": "int64", "argmin": "int64", "argmax": "float64", "first": "float64",
    "last": "int64",
}  # fmt: skip


def aggregator(op: str) -> Any:
    if op in ("argmin", "argmax", "first", "last"):
        return getattr(gb.agg.ss, op)
    return getattr(gb.agg, {"std": "stdp"}.get(op, op))


# Theirs reduces no bool by those of numbers; ours does.
MONOIDS = {"int8": ["plus", "min"], "float64": ["times", "max"], "bool": ["lor", "lxor"]}


def monoid_for(data: st.DataObject, A: Entries) -> str:
    return data.draw(st.sampled_from(MONOIDS[A.dtype]))


class TestReduce:
    @FEW
    @given(A=entries(), axis=st.sampled_from([0, 1]), data=st.data())
    def test_monoids(self, A: Entries, axis: int, data: st.DataObject, device: str) -> None:
        op = monoid_for(data, A)
        how = data.draw(writing((A.shape[1 - axis],)))
        X = A.theirs()
        whole = X.reduce_rowwise if axis == 1 else X.reduce_columnwise
        found = A.ours(device).reduce(op, axis, **options(how, device))
        same(found, expected(how, whole(getattr(gb.monoid, op))), op)

    @FEW
    @given(A=entries() | entries(SIZE), data=st.data())
    def test_monoids_to_a_number(self, A: Entries, data: st.DataObject, device: str) -> None:
        op = monoid_for(data, A)
        X = A.theirs()
        reduced = X.reduce(getattr(gb.monoid, op)) if len(A.shape) == 1 else X.reduce_scalar(getattr(gb.monoid, op))
        wanted = reduced.new().value
        monoid = hpg.semiring.get_monoid(op)
        found = A.ours(device).reduce(monoid)
        number(found, monoid.identity_for(found.dtype) if wanted is None else wanted)

    @FEW
    @given(data=st.data(), op=st.sampled_from(sorted(AGGREGATORS)), axis=st.integers(0, 1))
    def test_aggregators(self, data: st.DataObject, op: str, axis: int, device: str) -> None:
        A = data.draw(entries(dtype=AGGREGATORS[op]))
        X = A.theirs()
        whole = X.reduce_rowwise if axis == 1 else X.reduce_columnwise
        wanted = whole(aggregator(op)).new()
        agree(A.ours(device).reduce(op, axis), wanted, dtype=op not in ("count",))

    @FEW
    @given(A=entries(SIZE, "float64"), op=st.sampled_from(sorted(AGGREGATORS)))
    def test_aggregators_to_a_number(self, A: Entries, op: str, device: str) -> None:
        v = A.ours(device)
        if not A.values and op in ("argmin", "argmax", "first", "last"):
            with pytest.raises(ValueError, match=f"{op} of nothing"):
                v.reduce(op)
            return
        wanted = A.theirs().reduce(aggregator(op)).new().value
        if wanted is None or (op in ("min", "max", "mean", "std") and not A.values):
            wanted = {"min": np.inf, "max": -np.inf, "mean": np.nan, "std": np.nan, "prod": 1, "all": 1}.get(op, 0)
        number(v.reduce(op), wanted)
