"""The threads under the kernels: concurrent calls, calls after a fork, and the number asked for, under each layer."""

import importlib.util
import sys
from pathlib import Path

import pytest
from new_process import completed, printed

# Run in a process of its own: a threading layer is chosen once in a process's life.
PROGRAM = """
import multiprocessing, sys, threading
import numpy as np
from hpgraph import config
from hpgraph.core.errors import DeviceError
from hpgraph.kernels.runtime.cpu.threads import layer, team
import numba

@numba.njit(parallel=True)
def total(values):
    result = 0
    for i in numba.prange(values.size):
        result += values[i]
    return result

values = np.arange(200_001)
expected = int(values.sum())

def call(results):
    for _ in range(50):
        with team():
            results.append(total(values))

def child(queue):
    try:
        with team():
            queue.put(total(values))
    except DeviceError as error:
        queue.put(str(error))

results = []
call(results)
workers = [threading.Thread(target=call, args=(results,)) for _ in range(4)]
for worker in workers: worker.start()
for worker in workers: worker.join()
assert results == [expected] * 250, "concurrent calls"

before = numba.get_num_threads()
with config(threads=1), team() as threads, team() as again:
    assert threads == again == numba.get_num_threads() == 1, "the number asked for"
with config(threads=4096), team() as threads:
    assert threads == numba.config.NUMBA_NUM_THREADS, "no more than were launched"
assert numba.get_num_threads() == before, "the caller's number comes back"

fork = multiprocessing.get_context("fork")
queue = fork.Queue()
process = fork.Process(target=child, args=(queue,))
process.start()
answer = queue.get(timeout=60)
process.join()
print(layer(), "yes" if answer == expected else answer)
"""


def _run(tmp_path: Path, *absent: str, **environment: str) -> str:
    """The last line of the program in a process, without some of Numba's layers."""
    hidden = "".join(f"sys.modules['numba.np.ufunc.{layer}'] = None\n" for layer in absent)
    # Where the machine is busy, TBB may first complain that its threads took long to end before the fork.
    return printed(f"import sys\n{hidden}{PROGRAM}", cwd=tmp_path, **environment).strip().splitlines()[-1]


@pytest.mark.skipif(importlib.util.find_spec("numba.np.ufunc.tbbpool") is None, reason="this Numba has no TBB layer")
def test_tbb_is_found_and_first(tmp_path: Path) -> None:
    assert _run(tmp_path, NUMBA_THREADING_LAYER="default") == "tbb yes"


def needs_openmp() -> None:
    """Numba's layer links a library of the system: GNU's is libgomp.so.1, which a small Debian leaves out."""
    pytest.importorskip("numba.np.ufunc.omppool", exc_type=ImportError)


@pytest.mark.skipif(sys.platform != "linux", reason="GNU OpenMP is Linux's")
def test_openmp_explains_itself_after_a_fork(tmp_path: Path) -> None:
    needs_openmp()
    answer = _run(tmp_path, NUMBA_THREADING_LAYER="omp")
    assert answer.startswith("omp parallel kernels cannot run in a process forked")
    assert "tbb" in answer


def test_without_tbb_openmp_is_taken_and_without_both_workqueue(tmp_path: Path) -> None:
    needs_openmp()
    assert _run(tmp_path, "tbbpool", NUMBA_THREADING_LAYER="default").startswith("omp ")
    assert _run(tmp_path, "tbbpool", "omppool", NUMBA_THREADING_LAYER="default") == "workqueue yes"


ANSWERS = """
import numpy as np, scipy.sparse as sp
import hpgraph as hpg
from hpgraph.kernels.runtime.cpu.threads import layer
def of(answer):
    finite = answer[np.isfinite(answer)]
    return int(np.float64(finite) @ np.arange(finite.size))

for threads in 1, 2:
    # New graphs: what was found out of one is kept with it.
    for G in (hpg.datasets.kron(12, weighted=True), hpg.datasets.grid(60, weighted=True)):
        source = int(G.out_degree.argmax())
        A = hpg.Matrix(G)
        x = np.arange(G.n_vertices, dtype=np.float32)
        with hpg.config(threads=threads):
            answers = (
                hpg.bfs(G, source).level, hpg.sssp(G, source).distance, hpg.connected_components(G).label,
                A.mxv(x, "min_plus"),
            )
        print(*map(of, answers), end=" ")
    print()
print(layer())
"""


def test_every_layer_and_number_of_threads_gives_the_same_answers(tmp_path: Path) -> None:
    said = {}
    for name in ("tbb", "omp", "workqueue"):
        done = completed(ANSWERS, cwd=tmp_path, NUMBA_THREADING_LAYER=name)
        if "No threading layer" in done.stderr:
            continue
        assert done.returncode == 0, done.stderr
        alone, both, used = done.stdout.splitlines()
        assert used == name
        said[name, 1], said[name, 2] = alone, both
    assert ("workqueue", 1) in said and ("workqueue", 2) in said
    assert len({*said.values()}) == 1, said
