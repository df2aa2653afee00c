"""Products over windows: stretches of a graph's arcs that are resident while the rest lies in host memory or in a file.

A superstep goes through the windows that it needs one after another, in the order of the arcs, and joins what each
brings to the messages that are there already; then it updates, as ever (GTS: M.-S. Kim et al., SIGMOD'16). A row may
begin in one window and go on in the next.

A `Store` brings pages into memory and hands them out as windows: it reads ahead, and keeps what its budget allows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from hpgraph.formats import Bitmask, Frontier
    from hpgraph.kernels.runtime.program import ProgramCode


class Window(NamedTuple):
    """The arcs ``first`` to ``first + len(indices)`` of a matrix by rows.

    Attributes
    ----------
    indptr : int64 array of shape (n + 1,)
        Where each row of the whole matrix begins.
    indices : array of vertex ids
        Those of the arcs in the window.
    data : array or None
        Their weights.
    rows : (int, int)
        The first row that has arcs in the window, and the one past the last.
    first : int
        The first arc.
    """

    indptr: Any
    indices: Any
    data: Any
    rows: tuple[int, int]
    first: int


class Traffic(NamedTuple):
    """What the windows of one superstep took.

    Attributes
    ----------
    pages : int
        Pages that were looked at.
    wanted : int
        Bytes that had to be brought, as predicted: what was looked at less what was kept.
    moved : int
        Bytes that were brought.
    predicted : float
        Seconds that bringing them should take.
    """

    pages: int
    wanted: int
    moved: int
    predicted: float


class Resident(NamedTuple):
    """What is in the device's memory of a matrix whose arcs are not, and what is known of those.

    Attributes
    ----------
    shape : (int, int)
    indptr : int64 array of shape (n + 1,)
        Where each row begins.
    nnz : int
        How many arcs there are.
    dtype : numpy.dtype or None
        Type of their weights.
    """

    shape: tuple[int, int]
    indptr: Any
    nnz: int
    dtype: np.dtype | None


class Store(Protocol):
    """Pages of one matrix, and the memory in which some of them are kept; one class a device."""

    @property
    def resident(self) -> Resident:
        """Offsets, and what is known of the arcs."""

    @property
    def everything(self) -> np.ndarray:
        """All pages."""

    def price(self, pages: np.ndarray) -> tuple[int, float]:
        """Bytes to bring for these pages, and in how many seconds; what is kept costs nothing."""

    def windows(self, pages: np.ndarray) -> Iterator[Window]:
        """The windows over these pages, ascending; each is there until the next one is asked for."""

    @property
    def moved(self) -> int:
        """Bytes brought so far."""

    def wanted(self, rows: Frontier | Bitmask | None) -> np.ndarray:
        """The pages that hold arcs of some rows; None for all."""

    def close(self) -> None:
        """Give back what it holds."""


class WindowSupersteps(Protocol):
    """As `hpgraph.kernels.superstep.Supersteps`, over windows: messages join those that came before."""

    pushes_repeat: bool

    def push(self, window: Window, frontier: Frontier) -> None:
        """Messages along the window's arcs that leave the frontier; its rows are those that send."""

    def pull(self, window: Window, frontier: Frontier) -> None:
        """Messages from the frontier to the window's rows, which gather."""

    def waiting(self) -> Bitmask | None:
        """Who may still receive in this superstep; None for everyone."""

    def apply(self, part: Any, world: tuple[Any, ...], step: int, everyone: bool) -> tuple[Frontier, np.ndarray]:
        """Update who received (or everyone): who changed, and the sums."""


class Windows(Protocol):
    """What either device offers: `hpgraph.kernels.backend.windows`."""

    def WindowSupersteps(
        self, code: ProgramCode, state: tuple[Any, ...], settled: Bitmask | None, ids: np.dtype
    ) -> WindowSupersteps:
        """The work space of one run."""

    def PageStore(self, pages: Any, memory: int | None, host_memory: int | None) -> Store:
        """Where pages are brought and kept, within budgets in bytes."""
