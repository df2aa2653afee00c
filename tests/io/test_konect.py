"""Files of KONECT: networks of each kind, and damaged ones."""

from pathlib import Path

import pytest

import hpgraph as hpg


def read(tmp_path: Path, text: str) -> hpg.Graph:
    (tmp_path / "out.moreno_test").write_text(text)
    return hpg.read(tmp_path / "out.moreno_test")


def rows(G: hpg.Graph) -> list[tuple[float, ...]]:
    source, target, weight = G.edges()
    ends = source.tolist(), target.tolist()
    return sorted(zip(*ends, *([] if weight is None else [weight.tolist()]), strict=True))


def test_kinds(tmp_path: Path) -> None:
    G = read(tmp_path, "% sym weighted\n% 3 5 5\n1 2 3.5 1000\n2 3 1 1001\n4 1 -2 1002\n")
    assert not G.directed and G.n_vertices == 5 and rows(G) == [(0, 1, 3.5), (0, 3, -2), (1, 2, 1)]
    G = read(tmp_path, "% asym unweighted\n1\t2\n2\t1\n3\t3\n")
    assert G.directed and G.n_vertices == 3 and rows(G) == [(0, 1), (1, 0), (2, 2)]
    G = read(tmp_path, "% bip unweighted\n% 4 3 2\n1 1\n2 1\n3 2\n1 2\n")
    assert not G.directed and G.n_vertices == 5 and rows(G) == [(0, 3), (0, 4), (1, 3), (2, 4)]
    assert hpg.is_bipartite(G)


@pytest.mark.parametrize(("text", "said"), [
    ("", "first line"), ("1 2\n2 3\n", "first line"), ("% tri unweighted\n1 2\n", "first line"),
    ("% sym unweighted\n0 1\n", "an id below 1"), ("% sym unweighted\n% 1 2 2\n1 3\n", "an id above 2"),
    ("% sym unweighted\n1 x\n", "line 2"), ("% sym unweighted\n% 2 3 3\n1 3\n", "2 edges expected"),
])  # fmt: skip
def test_damaged(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(hpg.FileFormatError, match=said):
        read(tmp_path, text)


def test_not_written_and_bounded(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="are read alone"):
        hpg.Graph.from_edges([0], [1]).save(tmp_path / "out.x")
    (tmp_path / "out.x").write_text(f"% sym unweighted\n% 1 {10**15} {10**15}\n1 2\n")
    with pytest.raises(hpg.DeviceMemoryError, match=r"out\.x"):
        hpg.read(tmp_path / "out.x")
