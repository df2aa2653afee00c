"""The CUDA kernels of every vertex program in the package compile for every generation of GPUs; no GPU is needed."""

import numpy as np
import pytest
from cuda_build import GENERATIONS, LOCAL, compiles, translates

import hpgraph as hpg
from hpgraph.algorithms import bfs, distances, negative_cycle, out_strength, pagerank
from hpgraph.engine.declarations import declarations_of
from hpgraph.engine.definition import Parameter, Property, declared
from hpgraph.kernels.relaxation import cuda as relaxation
from hpgraph.kernels.runtime.cuda import persistent
from hpgraph.kernels.runtime.cuda.nvrtc import compile_only
from hpgraph.kernels.runtime.cuda.program import cuda_program
from hpgraph.kernels.runtime.cuda.specialization import specialize
from hpgraph.kernels.runtime.cuda.structs import Layout
from hpgraph.kernels.runtime.functions import functions_of
from hpgraph.kernels.spmv.cuda import PULL_ROWS
from hpgraph.kernels.spmv.cuda_spmspv import PUSHES
from hpgraph.kernels.superstep import cuda as superstep
from hpgraph.kernels.traversal import cuda as traversal
from hpgraph.semiring import get_monoid

pytest.importorskip("cuda.core")
pytest.importorskip("numba.cuda")

C = {"int32": "int", "int64": "long long", "float32": "float", "float64": "double"}
APPLY = tuple(f"hpgraph::{name}<Program>" for name in ("apply", "contribute", "total", "settle"))


class Everything(hpg.VertexProgram):
    """One of each kind: several types, both conditions, parameters, sums."""

    edges = "all"
    reduce = "plus"
    message = "int64"
    aggregators = ("moved", "largest")
    on = Property("bool", initial=True)
    small = Property("int8", initial=-1)
    wide = Property("uint64")
    value = Property("float32", initial=1.5)
    share = Parameter("float32", 0.5)
    count = Parameter("int16", 3)

    def gather(source, weight, target):
        return source.small * weight + source.id

    def update(vertex, message, world):
        value = vertex.value + world.share * message / world.superstep
        return message > world.count, vertex.small + 1, vertex.wide ^ message, value

    def cond(vertex):
        return vertex.on

    def edge_cond(source, weight, target):
        return source.small < target.small or weight > 2

    def aggregate(before, vertex, world):
        return vertex.value - before.value, world.moved + vertex.small


class Widest(hpg.VertexProgram):
    """A relaxation with a user's function as its monoid."""

    width = Property("int64")
    identity = -np.inf
    idempotent = True

    def gather(source, weight, target):
        return min(source.width, weight)

    def reduce(a, b):
        return max(a, b)


def made_of(program, weight, dtypes):
    """Properties without a type of their own take theirs from `dtypes`, in order."""
    found, rest = [], list(dtypes)
    for declaration in declared(program, Property).values():
        found.append(np.dtype(declaration.dtype or rest.pop(0)))
    assert not rest
    return cuda_program(declarations_of(program).code(tuple(found)), None if weight is None else np.dtype(weight))


def compiled(program, weight, dtypes, source, names, arch="sm_90", before="", local=LOCAL):
    """To machine code; `before` is text put in front."""
    made = made_of(program, weight, dtypes)
    compiles(source, before + made.prologue, made.ltoir, names, arch, local)


def traversal_of(program, weight, dtypes, index="int32"):
    kind = "hpgraph::Pattern" if weight is None else C[weight]
    made = made_of(program, weight, dtypes)
    return "traversal.cuh", made.prologue, made.ltoir, (f"hpgraph::traverse<Program, {C[index]}, {kind}>",)


def relaxation_of(program, weight, index="int32"):
    kind = "hpgraph::Pattern" if weight is None else C[weight]
    made = made_of(program, weight, ())
    name = f"hpgraph::relax<Program, {C[index]}, {kind}, Program::Message>"
    return "delta_stepping.cuh", made.prologue, made.ltoir, (name,)


# Machine code of each loop takes seconds: `test_every_generation` and `test_blocks_of_many_threads` ask for it.
def test_bfs():
    translates(*traversal_of(bfs.Tree, None, ()))
    translates(*traversal_of(bfs.WideTree, None, (), "int64"))


def test_bfs_in_a_cluster():
    for program, dtypes, weight, arch in (
        (bfs.Tree, (), None, "sm_90"), (Everything, (), "float64", "sm_100"), (bfs.Tree, (), None, GENERATIONS[0]),
    ):  # fmt: skip
        source, *made, _ = traversal_of(program, weight, dtypes)
        name = f"hpgraph::traverse_in_cluster<Program, int, {'hpgraph::Pattern' if weight is None else C[weight]}>"
        threads = f"#define HPGRAPH_THREADS {traversal.CLUSTER_THREADS}\n"
        compiles(f"cluster_{source}", threads + made[0], made[1], (name,), arch)


def test_sssp():
    translates(*relaxation_of(distances.Distances, None))
    translates(*relaxation_of(distances.Distances, "int32"))
    translates(*relaxation_of(distances.SingleDistances, "float32"))


@pytest.mark.parametrize(("weight", "distance"), [("int64", "float64"), ("float32", "float32")])
def test_trees_of_shortest_paths(weight, distance):
    translates(*traversal_of(distances.Hops, weight, ("int32", distance)))


def test_wide_ids():
    translates(*relaxation_of(distances.Distances, "float64", "int64"))
    translates(*traversal_of(distances.Hops, "float64", ("int64", "float64"), "int64"))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("program", [pagerank.PageRank, pagerank.Personalized])
def test_pagerank(program, dtype):
    stopping = pagerank._STOPPING[program, False]
    properties = (dtype, "int32", *((dtype,) if program is pagerank.Personalized else ()))
    compiled(stopping, None, properties, "apply.cuh", APPLY)


@pytest.mark.parametrize(
    ("program", "dtypes"),
    [
        (bfs.SmallestParent, ("int32",)), (distances.SmallestParent, ("int32", "float64")), (out_strength.Leaving, ()),
        (negative_cycle.Offer, ("float32", "float32")), (negative_cycle.Offerer, ("float64", "float64")),
    ],
)  # fmt: skip
def test_updates(program, dtypes):
    compiled(program, "float64", dtypes, "apply.cuh", APPLY)


def test_every_generation():
    oldest, newest = GENERATIONS
    compiles(*traversal_of(bfs.Tree, None, ()), oldest)
    compiles(*relaxation_of(Widest, "int64"), oldest)
    compiled(Everything, "float64", (), "apply.cuh", APPLY, newest)


def test_without_techniques():
    chosen = "hpgraph::Techniques<0, 0, 0, 1, 0>"
    name = f"hpgraph::traverse<Program, int, hpgraph::Pattern, {chosen}>"
    translates(*traversal_of(bfs.Tree, None, ())[:3], (name,))
    name = f"hpgraph::relax<Program, int, float, Program::Message, {chosen}, true>"
    translates(*relaxation_of(distances.SingleDistances, "float32")[:3], (name,))


@pytest.mark.parametrize(
    ("program", "index", "weight"),
    [(Everything, "int32", "float32"), (Everything, "int64", None), (Widest, "int64", "float32")],
)
def test_small_supersteps(program, index, weight):
    kind = "hpgraph::Pattern" if weight is None else C[weight]
    ask = compiles if index == "int32" else translates
    made = made_of(program, weight, ())
    ask("frontier.cuh", made.prologue, made.ltoir, (f"hpgraph::run_small<Program, {C[index]}, {kind}>",))


@pytest.mark.parametrize(("index", "value"), [("int32", "float32"), ("int64", "int64")])
def test_layouts_of_structs_are_those_of_the_host(index, value):
    ids, values = np.dtype(index), np.dtype(value)
    layouts = {
        "traversal.cuh": (traversal.POLICY, traversal.SPACE.of(Index=ids)),
        "delta_stepping.cuh": (relaxation.PRIORITY.of(Value=values), relaxation.SPACE.of(Index=ids, Value=values)),
        "frontier.cuh": (superstep.SPACE.of(Index=ids, Message=values),),
    }
    code = declarations_of(distances.SingleDistances).code((np.dtype("float32"),))
    program = cuda_program(code, np.dtype("float32"))
    shared = (persistent.ARCS.of(Index=ids, Weight=values), persistent.SOURCES.of(Index=ids))
    for source, own in layouts.items():
        kernel = {"traversal.cuh": "traverse", "delta_stepping.cuh": "relax", "frontier.cuh": "run_small"}[source]
        message = ", Program::Message" if kernel == "relax" else ""
        names = (f"hpgraph::{kernel}<Program, int, float{message}>",)
        held = persistent.checks(*own, *shared)
        assert held.count("static_assert") > 40
        translates(source, program.prologue, program.ltoir, names, checks=held)


def test_other_layouts_of_structs_are_detected():
    program = cuda_program(declarations_of(bfs.Tree).code((np.dtype("int32"),) * 2), None)
    wrong = Layout("Priority<{Value}>", on="int", threshold="Value").of(Value=np.dtype("float32"))
    with pytest.raises(hpg.CompileError, match="Priority"):
        compile_only("delta_stepping.cuh", program.prologue, (), ("hpgraph::THREADS",), "sm_90", wrong.checks)


@pytest.mark.parametrize("ordered", [False, True])
def test_blocks_of_many_threads(ordered):
    threads, batch = relaxation.OF_MANY_ARCS[ordered]
    name = f"hpgraph::relax<Program, int, float, Program::Message, {persistent.techniques_type(batch)}>"
    before = f"#define HPGRAPH_THREADS {threads}\n"
    compiled(distances.SingleDistances, "float32", (), "delta_stepping.cuh", (name,), before=before, local=LOCAL + 64)


def test_products_of_a_program():
    """What the general loop multiplies with: messages, and whether a condition lets one through."""
    dtypes = tuple(np.dtype(name) for name in ("bool", "int8", "uint64", "float32"))
    code = declarations_of(Everything).code(dtypes)
    functions = functions_of(code)
    for gather, monoid, message, weight in (
        (functions.offer, code.reduce, code.message, np.dtype("float64")),
        (functions.edge_cond, get_monoid("lor"), np.dtype("uint8"), None),
    ):
        special = specialize(gather, monoid, None, weight, np.dtype("int32"), dtypes, message, True)
        for source, kernels in (("spmv.cuh", PULL_ROWS), ("spmspv.cuh", PUSHES)):
            names = tuple(f"hpgraph::{kernel}<Product>" for kernel in kernels)
            compiles(source, special.prologue, special.ltoir, names)
