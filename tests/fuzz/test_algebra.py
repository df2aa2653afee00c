"""The share of the algebra's fuzzer that runs as a test; ``python -m tests.fuzz.algebra`` goes on for longer."""

from __future__ import annotations

import pytest

pytest.importorskip("graphblas", reason="python-graphblas is what the algebra is compared with")

from fuzz.algebra import OPERATIONS, Case, Subject, draw_subject, fuzz, run_case

SECONDS = 30


@pytest.mark.filterwarnings("ignore")
def test_a_share_of_the_fuzzer(device: str) -> None:
    found = fuzz(2000, 7, SECONDS, per_subject=25, device=device)
    assert not found.disagreements, "\n".join(found.disagreements)
    assert found.cases >= 25


@pytest.mark.filterwarnings("ignore")
def test_a_disagreement_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """An operation that forgets its mask is noticed."""
    import hpgraph as hpg

    right = hpg.transpose
    monkeypatch.setattr(
        hpg, "transpose", lambda A, **options: right(A, **{**options, "mask": None, "complement": False})
    )
    subject = Subject("transpose", "", "int64", None, None, "cpu")
    with pytest.raises(AssertionError):
        for k in range(20):
            run_case(subject, [0, k])


def test_operations_take_turns() -> None:
    """A run of as many subjects as there are operations has drawn each of them."""
    drawn = {draw_subject(3, index, "cpu").operation for index in range(len(OPERATIONS))}
    assert drawn == set(OPERATIONS)


def test_what_is_drawn_reaches_the_cases_it_is_for() -> None:
    """Empty shapes, empty rows, NaN, infinities, the ends of integers, masks of either kind."""
    import numpy as np

    seen = set()
    for k in range(400):
        case = Case(np.random.default_rng(k), Subject("apply", "abs", "float64", None, "float64", "cpu"))
        shape = case.size(), case.size()
        A, how = case.entries(shape), case.writing(shape)
        values = list(A.values.values())
        seen |= {"empty shape"} if 0 in shape else set()
        seen |= {"no entries"} if 0 not in shape and not values else set()
        seen |= {"nan"} if any(x != x for x in values) else set()
        seen |= {"inf"} if any(np.isinf(x) for x in values) else set()
        seen |= {"empty row"} if values and len({i for i, _ in A.values}) < shape[0] else set()
        if how.mask is not None:
            seen |= {("mask", how.structural, how.complement, how.replace)}
        assert case.value("int8") in range(-128, 128)
    assert len(seen) == 5 + 8
