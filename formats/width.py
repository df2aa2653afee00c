"""How wide the slab of a HYB matrix should be.

Bell and Garland, "Implementing sparse matrix-vector multiplication on throughput-oriented processors", SC 2009,
section 5: the largest K for which at least one third of the rows hold K or more entries. Three things are added here:
counted in bytes, a width that pads too much is reduced, and a tail that costs more than padding would is dropped; and
where rows are long but few there is no slab, as a thread for each would leave a GPU idle.
"""

from __future__ import annotations

import numpy as np

from hpgraph.formats.lengths import Lengths

MEMORY_LIMIT = 1.5
NO_TAIL_LIMIT = 1.1
# A row up to this long is one thread's work whatever there is; longer ones only if there are so many that every
# thread of a GPU has its own.
SHORT_ROW, MANY_ROWS = 32, 1 << 17


def hyb_width(lengths: Lengths, entry_bytes: int = 4, *, limit: float = MEMORY_LIMIT) -> int:
    """Columns of the slab for rows of the given lengths.

    Parameters
    ----------
    lengths : Lengths
    entry_bytes : int, default 4
        Bytes of one entry: its index, and its value if it has one.
    limit : float, default 1.5
        Most bytes that HYB may take, as a multiple of what CSR takes.

    Returns
    -------
    int
        At least one third of the rows hold that many entries or more, unless padding every row to the longest costs no
        more than 1.1 times what CSR does: then it is the longest row's length, and no tail is left (a road network).
        Fewer where HYB would exceed the limit; 0, which makes everything tail, if nothing else keeps it, or if the
        slab would be more than 32 wide and have fewer than 131,072 rows.

    Notes
    -----
    A slab of width K over n rows takes ``K * n * entry_bytes``; each entry beyond it ``entry_bytes``, and each row that
    has any ``4 + 8`` more, for its id and its offset.

    Examples
    --------
    >>> import numpy as np
    >>> from hpgraph.formats import hyb_width, lengths_of
    >>> hyb_width(lengths_of(np.array([0, 2, 5, 8, 12, 14, 18])))
    4
    >>> hyb_width(lengths_of(np.array([0, 1, 3, 5, 45, 46, 48])))
    2
    """
    length, many = lengths
    rows, entries = int(many.sum()), int(length @ many)
    if rows == 0:
        return 0
    longest = int(length[-1])
    row_bytes = 12 if rows < 2**31 else 16
    csr_bytes = entries * entry_bytes + 8 * (rows + 1)
    if longest * rows * entry_bytes <= min(limit, NO_TAIL_LIMIT) * csr_bytes:
        return longest if _enough(rows, longest) else 0
    # Rows up to each length.
    through = many.cumsum()
    third = int(length[np.searchsorted(through, rows - -(-rows // 3), side="right")])
    # How many rows are longer than 0, 1, ..., third; the entries of slab columns 0..K-1 are the sum of the first K.
    width = np.arange(third + 1)
    longer = rows - np.concatenate(([0], through))[np.searchsorted(length, width, side="right")]
    in_slab = np.concatenate(([0], longer.cumsum()[:-1]))
    hyb_bytes = width * rows * entry_bytes + (entries - in_slab) * entry_bytes + longer * row_bytes
    fits = np.flatnonzero(hyb_bytes <= limit * csr_bytes)
    found = int(fits[-1]) if len(fits) else 0
    return found if _enough(rows, found) else 0


def _enough(rows: int, width: int) -> bool:
    """Whether a slab has rows enough for its width."""
    return width <= SHORT_ROW or rows >= MANY_ROWS
