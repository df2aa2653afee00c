"""Layout: repulsive forces between all points, in O(n log n), and steps along sampled arcs.

J. Barnes, P. Hut, "A hierarchical O(N log N) force-calculation algorithm", Nature 324 (1986): distant points act as
one, at their centre of mass. The GPU's tree is that of T. Karras, "Maximizing parallelism in the construction of BVHs,
octrees, and k-d trees", HPG'12: points in Morton order, and each inner node found independently from the codes of its
neighbours. The CPU's nodes act on nodes.

Sampled steps are those of L. McInnes, J. Healy, J. Melville, "UMAP", arXiv:1802.03426 (2018), algorithm 5, with places
of other vertices from the last epoch: an epoch is the same however many threads make it.
"""

from typing import Any, NamedTuple, Protocol

from hpgraph.core.device import array_module
from hpgraph.formats import CSR

# Bits of a cell's coordinate along each axis: two of them fit a signed 64-bit integer.
SIDE_BITS = 31
# Maximum depth of a leaf: the bits of a code, and of an index, which distinguishes equal codes.
DEPTH = 128
# Of ForceAtlas2, Gephi's: the least efficiency, by how much the speed may rise in a step, the most for which efficiency
# rises, and how many times its traction a layout may swing before it slows down at once.
MIN_EFFICIENCY, RISE, FASTEST, WILD = 0.05, 0.5, 1000.0, 2.0
# UMAP's: the most that one step moves a coordinate, and what is added to the squares that repulsion divides by.
FARTHEST, NEAREST = 4.0, 1e-3
# Attraction law of an edge: length, squared length, logarithm of length + 1, or its weight alone.
LINEAR, SQUARE, LOGARITHM, CONSTANT = range(4)


class Sampling(NamedTuple):
    """Parameters of sampled steps: the similarity of ends at distance d is 1 / (1 + a d^2b).

    ``repulsion`` weights the repulsion from ``negatives`` vertices drawn for each arc.
    """

    a: float
    b: float
    repulsion: float
    negatives: int
    seed: int


class Forces(NamedTuple):
    """Parameters of ForceAtlas2, as in `hpgraph.layout.force_atlas2`; `scaling` multiplies the repulsion."""

    scaling: float
    gravity: float
    strong_gravity: bool
    distributed_action: bool


class Layout(Protocol):
    """Interface of a backend."""

    def repulsion(self, points: Any, mass: Any, theta: float) -> Any:
        """Repulsive force on each point: the sum over others of m · m' · (x - x') / |x - x'|²; float64 array (n, 2)."""

    def attraction(self, arcs: CSR, place: Any, law: int = LINEAR, least: float = 1e-300) -> Any:
        """Attraction of each vertex: the sum of weight · factor · (x' - x) over its arcs; float64 array (n, 2).

        The factor is 1, max(length, least), log(1 + length) / length or 1 / length, as `law` says.
        """

    def displaced(self, place: Any, force: Any, share: Any, bound: float, least: float) -> tuple[Any, Any]:
        """Positions after steps along the forces times each vertex's share; and the sum of the squared steps.

        A step is as long as `bound`, or less where the force is weaker than `least`.
        """

    def stress_moves(self, place: Any, pivots: Any, wanted: Any, weight: Any) -> Any:
        """The sum over pivots p of (wanted / |x - x_p| - weight) · (x - x_p) for each point x; float64 array (n, 2).

        ``wanted``, ``weight``: of shape (number of pivots, n). A pivot at the point itself adds nothing.
        """

    def combined(
        self, place: Any, pushed: Any, pulled: Any, mass: Any, before: Any, forces: Forces
    ) -> tuple[Any, Any, Any]:
        """The force on each vertex, its swinging, and the global swinging and traction, given the forces before."""

    def moved(
        self, place: Any, force: Any, swing: Any, totals: Any, pace: Any, tolerance: float
    ) -> tuple[Any, Any]:  # fmt: skip
        """Positions after a step at a global speed, and a local one that decreases with swinging; and the new pace.

        ``totals``: the global swinging and traction; ``pace``: the last global speed and efficiency; ``tolerance``: how
        much swinging is let pass. Each has the type that this backend gives.
        """

    def sampled_epochs(self, place: Any, arcs: CSR, steps: Any, parameters: Sampling) -> Any:
        """Positions, float32, after an epoch for each of ``steps``, the step lengths.

        ``arcs``: both directions of each edge; the data are float32 in [0, 1], the share of epochs that follow an arc.
        Each that is followed pulls its source twice, as a target of its reverse too.
        """


def length_of(vectors: Any) -> Any:
    """The lengths of rows."""
    return array_module(vectors).hypot(vectors[:, 0], vectors[:, 1])
