"""Whatever a file holds is read, as a plain loop over its lines would, or refused in our own words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hpgraph.core.errors import FileFormatError
from hpgraph.io import read


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("any")


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet='0123 \t,;#\n-."ab%e+_', max_size=60), st.sampled_from([".txt", ".csv", ".tsv"]))
def test_edge_lists(place: Path, text: str, suffix: str) -> None:
    path = place / f"any{suffix}"
    path.write_text(text, newline="")
    try:
        graph = read(path)
    except FileFormatError as error:
        assert str(error).startswith(str(path))
    else:
        assert graph.n_vertices >= 0


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 9), st.floats(allow_nan=False, width=32) | st.integers(-9, 9)),
        min_size=1,
        max_size=12,
    ),
    st.sampled_from([" ", "\t", ",", ", ", " ; "]),
    st.lists(st.sampled_from(["", "# c", "% 1 2 3", "   "]), max_size=12),
)
def test_numbers_as_a_plain_loop_reads_them(
    place: Path, rows: list[tuple[int, int, float]], delimiter: str, between: list[str]
) -> None:
    path = place / "numbers.txt"
    lines = [delimiter.join(map(repr, row)) for row in rows]
    for at, line in enumerate(between):
        lines.insert(2 * at, line)
    path.write_text("\n".join(lines))
    expected: dict[tuple[int, int], float] = {}
    for u, v, weight in rows:
        expected[u, v] = min(weight, expected.get((u, v), np.inf))
    graph = read(path, names=False)
    csr = graph.out_csr
    source = np.repeat(np.arange(graph.n_vertices), np.diff(csr.indptr)).tolist()
    assert dict(zip(zip(source, csr.indices.tolist(), strict=True), csr.data.tolist(), strict=True)) == expected


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(["real", "pattern", "integer", "complex", ""]),
    st.sampled_from(["general", "symmetric", "skew-symmetric", "hermitian"]),
    st.text(alphabet="0123 \t\n-.a%", max_size=60),
)
def test_matrix_market(place: Path, field: str, symmetry: str, text: str) -> None:
    path = place / "any.mtx"
    path.write_text(f"%%MatrixMarket matrix coordinate {field} {symmetry}\n{text}", newline="")
    try:
        graph = read(path)
    except FileFormatError as error:
        assert str(error).startswith(str(path))
    else:
        assert field in ("real", "pattern", "integer")
        assert graph.weighted is (field != "pattern")
