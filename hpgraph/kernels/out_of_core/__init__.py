"""Products over windows: ranges of a graph's arcs that are resident while the rest lies in host memory or in a file.

A superstep processes the windows that it needs one by one, in the order of the arcs, and reduces their messages into
those already received; then vertices are updated as usual (GTS: M.-S. Kim et al., SIGMOD'16). A row may extend over
several windows.

A `Store` loads pages and yields them as windows: it reads ahead, and caches pages within its budget.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from hpgraph.formats import Bitmask, Frontier, Pages


class Window(NamedTuple):
    """The arcs ``first`` to ``first + len(indices)`` of a matrix by rows.

    ``indptr`` (int64 array of shape (n + 1,)): start of each row of the whole matrix; ``indices`` (array of vertex
    ids): those of the arcs in the window; ``data`` (array or None): their weights; ``rows`` ((int, int)): the first row
    that has arcs in the window, and the one past the last; ``first`` (int): the first arc.
    """

    indptr: Any
    indices: Any
    data: Any
    rows: tuple[int, int]
    first: int


class Spread(NamedTuple):
    """Chosen rows, on the GPU, whose arcs are read in place: from device memory, or from host memory.

    ``pages`` (Pages); ``indptr, first_arc, offset`` (int64 CuPy arrays): offsets of rows, and tables of pages;
    ``where`` (uint64 CuPy array): address of each page's stored bytes; ``data`` (CuPy array, or host memory under its
    interface, or None): the weights of all arcs; ``chosen`` (uint8 CuPy array): 1 for the pages to visit; ``bits,
    more`` (CuPy arrays of words, or None): bitmap of the rows; None for all. Rows without a bit in `more` are excluded;
    ``rows`` ((int, int)): bounds of the rows; ``groups`` (int): upper bound of the number of groups of arcs;
    ``damaged`` (int32 CuPy array): set to 1 if a page is damaged; ``source`` (str): the ``.cuh`` file.
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
    """Encoded pages on the GPU, to be gathered in tiles of some thousand arcs.

    ``pages`` (Pages); ``tables`` (tuple of int64 CuPy arrays): offsets of rows; first arcs, first rows, last rows,
    offsets of stored bytes and first tiles of pages; ``data`` (CuPy array, or something with its address and type, or
    None): the weights, addressed as if those of all arcs were there; ``run`` ((int, int)): the first page, and the one
    past the last; ``places`` (uint64 array): address of each page; ``tiles`` (int): number of tiles; ``row_before``
    (int): the first row, if it began before these pages; else -1; ``damaged`` (int32 CuPy array): set to 1 if a page is
    damaged.
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
    """One neighbour of each vertex that is kept resident: its neighbour of highest degree.

    If the first message suffices, nearly all vertices of a graph with hubs receive it from there, and no arc has to be
    loaded for them.

    ``neighbour`` (array of vertex ids): -1 if there is none; ``more`` (Bitmask): vertices with other neighbours.
    """

    neighbour: Any
    more: Bitmask


class Survey(NamedTuple):
    """What a set of rows needs from a store.

    ``pages`` (integer array): the pages that hold their arcs, ascending; ``arcs`` (int): number of arcs; ``nbytes``
    (int): bytes to load; cached pages cost nothing; ``seconds`` (float): predicted seconds; ``counts`` (int64 array of
    shape (pages, 2), or None): on the GPU, for each page, the number of these rows and of their arcs; ``copied`` (array
    of bool, or None): on the GPU, for each page, whether it is copied as a whole; on the CPU, whether only its needed
    rows are read; ``rows`` (Frontier, Bitmask, array of ids or None): the rows; None for all; ``more`` (Bitmask or
    None): rows without a bit here are excluded.
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
    """Transfers of the windows of one superstep.

    ``pages`` (int): pages processed; ``wanted`` (int): predicted bytes to load: those of the pages, less those cached;
    ``moved`` (int): bytes loaded; ``predicted`` (float): predicted seconds of loading.
    """

    pages: int
    wanted: int
    moved: int
    predicted: float


class Resident(NamedTuple):
    """The resident part of a matrix whose arcs are not in device memory.

    ``shape`` ((int, int)); ``indptr`` (int64 array of shape (n + 1,)): start of each row; ``nnz`` (int): number of
    arcs; ``dtype`` (numpy.dtype or None): type of their weights.
    """

    shape: tuple[int, int]
    indptr: Any
    nnz: int
    dtype: np.dtype | None


class Store(Protocol):
    """Pages of one matrix, and a cache of some of them; one class a device."""

    pages: Pages
    head: Head | None
    has_room_for_heads: bool
    window_arcs: int

    @property
    def resident(self) -> Resident:
        """Row offsets, and the number and type of the arcs."""

    def survey(self, rows: Frontier | Bitmask | None, more: Bitmask | None = None, *, spread: bool = False) -> Survey:
        """What some rows need; `spread` if they will be visited one by one."""

    def windows(self, wanted: Survey) -> Iterator[Window]:
        """Windows over the pages, ascending; each is valid until the next one is requested."""

    def visits(self, wanted: Survey) -> Iterator[Any]:
        """The surveyed rows, in place, or windows that contain them."""

    def decoded(self, rows: Bitmask | None, pages: slice = slice(None)) -> Iterator[Window]:
        """Windows with the arcs of these rows, or of all, as plain ids on the device; other rows are undefined.

        `pages` selects among the pages that hold some.
        """

    @property
    def moved(self) -> int:
        """Bytes loaded so far."""

    def end_pass(self) -> None:
        """End an unfinished pass, and wait for its transfers."""

    def close(self) -> None:
        """Free all memory and files."""


class Windows(Protocol):
    """What either device offers: `hpgraph.kernels.backend.windows`."""

    def components(self, store: Store, head: Head | None, symmetric: bool) -> tuple[int, Any]:
        """The number of weakly connected components, and that of each vertex's component."""

    def least_memory(self, pages: Any) -> int:
        """Least bytes of device memory for a store of these pages."""

    def PageStore(
        self, pages: Any, memory: int | None = None, host_memory: int | None = None, *, shares: int = 1, **options: Any
    ) -> Store:
        """A store of pages within budgets in bytes."""
