"""External sorting of arcs: sorted runs in an unnamed file, read back by ranges of keys.

A run fits into memory (D. Knuth, "The Art of Computer Programming" 3, 5.4). Instead of a merge of all runs arc by arc,
the ends of ranges are drawn from samples of the runs, so that the arcs of a range in all runs fit into memory again;
there the range is sorted as a whole.
"""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

import numpy as np

from hpgraph.formats.duplicates import Duplicates, check_sums, differ, duplicate_error, merge_runs
from hpgraph.formats.file_stretch import FileStretch
from hpgraph.io.arcs import Array

# Samples of a run of maximum length. A range of keys may exceed its share by one sampling step for each run.
_SAMPLES = 4096
LOW = np.uint64(0xFFFFFFFF)
SHIFT = np.uint64(32)


@dataclass(frozen=True)
class _Run:
    keys: Any
    weights: Any
    samples: Array
    # Keys from one sample to the next.
    step: int
    # Minimum and maximum weight, which determine the common type.
    extremes: Array | None

    @classmethod
    def of(cls, keys: Array, weights: Array | None, step: int, keep: Callable[[Array], Any]) -> Self:
        """A run whose arrays are stored by `keep`."""
        extremes = None if weights is None else np.array([weights.min(), weights.max()], dtype=weights.dtype)
        return cls(keep(keys), None if weights is None else keep(weights), keys[::step].copy(), step, extremes)


class ArcSorter:
    """Arcs with ends below 2³², read back in order; ``unlike``: whether some that were merged had different weights."""

    def __init__(self, folder: Path, nbytes: int, duplicates: Duplicates | None) -> None:
        self._folder = folder
        self._duplicates = duplicates
        self._nbytes = nbytes
        self._most = self._step = 0
        self._waiting: list[tuple[Array, Array | None]] = []
        self._held = 0
        self._runs: list[_Run] = []
        self._file: BinaryIO | None = None
        self.count = 0
        self.unlike = False

    def limit(self, nbytes: int) -> None:
        """Limit the bytes used while arcs are read back."""
        self._most = max(nbytes // 64, 1 << 10)

    def add(self, first: Array, second: Array, weight: Array | None) -> None:
        """Add arcs, in any order: a key is the first end, then the second. Types of weights may vary."""
        if not self._step:
            # Twice the keys, before and after sorting; with weights also twice these, and the permutation.
            self._most = max(self._nbytes // (24 if weight is None else 56), 1 << 10)
            self._step = max(self._most // _SAMPLES, 64)
        for begin in range(0, len(first), self._most):
            piece = slice(begin, begin + self._most)
            keys = first[piece].astype(np.uint64) << SHIFT
            keys |= second[piece].astype(np.uint64)
            weights = None if weight is None else weight[piece]
            if self._held + len(keys) > self._most:
                self._spill()
            self._waiting.append((keys, weights))
            self._held += len(keys)
        self.count += len(first)

    def _take(self) -> tuple[Array, Array | None]:
        """The pending arcs, sorted, equal keys merged."""
        keys = np.concatenate([keys for keys, _ in self._waiting]) if self._waiting else np.empty(0, np.uint64)
        parts = [weights for _, weights in self._waiting if weights is not None]
        weights = join_weights(parts) if parts else None
        self._waiting, self._held = [], 0
        return self._in_order(keys, weights)

    def _in_order(self, keys: Array, weights: Array | None) -> tuple[Array, Array | None]:
        """Keys sorted, equal ones as one; what was added first comes first among them."""
        if weights is None:
            keys.sort()
        else:
            order = np.argsort(keys, kind="stable" if self._duplicates == "first" else None)
            keys, weights = keys[order], weights[order]
        first = np.empty(len(keys), dtype=bool)
        first[:1] = True
        np.not_equal(keys[1:], keys[:-1], out=first[1:])
        if first.all():
            return keys, weights
        heads = np.flatnonzero(first)
        if self._duplicates == "error":
            again = int(keys[np.argmin(first)])
            raise duplicate_error((again >> int(SHIFT), again & int(LOW)), len(keys) - len(heads))
        if weights is not None:
            self.unlike = self.unlike or differ(weights, ~first[1:])
            given, weights = weights, merge_runs(weights, heads, self._duplicates)
            if self._duplicates == "sum":
                check_sums(given, weights, lambda: np.add.reduceat(given.astype(np.float64), heads))
        return keys[heads], weights

    def _spill(self) -> None:
        keys, weights = self._take()
        if self._file is None:
            # Unnamed, and open as long as the sorter.
            self._file = cast(BinaryIO, tempfile.TemporaryFile(dir=self._folder))  # noqa: SIM115
        self._runs.append(_Run.of(keys, weights, self._step, self._written))

    def _written(self, array: Array) -> FileStretch:
        assert self._file is not None
        at = self._file.tell()
        self._file.write(array.view(np.uint8).data)
        self._file.flush()
        return FileStretch(self._file, at, len(array), array.dtype)

    def ids(self) -> Array:
        """All ends that occur, ascending."""
        self._finish()
        found: list[Array] = [np.empty(0, np.uint64)]
        for run in self._runs:
            for begin in range(0, len(run.keys), self._most):
                keys = run.keys[begin : begin + self._most]
                found.append(np.unique(keys >> SHIFT))
                found.append(np.unique(keys & LOW))
                if sum(map(len, found[1:])) > max(len(found[0]), self._most // 2):
                    found = [np.unique(np.concatenate(found))]
        return np.unique(np.concatenate(found)).astype(np.int64)

    def _finish(self) -> None:
        """The last run stays in memory, unless others are in the file."""
        if self._waiting and self._runs:
            self._spill()
        elif self._waiting:
            self._runs.append(_Run.of(*self._take(), self._step, keep=lambda array: array))

    def sorted(self) -> Iterator[tuple[Array, Array, Array | None]]:
        """All arcs, in the order of their keys, some at a time; arcs with the same ends are one."""
        self._finish()
        extremes = [run.extremes for run in self._runs if run.extremes is not None]
        dtype = join_weights(extremes).dtype if extremes else None
        ends = [0] * len(self._runs)
        for begins, ends in self._ranges():
            parts = [
                (run.keys[a:b], None if run.weights is None else run.weights[a:b].astype(dtype, copy=False))
                for run, a, b in zip(self._runs, begins, ends, strict=True)
                if b > a
            ]
            keys = np.concatenate([keys for keys, _ in parts])
            held = [weights for _, weights in parts if weights is not None]
            weights = np.concatenate(held) if held else None
            if len(parts) > 1:
                keys, weights = self._in_order(keys, weights)
            yield (keys >> SHIFT).astype(np.int64), (keys & LOW).astype(np.int64), weights

    def _ranges(self) -> Iterator[tuple[list[int], list[int]]]:
        """Where in each run ranges of keys begin and end, one range after the other, none empty."""
        if not self._runs:
            return
        samples = np.sort(np.concatenate([run.samples for run in self._runs]))
        every = max(self._most // self._step - len(self._runs), 1)
        begins = [0] * len(self._runs)
        for key in np.unique(samples[every::every]):
            ends = [_place(run, key) for run in self._runs]
            if ends != begins:
                yield begins, ends
                begins = ends
        ends = [len(run.keys) for run in self._runs]
        if ends != begins:
            yield begins, ends


def _place(run: _Run, key: Any) -> int:
    """How many keys of a run are less."""
    block = int(np.searchsorted(run.samples, key, side="left"))
    if block == 0:
        return 0
    begin = (block - 1) * run.step
    return begin + int(np.searchsorted(run.keys[begin : begin + run.step], key, side="left"))


def join_weights(parts: list[Array]) -> Array:
    """Weights in one array of a type that holds them all, if there is one, and else of the nearest float64."""
    if {part.dtype.kind for part in parts} == {"i", "u"} and all(int(part.min()) >= 0 for part in parts if part.size):
        parts = [part.astype(np.uint64) for part in parts]
    return np.concatenate(parts)
