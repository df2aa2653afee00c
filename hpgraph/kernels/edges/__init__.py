"""Programs whose arcs have properties of their own (J. Zhong, B. He, "Medusa", TPDS 25(6), 2014).

Supersteps are those of `hpgraph.kernels.superstep`; what differs is the arc. Kernels hand a program's functions the
arc's *number* in place of its weight, and `hpgraph.kernels.edges.functions` makes of it the edge that the user's
functions see: arrays beside the CSR's values, which all directions of travel find by that one number. By targets, the
numbers are a permutation; nothing is stored twice.

An arc's function changes something, so it must be called for every arc that has a part, once, and for no other.
Products that end early, or compute messages to throw them away, do not serve.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np

    from hpgraph.kernels.edges.program import EdgeProgramCode
    from hpgraph.kernels.superstep import WorkSpace


class EdgePrograms(Protocol):
    """What either backend offers."""

    def EdgeSupersteps(self, code: EdgeProgramCode, state: tuple[Any, ...], settled: None, ids: np.dtype) -> WorkSpace:
        """The work space of one run; `state` is the vertices' properties, then what lies beside the arcs."""

    def ShapedEdgeSupersteps(
        self, code: EdgeProgramCode, state: tuple[Any, ...], settled: None, ids: np.dtype
    ) -> WorkSpace:
        """The same for a program whose properties or messages are tuples of several numbers."""
