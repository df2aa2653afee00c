"""Conversion of graph files to ``.hpg`` within a memory budget, by external sorting of the arcs."""

import dataclasses
import os
import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hpgraph.containers.adjacency import with_reverses
from hpgraph.core.config import config
from hpgraph.core.number import whole
from hpgraph.core.progress import progress_bar
from hpgraph.formats.checks import as_value_dtype
from hpgraph.formats.duplicates import Duplicates, merging, warn_unlike
from hpgraph.io.arc_sorter import ArcSorter
from hpgraph.io.arc_stream import ArcStream, Block
from hpgraph.io.arcs import Array
from hpgraph.io.files import stream
from hpgraph.io.hpg_layout import Header
from hpgraph.io.hpg_writer import GraphWriter, PageCutter, check_compression
from hpgraph.io.memory import Budget
from hpgraph.io.remote import given_path, here
from hpgraph.io.replace import check_writable, replacing
from hpgraph.kernels.pages import ARCS_PER_PAGE
from hpgraph.semiring.counter_random import mixed

_MAX_IDS = 1 << 32
# Bytes that a conversion takes besides sorting: pieces of text, a page before and after encoding.
_FIXED_BYTES = 24 << 20


def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    memory: int | str | None = None,
    directed: bool | None = None,
    transpose: bool = False,
    duplicates: Duplicates | None = None,
    compression: str | None = None,
    arcs_per_page: int = ARCS_PER_PAGE,
    comments: str | Sequence[str] | None = ("#", "%"),
    delimiter: str | None = None,
    n_vertices: int | None = None,
    names: bool | None = None,
    progress: bool | None = None,
) -> None:
    r"""Make an ``.hpg`` file of a graph that need not fit into memory.

    The arcs of the source are read once, some at a time, sorted in runs that are spilled beside the target, and joined.
    The target is there whole or not at all; a conversion that was killed leaves a hidden ``.NAME.XXXXXXXX.tmp`` beside
    it and nothing else, and can be started again.

    Parameters
    ----------
    source : str or os.PathLike
        What `hpgraph.read` reads. Matrix Market files, edge lists and tables (``.parquet``, ``.arrow``, ``.feather``)
        are read some arcs at a time; others must fit.
    target : str or os.PathLike
        The ``.hpg`` file.
    memory : int or str, optional
        Bytes to work in, or an amount such as ``"2GiB"``; three quarters of what is free by default. Offsets of rows,
        8 bytes a vertex, and names must fit, arcs need not. The interpreter and its libraries are not counted. Arrays
        that are stored with their zeros, by blocks or by diagonals, in Matrix Market and ``.npz`` files, have to fit,
        too.
    directed : bool, optional
        False adds the reverse of each arc; by default as the file says, as for `hpgraph.read`. Where that is whether an
        array is symmetric, hashes are compared, which err once in 2¹²⁸ random graphs.
    transpose : bool, default False
        Whether to turn all arcs round.
    duplicates : {"min", "max", "sum", "first", "error"}, optional
        The weight of arcs with the same ends, as for `Graph`. By default the least.
    compression : {"gaps", "none"}, optional
        How ids are stored; gaps by default, if there are fewer than 2³¹ vertices.
    arcs_per_page : int, optional
        A page holds no more.
    comments, delimiter, n_vertices, names, progress
        As for `hpgraph.read`.

    Raises
    ------
    FileFormatError
        Where the source does not hold what its suffix says.
    DeviceMemoryError
        When the memory does not suffice; with what would.
    MissingExtraError
        When a Parquet or Arrow file needs pyarrow.
    OSError
        Where a file cannot be read or written, or the disk is full; the target is what it was.
    ValueError, TypeError
        For an unknown suffix, or an argument that does not fit; where an edge is given twice and `duplicates` is
        "error"; or for "sum" of a matrix that is not symmetric and yet to be undirected, which `hpgraph.read` adds up.

    Warns
    -----
    DuplicateEdgesWarning
        When an edge is given with unlike weights, and `duplicates` is left out.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "roads.csv").write_text("from,to,km\nBonn,Mainz,170\nMainz,Trier,160\n")
    >>> hpg.convert(folder / "roads.csv", folder / "roads.hpg", directed=False)
    >>> hpg.read(folder / "roads.hpg")
    Graph: 3 vertices, 4 arcs, undirected, int64 weights, cpu, named 'Bonn', 'Mainz', 'Trier'
    """
    place = given_path(target)
    if place.suffix.lower() != ".hpg":
        raise ValueError(f"{place}: graphs are converted to .hpg; hpgraph.write(hpgraph.read(...)) writes others")
    merging(duplicates, "an .hpg file")
    whole(arcs_per_page, "arcs_per_page", least=1)
    check_compression(compression)
    check_writable(place)
    budget = Budget.of(memory)
    budget.check(_FIXED_BYTES + (1 << 20), "a conversion")
    with here(source) as given, replacing(place) as file:
        arcs = stream(given, progress, budget, comments, delimiter, n_vertices, names)
        work = _Conversion(place, arcs, budget, duplicates)
        work.read(None if directed is None else bool(directed), bool(transpose))
        header = Header(work.n, 0, False, None, check_compression(compression, work.n))
        writer = GraphWriter(file, header)
        work.write(writer, arcs_per_page, progress)
        writer.finish()
    if duplicates is None and work.unlike:
        warn_unlike()


class _Conversion:
    """The arcs of a stream, sorted, and the properties of their graph."""

    def __init__(self, target: Path, arcs: ArcStream, budget: Budget, duplicates: Duplicates | None) -> None:
        self._target, self._arcs, self._budget, self._duplicates = target, arcs, budget, duplicates
        self.n = 0
        self._ids: Array | None = None
        self._placed = self._unsaid = self._to_agree = self.unlike = False
        self._weight_dtype: np.dtype[Any] | None = None
        self._sorter = self._new_sorter()
        self.reversed: ArcSorter | None = None

    def _new_sorter(self) -> ArcSorter:
        return ArcSorter(self._target.parent, self._room // 3, self._duplicates)

    @property
    def _room(self) -> int:
        """Bytes for sorting: of the arcs, of their reverses, and of those being written to pages."""
        return self._budget.nbytes - _FIXED_BYTES - 16 * (self.n + 1)

    def read(self, directed: bool | None, transpose: bool) -> None:
        """Read the arcs and sort them; determine the number of vertices, and whether ids are names."""
        arcs, used = self._arcs, _Used(self._budget.nbytes // 16)
        directed = arcs.directed if directed is None else directed
        # A matrix has both directions already: if duplicates are summed or refused, its symmetry is checked instead.
        self._to_agree = directed is False and arcs.mirrored and self._duplicates in ("sum", "error")
        both, self._unsaid = directed is False and not self._to_agree, directed is None or self._to_agree
        if not self._add_all(arcs.blocks(), used, both, transpose):
            # Ids beyond 32 bits: collect the distinct ids, then read the arcs again with ranks in place of ids.
            self._ids, self._placed = self._all_ids(), True
            self._sorter, used = self._new_sorter(), _Used(0)
            self._add_all(map(self._by_place, arcs.blocks()), used, both, transpose)
        elif arcs.names is None and arcs.relabel is not False:
            sparse = True if arcs.relabel else used.sparse(self._sorter.count)
            found = self._sorter.ids() if sparse is not False else None
            if found is not None and (sparse or 2 * len(found) < used.largest + 1):
                self._ids = found
        self.n = used.largest + 1 if arcs.n_vertices is None else arcs.n_vertices
        if self._ids is not None:
            self.n = len(self._ids)
        needed = _FIXED_BYTES + (1 << 20) + (16 if self._ids is None else 40) * (self.n + 1)
        self._budget.check(needed, f"converting a graph of {self.n} vertices")
        self._sorter.limit(self._room // 3)
        if not both:
            self.reversed = self._new_sorter()

    def _add_all(self, blocks: Iterator[Block], used: "_Used", both: bool, transpose: bool) -> bool:
        """Sort the arcs of some blocks; False where ids turn out to be names that take more than 32 bits."""
        arcs = self._arcs
        for first, second, weight in blocks:
            if weight is None and self._duplicates == "sum":
                weight = np.ones(len(first), np.int64)
            if weight is not None:
                self._weight_dtype = as_value_dtype(weight.dtype, "weights", real=True)
            if not len(first):
                continue
            least, most = int(min(first.min(), second.min())), int(max(first.max(), second.max()))
            if arcs.relabel is not False and (most >= _MAX_IDS or (least < 0 and arcs.relabel)):
                return False
            if least < 0 or (arcs.n_vertices is not None and most >= arcs.n_vertices):
                raise self._fault(least if least < 0 else most)
            if arcs.relabel is False:
                self._budget.check(_FIXED_BYTES + 16 * (most + 1), f"converting a graph of {most + 1} vertices")
                if most >= _MAX_IDS:
                    raise ValueError(f"vertex {most}: graphs of up to 2**32 vertices are converted")
            used.add(first, second, most)
            if transpose:
                first, second = second, first
            self._sorter.add(*(with_reverses(first, second, weight) if both else (first, second, weight)))
        return True

    def _fault(self, vertex: int) -> ValueError:
        found = None if self._arcs.fault is None else self._arcs.fault()
        return ValueError(f"vertex {vertex} is none of the file's") if found is None else found

    def _all_ids(self) -> Array:
        found, waiting, held = np.empty(0, np.int64), [np.empty(0, np.int64)], 0
        for first, second, _ in self._arcs.blocks():
            if self._arcs.relabel is None and first.size and int(min(first.min(), second.min())) < 0:
                raise self._fault(-1)
            waiting += [np.unique(first), np.unique(second)]
            held += len(waiting[-1]) + len(waiting[-2])
            if held > max(len(found), 1 << 18):
                found, waiting, held = np.unique(np.concatenate([found, *waiting])), [], 0
                self._budget.check(48 * len(found), f"the names of {len(found)} vertices and more")
        return np.unique(np.concatenate([found, *waiting]))

    def _by_place(self, block: Block) -> Block:
        assert self._ids is not None
        first, second, weight = block
        return np.searchsorted(self._ids, first), np.searchsorted(self._ids, second), weight

    def write(self, writer: GraphWriter, arcs_per_page: int, progress: bool | None) -> None:
        """Write the arcs in order, by source and then, unless each has its reverse, by target, and the names."""
        show = config.show_progress() if progress is None else bool(progress)
        folder, reverse = self._target.parent, self.reversed
        mirror = _Mirror() if reverse is not None and self._unsaid else None
        with progress_bar(
            total=self._sorter.count, desc=f"writing {self._target.name}", unit="arcs", unit_scale=True,
            disable=not show, delay=1.0,
        ) as bar:  # fmt: skip
            out = PageCutter(writer, "out", arcs_per_page, folder, self._weight_dtype)
            # Ranks ascend with the ids, so that the order is kept.
            ranked, arcs = self._ids is None or self._placed, self._sorter.sorted()
            for row, col, weight in arcs if ranked else map(self._by_place, arcs):
                out.add(row, col, weight)
                if reverse is not None:
                    reverse.add(col, row, weight)
                if mirror is not None:
                    mirror.add(row, col, weight)
                bar.update(len(row))
            dtype, count = out.finish(), out.count
            self.unlike = self._sorter.unlike
            self._sorter = self._new_sorter()
            directed = reverse is not None and (mirror is None or not mirror.agrees)
            if directed and self._to_agree:
                raise ValueError(
                    f"{self._target}: arcs lack their reverse, or have another weight, and with directed=False and "
                    f'duplicates="{self._duplicates}" what becomes of them is not known before all are read: '
                    "hpgraph.write(hpgraph.read(...), ...) does that in memory"
                )
            if reverse is not None and directed:
                bar.reset(count)
                reverse.limit(self._room // 2)
                into = PageCutter(writer, "in", arcs_per_page, folder, self._weight_dtype)
                for row, col, weight in reverse.sorted():
                    into.add(row, col, weight)
                    bar.update(len(row))
                into.finish()
        writer.header = dataclasses.replace(writer.header, n_arcs=count, weight_dtype=dtype, directed=directed)
        if self._ids is not None and not np.array_equal(self._ids, np.arange(len(self._ids))):
            writer.names(self._ids, self._target)
        elif self._arcs.names is not None:
            writer.names(self._arcs.names(), self._target)


# Random keys: with known ones, an asymmetric matrix with equal sums could be constructed.
_KEYS = secrets.randbits(64), secrets.randbits(64)


class _Mirror:
    """Whether arcs are the same as their reverses, by sums of hashes: D. Clarke et al., ASIACRYPT 2003."""

    def __init__(self) -> None:
        self._excess = [0, 0]

    def add(self, row: Array, col: Array, weight: Array | None) -> None:
        """Hash some arcs and their reverses."""
        value = np.zeros(len(row), np.uint64)
        if weight is not None:
            # Adding 0.0 turns -0.0 into 0.0.
            floats = weight.dtype.kind == "f"
            value = (weight.astype(np.float64) + 0.0).view(np.uint64) if floats else weight.astype(np.uint64)
        for k, key in enumerate(_KEYS):
            forward, back = (int(_mixed(a, b, value, key).sum(dtype=np.uint64)) for a, b in ((row, col), (col, row)))
            self._excess[k] += forward - back

    @property
    def agrees(self) -> bool:
        """Whether the sums agree so far."""
        return all(excess % 2**64 == 0 for excess in self._excess)


def _mixed(first: Array, second: Array, value: Array, key: int) -> Array:
    """64 bits that depend on all bits of an arc."""
    word = np.full(len(first), key, np.uint64)
    for part in (first.astype(np.uint64), second.astype(np.uint64), value):
        word = mixed(word ^ part)
    return word


class _Used:
    """Bitmap of ids that occur, for as many as fit."""

    def __init__(self, nbytes: int) -> None:
        self._bits = np.zeros(1 << 10, dtype=np.bool_)
        self._most = nbytes
        self.largest = -1

    def add(self, first: Array, second: Array, largest: int) -> None:
        """Note the ends of some arcs."""
        self.largest = max(self.largest, largest)
        if self.largest < self._most:
            if self.largest >= len(self._bits):
                grown = np.zeros(min(self._most, max(2 * len(self._bits), self.largest + 1)), dtype=np.bool_)
                grown[: len(self._bits)] = self._bits
                self._bits = grown
            self._bits[first] = True
            self._bits[second] = True

    def sparse(self, arcs: int) -> bool | None:
        """Whether ids leave more than half of 0 to the largest unused; None where there was no room to see that."""
        if self.largest + 1 > 4 * arcs:
            return True
        if self.largest >= self._most:
            return None
        return 2 * int(np.count_nonzero(self._bits)) < self.largest + 1
