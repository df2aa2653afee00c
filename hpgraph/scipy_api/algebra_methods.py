"""The operations of the algebra as methods of Matrix and Vector; the functions of the same names say what they do."""

from __future__ import annotations

from typing import Any

from hpgraph.algebra.apply import apply
from hpgraph.algebra.assign import assign, subassign
from hpgraph.algebra.elementwise import ewise_add, ewise_mult, ewise_union
from hpgraph.algebra.extract import extract
from hpgraph.algebra.reduce import reduce
from hpgraph.algebra.select import select


class Entrywise:
    """What `hpgraph.Matrix` and `hpgraph.Vector` have in common, in GraphBLAS's names."""

    def ewise_add(self, other: Any, op: Any = "plus", **options: Any) -> Any:
        """The union with another matrix or vector: `hpgraph.ewise_add`.

        Parameters
        ----------
        other, op, **options
            As for `hpgraph.ewise_add`: dtype, mask, complement, accum, replace, out.

        Returns
        -------
        Matrix or Vector

        Examples
        --------
        >>> import hpgraph as hpg
        >>> A = hpg.Matrix([[1, 2], [0, 0]])
        >>> A.ewise_add(A.T, "max").toarray()
        array([[1, 2],
               [2, 0]])
        """
        return ewise_add(self, other, op, **options)

    def ewise_mult(self, other: Any, op: Any = "times", **options: Any) -> Any:
        """The intersection with another matrix or vector: `hpgraph.ewise_mult`.

        Parameters
        ----------
        other, op, **options
            As for `hpgraph.ewise_mult`: dtype, mask, complement, accum, replace, out.

        Returns
        -------
        Matrix or Vector
        """
        return ewise_mult(self, other, op, **options)

    def ewise_union(self, fill: Any, other: Any, other_fill: Any, op: Any = "plus", **options: Any) -> Any:
        """The union with another matrix or vector, a number in the place of an absent entry: `hpgraph.ewise_union`.

        Parameters
        ----------
        fill, other, other_fill, op, **options
            As for `hpgraph.ewise_union`: dtype, mask, complement, accum, replace, out.

        Returns
        -------
        Matrix or Vector
        """
        return ewise_union(self, fill, other, other_fill, op, **options)

    def apply(self, op: Any, **options: Any) -> Any:
        """A function of every entry: `hpgraph.apply`.

        Parameters
        ----------
        op, **options
            As for `hpgraph.apply`: left, right, thunk, dtype, mask, complement, accum, replace, out.

        Returns
        -------
        Matrix or Vector

        Examples
        --------
        >>> import hpgraph as hpg
        >>> hpg.Matrix([[1, 2], [0, 0]]).apply("plus", right=10).toarray()
        array([[11, 12],
               [ 0,  0]])
        """
        return apply(self, op, **options)

    def select(self, op: Any, thunk: Any = 0, **options: Any) -> Any:
        """The entries for which a predicate holds: `hpgraph.select`.

        Parameters
        ----------
        op, thunk, **options
            As for `hpgraph.select`: mask, complement, accum, replace, out.

        Returns
        -------
        Matrix or Vector

        Examples
        --------
        >>> import hpgraph as hpg
        >>> hpg.Vector([3, 1, 2]).select("valuegt", 1).to_indices()
        (array([0, 2], dtype=int32), array([3, 2]))
        """
        return select(self, op, thunk, **options)

    def reduce(self, op: Any = "plus", axis: int | None = None, **options: Any) -> Any:
        """The entries combined, all or by row or column: `hpgraph.reduce`.

        Parameters
        ----------
        op, axis, **options
            As for `hpgraph.reduce`: mask, complement, accum, replace, out.

        Returns
        -------
        Vector or NumPy scalar

        Raises
        ------
        ValueError
            When no monoid or aggregator has the name.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> hpg.Vector([3, 1, 2]).reduce("min")
        np.int64(1)
        >>> hpg.Matrix([[1, 2], [0, 4]]).reduce("plus", axis=0).values
        array([1, 6])
        """
        return reduce(self, op, axis, **options)

    def extract(self, rows: Any = None, columns: Any = None, **options: Any) -> Any:
        """Some rows and columns, or some entries of a vector: `hpgraph.extract`.

        Parameters
        ----------
        rows, columns, **options
            As for `hpgraph.extract`: mask, complement, accum, replace, out.

        Returns
        -------
        Matrix or Vector
        """
        return extract(self, rows, columns, **options)

    def assign(self, A: Any, rows: Any = None, columns: Any = None, **options: Any) -> Any:
        """Overwrite rows and columns, or entries of a vector: `hpgraph.assign`.

        Parameters
        ----------
        A, rows, columns, **options
            As for `hpgraph.assign`: mask, complement, accum, replace.

        Returns
        -------
        Matrix or Vector
            The same one.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> hpg.Matrix([[1, 2], [0, 3]]).assign([[7, 0]], 1, slice(None)).toarray()
        array([[1, 2],
               [7, 0]])
        """
        return assign(self, A, rows, columns, **options)  # type: ignore[type-var]

    def subassign(self, A: Any, rows: Any = None, columns: Any = None, **options: Any) -> Any:
        """Overwrite rows and columns under a mask of these alone: `hpgraph.subassign`.

        Parameters
        ----------
        A, rows, columns, **options
            As for `hpgraph.subassign`: mask, complement, accum, replace.

        Returns
        -------
        Matrix or Vector
            The same one.
        """
        return subassign(self, A, rows, columns, **options)  # type: ignore[type-var]
