"""Products of random sparse matrices against python-graphblas: semirings, types, masks, accumulators, transposes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from oracle import Entries, Writing, agree, entries, expected, options, writing

import hpgraph as hpg

gb = pytest.importorskip("graphblas")

# The same examples in each run, as each new semiring is compiled; one device serves all examples of a test.
SETTINGS = settings(
    max_examples=80,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    phases=[Phase.generate],
)
RINGS = (
    ("plus_times", "float64"), ("plus_times", "int8"), ("min_plus", "int64"), ("max_first", "int8"),
    ("lor_land", "bool"), ("plus_pair", "int64"), ("any_pair", "bool"), ("min_firsti", "float64"),
    ("plus_secondj", "int8"),
)  # fmt: skip


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
@given(data=st.data(), op=st.sampled_from(("times", "minus", "first")), how=writing((4, 6)))
def test_kronecker(data: st.DataObject, op: str, how: Writing, device: str) -> None:
    dtype = data.draw(st.sampled_from(("int8", "float64")))
    first, second = data.draw(entries((2, 3), dtype)), data.draw(entries((2, 2), dtype))
    found = hpg.kronecker(first.ours(device), second.ours(device), op, **options(how, device))
    agree(found, expected(how, first.theirs().kronecker(second.theirs(), getattr(gb.binary, op))))
