"""The kernels for the GPU: CUDA C++ templates, compiled at run time."""

import contextlib

from hpgraph.formats import CSR
from hpgraph.kernels.cuda.components import components
from hpgraph.kernels.cuda.entries import map_entries, select_entries, zip_entries
from hpgraph.kernels.cuda.extract import columns_of, positions_of, rows_of
from hpgraph.kernels.cuda.fifo import fifo_order
from hpgraph.kernels.cuda.kronecker import kron
from hpgraph.kernels.cuda.merge import locate, merge
from hpgraph.kernels.cuda.mxm import multiply
from hpgraph.kernels.cuda.mxm_masked import masked_work, multiply_by_dots, multiply_by_rows
from hpgraph.kernels.cuda.product import pull
from hpgraph.kernels.cuda.product_dense import pull_dense
from hpgraph.kernels.cuda.product_push import push
from hpgraph.kernels.cuda.scatter import minimum_at
from hpgraph.kernels.cuda.sweeps import sweeps
from hpgraph.kernels.cuda.traversal import aggregate, apply, first, pull_messages, push_messages, relax
from hpgraph.kernels.union import union

transpose = CSR.transpose
# The host waits for the GPU, and answers Ctrl-C when the kernel is done.
in_python = interruptible = contextlib.nullcontext

__all__ = [
    "aggregate",
    "apply",
    "columns_of",
    "components",
    "fifo_order",
    "first",
    "in_python",
    "interruptible",
    "kron",
    "locate",
    "map_entries",
    "masked_work",
    "merge",
    "minimum_at",
    "multiply",
    "multiply_by_dots",
    "multiply_by_rows",
    "positions_of",
    "pull",
    "pull_dense",
    "pull_messages",
    "push",
    "push_messages",
    "relax",
    "rows_of",
    "select_entries",
    "sweeps",
    "transpose",
    "union",
    "zip_entries",
]  # fmt: skip
