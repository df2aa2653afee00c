"""Supersteps of all vertices on the CPU, over rows whose lengths take every way through a group of rows."""

import numpy as np
import pytest

import hpgraph as hpg

# More arcs than one task takes.
HUB = 20_000


class Total(hpg.VertexProgram):
    activity = "all"
    reduce = "plus"
    value = hpg.Property("int64")
    kept = hpg.Property("int32")
    aggregators = ("risen", "high")

    def gather(source, weight, target):
        return source.value * weight + target.id

    def update(vertex, message):
        return message % 1000 + vertex.kept, vertex.kept

    def aggregate(before, vertex):
        return vertex.value - before.value, vertex.value > 500


class Least(Total):
    reduce = "min"

    def update(vertex, message):
        return min(message, 10_000) % 1000 + vertex.kept, vertex.kept


def lengths(kind: str, n: int) -> np.ndarray:
    random = np.random.default_rng(3)
    found = {
        "ones": lambda: np.ones(n, np.int64),
        "pairs": lambda: random.integers(0, 3, n),
        "fours": lambda: random.integers(0, 5, n),
        "mixed": lambda: np.where(np.arange(n) // 64 % 3 == 0, random.integers(0, 40, n), random.integers(0, 3, n)),
        "hub": lambda: np.where(np.isin(np.arange(n), [0, 70, 71, n - 1]), HUB, random.integers(0, 3, n)),
        "empty at the end": lambda: np.where(np.arange(n) < n - 3, 2, 0),
    }[kind]()
    return np.asarray(found)


def expected(rows: np.ndarray, columns: np.ndarray, weights: np.ndarray, program: type, value, kept, steps: int):
    """Entry by entry, with NumPy."""
    least = program is Least
    for _ in range(steps):
        message = value[columns] * weights + rows
        total = np.full(len(value), np.iinfo(np.int64).max if least else 0)
        (np.minimum if least else np.add).at(total, rows, message)
        new = (np.minimum(total, 10_000) if least else total) % 1000 + kept
        sums = (new - value).sum(), (new > 500).sum()
        value = new
    return value, sums


@pytest.mark.parametrize(("program", "n"), [(Total, 700), (Least, 40_000)], ids=["one task", "many"])
@pytest.mark.parametrize("kind", ["ones", "pairs", "fours", "mixed", "hub", "empty at the end"])
def test_rows_of_all_lengths(kind: str, n: int, program: type) -> None:
    random = np.random.default_rng(5)
    degrees = np.minimum(lengths(kind, n), n)
    rows = np.repeat(np.arange(n), degrees)
    position = np.arange(rows.size) - np.repeat(np.cumsum(degrees) - degrees, degrees)
    columns = (7 * rows + 11 * position) % n
    weights = random.integers(1, 9, rows.size)
    value, kept = random.integers(0, 1000, n), random.integers(0, 5, n).astype(np.int32)
    graph = hpg.Graph.from_edges(columns, rows, weights, n_vertices=n)
    found = hpg.run(program(), graph, max_iteration=3, value=value, kept=kept)
    after, (risen, high) = expected(rows, columns, weights, program, value, kept, 3)
    assert found.trace.loop.startswith("sweep")
    assert np.array_equal(found.value, after)
    assert np.array_equal(found.kept, kept)
    assert (found.world["risen"], found.world["high"]) == (risen, high)
