"""Messages of a key and a payload: the lightest arc of each vertex, and of each component, against plain loops."""

import re

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.csgraph
from reference_algorithms import SMALL

import hpgraph as hpg
from hpgraph import Property
from hpgraph.core.device import to_device
from hpgraph.kernels.runtime.packed_pair import PackedPair

# Few weights, so that many keys are equal; both zeros among them.
TIES = SMALL.copy()
TIES.data = np.random.default_rng(3).choice(np.array([-1.5, -0.0, 0.0, 2.0, np.inf], np.float32), SMALL.nnz)


class Lightest(hpg.VertexProgram):
    """The lightest arc that enters a vertex, and where it comes from."""

    reduce = "argmin"
    max_iteration = 1
    weight = Property("float32", initial=np.nan)
    source = Property("int32", initial=-1)

    def gather(source, weight, target):
        return weight, source.id

    def update(vertex, key, payload):
        return key, payload


class Heaviest(Lightest):
    reduce = "argmax"


def best_arcs(graph, sign):
    """Weight and source of the best arc into each vertex; of equal ones the smaller source."""
    weight, source = np.full(graph.shape[0], np.nan, np.float32), np.full(graph.shape[0], -1)
    coo = graph.tocoo()
    for u, v, w in sorted(zip(coo.row, coo.col, coo.data, strict=True), key=lambda arc: (sign * arc[2], arc[0])):
        if source[v] < 0:
            weight[v], source[v] = w, u
    return weight, source


# To kernels they are the least and the largest of words, which serve other programs in either direction.
@pytest.mark.parametrize(("program", "sign", "direction"), [(Lightest, 1, "push"), (Heaviest, -1, "pull")])
def test_best_neighbour(program, sign, direction, device):
    G = hpg.Graph(TIES, directed=True).to(device)
    found = hpg.run(program, G, direction=direction)
    weight, source = best_arcs(TIES, sign)
    assert (to_device(found.source, "cpu") == source).all()
    assert np.array_equal(to_device(found.weight, "cpu"), weight, equal_nan=True)
    assert "pairs (float32, int32)" in found.trace.loop


class Leaving(hpg.VertexProgram):
    """Borůvka's step: the lightest arc into a vertex from another component; of equal ones the smaller edge."""

    edges = "all"
    reduce = "argmin"
    message = "float32", "uint32"
    max_iteration = 1
    label = Property("int32", initial=0, start="id")
    weight = Property("float32", initial=np.inf)
    edge = Property("uint32", initial=2**32 - 1)

    def edge_cond(source, weight, target):
        return source.label != target.label

    def gather(source, weight, target):
        low, high = min(source.id, target.id), max(source.id, target.id)
        return weight, low * 200 + high

    def update(vertex, key, payload):
        return vertex.label, key, payload


def test_boruvka(device):
    """Steps until nothing leaves a component choose a spanning forest of the least weight."""
    G = hpg.Graph(TIES.astype(np.float32), directed=True).to(device)
    pairs = scipy.sparse.csr_array(TIES.shape)
    both = scipy.sparse.coo_array(TIES)
    lightest: dict[tuple[int, int], float] = {}
    for u, v, w in zip(both.row.tolist(), both.col.tolist(), both.data.tolist(), strict=True):
        if u != v:
            lightest[min(u, v), max(u, v)] = min(w, lightest.get((min(u, v), max(u, v)), np.inf))
    label, chosen = np.arange(200, dtype=np.int32), set()
    while True:
        found = hpg.run(Leaving, G, label=to_device(label, device))
        weight, edge = (to_device(getattr(found, name), "cpu") for name in ("weight", "edge"))
        some = np.flatnonzero(edge < 2**32 - 1)
        if not len(some):
            break
        for component in np.unique(label[some]):
            mine = some[label[some] == component]
            best = mine[np.lexsort((edge[mine], weight[mine]))[0]]
            chosen.add(divmod(int(edge[best]), 200))
        rows, columns = np.array(sorted(chosen)).T
        pairs = scipy.sparse.csr_array((np.ones(len(rows)), (rows, columns)), (200, 200))
        label = scipy.sparse.csgraph.connected_components(pairs, directed=False)[1].astype(np.int32)
    # Kruskal's, by weight and number of the edge.
    root, expected = list(range(200)), set()
    for (u, v), _ in sorted(lightest.items(), key=lambda edge: (edge[1], edge[0])):
        a, b = u, v
        while root[a] != a:
            a = root[a]
        while root[b] != b:
            b = root[b]
        if a != b:
            root[a] = b
            expected.add((u, v))
    assert chosen == expected


@pytest.mark.parametrize("key", ["int32", "uint32", "float32"])
@pytest.mark.parametrize("reduce", ["argmin", "argmax"])
def test_words_are_in_the_order_of_pairs(reduce, key):
    kind = np.dtype(key)
    keys = [0, 1, 2**31 - 1] + {"i": [-1, -(2**31)], "u": [2**32 - 1], "f": [-1, np.inf, -np.inf, 1e-45]}[kind.kind]
    pairs = [(kind.type(k), np.int32(p)) for k in keys for p in (-(2**31), -1, 0, 2**31 - 1)]
    packed = PackedPair(reduce, kind, np.dtype("int32"))
    words = [packed.pack(*pair) for pair in pairs]
    ranked = sorted(pairs, key=lambda pair: (pair[0] if reduce == "argmin" else -pair[0].astype(float), pair[1]))
    order = np.argsort(np.array(words, np.uint64))
    assert [pairs[i] for i in (order if reduce == "argmin" else order[::-1])] == ranked
    assert [packed.unpack(word) for word in words] == pairs
    if key == "float32":
        worst = packed.pack(np.float32(np.nan), np.int32(0))
        assert (worst > max(words)) if reduce == "argmin" else (worst < min(words))
        assert np.isnan(packed.unpack(worst)[0])


def make(**members):
    return type("Made", (Lightest,), members)


@pytest.mark.parametrize(
    ("members", "says"),
    [
        ({"message": "float32"}, 'Made.message must be the types of key and payload, as ("float32", "int32")'),
        ({"message": ("float64", "int32")}, "keys of argmin are float64, but key and payload travel as one word of 64"),
        ({"message": ("float32", "int64")}, "payloads of argmin are int64"),
        ({"weight": Property("float64"), "source": Property("int32")}, "keys of argmin are float64"),
        ({"update": lambda vertex, message: message}, "update(vertex, key, payload) or update(vertex, key, payload, w"),
        ({"update": None}, "Made joins pairs, so it needs update(vertex, key, payload)"),
    ],
)
def test_what_does_not_fit(members, says):
    with pytest.raises(TypeError, match=re.escape(says)):
        hpg.run(make(**members), hpg.Graph(TIES, directed=True))


def test_a_message_that_is_no_pair():
    def gather(source, weight, target):
        return weight

    with pytest.raises(hpg.CompileError, match=r"a tuple of 2 numbers, key and payload, which become \(float32"):
        hpg.run(make(gather=gather), hpg.Graph(TIES, directed=True))
