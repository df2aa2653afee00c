"""The set of active vertices, as a list, as bits, or implicitly all vertices."""

from typing import Any

from hpgraph.formats.bitmask import Bitmask


class Frontier:
    """The active vertices of a superstep.

    A frontier is sparse (a list of ids, for top-down supersteps) or dense (bits, for bottom-up ones), as in Ligra (J.
    Shun, G. Blelloch, PPoPP'13), and converts itself to the other form on request. Its attributes are `n`, `size`,
    `arcs` (or None) and `all_active`.

    Parameters
    ----------
    n : int
        Number of vertices of the graph.
    ids : array of vertex ids, optional
        The active vertices, each once.
    bits : Bitmask, optional
        The active vertices as bits. At least one of the two is required, unless all vertices are active.
    size, arcs : int, optional
        Number of active vertices, if only `bits` are given, and of their out-arcs, if known.
    device : {"cpu", "cuda"}
        Device of ids or bits made on request, if all vertices are active.

    Examples
    --------
    >>> import numpy as np
    >>> frontier = Frontier(4, ids=np.array([2, 0]))
    >>> frontier.size, frontier.bits.to_indices().tolist(), frontier.all_active
    (2, [0, 2], False)
    """

    def __init__(
        self, n: int, ids: Any = None, bits: Bitmask | None = None, size: int | None = None, arcs: int | None = None,
        device: str = "cpu",
    ) -> None:  # fmt: skip
        self.n = n
        self.all_active = ids is None and bits is None
        self.arcs = arcs
        self._ids, self._bits, self._device = ids, bits, device
        if size is None:
            size = n if self.all_active else len(ids) if ids is not None else bits.count()  # type: ignore[union-attr]
        self.size = size

    @property
    def ids(self) -> Any:
        """The active vertices as a list of ids; converted from bits on first access."""
        if self._ids is None:
            self._ids = self.bits.to_indices()
        return self._ids

    @property
    def bits(self) -> Bitmask:
        """The active vertices as bits; converted from the list on first access."""
        if self._bits is None:
            full = self.all_active
            self._bits = Bitmask.full(self.n, self._device) if full else Bitmask.from_indices(self._ids, self.n)
        return self._bits

    def out_arcs(self, indptr: Any) -> int:
        """Number of the members' out-arcs, by the `indptr` of a matrix; synchronizes the GPU if not yet known."""
        if self.arcs is None:
            if self.all_active:
                self.arcs = int(indptr[-1]) if self.n else 0
            else:
                self.arcs = int((indptr[self.ids + 1] - indptr[self.ids]).sum())
        return self.arcs

    def __repr__(self) -> str:
        return f"<Frontier: {'all' if self.all_active else self.size} of {self.n}>"
