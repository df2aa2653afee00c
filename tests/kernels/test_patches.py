"""What this library changes in others: that it changes no result, what upstream would do without, other versions."""

import functools
import importlib.metadata
import operator
import subprocess
import sys

import pytest
from numba import njit, types
from numba.core.compiler import Flags
from numba.core.errors import TypingError
from numba.core.registry import cpu_target
from numba.core.targetconfig import ConfigStack
from numba.core.types import BaseFunction

from hpgraph.core import patches
from hpgraph.core.patches import PATCHES, quick_lookups
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
assert hpg.bfs(graph, 0).level.tolist() == [0, 1, 2, 3, 1]
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
    done = subprocess.run([sys.executable, "-c", ELSEWHERE, tmp_path], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


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


def test_numba_still_searches_again_and_again(monkeypatch):
    """Were this to fail, Numba would find a call once by itself: drop calls."""
    calls_to_compile()
    patched = calls_to_compile()
    monkeypatch.setitem(PATCHES, "calls", PATCHES["calls"]._replace(end=(0,)))
    assert calls_to_compile() > 1.05 * patched


def test_calls_mean_what_numba_finds(monkeypatch):
    """Signature and implementation are those that Numba finds, and are found once for each options."""
    context = cpu_target.typing_context
    context.refresh()
    searched = []
    search, plus = BaseFunction.get_call_type, context.resolve_value_type(operator.add)
    counted = lambda *asked: (searched.append(asked), search(*asked))[1]  # noqa: E731
    monkeypatch.setattr(BaseFunction, "get_call_type", counted)
    monkeypatch.setattr(patches, "found_once", functools.cache(patches.found_once.__wrapped__))
    read = context.resolve_value_type(operator.getitem)
    array = types.Array(types.int32, 1, "C")
    asked = [
        (plus, (types.int64, types.int64)), (plus, (types.int64, types.float32)),
        (plus, (types.IntegerLiteral(2), types.int64)), (read, (array, types.uint64)),
        (read, (types.UniTuple(array, 2), types.IntegerLiteral(1))),
    ]  # fmt: skip
    wanted = [(search(f, context, args, {}), dict(f._impl_keys)) for f, args in asked]
    with quick_lookups():
        for _ in range(2):
            for (f, args), (meaning, keys) in zip(asked, wanted, strict=True):
                f._impl_keys.clear()
                assert f.get_call_type(context, args, {}) == meaning
                assert f.get_impl_key(meaning) == keys[meaning.args]
        assert len(searched) == len(asked)
        # What is inlined under other options may be other code.
        flags = Flags()
        flags.nrt = True
        with ConfigStack().enter(flags):
            plus.get_call_type(context, asked[0][1], {})
        assert len(searched) == len(asked) + 1
        with pytest.raises(TypingError, match="No implementation"):
            plus.get_call_type(context, (array, types.unicode_type), {})
    assert BaseFunction.get_call_type is counted
