"""Compiling CUDA templates: for any architecture without a GPU, with linked Python functions, and once per machine."""

import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from new_process import printed
from raising import raises

from hpgraph import config
from hpgraph.core.errors import CompileError
from hpgraph.kernels.runtime.cuda import compile as compiler
from hpgraph.kernels.runtime.cuda import nvrtc
from hpgraph.semiring.cuda import LinkedCode

pytest.importorskip("cuda.core")

SCALE = """
#include "factor.cuh"
template <class T> __global__ void scale(T* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor<T>();
}
"""
FACTOR = "template <class T> __device__ T factor() { return T(3); }\n"
MAP = """
template <class T> __global__ void map(T* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = user_function(x[i]);
}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Sources and a cache of the test's own."""
    (tmp_path / "scale.cuh").write_text(SCALE)
    (tmp_path / "factor.cuh").write_text(FACTOR)
    (tmp_path / "map.cuh").write_text(MAP)
    monkeypatch.setattr(nvrtc, "include_folders", lambda: (tmp_path,))
    with config(cache_dir=tmp_path / "cache", verbose=False):
        yield tmp_path


def is_cubin(code: bytes) -> bool:
    return code[:4] == b"\x7fELF"


def python_function() -> bytes:
    pytest.importorskip("numba.cuda")
    from hpgraph.semiring.function import Function

    return Function(lambda a: a * a + 1).cuda((np.float32,), np.float32, "user_function")


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_100"])
def test_template_compiles_for_other_architectures(folder, arch):
    assert is_cubin(nvrtc.compile_only("scale.cuh", names=["scale<float>"], arch=arch))


@pytest.mark.parametrize("arch", ["sm_75", "sm_100"])
def test_python_function_is_linked_and_inlined(folder, arch):
    prologue = 'extern "C" __device__ float user_function(float);'
    code = nvrtc.compile_only("map.cuh", prologue, [python_function()], ["map<float>"], arch)
    assert is_cubin(code)
    # A function that was inlined leaves no symbol of its own.
    assert b"user_function" not in code


def test_compiler_complaint_reaches_the_user(folder):
    raises(CompileError, "undefined_type", nvrtc.compile_only, "scale.cuh", names=["scale<undefined_type>"])


def test_no_names_is_refused(folder):
    raises(ValueError, "names", nvrtc.compile_only, "scale.cuh")


def test_unknown_source_is_refused(folder):
    raises(FileNotFoundError, r"absent\.cuh", nvrtc.compile_only, "absent.cuh", names=["f"])


def test_second_build_needs_no_compiler(folder, monkeypatch):
    first = compiler.build_cached("scale.cuh", names=["scale<float>"])
    monkeypatch.setattr(compiler, "build", None)
    assert compiler.build_cached("scale.cuh", names=["scale<float>"]) == first
    assert is_cubin(first[0].read_bytes())
    assert "scale" in first[1]["scale<float>"]


def test_linked_code_is_not_produced_when_cached(folder):
    produced = []

    def produce():
        produced.append(1)
        return python_function()

    prologue = 'extern "C" __device__ float user_function(float);'
    for _ in range(2):
        code = LinkedCode("square plus one", produce)
        compiler.build_cached("map.cuh", prologue, [code], ["map<float>"])
    assert len(produced) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "factor.cuh").write_text(FACTOR.replace("3", "4")),
        lambda folder: (folder / "scale.cuh").write_text(SCALE + "// more\n"),
    ],
    ids=["include", "source"],
)
def test_edited_text_changes_the_key(folder, change):
    before = compiler.cache_key("scale.cuh", "", (), ("scale<float>",), "sm_90")
    change(folder)
    assert compiler.cache_key("scale.cuh", "", (), ("scale<float>",), "sm_90") != before


def test_key_distinguishes_all_inputs(folder):
    base = {"source": "scale.cuh", "prologue": "", "ltoir": (), "names": ("scale<float>",), "arch": "sm_90"}
    other = {"prologue": "//", "ltoir": (b"x",), "names": ("scale<int>",), "arch": "sm_80"}
    keys = {compiler.cache_key(**base)} | {compiler.cache_key(**{**base, name: value}) for name, value in other.items()}
    assert len(keys) == 1 + len(other)


@pytest.mark.parametrize("damage", ["cubin", "entry", "empty", "cut", "a name", "no cubin"])
def test_damaged_cache_is_rebuilt(folder, damage):
    path, symbols = compiler.build_cached("scale.cuh", names=["scale<float>"])
    whole = path.read_bytes()
    (entry,) = (folder / "cache" / "cuda").glob("*.kernels")
    if damage == "cubin":
        path.write_bytes(whole[:100])
    elif damage == "entry":
        entry.write_text(json.dumps({"cubin": "0" * 64}))
    elif damage == "a name":
        # Good JSON, and no kernel of that name.
        entry.write_bytes(entry.read_bytes().replace(b"scale<float>", b"scale<flout>"))
    elif damage == "no cubin":
        path.unlink()
    else:
        entry.write_bytes(entry.read_bytes()[: 80 if damage == "cut" else 0])
    again, names = compiler.build_cached("scale.cuh", names=["scale<float>"])
    assert is_cubin(again.read_bytes())
    assert names == symbols


def test_what_is_planted_where_others_write_is_not_loaded(folder, monkeypatch):
    cache = folder / "cache"
    planted, _ = compiler.build_cached("scale.cuh", names=["scale<float>"])
    cache.chmod(0o777)
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    with pytest.warns(RuntimeWarning, match="every user may write there"):
        path, _ = compiler.build_cached("scale.cuh", names=["scale<float>"])
    assert cache not in path.parents
    assert path.read_bytes() == planted.read_bytes()
    cache.chmod(0o700)
    planted.chmod(0o666)
    again, _ = compiler.build_cached("scale.cuh", names=["scale<float>"])
    assert (again, again.stat().st_mode & 0o022) == (planted, 0), "made anew in its place"


def test_several_builders_may_race(folder):
    def build(_):
        with config(cache_dir=folder / "cache", verbose=False):
            return compiler.build_cached("scale.cuh", names=["scale<float>"])

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(build, range(4)))
    for path, symbols in results:
        assert is_cubin(path.read_bytes())
        assert symbols == results[0][1]
    assert not list((folder / "cache" / "cuda").glob(".writing-*"))


def test_kernels_are_compiled_side_by_side_and_each_once(folder, monkeypatch):
    both, build = threading.Barrier(2), compiler.build

    def build_beside_another(*given):
        both.wait(60)
        return build(*given)

    monkeypatch.setattr(compiler, "build", build_beside_another)
    given = [("scale.cuh", "", (), (f"scale<{kind}>",), "sm_90", "", "") for kind in ("float", "double")]
    begun = [compiler.begin_build(*request) for request in given]
    again = [compiler.begin_build(*request) for request in given]
    for one, same, request in zip(begun, again, given, strict=True):
        assert same.result() == one.result()
        assert request[3][0] in one.result()[1]


def test_error_of_a_thread_reaches_the_user(folder):
    begun = compiler.begin_build("scale.cuh", "", (), ("scale<undefined_type>",), "sm_90", "", "")
    raises(CompileError, "undefined_type", begun.result)


@pytest.fixture
def stand_in(monkeypatch):
    """A stand-in for CuPy: machine code in the order of its loading, and launches of kernels."""
    loaded, launched = [], []

    def raw_module(path, enable_cooperative_groups):
        loaded.append(Path(path).read_bytes())
        return SimpleNamespace(get_function=lambda symbol: SimpleNamespace(kernel=SimpleNamespace(ptr=symbol)))

    cuda = SimpleNamespace(
        Device=type("Device", (nullcontext,), {"id": 0, "compute_capability": "90"}),
        driver=SimpleNamespace(launchKernel=lambda symbol, *given: launched.append((symbol, given[0], given[3]))),
        get_current_stream=lambda: SimpleNamespace(ptr=0), runtime=SimpleNamespace(free=lambda address: None),
    )  # fmt: skip
    monkeypatch.setattr(compiler, "cupy", SimpleNamespace(cuda=cuda, RawModule=raw_module))
    monkeypatch.setattr(compiler, "_modules", {})
    return loaded, launched


def test_first_launch_waits_for_the_compiler(folder, stand_in, monkeypatch):
    """`load` returns while the kernel is compiled, and machine code is loaded once."""
    (loaded, launched), may_end, build = stand_in, threading.Event(), compiler.build

    def build_later(*given):
        assert may_end.wait(60)
        return build(*given)

    monkeypatch.setattr(compiler, "build", build_later)
    names = ("scale<float>", "scale<double>")
    first, second = map(compiler.load("scale.cuh", names=names).function, names)
    assert not loaded
    may_end.set()
    first((1,), (32,), (1, None))
    second((2,), (32,), ())
    assert len(loaded) == 1 and is_cubin(loaded[0])
    assert launched == [("_Z5scaleIfEvPT_i", 1, 32), ("_Z5scaleIdEvPT_i", 2, 32)]


@pytest.mark.parametrize("error", [MemoryError, OSError])
def test_launch_after_a_failure_compiles_again(folder, stand_in, monkeypatch, error):
    (_, launched), build, failures = stand_in, compiler.build, [error("no room"), error("no room")]

    def build_at_last(*given):
        if failures:
            raise failures.pop()
        return build(*given)

    monkeypatch.setattr(compiler, "build", build_at_last)
    kernel = compiler.load("scale.cuh", names=("scale<float>",)).function("scale<float>")
    for _ in range(2):
        raises(error, "no room", kernel, (1,), (32,), ())
    kernel((1,), (32,), ())
    assert launched == [("_Z5scaleIfEvPT_i", 1, 32)]


def test_launch_after_an_interruption_waits_again(folder, stand_in, monkeypatch):
    (loaded, launched), begun, may_end, build = stand_in, [], threading.Event(), compiler.build

    def build_later(*given):
        begun.append(given)
        assert may_end.wait(60)
        return build(*given)

    def interrupted(self, timeout=None):
        raise KeyboardInterrupt

    monkeypatch.setattr(compiler, "build", build_later)
    kernel = compiler.load("scale.cuh", names=("scale<float>",)).function("scale<float>")
    with monkeypatch.context() as patched:
        patched.setattr(compiler.Future, "result", interrupted)
        with pytest.raises(KeyboardInterrupt):
            kernel((1,), (32,), ())
    may_end.set()
    kernel((1,), (32,), ())
    assert len(begun) == len(loaded) == len(launched) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process forks here")
def test_child_compiles_by_threads_of_its_own(folder):
    """Forked while a thread compiles, and another has what guards the list of these."""
    program = f"""
import os, threading
from pathlib import Path
from hpgraph import config
from hpgraph.kernels.runtime.cuda import compile as compiler, nvrtc

nvrtc.include_folders = lambda: (Path({str(folder)!r}),)
config(cache_dir={str(folder / "forked")!r}, verbose=False)
given = "scale.cuh", "", (), ("scale<float>",), "sm_90", "", ""
build, begins, may_end, held = compiler.build, threading.Event(), threading.Event(), threading.Event()

def build_later(*given):
    begins.set()
    assert may_end.wait(60)
    return build(*given)

def hold():
    with compiler._lock:
        held.set()
        may_end.wait(60)

compiler.build = build_later
begun = compiler.begin_build(*given)
assert begins.wait(60)
threading.Thread(target=hold).start()
assert held.wait(60)
child = os.fork()
if not child:
    compiler.build = build
    found = compiler.build_cached(*given)[0]
    os._exit(0 if found.read_bytes()[1:4] == b"ELF" else 1)
try:
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
finally:
    may_end.set()
assert begun.result()[0].exists()
"""
    printed(program, cwd=Path(compiler.__file__).parents[4])


def test_the_first_kernels_may_be_compiled_by_several_threads(folder):
    # In a new process, where cuda.core is imported by both threads at once.
    program = f"""
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from hpgraph.kernels.runtime.cuda import nvrtc
nvrtc.include_folders = lambda: (Path({str(folder)!r}),)
with ThreadPoolExecutor(2) as threads:
    begun = [threads.submit(nvrtc.compile_only, "scale.cuh", names=[f"scale<{{kind}}>"]) for kind in ("float", "int")]
    assert all(one.result()[1:4] == b"ELF" for one in begun)
"""
    printed(program)


@pytest.mark.parametrize("device", ["cuda"], indirect=True)
def test_kernel_runs(folder, device):
    import cupy

    module = compiler.load("scale.cuh", names=("scale<float>", "scale<double>"))
    for name, dtype in (("scale<float>", np.float32), ("scale<double>", np.float64)):
        x = cupy.arange(100, dtype=dtype)
        module.function(name)((1,), (128,), (x, np.int32(100)))
        np.testing.assert_array_equal(x.get(), 3 * np.arange(100, dtype=dtype))
    assert compiler.load("scale.cuh", names=("scale<float>", "scale<double>")) is module
    raises(KeyError, "scale<int>", module.function, "scale<int>")


@pytest.mark.parametrize("device", ["cuda"], indirect=True)
def test_linked_python_function_runs(folder, device):
    import cupy

    prologue = 'extern "C" __device__ float user_function(float);'
    module = compiler.load("map.cuh", prologue=prologue, ltoir=(python_function(),), names=("map<float>",))
    x = cupy.arange(100, dtype=np.float32)
    module.function("map<float>")((1,), (128,), (x, np.int32(100)))
    np.testing.assert_array_equal(x.get(), np.arange(100, dtype=np.float32) ** 2 + 1)
