"""CUDA code of products over windows and of parts on several GPUs compiles; structs lie as the host fills them."""

import numpy as np
import pytest
from cuda_build import GENERATIONS, LOCAL, compiles

from benchmarks import exchange
from hpgraph.algorithms.bfs import Tree
from hpgraph.algorithms.distances import Distances, SingleDistances
from hpgraph.algorithms.pagerank import PageRank
from hpgraph.engine.declarations import declarations_of
from hpgraph.kernels.out_of_core.cuda_visits import KERNELS
from hpgraph.kernels.relaxation import cuda as relaxation
from hpgraph.kernels.runtime.cuda import persistent
from hpgraph.kernels.runtime.cuda.multi_gpu_barrier import SHARED, message_dtype
from hpgraph.kernels.runtime.cuda.nvrtc import compile_only
from hpgraph.kernels.runtime.cuda.program import cuda_program
from hpgraph.kernels.superstep import cuda as superstep
from hpgraph.kernels.superstep.cuda_windows import CARRY
from hpgraph.kernels.traversal import cuda as traversal

pytest.importorskip("cuda.core")
pytest.importorskip("numba.cuda")

F64, F32, I32 = (np.dtype(name) for name in ("float64", "float32", "int32"))


def code_of(program, types, weight):
    code = declarations_of(program).code(types)
    return code, cuda_program(code, weight)


@pytest.mark.parametrize(
    ("program", "types", "weight", "flags", "arch"),
    [
        (PageRank, (F64, I32), None, "true, false, false", "sm_75"),
        (Distances, (F64,), F32, "false, true, true", "sm_90"),
    ],
)
def test_tiles(program, types, weight, flags, arch):
    code, made = code_of(program, types, weight)
    which = f"Program, int, {'hpgraph::NoWeights' if weight is None else made.weight_type}, {flags}"
    names = f"hpgraph::gather_tiles<{which}>", "hpgraph::join_tiles<Program>"
    checks = CARRY.of(Message=code.message).checks
    assert compile_only("window.cuh", made.prologue, made.ltoir, names, arch, checks)


@pytest.mark.parametrize(
    ("program", "types", "weight", "functor", "gaps"),
    [
        (Tree, (I32, I32), None, "hpgraph::Receive<Program>", "true"),
        (Tree, (I32, I32), None, "hpgraph::Send<Program, true>", "false"),
        (Distances, (F64,), F32, "hpgraph::Send<Program, false>", "true"),
    ],
)
def test_visits(program, types, weight, functor, gaps):
    _, made = code_of(program, types, weight)
    weights = "hpgraph::NoWeights" if weight is None else made.weight_type
    names = f"hpgraph::visit_groups<int, {weights}, {gaps}, {functor}>", "hpgraph::receive_from_head<Program, int>"
    assert compile_only("spread.cuh", made.prologue, made.ltoir, names)


def test_tables_of_pages_and_components():
    assert compile_only("spread.cuh", names=KERNELS.text()["names"])
    visit = "hpgraph::visit_groups<int, hpgraph::NoWeights, true, hpgraph::Hook<int>>"
    names = "hpgraph::link_heads<int>", "hpgraph::mark_outside<int>", visit
    assert compile_only("spread_components.cuh", names=names)


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


def test_layout_of_messages_is_that_of_the_kernels() -> None:
    assert message_dtype(IDS, np.dtype(np.float32)).itemsize == 8
    assert message_dtype(IDS, np.dtype(np.int64)).itemsize == 16


def test_messages_of_several_goes_are_joined() -> None:
    code = declarations_of(SingleDistances).code((np.dtype(np.float32),))
    program = cuda_program(code, None)
    compiles("joined.cuh", program.prologue, program.ltoir, superstep.JOIN_KERNELS, GENERATIONS[1])


def test_the_benchmark_of_the_exchange() -> None:
    compiles("multi_gpu_barrier.cuh", exchange.SOURCE, (), ("hpgraph::levels",), GENERATIONS[1])
