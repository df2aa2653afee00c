"""Reading and writing by suffix: npz, round trips, arguments, the progress bar."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from raising import raises
from test_round_trip import assert_same_matrix

import hpgraph as hpg
from hpgraph.core.errors import FileFormatError
from hpgraph.io import read, stream, write


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "bsr", "dia"])
def test_scipys_npz(tmp_path: Path, layout: str) -> None:
    matrix = scipy.sparse.random_array((20, 20), density=0.1, random_state=4)
    scipy.sparse.save_npz(tmp_path / "g.npz", matrix.asformat(layout))
    graph = read(tmp_path / "g.npz")
    assert np.array_equal(graph.out_csr.to_scipy().toarray(), matrix.toarray())
    assert graph.directed
    both = (matrix + matrix.T).tocsr()
    scipy.sparse.save_npz(tmp_path / "s.npz", both.asformat(layout))
    assert not read(tmp_path / "s.npz").directed
    assert read(tmp_path / "s.npz", directed=True).directed


def test_scipy_reads_our_npz(tmp_path: Path) -> None:
    graph = hpg.Graph.from_edges([0, 1], [1, 2], [2.5, 7], n_vertices=4, names=list("abcd"))
    write(graph, tmp_path / "g.npz")
    matrix = scipy.sparse.load_npz(tmp_path / "g.npz")
    assert np.array_equal(matrix.toarray(), graph.out_csr.to_scipy().toarray())


def test_unfit_npz(tmp_path: Path) -> None:
    path = tmp_path / "g.npz"
    np.savez(path, a=np.arange(3), b=np.arange(4))
    raises(FileFormatError, r"no sparse array, only a, b; scipy.sparse.save_npz saves one", read, path)
    scipy.sparse.save_npz(path, scipy.sparse.random_array((3, 4), density=0.5))
    raises(FileFormatError, r"a 3 x 4 array; .* is square", read, path)
    scipy.sparse.save_npz(path, scipy.sparse.eye_array(3, dtype=complex))
    raises(FileFormatError, "entries of type complex128", read, path)
    scipy.sparse.save_npz(path, scipy.sparse.random_array((60, 60), density=0.5))
    whole = path.read_bytes()
    for content in (b"", b"not an archive", whole[: len(whole) // 2], whole[:-10]):
        path.write_bytes(content)
        raises(FileFormatError, "not a whole NumPy archive", read, path)
    with path.open("wb") as file:
        np.save(file, np.arange(3))
    raises(FileFormatError, "a single NumPy array", read, path)


def test_unknown_suffixes(tmp_path: Path) -> None:
    for name in ("graph", "graph.xyz", "graph.gz", "graph.npz.gz", "mtx"):
        raises(ValueError, r"known are \.mtx .*\.txt, \.tsv, \.csv, \.el, \.wel .*\.npz", read, tmp_path / name)
        with pytest.raises(ValueError, match="does not name a known format"):
            write(hpg.Graph.from_edges([0], [1]), tmp_path / name)
        assert not (tmp_path / name).exists()


def test_missing_file_and_folder(tmp_path: Path) -> None:
    for suffix in (".mtx", ".el", ".npz"):
        raises(FileNotFoundError, f"nothing{suffix}", read, tmp_path / f"nothing{suffix}")
    (tmp_path / "folder.mtx").mkdir()
    with pytest.raises(IsADirectoryError):
        read(tmp_path / "folder.mtx")


def test_unfit_arguments(tmp_path: Path) -> None:
    path = tmp_path / "g.mtx"
    path.write_text("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n")
    with pytest.raises(TypeError, match="path must be a string or a path, not int"):
        read(3)  # type: ignore[arg-type]
    raises(ValueError, "n_vertices is for edge lists", read, path, n_vertices=3)
    raises(ValueError, 'device must be "cpu" or "cuda"', read, path, device="tpu")
    edges = tmp_path / "g.el"
    edges.write_text("0 1\n")
    with pytest.raises(TypeError, match=r"n_vertices must be a whole number or None, not 2\.0"):
        read(edges, n_vertices=2.0)  # type: ignore[arg-type]
    raises(ValueError, "n_vertices must not be negative", read, edges, n_vertices=-1)
    with pytest.raises(ValueError, match="comments must be strings"):
        read(edges, comments=("#", ""))


def test_graph_lies_on_the_device(tmp_path: Path, device: str) -> None:
    path = tmp_path / "g.el"
    path.write_text("0 1\n1 2\n")
    graph = read(path, device=device)
    assert graph.device == device
    write(graph, tmp_path / "again.el")
    assert (tmp_path / "again.el").read_text().splitlines()[1:] == ["0 1", "1 2"]


@pytest.mark.parametrize("name", ["long.el", "long.el.gz", "long.mtx", "long.mtx.gz", "long.npz"])
def test_progress_bar_on_long_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    random = np.random.default_rng(0)
    graph = hpg.Graph.from_edges(*random.integers(0, 500, (2, 5_000)), n_vertices=500)
    write(graph, tmp_path / name)
    assert_same_matrix(read(tmp_path / name, progress=True), graph)
    assert "reading" not in capsys.readouterr().err
    # As if every read were a long one.
    monkeypatch.setattr(stream, "PROGRESS_DELAY", -1.0)
    read(tmp_path / name, progress=True)
    assert f"reading {name}" in capsys.readouterr().err
    read(tmp_path / name, progress=False)
    with hpg.config(progress=False):
        read(tmp_path / name)
    assert capsys.readouterr().err == ""
    with hpg.config(progress=True):
        read(tmp_path / name)
    assert f"reading {name}" in capsys.readouterr().err
