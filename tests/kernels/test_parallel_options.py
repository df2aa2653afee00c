"""Parallel loops are compiled alike, whichever kernel comes first in a process."""

from numba.core.cpu_options import ParallelOptions

from hpgraph.kernels.runtime.cpu.progress import LOOPS


def test_options_serve_more_kernels_than_one() -> None:
    # What Numba does for each kernel; it empties a dict.
    first, second = ParallelOptions(LOOPS), ParallelOptions(LOOPS)
    assert first == second
    assert second.prange and not second.fusion and not second.setitem
