"""Communities: vertices that move to the community of a neighbour, and graphs of communities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from hpgraph.formats import CSR
    from hpgraph.kernels.communities.level import Level


class Communities(Protocol):
    """What either backend offers."""

    def move_vertices(self, level: Level, label: Any, resolution: float, seed: int) -> tuple[Any, Any]:
        """Communities of a higher modularity, vertices moving from one to another, and how many moves there were.

        A GPU is waited for by who looks at that number.
        """

    def refine_communities(self, level: Level, within: Any, resolution: float, seed: int) -> Any:
        """Connected parts of given communities."""

    def aggregate_communities(self, level: Level, label: Any) -> tuple[Level, Any]:
        """The graph of the communities, and the number in it of each vertex's."""

    def group_strengths(self, level: Level, label: Any, count: int) -> tuple[Any, Any]:
        """What the vertices of each community send and receive together."""

    def weight_between(self, level: Level, label: Any) -> int:
        """What the arcs between communities weigh."""

    def asynchronous_labels(self, level: Level, seed: int, rounds: int, few: float) -> Any:
        """Labels after all, again and again, took the one of the largest weight around them."""

    def first_neighbours(self, arcs: CSR) -> Any:
        """The first neighbour of each vertex, its own number where it has none."""

    def frequent_labels(self, arcs: CSR, label: Any, rounds: int) -> Any:
        """Labels after rounds in which all take the most frequent around them, the least of equals."""
