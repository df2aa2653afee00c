"""Names of vertices in files: numbers of names as they come, and whole numbers that are names."""

from __future__ import annotations

import itertools
from collections import defaultdict

import numpy as np

from hpgraph.io.arcs import Array

# Bytes a name, with its number, in addition to its characters.
_NAME_BYTES = 200


class NameNumbers(defaultdict[str, int]):
    """Number of each name, in the order of first use; ``letters``: bytes of the text of all names, at most."""

    letters = 0

    def __init__(self) -> None:
        super().__init__(itertools.count().__next__)

    @property
    def nbytes(self) -> int:
        """Bytes that all names take."""
        return len(self) * _NAME_BYTES + self.letters


def is_sparse(source: Array, target: Array, largest: int) -> bool:
    """Whether ids leave more than half of 0 .. largest unused."""
    if largest + 1 > 4 * source.size:
        return True
    used = np.zeros(largest + 1, np.bool_)
    used[source] = True
    used[target] = True
    return 2 * int(np.count_nonzero(used)) < largest + 1


def in_order(source: Array, target: Array) -> tuple[Array, Array, Array]:
    """Source and target as positions in the ascending array of all ids, and that array."""
    ids, place = np.unique(np.concatenate((source, target)), return_inverse=True)
    return place[: len(source)], place[len(source) :], ids
