"""The CUDA kernels of many lanes compile for all numbers of words and every generation of GPUs; no GPU is needed."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from cuda_build import GENERATIONS, compiles, translates
from cuda_build import LOCAL as SPILLED

import hpgraph as hpg
from hpgraph.algorithms import distances
from hpgraph.algorithms.bfs import Tree, _program
from hpgraph.engine.declarations import declarations_of
from hpgraph.engine.definition import Property
from hpgraph.engine.multi_source_totals import Levels
from hpgraph.kernels.relaxation import cuda_sources as cuda_relax
from hpgraph.kernels.runtime.cuda import persistent
from hpgraph.kernels.runtime.cuda.multi_gpu_barrier import SHARED
from hpgraph.kernels.runtime.cuda.program import cuda_program
from hpgraph.kernels.runtime.search import Search
from hpgraph.kernels.traversal import Totals, cuda_sources_team
from hpgraph.kernels.traversal import cuda_sources as lanes

pytest.importorskip("cuda.core")
pytest.importorskip("numba.cuda")

# All kinds of superstep are one kernel, and what the others keep meanwhile leaves the registers.
LOCAL = 512
OLDEST, NEWEST = GENERATIONS


def before(threads=lanes.THREADS_OF_MANY_ARCS):
    return f"#define HPGRAPH_THREADS {threads}\n"


class Choosy(hpg.VertexProgram):
    """Conditions on vertices and on arcs, weights, and two properties."""

    reduce = "any"
    hops = Property("int16", initial=-1, start=0)
    open = Property("bool", initial=True)

    def gather(source, weight, target):
        return source.hops + 1

    def update(vertex, message):
        return message, vertex.open

    def cond(vertex):
        return vertex.open

    def edge_cond(source, weight, target):
        return weight > 2


def code_of(program):
    declared = declarations_of(program)
    return declared.code(tuple(np.dtype(made.dtype) for made in declared.properties.values()))


def traversal_of(program, words, weight=None, index="int", threads=lanes.THREADS_OF_MANY_ARCS):
    code = code_of(program)
    made = cuda_program(code, None if weight is None else np.dtype(weight))
    kind, by_arc = weight or "hpgraph::Pattern", "true" if lanes.differ_by_arc(code) else "false"
    name = f"hpgraph::traverse_sources<Program, {index}, {kind}, {words}, {by_arc}>"
    return "multi_source.cuh", before(threads) + made.prologue, made.ltoir, (name,)


@pytest.mark.parametrize(("index", "words"), [("int32", 1), ("int64", 2)])
def test_layouts_of_surveys_and_structs_are_those_of_the_host(index, words):
    held = persistent.checks(*lanes.layouts(np.dtype(index)), lanes.SURVEY)
    assert held.count("static_assert") > 60
    name = f"hpgraph::multi_source_totals<{'int' if index == 'int32' else 'long long'}, {words}>"
    if index == "int64":
        translates("multi_source.cuh", before(), (), (name,), checks=held)
    else:
        compiles("multi_source.cuh", before(), (), (name,), local=LOCAL, checks=held)


@pytest.mark.parametrize(("words", "ask"), [(1, translates), (2, partial(compiles, local=LOCAL))])
def test_searches_that_share_rows(words, ask):
    made = cuda_program(code_of(_program("int8", "", False)), None)
    name = f"hpgraph::traverse_sources_together<Program, int, hpgraph::Pattern, {words}>"
    shared = cuda_sources_team.ROW_SHARE, cuda_sources_team.FRONTS, *SHARED
    held = persistent.checks(*lanes.layouts(np.dtype("int32")), *shared)
    ask("multi_source_team.cuh", before() + made.prologue, made.ltoir, (name,), checks=held)


@pytest.mark.parametrize(("program", "words"), [(Tree, 1), (Tree, 2), (Levels, 2), (Choosy, 2)])
def test_messages_of_an_arc_and_of_a_vertex(program, words):
    others = ("float", "long long") if program is Choosy else ()
    translates(*traversal_of(program, words, *others))


# Machine code of one takes ten seconds and more.
def test_the_oldest_generation():
    compiles(*traversal_of(Levels, 1, threads=persistent.THREADS), GENERATIONS[0], LOCAL)


def test_searches_of_few_supersteps():
    """They never continue separately; the kernel of totals without that is the one to compile, others translate."""
    constant = (Path(lanes.__file__).parent / "separate_searches.cuh").read_text()
    assert f"constexpr i64 PARTING = {lanes.SHORT};" in constant
    assert lanes.chosen(lanes.SHORT) == f"{lanes.chosen()}, false"
    compiles(
        "multi_source.cuh", before(), (), (f"hpgraph::multi_source_totals<int, 1, {lanes.chosen(1)}>",), local=LOCAL
    )
    source, prologue, ltoir, (name,) = traversal_of(_program("int8", "", False), 2)
    translates(source, prologue, ltoir, (f"{name[:-1]}, {lanes.chosen(1)}>",))


def test_totals_of_longer_searches_are_found_anew(monkeypatch):
    asked, left = [], [True]

    def survey(search):
        asked.append(search.limit)
        return Totals(lambda: f"of {search.limit}", lambda: search.limit), lambda: left[0]

    monkeypatch.setattr(lanes, "_survey", survey)
    path = hpg.Graph.from_edges([0], [1]).out_csr
    search = Search(None, path, (), (), (), None, 1000, path, 0.0, 0.0, -1)
    found = lanes.survey_sources(search)
    assert (found.of_sources(), found.rows(), asked) == ("of 1000", 1000, [lanes.SHORT, 1000])
    assert lanes.survey_sources(search).rows() == 1000 and asked[2:] == [1000], "the graph is known"
    again = hpg.Graph.from_edges([0], [1]).out_csr
    left[0] = False
    assert lanes.survey_sources(search._replace(out=again)).of_sources() == f"of {lanes.SHORT}"
    assert lanes.survey_sources(search._replace(out=again, limit=7)).rows() == 7


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_histories(size):
    kinds = ({"Aligned": True, "Words": 2}, {"Aligned": False, "Words": 1})
    names = [name for kind in kinds for name in lanes.HISTORY.text(Element=np.dtype(f"u{size}"), **kind)["names"]]
    compiles("source_history.cuh", "", (), names)


def test_what_messages_depend_on():
    codes = {program: code_of(program) for program in (Levels, Tree, Choosy)}
    assert {program.__name__ for program, code in codes.items() if lanes.differ_by_arc(code)} == {"Tree", "Choosy"}
    beginnings = tuple(found[1] for found in declarations_of(Levels).beginnings.values())
    assert lanes.may_wait(codes[Levels], beginnings)
    assert not lanes.may_wait(codes[Levels], (None,))


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
    return cuda_relax.value_program(code_of(program), None if weight is None else np.dtype(weight))


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
def test_relaxations(program, weight, arch):
    """Of the second, conditions and another monoid."""
    compiles(*relaxation_of(program, weight), arch, local=SPILLED + 160)


def test_relaxations_of_other_types():
    translates(*relaxation_of(distances.Distances, None))
    translates(*relaxation_of(distances.Distances, "float64", "int64"))


@pytest.mark.parametrize("index", ["int32", "int64"])
def test_layouts_of_relaxations_structs_are_those_of_the_host(index):
    made = program_of(distances.SingleDistances, "float32")
    layouts = cuda_relax.PRIORITY.of(Value=np.dtype(np.float32)), cuda_relax.SPACE.of(Index=np.dtype(index))
    held = persistent.checks(*layouts)
    assert held.count("static_assert") > 30
    names = tuple(cuda_relax.kernel_names("int", "float", persistent.techniques_type()).values())
    translates(cuda_relax.SOURCE, made.prologue, made.ltoir, names, checks=held)
