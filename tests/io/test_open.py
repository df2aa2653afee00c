"""Graphs opened where they are: what is read when, whose file it is, and how bad input is refused."""

import gc
import os
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import cuda_available
from hpgraph.core.errors import BudgetError, DamagedPageError, FileFormatError
from hpgraph.io.hpg_reader import GraphFile
from hpgraph.io.hpg_writer import write_hpg

MEMORY = "16MiB"
# Some pages of 2000 arcs each way, of a graph that has thirty: they come and go.
LITTLE = 180_000


def some_graph(directed=True, weighted=False, n=3000, arcs=40_000, seed=0):
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, n, (2, arcs)) ** 2 // n
    weight = rng.integers(1, 90, arcs).astype(np.float32) if weighted else None
    return hpg.Graph.from_edges(source, target, weight, n_vertices=n, directed=directed)


@pytest.mark.parametrize("compression", ["gaps", "none"])
@pytest.mark.parametrize("directed", [True, False])
def test_answers_are_those_in_memory(tmp_path, device, directed, compression):
    graph = some_graph(directed, weighted=True)
    write_hpg(graph, tmp_path / "graph.hpg", compression=compression, arcs_per_page=3000)
    opened = hpg.open(tmp_path / "graph.hpg", device, MEMORY, MEMORY)
    assert (opened.n_vertices, opened.n_edges, opened.directed) == (3000, graph.n_edges, directed)
    assert (opened.device, opened.dtype) == (device, np.float32)
    there = graph.to(device)
    assert (hpg.bfs(opened, 0).level == hpg.bfs(there, 0).level).all()
    assert abs(hpg.pagerank(opened).rank - hpg.pagerank(there).rank).max() < 1e-7
    whole = opened.in_memory()
    assert (whole.out_csr.indices == there.out_csr.indices).all()


def test_files_close_by_themselves(tmp_path):
    some_graph().save(tmp_path / "graph.hpg")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        hpg.read(tmp_path / "graph.hpg")
        opened = hpg.open(tmp_path / "graph.hpg", memory=MEMORY)
        hpg.bfs(opened, 0)
        held = opened._out.stored.file
        assert not held.closed
        del opened
        gc.collect()
        number = held.fileno()
        del held
        raises(OSError, "Bad file descriptor", os.fstat, number)
    assert not [one.message for one in warned if one.category is ResourceWarning]


def test_no_main_memory_for_pages(tmp_path):
    if not cuda_available():
        pytest.skip("no CUDA GPU here")
    graph = some_graph()
    write_hpg(graph, tmp_path / "graph.hpg", arcs_per_page=2000)
    opened = hpg.open(tmp_path / "graph.hpg", "cuda", LITTLE, 0)
    assert (hpg.bfs(opened, 0).level.get() == hpg.bfs(graph, 0).level).all()
    before = opened.moved
    assert abs(hpg.pagerank(opened).rank.get() - hpg.pagerank(graph).rank).max() < 1e-7
    assert opened.moved > before


def test_names(tmp_path):
    graph = hpg.Graph.from_edges([0, 1], [1, 2], names=["libc6", "bash", "vim"])
    graph.save(tmp_path / "graph.hpg")
    opened = hpg.open(tmp_path / "graph.hpg", memory=MEMORY)
    assert hpg.bfs(opened, "bash").level.tolist() == [-1, 0, 1]
    assert opened.names.tolist() == ["libc6", "bash", "vim"]


@pytest.mark.parametrize("memory", [MEMORY, LITTLE])
def test_a_damaged_page_is_named_when_it_is_read(tmp_path, memory):
    path = tmp_path / "graph.hpg"
    write_hpg(some_graph(), path, arcs_per_page=2000)
    file = GraphFile(path)
    pages, section = file.pages("out"), file.header.sections["out.ids"]
    content = bytearray(path.read_bytes())
    content[section.at + int(pages.offset[5]) + 3] ^= 1
    path.write_bytes(content)
    opened = hpg.open(path, memory=memory)
    rows = f"{pages.first_row[5]} to {pages.last_row[5]}"
    for _ in range(2):
        raises(DamagedPageError, rf"graph\.hpg, out-arcs, page 5 \(rows {rows}\): the ids do not", hpg.bfs, opened, 0)


@pytest.mark.parametrize("memory", [MEMORY, LITTLE])
def test_a_file_that_is_replaced_cut_or_overwritten_while_it_is_open(tmp_path, memory):
    path = tmp_path / "graph.hpg"
    graph = some_graph(seed=1)
    write_hpg(graph, path, arcs_per_page=2000)
    opened = hpg.open(path, memory=memory)
    some_graph(seed=2).save(path)
    np.testing.assert_array_equal(hpg.bfs(opened, 0).level, hpg.bfs(graph, 0).level)
    for harm in ("cut", "overwritten"):
        write_hpg(graph, path, arcs_per_page=2000)
        opened = hpg.open(path, memory=memory)
        at = GraphFile(path).header.sections["out.ids"].at
        if harm == "cut":
            os.truncate(path, at + 100)
        else:
            with path.open("r+b") as file:
                file.seek(at)
                file.write(bytes(60_000))
        raises(FileFormatError, r"graph\.hpg.*(page 0|section)", hpg.bfs, opened, 0)


READER = """
import sys, hpgraph as hpg
G = hpg.open(sys.argv[1], memory="16MiB")
print(hpg.bfs(G, 0).level.sum(), round(float(hpg.pagerank(G).rank.max()), 12))
"""


def test_two_processes_and_many_threads_in_a_read_only_folder(tmp_path):
    graph = some_graph()
    graph.save(tmp_path / "graph.hpg")
    (tmp_path / "graph.hpg").chmod(0o444)
    tmp_path.chmod(0o555)
    level, rank = hpg.bfs(graph, 0).level, hpg.pagerank(graph).rank
    try:
        command = [sys.executable, "-c", READER, str(tmp_path / "graph.hpg")]
        root = Path(__file__).parents[2]
        readers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) for _ in range(2)]
        found = []
        opened = [hpg.open(tmp_path / "graph.hpg", memory=MEMORY) for _ in range(4)]
        threads = [threading.Thread(target=lambda g=g: found.append(hpg.bfs(g, 0).level)) for g in opened]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        said = [reader.communicate()[0].split() for reader in readers]
    finally:
        tmp_path.chmod(0o755)
    assert len(found) == 4 and all((other == level).all() for other in found)
    assert said[0] == said[1] == [str(level.sum()), str(round(float(rank.max()), 12))]


def test_bad_input(tmp_path):
    some_graph().save(tmp_path / "graph.hpg")
    for arguments, kind, message in (
        ((tmp_path / "graph.npz",), ValueError, r"\.hpg files are opened; hpgraph\.convert makes one"),
        ((tmp_path / "none.hpg",), FileNotFoundError, "none.hpg"),
        ((7,), TypeError, "path must be"),
        ((tmp_path / "graph.hpg", "tpu"), ValueError, "device"),
        ((tmp_path / "graph.hpg", "cpu", "much"), ValueError, "^memory must be bytes or an amount"),
        ((tmp_path / "graph.hpg", "cpu", 0), ValueError, "^memory must be more than no bytes"),
        ((tmp_path / "graph.hpg", "cpu", None, -1), ValueError, "^host_memory must be 0 bytes or more"),
        ((tmp_path / "graph.hpg", "cpu", None, 0), BudgetError, "^host_memory=0 bytes is too little .* at least"),
        ((tmp_path / "graph.hpg", "cpu", None, 0.5), TypeError, "^host_memory must be a whole number"),
        ((tmp_path / "graph.hpg", "cpu", 1000), BudgetError, "give at least"),
    ):
        raises(kind, message, hpg.open, *arguments)


def test_reading_that_was_interrupted_is_repeated(tmp_path, ctrl_c):
    path = tmp_path / "graph.hpg"
    graph = some_graph()
    write_hpg(graph, path, arcs_per_page=500)
    opened = hpg.open(path, memory=LITTLE)
    right = hpg.bfs(graph, 0).level
    for after in (0.02, 0.1, 0.2):
        timer = threading.Timer(after, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            for _ in range(10_000):
                hpg.bfs(opened, 0)
        timer.join()
        assert (hpg.bfs(opened, 0).level == right).all()
