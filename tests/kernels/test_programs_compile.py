"""CUDA kernels of the iterated centralities, and of programs that say more than a number, compile without a GPU."""

import numpy as np
import pytest
from cuda_build import GENERATIONS, compiles, translates

import hpgraph as hpg
from hpgraph.algorithms import eigenvector, hits, pagerank_delta
from hpgraph.engine.declarations import declarations_of
from hpgraph.engine.definition import Parameter, Property
from hpgraph.kernels.runtime.cuda.program import cuda_program
from hpgraph.kernels.runtime.cuda.specialization import specialize
from hpgraph.kernels.runtime.functions import functions_of
from hpgraph.kernels.spmv.cuda import PULL_ROWS
from hpgraph.kernels.spmv.cuda_column_blocks import blocked_prologue
from hpgraph.kernels.spmv.cuda_spmspv import PUSHES
from hpgraph.kernels.superstep import cuda as supersteps_cuda
from hpgraph.kernels.superstep.block import block_code
from hpgraph.kernels.superstep.cuda_apply import APPLY, shaped_program
from hpgraph.kernels.sweep.cuda import BY_BLOCKS, KERNELS, SLAB
from hpgraph.kernels.sweep.cuda_program import SweepProgram, ignored

pytest.importorskip("cuda.core")
pytest.importorskip("numba.cuda")


class Drawing(hpg.VertexProgram):
    """Every function draws a number, and so reads the world."""

    arrived = Property("float64")
    seed = Parameter("int64", 1)
    reduce = "max"
    aggregators = ("total",)

    def gather(source, weight, target, world):
        return hpg.uniform(world.seed, source.id, world.superstep)

    def edge_cond(source, weight, target, world):
        return hpg.uniform32(world.seed, target.id, world.superstep) < weight

    def cond(vertex, world):
        return vertex.arrived < world.total

    def update(vertex, message, world):
        return message * hpg.uniform(world.seed, vertex.id, world.superstep)

    def sends(before, vertex, world):
        return hpg.random_bits(world.seed, vertex.id) & 1 == 0

    def aggregate(before, vertex):
        return vertex.arrived


class Lightest(hpg.VertexProgram):
    """Pairs of a float and a vertex."""

    weight = Property("float32")
    source = Property("int32")
    reduce = "argmax"

    def gather(source, weight, target):
        return weight, source.id

    def update(vertex, key, payload):
        return key, payload


class Shaped(hpg.VertexProgram):
    """Tuples at vertices and as messages, of several types; all functions."""

    at = Property("float32", shape=3)
    marks = Property("int8", shape=2)
    on = Property("bool")
    seed = Parameter("int64")
    reduce = "plus"
    message = "float64", 4
    aggregators = ("total",)

    def gather(source, weight, target, world):
        return source.at[0] * weight, source.at[1], source.at[2] - target.at[2], hpg.uniform(world.seed, source.id)

    def edge_cond(source, weight, target):
        return source.marks[0] != target.marks[1]

    def cond(vertex):
        return vertex.on

    def starts(vertex, world):
        return vertex.at[0] > world.total

    def update(vertex, message, world):
        return (message[0], message[1], message[2] / message[3]), (vertex.marks[1], world.superstep), vertex.on

    def aggregate(before, vertex):
        return before.at[0] - vertex.at[0]


class Narrow(hpg.VertexProgram):
    """A tuple at vertices, one number a message."""

    at = Property("int32", shape=8)
    reduce = "min"
    message = "int16"

    def gather(source, weight, target):
        return source.at[7]

    def update(vertex, message):
        a = vertex.at
        return message, a[0], a[1], a[2], a[3], a[4], a[5], a[6]


def code_of(program):
    declared = declarations_of(program)
    return declared.code(tuple(np.dtype(prop.dtype) for prop in declared.properties.values()))


@pytest.mark.parametrize(("program", "arch"), list(zip((Drawing, Lightest), GENERATIONS, strict=True)))
def test_general_loop(program, arch):
    made = cuda_program(code_of(program), np.dtype("float32"))
    compiles("frontier.cuh", made.prologue, made.ltoir, ("hpgraph::run_small<Program, int, float>",), arch)
    compiles("apply.cuh", made.prologue, made.ltoir, APPLY, arch)


def test_over_blocks():
    """The id of a vertex is that of the graph, not its number in the block."""
    made = cuda_program(block_code(code_of(Drawing)), np.dtype("float32"))
    compiles("apply.cuh", made.prologue, made.ltoir, APPLY)
    compiles("joined.cuh", made.prologue, made.ltoir, supersteps_cuda.JOIN_KERNELS)


class Step(hpg.VertexProgram):
    """A step over vertices only, with start vertices."""

    value = Property("float32")
    seen = Property("int8")
    seed = Parameter("int64")

    def starts(vertex, world):
        return hpg.uniform(world.seed, vertex.id) < vertex.value

    def update(vertex, world):
        return vertex.value / 2, vertex.seen + 1


def test_steps_of_vertices_alone():
    code = code_of(Step)
    for one in (code, code.choosing):
        made = cuda_program(one, None)
        compiles("apply.cuh", made.prologue, made.ltoir, APPLY)


@pytest.mark.parametrize(("program", "weight"), [(Shaped, "float32"), (Narrow, None)])
def test_tuples(program, weight):
    made = shaped_program(code_of(program), None if weight is None else np.dtype(weight), np.dtype("int32"))
    ask = compiles if program is Narrow else translates
    ask("shaped.cuh", made.prologue, made.ltoir, ("hpgraph::send<Program, int>", *APPLY))
    special = made.product
    compiles("spmv.cuh", special.prologue, special.ltoir, tuple(f"hpgraph::{name}<Product>" for name in PULL_ROWS))


@pytest.mark.parametrize("arch", GENERATIONS)
def test_tuples_on_every_generation(arch):
    code = code_of(Shaped)
    made = shaped_program(code if arch == GENERATIONS[0] else code.choosing, None, np.dtype("int64"))
    compiles("shaped.cuh", made.prologue, made.ltoir, ("hpgraph::send<Program, long long>", *APPLY), arch)


@pytest.mark.parametrize("program", [Drawing, Lightest])
def test_products(program):
    code, weight, ids = code_of(program), np.dtype("float32"), np.dtype("int32")
    state = (*(dtype for _, dtype in code.properties), *code.cells)
    special = specialize(functions_of(code).offer, code.reduce, None, weight, ids, state, code.message, True)
    for source, kernels in (("spmv.cuh", PULL_ROWS), ("spmspv.cuh", PUSHES)):
        names = tuple(f"hpgraph::{name}<Product>" for name in kernels)
        compiles(source, special.prologue, special.ltoir, names)


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
    linked = *special.ltoir, *made.ltoir
    compiles("sweep_slab.cuh", special.prologue + made.prologue, linked, (SLAB,))
    if weighted:
        before = blocked_prologue(special, values[0]) + made.prologue
        compiles("sweep_blocks.cuh", before, linked, (*BY_BLOCKS, "hpgraph::gather_blocks<Blocked>"))


@pytest.mark.parametrize("weighted", [False, True])
def test_senders(weighted: bool) -> None:
    program = pagerank_delta.WeightedChanges if weighted else pagerank_delta.Changes
    given = ("float64", "int64", "int64", "float64" if weighted else "int32")
    code = declarations_of(program).code(tuple(map(np.dtype, given)))
    made = cuda_program(code, np.dtype(np.float32) if weighted else None)
    kind = "float" if weighted else "hpgraph::Pattern"
    compiles("frontier.cuh", made.prologue, made.ltoir, (f"hpgraph::run_small<Program, int, {kind}>",))
