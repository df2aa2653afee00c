"""The lower and the upper triangle of a matrix, as `scipy.sparse.tril` and `triu` give them."""

from __future__ import annotations

from typing import Any

from hpgraph.algebra.select import select


def tril(A: Any, k: int = 0, format: str | None = None) -> Any:
    """The entries on and below a diagonal.

    Parameters
    ----------
    A : Matrix or sparse array
    k : int, default 0
        Which diagonal; above the main one if positive.
    format : str, optional
        A format of SciPy or CuPy to convert to, as for `Matrix.asformat`.

    Returns
    -------
    Matrix, or sparse array where `format` is given

    Examples
    --------
    >>> import hpgraph as hpg
    >>> hpg.tril(hpg.Matrix([[1, 2], [3, 4]]), -1).toarray()
    array([[0, 0],
           [3, 0]])
    """
    return select(A, "tril", k).asformat(format)


def triu(A: Any, k: int = 0, format: str | None = None) -> Any:
    """The entries on and above a diagonal.

    Parameters
    ----------
    A, k, format
        As for `tril`.

    Returns
    -------
    Matrix, or sparse array where `format` is given

    Examples
    --------
    >>> import hpgraph as hpg
    >>> hpg.triu(hpg.Matrix([[1, 2], [3, 4]]), 1).toarray()
    array([[0, 2],
           [0, 0]])
    """
    return select(A, "triu", k).asformat(format)
