"""Vertex numbering in order of discovery, on the CPU: a hash table that grows with their number."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cpu.interruption import interruptible
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.semiring.stop import is_stopped

# 2⁶⁴ over the golden ratio (D. Knuth, "The Art of Computer Programming" 3, section 6.4).
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
# Vertices between two checks for interruption.
_CHUNK = 4096


class Numbering:
    """A numbering, empty at first: the `vertices`, by number."""

    def __init__(self) -> None:
        self.vertices = np.empty(0, np.int64)
        self._slots = np.full(2, -1, np.int64)

    def number(self, found: Any) -> Any:
        """The numbers of vertices; new ones are numbered in the order given.

        ``found`` (integer array of shape (m,)). Returns int64 array of shape (m,).
        """
        known, numbers = len(self.vertices), np.empty(len(found), np.int64)
        vertices = np.empty(known + len(found), np.int64)
        vertices[:known] = self.vertices
        wanted = 1 << (2 * len(vertices)).bit_length()
        with interruptible():
            if len(self._slots) < wanted:
                self._slots = np.full(wanted, -1, np.int64)
                _enter(self._slots, vertices, 0, self.vertices, np.empty(known, np.int64))
            known = _enter(self._slots, vertices, known, found, numbers)
        self.vertices = vertices[:known]
        return numbers


@part
def _slot(slots, vertices, v):
    """The slot of a vertex's number, or the free one it belongs in: linear probing."""
    mask = np.uint64(slots.size - 1)
    at = (np.uint64(v) * _GOLDEN >> np.uint64(20)) & mask
    while slots[at] >= 0 and vertices[slots[at]] != v:
        at = (at + np.uint64(1)) & mask
    return at


@njit(cache=True, nogil=True)
def _enter(slots, vertices, known, found, numbers):
    """Number vertices; returns the number of known vertices."""
    for i in range(found.size):
        if i % _CHUNK == 0 and is_stopped():
            break
        v = np.int64(found[i])
        at = _slot(slots, vertices, v)
        if slots[at] < 0:
            slots[at] = known
            vertices[known] = v
            known += 1
        numbers[i] = slots[at]
    return known
