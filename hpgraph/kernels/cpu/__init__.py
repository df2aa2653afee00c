"""The kernels for the CPU, compiled by Numba."""

from hpgraph.kernels.cpu import compilation

# Before any module of this package defines a kernel.
compilation.set_up()

from hpgraph.kernels.cpu.components import components  # noqa: E402
from hpgraph.kernels.cpu.entries import map_entries, select_entries, zip_entries  # noqa: E402
from hpgraph.kernels.cpu.extract import columns_of, positions_of, rows_of  # noqa: E402
from hpgraph.kernels.cpu.fifo import fifo_order  # noqa: E402
from hpgraph.kernels.cpu.interruption import in_python, interruptible  # noqa: E402
from hpgraph.kernels.cpu.kronecker import kron  # noqa: E402
from hpgraph.kernels.cpu.merge import locate, merge  # noqa: E402
from hpgraph.kernels.cpu.mxm import multiply  # noqa: E402
from hpgraph.kernels.cpu.mxm_masked import masked_work, multiply_by_dots, multiply_by_rows  # noqa: E402
from hpgraph.kernels.cpu.product import pull  # noqa: E402
from hpgraph.kernels.cpu.product_dense import pull_dense  # noqa: E402
from hpgraph.kernels.cpu.product_push import push  # noqa: E402
from hpgraph.kernels.cpu.scatter import minimum_at  # noqa: E402
from hpgraph.kernels.cpu.sweeps import sweeps  # noqa: E402
from hpgraph.kernels.cpu.transpose import transpose  # noqa: E402
from hpgraph.kernels.cpu.traversal import (  # noqa: E402
    aggregate,
    apply,
    first,
    pull_messages,
    push_messages,
    relax,
)
from hpgraph.kernels.union import union  # noqa: E402

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
