"""Products in which every pair of entries counts as 1: no value of the matrix is read, and often nothing else."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from hpgraph.formats import CSR, HYB
from hpgraph.kernels.attached import attached
from hpgraph.semiring.function import Function


def pull_ones(rows: CSR | HYB, gather: Any, reduce: Any, out: Any) -> bool:
    """`hpgraph.kernels.cpu.product.pull` where every entry sends 1, from the lengths of rows alone.

    Parameters
    ----------
    rows, gather, reduce, out
        As for `pull`.

    Returns
    -------
    bool
        False, and nothing done, where not every entry does, or more must be known.
    """
    semiring = getattr(gather, "semiring", None)
    if semiring is None or semiring.multiply.cpp != "pair" or not isinstance(rows, CSR):
        return False
    if semiring.counts and out.dtype.kind != "b":
        np.subtract(rows.indptr[1:], rows.indptr[:-1], out=out, casting="unsafe")
        return True
    if not reduce.idempotent:
        return False
    some = _has_entries(rows)
    if some is None:
        out.fill(1)
    elif out.dtype == bool and not reduce.identity_for(bool):
        np.copyto(out, some)
    else:
        out.fill(reduce.identity_for(out.dtype))
        np.copyto(out, out.dtype.type(1), where=some)
    return True


@attached
def _has_entries(rows: CSR) -> Any:
    """Which rows have an entry, an array of bool; None where all have."""
    some = rows.indptr[1:] != rows.indptr[:-1]
    return None if some.all() else some


@functools.lru_cache(maxsize=1024)
def flag_of_source(gather: Any, reduce: Any, dtype: np.dtype[Any]) -> Function | None:
    """What to gather instead of 1 from active sources alone: from all of them, whether they are active.

    Parameters
    ----------
    gather : Function
    reduce : Monoid
    dtype : numpy.dtype
        Of the result.

    Returns
    -------
    Function or None
        To be used with an array of bool. None where 0 is not what reduce passes over, or where ones could add up to it.
    """
    semiring = getattr(gather, "semiring", None)
    if semiring is None or semiring.multiply.cpp != "pair" or reduce.identity_for(dtype) != 0:
        return None
    wraps_around = dtype.kind not in "iuf" or dtype.itemsize < 4
    if not reduce.idempotent and (not semiring.counts or wraps_around):
        return None
    convert: Any = dtype.type
    return Function(lambda state, source, weight, target: convert(state[0][source]), "flag_of_source")
