"""The cache of compiled CPU kernels: an edit costs the code it may concern; processes may start at the same time."""

import ast
import importlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from new_process import completed, printed
from numba.extending import is_jitted

import hpgraph
from hpgraph.kernels.runtime.cpu import compilation, kernel, sources
from hpgraph.kernels.structure.cpu_components import flatten

ROOT = Path(hpgraph.__file__).parent
MODULES = sorted(
    ".".join(("hpgraph", *file.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
    for room in ("kernels", "semiring", "formats")
    for file in (ROOT / room).rglob("*.py")
)


def imports_by_grammar(module: str) -> set[str]:
    """What the statements of a module name, but for type checkers: for ``from a import b`` a.b if it is a module."""
    wanted: set[str] = set()
    waiting: list[ast.AST] = [ast.parse(sources.source(module))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting.extend(node.orelse)
            continue
        waiting.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.Import):
            wanted |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports relative to itself"
            named = {f"{node.module}.{name.name}" for name in node.names}
            modules = {name for name in named if sources.file_of(name)}
            wanted |= modules if modules == named else {*modules, str(node.module)}
    found = {name for name in wanted if name.startswith("hpgraph.") and sources.file_of(name)}
    return found - sources._OUTSIDE


def test_few_entries_compile_no_parallel_loop(monkeypatch) -> None:
    labels = np.array([0, 0, 1, 2, 4])
    before, found = len(flatten.signatures), labels.copy()
    flatten(found)
    assert len(flatten.signatures) == before and flatten.few.signatures
    monkeypatch.setattr(kernel.ParallelKernel, "serial", 0)
    flatten(labels)
    assert flatten.signatures
    assert labels.tolist() == found.tolist() == [0, 0, 0, 0, 4]
    assert flatten._cache._name != flatten.few._cache._name


def test_few_entries_run_what_was_compiled_ahead_for_many(tmp_path) -> None:
    program = """
import sys
import numpy as np
from hpgraph.kernels.runtime.cpu import kernel
from hpgraph.kernels.structure.cpu_components import flatten
kernel.ParallelKernel.serial = int(sys.argv[1])
labels = np.array([0, 0, 1, 2, 4])
flatten(labels)
assert labels.tolist() == [0, 0, 0, 0, 4]
"""
    for bound in (0, 100):
        printed(program, bound, HPGRAPH_CACHE_DIR=tmp_path)
        assert [file.name.partition("-")[0] for file in tmp_path.rglob("flatten*.code")] == ["flatten"]


def test_every_import_is_found_in_the_text() -> None:
    assert len(MODULES) > 100
    wrong = {module: imports_by_grammar(module) ^ sources.imports(module) for module in MODULES}
    assert {module: names for module, names in wrong.items() if names} == {}


def test_a_kernels_sources_are_what_it_may_have_inlined() -> None:
    closure = sources.import_closure("hpgraph.kernels.spmv.cpu_fold")
    assert {"hpgraph.kernels.spmv.cpu_fold", "hpgraph.kernels.runtime.cpu.prefetch", "hpgraph.semiring.jit"} <= {
        *closure
    }
    assert not [name for name in closure if "traversal" in name or "spgemm" in name]
    assert len(sources.import_closure("hpgraph.kernels.traversal.direction_optimizing")) <= 31


def test_kernels_have_no_constants_of_modules_that_are_no_sources() -> None:
    """What these modules define and kernels import is a function, a class or the settings: nothing to be inlined."""
    text = "\n".join(sources.source(module).decode() for module in MODULES)
    wanted = re.findall(r"^\s*from (hpgraph\.core\.\w+) import ([^\n(]+|\([^)]*\))", text, re.MULTILINE)
    outside = {(module, name) for module, names in wanted for name in re.findall(r"(\w+)(?: as \w+)?", names)}
    outside = {(module, name) for module, name in outside if module in sources._OUTSIDE}
    assert len(outside) > 20
    for module, name in outside:
        value = getattr(importlib.import_module(module), name)
        allowed = value is hpgraph.config or name in ("Device", "cupy") or (callable(value) and not is_jitted(value))
        assert allowed, f"{module}.{name}"


OUTER = """
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.probe.middle import three_times

@njit(cache=True)
def kernel(a):
    return three_times(a)
"""
MIDDLE = """
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.probe import (  # (a comment)
    inner,
)

@njit(inline="always")
def three_times(a):
    return inner.FACTOR * a
"""
RUN = """
import sys
from pathlib import Path
from hpgraph.kernels.probe.outer import kernel
if len(sys.argv) > 1:
    Path(sys.argv[1]).write_text("FACTOR = 5\\n")
print(kernel(1))
"""


class Library:
    """A copy of the library with one kernel more, `outer`, which takes a constant of `inner` by way of `middle`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for part in ("kernels", "semiring", "formats"):
            shutil.copytree(ROOT / part, folder / "hpgraph" / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(
            ROOT,
            folder / "hpgraph",
            ignore=shutil.ignore_patterns("__pycache__", "kernels", "semiring", "formats", "data"),
            dirs_exist_ok=True,
        )
        self.probe = folder / "hpgraph" / "kernels" / "probe"
        self.probe.mkdir()
        for name, text in {"__init__": "", "outer": OUTER, "middle": MIDDLE, "inner": "FACTOR = 3\n"}.items():
            (self.probe / f"{name}.py").write_text(text)

    def run(self, *arguments: str) -> tuple[int, bool]:
        """What the kernel says, and whether anything was compiled."""
        variables = {"HPGRAPH_CACHE_DIR": self.folder / "cache", "HPGRAPH_VERBOSE": 1, "NUMBA_CACHE_DIR": None}
        variables |= {"PYTHONDONTWRITEBYTECODE": 1, "PYTHONPATH": self.folder}
        done = completed(RUN, *arguments, cwd=self.folder, **variables)
        assert done.returncode == 0, done.stderr
        return int(done.stdout), "compiling kernels for the CPU" in done.stderr


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path)


def test_an_edit_costs_the_code_that_it_may_concern(library: Library) -> None:
    assert library.run() == (3, True)
    inner = library.probe / "inner.py"
    stamp = inner.stat()
    inner.write_text("FACTOR = 7\n")
    # Neither time stamps nor sizes tell, as after an upgrade that keeps those of the archive.
    os.utime(inner, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert library.run() == (7, True)
    for room in ("spgemm/cpu.py", "traversal/direction_optimizing.py"):
        with (library.folder / "hpgraph" / "kernels" / room).open("a") as file:
            file.write("UNRELATED = 1\n")
    assert library.run() == (7, False)
    inner.write_text("FACTOR = 3\n")
    assert library.run() == (3, False), "a version that was there before is found again"


def test_code_of_a_text_that_is_gone_is_not_kept(library: Library) -> None:
    assert library.run(str(library.probe / "inner.py")) == (3, True), "the module was read before it was edited"
    assert library.run() == (5, True)


# Two kernels of their own, which are kept where those of a module of the library are.
TWO_KERNELS = """
from hpgraph.kernels.runtime.cpu.kernel import njit
import hpgraph.kernels.runtime.cpu.claim as place

@njit(cache=True)
def half(a):
    return a / 2

@njit(cache=True)
def quarter(a):
    return half(half(a))

for kernel in half, quarter:
    kernel.py_func.__module__ = place.__name__
"""


def said_by_kernels(cache: Path, calls: str) -> str:
    """What is printed of some calls of them, in a process of its own."""
    return printed(f"{TWO_KERNELS}print({calls})", HPGRAPH_CACHE_DIR=cache, NUMBA_CACHE_DIR=None).strip()


def test_a_file_has_its_target(tmp_path: Path) -> None:
    assert said_by_kernels(tmp_path, "half(3)") == "1.5"
    (of_integers,) = tmp_path.rglob("half*.code")
    assert said_by_kernels(tmp_path, "half(3.0)") == "1.5"
    (of_floats,) = {*tmp_path.rglob("half*.code")} - {of_integers}
    of_floats.write_bytes(of_integers.read_bytes())
    # Code for integers makes nothing of a float; `quarter` is compiled, and reads back what it calls.
    assert said_by_kernels(tmp_path, "quarter(3.0), half(3.0)") == "0.75 1.5"


def test_a_kernel_for_other_kernels_is_refused_to_python() -> None:
    # A process of its own: what is refused would end it.
    program = "from hpgraph.kernels.spmv.cpu_fold import join; join(max, 1, 2)"
    assert "TypeError: join is called by other kernels alone" in completed(program).stderr


def test_settings_of_the_compiler_count(monkeypatch: pytest.MonkeyPatch) -> None:
    before = compilation.version_of("hpgraph.kernels.runtime.cpu.claim")
    monkeypatch.setattr("numba.config.BOUNDSCHECK", 1)
    compilation._toolchain.cache_clear()
    after = compilation.version_of("hpgraph.kernels.runtime.cpu.claim")
    monkeypatch.undo()
    compilation._toolchain.cache_clear()
    assert after != before


def test_folders_of_versions_long_gone_are_removed(tmp_path: Path) -> None:
    old, recent = tmp_path / "0123", tmp_path / "4567"
    for folder, days in ((old, compilation.KEPT_DAYS + 1), (recent, 1)):
        folder.mkdir()
        (folder / "kernel.code").write_text("code")
        then = time.time() - days * 86_400
        os.utime(folder, (then, then))
    compilation.remove_unused(tmp_path)
    assert [*tmp_path.iterdir()] == [recent]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="file permissions are not those of POSIX")
def test_processes_that_start_together_share_a_cold_cache(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(f"{TWO_KERNELS}assert (quarter(3), quarter(3.0), half(3)) == (0.75, 0.75, 1.5)")
    environment = {**os.environ, "HPGRAPH_CACHE_DIR": str(tmp_path / "cache"), "HPGRAPH_VERBOSE": "1"}
    environment.pop("NUMBA_CACHE_DIR", None)

    def start() -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, str(program)], cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True
        )

    for process in [start() for _ in range(2)]:
        _, said = process.communicate(timeout=300)
        assert process.returncode == 0, said
    late = start()
    assert late.communicate(timeout=300)[1] == "", "what the two compiled is found"
