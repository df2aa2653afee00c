"""Graphs that were saved as ``.hpg`` come back, and files that something happened to are refused by name."""

import os
import struct
import zlib

import numpy as np
import pytest
from raising import raises

import hpgraph as hpg
from hpgraph.containers.row_blocks import joined
from hpgraph.core.errors import DamagedPageError, DeviceMemoryError, FileFormatError
from hpgraph.formats import CSR
from hpgraph.io.hpg_reader import GraphFile
from hpgraph.io.hpg_writer import write_hpg


def some_graph(directed=True, dtype=None, n=400, arcs=5000, names=None, seed=0):
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, n, (2, arcs)) ** 2 // n
    weight = None if dtype is None else rng.integers(0, 2 if dtype == "bool" else 90, arcs).astype(dtype)
    return hpg.Graph.from_edges(source, target, weight, n_vertices=n, directed=directed, names=names)


def same(found, graph):
    assert (found.n_vertices, found.directed, found.dtype) == (graph.n_vertices, graph.directed, graph.dtype)
    for side in ("out_csr", "in_csr"):
        for array in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(getattr(found, side), array), getattr(getattr(graph, side), array))
            if getattr(getattr(graph, side), array) is not None:
                assert getattr(getattr(found, side), array).dtype == getattr(getattr(graph, side), array).dtype


@pytest.mark.parametrize("compression", [None, "gaps", "none"])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("dtype", [None, "bool", "int8", "uint16", "int64", "float32", "float64"])
def test_graphs_come_back(tmp_path, dtype, directed, compression):
    graph = some_graph(directed, dtype)
    graph.save(tmp_path / "graph.hpg", compression=compression)
    same(hpg.read(tmp_path / "graph.hpg"), graph)
    assert list(tmp_path.iterdir()) == [tmp_path / "graph.hpg"]


@pytest.mark.parametrize("arcs_per_page", [1, 37, 1024])
def test_both_sides_are_cut_into_pages(tmp_path, arcs_per_page):
    graph = some_graph(dtype="float32")
    write_hpg(graph, tmp_path / "graph.hpg", arcs_per_page=arcs_per_page)
    file = GraphFile(tmp_path / "graph.hpg")
    for side, csr in (("out", graph.out_csr), ("in", graph.in_csr)):
        pages = file.pages(side)
        assert pages.n_pages >= graph.n_edges / arcs_per_page
        found = joined(pages)
        for array in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(found, array), getattr(csr, array))


@pytest.mark.parametrize("n", [0, 1, 3])
def test_graphs_without_arcs(tmp_path, n):
    graph = hpg.Graph.from_edges([], [], n_vertices=n)
    graph.save(tmp_path / "graph.hpg")
    same(hpg.read(tmp_path / "graph.hpg"), graph)


@pytest.mark.parametrize(
    "names",
    [
        ["libc6", "", "Bär\n", "\udc80 no text", "a" * 300],
        [1001, 7, -5, 2**62, 0],
        np.array([2**64 - 1, 2, 3, 4, 5], dtype=np.uint64),
        [0.5, 1.5, 2.5, 3.5, -1.0],
        np.array(["2020-01-01", "1970-01-01", "2000-02-29", "1999-12-31", "2024-06-30"], dtype="M8[D]"),
    ],
    ids=["text", "numbers", "large numbers", "floats", "dates"],
)
def test_names_come_back(tmp_path, names):
    graph = hpg.Graph.from_edges([0, 1, 4], [1, 2, 3], names=names)
    graph.save(tmp_path / "graph.hpg")
    found = hpg.read(tmp_path / "graph.hpg")
    np.testing.assert_array_equal(found.names, graph.names)
    assert found.names.dtype.kind == graph.names.dtype.kind


def test_names_of_other_types_are_refused(tmp_path):
    graph = hpg.Graph.from_edges([0], [1], names=[("a", 1), "b"])
    raises(ValueError, "pickle holds any", graph.save, tmp_path / "graph.hpg")
    assert not list(tmp_path.iterdir())


def test_read_options(tmp_path):
    graph = some_graph(dtype="int64")
    graph.save(tmp_path / "graph.hpg")
    same(hpg.read(tmp_path / "graph.hpg", directed=False), graph.undirected)
    assert hpg.read(tmp_path / "graph.hpg", dtype="float32").dtype == np.float32
    graph.undirected.save(tmp_path / "graph.hpg")
    assert hpg.read(tmp_path / "graph.hpg", directed=True).directed
    raises(DeviceMemoryError, r"graph\.hpg needs", hpg.read, tmp_path / "graph.hpg", memory=1000)


def test_arguments_of_save(tmp_path):
    raises(ValueError, "compression must be", some_graph().save, tmp_path / "graph.hpg", compression="zip")
    raises(ValueError, r"compression is for \.hpg files", some_graph().save, tmp_path / "graph.npz", compression="gaps")


def test_the_description_is_the_format(tmp_path):
    """What docs/format.md says is enough to read a file."""
    graph = some_graph(dtype="float32")
    graph.save(tmp_path / "graph.hpg", compression="none")
    content = (tmp_path / "graph.hpg").read_bytes()
    magic, version, directed, n, arcs, length = struct.unpack_from("<8sIIQQQ", content)
    assert (magic, version, directed, n, arcs, length) == (
        b"\x89hpg\r\n\x1a\n", 1, 1, graph.n_vertices, graph.n_edges, len(content)
    )  # fmt: skip
    ids, weights, encoding, count, zero = struct.unpack_from("<8s8s8sII", content, 40)
    assert (ids.rstrip(b"\0"), weights.rstrip(b"\0"), encoding.rstrip(b"\0"), zero) == (b"<i4", b"<f4", b"none", 0)
    assert struct.unpack_from("<I", content, 4092) == (zlib.crc32(content[:4092]),)
    sections = {}
    for k in range(count):
        name, at, nbytes, checksum, _ = struct.unpack_from("<16sQQII", content, 128 + 40 * k)
        assert at % 4096 == 0
        sections[name.rstrip(b"\0").decode()] = content[at : at + nbytes]
        assert checksum in (0, zlib.crc32(content[at : at + nbytes]))
    parts = ("ids", "weights", "pages", "offsets")
    assert set(sections) == {f"{side}.{part}" for side in ("out", "in") for part in parts}
    np.testing.assert_array_equal(np.frombuffer(sections["out.offsets"], "<i8"), graph.out_csr.indptr)
    np.testing.assert_array_equal(np.frombuffer(sections["in.ids"], "<i4"), graph.in_csr.indices)
    np.testing.assert_array_equal(np.frombuffer(sections["in.weights"], "<f4"), graph.in_csr.data)
    for row in struct.iter_unpack("<6q2I", sections["out.pages"]):
        first_row, last_row, first_arc, held, offset, nbytes, checksum, weight_checksum = row
        assert first_row <= last_row
        assert checksum == zlib.crc32(sections["out.ids"][offset : offset + nbytes])
        assert weight_checksum == zlib.crc32(sections["out.weights"][4 * first_arc : 4 * (first_arc + held)])


def test_foreign_files(tmp_path):
    path = tmp_path / "graph.hpg"
    for content, message in (
        (b"", "an empty file"),
        (b"0 1\n1 2\n", r"no \.hpg file; hpgraph\.convert makes one"),
        (b"\x89hpg\n\x1a\n" + bytes(5000), "as copying it as text does"),
        (b"\x89hpg\r\n\x1a\n" + bytes(50), "cut short within its header"),
        (b"\x89hpg\r\n\x1a\n\2" + bytes(5000), "of version 2 of the format"),
    ):
        path.write_bytes(content)
        raises(FileFormatError, f"graph.hpg: .*{message}", hpg.read, path)
    with pytest.raises(FileNotFoundError):
        hpg.read(tmp_path / "other.hpg")


@pytest.mark.parametrize("compression", ["gaps", "none"])
def test_damage_names_the_page(tmp_path, compression):
    path = tmp_path / "graph.hpg"
    graph = some_graph(dtype="float64")
    graph.save(path, compression=compression)
    sections = GraphFile(path).header.sections
    whole = path.read_bytes()
    for name, section in sections.items():
        damaged = bytearray(whole)
        damaged[section.at + section.nbytes // 2] ^= 4
        path.write_bytes(damaged)
        side, part = name.split(".")
        kind, message = FileFormatError, f"section {name} does not have its checksum"
        if part in ("ids", "weights"):
            kind, message = DamagedPageError, rf"graph\.hpg, {side}-arcs, page 0 \(rows .* the {part} do not have their"
        with pytest.raises(kind, match=message):
            joined(GraphFile(path).pages(side))
    for at in (9, 20, 100, 200, 4094):
        damaged = bytearray(whole)
        damaged[at] ^= 1
        path.write_bytes(damaged)
        raises(FileFormatError, r"header does not have its checksum|of version", GraphFile, path)
    for length in (5000, len(whole) - 1):
        path.write_bytes(whole[:length])
        raises(FileFormatError, f"cut short: {length} bytes of {len(whole)}", GraphFile, path)
    path.write_bytes(whole + b"\0")
    raises(FileFormatError, "longer than it was", GraphFile, path)


def test_a_file_that_is_replaced_or_cut_while_it_is_open(tmp_path):
    path = tmp_path / "graph.hpg"
    graph, other = some_graph(seed=1), some_graph(seed=2)
    graph.save(path)
    file = GraphFile(path)
    other.save(path)
    np.testing.assert_array_equal(joined(file.pages("out")).indices, graph.out_csr.indices)
    same(hpg.read(path), other)
    file = GraphFile(path)
    pages = file.pages("out")
    indptr = pages.indptr
    os.truncate(path, file.header.sections["out.ids"].at + 10)
    assert indptr is pages.indptr
    raises(DamagedPageError, r"page 0 .*the file ends before the page does", joined, pages)
    raises(FileFormatError, r"section in\.pages ends early", file.pages, "in")


def write_claims(path, csr, directed, in_csr=None, **how):
    """A whole file of arcs, whatever they are, and of what is said of them."""
    claims = hpg.Graph._from_csr(csr, directed, None)
    claims.once("in_csr", lambda: in_csr or csr)
    write_hpg(claims, path, **how)


def changed(csr, place, array="indices", value=None):
    """The same arcs but for one place, and for what is exchanged with it."""
    arrays = {name: None if getattr(csr, name) is None else getattr(csr, name).copy() for name in ("indices", "data")}
    if value is None:
        arrays[array][[place, place + 1]] = arrays[array][[place + 1, place]]
    else:
        arrays[array][place] = value
    return CSR(csr.shape, csr.indptr, arrays["indices"], arrays["data"])


REVERSE, ORDER = "called undirected, and some arc lacks its reverse of the same weight", "ids do not rise within every"


# More arcs take a kernel of ours, fewer SciPy.
@pytest.mark.parametrize("arcs", [2000, 150_000])
@pytest.mark.parametrize("dtype", [None, "int64", "float32"])
def test_arcs_that_contradict_the_header_are_refused(tmp_path, dtype, arcs):
    path = tmp_path / "graph.hpg"
    csr = some_graph(False, dtype, n=arcs // 10, arcs=arcs).out_csr
    degree = np.diff(csr.indptr)
    # A row in which neighbours can change places, and behind whose last one there is room.
    last = csr.indices[csr.indptr[1:] - 1]
    row = int(np.flatnonzero((degree >= 3) & (last < csr.shape[0] - 1) & (last != np.arange(len(last))))[-3])
    first, end = int(csr.indptr[row]), int(csr.indptr[row + 1]) - 1
    forgeries = [(changed(csr, first), ORDER), (changed(csr, first, value=csr.indices[first + 1]), ORDER),
                 (changed(csr, end, value=csr.indices[end] + 1), REVERSE),
                 (some_graph(True, dtype, n=arcs // 10, arcs=arcs).out_csr, REVERSE)]  # fmt: skip
    if dtype is not None:
        forgeries += [(changed(csr, end, "data", value), REVERSE) for value in (91, -1)]
    for forged, message in forgeries:
        for how in ({}, {"arcs_per_page": arcs // 20, "compression": "none"}):
            write_claims(path, forged, directed=False, **how)
            raises(FileFormatError, rf"graph\.hpg, out-arcs: .*{message}.*save the graph again", hpg.read, path)
            raises(FileFormatError, message, hpg.open(path).in_memory)
        write_claims(path, forged, directed=True)
        if message is ORDER:
            raises(FileFormatError, ORDER, hpg.read, path)
        else:
            assert hpg.read(path).n_edges == forged.nnz
    write_claims(path, csr, directed=False)
    np.testing.assert_array_equal(hpg.read(path).out_csr.indices, csr.indices)


def test_degrees_that_agree_do_not_hide_a_missing_reverse(tmp_path):
    """A ring all of whose arcs go one way round, among edges: every vertex has as many arcs as reach it."""
    n = 40_000
    ring = np.arange(n)
    ends = (
        np.concatenate([np.arange(n), (np.arange(n) + 7) % n, ring]),
        np.concatenate([(np.arange(n) + 7) % n, np.arange(n), (ring + 1) % n]),
    )
    graph = hpg.Graph.from_edges(*ends)
    assert graph.n_edges > 100_000 and graph.directed
    for csr in (graph.out_csr, hpg.Graph.from_edges([0, 1, 2], [1, 2, 0]).out_csr):
        write_claims(tmp_path / "graph.hpg", csr, directed=False)
        raises(FileFormatError, REVERSE, hpg.read, tmp_path / "graph.hpg")


def test_equal_weights_of_other_bits_are_symmetric(tmp_path):
    """Zeros of either sign, and NaN of any payload."""
    rng = np.random.default_rng(0)
    source, target = rng.integers(0, 20_000, (2, 100_000))
    csr = hpg.Graph.from_edges(source, target, np.ones(100_000, np.float32), directed=False).out_csr
    row = csr.expand_rows()
    payload = np.frombuffer(np.uint32([0x7FC00001, 0xFFC12345]).tobytes(), np.float32)
    data = np.where(row < csr.indices, payload[0], payload[1])
    data[(row + csr.indices) % 2 == 0] = 0.0
    data[((row + csr.indices) % 2 == 0) & (row < csr.indices)] = -0.0
    write_claims(tmp_path / "graph.hpg", csr.with_data(data), directed=False)
    assert np.isnan(hpg.read(tmp_path / "graph.hpg").weights).any()


def test_parts_of_forged_pages_are_refused(tmp_path):
    csr = hpg.Graph.from_edges([0, 1, 2, 3], [1, 2, 0, 1]).out_csr
    write_claims(tmp_path / "graph.hpg", csr, directed=False)
    opened = hpg.open(tmp_path / "graph.hpg")
    raises(FileFormatError, REVERSE, opened.subgraph, [0, 1, 2])


def test_eccentricities_of_forged_pages_end(tmp_path):
    """Bounds cross where an edge has one direction: searches for them went on without end."""
    source, target = [0, 1, 1, 2, 2, 3, 3, 3, 4], [4, 0, 3, 1, 4, 0, 2, 4, 2]
    write_claims(tmp_path / "graph.hpg", hpg.Graph.from_edges(source, target).out_csr, directed=False)
    assert len(hpg.eccentricity(hpg.open(tmp_path / "graph.hpg"))) == 5


def test_lengths_below_zero_in_one_side_alone_are_found(tmp_path):
    """Searches go along either side; among the arcs by source no length is below zero."""
    graph = hpg.Graph.from_edges([0, 1, 2], [1, 2, 0], [3, 1, 2])
    write_claims(tmp_path / "graph.hpg", graph.out_csr, True, changed(graph.in_csr, 1, "data", -9))
    with pytest.raises(ValueError, match="a length must not be negative here, and there is -9"):
        hpg.closeness_centrality(hpg.open(tmp_path / "graph.hpg"), weight=True)
