"""Arcs by number: what lies beside them in one order is so found from others, and nothing is stored twice."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.core.device import array_module
from hpgraph.formats import CSR
from hpgraph.kernels.backend import kernels


def number_type(arcs: int) -> np.dtype[Any]:
    """Type of so many arcs' numbers."""
    return np.dtype(np.int32 if arcs <= np.iinfo(np.int32).max else np.int64)


def by_source(csr: CSR) -> CSR:
    """The same entries, numbered where they have values."""
    numbers = array_module(csr.device).arange(csr.nnz, dtype=number_type(csr.nnz))
    return CSR(csr.shape, csr.indptr, csr.indices, numbers, validate=False)


def by_target(numbered: CSR, transposed: CSR | None) -> CSR:
    """The transpose of numbered entries: their numbers become a permutation.

    ``transposed``: the transpose, if it exists: its row pointers and columns are then shared.
    """
    made = kernels(numbered.device).transpose(numbered)
    if transposed is None:
        return made
    return CSR(made.shape, transposed.indptr, transposed.indices, made.data, validate=False)


def reverses(csr: CSR) -> Any:
    """Position of entry (j, i) for each entry (i, j) of a matrix with sorted rows, -1 if there is none."""
    places = kernels(csr.device).positions_of(csr, csr.indices, csr.expand_rows())
    return places.astype(number_type(csr.nnz), copy=False)
