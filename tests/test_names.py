"""Vertices by name, whatever the names are: numbers in any order, text, tuples, several types; `hpg.id` for indices."""

import copy
import pickle
from collections.abc import Hashable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from arrays import listed
from hypothesis import given, settings
from hypothesis import strategies as st
from named_paths import NAMES, every_kind, path
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import array_module
from hpgraph.formats import Bitmask


class Reached(hpg.VertexProgram):
    """Superstep in which a search reaches each vertex."""

    weighted = False
    reduce = "any"
    step = hpg.Property("int32", initial=-1, start=0)

    def gather(source, weight, target):  # type: ignore[no-untyped-def]
        return source.id

    def update(vertex, message, world):  # type: ignore[no-untyped-def]
        return world.superstep


@every_kind
def test_a_traversal_starts_at_the_name(names: list[Any], device: str) -> None:
    G = path(names, device)
    for start, name in enumerate(names):
        expected = [max(v - start, -1) for v in range(4)]
        assert listed(hpg.bfs(G, name).level) == expected == listed(hpg.bfs(G, hpg.id(start)).level)
        along = [0.0, 1.0, 3.0, 7.0]
        far = [along[v] - along[start] if v >= start else np.inf for v in range(4)]
        for source in (name, hpg.id(start)):
            found = hpg.sssp(G, source, parents=True)
            assert listed(found.distance) == far
            assert listed(found.parent) == [-1] * start + [start, *range(start, 3)]


@every_kind
def test_lookups(names: list[Any]) -> None:
    G = path(names)
    assert G.names is not None and G.names.tolist() == names
    assert [G.index_of(name) for name in names] == [0, 1, 2, 3]
    assert G.indices_of([names[2], names[0], names[2]]).tolist() == [2, 0, 2]
    assert G.indices_of([names[3], hpg.id(1)]).tolist() == [3, 1]
    assert G.indices_of(hpg.id([3, 1])).tolist() == [3, 1]
    assert G.indices_of([]).tolist() == [] == G.indices_of(hpg.id([])).tolist()
    assert sorted(G.indices_of(set(names[:3])).tolist()) == [0, 1, 2]
    for again in (copy.copy(G), pickle.loads(pickle.dumps(G)), G.undirected, hpg.Graph(G)):
        assert [again.index_of(name) for name in names] == [0, 1, 2, 3]


@every_kind
def test_programs_begin_at_names(names: list[Any], device: str) -> None:
    G, xp = path(names, device), array_module(device)
    expected = [-1, 0, 1, 0]
    for active in (
        [names[1], names[3]], (names[3], names[1], names[1]), {names[1], names[3]}, [names[1], hpg.id(3)],
        hpg.id([1, 3]), hpg.id(xp.array([3, 1, 3])), hpg.id((1, 3)), np.array([False, True, False, True]),
        [False, True, False, True], Bitmask.from_indices(np.array([1, 3]), 4),
    ):  # fmt: skip
        assert listed(hpg.run(Reached, G, active=active).step) == expected
    assert listed(Reached().run(G, active=hpg.id(2)).step) == [-1, -1, 0, 1]
    assert listed(Reached().run(G, active=[names[2]]).step) == [-1, -1, 0, 1]
    assert listed(hpg.run(Reached, G, active=[]).step) == [-1] * 4


def test_a_program_begins_at_one_name(device: str) -> None:
    assert listed(hpg.run(Reached, path(list("abcd"), device), active="c").step) == [-1, -1, 0, 1]
    assert listed(hpg.run(Reached, path(NAMES["sparse"], device), active=-3).step) == [-1, -1, 0, 1]
    assert listed(hpg.run(Reached, path(None, device), active=2).step) == [-1, -1, 0, 1]


def test_arrays_of_numbers_are_names(device: str) -> None:
    G, xp = path(NAMES["sparse"], device), array_module(device)
    for dtype in ("int16", "int64"):
        assert listed(hpg.run(Reached, G, active=xp.array([7, 5], dtype)).step) == [-1, 0, 1, 0]
    assert listed(G.indices_of(xp.array([5, 1001]))) == [3, 0]
    with pytest.raises(ValueError, match=r"no vertex is named 3; names are such as 1001, 7, -3, \.\.\."):
        hpg.run(Reached, G, active=xp.array([7, 3]))
    with pytest.raises(ValueError, match=r"no vertex is named 3.*hpgraph\.id\(3\)"):
        hpg.run(Reached, path(list("abcd"), device), active=xp.array([3]))


def test_an_interrupted_run_goes_on_by_index(device: str) -> None:
    class Widest(hpg.VertexProgram):
        reduce = "max"
        width = hpg.Property("float64", initial=0.0)

        def gather(source, weight, target):  # type: ignore[no-untyped-def]
            return min(source.width, weight)

        def update(vertex, message):  # type: ignore[no-untyped-def]
            return max(vertex.width, message)

    G = path(NAMES["shuffled"], device)
    begun = hpg.run(Widest, G, active=[2], width=[np.inf, 0, 0, 0], max_iteration=1)
    ended = hpg.run(Widest, G, active=hpg.id(begun.active), width=begun.width)
    assert listed(ended.width) == [np.inf, 1, 1, 1]


def test_components_of_a_graph_with_names() -> None:
    """Their searches start at vertices of their own choice."""
    arcs = nx.gnp_random_graph(60, 0.03, seed=4, directed=True)
    G = hpg.from_networkx(nx.relabel_nodes(arcs, {v: 1000 - 7 * v for v in arcs}))
    for connection, sets in (
        ("strong", nx.strongly_connected_components(arcs)), ("weak", nx.weakly_connected_components(arcs)),
    ):  # fmt: skip
        found = hpg.connected_components(G, connection=connection)
        parts: dict[int, set[int]] = {}
        for name, part in zip(G.names.tolist(), found.label.tolist(), strict=True):  # type: ignore[union-attr]
            parts.setdefault(part, set()).add((1000 - name) // 7)
        assert sorted(map(sorted, parts.values())) == sorted(map(sorted, sets))


def test_a_search_back_over_negative_weights(device: str) -> None:
    G = hpg.Graph.from_edges([0, 1, 0], [1, 2, 2], [4.0, -3.0, 2.0], names=[2, 0, 1]).to(device)
    assert listed(hpg.sssp(G, 2, parents=True).distance) == [0, 4, 1]
    with pytest.raises(hpg.NegativeCycleError, match="source bob reaches"):
        hpg.sssp(hpg.Graph.from_edges([0, 1], [1, 0], [1.0, -2.0], names=["ann", "bob"]), "bob")


# --- PageRank


@every_kind
def test_personalization_by_name(names: list[Any], device: str) -> None:
    ring = nx.relabel_nodes(nx.DiGraph([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]), dict(enumerate(names)))
    G = hpg.from_networkx(ring).to(device)
    some = {names[1]: 3, names[3]: 1.0}
    expected = nx.pagerank(ring, personalization=some, tol=1e-12)
    for given_ in (some, {hpg.id(G.index_of(name)): share for name, share in some.items()}):
        found = hpg.pagerank(G, personalization=given_, tol=1e-12).rank
        np.testing.assert_allclose(listed(found), [expected[name] for name in ring], atol=1e-9)
    expected = nx.pagerank(ring, personalization=dict.fromkeys(some, 1), tol=1e-12)
    numbers = all(isinstance(name, int | float) for name in some)
    for vertices in (set(some), hpg.id(G.indices_of(list(some))), *([] if numbers else (list(some), tuple(some)))):
        found = hpg.pagerank(G, personalization=vertices, tol=1e-12).rank
        np.testing.assert_allclose(listed(found), [expected[name] for name in ring], atol=1e-9)


def test_personalization_by_index() -> None:
    """Arrays and lists of n numbers are values, with names and without."""
    values = [0.0, 3, 0, 1]
    for names in (None, NAMES["sparse"], list("abcd")):
        G = path(names)
        found = [hpg.pagerank(G, personalization=p).rank.tolist() for p in (values, np.array(values))]
        first = G.index_of(hpg.id(1))
        found.append(hpg.pagerank(G, personalization={hpg.id(first): 3, hpg.id(3): 1}).rank.tolist())
        assert found[0] == found[1] == found[2]
    plain = path(None)
    expected = hpg.pagerank(plain, personalization=values).rank.tolist()
    assert hpg.pagerank(plain, personalization={1: 3, 3: 1}).rank.tolist() == expected
    started = hpg.pagerank(path(list("abcd")), start={"b": 3, "d": 1}, max_iteration=1, tol=0).rank.tolist()
    assert started == hpg.pagerank(plain, start=values, max_iteration=1, tol=0).rank.tolist()


@pytest.mark.parametrize(
    ("names", "personalization", "error", "says"),
    [
        (list("abcd"), {"e": 1}, ValueError, "no vertex is named 'e'"),
        (list("abcd"), {2: 1}, ValueError, r"no vertex is named 2.*hpgraph\.id\(2\)"),
        (list("abcd"), ["a", "a"], ValueError, "personalization must not give a vertex twice"),
        (list("abcd"), {"a": 1, hpg.id(0): 1}, ValueError, "must not give a vertex twice"),
        (list("abcd"), {"a": "b"}, TypeError, "personalization must hold numbers"),
        (list("abcd"), {"a": -1}, ValueError, "personalization must be finite and not negative"),
        (list("abcd"), {}, ValueError, "with a positive sum"),
        (list("abcd"), [0.5, 0.5], ValueError, "one value for each of the 4 vertices, not shape"),
        (list("abcd"), ["a", 0.5], ValueError, "one value for each of the 4 vertices, or be of vertices: no vertex"),
        (NAMES["sparse"], NAMES["sparse"][:2], ValueError, "one value for each .* a set or hpgraph.id gives"),
        (None, [1, 2], ValueError, "one value for each of the 4 vertices.*a dict gives values by vertex"),
        (None, {4: 1}, IndexError, "personalization must lie in 0..3"),
        (None, {"a": 1}, ValueError, "have no names"),
        (None, hpg.id([1, 4]), IndexError, "personalization must lie in 0..3"),
    ],
)
def test_what_is_no_personalization(names: Any, personalization: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        hpg.pagerank(path(names), personalization=personalization)


# --- what a name is


def test_the_named_case() -> None:
    G = hpg.Graph(nx.Graph([(2, 1), (1, 0)]))
    assert hpg.bfs(G, 2).level.tolist() == [0, 1, 2]
    assert hpg.bfs(nx.Graph([(2, 1), (1, 0)]), 0).level.tolist() == [2, 1, 0]
    assert repr(G) == "Graph: 3 vertices, 4 arcs, undirected, no weights, cpu, named 2, 1, 0"


def test_numbers_in_order_are_the_indices() -> None:
    for names in (range(4), np.arange(4, dtype=np.uint8), list(np.arange(4)), np.arange(4).astype(object)):
        G = path(names)
        assert G.names is None and "named" not in repr(G)
        assert G.index_of(3) == G.index_of(np.int8(3)) == G.index_of(hpg.id(3)) == 3
        assert G.indices_of([3, 0]).tolist() == [3, 0]
    assert hpg.from_networkx(nx.empty_graph(3)).names is None
    assert path([0, 1, 2, 4]).names is not None and path([False, True, 2, 3]).names is not None


@pytest.mark.parametrize("names", [[5, 1, 0, 9], [5, 1, 0, "a"], [5.0, 1.0, 0.0, 9.5]])
def test_equal_numbers_are_one_name(names: list[Any]) -> None:
    """As in a dictionary, and so in NetworkX."""
    G = path(names)
    for same in (1, 1.0, True, np.int8(1), np.float32(1), np.True_, np.uint64(1), np.array(1), 1 + 0j):
        if names[0] == 5 and type(names[0]) is int and names[3] == 9 and isinstance(same, complex):
            continue  # sorted numbers do not compare with complex ones
        assert G.index_of(same) == 1
    for other in (1.5, np.nan, np.inf, "1", b"1", None, (1,), 2**70, -(2**70), np.uint64(2**64 - 1), [1]):
        raises(ValueError, r"no vertex is named", G.index_of, other)


def test_types_of_index_arrays() -> None:
    G = hpg.Graph.from_edges([0], [1], names=np.array([200, 2**63 + 5, 3], np.uint64))
    assert G.indices_of(np.array([200, 3], np.uint8)).tolist() == [0, 2]
    assert G.indices_of(np.array([2**63 + 5], np.uint64)).tolist() == [1]
    for missing in (np.array([-1]), np.array([2**63 + 4], np.uint64), np.array([200 - 256], np.int8)):
        raises(ValueError, f"no vertex is named {missing[0]}", G.indices_of, missing)
    small = hpg.Graph.from_edges([0], [1], names=np.array([3, 100], np.int8))
    raises(ValueError, "no vertex is named 259", small.indices_of, np.array([3, 259]))
    assert path(list("abcd")).indices_of(np.array(["c", "a"])).tolist() == [2, 0]
    days = np.array(["2026-01-03", "2026-01-01"], "datetime64[ns]")
    assert hpg.Graph.from_edges([0], [1], names=days).index_of(days[1]) == 1


def test_names_are_held_apart_from_the_array_given() -> None:
    names = np.array([5, 3, 9, 7])
    G = path(names)
    assert G.index_of(3) == 1
    names[1] = 4
    assert G.index_of(3) == 1 and G.names is not None and G.names[1] == 3
    with pytest.raises(ValueError, match="read-only"):
        G.names[0] = 1


def test_text_keeps_its_last_nul() -> None:
    assert path(["a\0", "a", "b", "c"]).index_of("a\0") == 0


def test_names_that_cannot_be_looked_up() -> None:
    raises(TypeError, r"names must be hashable, and \[1\] is not", path, [[1], [2], [3], [4]])
    for twice in ([4, 7, 9, 7], [4, 4, 7, 9], ["a", 7, "b", 7]):
        raises(ValueError, r"vertices \d and \d are both named [47]", path, twice)


@pytest.mark.parametrize(
    ("kind", "asked", "says"),
    [
        ("text", 2, r"no vertex is named 2; names are such as 'ann', 'bob', 'cy', \.\.\.; hpgraph\.id\(2\) is the ver"),
        ("text", 1, r"no vertex is named 1: did you mean '1'\? Names are such as 'ann', .*hpgraph\.id\(1\)"),
        ("text", 99, r"no vertex is named 99; names .*; hpgraph\.id\(i\) is the vertex of index i"),
        ("text", "bo", r"no vertex is named 'bo': did you mean 'bob'\?"),
        ("sparse", "1001", r"no vertex is named '1001': did you mean 1001\? Names are such as 1001, 7.*hpgraph\.id"),
        ("sparse", "x", r"no vertex is named 'x'; names are such as 1001, 7, -3, .*hpgraph\.id\(i\)"),
        ("sparse", 1, r"no vertex is named 1; names are such as 1001, 7, -3, .*hpgraph\.id\(1\)"),
        ("mixed", 3, r"no vertex is named 3; names are such as 'a', 1, \(1, 2\), \.\.\."),
        ("mixed", (1, 3), r"no vertex is named \(1, 3\); names"),
    ],
)
def test_errors_show_some_names(kind: str, asked: Hashable, says: str) -> None:
    G = path(NAMES[kind])
    for call in (hpg.bfs, hpg.sssp):
        raises(ValueError, says, call, G, asked)
    raises(ValueError, says, hpg.run, Reached, G, active=[asked])


def test_long_names_are_shown_short() -> None:
    assert len(repr(path(["x" * 10_000, "b", "c", "d"]))) < 150


# --- hpg.id


def test_what_an_id_is() -> None:
    five = hpg.id(5)
    assert (repr(five), repr(hpg.id([1, 2])), hpg.id(np.int8(5)).index) == ("id(5)", "id([1, 2])", 5)
    assert len(repr(hpg.id(range(10_000)))) < 60
    assert five == hpg.id(np.uint8(5)) != hpg.id(4) and five != 5 and hash(five) == hash(hpg.id(5))
    assert hpg.id([1, 2]) == hpg.id((1, 2)) != hpg.id([1, 3])
    assert pickle.loads(pickle.dumps(five)) == five == copy.deepcopy(five)
    with pytest.raises(AttributeError, match="is immutable"):
        five.index = 4
    for wrong in ("a", 1.0, True, None, [0.5], ["a"], [True]):
        raises(TypeError, "an id is a whole number or an array of them, not", hpg.id, wrong)


@pytest.mark.parametrize("names", [None, NAMES["sparse"], NAMES["text"]])
def test_ids_are_checked_against_the_graph(names: Any, device: str) -> None:
    G = path(names, device)
    for index in (4, -1):
        with pytest.raises(IndexError, match=rf"source {index} is not in 0\.\.3"):
            hpg.bfs(G, hpg.id(index))
        with pytest.raises(IndexError, match=r"active must lie in 0\.\.3"):
            hpg.run(Reached, G, active=hpg.id([0, index]))
        with pytest.raises(IndexError, match=rf"{index} is not in 0\.\.3"):
            G.indices_of([hpg.id(0), hpg.id(index)])
    with pytest.raises(TypeError, match=r"source must be a vertex id, a whole number, not id\(\[1\]\)"):
        hpg.bfs(G, hpg.id([1]))


def test_without_names_an_id_is_its_number() -> None:
    G = path(None)
    assert hpg.bfs(G, hpg.id(1)).level.tolist() == hpg.bfs(G, 1).level.tolist()
    assert hpg.run(Reached, G, active=[hpg.id(1), 3]).step.tolist() == [-1, 0, 1, 0]
    raises(ValueError, "have no names", hpg.run, Reached, G, active=["a"])


# --- any relabelling


@settings(max_examples=60, deadline=None)
@given(
    arcs=st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.integers(1, 9)), min_size=1, max_size=25),
    names=st.one_of(
        st.lists(st.integers(-(2**63), 2**63 - 1), min_size=8, max_size=8, unique=True),
        st.permutations(range(8)),
        st.lists(st.one_of(st.text(max_size=3), st.integers(-5, 5)), min_size=8, max_size=8, unique=True),
    ),
    starts=st.sets(st.integers(0, 7), min_size=1),
)
def test_names_change_no_answer(arcs: list[tuple[int, int, int]], names: list[Any], starts: set[int]) -> None:
    source, target, weight = map(list, zip(*arcs, strict=True))
    plain = hpg.Graph.from_edges(source, target, weight, n_vertices=8)
    named = hpg.Graph.from_edges(source, target, weight, names=names)
    start = min(starts)
    assert hpg.bfs(named, names[start]).level.tolist() == hpg.bfs(plain, start).level.tolist()
    assert hpg.sssp(named, names[start]).distance.tolist() == hpg.sssp(plain, start).distance.tolist()
    asked = [names[v] for v in starts]
    assert named.indices_of(asked).tolist() == list(starts)
    found = hpg.run(Reached, named, active=asked).step.tolist()
    assert found == hpg.run(Reached, plain, active=list(starts)).step.tolist()
    shares = {v: v + 1.0 for v in starts}
    by_name = hpg.pagerank(named, personalization={names[v]: share for v, share in shares.items()}).rank
    assert by_name.tolist() == hpg.pagerank(plain, personalization=shares).rank.tolist()


def test_csgraph_goes_by_index() -> None:
    """As SciPy does, whatever names there are."""
    for names in ([3, 2, 1, 0], list("abcd")):
        order, before = hpg.csgraph.breadth_first_order(path(names), 1)
        assert order.tolist() == [1, 2, 3] and before.tolist() == [-9999, -9999, 1, 2]
        assert hpg.csgraph.shortest_path(path(names), indices=1).tolist() == [np.inf, 0, 2, 6]
