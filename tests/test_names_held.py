"""How names of vertices are held and looked up: text of any length, equal hashes, anything a dictionary takes."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hpgraph as hpg


def test_one_long_name_does_not_lengthen_the_others() -> None:
    names = [f"v{i}" for i in range(5000)]
    names[7] = "x" * 2000
    for given_ in (names, np.array(names), np.array(names, dtype=object)):
        G = hpg.Graph.from_edges([0], [4999], names=given_)
        assert G.names is not None and G.names.dtype.kind == "T" and G.names.nbytes == 16 * 5000
        assert G.names.tolist() == names and G.index_of("x" * 2000) == 7
        part = G.subgraph(["x" * 2000, "v4999"])
        assert sorted(part) == ["v4999", "x" * 2000]
        assert pickle.loads(pickle.dumps(G)).index_of("v4999") == 4999


@pytest.mark.parametrize("suffix", [".hpg", ".npz", ".txt"])
def test_long_names_in_files(suffix: str, tmp_path: Any) -> None:
    names = ["a", "b" * 300, "ü", *(f"v{i}" for i in range(20))]
    G = hpg.Graph.from_edges(np.arange(22), np.arange(1, 23), names=names)
    assert G.names is not None and G.names.dtype.kind == "T"
    G.save(tmp_path / f"names{suffix}")
    again = hpg.read(tmp_path / f"names{suffix}")
    assert again.names is not None and again.names.tolist() == names
    assert hpg.bfs(again, "a").path_to("ü") == ["a", "b" * 300, "ü"]


class Alike(str):
    """Text whose hash many share."""

    __slots__ = ()

    def __hash__(self) -> int:
        return len(self)

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other)


def test_names_of_one_hash() -> None:
    names = np.array([Alike(f"name {i:02d}") for i in range(50)] + [(1, 2)], dtype=object)
    G = hpg.Graph.from_edges([0], [50], names=names)
    assert [G.index_of(name) for name in names] == list(range(51))
    assert G.indices_of(list(names[::-1])).tolist() == list(range(51))[::-1]
    with pytest.raises(ValueError, match="no vertex is named 'name 99'"):
        G.indices_of([Alike("name 03"), Alike("name 99")])
    twice = [Alike("name 7"), Alike("name 1"), Alike("name 2"), Alike("name 1")]
    with pytest.raises(ValueError, match="vertices 1 and 3 are both named 'name 1'"):
        hpg.Graph.from_edges([0], [3], names=np.array(twice, dtype=object)).index_of("name 2")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.text(), st.integers(), st.floats(), st.booleans(), st.none()), unique=True, max_size=30))
def test_lookup_is_that_of_a_dictionary(names: list[Any]) -> None:
    names = [name for name in names if name == name]
    expected = {name: vertex for vertex, name in enumerate(names)}
    if len(expected) < len(names) or names == list(range(len(names))):
        return
    G = hpg.Graph.from_edges([0], [len(names) - 1], names=names)
    assert G.indices_of(names).tolist() == list(range(len(names)))
    assert all(G.index_of(name) == vertex for name, vertex in expected.items())
    assert ("no such", 1) not in G
