"""The places that two matrices have between them, and where in each the entry stands; the same on either backend."""

from __future__ import annotations

from typing import Any

from hpgraph.formats import CSR
from hpgraph.kernels.backend import kernels
from hpgraph.semiring import get_binary
from hpgraph.semiring.entry import entry_function


def union(a: CSR, b: CSR) -> tuple[Any, Any, Any, Any]:
    """The places that two matrices have between them.

    Parameters
    ----------
    a, b : CSR
        Of the same shape, on the same device, rows sorted and free of duplicates.

    Returns
    -------
    indptr : int64 array, shape (rows + 1,)
    indices : integer array, shape (m,)
        Rows sorted.
    from_a, from_b : int64 array, shape (m,)
        Position of the entry in each matrix, -1 where it has none.

    Notes
    -----
    To join values by an operator use `merge`, which does it in the same pass.
    """
    backend = kernels(a.device)
    keep = entry_function(get_binary("pair"), bool, bool)
    made = backend.merge(a.with_data(None), b.with_data(None), keep, keep, keep, None)
    return made.indptr, made.indices, backend.locate(made, a), backend.locate(made, b)
