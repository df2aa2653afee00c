"""Neighbours as numbers, against a dict of the nodes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hpgraph.containers.node_numbers import neighbors_of


class Alike:
    """Equal by its number; all have the same hash."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __hash__(self) -> int:
        return 7

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Alike) and self.number == other.number


def signed(value: int) -> int:
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


KINDS: dict[str, Callable[[int], Any]] = {
    "close numbers": lambda i: i - 100,
    "numbers far apart": lambda i: (i - 100) * 1_000_003,
    # Times the multiplier that numbers are spread with, they are i: too close together to be spread.
    "numbers of one slot": lambda i: signed(i * pow(0x9E3779B97F4A7C15, -1, 1 << 64)),
    "largest and smallest": lambda i: signed((1 << 63) - 150 + i),
    "numbers beyond 64 bits": lambda i: (i - 100) << 70,
    "text": lambda i: f"node {i}",
    "pairs": lambda i: (i // 20, i % 20),
    "several types": lambda i: [f"node {i}", i, float(i) + 0.5, (i,)][i % 4],
    "one hash": Alike,
}


@pytest.mark.parametrize("anew", [0.0, 0.05, 1.0])
@pytest.mark.parametrize("kind", KINDS)
def test_numbers_are_those_of_a_dict(kind: str, anew: float) -> None:
    """A neighbour is the node's own object, or made anew: an equal one."""
    make, n = KINDS[kind], 300
    random = np.random.default_rng(5)
    nodes = [make(i) for i in random.permutation(n).tolist()]
    number_of = {node: i for i, node in enumerate(nodes)}
    fresh = {make(i): make(i) for i in range(n)}
    rows = [
        {(fresh[nodes[j]] if random.random() < anew else nodes[j]): {} for j in random.integers(0, n, size).tolist()}
        for size in random.integers(0, 12, n).tolist()
    ]
    indptr, indices = neighbors_of(nodes, rows)
    assert indptr.tolist() == [0, *np.cumsum([len(row) for row in rows]).tolist()]
    assert indices.tolist() == [number_of[end] for row in rows for end in row]


def test_no_nodes_and_no_neighbors() -> None:
    assert [array.tolist() for array in neighbors_of([], [])] == [[0], []]
    assert [array.tolist() for array in neighbors_of(["a", "b"], [{}, {}])] == [[0, 0, 0], []]
