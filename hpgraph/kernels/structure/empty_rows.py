"""The rows of a matrix without entries: of the arcs by who gathers, the vertices that hear from nobody."""

from __future__ import annotations

from hpgraph.formats import CSR, Bitmask
from hpgraph.kernels.runtime.attached import attached


@attached
def empty_rows(rows: CSR) -> Bitmask:
    """The rows without entries; worked out once a matrix."""
    return Bitmask.of_empty_rows(rows.indptr)
