"""The kernels that run side by side on several GPUs compile for every generation of them; no GPU is needed."""

from __future__ import annotations

import numpy as np
import pytest
from cuda_build import GENERATIONS, LOCAL, compiles

from benchmarks import exchange
from hpgraph.algorithms.distances import SingleDistances
from hpgraph.algorithms.levels import Tree
from hpgraph.engine.declarations import declarations_of
from hpgraph.kernels.relaxation import cuda as relaxation
from hpgraph.kernels.runtime.cuda import persistent
from hpgraph.kernels.runtime.cuda.multi_gpu_barrier import SHARED, message_dtype
from hpgraph.kernels.runtime.cuda.program import cuda_program
from hpgraph.kernels.superstep import cuda as superstep
from hpgraph.kernels.traversal import cuda as traversal

pytest.importorskip("cuda.core")
pytest.importorskip("numba.cuda")

IDS = np.dtype(np.int32)


def test_a_traversal_in_parts() -> None:
    code = declarations_of(Tree).code((IDS, IDS))
    program = cuda_program(code, None)
    sent = traversal.EXCHANGE.of(Index=IDS, Message=code.message)
    layouts = traversal.POLICY, traversal.SPACE.of(Index=IDS), sent, *SHARED
    name = f"hpgraph::traverse_divided<Program, int, hpgraph::Pattern, {persistent.techniques_type()}>"
    compiles(
        "traversal.cuh", program.prologue, program.ltoir, (name,), GENERATIONS[0], LOCAL + 64,
        checks=persistent.checks(*layouts),
    )  # fmt: skip


def test_a_relaxation_in_parts() -> None:
    code = declarations_of(SingleDistances).code((np.dtype(np.float32),))
    program = cuda_program(code, np.dtype(np.float32))
    sent = relaxation.EXCHANGE.of(Index=IDS, Message=code.message)
    layouts = relaxation.SPACE.of(Index=IDS, Value=code.message), sent, *SHARED
    name = f"hpgraph::relax_divided<Program, int, float, Program::Message, {persistent.techniques_type()}>"
    compiles(
        "delta_stepping.cuh", program.prologue, program.ltoir, (name,), GENERATIONS[1],
        checks=persistent.checks(*layouts),
    )  # fmt: skip


def test_messages_lie_as_the_kernels_write_them() -> None:
    assert message_dtype(IDS, np.dtype(np.float32)).itemsize == 8
    assert message_dtype(IDS, np.dtype(np.int64)).itemsize == 16


def test_messages_of_several_goes_are_joined() -> None:
    code = declarations_of(SingleDistances).code((np.dtype(np.float32),))
    program = cuda_program(code, None)
    compiles("joined.cuh", program.prologue, program.ltoir, superstep.JOIN_KERNELS, GENERATIONS[1])


def test_the_benchmark_of_the_exchange() -> None:
    compiles("multi_gpu_barrier.cuh", exchange.SOURCE, (), ("hpgraph::levels",), GENERATIONS[1])
