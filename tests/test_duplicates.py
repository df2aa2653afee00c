"""Edges given more than once: which weight is kept, on either device and by every way in; and the one warning."""

import functools
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas
import pytest
import scipy.sparse
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import array_module, to_device

CHOICES = {"min": min, "max": max, "sum": lambda a, b: a + b, "first": lambda a, b: a}
ROWS = [(0, 1, 7), (2, 0, 5), (0, 1, 3), (1, 0, 4), (2, 2, 6), (2, 2, 8), (0, 1, 9), (0, 2, 5)]


def merged(rows: list[tuple[int, int, int]], directed: bool, duplicates: str) -> dict[tuple[int, int], int]:
    """Weights by ends; an undirected edge is a pair whose order does not matter, and comes out both ways."""
    found: dict[tuple[int, int], int] = {}
    for u, v, w in rows:
        place = (u, v) if directed else (min(u, v), max(u, v))
        found[place] = CHOICES[duplicates](found[place], w) if place in found else w
    return found if directed else {**found, **{(v, u): w for (u, v), w in found.items()}}


def arcs(graph: hpg.Graph) -> dict[tuple[int, int], int]:
    source, target, weight = (to_device(part, "cpu").tolist() for part in graph.edges(both_ways=True))
    return dict(zip(zip(source, target, strict=True), weight, strict=True))


def as_networkx(rows: list[tuple[int, int, int]], directed: bool, duplicates: str | None) -> hpg.Graph:
    made = nx.MultiDiGraph() if directed else nx.MultiGraph()
    made.add_nodes_from(range(3))
    made.add_weighted_edges_from(rows)
    return hpg.from_networkx(made, duplicates=duplicates)


def in_a_file(rows: Any, directed: bool, duplicates: Any, *, folder: Path, suffix: str, convert: bool) -> hpg.Graph:
    path = folder / f"edges{suffix}"
    if suffix == ".gr":
        path.write_text(f"p sp 3 {len(rows)}\n" + "".join(f"a {u + 1} {v + 1} {w}\n" for u, v, w in rows))
    elif suffix == ".csv":
        path.write_text("source,target,weight\n" + "".join(f"{u},{v},{w}\n" for u, v, w in rows))
    else:
        pandas.DataFrame(rows, columns=["source", "target", "weight"]).to_parquet(path)
    if convert:
        hpg.convert(path, folder / "made.hpg", directed=directed, duplicates=duplicates)
        return hpg.read(folder / "made.hpg")
    return hpg.read(path, directed=directed, duplicates=duplicates)


WAYS: dict[str, Callable[..., hpg.Graph]] = {
    "arrays": lambda rows, directed, how: hpg.Graph.from_edges(
        *np.array(rows).T, directed=directed, duplicates=how
    ),
    "rows": lambda rows, directed, how: hpg.from_edges(rows, directed=directed, duplicates=how),
    "rows in Graph": lambda rows, directed, how: hpg.Graph(rows, directed=directed, duplicates=how),
    "tuple in Graph": lambda rows, directed, how: hpg.Graph(
        tuple(np.array(rows).T), directed=directed, duplicates=how
    ),
    "table": lambda rows, directed, how: hpg.from_edges(
        pandas.DataFrame(rows, columns=["u", "v", "w"]), directed=directed, duplicates=how
    ),
    "NetworkX": as_networkx,
    "more edges": lambda rows, directed, how: hpg.Graph.from_edges([], [], n_vertices=3, directed=directed).add_edges(
        *np.array(rows).T, duplicates=how
    ),
}  # fmt: skip
FILES = {
    f"{suffix}{' converted' if convert else ''}": functools.partial(in_a_file, suffix=suffix, convert=convert)
    for suffix in (".csv", ".parquet", ".gr") for convert in (False, True)
}  # fmt: skip


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("way", [*WAYS, *FILES])
def test_every_way_in(way: str, directed: bool, tmp_path: Path) -> None:
    make = WAYS.get(way) or functools.partial(FILES[way], folder=tmp_path)
    for how in CHOICES:
        if way.startswith(".gr") and not directed and how == "sum":
            continue  # the entries of a matrix, as below
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            assert arcs(make(ROWS, directed, how)) == merged(ROWS, directed, how)
            make([(0, 1, 2), (0, 1, 2), (1, 0, 2), (2, 2, 5)], directed, None)
    with pytest.warns(hpg.DuplicateEdgesWarning) as said:
        assert arcs(make(ROWS, directed, None)) == merged(ROWS, directed, "min")
    (one,) = [warning for warning in said if warning.category is hpg.DuplicateEdgesWarning]
    assert "duplicates=" in str(one.message) and one.filename == __file__
    raises(ValueError, "is given more than once", make, ROWS, directed, "error")
    raises(ValueError, r"duplicates must be .* not 'least'", make, ROWS, directed, "least")


@pytest.mark.parametrize("dtype", ["int64", "float32"])
@pytest.mark.parametrize("directed", [True, False])
def test_on_either_device(dtype: str, directed: bool, device: str) -> None:
    xp, random = array_module(device), np.random.default_rng(7)
    u, v = random.integers(0, 40, (2, 3000))
    w = random.integers(0, 9, 3000)
    rows = list(zip(u.tolist(), v.tolist(), w.tolist(), strict=True))
    given = [xp.asarray(part) for part in (u, v, w.astype(dtype))]
    for how in CHOICES:
        assert arcs(hpg.Graph.from_edges(*given, directed=directed, duplicates=how)) == merged(rows, directed, how)
    with pytest.warns(hpg.DuplicateEdgesWarning):
        hpg.Graph.from_edges(*given, directed=directed)
    nan = xp.asarray([np.nan, np.nan])
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        hpg.Graph.from_edges(given[0], given[1], xp.ones(3000), directed=directed)
        hpg.Graph.from_edges(xp.asarray([0, 0]), xp.asarray([1, 1]), nan)
        counted = hpg.Graph.from_edges(given[0], given[1], directed=directed, duplicates="sum")
    assert arcs(counted) == merged([(a, b, 1) for a, b, _ in rows], directed, "sum")


def test_of_a_symmetric_matrix_nothing_is_added_up(tmp_path: Path) -> None:
    S = scipy.sparse.coo_array(([1.0, 2.0, 1.0, 2.0, 5.0], ([0, 0, 1, 1, 2], [1, 1, 0, 0, 2])), shape=(3, 3))
    expected = {(0, 1): 3.0, (1, 0): 3.0, (2, 2): 5.0}
    assert arcs(hpg.Graph(S, directed=False, duplicates="sum")) == expected
    (tmp_path / "m.mtx").write_text(
        "%%MatrixMarket matrix coordinate real general\n3 3 5\n1 2 1\n1 2 2\n2 1 1\n2 1 2\n3 3 5\n"
    )
    assert arcs(hpg.read(tmp_path / "m.mtx", directed=False, duplicates="sum")) == expected
    hpg.convert(tmp_path / "m.mtx", tmp_path / "m.hpg", directed=False, duplicates="sum")
    assert arcs(hpg.read(tmp_path / "m.hpg")) == expected
    for suffix in (".graph", ".wsg", ".gr", ".npz", ".hpg"):
        G = hpg.Graph.from_edges([0, 1], [1, 2], np.array([3, 4], np.int32), directed=False)
        G.save(tmp_path / f"g{suffix}")
        for how in ("sum", "error"):
            assert arcs(hpg.read(tmp_path / f"g{suffix}", duplicates=how)) == arcs(G), suffix
            hpg.convert(tmp_path / f"g{suffix}", tmp_path / "again.hpg", duplicates=how)
            assert arcs(hpg.read(tmp_path / "again.hpg")) == arcs(G), suffix
    one_way = scipy.sparse.coo_array(([1.0, 4.0, 5.0], ([0, 1, 1], [1, 0, 2])), shape=(3, 3))
    made = hpg.Graph(one_way, directed=False, duplicates="sum")
    assert arcs(made) == {(0, 1): 5.0, (1, 0): 5.0, (1, 2): 5.0, (2, 1): 5.0}
    scipy.sparse.save_npz(tmp_path / "one.npz", one_way)
    assert arcs(hpg.read(tmp_path / "one.npz", directed=False, duplicates="sum")) == arcs(made)
    with pytest.raises(ValueError, match="lack their reverse"):
        hpg.convert(tmp_path / "one.npz", tmp_path / "one.hpg", directed=False, duplicates="sum")
    twice = scipy.sparse.coo_array(([1.0, 4.0, 5.0], ([0, 0, 1], [1, 1, 0])), shape=(3, 3))
    with pytest.warns(hpg.DuplicateEdgesWarning) as said:
        hpg.Graph(twice, directed=False)
    assert len(said) == 1
    with pytest.warns(hpg.DuplicateEdgesWarning):
        assert arcs(hpg.Graph(hpg.Graph(one_way), directed=False))[0, 1] == 1.0


def test_ranks_of_a_multigraph_are_those_of_networkx() -> None:
    payments = nx.MultiDiGraph()
    payments.add_weighted_edges_from([("ann", "bob", 1000), ("ann", "bob", 1), ("ann", "eve", 5)])
    found = hpg.pagerank(hpg.from_networkx(payments, duplicates="sum"), weight=True, tol=1e-12).rank
    assert found.tolist() == pytest.approx(list(nx.pagerank(payments, tol=1e-12).values()))
    # Of parallel edges a path takes the shortest: nothing to warn of.
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert hpg.shortest_path_length(payments, "ann", "bob", weight="weight") == 1
