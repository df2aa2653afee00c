"""Pages read from an array or a file, whole or only some rows of them, and verified: for either device."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from hpgraph.formats import Pages
from hpgraph.kernels.out_of_core.reading import REQUESTS, Region
from hpgraph.kernels.out_of_core.requests import GAP, Directories, Ranges, requests_for
from hpgraph.kernels.out_of_core.runs import Run


class StoredPages:
    """Stored bytes and values of a matrix's pages, wherever they are.

    ``directories``: where groups of arcs in encoded pages begin, if rows are to be read individually; ``gap``: largest
    gap, in bytes, between two needed rows that is read too.
    """

    def __init__(self, pages: Pages, directories: Directories | None = None, gap: int = GAP) -> None:
        self.pages, self.directories, self._gap = pages, directories, gap
        self._ids = Region(pages.stored)
        self._values = None if pages.values is None else Region(pages.values)
        self.in_file = self._ids.in_file
        # Arrays in memory are verified once, files each time they are read: they may be written to meanwhile.
        self.checked, self._values_checked = np.zeros((2, pages.n_pages), np.bool_)
        self._version = self._ids.version()
        self._readers = ThreadPoolExecutor(REQUESTS, thread_name_prefix="hpgraph-rows")

    def run(self, run: Run, parts: list[tuple[int, int]], buffer: np.ndarray | None) -> np.ndarray:
        """The bytes of a run of pages, read only in `parts`; without a buffer, a view of an array."""
        offset = self.pages.offset
        begin, end = int(offset[run.begin]), int(offset[run.end])
        if buffer is None:
            read = self._ids.read(begin, end, None)
        else:
            wanted = [(int(offset[low]), int(offset[high])) for low, high in parts]
            read = self._read(self._ids, run, begin, end, wanted, buffer)
        for low, high in parts:
            for page in range(low, high):
                stored = read[offset[page] - begin : offset[page + 1] - begin]
                self._check(page, stored)
                if self.directories is not None:
                    self.directories.learn(page, stored)
        return read

    def values(self, run: Run, buffer: np.ndarray | None) -> np.ndarray:
        """The values of a run's entries, as for `run`."""
        pages, first = self.pages, self.pages.first_arc
        assert self._values is not None and pages.dtype is not None
        begin, end = (int(first[page]) * pages.dtype.itemsize for page in run)
        if buffer is None:
            read = self._values.read(begin, end, None)
        else:
            read = self._read(self._values, run, begin, end, [(begin, end)], buffer)
        values = read.view(pages.dtype)
        for page in range(run.begin, run.end):
            self._check(page, values[first[page] - first[run.begin] : first[page + 1] - first[run.begin]], True)
        return values

    def _check(self, page: int, stored: np.ndarray, values: bool = False) -> None:
        checked = self._values_checked if values else self.checked
        if self.in_file or not checked[page]:
            self.pages.check(page, stored, values=values)
            checked[page] = True

    def requests(self, rows: np.ndarray, run: Run) -> tuple[Ranges, list[np.ndarray]]:
        """Requests for some rows of a run, ascending, and for encoded pages the groups of arcs that they cover."""
        if self.directories is not None:
            return self.directories.requests(rows, run.begin, run.end, self._gap)
        wanted = requests_for(self.pages, rows, run.begin, run.end, self._gap)
        begin, end = (int(self.pages.offset[page]) for page in run)
        return Ranges(np.maximum(wanted.begin, begin), np.minimum(wanted.end, end)), []

    def rows(self, run: Run, rows: np.ndarray, buffer: np.ndarray) -> tuple[np.ndarray, Ranges, list[np.ndarray]]:
        """The bytes of a run in which only some rows are read, and `requests`.

        Only of pages in a file that `run` has verified: a file written to since then is refused.
        """
        pages, offset = self.pages, self.pages.offset
        if self._ids.version() != self._version:
            raise pages.damaged(run.begin, "the file has changed since its pages were checked")
        begin, end = int(offset[run.begin]), int(offset[run.end])
        wanted, groups = self.requests(rows, run)
        parts = list(zip(wanted.begin.tolist(), wanted.end.tolist(), strict=True))
        read = self._read(self._ids, run, begin, end, parts, buffer, self._readers)
        if self.directories is not None:
            for page in range(run.begin, run.end):
                self.directories.put(page, read[offset[page] - begin : offset[page + 1] - begin])
        return read, wanted, groups

    def _read(
        self, region: Region, run: Run, begin: int, end: int, parts: list[tuple[int, int]], buffer: np.ndarray,
        threads: Any = None,
    ) -> np.ndarray:  # fmt: skip
        try:
            return region.read_parts(begin, end, parts, buffer, threads)
        except EOFError:
            reason = "the file ends before the page does, or one soon after it"
            raise self.pages.damaged(run.begin, reason) from None

    def close(self) -> None:
        """Stop the threads and close the files."""
        self._readers.shutdown()
        for region in (self._ids, self._values):
            if region is not None:
                region.close()
