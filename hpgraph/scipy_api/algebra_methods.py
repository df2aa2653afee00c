"""The operations of the algebra as methods of Matrix and Vector; the functions of the same names say what they do."""

from typing import Any

from hpgraph.algebra import apply, elementwise, extract, reduce, select
from hpgraph.algebra import assign as assignment


class Entrywise:
    """What `hpgraph.Matrix` and `hpgraph.Vector` have in common, in GraphBLAS's names.

    Each is the function of its name, of which the matrix or vector is the first operand, or what is assigned to.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> A = hpg.Matrix([[1, 2], [0, 0]])
    >>> A.ewise_add(A.T, "max").apply("plus", right=10).toarray()
    array([[11, 12],
           [12,  0]])
    >>> hpg.Vector([3, 1, 2]).reduce("min")
    np.int64(1)
    """

    apply = apply.apply
    assign, subassign = assignment.assign, assignment.subassign
    extract = extract.extract
    reduce = reduce.reduce
    select = select.select

    def ewise_add(self, other: Any, op: Any = "plus", **options: Any) -> Any:
        """The union with another matrix or vector: `hpgraph.ewise_add`, the other parameters of which are `options`."""
        return elementwise.ewise_add(self, other, op, **options)

    def ewise_mult(self, other: Any, op: Any = "times", **options: Any) -> Any:
        """The intersection with another: `hpgraph.ewise_mult`, the other parameters of which are `options`."""
        return elementwise.ewise_mult(self, other, op, **options)

    def ewise_union(self, fill: Any, other: Any, other_fill: Any, op: Any = "plus", **options: Any) -> Any:
        """The union with another, numbers in the place of absent entries: `hpgraph.ewise_union`, with its `options`."""
        return elementwise.ewise_union(self, fill, other, other_fill, op, **options)
