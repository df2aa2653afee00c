"""Arguments of a fused loop over supersteps: a traversal or a relaxation, from one source or many."""

from typing import Any, NamedTuple

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.direction import ALPHA, BETA
from hpgraph.kernels.runtime.program import Beginning


class Starts(NamedTuple):
    """Initially active pairs of a vertex and a source, distinct.

    ``vertices`` (array of vertex ids): on the device of the properties; ``source`` (int32 array, ascending): the source
    of each; ``k`` (int): number of sources, including those without an active vertex.
    """

    vertices: Any
    source: Any
    k: int


class Search(NamedTuple):
    """A program, its arcs and properties, and its start.

    ``code`` (ProgramCode or None): none to count the vertices that breadth-first searches reach; ``out`` (CSR): arcs by
    source; ``state`` (tuple of arrays of length n): the properties, changed in place; from many sources of shape (n,
    k), in Fortran order; ``beginnings`` (tuple of Beginning or None): initial value of each property that is not filled
    yet; ``world`` (tuple): parameters; ``sources`` (array of vertex ids, or Starts): initially active vertices;
    ``limit`` (int): limit of the supersteps; ``in_`` (CSR or None): arcs by target, for a traversal; ``alpha, beta``
    (float): thresholds of a traversal's direction; ``forced`` (int): 0 pushes always, 1 pulls always, -1 chooses;
    ``delta, ceiling`` (float or None): of a relaxation: the width of a bucket, beyond which a vertex waits; the value
    beyond which it sends nothing.
    """

    code: Any
    out: CSR
    state: tuple[Any, ...]
    beginnings: tuple[Beginning | None, ...]
    world: tuple[Any, ...]
    sources: Any
    limit: int
    in_: Any = None
    alpha: float = ALPHA
    beta: float = BETA
    forced: int = -1
    delta: float | None = None
    ceiling: float | None = None
