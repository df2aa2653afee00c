"""How rows are shared out: every entry once, no task too long, each word of a bitmask with one writer."""

from __future__ import annotations

import numpy as np
import pytest

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.schedule import WORD, make_schedule, schedule


def lengths_of(kind, n):
    rng = np.random.default_rng(n)
    lengths = {
        "empty": np.zeros(n, np.int64),
        "short": rng.integers(0, 6, n),
        "some long": rng.integers(0, 6, n),
        "all long": rng.integers(150, 400, n),
    }[kind]
    if kind == "some long" and n:
        lengths[rng.integers(0, n, 3)] = [101, 100, 1234]
    return lengths


@pytest.mark.parametrize("kind", ["empty", "short", "some long", "all long"])
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 1000])
def test_every_entry_belongs_to_one_task(kind, n):
    lengths, task = lengths_of(kind, n), 100
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    plan = make_schedule(indptr, task)

    assert plan.bounds[0] == 0
    assert plan.bounds[-1] == n
    assert (np.diff(plan.bounds) > 0).all()
    assert (plan.bounds[1:-1] % WORD == 0).all()
    np.testing.assert_array_equal(plan.long_rows, np.flatnonzero(lengths > task))
    done = np.zeros(indptr[-1], np.int64)
    for row, begin, end in zip(plan.piece_row, plan.piece_begin, plan.piece_end, strict=True):
        assert 0 < end - begin <= task
        assert row == np.searchsorted(indptr, begin, side="right") - 1
        done[begin:end] += 1
    np.testing.assert_array_equal(done, np.repeat(lengths > task, lengths))
    np.testing.assert_array_equal(np.diff(plan.long_pieces), -(-lengths[lengths > task] // task))
    # What a block takes, its last group of rows aside, is no more than a task.
    work = np.zeros(-(-n // WORD), np.int64)
    np.add.at(work, np.arange(n) // WORD, np.where(lengths > task, 0, lengths))
    for begin, end in zip(plan.bounds[:-1] // WORD, -(-plan.bounds[1:] // WORD), strict=True):
        assert (work[begin : end - 1] + WORD).sum() <= task


def test_a_matrix_keeps_its_schedule():
    rng = np.random.default_rng(3)
    lengths = rng.integers(0, 9, 500)
    indptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    rows = CSR((500, 40), indptr, rng.integers(0, 40, indptr[-1]).astype(np.int32), None)
    plan = schedule(rows)
    assert plan.bounds.tolist() == [0, 500]
    assert plan.long_rows.size == 0
    assert schedule(rows) is plan
