"""CUDA code of products over windows compiles for old and new GPUs, and structs are laid out as the host fills them."""

from __future__ import annotations

import numpy as np
import pytest

from hpgraph.algorithms.distances import Distances
from hpgraph.algorithms.levels import Tree
from hpgraph.algorithms.pagerank import PageRank
from hpgraph.engine.declarations import declarations_of
from hpgraph.kernels.out_of_core.cuda_visits import LIST, SURVEY
from hpgraph.kernels.runtime.cuda.nvrtc import compile_only
from hpgraph.kernels.runtime.cuda.program import cuda_program
from hpgraph.kernels.superstep.cuda_windows import CARRY

F64, F32, I32 = (np.dtype(name) for name in ("float64", "float32", "int32"))


def code_of(program, types, weight):
    code = declarations_of(program).code(types)
    return code, cuda_program(code, weight)


@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
@pytest.mark.parametrize(
    ("program", "types", "weight", "flags"),
    [(PageRank, (F64, I32), None, "true, false, false"), (Distances, (F64,), F32, "false, true, true")],
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
    assert compile_only("spread.cuh", names=(SURVEY, LIST))
    visit = "hpgraph::visit_groups<int, hpgraph::NoWeights, true, hpgraph::Hook<int>>"
    names = "hpgraph::link_heads<int>", "hpgraph::mark_outside<int>", visit
    assert compile_only("spread_components.cuh", names=names)
