"""Every operation with every way to write its result, against python-graphblas: entries, products, parts."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import (
    ACCUMULATORS,
    DTYPES,
    SHAPE,
    Entries,
    Writing,
    agree,
    entries,
    examples,
    expected,
    gb,
    number,
    options,
    writing,
)
from raising import raises

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
@given(
    data=st.data(),
    # The next type of each operator's after that of its matrices.
    typed=st.sampled_from([(op, DTYPES[(k + 1) % 3]) for k, op in enumerate(sorted(BINARY))]),
    how=writing(SIZE),
    which=st.sampled_from(["add", "mult", "union"]),
)
def test_vectors(data: st.DataObject, typed: tuple[str, str], how: Writing, which: str, device: str) -> None:
    op, dtype = typed
    A, B = data.draw(two(SIZE, (dtype,)))
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


UNARY = ["abs", "ainv", "one", "lnot", "identity"]


class TestApply:
    # Values of every type are in semiring/test_operators.py.
    @pytest.mark.parametrize(("op", "dtype"), [(op, DTYPES[k % 3]) for k, op in enumerate(UNARY)])
    @examples(8)
    @given(data=st.data(), how=writing())
    def test_unary(self, op: str, dtype: str, data: st.DataObject, how: Writing, device: str) -> None:
        A = data.draw(entries(dtype=dtype))
        found = A.ours(device).apply(op, **options(how, device))
        same(found, expected(how, A.theirs().apply(getattr(gb.unary, op))), op)

    @pytest.mark.parametrize(
        ("op", "dtype"), [("plus", "bool"), ("minus", "float64"), ("lt", "int8"), ("first", "int8")]
    )
    @examples(10)
    @given(data=st.data(), left=st.booleans(), how=writing())
    def test_bound(self, op: str, dtype: str, data: st.DataObject, left: bool, how: Writing, device: str) -> None:
        A = data.draw(entries(dtype=dtype))
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
            raises(ValueError, f"{op} of nothing", v.reduce, op)
            return
        wanted = A.theirs().reduce(aggregator(op)).new().value
        if wanted is None or (op in ("min", "max", "mean", "std") and not A.values):
            wanted = {"min": np.inf, "max": -np.inf, "mean": np.nan, "std": np.nan, "prod": 1, "all": 1}.get(op, 0)
        number(v.reduce(op), wanted)


def some(length: int) -> Any:
    """Indices in any order, and more than once; slices with any step; all."""
    lists = st.lists(st.integers(0, length - 1), max_size=6)
    slices = st.builds(
        slice, st.none() | st.integers(-7, 7), st.none() | st.integers(-7, 7), st.sampled_from([1, 2, -1])
    )
    return st.none() | lists | slices


def once(length: int) -> Any:
    """Indices in any order, none twice, of which GraphBLAS says what assignment does."""
    return st.lists(st.integers(0, length - 1), min_size=1, max_size=length, unique=True)


def listed(index: Any, length: int) -> list[int]:
    whole = list(range(length))
    return whole if index is None else whole[index] if isinstance(index, slice) else list(index)


@pytest.mark.parametrize("shape", [SHAPE, (9,)], ids=["matrix", "vector"])
@examples(60)
@given(data=st.data())
def test_extract(shape: tuple[int, ...], data: Any, device: str) -> None:
    A, chosen = data.draw(entries(shape)), [data.draw(some(length)) for length in shape]
    places = [listed(index, length) for index, length in zip(chosen, shape, strict=True)]
    sizes = tuple(map(len, places))
    if 0 in sizes:
        assert hpg.extract(A.ours(device), *chosen).shape == sizes
        return
    how = data.draw(writing(sizes))
    part = A.theirs()[tuple(places) if len(shape) == 2 else places[0]]
    agree(hpg.extract(A.ours(device), *chosen, **options(how, device)), expected(how, part))


@examples(40)
@given(A=entries(), how=writing(SHAPE[::-1]))
def test_transpose(A: Entries, how: Writing, device: str) -> None:
    agree(hpg.transpose(A.ours(device), **options(how, device)), expected(how, A.theirs().T))


@pytest.mark.parametrize("shape", [SHAPE, (9,)], ids=["matrix", "vector"])
@examples(80)
@given(data=st.data(), within=st.booleans())
def test_assign(shape: tuple[int, ...], data: Any, within: bool, device: str) -> None:
    C, chosen = data.draw(entries(shape, "float64")), [data.draw(once(length)) for length in shape]
    region = tuple(map(len, chosen))
    A = data.draw(st.integers(-3, 3) | entries(region))
    mask = data.draw(st.none() | entries(region if within else shape, "int8"))
    structural, complement, replace = (mask is not None and data.draw(st.booleans()) for _ in range(3))
    accum = data.draw(st.sampled_from((None, *ACCUMULATORS)))
    wanted, at = C.theirs(), tuple(chosen) if len(shape) == 2 else chosen[0]
    theirs: dict[str, Any] = {"accum": None if accum is None else getattr(gb.binary, accum), "replace": replace}
    if mask is not None:
        theirs["mask"] = mask.theirs().S if structural else mask.theirs().V
        theirs["mask"] = ~theirs["mask"] if complement else theirs["mask"]
    source = A.theirs() if isinstance(A, Entries) else A
    if within:
        wanted[at](**theirs) << source
    else:
        wanted(**theirs)[at] << source
    found = C.ours(device)
    ours = None if mask is None else mask.ours(device).structure if structural else mask.ours(device)
    function = hpg.subassign if within else hpg.assign
    given_source = A.ours(device) if isinstance(A, Entries) else A
    keywords = {"mask": ours, "complement": complement, "accum": accum, "replace": replace}
    assert function(found, given_source, *chosen, **keywords) is found
    agree(found, wanted)


SETTINGS = examples(80)
# One of which sides matter, one of places, and of vectors one that stops early; test_mxm.py has sums and others,
# test_mxv.py sums with every way to write.
RINGS = (("max_first", "int8"), ("min_firsti", "float64"))
RINGS_OF_VECTORS = (*RINGS, ("any_pair", "bool"))


@st.composite
def factors(draw: Any) -> tuple[str, Entries, Entries, bool, bool]:
    """A semiring, and two matrices that can be multiplied once those of which it is said are turned."""
    name, dtype = draw(st.sampled_from(RINGS))
    turned = draw(st.booleans()), draw(st.booleans())
    shapes = [(4, 6), (6, 5)]
    first, second = (
        draw(entries(shape[::-1] if turn else shape, dtype)) for shape, turn in zip(shapes, turned, strict=True)
    )
    return name, first, second, *turned


@st.composite
def rings_and_operands(draw: Any) -> tuple[str, Entries, Entries, bool, bool]:
    """A semiring, a matrix and a vector for it, whether the matrix is turned, and whether the vector comes first."""
    name, dtype = draw(st.sampled_from(RINGS_OF_VECTORS))
    turned, from_the_left = draw(st.booleans()), draw(st.booleans())
    shape = (6, 5) if turned != from_the_left else (5, 6)
    return name, draw(entries(shape, dtype)), draw(entries((6,), dtype)), turned, from_the_left


@SETTINGS
@given(drawn=factors(), how=writing((4, 5)))
def test_mxm(drawn: tuple[str, Entries, Entries, bool, bool], how: Writing, device: str) -> None:
    name, first, second, turn_first, turn_second = drawn
    A, B = first.ours(device), second.ours(device)
    A, B = A.T if turn_first else A, B.T if turn_second else B
    found = hpg.mxm(A, B, name, **options(how, device))
    X, Y = first.theirs(), second.theirs()
    product = (X.T if turn_first else X).mxm(Y.T if turn_second else Y, getattr(gb.semiring, name))
    agree(found, expected(how, product), dtype="pair" not in name)


@SETTINGS
@given(data=st.data(), drawn=st.sampled_from((("minus", "float64"), ("first", "int8"))), how=writing((4, 6)))
def test_kronecker(data: st.DataObject, drawn: tuple[str, str], how: Writing, device: str) -> None:
    op, dtype = drawn
    first, second = data.draw(entries((2, 3), dtype)), data.draw(entries((2, 2), dtype))
    found = hpg.kronecker(first.ours(device), second.ours(device), op, **options(how, device))
    agree(found, expected(how, first.theirs().kronecker(second.theirs(), getattr(gb.binary, op))))


@SETTINGS
@given(drawn=rings_and_operands(), how=writing((5,)))
def test_mxv_and_vxm(drawn: tuple[str, Entries, Entries, bool, bool], how: Writing, device: str) -> None:
    name, matrix, vector, turn, from_the_left = drawn
    A, x = matrix.ours(device), vector.ours(device)
    X, y = matrix.theirs(), vector.theirs()
    A, X = (A.T, X.T) if turn else (A, X)
    ring = getattr(gb.semiring, name)
    if from_the_left:
        found, product = hpg.vxm(x, A, name, **options(how, device)), y.vxm(X, ring)
    else:
        found, product = hpg.mxv(A, x, name, **options(how, device)), X.mxv(y, ring)
    agree(found, expected(how, product), dtype="pair" not in name)
