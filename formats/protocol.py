"""Interface of matrices that are multiplied by rows: one protocol for all formats, and the formats by name."""

from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from hpgraph.formats.checks import as_value_dtype
from hpgraph.formats.interchange import scipy_of_csr
from hpgraph.formats.storage import Storage


class Tail(NamedTuple):
    """Rows, or the part beyond the slab: row ``rows[i]`` has the entries ``indptr[i]`` to ``indptr[i + 1]``.

    ``rows`` is None for all rows in order, ``data`` for a pattern; ``indptr`` is int64.
    """

    rows: Any
    indptr: Any
    indices: Any
    data: Any


class Division(NamedTuple):
    """The sizes of slab and tail of a matrix in a format, which determine the cost of a product.

    ``slots``: slots of the slab, padding included; ``tail``, ``tail_rows``: entries beyond it, and rows with any.
    """

    slots: int
    tail: int
    tail_rows: int


class RowFormat(Storage):
    """Base class of the formats that products read: a slab, a tail of rows, or both.

    Kernels read any format through its `slab` and `tail`, except formats with their own kernels; on the CPU, and in
    kernels that work by rows, they read `csr`. A new format defines `from_csr`, `to_csr`, `division`, and `slab`,
    `tail` or both, and has a `name` in `ROW_FORMATS`: ``Matrix(format=name)`` multiplies in it. If it is `automatic`,
    products that choose their format by predicted time consider it.
    """

    # The matrix as CSR: the source of the conversion, or its result.
    __slots__ = ("_csr",)

    name: ClassVar[str]
    automatic: ClassVar[bool] = True

    @classmethod
    @abstractmethod
    def from_csr(cls, csr: Any) -> Self:
        """Convert from a `CSR`, on its device; each row keeps its order."""

    @abstractmethod
    def to_csr(self) -> Any:
        """Convert to a `CSR`, each row in its order."""

    @classmethod
    @abstractmethod
    def division(cls, csr: Any) -> Division:
        """The division that `from_csr` would make, without conversion. On CUDA this synchronizes the stream."""

    @property
    def slab(self) -> Any:
        """An `ELL` of the first entries of every row; None if there is no slab."""
        return None

    @property
    def tail(self) -> Tail | None:
        """The rows beyond the slab; None if there is no tail."""
        return None

    @property
    def index_dtype(self) -> np.dtype[Any]:
        """Type of the column ids."""
        part: Any = self.slab or self.tail
        return part.indices.dtype

    @classmethod
    def of(cls, csr: Any) -> Self:
        """`from_csr`, which also keeps the CSR."""
        return cls.from_csr(csr).keep(csr)

    def keep(self, csr: Any) -> Self:
        """Record a CSR of the same matrix."""
        object.__setattr__(self, "_csr", csr)
        return self

    @property
    def csr(self) -> Any:
        """The same matrix as `CSR`: the source of the conversion, else a new one, which is cached."""
        try:
            kept = self._csr  # type: ignore[attr-defined]
        except AttributeError:
            kept = self.to_csr()
            self.keep(kept)
        return kept

    @property
    def pattern(self) -> Self:
        """The matrix without values; itself if it has none."""
        return self if self.dtype is None else type(self).of(self.csr.pattern)

    @classmethod
    def from_scipy(cls, matrix: Any, *, pattern: bool = False, **options: Any) -> Self:
        """Convert any SciPy or CuPy sparse matrix, through CSR; `options` are those of `from_csr`."""
        return cls.from_csr(ROW_FORMATS["csr"].from_scipy(matrix, pattern=pattern), **options)  # type: ignore[arg-type]

    def to_scipy(self, dtype: Any = None, *, copy: bool = False) -> Any:
        """Convert to a SciPy CSR array, or a CuPy CSR matrix, as `CSR.to_scipy`, with copied arrays."""
        return scipy_of_csr(self.to_csr(), dtype)

    def astype(self, dtype: Any) -> Self:
        """The same entries with values of another type; a pattern gets ones. Itself if nothing changes."""
        dtype = as_value_dtype(dtype, "dtype")
        return self if self.dtype == dtype and self.dtype is not None else self._again(self.csr.astype(dtype))

    def _again(self, csr: Any) -> Self:
        """Another matrix in this format; formats with parameters reuse those of this matrix."""
        return type(self).of(csr)


#: The formats that a `Matrix` can be created in, by name.
ROW_FORMATS: dict[str, type[RowFormat]] = {}
