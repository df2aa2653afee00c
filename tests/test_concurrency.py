"""Several threads, and processes forked before and after the first call, ask for answers at once.

Each program runs in a process of its own: forking, and what was compiled before, must be known.
"""

import importlib.util
import os
from pathlib import Path

import pytest
from new_process import completed, printed

import hpgraph

# The package under test, wherever the program runs.
VARIABLES = {"PYTHONPATH": Path(hpgraph.__file__).parents[1]}

BEGINNING = """
import os, sys, threading
import numpy as np
import hpgraph as hpg

rng = np.random.default_rng(0)
n, m = 3000, 40_000
ends = rng.integers(0, n, (2, m))
G = hpg.Graph.from_edges(*ends, rng.integers(1, 50, m).astype(float), n_vertices=n)

def answers(G=G):
    rank = hpg.pagerank(G, tol=0, max_iteration=5).rank
    return hpg.bfs(G, 0).level, hpg.sssp(G, 0).distance, rank

def same(a, b):
    return all((x == y).all() for x, y in zip(a, b))

def in_a_fork(work):
    # What the child says, or dies of, is its exit status.
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""

# The very first calls meet: in compiling, in building the graph's layouts, in starting the threads below.
THREADS = """
found = {}
def ask(k):
    found[k] = [answers() for _ in range(3)]
workers = [threading.Thread(target=ask, args=(k,)) for k in range(4)]
for worker in workers: worker.start()
for worker in workers: worker.join()
expected = answers()
assert len(found) == 4
assert all(same(expected, answer) for group in found.values() for answer in group)
"""

# Threads start the threading library at the same time, and then a child is forked: what a fork runs is there once.
MEETING = """
import hpgraph.kernels.cpu
G.out_csr, G.in_csr
sys.setswitchinterval(1e-5)
barrier = threading.Barrier(8)
def ask():
    barrier.wait()
    hpg.pagerank(G)
workers = [threading.Thread(target=ask) for _ in range(8)]
for worker in workers: worker.start()
for worker in workers: worker.join()
said, sys.unraisablehook = [], lambda what: said.append(what)
def work():
    assert not said, said
    answers()
assert in_a_fork(work) == 0 and not said
"""

AFTER = """
expected = answers()
def work():
    assert same(expected, answers())
    assert same(expected, answers(hpg.Graph(G.out_csr))), "layouts built anew"
assert in_a_fork(work) == 0
assert same(expected, answers()), "the parent goes on"
assert in_a_fork(work) == 0, "and forks again"
"""

BEFORE = """
def work():
    first = answers()
    assert same(first, answers())
assert in_a_fork(work) == 0
work()
"""

POOL = """
import multiprocessing
expected = answers()
def level_sum(source):
    return int(hpg.bfs(G, source).level.sum())
here = [level_sum(s) for s in range(8)]
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(level_sum, range(8), chunksize=1) == here
"""

# Another thread is in the middle of a call while this one forks.
BETWEEN = """
expected = answers()
stop = threading.Event()
def keep_asking():
    while not stop.is_set():
        answers()
worker = threading.Thread(target=keep_asking)
worker.start()
try:
    codes = [in_a_fork(lambda: None) for _ in range(5)]
finally:
    stop.set()
    worker.join()
assert codes == [0] * 5
assert same(expected, answers())
"""

# The same, and the child asks too, for a graph whose layouts the other thread may be building just now.
BUSY = """
import faulthandler
expected = answers()
stop = threading.Event()
def keep_asking():
    while not stop.is_set():
        answers(hpg.Graph(G.out_csr))
        answers()
def ask():
    # A child that hangs says where, and ends.
    faulthandler.dump_traceback_later(30, exit=True)
    assert same(expected, answers())
    assert same(expected, answers(hpg.Graph(G.out_csr)))
    # A child of its own, as a pool inside a worker would make.
    assert in_a_fork(answers) == 0
worker = threading.Thread(target=keep_asking)
worker.start()
try:
    codes = [in_a_fork(ask) for _ in range(40)]
finally:
    stop.set()
    worker.join()
assert codes == [0] * 40, codes
assert same(expected, answers())
"""

# A child is forked while another thread has begun to build a layout, and holds what guards it.
BUILDING = """
import faulthandler
from hpgraph.containers.layouts import Layouts
layouts, begun, forked = Layouts(), threading.Event(), threading.Event()
def build():
    begun.set()
    forked.wait()
    return 3
worker = threading.Thread(target=lambda: layouts.once("three", build))
worker.start()
begun.wait()
def ask():
    faulthandler.dump_traceback_later(30, exit=True)
    assert layouts.once("three", lambda: 3) == 3
code = in_a_fork(ask)
forked.set()
worker.join()
assert code == 0
"""

# A graph in pages: what reads ahead in the parent is not there in the child, and another thread may be in a run.
PAGES = """
from hpgraph.io.hpg_writer import write_hpg
write_hpg(G, "graph.hpg", arcs_per_page=2000)
expected = answers()
P = hpg.open("graph.hpg", memory="400KiB")
def alike(a, b):
    return (a[0] == b[0]).all() and np.allclose(a[1], b[1]) and np.allclose(a[2], b[2])
assert alike(expected, answers(P))
stop = threading.Event()
def keep_asking():
    while not stop.is_set():
        answers(P)
def ask():
    faulthandler.dump_traceback_later(30, exit=True)
    assert alike(expected, answers(P))
    assert sum(len(block.source) for block in P.edge_blocks()) == G.n_edges
assert in_a_fork(ask) == 0
worker = threading.Thread(target=keep_asking)
worker.start()
try:
    codes = [in_a_fork(ask) for _ in range(8)]
finally:
    stop.set()
    worker.join()
assert codes == [0] * 8, codes
assert alike(expected, answers(P))
"""

# Children are forked while another thread is in its first call: in imports, in compiling, in loading code.
FIRST = """
import faulthandler
def ask():
    faulthandler.dump_traceback_later(60, exit=True)
    answers()
worker = threading.Thread(target=answers)
worker.start()
codes = [in_a_fork(ask)]
while worker.is_alive():
    codes.append(in_a_fork(ask))
assert not any(codes), codes
"""

# The threading library does not end its threads before a fork by another thread than the one that started it.
STARTED = """
from hpgraph.kernels.runtime.cpu.threads import single, team
def start():
    with single():
        pass
worker = threading.Thread(target=start)
worker.start()
worker.join()
def ask():
    with team() as threads:
        assert threads == 1
assert in_a_fork(ask) == 0
"""

# Each thread has its own number of threads.
NUMBERS = """
expected = answers()
found = {}
def ask_with(threads):
    with hpg.config(threads=threads):
        found[threads] = [answers() for _ in range(5)]
workers = [threading.Thread(target=ask_with, args=(k,)) for k in (1, 2)]
for worker in workers: worker.start()
for worker in workers: worker.join()
assert all(same(expected, answer) for group in found.values() for answer in group) and len(found) == 2
"""

# All but the last need a fresh process; it begins with an answer, and several programs share it.
PROGRAMS = {
    "threads": THREADS, "meeting": MEETING, "before": BEFORE, "first": FIRST, "started": STARTED,
    "after": AFTER + POOL + BETWEEN + BUSY + BUILDING + PAGES + NUMBERS,
}  # fmt: skip


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.skipif(importlib.util.find_spec("numba.np.ufunc.tbbpool") is None, reason="only TBB survives a fork")
@pytest.mark.parametrize("name", PROGRAMS)
def test_results_do_not_depend_on_the_thread(name: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(BEGINNING + PROGRAMS[name])
    printed(program, cwd=tmp_path, **VARIABLES)


def test_one_line_announces_a_compilation_and_its_folder(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("""
import hpgraph as hpg
class Most(hpg.VertexProgram):
    most = hpg.Property("int32", initial=3)
    reduce = "max"
    activity = "all"
    def gather(source, weight, target):
        return source.most + 6
    def update(vertex, message):
        return message
assert hpg.run(Most, hpg.Graph.from_edges([0, 1, 2], [1, 2, 0]), max_iteration=1).most.tolist() == [9, 9, 9]
""")
    given = {**VARIABLES, "HPGRAPH_CACHE_DIR": tmp_path / "cache", "HPGRAPH_VERBOSE": 1, "NUMBA_CACHE_DIR": None}
    said = []
    for _ in range(2):
        done = completed(program, cwd=tmp_path, **given)
        assert done.returncode == 0, done.stderr
        said.append(done.stderr.splitlines())
    # The next process finds the user's own program compiled.
    assert [len(lines) for lines in said] == [1, 0]
    assert "compiling" in said[0][0] and str(tmp_path / "cache") in said[0][0]
