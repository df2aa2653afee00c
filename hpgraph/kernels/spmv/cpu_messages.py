"""Messages as a function of column, entry and row data, reduced on the CPU by the product's loops."""

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.spmv.cpu_spmm import pull_dense

# Columns summed at a time for each entry, which bounds the memory to this many numbers an entry.
COLUMNS = 8


def reduce_messages(csr: CSR, message: Any, reduce: Any, state: tuple[Any, ...], rows: Any, out: Any) -> None:
    """`hpgraph.kernels.spmv.Products.reduce_messages`."""
    width = max((one.shape[1] for one in state if one.ndim == 2), default=0)
    summed = out.ndim == 1 and width > 0
    step = COLUMNS if summed and message.over == "edge" else max(width, 1)
    if out.ndim == 1:
        out[:] = 0
    gather = message.compiled(out.dtype)
    for begin in range(0, max(width, 1), step):
        part = tuple(np.ascontiguousarray(one[:, begin : begin + step]) if one.ndim == 2 else one for one in state)
        found = np.empty((len(out), min(step, max(width, 1) - begin)), out.dtype)
        pull_dense(csr, gather, reduce, part if rows is None else (*part, rows), found)
        if out.ndim == 1:
            out += found.sum(1)
        else:
            out[:] = found
