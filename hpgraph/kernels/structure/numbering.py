"""Parts of a graph by number, from the smallest vertex of each."""

from typing import Any

import numpy as np

from hpgraph.core.device import array_module


def numbered(smallest: Any) -> tuple[int, Any]:
    """Number parts, given by the smallest vertex of each, in that order; on CUDA this waits for the stream."""
    if isinstance(smallest, np.ndarray):
        # Imported here, since it imports Numba.
        from hpgraph.kernels.structure.cpu_components import number_trees

        number = smallest.copy()
        return int(number_trees(number)), number
    xp = array_module(smallest)
    is_smallest = smallest == xp.arange(len(smallest), dtype=smallest.dtype)
    number = xp.cumsum(is_smallest, dtype=smallest.dtype) - 1
    return (int(number[-1]) + 1 if len(number) else 0), number[smallest]
