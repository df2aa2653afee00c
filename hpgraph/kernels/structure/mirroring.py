"""Triangles of symmetric matrices completed, over the arrays of either device."""

from hpgraph.core.device import array_module
from hpgraph.formats import CSR


def mirrored(triangle: CSR) -> CSR:
    """`hpgraph.kernels.structure.Structure.mirrored` on either device."""
    xp, row, column = array_module(triangle.device), triangle.expand_rows(), triangle.indices
    both = xp.concatenate((row, column)), xp.concatenate((column, row))
    return CSR.from_coo(*both, shape=triangle.shape, copy=False)
