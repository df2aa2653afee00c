"""Switches for the kernels' optimizations, so that the effect of each can be measured.

``hpgraph.techniques`` is the one `Techniques` object. Everything is on by default. Results do not depend on it, except
for the rounding of floating-point sums.
"""

import contextlib
import warnings
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from types import MappingProxyType

_NAMES = (
    "adaptive_buckets", "arc_batches", "captured_graph", "column_blocks", "degree_order", "early_exit",
    "early_termination", "fused_supersteps", "group_by", "heavy_pieces", "host_takeover", "hyb", "joint_frontier",
    "lane_refill", "local_block", "row_stretches", "short_queues", "multi_gpu",
    "triangle_filters",
)  # fmt: skip

# To be dropped a minor version later.
_RENAMED = {"side_by_side": "multi_gpu"}


_NONE: frozenset[str] = frozenset()


class Techniques:
    """Which techniques the kernels use: attributes to read, and a context manager that switches them.

    Attributes
    ----------
    adaptive_buckets : bool
        CUDA. Buckets of a search for shortest paths widen while they repeat little work and narrow if they repeat much,
        rather than keep their initial width. CPU: a relaxation without `delta` over weights, as for widest paths,
        chooses a width once it repeats itself, rather than keep one bucket.
    arc_batches : bool
        CUDA. Each lane of a traversal's push has several arcs in flight, rather than one.
    captured_graph : bool
        CUDA. Supersteps over all vertices, as of PageRank, replay a captured CUDA graph, rather than launch kernels.
    column_blocks : bool
        CUDA. Whole products go by blocks of columns, whose part of the vector is in shared memory, if that is predicted
        to be faster.
    degree_order : bool
        CUDA. Triangles are counted along arcs to higher degree if that is predicted to be faster, rather than to higher
        ids.
    early_exit : bool
        CUDA. A vertex that pulls in a traversal stops at the first active in-neighbour, rather than examine all.
    early_termination : bool
        A vertex that pulls in a multi-source traversal stops once it has a message from every source that has not
        reached it, rather than examine all its in-neighbours.
    fused_supersteps : bool
        CUDA. Supersteps over all vertices update a vertex in the kernel that completes its message, rather than in one
        of its own.
    group_by : bool
        If there are more searches than run at once, they are grouped by the hubs that they soon reach, rather than in
        order.
    heavy_pieces : bool
        CUDA. In a traversal, vertices of more than 256 arcs are divided into pieces that many warps share.
    host_takeover : bool
        CUDA. A search whose frontiers stay thin for thousands of supersteps continues on the CPU, once these have taken
        as much time as the transfer.
    hyb : bool
        CUDA. Pulls read HYB, rather than CSR; of a `Matrix` whose format is "auto", its first product decides.
    joint_frontier : bool
        Searches from many sources share one frontier while theirs overlap, rather than run separately.
    lane_refill : bool
        CUDA. A lane that is done with its vertex in a traversal's pull takes the next, rather than wait for its warp.
    local_block : bool
        CUDA. Supersteps of few vertices and arcs run on one block, and traversals that have no others on one cluster of
        blocks, without a grid barrier.
    row_stretches : bool
        CUDA. Whole products over CSR go by ranges of equally many entries if that is predicted to be faster, rather
        than by rows.
    short_queues : bool
        CUDA. Each vertex of a traversal's frontier has a group of lanes if there are enough, rather than arcs that are
        distributed over the warp.
    multi_gpu : bool
        CUDA. Traversals and relaxations of a graph on several GPUs run in kernels that synchronize without the host if
        that is predicted to be faster, rather than on the first GPU or superstep by superstep.
    triangle_filters : bool
        CUDA. Neighbours are looked up in bit filters in shared memory, rather than by binary search alone.

    Raises
    ------
    TypeError
        When a technique that does not exist is switched, or not to True or False.

    Notes
    -----
    A switch holds within the ``with`` block, for this thread or task.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> with hpg.techniques(column_blocks=False):
    ...     hpg.techniques.column_blocks
    False
    >>> hpg.techniques.column_blocks
    True
    """

    def __init__(self) -> None:
        self._switched: ContextVar[Mapping[str, bool]] = ContextVar("hpgraph_techniques", default=MappingProxyType({}))

    @contextlib.contextmanager
    def __call__(self, **switches: bool) -> "Iterator[Techniques]":
        """Switch techniques by name for the block of a ``with`` statement; those not named stay as they are.

        Raises
        ------
        TypeError
            For a technique that does not exist, or a value that is neither True nor False.
        """
        switches = {_current(name): value for name, value in switches.items()}
        for name, value in switches.items():
            if name not in _NAMES:
                raise TypeError(f"there is no technique {name!r}; there are {', '.join(_NAMES)}")
            if not isinstance(value, bool):
                raise TypeError(f"{name} must be True or False, not {value!r}")
        token = self._switched.set({**self._switched.get(), **switches})
        try:
            yield self
        finally:
            self._switched.reset(token)

    def __getattr__(self, name: str) -> bool:
        if name not in _NAMES:
            name = _current(name)
            if name not in _NAMES:
                raise AttributeError(f"there is no technique {name!r}; there are {', '.join(_NAMES)}")
        return self._switched.get().get(name, True)

    @property
    def switched(self) -> frozenset[str]:
        """Names of those that are off."""
        switched = self._switched.get()
        return frozenset([name for name, on in switched.items() if not on]) if switched else _NONE

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *_NAMES]

    def __repr__(self) -> str:
        return f"Techniques({', '.join(f'{name}={getattr(self, name)}' for name in _NAMES)})"


def _current(name: str) -> str:
    """The current name of a technique that was renamed."""
    if name in _RENAMED:
        warnings.warn(f"the technique {name} is called {_RENAMED[name]} now", DeprecationWarning, stacklevel=3)
    return _RENAMED.get(name, name)


techniques = Techniques()
