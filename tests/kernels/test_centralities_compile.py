"""The programs of the iterated centralities, and of PageRank by changes, compile for the GPU, without one."""

import numpy as np
import pytest
from cuda_build import compiles

from hpgraph.algorithms import eigenvector, hits, pagerank_delta
from hpgraph.engine.declarations import declarations_of
from hpgraph.kernels.runtime.cuda.program import cuda_program
from hpgraph.kernels.runtime.functions import functions_of

pytest.importorskip("cuda.core")
pytest.importorskip("numba.cuda")

from hpgraph.kernels.runtime.cuda.specialization import specialize
from hpgraph.kernels.sweep.cuda import KERNELS
from hpgraph.kernels.sweep.cuda_program import SweepProgram, ignored
from hpgraph.kernels.sweep.cuda_slab import KERNEL as SLAB


@pytest.mark.parametrize(
    ("program", "weighted", "dtype"),
    [(eigenvector._PROGRAMS, False, "float32"), (eigenvector._KATZ[False], False, "float64"),
     (eigenvector._KATZ[True], True, "float32"), (hits._MUTUAL, True, "float64"), (hits._HUBS, False, "float32")],
)  # fmt: skip
def test_sweeps(program: dict, weighted: bool, dtype: str) -> None:
    declared = declarations_of(program[weighted])
    values = (np.dtype(dtype),) * len(declared.properties)
    code = declared.code(values)
    assert ignored(code) == ({"target"} if weighted else {"weight", "target"}), "a gather reads no more than it must"
    made = SweepProgram(code, declared.functions["converged"])
    compiles("sweep.cuh", made.prologue, made.ltoir, KERNELS)
    weight = np.dtype(np.float32) if weighted else None
    special = specialize(
        functions_of(code).offer, code.reduce, None, weight, np.dtype(np.int32), values, code.message, False
    )
    compiles("sweep_slab.cuh", special.prologue + made.prologue, (*special.ltoir, *made.ltoir), (SLAB,))


@pytest.mark.parametrize("weighted", [False, True])
def test_who_sends(weighted: bool) -> None:
    program = pagerank_delta.WeightedChanges if weighted else pagerank_delta.Changes
    given = ("float64", "int64", "int64", "float64" if weighted else "int32")
    code = declarations_of(program).code(tuple(map(np.dtype, given)))
    made = cuda_program(code, np.dtype(np.float32) if weighted else None)
    kind = "float" if weighted else "hpgraph::Pattern"
    compiles("frontier.cuh", made.prologue, made.ltoir, (f"hpgraph::run_small<Program, int, {kind}>",))
