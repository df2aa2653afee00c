"""What this library changes in others: that it changes no result, what upstream would do without, other versions."""

import importlib.metadata
import inspect
import sys

import pytest
from new_process import printed
from numba import njit, types

from hpgraph.core import patches
from hpgraph.core.patches import PATCHES
from hpgraph.kernels.runtime.cpu.kernel import KernelCompiler

# Under versions that no patch is for: the library works, and what upstream does by itself is seen.
ELSEWHERE = """
import importlib.metadata, inspect, sys
installed = importlib.metadata.version
importlib.metadata.version = lambda name: "99.0" if name in ("numba", "numba-cuda") else installed(name)
import numpy as np
import hpgraph as hpg
from hpgraph.core import patches
found = {name for name in patches.PATCHES if name != "CS2R" and patches.applies(name)}
assert found <= {"extremes"}, found
hpg.config.cache_dir = sys.argv[1]
graph = hpg.from_edges(np.array([0, 1, 2, 0]), np.array([1, 2, 3, 4]), directed=True)
assert (hpg.Matrix(graph) @ np.ones(5)).tolist() == [2, 1, 1, 0, 0]
if not found:
    sys.exit()
from numba import cuda, types
from numba.cuda.ufuncs import ufunc_db
ptx, _ = cuda.compile(lambda a, b: min(a, b), (types.float32, types.float32), device=True, abi="c", cc=(9, 0))
assert "min.f32" in ptx, "numba-cuda compares as Python does: drop extremes"
from hpgraph.semiring import Function
assert Function(lambda a, b: min(a, b)).cuda(("float32", "float32"), "float32", "least", (9, 0))
assert np.sqrt not in ufunc_db(), "numba-cuda has code for np.sqrt: drop ufuncs"
compiling = inspect.getsource(cuda.dispatcher.CUDADispatcher.compile_device)
assert "get_current_device" in compiling, "numba-cuda asks for no GPU: drop architecture"
"""


def test_other_versions_run_unpatched(tmp_path):
    pytest.importorskip("numba_cuda")
    printed(ELSEWHERE, tmp_path)


@pytest.mark.parametrize("version, wanted", [("0.60.9", False), ("0.61", True), ("0.68.1", True), ("0.69.0rc1", False)])
def test_a_patch_is_for_its_versions(version, wanted, monkeypatch):
    monkeypatch.setattr(importlib.metadata, "version", lambda name: version)
    patches._installed.cache_clear()
    try:
        assert patches.applies("calls") is wanted
    finally:
        patches._installed.cache_clear()


def calls_to_compile():
    """Python's calls of functions while a small kernel is compiled."""

    def smoothed(values, part):
        total = 0.0
        for i in range(1, len(values) - 1):
            total += max(values[i - 1], values[i + 1]) * part[i] + min(values[i], part[i])
        return total

    kernel, count = njit(smoothed, pipeline_class=KernelCompiler), 0

    def called(frame, kind, argument):
        nonlocal count
        count += kind == "call"

    array = types.Array(types.float64, 1, "C")
    sys.setprofile(called)
    try:
        kernel.compile((array, array))
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("name", ["calls", "analyses"])
def test_numba_still_searches_again_and_again(name, monkeypatch):
    """Were this to fail, Numba would find out once what a call means, or what code consists of: drop the patch."""
    calls_to_compile()
    patched = calls_to_compile()
    monkeypatch.setitem(PATCHES, name, PATCHES[name]._replace(end=(0,)))
    assert calls_to_compile() > 1.05 * patched


# The modules of SciPy's that kernels bring along, and Numba alone; a product and a covariance need its BLAS.
IMPORTS = """
import sys
import numpy as np
import hpgraph as hpg
hpg.config.cache_dir = sys.argv[1]
if sys.argv[2] == "kernels":
    hpg.Matrix(np.eye(2)) @ np.ones(2)
import numba.np.arraymath
print("scipy.linalg" in sys.modules)
if sys.argv[2] == "kernels":
    x = np.random.default_rng(1).random((3, 3))
    assert np.allclose(numba.njit(lambda x: np.cov(x) @ x)(x), np.cov(x) @ x)
"""


@pytest.mark.parametrize("first, imported", [("kernels", "False"), ("Numba", "True")])
def test_kernels_do_not_import_linear_algebra(first, imported, tmp_path):
    """Were this to fail for Numba, it would import it when it is needed: drop blas."""
    assert printed(IMPORTS, tmp_path, first).strip() == imported


# Without a GPU an array on memory that is never read; NumPy's text ends the operation before a kernel is launched.
OPERATION = """
import sys
import numpy as np, cupy
from hpgraph.core.patches import defer_special_functions
if sys.argv[1] == "patched":
    defer_special_functions()
memory = cupy.cuda.UnownedMemory(1, 8, None, 0)
x = cupy.ndarray(1, "float64", cupy.cuda.MemoryPointer(memory, 0))
assert x.__array_ufunc__(np.add, "__call__", x, "") is NotImplemented
assert ("scipy" in sys.modules) is (sys.argv[1] == "upstream"), "CuPy imports no SciPy for an operation: drop special"
import cupyx.scipy.special
from cupyx.scipy.special import erf
assert isinstance(erf, cupy.ufunc) and cupyx.scipy.special.erf is erf
assert x.__array_ufunc__(np.spacing, "__call__", x) is NotImplemented
import cupyx
assert cupyx.scatter_add and cupyx.linalg and not hasattr(cupyx, "nothing")
"""


@pytest.mark.parametrize("library", ["upstream", "patched"])
def test_operations_of_cupys_arrays_do_not_import_scipy(library):
    pytest.importorskip("cupy", minversion="14.0")
    printed(OPERATION, library)


def test_cupy_compiles_without_precompiled_headers_unless_asked():
    compiler = pytest.importorskip("cupy.cuda.compiler")
    if patches.PATCHES["headers"].is_for(patches._release(sys.modules["cupy"])):
        words = inspect.getsource(compiler)
        assert "_use_pch = _get_bool_env_variable('CUPY_NVRTC_USE_PCH', False)" in words, "drop headers, or renew it"
