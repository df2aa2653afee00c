"""Functions inside kernels: right values, every argument form, and nothing stale from the cache."""

import collections
import math

import numpy as np
import pytest
from cuda_build import GENERATIONS, functions, kernels
from new_process import printed
from raising import raises

from hpgraph.core.errors import CompileError
from hpgraph.semiring.function import Function

Vertex = collections.namedtuple("Vertex", "dist rank")

SCALE = 2.0


def scaled(value):
    return value * SCALE


def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


def wrap(user, vertex):
    """What the engine does: a generated function whose closure holds the user's function and a namedtuple class."""

    def gather(state, source, weight, target):
        return np.float32(user(vertex(state[0][source], state[1][source]), weight))

    return gather


@pytest.mark.parametrize(
    "one, other",
    [
        (lambda a: a + 1, lambda a: a + 2),
        (lambda a: a + 1, lambda a: a + 1.0),
        (lambda a: a + 0.0, lambda a: a + -0.0),
        (lambda a: a + True, lambda a: a + 1),
        (lambda a: a + 1, lambda a: a - 1),
        (lambda a, b=1: a, lambda a, b=2: a),
        (lambda a: math.sin(a), lambda a: math.cos(a)),
        (lambda a: a in {1, 2}, lambda a: a in {1, 3}),
        (wrap(scaled, Vertex), wrap(scaled, collections.namedtuple("Vertex", "rank dist"))),
        (wrap(scaled, Vertex), wrap(even, Vertex)),
    ],
)
def test_different_functions_differ_in_key(one, other):
    assert Function(one).key != Function(other).key


@pytest.mark.parametrize("bad", [np.minimum, min, 3, "min", Vertex])
def test_only_plain_functions(bad):
    raises(TypeError, r"plain Python function.*lambda a, b", Function, bad)


def test_compile_error_names_the_function_and_the_reason():
    from kernels_of_functions import apply

    def broken(value):
        return value.no_such_thing

    with pytest.raises(CompileError, match=r"broken\(\).*no_such_thing"):
        apply(Function(broken), np.ones(1), np.ones(1))
    pytest.importorskip("numba_cuda")
    raises(CompileError, r"broken\(\).*no_such_thing", Function(broken).cuda, ["float64"], "float64", "broken")


def test_wrong_number_of_arguments_is_a_compile_error():
    from kernels_of_functions import apply

    with pytest.raises(CompileError, match="argument"):
        apply(Function(lambda a, b: a, "pair"), np.ones(1), np.ones(1))
    pytest.importorskip("numba_cuda")
    raises(CompileError, "argument", Function(lambda a, b: a, "pair").cuda, ["float64"], "float64", "pair")


def test_importing_semiring_imports_no_compiler():
    code = """if True:
        import sys, hpgraph.semiring
        hpgraph.semiring.min_plus.gather(int, float).key
        print({"numba", "cupy"} & {*sys.modules})"""
    assert printed(code).strip() == "set()"


CUDA_SOURCE = """
extern "C" __device__ float gather_f(float*, float*, int, float, int);
extern "C" __device__ unsigned char both(unsigned char, unsigned char);
extern "C" __device__ signed char add_bytes(signed char, signed char);
extern "C" __device__ unsigned short add_shorts(unsigned short, unsigned short);
extern "C" __device__ void store(double*, double);
extern "C" __device__ void flip(bool*, int);
extern "C" __global__ void kernel(float* dist, float* rank, float* out, bool* flags, signed char* bytes,
                                  unsigned short* shorts, double* stored, bool* marks) {
    int i = threadIdx.x;
    out[i] = gather_f(dist, rank, i, 0.5f, 7);
    flags[i] = both(flags[i], flags[i ^ 1]);
    bytes[i] = add_bytes(bytes[i], bytes[i]);
    shorts[i] = add_shorts(shorts[i], shorts[i]);
    store(stored + i, out[i]);
    flip(marks, i);
}
"""


def put(pointer, value):
    pointer[0] = value * 2


def flip(marks, i):
    marks[i] = not marks[i]


def link(arch: str) -> bytes:
    from cuda.core import Linker, LinkerOptions, ObjectCode, Program, ProgramOptions

    gather = Function(wrap(lambda source, weight: scaled(source.dist) + weight * source.rank, Vertex))
    parts = [
        gather.cuda((("float32*", "float32*"), "int32", "float32", np.int32), np.float32, "gather_f"),
        Function(lambda a, b: a and b).cuda((bool, bool), bool, "both"),
        Function(lambda a, b: a + b).cuda((np.int8, np.int8), np.int8, "add_bytes"),
        Function(lambda a, b: a + b).cuda((np.uint16, np.uint16), np.uint16, "add_shorts"),
        Function(put).cuda(("float64*", "float64"), None, "store"),
        Function(flip).cuda(("bool*", "int32"), None, "flip"),
    ]
    options = ProgramOptions(arch=arch, std="c++17", relocatable_device_code=True, link_time_optimization=True)
    kernel = Program(CUDA_SOURCE, "c++", options).compile("ltoir")
    objects = [kernel, *map(ObjectCode.from_ltoir, parts)]
    return bytes(Linker(*objects, options=LinkerOptions(arch=arch, link_time_optimization=True)).link("cubin").code)


def test_functions_are_linked_into_a_kernel_and_inlined():
    pytest.importorskip("numba_cuda")
    cubin = link(GENERATIONS[0])
    assert kernels(cubin) == functions(cubin) == {"kernel"}


@pytest.mark.parametrize("device", ["cuda"], indirect=True)
def test_values_on_the_gpu(device, tmp_path):
    import cupy

    path = tmp_path / "kernel.cubin"
    major, minor = divmod(int(cupy.cuda.Device().compute_capability), 10)
    path.write_bytes(link(f"sm_{major}{minor}"))
    kernel = cupy.RawModule(path=str(path)).get_function("kernel")
    dist = cupy.arange(32, dtype=np.float32)
    rank = cupy.ones(32, dtype=np.float32)
    out = cupy.zeros(32, dtype=np.float32)
    before = cupy.arange(32) % 3 > 0
    flags = before.copy()
    signed = cupy.arange(-16, 16, dtype=np.int8) * 5
    unsigned = (cupy.arange(32) * 3000).astype(np.uint16)
    stored = cupy.zeros(32)
    marks = before.copy()
    arguments = (dist, rank, out, flags, signed.copy(), unsigned.copy(), stored, marks)
    kernel((1,), (32,), arguments)
    assert cupy.array_equal(out, dist * 2 + 0.5)
    assert cupy.array_equal(flags, before & before.reshape(16, 2)[:, ::-1].ravel())
    assert cupy.array_equal(arguments[4], signed + signed)
    assert cupy.array_equal(arguments[5], unsigned + unsigned)
    assert cupy.array_equal(marks, ~before)
    assert cupy.array_equal(stored, out.astype(np.float64) * 2)
