"""A CSR matrix as one kernel parameter, and further arrays of its arrays' types."""

from collections import namedtuple

import numpy as np

from hpgraph.kernels.runtime.cpu.part import part

# The arrays of a CSR matrix; `one` is the entry of a pattern, in the type of the values it is combined with.
Rows = namedtuple("Rows", "indptr indices data one", defaults=(None, True))


@part
def beside(data, length):
    """An array of the type of `data`, of another length; None for None."""
    return None if data is None else np.empty(length, data.dtype)
