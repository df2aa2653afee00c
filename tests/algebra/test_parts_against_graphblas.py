"""Extraction and assignment beside python-graphblas: any rows and columns, masks, accumulators and outputs."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from oracle import ACCUMULATORS, SHAPE, Entries, Writing, agree, entries, examples, expected, gb, options, writing

import hpgraph as hpg


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


@examples(60)
@given(data=st.data(), A=entries(), rows=some(SHAPE[0]), columns=some(SHAPE[1]))
def test_extract(data: Any, A: Entries, rows: Any, columns: Any, device: str) -> None:
    i, j = listed(rows, SHAPE[0]), listed(columns, SHAPE[1])
    how = data.draw(writing((len(i), len(j)))) if i and j else None
    if how is None:
        assert hpg.extract(A.ours(device), rows, columns).shape == (len(i), len(j))
    else:
        found = hpg.extract(A.ours(device), rows, columns, **options(how, device))
        agree(found, expected(how, A.theirs()[i, j]))


@examples(40)
@given(A=entries(), how=writing(SHAPE[::-1]))
def test_transpose(A: Entries, how: Writing, device: str) -> None:
    agree(hpg.transpose(A.ours(device), **options(how, device)), expected(how, A.theirs().T))


@examples(40)
@given(data=st.data(), u=entries((9,)), rows=some(9))
def test_extract_of_a_vector(data: Any, u: Entries, rows: Any, device: str) -> None:
    i = listed(rows, 9)
    how = data.draw(writing((len(i),))) if i else None
    if how is None:
        assert hpg.extract(u.ours(device), rows).size == 0
    else:
        found = hpg.extract(u.ours(device), rows, **options(how, device))
        agree(found, expected(how, u.theirs()[i]))


@examples(80)
@given(data=st.data(), C=entries(dtype="float64"), rows=once(SHAPE[0]), columns=once(SHAPE[1]), within=st.booleans())
def test_assign(data: Any, C: Entries, rows: list[int], columns: list[int], within: bool, device: str) -> None:
    region = len(rows), len(columns)
    A = data.draw(st.integers(-3, 3) | entries(region))
    mask = data.draw(st.none() | entries(region if within else SHAPE, "int8"))
    structural = mask is not None and data.draw(st.booleans())
    complement = mask is not None and data.draw(st.booleans())
    replace = mask is not None and data.draw(st.booleans())
    accum = data.draw(st.sampled_from((None, *ACCUMULATORS)))
    wanted = C.theirs()
    theirs: dict[str, Any] = {"accum": None if accum is None else getattr(gb.binary, accum), "replace": replace}
    if mask is not None:
        theirs["mask"] = mask.theirs().S if structural else mask.theirs().V
        theirs["mask"] = ~theirs["mask"] if complement else theirs["mask"]
    source = A.theirs() if isinstance(A, Entries) else A
    if within:
        wanted[rows, columns](**theirs) << source
    else:
        wanted(**theirs)[rows, columns] << source
    found = C.ours(device)
    ours = None if mask is None else mask.ours(device).structure if structural else mask.ours(device)
    function = hpg.subassign if within else hpg.assign
    given_source = A.ours(device) if isinstance(A, Entries) else A
    assert function(found, given_source, rows, columns, ours, complement, accum, replace) is found
    agree(found, wanted)


@examples(60)
@given(data=st.data(), w=entries((9,), "float64"), indices=once(9), within=st.booleans())
def test_assign_to_a_vector(data: Any, w: Entries, indices: list[int], within: bool, device: str) -> None:
    u = data.draw(st.integers(-3, 3) | entries((len(indices),)))
    mask = data.draw(st.none() | entries((len(indices) if within else 9,), "int8"))
    replace = mask is not None and data.draw(st.booleans())
    accum = data.draw(st.sampled_from((None, *ACCUMULATORS)))
    wanted = w.theirs()
    op = None if accum is None else getattr(gb.binary, accum)
    theirs = u.theirs() if isinstance(u, Entries) else u
    keywords = {"mask": None if mask is None else mask.theirs().V, "accum": op, "replace": replace}
    if within:
        wanted[indices](**keywords) << theirs
    else:
        wanted(**keywords)[indices] << theirs
    found = w.ours(device)
    ours = None if mask is None else mask.ours(device)
    source = u.ours(device) if isinstance(u, Entries) else u
    function = hpg.subassign if within else hpg.assign
    function(found, source, indices, mask=ours, accum=accum, replace=replace)
    agree(found, wanted)
