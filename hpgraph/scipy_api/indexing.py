"""``A[...]`` and ``A[...] = x``: SciPy's and NumPy's way to write extraction and assignment."""

from collections.abc import Iterator
from typing import Any

from hpgraph.algebra.assign_matrix import set_selected
from hpgraph.algebra.extract import select
from hpgraph.algebra.selection import parse
from hpgraph.algebra.write import without_zeros
from hpgraph.containers.matrix import MatrixStorage
from hpgraph.containers.writable_views import WritableViews
from hpgraph.scipy_api.vector import Vector


class Indexing(WritableViews):
    """What stands between the brackets after a `Matrix`."""

    def __getitem__(self, key: Any) -> Any:
        """Entries, rows, columns and parts, as `scipy.sparse.csr_array` gives them; the key may be a Matrix of bool.

        One dimension makes a `Vector`, in which entries that the matrix does not hold are absent.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> A = hpg.Matrix([[1, 0, 2], [0, 3, 0]])
        >>> int(A[0, 2]), A[1], A[:, [2, 0]].toarray().tolist()
        (2, <Vector of 3, 1 present, int64, cpu>, [[2, 1], [0, 0]])
        """
        return select(self, parse(self._key(key), self.shape, self.device))

    def __setitem__(self, key: Any, x: Any) -> None:
        set_selected(self, parse(self._key(key), self.shape, self.device), x)

    def __iter__(self) -> Iterator[Vector]:
        return (self[row] for row in range(self.shape[0]))

    def _key(self, key: Any) -> Any:
        """A key in which a sparse mask has become the places where it is true."""
        if not (isinstance(key, MatrixStorage) or hasattr(key, "tocsr")):
            return key
        mask = key if isinstance(key, MatrixStorage) else type(self)(key)
        if mask.dtype != bool:
            raise IndexError(f"a sparse index must be a mask of bool, not {mask.dtype}: give A[B != 0]")
        if mask.shape != self.shape:
            raise IndexError(f"bool index 0 has shape {mask.shape} instead of {self.shape}")
        places = without_zeros(mask.csr)
        return places.expand_rows(), places.indices
