"""Products over windows: ranges of a graph's arcs that are resident while the rest lies in host memory or in a file.

A superstep processes the windows that it needs one by one, in the order of the arcs, and reduces their messages into
those already received; then vertices are updated as usual (GTS: M.-S. Kim et al., SIGMOD'16). A row may extend over
several windows.

A `Store` loads pages and yields them as windows: it reads ahead, and caches pages within its budget.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from hpgraph.formats import Bitmask, Frontier, Pages

# Maximum number of pages of a window on the GPU, as in window.cuh.
MAX_PAGES = 64


class Window(NamedTuple):
    """The arcs ``first`` to ``first + len(indices)`` of a matrix by rows."""

    indptr: Any  # int64 array of shape (n + 1,): start of each row of the whole matrix
    indices: Any  # vertex ids of the arcs in the window
    data: Any  # their weights; None for a pattern
    rows: tuple[int, int]  # the first row that has arcs in the window, and the one past the last
    first: int


class Spread(NamedTuple):
    """Chosen rows, on the GPU, whose arcs are read in place: from device memory, or from host memory."""

    pages: Pages
    indptr: Any  # int64, as the next two: offsets of rows, first arcs of pages, offsets of their stored bytes
    first_arc: Any
    offset: Any
    where: Any  # uint64: address of each page's stored bytes
    data: Any  # weights of all arcs: on the device, or host memory under its interface; or None
    chosen: Any  # uint8: 1 for the pages to visit
    bits: Any  # bitmap of the rows; None for all
    more: Any  # bitmap of rows that are not excluded; None for all
    rows: tuple[int, int]
    groups: int  # upper bound of the number of groups of arcs
    damaged: Any  # int32: set to 1 if a page is damaged
    source: str = "spread.cuh"


class Tiles(NamedTuple):
    """Encoded pages on the GPU, to be gathered in tiles of some thousand arcs."""

    pages: Pages
    tables: tuple[Any, ...]  # offsets of rows; of pages first arcs, first and last rows, offsets, first tiles
    data: Any  # the weights, addressed as if those of all arcs were there; or None
    run: tuple[int, int]  # the first page, and the one past the last
    places: np.ndarray  # uint64: address of each page
    tiles: int
    row_before: int  # the first row, if it began before these pages; else -1
    damaged: Any  # int32: set to 1 if a page is damaged


class HubCache(NamedTuple):
    """One neighbour of each vertex that is kept resident: its neighbour of highest degree.

    If the first message suffices, nearly all vertices of a graph with hubs receive it from there, and no arc has to be
    loaded for them.
    """

    neighbour: Any  # vertex ids; -1 if there is none
    more: Bitmask  # vertices with other neighbours


class Survey(NamedTuple):
    """The pages that a set of rows needs from a store."""

    pages: np.ndarray  # that hold their arcs, ascending
    arcs: int
    nbytes: int  # to load; cached pages cost nothing
    seconds: float  # predicted
    counts: np.ndarray | None = None  # on the GPU, int64 of shape (pages, 2): numbers of these rows and of their arcs
    # For each page: on the GPU, whether it is copied as a whole; on the CPU, whether only its needed rows are read.
    copied: np.ndarray | None = None
    rows: Any = None  # Frontier, Bitmask or ids; None for all
    more: Bitmask | None = None  # rows without a bit here are excluded


class Traffic(NamedTuple):
    """Transfers of the windows of one superstep."""

    pages: int  # processed
    wanted: int  # predicted bytes to load: those of the pages, less those cached
    moved: int  # bytes loaded
    predicted: float  # seconds of loading


class Resident(NamedTuple):
    """The resident part of a matrix whose arcs are not in device memory."""

    shape: tuple[int, int]
    indptr: Any  # int64 array of shape (n + 1,): start of each row
    nnz: int
    dtype: np.dtype | None  # of the weights


class Store(Protocol):
    """Pages of one matrix, and a cache of some of them; one class a device."""

    pages: Pages
    hub_cache: HubCache | None
    has_room_for_hub_cache: bool
    window_arcs: int

    @property
    def resident(self) -> Resident:
        """Row offsets, and the number and type of the arcs."""

    def survey(self, rows: Frontier | Bitmask | None, more: Bitmask | None = None, *, spread: bool = False) -> Survey:
        """Survey the pages that rows need; `spread` if they will be visited one by one."""

    def windows(self, wanted: Survey) -> Iterator[Window]:
        """Windows over the pages, ascending; each is valid until the next one is requested."""

    def visits(self, wanted: Survey) -> Iterator[Any]:
        """The surveyed rows, in place, or windows that contain them."""

    def decoded(self, rows: Bitmask | None, pages: slice = slice(None)) -> Iterator[Window]:
        """Windows with the arcs of some rows, or of all, in some pages, as plain ids; other rows are undefined."""

    @property
    def moved(self) -> int:
        """Bytes loaded so far."""

    def end_pass(self) -> None:
        """End an unfinished pass, and wait for its transfers."""

    def close(self) -> None:
        """Free all memory and files."""


class Windows(Protocol):
    """Interface of a device: `hpgraph.kernels.backend.windows`."""

    def components(self, store: Store, hub_cache: HubCache | None, symmetric: bool) -> tuple[int, Any]:
        """The number of weakly connected components, and that of each vertex's component."""

    def least_memory(self, pages: Any) -> int:
        """Least bytes of device memory for a store of these pages."""

    def PageStore(
        self, pages: Any, memory: int | None = None, host_memory: int | None = None, *, shares: int = 1, **options: Any
    ) -> Store:
        """A store of pages within budgets in bytes."""
