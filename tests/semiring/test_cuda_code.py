"""Operators as CUDA C++: compiled for two generations without a GPU, and compared with NumPy on one."""

import functools
from pathlib import Path

import numpy as np
import pytest
from cuda_build import GENERATIONS, functions, kernels
from raising import raises
from reference_operators import BINARY, DTYPES, UNARY, assert_same, expected_binary, expected_unary, samples, takes

import hpgraph.semiring
from hpgraph.semiring import Function, Monoid, get_binary, get_monoid, get_semiring, get_unary
from hpgraph.semiring.c_types import c_literal, c_type
from hpgraph.semiring.cuda import (
    INCLUDE,
    DeviceCode,
    binary_functor,
    entry_functor,
    function_functor,
    gather_functor,
    monoid_functor,
)
from hpgraph.semiring.entry import entry_function
from hpgraph.semiring.monoid import ANY_INDEX, BUILTIN

FOLDER = Path(hpgraph.semiring.__file__).parent
MONOIDS = {monoid.op.name: monoid for monoid in (*BUILTIN.values(), ANY_INDEX)}


def build(source: str, codes: list[DeviceCode], arch: str) -> bytes:
    """A cubin of a kernel and all it needs."""
    from cuda.core import Linker, LinkerOptions, ObjectCode, Program, ProgramOptions

    # The structs' own text first, the common header only once for speed.
    text = INCLUDE + "".join(code.source.replace(INCLUDE, "") for code in codes) + source
    linked = [code for functor in codes for code in functor.ltoir]
    options = {"arch": arch, "std": "c++17", "include_path": [str(FOLDER)]}
    if not linked:
        return bytes(Program(text, "c++", ProgramOptions(**options)).compile("cubin").code)
    options |= {"relocatable_device_code": True, "link_time_optimization": True}
    objects = [Program(text, "c++", ProgramOptions(**options)).compile("ltoir")]
    objects += [ObjectCode.from_ltoir(code.produce()) for code in linked]
    return bytes(Linker(*objects, options=LinkerOptions(arch=arch, link_time_optimization=True)).link("cubin").code)


def assert_whole(cubin: bytes, names: set[str]) -> None:
    """The kernels are there, and what they call is inlined: operators in C++ as well as linked functions."""
    assert kernels(cubin) == names == functions(cubin)


def operators_program(dtype: np.dtype) -> tuple[str, list[DeviceCode]]:
    """A kernel that evaluates every operator on one dtype: out[k] of shape n x n for binary, n for unary ones."""
    codes, lines = [], []
    for k, name in enumerate(name for name in BINARY if takes(name, dtype)):
        op = get_binary(name)
        codes.append(binary_functor(op, dtype, dtype, f"Binary{k}"))
        result = c_type(op.result_dtype(dtype, dtype))
        lines.append(f"    (({result}*)binary[{k}])[i * n + j] = Binary{k}::apply(values[i], values[j]);\n")
    lines.append("    if (j > 0) return;\n")
    for k, name in enumerate(name for name in UNARY if takes(name, dtype)):
        op = get_unary(name)
        codes.append(entry_functor(entry_function(op, dtype, dtype), f"Unary{k}"))
        result = c_type(op.result_dtype(dtype))
        lines.append(f"    (({result}*)unary[{k}])[i] = Unary{k}::apply(values[i], values[i], i, j);\n")
    head = f"""extern "C" __global__ void evaluate(const {c_type(dtype)}* values, int n, void** binary, void** unary) {{
    const int i = threadIdx.x / n, j = threadIdx.x % n;
    if (i >= n) return;
"""
    return head + "".join(lines) + "}\n", codes


def monoids_program(dtype: np.dtype) -> tuple[str, list[DeviceCode]]:
    """A kernel in which many threads combine values into one slot a monoid, and that reports the monoids' constants."""
    codes, lines = [], []
    kind = c_type(dtype)
    for k, monoid in enumerate(monoids_of(dtype)):
        codes.append(monoid_functor(monoid, dtype, f"Monoid{k}"))
        lines.append(f"""    for (int i = thread; i < n; i += threads) {{
        const bool changed = Monoid{k}::atomic_combine(slots + {k}, values[i]);
        if (changed) atomicAdd(changes + {k}, 1);
        ends[{k} * n + i] = Monoid{k}::is_terminal(values[i]);
    }}
    if (thread == 0) {{
        identities[{k}] = Monoid{k}::identity();
        flags[{k}] = Monoid{k}::has_terminal;
    }}
""")
    head = f"""extern "C" __global__ void combine(const {kind}* values, int n, {kind}* slots, int* changes, bool* ends,
                                   {kind}* identities, int* flags) {{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
"""
    return head + "".join(lines) + "}\n", codes


def monoids_of(dtype: np.dtype) -> list[Monoid]:
    return [monoid for monoid in MONOIDS.values() if takes(monoid.op.name, dtype)]


def test_every_operator_and_monoid_compiles_without_a_gpu():
    pytest.importorskip("cuda.core")
    source, codes, names = "", [], set()
    for dtype in DTYPES:
        # Nothing combines complex numbers atomically.
        for program in (operators_program, monoids_program)[: 1 if dtype.kind == "c" else 2]:
            text, parts = program(dtype)
            # Several programs in one: their names must differ.
            for part in sorted((p.functor for p in parts), key=len, reverse=True):
                text = text.replace(f"{part}::", f"{part}_{dtype}::")
            text = text.replace("void evaluate(", f"void evaluate_{dtype}(").replace(
                "void combine(", f"void combine_{dtype}("
            )
            source += text
            names |= {f"{kernel}_{dtype}" for kernel in ("evaluate", "combine") if f"void {kernel}_" in text}
            for part in parts:
                codes.append(DeviceCode(part.functor, part.source.replace(part.functor, f"{part.functor}_{dtype}")))
    assert_whole(build(source, codes, GENERATIONS[-1]), names)


def test_headers_need_no_others():
    for path in FOLDER.glob("*.cuh"):
        included = [line for line in path.read_text().splitlines() if line.startswith("#include")]
        assert all(line.split('"')[1] in {p.name for p in FOLDER.glob("*.cuh")} for line in included), path


def test_literals_are_of_the_type_and_value():
    assert c_literal(np.bool_(True)) == "true"
    assert c_literal(np.int64(-(2**63))) == "((long long)(-9223372036854775807LL - 1LL))"
    assert c_literal(np.uint64(2**64 - 1)) == "((unsigned long long)18446744073709551615ULL)"
    assert float.fromhex(c_literal(np.float32(0.1)).partition(")")[2][:-1]) == np.float32(0.1)
    assert str(np.float64(-np.inf).view(np.int64)) in c_literal(np.float32(-np.inf))


def test_linked_code_is_made_on_demand_and_named_by_what_decides_it():
    pytest.importorskip("numba_cuda")

    def broken(a, b):
        return a.nothing + b

    code = function_functor(Function(broken), ("float32", "float32"), "float32", "Broken")
    raises(TypeError, "nothing", code.ltoir[0].produce)
    keys = {
        function_functor(Function(lambda a, b: a % b), types, "float32", "Sum").ltoir[0].key
        for types in (("float32", "float32"), ("float32", "int32"), (("float32*",), "int32"), ("float32*", "int32"))
    }
    assert len(keys) == 4
    assert function_functor(Function(lambda a, b: a % b), ("int8", "int8"), "int8", "A").ltoir[0].key not in keys


USERS = """
extern "C" __global__ void run(const float* x, const bool* seen, const short* weights, int n, float* products,
                               int* sources, float* sums, float* best, bool* either, int* counts) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    products[i] = Product::apply(x, i, weights[i], n - i);
    sources[i] = Source::apply(x, i, weights[i], n - i);
    sums[i] = Own::apply(x, seen, (long long)i, weights[i], (long long)(n - i));
    Furthest::atomic_combine(best, x[i]);
    either[i] = Either::apply(seen[i], seen[n - 1 - i]);
    if (Furthest::is_terminal(x[i])) atomicAdd(counts, 1);
    if (i == 0) best[1] = Furthest::identity();
}
"""


def own(state, source, weight, target):
    x, seen = state
    return x[source] * weight + target if seen[source] else np.sqrt(x[source])


def users_codes() -> list[DeviceCode]:
    furthest = Monoid(
        lambda a, b: a if a > b else b, -np.inf, terminal=500.0, idempotent=True, samples=[0.0, 1.0, 500.0]
    )
    return [
        gather_functor(
            get_semiring("plus_times").gather("int16", "float32"), "int16", ["float32"], "float32", "int32", "Product"
        ),
        gather_functor(
            get_semiring("any_secondi").gather("int16", "float32"), "int16", ["float32"], "int32", "int32", "Source"
        ),
        gather_functor(Function(own), "int16", ["float32", "bool"], "float32", "int64", "Own"),
        monoid_functor(furthest, "float32", "Furthest"),
        binary_functor(get_binary(lambda a, b: a or b), "bool", "bool", "Either"),
    ]


def test_users_functions_link_without_a_gpu():
    pytest.importorskip("cuda.core")
    pytest.importorskip("numba_cuda")
    codes = users_codes()
    # What calls NumPy's functions is Numba's to compile.
    assert [len(code.ltoir) for code in codes] == [0, 0, 1, 0, 0]
    assert_whole(build(USERS, codes, GENERATIONS[0]), {"run"})


@pytest.fixture
def on_gpu(device, tmp_path):
    """Compile a program for the GPU at hand."""
    import cupy

    arch = f"sm_{cupy.cuda.Device().compute_capability}"

    def compile_kernel(source: str, codes: list[DeviceCode], name: str):
        path = tmp_path / f"{name}.cubin"
        path.write_bytes(build(source, codes, arch))
        return cupy.RawModule(path=str(path)).get_function(name)

    return compile_kernel


cuda_only = pytest.mark.parametrize("device", ["cuda"], indirect=True)


@cuda_only
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_operators_on_the_gpu(dtype, on_gpu):
    import cupy

    values = samples(dtype)
    n = values.size
    binary = [name for name in BINARY if takes(name, dtype)]
    unary = [name for name in UNARY if takes(name, dtype)]
    binary_out = [cupy.zeros((n, n), get_binary(name).result_dtype(dtype, dtype)) for name in binary]
    unary_out = [cupy.zeros(n, get_unary(name).result_dtype(dtype)) for name in unary]
    pointers = [cupy.array([out.data.ptr for out in outs], np.uint64) for outs in (binary_out, unary_out)]
    kernel = on_gpu(*operators_program(dtype), "evaluate")
    kernel((1,), (256,), (cupy.asarray(values), np.int32(n), *pointers))
    for name, out in zip(binary, binary_out, strict=True):
        assert_same(name, out.get(), expected_binary(name, values[:, None], values), f"{name} {dtype}")
    for name, out in zip(unary, unary_out, strict=True):
        assert_same(name, out.get(), expected_unary(name, values), f"{name} {dtype}")


@cuda_only
@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype.kind != "c"], ids=str)
def test_monoids_on_the_gpu(dtype, on_gpu):
    import cupy

    rng = np.random.default_rng(4)
    # Small whole numbers, so that sums of floats are exact in any order; none that would make products too long.
    values = rng.integers(0, 2 if dtype.kind == "b" else 4, 5000).astype(dtype)
    if dtype.kind in "if":
        values[::3] *= dtype.type(-1)
    n = values.size
    monoids = monoids_of(dtype)
    slots = cupy.array([monoid.identity_for(dtype) for monoid in monoids], dtype)
    changes, flags = cupy.zeros(len(monoids), np.int32), cupy.zeros(len(monoids), np.int32)
    ends = cupy.zeros((len(monoids), n), bool)
    identities = cupy.zeros(len(monoids), dtype)
    kernel = on_gpu(*monoids_program(dtype), "combine")
    kernel((16,), (128,), (cupy.asarray(values), np.int32(n), slots, changes, ends, identities, flags))
    for k, monoid in enumerate(monoids):
        name, where = monoid.op.name, f"{monoid.op.name} {dtype}"
        f, identity = monoid.reduce_for(dtype), monoid.identity_for(dtype)
        with np.errstate(all="ignore"):
            expected = functools.reduce(f, values, identity)
        found = slots[k].get()[()]
        if name in ("any", "any_index"):
            assert found in values and found != identity and changes[k] == 1, where
        elif name == "times" and dtype.kind == "f":
            assert found == 0, where
        else:
            assert found == expected, where
        assert found == identity or changes[k] > 0, where
        assert identities[k] == identity, where
        assert np.array_equal(ends[k].get(), [bool(monoid.terminal_test(dtype)(value)) for value in values]), where
        assert flags[k] == monoid.has_terminal(dtype), where


@cuda_only
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_atomic_extremes_of_every_float(device, on_gpu, dtype):
    import cupy

    values = samples(np.dtype(dtype))
    codes = [monoid_functor(get_monoid(name), dtype, name.title()) for name in ("min", "max")]
    kind = c_type(dtype)
    source = f"""extern "C" __global__ void combine(const {kind}* values, int n, {kind}* low, {kind}* high) {{
    const int i = threadIdx.x / n, j = threadIdx.x % n;
    if (i >= n) return;
    low[threadIdx.x] = high[threadIdx.x] = values[i];
    Min::atomic_combine(low + threadIdx.x, values[j]);
    Max::atomic_combine(high + threadIdx.x, values[j]);
}}"""
    n = values.size
    # NaN of either sign: as integers they lie above and below all numbers.
    values = np.append(values, -values[np.isnan(values)]).astype(dtype)
    n = values.size
    low, high = cupy.zeros((n, n), dtype), cupy.zeros((n, n), dtype)
    on_gpu(source, codes, "combine")((1,), (256,), (cupy.asarray(values), np.int32(n), low, high))
    np.testing.assert_array_equal(low.get(), np.fmin(values[:, None], values))
    np.testing.assert_array_equal(high.get(), np.fmax(values[:, None], values))


@cuda_only
def test_neighbouring_small_integers_do_not_disturb_each_other(device, on_gpu):
    import cupy

    source = """extern "C" __global__ void combine(signed char* bytes, unsigned short* shorts, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    Bytes::atomic_combine(bytes + i % n, (signed char)1);
    Shorts::atomic_combine(shorts + i % n, (unsigned short)(i / n));
}"""
    codes = [monoid_functor(get_monoid("plus"), "int8", "Bytes"), monoid_functor(get_monoid("max"), "uint16", "Shorts")]
    n = 7
    signed, unsigned = cupy.zeros(n, np.int8), cupy.zeros(n, np.uint16)
    on_gpu(source, codes, "combine")((7,), (64,), (signed, unsigned, np.int32(n)))
    assert (signed == 64).all() and (unsigned == 63).all()


@cuda_only
def test_users_functions_on_the_gpu(device, on_gpu):
    import cupy

    n = 1000
    rng = np.random.default_rng(5)
    x = (rng.random(n) * 100).astype(np.float32)
    x[17] = 500.0
    seen = rng.random(n) < 0.5
    weights = rng.integers(-50, 50, n).astype(np.int16)
    products, sums = cupy.zeros(n, np.float32), cupy.zeros(n, np.float32)
    sources, counts = cupy.zeros(n, np.int32), cupy.zeros(1, np.int32)
    best, either = cupy.array([-np.inf, 0.0], np.float32), cupy.zeros(n, bool)
    inputs = (cupy.asarray(x), cupy.asarray(seen), cupy.asarray(weights), np.int32(n))
    kernel = on_gpu(USERS, users_codes(), "run")
    kernel((8,), (128,), (*inputs, products, sources, sums, best, either, counts))
    np.testing.assert_array_equal(products.get(), weights * x)
    np.testing.assert_array_equal(sources.get(), np.arange(n))
    np.testing.assert_allclose(sums.get(), np.where(seen, x * weights + (n - np.arange(n)), np.sqrt(x)), rtol=1e-5)
    assert best.get().tolist() == [500.0, -np.inf] and counts[0] == 1
    np.testing.assert_array_equal(either.get(), seen | seen[::-1])
