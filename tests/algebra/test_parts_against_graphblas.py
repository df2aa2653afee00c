"""Extraction and assignment beside python-graphblas: any rows and columns, masks, accumulators and outputs."""

from __future__ import annotations

from typing import Any

import pytest
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
