"""SpMV: the generalized product y<mask> accum= A (+.x) x<active>, over CSR, HYB and blocks of columns.

`pull` computes row by row, or on the GPU by stretches of equally many entries (a segmented scan); `push` multiplies a
sparse vector (SpMSpV), `pull_dense` a dense matrix (SpMM); `sample_dense` is SDDMM. Blocks of columns are propagation
blocking (S. Beamer et al., IPDPS'17) with partial sums instead of bins of messages.
"""

from typing import Any, Protocol

from hpgraph.formats import CSR, Bitmask, RowFormat


class Products(Protocol):
    """Interface of a backend. Lengths and devices are not checked here: callers have done so."""

    def pull(
        self, rows: RowFormat, gather: Any, reduce: Any, state: tuple[Any, ...], out: Any, *,
        active: Bitmask | None = None, mask: Bitmask | None = None, complement: bool = False, accum: Any = None,
        received: Bitmask | None = None,
    ) -> None:  # fmt: skip
        """Reduce the messages of active columns in every allowed row."""

    def push(
        self, rows: CSR, gather: Any, reduce: Any, state: tuple[Any, ...], frontier: Any, out: Any, *,
        mask: Bitmask | None = None, complement: bool = False, accum: Any = None,
    ) -> Any:  # fmt: skip
        """Send messages along the entries of listed rows; returns the targets reached, ascending."""

    def pull_dense(self, rows: RowFormat, gather: Any, reduce: Any, state: tuple[Any, ...], out: Any) -> None:
        """`pull` for each column of a dense operand at once."""

    def multiply_dense(
        self, csr: CSR, weights: Any, x: Any, out: Any, half: str | None = None, order: Any = None
    ) -> None:
        """SpMM of numbers: ``out[i]`` is the sum of ``x[j]`` over the entries (i, j), times ``weights[entry]``.

        Weights of shape (nnz, heads) are each for as many adjacent columns; with `order` an entry has
        ``weights[order[entry]]``. On a GPU all may be halves, as words of 16 bits: `half` is "half" or "bfloat" then,
        and sums are of float32.
        """

    def reduce_messages(self, csr: CSR, message: Any, reduce: Any, state: tuple[Any, ...], rows: Any, out: Any) -> None:
        """Reduce the messages of each row's entries: functions of what columns, entries and rows have.

        `message` is compiled by ``compiled(dtype)`` on the CPU and by ``cpp(names, type)``, lines of C++, on the GPU;
        of each array of `state` its ``kinds`` say whose it is, of a "source", an "edge" or a "target", and its ``over``
        which of them are rows. Values of `csr` are the numbers of entries; where rows are, `rows` has the target of
        each. Arrays of two dimensions have a column for each of `out`, or of one dimension: the sum over columns.
        """

    def sample_dense(self, csr: CSR, x: Any, y: Any, out: Any, half: str | None = None) -> None:
        """SDDMM: ``out[e, h]`` is the dot product of ``x[i, h]`` and ``y[j, h]`` for each entry e, at (i, j)."""

    def sample_sums(self, csr: CSR, x: Any, y: Any, out: Any, half: str | None = None) -> None:
        """``out[e, h]`` is ``x[i, h] + y[j, h]`` for each entry e, at (i, j)."""

    def row_softmax(self, csr: CSR, scores: Any, out: Any, half: str | None = None) -> None:
        """The softmax of each row's entries, head by head, of arrays of shape (nnz, heads)."""

    def softmax_derivative(self, csr: CSR, softmax: Any, gradient: Any, out: Any, half: str | None = None) -> None:
        """The gradient to the scores: `softmax` times the difference of `gradient` from its mean by `softmax`."""

    def extreme_entries(self, csr: CSR, x: Any, extreme: Any, first: Any) -> None:
        """For a row i and a column c the first entry whose value times ``x[j, c]`` is ``extreme[i, c]``; -1 if none."""
