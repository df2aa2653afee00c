"""Kernels compiled ahead: found by a process with an empty cache and no compiler; ignored if stale or damaged."""

import contextlib
import inspect
import json
import lzma
import os
import stat
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from new_process import printed

import hpgraph as hpg
from hpgraph import config
from hpgraph.core import cupy_kernels
from hpgraph.core.device import cuda_available
from hpgraph.core.ready_kernels import CuPyRequest
from hpgraph.formats import launch
from hpgraph.kernels.runtime.cuda import compile as compiler
from hpgraph.kernels.runtime.cuda.compile import Request, build_cached
from hpgraph.kernels.runtime.cuda.nvrtc import build

pytest.importorskip("cuda.core")
sys.path.insert(0, os.fspath(Path(__file__).parents[2]))

from wheels.kernels import ARGUMENTS, GRAPHS, calls, package, requested

NAMES = ("hpgraph::mark_roots<int>", "hpgraph::number<int>")
REQUESTS = [Request("components.cuh", "", NAMES, "components", "")]
PROCESS = f"""
import sys
from hpgraph.kernels.runtime.cuda.compile import build_cached
path, symbols = build_cached("components.cuh", names={NAMES!r}, arch="sm_90")
assert set(symbols) == set({NAMES!r})
print(path)
print([name for name in sys.modules if name.startswith("cuda.")])
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the package of data, as pip would install it."""
    return package(REQUESTS, ["sm_90"], 1, tmp_path_factory.mktemp("ready"))


def test_another_process_finds_them_without_a_compiler(wheel: Path, tmp_path: Path) -> None:
    path, modules = printed(PROCESS, HPGRAPH_CACHE_DIR=tmp_path / "cache", PYTHONPATH=wheel).splitlines()
    assert Path(path).is_relative_to(wheel), path
    assert modules == "[]"
    assert not list((tmp_path / "cache").rglob("*.kernels"))


def test_recorded_kernels_of_formats_have_the_present_texts() -> None:
    """A kernel with another text, if only another comment, would be compiled in a first call, not ahead."""
    present = {launch.source(file.name) for file in Path(launch.__file__).parent.glob("*.cuh")}
    requests = json.loads((Path(__file__).parents[2] / "wheels" / "requests.json").read_text(encoding="utf-8"))
    recorded = [request["source"] for request in requests if request.get("kernels")]
    recorded += [text for text, _, kernels in cupy_kernels._record()["texts"] if kernels]
    assert recorded
    assert set(recorded) <= present


def test_recorded_checks_of_structs_hold() -> None:
    """A kernel that checks another layout would not compile, and would be missing in the wheel."""
    kernel = "\n__global__ void nothing() {}"
    for one in {(request.source, request.checks): request for request in requested() if request.checks}.values():
        build(one.source, one.prologue, (), ("nothing",), "sm_90", one.checks + kernel)


def _other_text(folder: Path) -> dict[str, str]:
    return {"prologue": "// another program\n"}


def _other_architecture(folder: Path) -> dict[str, str]:
    return {"arch": "sm_80"}


def _cut_short(folder: Path) -> dict[str, str]:
    (code,) = folder.glob("*.cubin")
    code.write_bytes(code.read_bytes()[:-1])
    return {}


def _foreign_entry(folder: Path) -> dict[str, str]:
    (entry,) = folder.glob("*.kernels")
    entry.write_bytes(b"0" * 64 + b"\n{}")
    return {}


def _anyone_may_write(folder: Path) -> dict[str, str]:
    (code,) = folder.glob("*.cubin")
    code.chmod(code.stat().st_mode | stat.S_IWOTH)
    return {}


@pytest.mark.parametrize("change", [_other_text, _other_architecture, _cut_short, _foreign_entry, _anyone_may_write])
def test_what_is_not_theirs_is_compiled(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], dict[str, str]]
) -> None:
    (original,) = wheel.glob("hpgraph_kernels_cu*")
    folder = tmp_path / "installed"
    folder.mkdir()
    for file in original.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    monkeypatch.setattr(compiler, "ready_folder", lambda extra: folder)
    given = {"arch": "sm_90", "prologue": "", **change(folder)}
    with config(cache_dir=tmp_path / "cache", verbose=False):
        path, symbols = build_cached("components.cuh", names=NAMES, **given)
    assert path.is_relative_to(tmp_path / "cache") and set(symbols) == set(NAMES)


CUPY = """
import json, sys
from pathlib import Path
from hpgraph.core import ready_kernels
from hpgraph.core.device import require_cupy
cupy = require_cupy()
if sys.argv[1:]:
    ready_kernels.requests = []
    ready_kernels.serve_cupy(Path(sys.argv[1]))
assert (cupy.arange(5) * 2 + 1).get().tolist() == [1, 3, 5, 7, 9]
named = cupy.RawModule(code="template <class T> __global__ void set(T* x) { *x = 7; }", name_expressions=["set<int>"])
x = cupy.zeros(1, "int32")
named.get_function("set<int>")((1,), (1,), (x,))
assert x.get().tolist() == [7]
print(json.dumps([ready_kernels.requests, "libnvrtc" in Path("/proc/self/maps").read_text()]))
"""


@pytest.mark.skipif(not cuda_available(), reason="needs a GPU")
def test_cupy_finds_its_own_without_a_compiler(tmp_path: Path) -> None:
    import cupy

    def run(number: int, *words: str, **more: str) -> Any:
        return json.loads(printed(CUPY, *words, CUPY_CACHE_DIR=tmp_path / f"cupy{number}", **more))

    asked, compiles = run(0, os.fspath(tmp_path))
    assert asked and compiles
    requests = [CuPyRequest(source, tuple(options), tuple(kernels)) for source, options, kernels in asked]
    place = package(requests, [f"sm_{cupy.cuda.Device().compute_capability}"], 1, tmp_path / "wheel")
    path = os.pathsep.join([os.fspath(place), os.environ.get("PYTHONPATH", "")])
    assert run(1, PYTHONPATH=path) == [None, False]


class _CuPy(ModuleType):
    """As much of CuPy as `cupy_kernels` asks, with one device."""

    __version__ = "14.2"

    class _Device(contextlib.nullcontext[None]):
        id, compute_capability = 0, "90"

    cuda = SimpleNamespace(Device=_Device, runtime=SimpleNamespace(getDevice=lambda: 0))


def test_cupys_kernels_of_a_function_compile_in_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    core = ModuleType("cupy._core.core")
    core.assemble_cupy_compiler_options = lambda given: ("-Ifolder", *(given or ["--std=c++17"]))  # type: ignore[attr-defined]
    core._get_header_source = lambda: "headers"  # type: ignore[attr-defined]
    above = ModuleType("cupy._core")
    above.core = core  # type: ignore[attr-defined]
    for name, module in (("cupy", _CuPy("cupy")), ("cupy._core", above), ("cupy._core.core", core)):
        monkeypatch.setitem(sys.modules, name, module)
    texts = [("one", ["--std=c++17"], []), ("named", ["-std=c++17"], ["set<int>"]), ("wrong", ["--std=c++17"], [])]
    record = tmp_path / "record.xz"
    record.write_bytes(lzma.compress(json.dumps({"cupy": "14.2", "texts": texts, "calls": {"f": [0, 1, 2]}}).encode()))
    done: list[tuple[Any, ...]] = []

    def compiled(source: str, options: Any = (), **given: Any) -> str:
        thread = threading.current_thread()
        done.append((source, options, given.get("name_expressions"), thread is threading.main_thread()))
        assert thread is threading.main_thread() or given["extra_source"] == "headers"
        if source == "wrong" and thread is not threading.main_thread():
            raise ValueError(source)
        return f"module of {source}"

    monkeypatch.setattr(cupy_kernels, "RECORD", record)
    monkeypatch.setattr(cupy_kernels, "_compile", compiled)
    monkeypatch.setattr(cupy_kernels, "_under_way", {})
    cupy_kernels._record.cache_clear()
    cupy_kernels.begin.cache_clear()
    with config(cache_dir=tmp_path / "cache"):
        cupy_kernels.begin("f")
        for future in [*cupy_kernels._under_way.values()]:
            future.exception()
        plain = "-Ifolder", "--std=c++17"
        for source, options, kernels in (
            ("one", plain, None), ("named", ("-Ifolder", "-std=c++17"), ("set<int>",)), ("wrong", plain, None),
            ("other", plain, None),
        ):  # fmt: skip
            made = cupy_kernels._taken_or(compiled, source, options, name_expressions=kernels)
            assert made == f"module of {source}"
        in_threads = [one[:3] for one in done if not one[3]]
        assert {one[0] for one in done if one[3]} == {"wrong", "other"} and len(in_threads) == 3
        assert (("named", ("-Ifolder", "-std=c++17"), ("set<int>",))) in in_threads
        # The next process finds them in CuPy's cache.
        cupy_kernels.begin.cache_clear()
        cupy_kernels.begin("f")
    assert not any(cupy_kernels._under_way.values()) and len(done) == 5
    cupy_kernels._record.cache_clear()
    cupy_kernels.begin.cache_clear()


def test_listed_kernels_are_of_functions() -> None:
    record = json.loads(lzma.decompress(cupy_kernels.RECORD.read_bytes()))
    functions = record["calls"].keys() - {"products", "csgraph"}
    assert len(functions) > 70 and all(hasattr(hpg, name) for name in functions)
    assert {at for places in record["calls"].values() for at in places} == set(range(len(record["texts"])))
    assert all(tuple(options) in cupy_kernels.OPTIONS for _, options, _ in record["texts"])


def test_recorded_requests_have_their_sources() -> None:
    for request in requested():
        assert request.names and compiler.texts(request.source, request.prologue), request.title


def test_calls_that_are_recorded_can_be_made() -> None:
    named = {name for graph, name, _ in calls() if graph in GRAPHS} - {"products", "csgraph"}
    assert len(named) > 70 and ARGUMENTS.keys() <= named
    for name in named:
        for arguments, options in ARGUMENTS.get(name, [((), {})]):
            inspect.signature(getattr(hpg, name)).bind(None, *arguments, **options)
