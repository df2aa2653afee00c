"""The set of active vertices, in whichever form its holder needs: everyone, a list, or bits."""

from __future__ import annotations

from typing import Any

from hpgraph.formats.bitmask import Bitmask


class Frontier:
    """Who is active in a superstep.

    A frontier is sparse (a list of ids, for top-down supersteps) or dense (bits, for bottom-up ones), as in Ligra
    (J. Shun, G. Blelloch, PPoPP'13), and converts itself when it is asked for the other form.

    Parameters
    ----------
    n : int
        Number of vertices of the graph.
    ids : array of vertex ids, optional
        The active vertices, each once.
    bits : Bitmask, optional
        The same as bits. At least one of the two is given, unless everyone is active.
    size : int, optional
        How many there are, where that is known and only `bits` are given.
    arcs : int, optional
        How many arcs leave them, where that is known.
    device : {"cpu", "cuda"}
        Where everyone's ids or bits are made, if they are asked for.

    Attributes
    ----------
    n, size : int
    arcs : int or None
    everyone : bool

    Examples
    --------
    >>> import numpy as np
    >>> frontier = Frontier(4, ids=np.array([2, 0]))
    >>> frontier.size, frontier.bits.to_indices().tolist(), frontier.everyone
    (2, [0, 2], False)
    """

    def __init__(
        self, n: int, ids: Any = None, bits: Bitmask | None = None, size: int | None = None, arcs: int | None = None,
        device: str = "cpu",
    ) -> None:  # fmt: skip
        self.n = n
        self.everyone = ids is None and bits is None
        self.arcs = arcs
        self._ids, self._bits, self._device = ids, bits, device
        if size is None:
            size = n if self.everyone else len(ids) if ids is not None else bits.count()  # type: ignore[union-attr]
        self.size = size

    @property
    def ids(self) -> Any:
        """The active vertices as a list of ids; bits are turned into one when first asked for."""
        if self._ids is None:
            self._ids = self.bits.to_indices()
        return self._ids

    @property
    def bits(self) -> Bitmask:
        """The active vertices as bits; a list is turned into bits when first asked for."""
        if self._bits is None:
            self._bits = (
                Bitmask.full(self.n, device=self._device) if self.everyone else Bitmask.from_indices(self._ids, self.n)
            )
        return self._bits

    def out_arcs(self, indptr: Any) -> int:
        """How many arcs leave the active vertices; O(its size), and waits for the GPU where it is not known yet.

        Parameters
        ----------
        indptr : array, shape (n + 1,)
            Where each vertex's arcs begin.

        Returns
        -------
        int
        """
        if self.arcs is None:
            if self.everyone:
                self.arcs = int(indptr[-1]) if self.n else 0
            else:
                self.arcs = int((indptr[self.ids + 1] - indptr[self.ids]).sum())
        return self.arcs

    def __repr__(self) -> str:
        return f"<Frontier: {'everyone' if self.everyone else self.size} of {self.n}>"
