"""Rows binned by length on the GPU: against NumPy, and compiled without one."""

from __future__ import annotations

import numpy as np
import pytest

from hpgraph.kernels.runtime.cuda import row_bins


@pytest.mark.parametrize("device", ["cuda"], indirect=True)
@pytest.mark.parametrize("rows", [0, 1, 31, 1024, 9000])
def test_bins_hold_their_rows_in_order(rows, device):
    import cupy

    rng = np.random.default_rng(rows)
    lengths = rng.choice([0, 1, 4, 5, 16, 17, 32, 33, 128, 129, 1024, 1025, 5000], rows)
    indptr = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    found = row_bins.make_bins(cupy.asarray(indptr))
    long = lengths > 1024
    expected = [
        np.flatnonzero((lengths > low) & (lengths <= high) & ~long)
        for low, high in ((128, 1 << 40), (32, 128), (16, 32), (4, 16), (-1, 4))
    ]
    # A row in both lists would be updated twice.
    assert found.slots.get().tolist() == np.concatenate(expected).tolist()
    assert found.long_slots.get().tolist() == np.flatnonzero(long).tolist()
    pieces = -(-lengths[long] // 1024)
    assert found.first_piece.get().tolist() == [0, *np.cumsum(pieces)]
    assert found.piece_slot.get().tolist() == np.repeat(np.flatnonzero(long), pieces).tolist()
    assert found.piece_order.get().tolist() == [order for count in pieces for order in range(count)]
    assert (found.rows, found.pieces, found.long_rows) == (rows, pieces.sum(), long.sum())
    assert found.blocks == -(-pieces.sum() // 8) + sum(
        -(-len(members) // (256 // lanes)) for members, lanes in zip(expected, (32, 16, 8, 4, 1), strict=True)
    )
