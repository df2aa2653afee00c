"""What every writer writes, `read` turns back into the same graph: names, weights, directions drawn by Hypothesis."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from raising import raises

import hpgraph as hpg
from hpgraph.io import read, write

EDGE_LISTS = [".el", ".txt", ".tsv", ".csv", ".el.gz", ".csv.gz"]
OTHERS = [".mtx", ".mtx.gz", ".npz"]
SOME = settings(deadline=None, max_examples=25)
DTYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]

# What an edge list may take for something else: blanks, delimiters, quotes, comments, numbers, headers.
TRICKY = ["a b", " a", "a ", "a,b", "a;b", "a\tb", '"', '"a"', 'a"b', "#a", "%a", "a#b", "1", "-1", "01", "1.5", "1e3",
          "nan", "inf", "source", "target", "weight", "a\nb", "a\rb", "\u2028", "\xa0", "\ufeff", "é", "e\u0301",
          "漢字", "🚲", "", "\x00", "\x1f", "None", "True", "'", "\\",
          "# hpgraph: 9 vertices, 9 edges, directed"]  # fmt: skip
# NumPy's arrays of text drop a NUL at the end: names with one are refused, see below.
TEXT = (st.sampled_from(TRICKY) | st.text(max_size=6)).filter(lambda name: "\x00" not in name)


@st.composite
def weights(draw: st.DrawFn, count: int) -> np.ndarray[Any, Any] | None:
    dtype = draw(st.none() | st.sampled_from(DTYPES))
    if dtype is None:
        return None
    kind = np.dtype(dtype)
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        edges_of_range = st.sampled_from([limits.min, limits.max, limits.max // 2 + 1, 0])
        numbers: Any = st.integers(limits.min, limits.max) | edges_of_range.map(int)
    else:
        numbers = st.floats(width=8 * kind.itemsize, allow_nan=True, allow_infinity=True, allow_subnormal=True)
        numbers |= st.sampled_from(
            [-0.0, 0.0, 1.0, float(np.finfo(kind).smallest_subnormal), float(np.finfo(kind).max)]
        )
    return np.array(draw(st.lists(numbers, min_size=count, max_size=count)), kind)


@st.composite
def graphs(draw: st.DrawFn, names: st.SearchStrategy[Any] | None = None) -> hpg.Graph:
    n = draw(st.integers(1, 9))
    directed = draw(st.booleans())
    ends = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    # Each pair once: of two weights the lighter would be kept.
    pairs = draw(st.lists(ends, max_size=12, unique_by=lambda pair: pair if directed else tuple(sorted(pair))))
    called = None if names is None else draw(st.lists(names, min_size=n, max_size=n, unique=True))
    return hpg.Graph.from_edges(
        [u for u, _ in pairs], [v for _, v in pairs], draw(weights(len(pairs))),
        n_vertices=n, directed=directed, names=called,
    )  # fmt: skip


def written_and_read(graph: hpg.Graph, suffix: str, **options: Any) -> hpg.Graph:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"graph{suffix}"
        write(graph, path)
        return read(path, **options)


def bits(weight: Any) -> list[Any]:
    """Weights such that equal means the same number, of the same sign and, if it is one, the same not-a-number."""
    return [repr(value) for value in np.asarray(weight).tolist()]


def assert_same_matrix(found: hpg.Graph, expected: hpg.Graph) -> None:
    assert found.n_vertices == expected.n_vertices
    assert found.directed is expected.directed
    assert found.weighted is expected.weighted
    assert found.out_csr.indptr.tolist() == expected.out_csr.indptr.tolist()
    assert found.out_csr.indices.tolist() == expected.out_csr.indices.tolist()
    if expected.weighted:
        assert bits(found.out_csr.data) == bits(expected.out_csr.data)


def arcs_by_name(graph: hpg.Graph) -> list[tuple[Any, ...]]:
    csr = graph.out_csr
    source = np.repeat(np.arange(graph.n_vertices), np.diff(csr.indptr))
    called = list(range(graph.n_vertices)) if graph.names is None else graph.names.tolist()
    weight = [None] * csr.nnz if csr.data is None else bits(csr.data)
    rows = zip(source.tolist(), csr.indices.tolist(), weight, strict=True)
    return sorted(((called[u], called[v], w) for u, v, w in rows), key=repr)


def dtype_of(graph: hpg.Graph) -> Any:
    return graph.out_csr.data.dtype if graph.weighted else None


@pytest.mark.parametrize("suffix", EDGE_LISTS + OTHERS)
@SOME
@given(graph=graphs())
def test_without_names(suffix: str, graph: hpg.Graph) -> None:
    assert_same_matrix(written_and_read(graph, suffix, dtype=dtype_of(graph)), graph)


@pytest.mark.parametrize("suffix", EDGE_LISTS + OTHERS)
@SOME
@given(graph=graphs())
def test_weights_as_the_reader_finds_them(suffix: str, graph: hpg.Graph) -> None:
    """Without the type: the numbers are the same, in the type that represents them."""
    found = written_and_read(graph, suffix)
    assert found.weighted is graph.weighted
    if graph.weighted:
        expected = np.asarray(graph.out_csr.data)
        wide = {"i": "int64", "u": "uint64", "f": "float64"}[expected.dtype.kind]
        assert bits(np.asarray(found.out_csr.data).astype(wide)) == bits(expected.astype(wide))


NUMBERS = st.integers(-(2**63), 2**63 - 1)


@SOME
@given(graph=graphs(TEXT) | graphs(NUMBERS))
def test_names_in_npz(graph: hpg.Graph) -> None:
    found = written_and_read(graph, ".npz")
    assert_same_matrix(found, graph)
    # 0, 1, 2, ... in order are no names.
    assert (found.names is None) is (graph.names is None)
    assert graph.names is None or found.names.tolist() == graph.names.tolist()


@pytest.mark.parametrize("suffix", EDGE_LISTS)
@settings(SOME, max_examples=50)
@given(graph=graphs(TEXT) | graphs(NUMBERS | st.integers(0, 20)))
def test_names_in_an_edge_list(suffix: str, graph: hpg.Graph) -> None:
    texts = [name for name in ([] if graph.names is None else graph.names.tolist()) if isinstance(name, str)]
    if any(not name or name != name.strip() or not name.isprintable() for name in texts):
        raises(ValueError, r"cannot show; \.npz holds any name", written_and_read, graph, suffix)
        return
    found = written_and_read(graph, suffix, dtype=dtype_of(graph))
    assert found.directed is graph.directed
    assert found.weighted is graph.weighted
    assert arcs_by_name(found) == arcs_by_name(graph)


@SOME
@given(graph=graphs())
def test_wel(graph: hpg.Graph) -> None:
    if graph.weighted:
        assert_same_matrix(written_and_read(graph, ".wel", dtype=dtype_of(graph)), graph)
    else:
        raises(ValueError, r"a \.wel file holds weights and the graph has none", written_and_read, graph, ".wel")


@pytest.mark.parametrize("suffix", [".npz", *EDGE_LISTS])
@pytest.mark.parametrize(
    ("names", "says"),
    [(["a\x00", "b"], "names that are all text"), ([("a", 1), ("b", 2)], "name")],
    ids=["NUL", "tuples"],
)
def test_names_that_no_file_holds(suffix: str, names: list[Any], says: str) -> None:
    """Refused, never read back as if nothing had been: text with a NUL, and what is neither text nor a number."""
    with pytest.raises(ValueError, match=says):
        written_and_read(hpg.Graph.from_edges([0], [1], names=names), suffix)
