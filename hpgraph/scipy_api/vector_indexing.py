"""``v[...]`` and ``v[...] = x``, and a vector as an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.algebra.assign_vector import set_entries
from hpgraph.algebra.dense_operands import as_mask
from hpgraph.algebra.selection import as_axis
from hpgraph.algebra.take import entry_of, take_entries
from hpgraph.containers.vector import VectorStorage
from hpgraph.formats import Bitmask
from hpgraph.formats.checks import index_dtype


class Indexing(VectorStorage):
    """What stands between the brackets after a `Vector`."""

    def __getitem__(self, key: Any) -> Any:
        """Entries of the vector.

        Parameters
        ----------
        key : int, slice, array or sequence of integers or bool, Bitmask, or Vector of bool
            As NumPy takes it. A Vector selects where it is present and true.

        Returns
        -------
        NumPy scalar or Vector
            The value at an int, 0 where the vector is absent; a vector otherwise, absent where this one is.

        Raises
        ------
        IndexError
            When an index is out of range.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> v = hpg.Vector([5, 6, 7])
        >>> int(v[-1]), v[::2].values
        (7, array([5, 7]))
        """
        axis = self._axis(key)
        return entry_of(self, axis) if isinstance(axis, int) else take_entries(self, axis)

    def __setitem__(self, key: Any, x: Any) -> None:
        set_entries(self, self._axis(key), x)

    def _axis(self, key: Any) -> Any:
        if isinstance(key, tuple):
            if len(key) != 1:
                raise IndexError(f"too many indices: a vector has 1 axis, and the index needs {len(key)}")
            (key,) = key
        if key is Ellipsis:
            return range(self.size)
        if isinstance(key, Bitmask | VectorStorage):
            if isinstance(key, VectorStorage) and key.dtype != np.bool_:
                raise IndexError(f"a Vector as an index must be a mask of bool, not {key.dtype}: give v[w != 0]")
            allowed = as_mask(key, "the mask", self.size, self.device)
            assert allowed is not None
            return allowed.to_indices()
        return as_axis(key, self.size, "index", self.device)

    def todense(self) -> Any:
        """The same as `toarray`, as for SciPy's sparse arrays."""
        return self.toarray()

    def resize(self, size: int) -> None:
        """Change the length in place: entries beyond it are dropped, those that come are absent (GrB_Vector_resize).

        Parameters
        ----------
        size : int
            The new length.

        Raises
        ------
        ValueError
            When it is negative.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> v = hpg.Vector([5, 6, 7])
        >>> v.resize(10)
        >>> v.nvals, v.size
        (3, 10)
        """
        ids = index_dtype(size)
        indices, values = self.to_indices()
        kept = indices < size
        self._become(type(self)._of(indices[kept].astype(ids), values[kept], size, self._fill, before=self.format))
