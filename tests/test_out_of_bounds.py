"""A user's function that indexes a captured array out of its bounds: an IndexError that names it, on any path."""

import numpy as np
import pytest
from new_process import printed
from raising import raises

import hpgraph as hpg
from hpgraph.kernels.runtime.cuda.nvrtc import compile_only
from hpgraph.semiring import BinaryOp, Function, Semiring, get_monoid
from hpgraph.semiring.cuda import function_functor

rng = np.random.default_rng(0)
N = 3000
GRAPHS = {
    "few arcs": hpg.Graph.from_edges([0, 1, 2], [1, 2, 0], n_vertices=3),
    "many arcs": hpg.Graph.from_edges(*rng.integers(0, N, (2, 40_000)), n_vertices=N),
}
table = np.arange(float(N))
three = np.array([3.0, 5.0, 7.0])


def lookup(i: int) -> float:
    return three[i]


class Sent(hpg.VertexProgram):
    value = hpg.Property("float64", initial=1)
    shift = hpg.Parameter("int64")
    reduce = "plus"
    activity = "all"
    max_iteration = 1

    def gather(source, weight, target, world):
        return table[source.id + world.shift]

    def update(vertex, message):
        return message


class Updated(hpg.VertexProgram):
    value = hpg.Property("float64", initial=0)
    shift = hpg.Parameter("int64")
    reduce = "min"
    max_iteration = 1

    def gather(source, weight, target):
        return source.value + 1

    def update(vertex, message, world):
        return lookup(vertex.id % 3 + world.shift)


class Chosen(Sent):
    activity = "changed"
    reduce = "max"

    def cond(vertex, world):
        return table[vertex.id + world.shift] >= 0


@pytest.mark.parametrize(
    ("program", "name", "size"),
    [(Sent, "gather", "few arcs"), (Updated, "update", "many arcs"), (Chosen, "cond|gather", "many arcs")],
)
@pytest.mark.parametrize("shift", [10_000, -10_000, 1 << 40])
def test_the_function_is_named(program: type[hpg.VertexProgram], name: str, size: str, shift: int, device: str) -> None:
    message = rf"{program.__name__}\.({name})\(\) indexes an array or a tuple out of its bounds"
    with pytest.raises(IndexError, match=message):
        hpg.run(program, GRAPHS[size].to(device), shift=shift)
    # And the next run is right; of negative indices as in Python.
    found = hpg.run(Sent, GRAPHS["few arcs"].to(device), shift=-1).value
    assert found.tolist() == [1, N - 1, 0]


class Levels(hpg.VertexProgram):
    """Runs as one kernel, a traversal."""

    level = hpg.Property("int64", initial=-1, start=0)
    reduce = "any"

    def gather(source, weight, target):
        return source.level + int(table[source.id]) - source.id + 1

    def cond(vertex):
        return vertex.level < 0

    def update(vertex, message):
        return message


class Farthest(hpg.VertexProgram):
    """Runs as one kernel, a relaxation."""

    value = hpg.Property("float64", initial=0)
    reduce = "max"

    def gather(source, weight, target):
        return min(table[source.id], 5.0)


@pytest.mark.parametrize("program", [Levels, Farthest])
def test_kernels_of_many_supersteps(program: type[hpg.VertexProgram], device: str) -> None:
    places = np.arange(N + 20)
    longer = hpg.Graph.from_edges(places[:-1], places[1:], n_vertices=N + 20).to(device)
    active = [0, N + 10]
    raises(hpg.OutOfBoundsError, program.__name__, hpg.run, program, longer, active=active)
    hpg.run(program, GRAPHS["many arcs"].to(device), active=[0])


def test_of_two_programs_with_one_function_the_one_that_runs(device: str) -> None:
    class Another(Sent):
        pass

    with pytest.raises(hpg.OutOfBoundsError, match=r"Another\.gather\(\)") as caught:
        hpg.run(Another, GRAPHS["few arcs"].to(device), shift=10_000)
    assert caught.value.function == "Another.gather"


@pytest.mark.parametrize(
    ("operation", "size"),
    [("apply", 10), ("select", 200_000), ("ewise_add", 10), ("ewise_mult", 10), ("Vector.apply", 200_000)],
)
def test_functions_of_operations(operation: str, size: int, device: str) -> None:
    places = np.arange(size)
    A = hpg.Matrix.from_coo(places, places, np.arange(float(size)), shape=(size, size)).to(device)

    def looked_up(x):
        return three[int(x)]

    def is_positive(x):
        return three[int(x)] > 0

    def joined(x, y):
        return three[int(x)] + y

    operations = {
        "apply": lambda: A.apply(looked_up), "select": lambda: A.select(is_positive),
        "Vector.apply": lambda: hpg.Vector(np.arange(float(size))).to(device).apply(looked_up),
        "ewise_add": lambda: A.ewise_add(A, joined), "ewise_mult": lambda: A.ewise_mult(A, joined),
    }  # fmt: skip
    with pytest.raises(hpg.OutOfBoundsError, match="out of its bounds") as caught:
        operations[operation]()
    assert caught.value.function in ("looked_up", "is_positive", "joined")


@pytest.mark.parametrize("operation", ["mxv", "mxm"])
def test_functions_of_products(operation: str, device: str) -> None:
    places = np.arange(10)
    A = hpg.Matrix.from_coo(places, places, np.arange(10.0), shape=(10, 10)).to(device)

    def times(x, y):
        return three[int(x)] * y

    semiring = Semiring(get_monoid("plus"), BinaryOp("times", times, "float"))
    with pytest.raises(hpg.OutOfBoundsError, match=r"out of its bounds"):
        A.mxv(hpg.Vector(np.ones(10)).to(device), semiring) if operation == "mxv" else A.mxm(A, semiring)


def test_another_exception_of_a_function(device: str) -> None:
    class Raising(Sent):
        def gather(source, weight, target, world):
            if source.id == world.shift:
                raise ValueError("this vertex sends nothing")
            return source.value

    # What a kernel on the GPU knows is that there was one.
    kind, said = (ValueError, "sends nothing") if device == "cpu" else (RuntimeError, r"gather\(\) raised an exception")
    with pytest.raises(kind, match=said):
        hpg.run(Raising, GRAPHS["few arcs"].to(device), shift=1)
    assert hpg.run(Raising, GRAPHS["few arcs"].to(device), shift=-1).value.max() >= 1


def test_a_tuple(device: str) -> None:
    class Chooses(Sent):
        def gather(source, weight, target, world):
            return (1.0, 2.0, 4.0)[source.id + world.shift]

    assert hpg.run(Chooses, GRAPHS["few arcs"].to(device), shift=0).value.tolist() == [4, 1, 2]
    with pytest.raises(hpg.OutOfBoundsError, match=r"Chooses\.gather\(\)"):
        hpg.run(Chooses, GRAPHS["few arcs"].to(device), shift=1)


def test_without_checks_the_answer_is_the_same(device: str) -> None:
    graph = GRAPHS["few arcs"].to(device)
    checked = hpg.run(Sent, graph, shift=0).value
    with hpg.config(check_bounds=False):
        assert (hpg.run(Sent, graph, shift=0).value == checked).all()
    with pytest.raises(IndexError):
        hpg.run(Sent, graph, shift=10_000)


@pytest.mark.parametrize("checks", [True, False])
def test_machine_code_of_a_gpu_reports(checks: bool) -> None:
    """Linked with its function, a kernel has the words that are counted in exactly where there are checks."""
    pytest.importorskip("numba.cuda.compiler")
    pytest.importorskip("cuda.core")
    with hpg.config(check_bounds=checks):
        code = function_functor(Function(lookup), (np.int64,), np.float64, "Lookup")
    kernel = 'extern "C" __global__ void look(long long* at, double* to) { *to = Lookup::apply(*at); }'
    cubin = compile_only("operators.cuh", code.source + kernel, code.ltoir, ("look",))
    assert (b"hpgraph_faults" in cubin) is checks


def test_the_setting_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HPGRAPH_CHECK_BOUNDS", "0")
    assert not hpg.config.check_bounds
    monkeypatch.setenv("HPGRAPH_CHECK_BOUNDS", "perhaps")
    with pytest.raises(ValueError, match="HPGRAPH_CHECK_BOUNDS must be True or False"):
        _ = hpg.config.check_bounds


def test_code_from_disk_names_the_function() -> None:
    program = (
        "import numpy as np, hpgraph as hpg\n"
        "table = np.ones(3)\n"
        "class {0}(hpg.VertexProgram):\n"
        "    value = hpg.Property('float64', initial=1)\n"
        "    reduce = 'plus'; activity = 'all'; max_iteration = 1\n"
        "    def gather(source, weight, target): return table[source.id + 3]\n"
        "    def update(vertex, message): return message\n"
        "try: hpg.run({0}, hpg.Graph.from_edges([0, 1], [1, 0]))\n"
        "except IndexError as error: print(error)\n"
    )
    for name in ("First", "Second"):
        assert printed(program.format(name)).startswith(f"{name}.gather() indexes")
