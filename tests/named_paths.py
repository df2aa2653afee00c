"""A path whose vertices have names of every kind, for the tests of names."""

from typing import Any

import pytest

import hpgraph as hpg

# A path 0 -> 1 -> 2 -> 3 with weights, and ways to name its vertices.
NAMES: dict[str, list[Any]] = {
    "shuffled": [2, 1, 0, 3], "sparse": [1001, 7, -3, 5], "ascending": [7, 12, 1001, 2000],
    "text": ["ann", "bob", "cy", "1"], "mixed": ["a", 1, (1, 2), 2.5], "tuples": [(0, 0), (0, 1), (1, 0), (1, 1)],
    "bytes": [b"a", b"b", b"c", b"d"], "floats": [0.5, 3.0, -1.0, 2.0], "beyond 64 bits": [2**70, 1, 2, 3],
    "uint64": [2**63 + 1, 2**63, 4, 3],
}  # fmt: skip
every_kind = pytest.mark.parametrize("names", NAMES.values(), ids=NAMES.keys())


def path(names: Any, device: str = "cpu") -> hpg.Graph:
    return hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], [1.0, 2.0, 4.0], names=names).to(device)
