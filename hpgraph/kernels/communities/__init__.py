"""Communities: local moving of vertices between communities, label propagation, and graphs of communities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from hpgraph.formats import CSR
    from hpgraph.kernels.communities.level import Ending, Level


class Communities(Protocol):
    """Interface of a backend."""

    def begin_moves(self, arcs: CSR, weighted: bool, total: float, plain: set[bool]) -> None:
        """Begin to compile local moving and aggregation for a graph and the graphs of its communities.

        ``weighted``: not all weights are 1; ``total``: their sum, perhaps a guess, from which types follow; ``plain``:
        whether moves have none of the options of undirected local moving, or both if some have and some have not.
        """

    def move_vertices(
        self, level: Level, label: Any, resolution: float, seed: int, few: tuple[float, float], *,
        alone: bool = False, limit: int = 0,
    ) -> tuple[Any, Any]:  # fmt: skip
        """Local moving: communities of higher quality, and the number of moves.

        ``few``: shares of all vertices, and of those examined, that end the rounds when fewer move.
        ``alone``: vertices may also leave for communities of their own; ``limit``: most original vertices of a
        community, 0 for any number. On the GPU, reading the number of moves waits for the device.
        """

    def finish_levels(
        self, level: Level, label: Any, quality: float, resolution: float, key: int, ending: Ending, *, alone: bool,
        refines: bool,
    ) -> Any:  # fmt: skip
        """All levels of the Leiden or the Louvain method from one on in one call, None if it is too large for that.

        ``quality``: of the labels, NaN if not known yet; ``refines``: whether this level is refined. Returns the part
        of each vertex by level that is kept, the last of these or this level, the communities of its vertices, and
        their quality.
        """

    def aggregate_communities(
        self, level: Level, label: Any, refining: tuple[float, int] | None = None
    ) -> tuple[Level, Any, Any]:
        """The graph of the communities, or with `refining`, resolution and seed, of connected parts of these.

        Returns also the number of each vertex's community or part in it, and the community of each of its vertices.
        """

    def in_order(self, label: Any) -> Any:
        """Communities of a level from `aggregate_communities`, or unions of them, numbered by their smallest vertices.

        On the GPU they already are, if those of `label` were.
        """

    def represented(self, label: Any) -> Any:
        """Communities, from labels below n, each numbered by its smallest vertex."""

    def weight_between(self, arcs: CSR, label: Any) -> int:
        """Total weight of the arcs between communities."""

    def quality_terms(self, level: Level, label: Any, count: int, between: int | None) -> tuple[int, float]:
        """Total weight between communities, unless known, and over these the sum of shares sent times shares received.

        ``label`` has numbers below `count`; a share is one of the level's total. On the GPU waits for the device.
        """

    def asynchronous_labels(self, level: Level, seed: int, rounds: int, few: float) -> Any:
        """Labels after rounds in which each vertex takes its neighbours' label of largest weight, batch by batch."""

    def first_neighbours(self, arcs: CSR) -> Any:
        """The first neighbour of each vertex; its own number if it has none."""

    def frequent_labels(self, arcs: CSR, label: Any, rounds: int) -> Any:
        """Labels after rounds in which all vertices take their neighbours' most frequent label, the least of equals."""
