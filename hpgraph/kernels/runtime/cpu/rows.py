"""A CSR matrix as one kernel parameter, further arrays of its arrays' types, and binary search in ascending rows."""

from collections import namedtuple

import numpy as np

from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import vertex

# The arrays of a CSR matrix; `one` is the entry of a pattern, in the type of the values it is combined with.
Rows = namedtuple("Rows", "indptr indices data one", defaults=(None, True))


@part
def beside(data, length):
    """An array of the type of `data`, of another length; None for None."""
    return None if data is None else np.empty(length, data.dtype)


@part
def lower_bound(indices, begin, end, wanted):
    """The first position in begin..end whose id is at least the one sought; `end` if there is none."""
    while begin < end:
        middle = (begin + end) >> 1
        if vertex(indices, middle) < wanted:
            begin = middle + 1
        else:
            end = middle
    return begin


@part
def place_in_row(rows, indices, row, wanted):
    """Position of an id in a row, which is rows[row]..rows[row + 1]; -1 if absent."""
    end = rows[row + 1]
    at = lower_bound(indices, rows[row], end, wanted)
    return at if at < end and vertex(indices, at) == wanted else -1
