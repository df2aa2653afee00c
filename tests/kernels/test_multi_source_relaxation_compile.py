"""The CUDA kernels of relaxations in lanes compile for every generation of GPUs; no GPU is needed."""

import numpy as np
import pytest
from cuda_build import GENERATIONS, LOCAL, compiles, translates

import hpgraph as hpg
from hpgraph.algorithms import distances
from hpgraph.engine.declarations import declarations_of
from hpgraph.kernels.relaxation import cuda_sources as cuda_relax
from hpgraph.kernels.runtime.cuda import persistent

pytest.importorskip("cuda.core")
pytest.importorskip("numba.cuda")

C = {"int32": "int", "int64": "long long", "float32": "float", "float64": "double"}


class Widest(hpg.VertexProgram):
    """A monoid that is not the least, and both conditions."""

    width = hpg.Property("int64", initial=0)
    reduce = "max"

    def gather(source, weight, target):
        return min(source.width, weight)

    def cond(vertex):
        return vertex.id % 7 != 3

    def edge_cond(source, weight, target):
        return weight > 2


def program_of(program, weight):
    declared = declarations_of(program)
    code = declared.code(tuple(np.dtype(prop.dtype) for prop in declared.properties.values()))
    return cuda_relax.value_program(code, None if weight is None else np.dtype(weight))


def relaxation_of(program, weight, index="int32"):
    made = program_of(program, weight)
    kind = "hpgraph::Pattern" if weight is None else C[weight]
    names = cuda_relax.kernel_names(C[index], kind, persistent.techniques_type())
    # Of 1,024 threads each has 64 registers: what changes once a superstep is spilt.
    before = f"#define HPGRAPH_THREADS {cuda_relax.THREADS_OF_MANY_ARCS}\n"
    return cuda_relax.SOURCE, before + made.prologue, made.ltoir, tuple(names.values())


@pytest.mark.parametrize(
    ("program", "weight", "arch"), [(distances.SingleDistances, "float32", GENERATIONS[0]), (Widest, "int64", "sm_90")]
)
def test_machine_code(program, weight, arch):
    """Of the second, conditions and another monoid."""
    compiles(*relaxation_of(program, weight), arch, local=LOCAL + 160)


def test_other_types():
    translates(*relaxation_of(distances.Distances, None))
    translates(*relaxation_of(distances.Distances, "float64", "int64"))


@pytest.mark.parametrize("index", ["int32", "int64"])
def test_structs_lie_as_the_host_fills_them(index):
    made = program_of(distances.SingleDistances, "float32")
    layouts = cuda_relax.PRIORITY.of(Value=np.dtype(np.float32)), cuda_relax.SPACE.of(Index=np.dtype(index))
    held = persistent.checks(*layouts)
    assert held.count("static_assert") > 30
    names = tuple(cuda_relax.kernel_names("int", "float", persistent.techniques_type()).values())
    translates(cuda_relax.SOURCE, made.prologue, made.ltoir, names, checks=held)
