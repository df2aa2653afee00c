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
    from hpgraph.formats import Bitmask, Frontier, Pages
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


class Spread(NamedTuple):
    """Chosen rows, on the GPU, whose arcs are read where their pages lie: there, or still in host memory.

    Attributes
    ----------
    pages : Pages
    indptr, first_arc, offset : int64 CuPy arrays
        Offsets of rows, and tables of pages.
    where : uint64 CuPy array
        The address of each page's stored bytes.
    data : CuPy array, or what lies in host memory under its interface, or None
        The weights of all arcs.
    chosen : uint8 CuPy array
        1 for the pages that are meant.
    bits, more : CuPy arrays of words, or None
        Which rows, by bits; None for all. Rows without a bit in `more` are left out.
    rows : (int, int)
        Between which rows they are.
    groups : int
        No more groups of arcs there are of them.
    damaged : int32 CuPy array
        Where a page that is none is noted.
    source : str
        The ``.cuh`` file.
    """

    pages: Pages
    indptr: Any
    first_arc: Any
    offset: Any
    where: Any
    data: Any
    chosen: Any
    bits: Any
    more: Any
    rows: tuple[int, int]
    groups: int
    damaged: Any
    source: str = "spread.cuh"


class Tiles(NamedTuple):
    """Pages on the GPU, as they are stored, to be gathered in tiles of some thousand arcs.

    Attributes
    ----------
    pages : Pages
    tables : tuple of int64 CuPy arrays
        Offsets of rows; first arcs, first rows, last rows, offsets of stored bytes and first tiles of pages.
    data : CuPy array, or something with its address and type, or None
        The weights, as if those of all arcs were there.
    run : (int, int)
        The first page, and the one past the last.
    places : uint64 array
        Where each of them lies.
    tiles : int
        How many tiles.
    row_before : int
        The first row, if it began before these pages; else -1.
    damaged : int32 CuPy array
        Where a page that is none is noted.
    """

    pages: Pages
    tables: tuple[Any, ...]
    data: Any
    run: tuple[int, int]
    places: np.ndarray
    tiles: int
    row_before: int
    damaged: Any


class Head(NamedTuple):
    """One neighbour of each vertex that is kept at hand: of all its neighbours the one with the most arcs.

    Where the first message is enough, nearly all vertices of a graph with hubs hear it from there, and no arc has to be
    brought for them.

    Attributes
    ----------
    neighbour : array of vertex ids
        -1 where there is none.
    more : Bitmask
        Who has other neighbours.
    """

    neighbour: Any
    more: Bitmask


class Survey(NamedTuple):
    """What some rows want of a store.

    Attributes
    ----------
    pages : integer array
        The pages that hold arcs of them, ascending.
    arcs : int
        How many arcs.
    nbytes : int
        Bytes to bring: what is kept costs nothing.
    seconds : float
        That this should take.
    counts : int64 array of shape (pages, 2), or None
        On the GPU, of each page, how many of the rows and of their arcs.
    copied : array of bool, or None
        On the GPU, of each page, whether it is brought as a whole; on the CPU, whether only its wanted rows are.
    rows : Frontier, Bitmask, array of ids or None
        Which rows; None for all.
    more : Bitmask or None
        Rows to leave out are not in it.
    """

    pages: np.ndarray
    arcs: int
    nbytes: int
    seconds: float
    counts: np.ndarray | None = None
    copied: np.ndarray | None = None
    rows: Any = None
    more: Bitmask | None = None


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

    pages: Pages
    head: Head | None
    has_room_for_heads: bool
    window_arcs: int

    @property
    def resident(self) -> Resident:
        """Offsets, and what is known of the arcs."""

    def survey(self, rows: Frontier | Bitmask | None, more: Bitmask | None = None, *, spread: bool = False) -> Survey:
        """What some rows want; `spread` where they will be visited one by one."""

    def windows(self, wanted: Survey) -> Iterator[Window]:
        """Windows over the pages, ascending; each is there until the next one is asked for."""

    def visits(self, wanted: Survey) -> Iterator[Any]:
        """The surveyed rows, wherever they lie, or windows with them."""

    def decoded(self, rows: Bitmask | None, pages: slice = slice(None)) -> Iterator[Window]:
        """Windows with the arcs of these rows, or of all, as plain ids on the device; other rows hold anything.

        Of the pages that hold some, `pages` chooses.
        """

    @property
    def moved(self) -> int:
        """Bytes brought so far."""

    def end_pass(self) -> None:
        """End a pass that was left half way; nothing is under way any more."""

    def close(self) -> None:
        """Give back what it holds."""


class WindowWorkSpace(Protocol):
    """As `hpgraph.kernels.superstep.Supersteps`, over windows: messages join those that came before."""

    pushes_repeat: bool
    state: tuple[Any, ...]

    @property
    def takes_one(self) -> bool:
        """Whether the first message of all is enough."""

    @property
    def messages(self) -> Any:
        """What the messages of each vertex have been joined to so far; the identity where there was none."""

    def push(self, part: Any, frontier: Frontier) -> None:
        """Messages along the part's arcs that leave the frontier; its rows are those that send."""

    def pull(self, part: Any, frontier: Frontier) -> None:
        """Messages from the frontier to the part's rows, which gather."""

    def waiting(self) -> Bitmask | None:
        """Who may still receive in this superstep; None for everyone."""

    def heard(self, first: int, last: int) -> tuple[Any, Bitmask]:
        """What a range of vertices has received so far, and who of them has."""

    def join(self, messages: Any, received: Bitmask, first: int) -> None:
        """Join messages to those of the vertices from `first` on."""

    def keep(self, own: Bitmask) -> None:
        """Forget what others than these have received."""

    def apply(self, part: Any, world: tuple[Any, ...], step: int, everyone: bool) -> tuple[Frontier, np.ndarray]:
        """Update who received (or everyone): who changed, and the sums."""


class Windows(Protocol):
    """What either device offers: `hpgraph.kernels.backend.windows`."""

    def WindowSupersteps(
        self, code: ProgramCode, state: tuple[Any, ...], settled: Bitmask | None, ids: np.dtype, everyone: bool = False
    ) -> WindowWorkSpace:
        """The work space of one run."""

    def components(self, store: Store, head: Head | None, symmetric: bool) -> tuple[int, Any]:
        """How many weakly connected components there are, and the number of each vertex's."""

    def least_memory(self, pages: Any) -> int:
        """Bytes of the device that a store of these pages cannot do without."""

    def PageStore(
        self, pages: Any, memory: int | None = None, host_memory: int | None = None, *, shares: int = 1, **options: Any
    ) -> Store:
        """Where pages are brought and kept, within budgets in bytes."""
