"""Matrix Market files against scipy.io, and files that are not what they say."""

import gzip
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from raising import raises

import hpgraph as hpg
from hpgraph.core.errors import FileFormatError
from hpgraph.io import read

REAL = "%%MatrixMarket matrix coordinate real general\n"
PATTERN = "%%MatrixMarket matrix coordinate pattern general\n"


def put(folder: Path, text: str, name: str = "g.mtx") -> Path:
    path = folder / name
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


def dense(graph: hpg.Graph) -> np.ndarray:
    return graph.out_csr.to_scipy().toarray()


@pytest.mark.parametrize("suffix", [".mtx", ".mtx.gz"])
@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
@pytest.mark.parametrize("field", ["real", "integer"])
def test_values_and_symmetry_are_those_of_scipy(tmp_path: Path, suffix: str, symmetry: str, field: str) -> None:
    random = np.random.default_rng(5)
    a = np.tril(random.integers(1, 9, (12, 12)) * (random.random((12, 12)) < 0.3), -1).astype(float)
    if field == "real":
        a /= 4
    full = {"general": a, "symmetric": a + a.T, "skew-symmetric": a - a.T}[symmetry]
    plain = tmp_path / "written.mtx"
    scipy.io.mmwrite(plain, scipy.sparse.coo_array(full), field=field, symmetry=symmetry)
    graph = read(put(tmp_path, plain.read_text(), f"g{suffix}"))
    assert np.array_equal(dense(graph), scipy.io.mmread(plain).toarray())
    assert graph.weighted
    assert graph.weights.dtype == (np.int64 if field == "integer" else np.float64)
    assert graph.directed is (symmetry != "symmetric")


def test_a_pattern_has_no_weights(tmp_path: Path) -> None:
    graph = read(put(tmp_path, PATTERN + "% said by\n%\n\n3 3 2\n1 2\n3 1\n"))
    assert not graph.weighted
    assert graph.n_vertices == 3
    assert graph.out_csr.indices.tolist() == [1, 0]
    assert graph.directed


def test_header_in_capitals_and_windows_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "g.mtx"
    path.write_bytes(b"%%MatrixMarket MATRIX Coordinate Real Symmetric\r\n3 3 1\r\n3 1 1.5\r\n")
    graph = read(path)
    assert not graph.directed
    assert dense(graph)[0, 2] == dense(graph)[2, 0] == 1.5


def test_a_dense_file_has_an_arc_per_nonzero(tmp_path: Path) -> None:
    graph = read(put(tmp_path, "%%MatrixMarket matrix array real general\n2 2\n0\n1\n2.5\n0\n"))
    assert dense(graph).tolist() == [[0, 2.5], [1, 0]]
    assert graph.n_edges == 2


def test_nan_and_stored_zero_are_kept(tmp_path: Path) -> None:
    graph = read(put(tmp_path, REAL + "2 2 3\n1 1 nan\n1 2 0\n2 1 inf\n"))
    assert graph.n_edges == 3
    np.testing.assert_array_equal(dense(graph), [[np.nan, 0], [np.inf, 0]])


def test_directed_overrides_the_header(tmp_path: Path) -> None:
    path = put(tmp_path, PATTERN + "3 3 1\n1 2\n")
    assert read(path).n_edges == 1
    both = read(path, directed=False)
    assert both.n_edges == 2
    assert not both.directed
    symmetric = put(tmp_path, PATTERN.replace("general", "symmetric") + "3 3 1\n2 1\n", "s.mtx")
    assert read(symmetric, directed=True).directed
    assert read(symmetric, directed=True).n_edges == 2


def test_dtype_of_the_weights(tmp_path: Path) -> None:
    path = put(tmp_path, REAL + "2 2 1\n1 2 1.5\n")
    assert read(path, dtype=np.float32).weights.dtype == np.float32
    raises(ValueError, r"dtype=int32 cannot hold the weight 1\.5", read, path, dtype="int32")
    raises(TypeError, "dtype must be boolean, integer or floating, not complex128", read, path, dtype=complex)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("", 1, "not a Matrix Market file"),
        ("3 3 1\n1 1 1\n", 1, "not a Matrix Market file.*%%MatrixMarket.*'3 3 1'"),
        ("%%MatrixMarket matrix coordinate weird general\n", 1, "weird"),
        ("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n", 1, "complex"),
        ("%%MatrixMarket matrix coordinate real general\n% only\n% comments\n", None, "Premature EOF|header"),
        (REAL + "3 4 1\n1 1 1\n", 2, "3 x 4.*square"),
        (REAL + "% c\n3 3 2\n1 1 2.0\n2 x 3\n", 5, "invalid integer value: '2 x 3'"),
        (REAL + "3 3 2\n1 1 2.0\n2 9 3\n", 4, "column index out of bounds: '2 9 3'"),
        (REAL + "3 3 2\n1 1 2.0\n0 2 3\n", 4, "row index out of bounds: '0 2 3'"),
        (REAL + "3 3 2\n1 1 2.0\n-1 2 3\n", 4, "out of bounds"),
        (REAL + "3 3 2\n1 1\n2 2 3\n", 3, "invalid floating-point value: '1 1'"),
        (REAL + "3 3 1\n99999999999999999999 1 1\n", 3, "integer out of range"),
        (REAL + "3 3 1\n1 1 1\n2 2 2\n", 4, "too many lines"),
        (REAL + "3 3 3\n1 1 2.0\n2 2 3\n", 4, "ends here, 1 entries too early"),
        (REAL + "3 3 99999999999999\n1 1 2.0\n", 2, "99999999999999 entries announced, more than"),
    ],
)
@pytest.mark.parametrize("suffix", [".mtx", ".mtx.gz"])
def test_malformed_files_name_the_line(tmp_path: Path, text: str, line: int | None, reason: str, suffix: str) -> None:
    path = put(tmp_path, text, f"bad{suffix}")
    with pytest.raises(FileFormatError, match=f"(?i){reason}") as caught:
        read(path)
    if line is not None:
        assert caught.value.line == line
        assert str(caught.value).startswith(f"{path}, line {line}: ")


def test_line_number_far_into_a_file(tmp_path: Path) -> None:
    entries = [f"{1 + k % 900} {1 + k % 800} 0.5" for k in range(50_000)]
    entries[43_210] = "17 4 half"
    path = put(tmp_path, REAL + f"900 900 {len(entries)}\n" + "\n".join(entries) + "\n")
    with pytest.raises(FileFormatError, match=r"'17 4 half'") as caught:
        read(path)
    assert caught.value.line == 43_213


@pytest.mark.parametrize("keep", [30, 0.5, -5])
def test_truncated_gzip(tmp_path: Path, keep: float) -> None:
    random = np.random.default_rng(2)
    lines = "".join(f"{i} {j}\n" for i, j in random.integers(1, 3000, (20_000, 2)))
    packed = gzip.compress((PATTERN + "3000 3000 20000\n" + lines).encode())
    path = tmp_path / "cut.mtx.gz"
    path.write_bytes(packed[: int(keep * len(packed)) if 0 < keep < 1 else int(keep)])
    with pytest.raises(FileFormatError, match="compressed data end early") as caught:
        read(path)
    assert caught.value.line is not None
    if keep == 0.5:
        assert 5_000 < caught.value.line < 15_000


def test_compression_is_known_by_content(tmp_path: Path) -> None:
    text = PATTERN + "2 2 1\n1 2\n"
    zipped, plain = tmp_path / "zipped.mtx", tmp_path / "plain.mtx.gz"
    zipped.write_bytes(gzip.compress(text.encode()))
    plain.write_text(text)
    assert read(zipped).n_edges == read(plain).n_edges == 1


@pytest.mark.parametrize("name", ["bcsstk13", "jagmesh7", "west0067", "ca-AstroPh"])
def test_real_files(data_dir: Path, name: str) -> None:
    path = data_dir / f"{name}.mtx.gz"
    graph = read(path)
    expected = scipy.io.mmread(path).tocsr()
    expected.sort_indices()
    _, _, _, _, field, symmetry = scipy.io.mminfo(path)
    assert np.array_equal(graph.out_csr.indptr, expected.indptr)
    assert np.array_equal(graph.out_csr.indices, expected.indices)
    assert graph.directed is (symmetry != "symmetric")
    if field == "pattern":
        assert not graph.weighted
    else:
        assert np.array_equal(graph.out_csr.data, expected.data)
