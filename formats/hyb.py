"""HYB: the first entries of every row in an ELL slab, the rest of long rows in a tail. The format for pulls.

Bell and Garland, "Implementing sparse matrix-vector multiplication on throughput-oriented processors", SC 2009. Their
tail is a COO matrix sorted by row; here its row column is run-length compressed into the rows that have a tail and
their offsets, so that a kernel can skip a row's tail or leave it early.

Memory, for n rows, a slab of K columns and a tail of m entries in t rows: ``K * n`` indices for the slab, padding
included; ``m`` indices, ``t`` row ids and ``t + 1`` offsets of 8 bytes for the tail; as many values as indices, if
there are any. CSR takes nnz indices and n + 1 offsets. So HYB is smaller than CSR if rows are short and of similar
length (a grid: no offsets at all), and otherwise larger by its padding, by `limit` of `hyb_width` at most.
"""

from dataclasses import InitVar, dataclass
from typing import Any, ClassVar, Self

import numpy as np

from hpgraph.core.device import anywhere, check_memory
from hpgraph.formats.checks import as_ids, as_offsets, as_values
from hpgraph.formats.csr import CSR
from hpgraph.formats.ell import ELL, fill_tail, join_slab_and_tail
from hpgraph.formats.lengths import Lengths, lengths_of
from hpgraph.formats.protocol import Division, RowFormat, Tail
from hpgraph.formats.storage import backend

MEMORY_LIMIT = 1.5
NO_TAIL_LIMIT = 1.1
# A row up to this length is always processed by one thread; longer ones only if they suffice for a GPU's threads.
SHORT_ROW, MANY_ROWS = 32, 1 << 17


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False, repr=False)
class HYB(RowFormat):
    """An ELL slab and a tail sorted by row.

    Parameters
    ----------
    shape : (int, int)
    ell : ELL
        The slab, of the same shape; its width may be 0.
    tail_rows : array of integers, shape (t,)
        Rows that have entries in the tail, ascending.
    tail_indptr : array of integers, shape (t + 1,)
        Offsets of these rows in the tail; stored as int64.
    tail_indices : array of integers, shape (m,)
        Columns of the tail's entries.
    tail_data : array, shape (m,), optional
        Values of the tail's entries; None for a pattern.
    validate, copy : bool, default True
        As for `Storage`, also for errors.

    Examples
    --------
    >>> from hpgraph.formats import CSR, HYB
    >>> hyb = HYB.from_csr(CSR((3, 3), [0, 3, 4, 5], [0, 1, 2, 1, 2]), width=1)
    >>> hyb.ell.indices, hyb.tail_row, hyb.tail_indices
    (array([[0, 1, 2]], dtype=int32), array([0, 0], dtype=int32), array([1, 2], dtype=int32))
    """

    shape: tuple[int, int]
    ell: ELL
    tail_rows: Any
    tail_indptr: Any
    tail_indices: Any
    tail_data: Any = None
    validate: InitVar[bool] = True
    copy: InitVar[bool] = True

    name: ClassVar[str] = "hyb"

    def __post_init__(self, validate: bool, copy: bool) -> None:
        if not validate:
            return
        if tuple(self.shape) != self.ell.shape:
            raise ValueError(f"shape must be the slab's, {self.ell.shape}, not {self.shape}")
        rows, columns = self.ell.shape
        ids = self.ell.indices.dtype
        tail_rows = as_ids(self.tail_rows, "tail_rows", rows, "row").astype(ids, copy=False)
        tail_indices = as_ids(self.tail_indices, "tail_indices", columns, "column").astype(ids, copy=False)
        if anywhere(tail_rows[1:] <= tail_rows[:-1]):
            raise ValueError("tail_rows must ascend: list each row that has a tail once")
        self._take(
            self.ell.shape, copy, tail_rows=tail_rows,
            tail_indptr=as_offsets(self.tail_indptr, "tail_indptr", len(tail_rows), len(tail_indices)),
            tail_indices=tail_indices, tail_data=as_values(self.tail_data, "tail_data", tail_indices.shape),
        )  # fmt: skip
        # As strings, since NumPy treats None as float64 when it compares types.
        if str(self.ell.dtype) != str(None if self.tail_data is None else self.tail_data.dtype):
            raise ValueError(
                f"tail_data must have values of the slab's type, {self.ell.dtype}, or be None where the slab has none"
            )

    @property
    def nnz(self) -> int:
        """Number of stored entries, including explicit zeros, without padding."""
        return self.ell.nnz + len(self.tail_indices)

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """Type of the values; None for a pattern."""
        return self.ell.dtype

    @property
    def slab(self) -> ELL:
        """`ell`."""
        return self.ell

    @property
    def tail(self) -> Tail:
        """The rows that continue beyond the slab."""
        return Tail(self.tail_rows, self.tail_indptr, self.tail_indices, self.tail_data)

    @property
    def width(self) -> int:
        """Number of slots of each row in the slab, K."""
        return self.ell.width

    @property
    def padding_ratio(self) -> float:
        """Stored slots of slab and tail per entry."""
        return (self.ell.indices.size + len(self.tail_indices)) / self.nnz if self.nnz else 1.0

    @property
    def tail_row(self) -> Any:
        """The row of each entry of the tail, as in COO; computed at each call."""
        rows = backend(self.tail_rows).expand_rows(self.tail_indptr, len(self.tail_indices), self.tail_rows.dtype)
        return self.tail_rows[rows]

    @property
    def pattern(self) -> "HYB":
        """The matrix without values, over the same ids."""
        ell = ELL(self.shape, self.ell.indices, None, nnz=self.ell.nnz, validate=False)
        tail = self.tail_rows, self.tail_indptr, self.tail_indices
        return HYB(self.shape, ell, *tail, None, validate=False).keep(self.csr.pattern)

    @classmethod
    def division(cls, csr: CSR) -> Division:
        """A slab of `hyb_width` columns, and a tail of the rest of long rows."""
        length, rows = lengths = lengths_of(csr.indptr)
        width = hyb_width(lengths, csr.entry_bytes)
        longer = length > width
        return Division(width * csr.shape[0], int((length - width)[longer] @ rows[longer]), int(rows[longer].sum()))

    @classmethod
    def from_csr(cls, csr: CSR, width: int | None = None) -> Self:
        """Convert from CSR, on its device; each row keeps its order, with its first `width` entries in the slab.

        ``width``: `hyb_width` by default. Peak memory beside result and input: about 30 bytes a row; a
        DeviceMemoryError is raised if memory does not suffice. On CUDA this synchronizes the stream, to read the width
        and the length of the tail.
        """
        rows, entries, one = csr.shape[0], csr.nnz, csr.entry_bytes
        if width is None:
            width = hyb_width(lengths_of(csr.indptr), one)
        elif width < 0:
            raise ValueError(f"width must not be negative, not {width}")
        slots = width * rows
        # The longest possible tail with such a slab has every entry.
        check_memory((slots + entries) * one + 28 * rows, f"a HYB matrix of {slots} slots and a tail", csr.device)
        tail_rows, tail_indptr, tail_indices, tail_data = fill_tail(csr.indptr, csr.indices, csr.data, width)
        slab, slab_data = backend(csr.indptr).fill_slab(csr.indptr, csr.indices, csr.data, width)
        ell = ELL(csr.shape, slab, slab_data, nnz=entries - len(tail_indices), validate=False)
        return cls(csr.shape, ell, tail_rows, tail_indptr, tail_indices, tail_data, validate=False)

    def to_csr(self) -> CSR:
        """Convert to CSR, each row with its slots, then its tail: the argument of `from_csr`."""
        one = self.tail_indices.itemsize + (0 if self.tail_data is None else self.tail_data.itemsize)
        check_memory(self.nnz * one + 24 * self.shape[0], "a CSR matrix from HYB", self.device)
        indptr, indices, data = join_slab_and_tail(
            self.ell.indices, self.ell.data, self.tail_rows, self.tail_indptr, self.tail_indices, self.tail_data
        )
        return CSR(self.shape, indptr, indices, data, validate=False)

    def _again(self, csr: CSR) -> "HYB":
        """Another matrix, with a slab of the same width."""
        return HYB.from_csr(csr, self.width).keep(csr)


def hyb_width(lengths: Lengths, entry_bytes: int = 4, *, limit: float = MEMORY_LIMIT) -> int:
    """Width of the slab for rows of the given lengths.

    Parameters
    ----------
    lengths : Lengths
    entry_bytes : int, default 4
        Bytes of one entry: its index, and its value if any.
    limit : float, default 1.5
        Maximum size of HYB, as a multiple of the size of CSR.

    Returns
    -------
    int
        As in Bell and Garland, section 5, at least one third of the rows have that many entries or more. If padding
        every row to the longest takes no more than 1.1 times the memory of CSR, it is that row's length, without a
        tail (a road network). It is smaller if HYB would exceed the limit; 0, for a tail only, if no other width
        satisfies it, or if the slab would be more than 32 wide and have fewer than 131,072 rows, since a thread for
        each would leave a GPU idle.

    Notes
    -----
    A slab of width K over n rows takes ``K * n * entry_bytes``; each entry beyond it ``entry_bytes``, and each row with
    such entries ``4 + 8`` more, for its id and its offset.

    Examples
    --------
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
    # Number of rows up to each length.
    through = many.cumsum()
    third = int(length[np.searchsorted(through, rows - -(-rows // 3), side="right")])
    # Number of rows longer than 0, 1, ..., third; the entries of slab columns 0..K-1 are the sum of the first K.
    width = np.arange(third + 1)
    longer = rows - np.concatenate(([0], through))[np.searchsorted(length, width, side="right")]
    in_slab = np.concatenate(([0], longer.cumsum()[:-1]))
    hyb_bytes = width * rows * entry_bytes + (entries - in_slab) * entry_bytes + longer * row_bytes
    fits = np.flatnonzero(hyb_bytes <= limit * csr_bytes)
    found = int(fits[-1]) if len(fits) else 0
    return found if _enough(rows, found) else 0


def _enough(rows: int, width: int) -> bool:
    """Whether a slab has enough rows for its width."""
    return width <= SHORT_ROW or rows >= MANY_ROWS
