"""Files of graph-tool: put together by hand from its description, cut short, forged, and to and fro."""

import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from raising import raises

import hpgraph as hpg


def text(order: str, value: bytes) -> bytes:
    return struct.pack(order + "Q", len(value)) + value


def file_of(order: str = "<", name: bytes = b"name") -> bytes:
    """Three vertices, undirected, edges 0-1 (2.5), 0-2 (-1) and 2-2 (4), with a property map of every type."""
    byte_order = bytes([order == ">"])
    made = "⛾ gt".encode() + b"\1" + byte_order + text(order, "a comment, é".encode()) + b"\0"
    made += struct.pack(order + "Q", 3)
    for row in ([1, 2], [], [2]):
        made += struct.pack(f"{order}Q{len(row)}B", len(row), *row)
    maps = [b"\0" + text(order, b"title") + b"\6" + text(order, b"a graph")]
    maps.append(b"\1" + text(order, name) + b"\6" + b"".join(text(order, one) for one in (b"x", b"yy", "é".encode())))
    maps.append(b"\2" + text(order, b"weight") + b"\4" + struct.pack(order + "3d", 2.5, -1, 4))
    for kind, code in enumerate("BhiqdQ"):
        size = 2 if kind == 5 else 1  # a long double has 16 bytes
        value = struct.pack(order + code * size, *range(size))
        maps.append(b"\2" + text(order, b"p%d" % kind) + bytes([kind]) + 3 * value)
        vector = struct.pack(order + "Q", 2) + 2 * value
        maps.append(b"\1" + text(order, b"v%d" % kind) + bytes([kind + 7]) + 2 * vector + struct.pack(order + "Q", 0))
    texts = struct.pack(order + "Q", 2) + text(order, b"one") + text(order, b"")
    maps.append(b"\2" + text(order, b"texts") + b"\x0d" + 3 * texts)
    maps.append(b"\1" + text(order, b"objects") + b"\x0e" + 3 * text(order, pickle.dumps({"an": "object"})))
    return made + struct.pack(order + "Q", len(maps)) + b"".join(maps)


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("name", [b"name", b"label", b"colour"])
def test_a_file_with_all_types(order: str, name: bytes, tmp_path: Path) -> None:
    (tmp_path / "g.gt").write_bytes(file_of(order, name))
    G = hpg.read(tmp_path / "g.gt")
    assert not G.directed and G.n_vertices == 3
    if name == b"colour":
        assert G.names is None
    else:
        assert G.names.tolist() == ["x", "yy", "é"]  # type: ignore[union-attr]
    source, target, weight = G.edges()
    assert sorted(zip(source.tolist(), target.tolist(), weight.tolist(), strict=True)) == [  # type: ignore[union-attr]
        (0, 1, 2.5), (0, 2, -1.0), (2, 2, 4.0)]  # fmt: skip


def test_cut_short_and_forged(tmp_path: Path) -> None:
    whole, path = file_of(), tmp_path / "g.gt"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        raises(hpg.FileFormatError, r"g\.gt", hpg.read, path)
    begin = 8 + 8 + len("a comment, é".encode())
    huge = struct.pack("<Q", 1 << 60)
    for forged in (
        b"graphml" + whole[7:], whole[:6] + b"\2" + whole[7:], whole[:7] + b"\2" + whole[8:],
        whole[:8] + huge + whole[16:],
        whole[:begin] + b"\7" + whole[begin + 1 :], whole[: begin + 9] + huge + whole[begin + 17 :],
        whole[: begin + 17] + b"\3" + whole[begin + 18 :], whole + b"\0",
    ):  # fmt: skip
        path.write_bytes(forged)
        with pytest.raises(hpg.FileFormatError):
            hpg.read(path)
    path.write_bytes(whole[: begin + 1] + huge + whole[begin + 9 :])
    with pytest.raises(hpg.HpgraphError):
        hpg.read(path)


@pytest.mark.parametrize("n", [1, 255, 256, 65_535, 65_536])
def test_as_many_bytes_as_vertices_need(n: int, tmp_path: Path) -> None:
    G = hpg.Graph.from_edges([0, n - 1, n - 1], [n - 1, 0, n - 1], n_vertices=n)
    G.save(tmp_path / "g.gt")
    size = (tmp_path / "g.gt").stat().st_size - 8 * n
    hpg.Graph.from_edges([], [], n_vertices=n).save(tmp_path / "empty.gt")
    arcs = G.n_edges
    assert size - ((tmp_path / "empty.gt").stat().st_size - 8 * n) == arcs * (1 if n < 256 else 2 if n < 65_536 else 4)
    found = hpg.read(tmp_path / "g.gt")
    assert found.n_vertices == n and found.n_edges == arcs and found.directed


@pytest.mark.parametrize("dtype", ["bool", "int8", "int16", "int32", "int64", "uint8", "uint64", "float32", "float64"])
def test_weights_of_every_type(dtype: str, tmp_path: Path) -> None:
    weight: Any = np.array([1, 0, 1]).astype(dtype)
    G = hpg.Graph.from_edges([0, 1, 1], [1, 2, 0], weight, names=[5, -7, 1 << 40])
    G.save(tmp_path / "g.gt")
    found = hpg.read(tmp_path / "g.gt")
    assert found.weights.tolist() == G.weights.tolist() and found.names.tolist() == [5, -7, 1 << 40]


def test_what_does_not_fit(tmp_path: Path) -> None:
    G = hpg.Graph.from_edges([0], [1], np.array([1 << 63], np.uint64))
    raises(ValueError, "weights of uint64 do not fit", G.save, tmp_path / "g.gt")
    raises(ValueError, "some are neither", hpg.Graph.from_edges([0], [1], names=["a", 5]).save, tmp_path / "g.gt")
    assert not (tmp_path / "g.gt").exists()


def test_one_empty_name_is_a_name(tmp_path: Path) -> None:
    G = hpg.from_edges([("", "x"), ("x", "y")], directed=False)
    hpg.write(G, tmp_path / "g.gt")
    assert hpg.read(tmp_path / "g.gt").names.tolist() == ["", "x", "y"]
