"""Products of random sparse matrices against python-graphblas: semirings, types, masks, accumulators, transposes."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from oracle import Entries, Writing, agree, entries, examples, expected, gb, options, writing

import hpgraph as hpg

SETTINGS = examples(80)
# One that sums, one of which sides matter, one that stops early, one of places; others in test_mxm.py.
RINGS = (("plus_times", "float64"), ("max_first", "int8"), ("any_pair", "bool"), ("min_firsti", "float64"))
# test_mxv.py has sums with every way to write.
RINGS_OF_VECTORS = RINGS[1:]


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
