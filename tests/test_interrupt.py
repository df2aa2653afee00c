"""Ctrl-C while kernels run: KeyboardInterrupt at once, and the next call answers as if nothing had been.

A process runs one program after the other, says when it is about to begin what takes for ever, and is sent SIGINT.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from new_process import printed

import hpgraph

# The package under test, wherever a program runs.
ROOT = Path(hpgraph.__file__).parents[1]
SHELL = """
import faulthandler, json, signal, sys, time
faulthandler.dump_traceback_later(120, exit=True)
# What is started in the background of a shell ignores SIGINT, and so does what it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
import hpgraph as hpg

rng = np.random.default_rng(0)
n, m = 3000, 40_000
G = hpg.Graph.from_edges(*rng.integers(0, n, (2, m)), rng.integers(1, 50, m).astype(float), n_vertices=n)
small = hpg.Graph.from_edges([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0])

def answers():
    return hpg.bfs(G, 0).level, hpg.sssp(G, 0).distance, hpg.pagerank(G, tol=0, max_iteration=5).rank

before = answers()
for line in sys.stdin:
    faulthandler.dump_traceback_later(120, exit=True)
    # Without __name__: such functions have no module, and run like any.
    names = {"np": np, "hpg": hpg, "rng": rng, "n": n, "G": G, "small": small, "time": time}
    exec(json.loads(line), names)
    names["ready"]()
    try:
        print("ready", flush=True)
        names["endless"]()
    except KeyboardInterrupt:
        print("stopped", flush=True)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert all((a == b).all() for a, b in zip(before, answers()))
    print("answered", flush=True)
"""

# A loop in each function, in each kind of loop over supersteps, over few arcs and over many.
LOOPS = """
class Loop(hpg.VertexProgram):
    value = hpg.Property("float64", initial=1, start=0)
    reduce = {reduce!r}
    activity = {activity!r}
    max_iteration = 3
    def gather(source, weight, target):
        x = source.value
        while x >= {least}:
            x = x * 1.0 + 0.0
        return x
    {update}
def run(value):
    return hpg.run(Loop, {graph}, active=[0], value=np.full({graph}.n_vertices, value)).value
def ready():
    run(-1.0)
def endless():
    run(1.0)
"""
UPDATE = "def update(vertex, message): return vertex.value + message"
NOTHING = ""


def loops(graph: str, reduce: str, activity: str = "changed", update: str = NOTHING) -> str:
    return LOOPS.format(graph=graph, reduce=reduce, activity=activity, update=update, least=0.0)


NEGATIVE_CYCLE = """
class Falling(hpg.VertexProgram):
    value = hpg.Property("float64", initial=0)
    reduce = "min"
    def gather(source, weight, target):
        return source.value + weight
def run(sign):
    return hpg.run(Falling, hpg.Graph.from_edges([0, 1], [1, 0], [-1.0 * sign, 0.5 * sign]), active=[0])
def ready():
    run(-1)
def endless():
    run(1)
"""

ENDLESS = {
    "gather, many arcs": loops("G", "plus", "all", UPDATE),
    "gather, active vertices": loops("G", "min", "changed", UPDATE),
    "gather, relaxed": loops("G", "min"),
    "update": """
class Loop(hpg.VertexProgram):
    value = hpg.Property("float64", initial=1)
    reduce = "plus"
    activity = "all"
    max_iteration = 1
    def gather(source, weight, target):
        return source.value
    def update(vertex, message):
        x = vertex.value
        while x >= 0.0:
            x = x * 1.0 + 0.0
        return x
def ready():
    hpg.run(Loop, small, value=-np.ones(3))
def endless():
    hpg.run(Loop, small)
""",
    "a negative cycle": NEGATIVE_CYCLE,
    "supersteps": """
class Counting(hpg.VertexProgram):
    value = hpg.Property("float64", initial=1)
    reduce = "max"
    activity = "all"
    def gather(source, weight, target):
        return source.value
    def update(vertex, message):
        return vertex.value + 1
def ready():
    hpg.run(Counting, small, max_iteration=1)
def endless():
    hpg.run(Counting, small, max_iteration=10**30)
""",
    # At any time: most in the first round, in which memory still has numbers that are no vertices.
    "communities": """
import os, signal, threading
big = hpg.Graph.from_edges(*rng.integers(0, 50_000, (2, 1_000_000)), n_vertices=50_000, directed=False)
def ready():
    hpg.leiden(big)
    for k in range(30):
        try:
            [np.full(50_000, 2**30, np.int32) for _ in range(40)]
            threading.Timer(0.005 * k, os.kill, (os.getpid(), signal.SIGINT)).start()
            endless()
        except KeyboardInterrupt:
            pass
def endless():
    while True:
        hpg.leiden(big)
""",
    "converged": """
class Patient(hpg.VertexProgram):
    value = hpg.Property("float64", initial=1)
    reduce = "plus"
    activity = "all"
    def gather(source, weight, target):
        return source.value
    def converged(world):
        time.sleep(nap[0])
        return True
nap = [0]
def ready():
    hpg.run(Patient, small)
def endless():
    nap[0] = 100
    hpg.run(Patient, small)
""",
}


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    """The process that runs programs: that of the test before, unless it has ended."""
    folder = tmp_path_factory.mktemp("interrupted")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    begun: list[subprocess.Popen[str]] = []

    def running() -> subprocess.Popen[str]:
        if not begun or begun[-1].poll() is not None:
            begun.append(
                subprocess.Popen(
                    [sys.executable, "-c", SHELL], cwd=folder, env=environment, text=True,
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                )
            )  # fmt: skip
        return begun[-1]

    yield running
    for process in begun:
        process.kill()
        process.communicate()


def interrupted(process: subprocess.Popen[str], program: str) -> None:
    """Interrupt a program, which raises, and have the process answer what it answered before."""
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(json.dumps(program) + "\n")
        process.stdin.flush()
        assert process.stdout.readline() == "ready\n", process.communicate(timeout=10)
        # It is compiled, and on its way.
        time.sleep(0.4)
        assert process.poll() is None, process.communicate()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "stopped\n", process.communicate(timeout=10)
        assert process.stdout.readline() == "answered\n", process.communicate(timeout=120)
    except BaseException:
        # What did not answer is in no state to go on.
        process.kill()
        raise


@pytest.mark.skipif(sys.platform == "win32", reason="no signal can be sent to one process there")
@pytest.mark.parametrize("name", ENDLESS)
def test_ctrl_c_ends_what_would_never_end(name: str, shell: Callable[[], subprocess.Popen[str]]) -> None:
    interrupted(shell(), ENDLESS[name])


# What a thread runs meanwhile, with loops of each kind: none may stop by the main thread's interruption.
BESIDE = """
import os, signal, threading
path = hpg.Graph.from_edges(np.arange(200_000), np.arange(1, 200_001), directed=False)
heavy = hpg.Graph.from_edges(np.arange(200_000), np.arange(1, 200_001), np.full(200_000, 2.0), directed=False)
loose = hpg.Graph.from_edges(*rng.integers(0, 20_000, (2, 400_000)), n_vertices=20_000, directed=False)
class Reach(hpg.VertexProgram):
    seen = hpg.Property("int64", initial=0, start=1)
    hops = hpg.Property("int64", initial=-1, start=0)
    reduce = "max"
    def gather(source, weight, target):
        return source.hops
    def update(vertex, message):
        return (1, message + 1) if vertex.seen == 0 else (vertex.seen, vertex.hops)
def work():
    return {work}
def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))
class Slow(hpg.VertexProgram):
    value = hpg.Property("float64", initial=1)
    reduce = "max"
    activity = "all"
    # A thread is at a piece of work for 100 ms, so that other threads meet the interruption.
    def gather(source, weight, target):
        x = source.value
        for i in range(2000 if x > 0 else 0):
            x = x * 0.5 + i
        return x
    def update(vertex, message):
        return vertex.value + 1
def endlessly():
    hpg.run(Slow, loose, max_iteration=10**30)
def ready():
    hpg.run(Slow, loose, value=np.zeros(20_000), max_iteration=1)
    expected, over, compared, wrong = work(), threading.Event(), [], []
    assert {right}
    def worker():
        try:
            while not over.is_set():
                compared.append(same(work(), expected))
        except BaseException as error:
            wrong.append(error)
    thread = threading.Thread(target=worker, daemon=True)
    thread.start()
    for _ in range({times}):
        while not compared and not wrong:
            time.sleep(0.001)
        try:
            threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT)).start()
            endlessly()
        except KeyboardInterrupt:
            continue
        raise AssertionError("was not interrupted")
    over.set()
    thread.join()
    assert not wrong and all(compared), (wrong, compared)
def endless():
    endlessly()
"""

WORK = {
    "general loop": ("(lambda found: (found.seen, found.hops))(hpg.run(Reach, path, active=[0]))", "expected[0].all()"),
    "bfs": ("(hpg.bfs(path, 0).level,)", "(expected[0] == np.arange(200_001)).all()"),
    "sssp": ("(hpg.sssp(heavy, 0).distance,)", "(expected[0] == 2 * np.arange(200_001)).all()"),
    "pagerank": ("(hpg.pagerank(loose, tol=0, max_iteration=100).rank,)", "abs(expected[0].sum() - 1) < 1e-6"),
    "core numbers": ("(hpg.core_number(loose),)", "expected[0].max() > 5"),
    "matching": ("(hpg.maximal_matching(loose),)", "(expected[0] >= 0).mean() > 0.8"),
}


@pytest.mark.skipif(sys.platform == "win32", reason="no signal can be sent to one process there")
@pytest.mark.parametrize("name", WORK)
def test_other_threads_go_on_to_their_right_answers(name: str, shell: Callable[[], subprocess.Popen[str]]) -> None:
    work, right = WORK[name]
    interrupted(shell(), BESIDE.format(work=work, right=right, times=2))


# The first call of a process, in whose imports of Numba Ctrl-C arrives, and the second.
FIRST = """
import signal, sys, threading
import hpgraph as hpg
signal.signal(signal.SIGINT, signal.default_int_handler)
G = hpg.Graph.from_edges([0, 1], [1, 2])
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            sys.meta_path.remove(self)
            signal.raise_signal(signal.SIGINT)
interrupt = Interrupt()
sys.meta_path.insert(0, interrupt)
try:
    hpg.bfs(G, 0)
except KeyboardInterrupt:
    print("stopped")
assert interrupt not in sys.meta_path and "numba" in sys.modules
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
print(hpg.bfs(G, 0).level.tolist())
"""


@pytest.mark.parametrize("module", ["numba.core.typing", "numba.stencils.stencil", "hpgraph.kernels.spmv.cpu"])
def test_ctrl_c_within_the_first_imports_leaves_whole_modules(module: str, tmp_path: Path) -> None:
    assert printed(FIRST.format(module=module), cwd=tmp_path, PYTHONPATH=ROOT) == "stopped\n[0, 1, 2]\n"


# Ctrl-C within a package whose first import is whole, and the second import: submodules are those of the same object.
SECOND = """
import signal, sys
import hpgraph
signal.signal(signal.SIGINT, signal.default_int_handler)
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "networkx.convert":
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
try:
    import networkx
except KeyboardInterrupt:
    print("stopped")
assert "networkx" not in sys.modules and "networkx.convert" in sys.modules
import networkx
print(networkx.convert is sys.modules["networkx.convert"], networkx.__spec__.origin is not None)
"""


def test_ctrl_c_within_the_import_of_a_package(tmp_path: Path) -> None:
    assert printed(SECOND, cwd=tmp_path, PYTHONPATH=ROOT) == "stopped\nTrue True\n"


# Ctrl-C while Numba compiles: as it takes functions out of its registries, by generators, and as it makes code of them.
# Of what follows, the imports come before: each call in them would be looked at, too.
COMPILING = """
import signal, sys
import hpgraph as hpg, hpgraph.kernels.cpu
signal.signal(signal.SIGINT, signal.default_int_handler)
A = hpg.Matrix([[0.0, 1, 0], [0, 0, 1], [0, 0, 0]])
def interrupt(frame, event, argument):
    if event == "call" and frame.f_code.co_name == {name!r}:
        while frame is not None and frame.f_code.co_name != "compile_extra":
            frame = frame.f_back
        if frame is not None:
            sys.setprofile(None)
            signal.raise_signal(signal.SIGINT)
sys.setprofile(interrupt)
try:
    A @ [1.0, 1, 1]
except KeyboardInterrupt:
    print("stopped")
assert sys.getprofile() is None
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
print((A @ [1.0, 1, 1]).tolist(), hpg.apply(A, "sqrt").sum())
"""


@pytest.mark.parametrize("name", ["sublist_iterator", "lower_function_body"])
def test_ctrl_c_while_compiling_leaves_a_compiler(name: str, tmp_path: Path) -> None:
    variables = {"PYTHONPATH": ROOT, "HPGRAPH_CACHE_DIR": tmp_path, "NUMBA_CACHE_DIR": tmp_path}
    said = printed(COMPILING.format(name=name), cwd=tmp_path, **variables)
    assert said == "stopped\n[1.0, 1.0, 0.0] 2.0\n"
