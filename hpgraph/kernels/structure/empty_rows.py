"""The rows of a matrix without entries: of the arcs by who gathers, the vertices that hear from nobody."""

from __future__ import annotations

from hpgraph.formats import CSR, Bitmask
from hpgraph.kernels.runtime.attached import attached


@attached
def empty_rows(rows: CSR) -> Bitmask:
    """The rows without entries; worked out once a matrix.

    Parameters
    ----------
    rows : CSR

    Returns
    -------
    Bitmask
        On the matrix's device.

    Examples
    --------
    >>> empty_rows(CSR((3, 3), [0, 1, 1, 2], [2, 0])).to_indices().tolist()
    [1]
    """
    return Bitmask.of_empty_rows(rows.indptr)
