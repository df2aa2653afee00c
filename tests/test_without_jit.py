"""Under ``NUMBA_DISABLE_JIT=1`` the CPU kernels are Python functions, and tests of their answers pass as they are."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
# Files, and the words by which tests of them are chosen: enough that every kind of kernel runs, and none for long.
PARTS = [
    (
        ("engine/test_placements.py", "algorithms/test_bfs.py", "algorithms/test_betweenness.py", "engine/test_run.py"),
        "((memory and not host) or (test_directions and not pull) or as_networkx or widest or components or tiny or "
        "conditions) and not (cluster or file or sampled or grid)",
    ),
    (
        ("algebra/test_mxv.py", "algebra/test_against_graphblas.py", "test_matrix_products.py",
         "test_matrix_manners.py", "csgraph/test_against_scipy.py"),
        # Not of 0 / 0, of which NumPy warns.
        "(absent_entries or union or intersection or select or extract or transpose or mxm or kronecker or reduc or "
        "either_side or operators or shortest_paths or negative_lengths or of_small_graphs or spanning_trees) "
        "and not div",
    ),
]  # fmt: skip
KERNELS = """
from hpgraph.kernels.runtime.cpu import claim, progress
from hpgraph.kernels.spmv import cpu as product
from hpgraph.kernels.traversal import direction_optimizing as traverse
for kernel in (traverse.run_supersteps, product._pull, progress.now, progress.cycles, claim.flush):
    assert type(kernel).__name__ == "function", kernel
assert progress.cycles.__name__ == "cycles" and progress.cycles.__doc__ == "The processor's cycle counter."
"""


def without_jit(folder: Path, *words: str) -> str:
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "HPGRAPH_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(("files", "chosen"), PARTS, ids=["graphs", "matrices"])
def test_answers_without_compiling(tmp_path: Path, files: tuple[str, ...], chosen: str) -> None:
    # Bins of a width that is infinite: what a processor computes with it is no number, and is asked for no more.
    options = ["-q", "-p", "no:cacheprovider", "-k", chosen, "-W", "error::RuntimeWarning"]
    options += ["-W", "ignore:invalid value encountered in scalar multiply:RuntimeWarning"]
    said = without_jit(tmp_path, "-m", "pytest", *options, *(str(HERE / name) for name in files))
    assert int(said.strip().splitlines()[-1].split(" passed")[0]) > 40
    assert list(tmp_path.rglob("*.nb?")) == []


def test_the_kernels_are_python(tmp_path: Path) -> None:
    without_jit(tmp_path, "-c", KERNELS)
