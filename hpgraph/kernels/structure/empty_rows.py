"""Rows of a matrix without entries: in a matrix of in-arcs, the vertices without in-neighbours."""

from hpgraph.formats import CSR, Bitmask, attached


@attached
def empty_rows(rows: CSR) -> Bitmask:
    """Bitmap of the rows without entries; computed once a matrix."""
    return Bitmask.of_empty_rows(rows.indptr)
