"""Kernels that README, guide and notebooks compile after ``hpgraph warmup``: ``python -m tests.after_warmup``.

Each program runs in a process of its own, and names the kernels that it compiles. A kernel for a function that the
program itself defines cannot be compiled ahead, and does not count. Some minutes of two cores.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

ROOT = Path(__file__).parent.parent
# Before the name of a kernel, in what a program's process prints.
MARK = "compiled after warmup:"


def blocks(program: Path) -> list[str]:
    """The Python of a page or of a notebook, in its order."""
    if program.suffix == ".md":
        return re.findall(r"^```python\n(.*?)^```", program.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    import nbformat

    cells = nbformat.read(program, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "code" and not cell.source.startswith("%")]


def functions(kind: Any) -> Iterator[FunctionType]:
    """The Python functions that the type of a kernel's argument names, in tuples of any depth."""
    from hpgraph.semiring.jit import _FUNCTIONS
    from hpgraph.semiring.jit import FunctionType as Named

    if isinstance(kind, Named):
        yield _FUNCTIONS[kind.function_key].python
    elif hasattr(kind, "types"):
        for each in kind.types:
            yield from functions(each)


def is_from(program: str, function: Any, seen: set[int]) -> bool:
    """Whether a function, or one that it refers to, was written in the program."""
    if not isinstance(function, FunctionType) or id(function) in seen:
        return False
    seen.add(id(function))
    held = [cell.cell_contents for cell in function.__closure__ or ()]
    held += [function.__globals__.get(name) for name in function.__code__.co_names]
    return function.__code__.co_filename == program or any(is_from(program, each, seen) for each in held)


def run(program: Path) -> None:
    """Run a program in an empty folder, and print the kernels that it compiles."""
    import gzip

    import matplotlib
    import numpy as np
    import scipy.io
    import scipy.sparse
    from numba.core import event

    from hpgraph.core.device import cuda_available

    matplotlib.use("Agg")
    name = program.name

    class Listener(event.Listener):
        depth = 0

        def on_start(self, started: Any) -> None:
            self.depth += 1
            kernel = started.data["dispatcher"].py_func
            own = any(is_from(name, f, set()) for kind in started.data["args"] for f in functions(kind))
            if self.depth == 1 and kernel.__module__.startswith("hpgraph.kernels.") and not own:
                print(MARK, f"{kernel.__module__}.{kernel.__qualname__}", *started.data["args"], flush=True)

        def on_end(self, ended: Any) -> None:
            self.depth -= 1

    event.register("numba:compile", Listener())
    # A page may read a file of the reader's.
    web = scipy.sparse.random_array((50, 50), density=0.1, rng=np.random.default_rng(1))
    with gzip.open("web.mtx.gz", "wb") as file:
        scipy.io.mmwrite(file, web)
    namespace = {"__name__": "__main__"}
    for block in blocks(program):
        if '"cuda"' not in block or cuda_available():
            exec(compile(block, name, "exec"), namespace)


def main() -> int:
    """Warm up, run the programs, list what they compile; the exit status counts the programs that compile."""
    parser = argparse.ArgumentParser(prog="python -m tests.after_warmup", description=main.__doc__)
    parser.add_argument("--run", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("programs", type=Path, nargs="*", help="default: README.md, the guide, all notebooks")
    arguments = parser.parse_args()
    if arguments.run:
        run(arguments.run)
        return 0
    pages = [ROOT / "README.md", ROOT / "docs" / "guide" / "interfaces.md"]
    programs = arguments.programs or [*pages, *sorted((ROOT / "notebooks").glob("*.ipynb"))]
    compiling = 0
    with tempfile.TemporaryDirectory() as folder:
        paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        environment = os.environ | {"HPGRAPH_CACHE_DIR": f"{folder}/cache", "HPGRAPH_VERBOSE": "0", "PYTHONPATH": paths}
        begin, used = time.perf_counter(), sum(os.times()[2:4])
        subprocess.run([sys.executable, "-m", "hpgraph.cli", "warmup"], cwd=folder, env=environment, check=True)
        seconds, used = time.perf_counter() - begin, sum(os.times()[2:4]) - used
        print(f"warmup: {seconds:.1f} s, {used:.1f} s of processor time", flush=True)
        for program in programs:
            command = [sys.executable, "-m", "tests.after_warmup", "--run", str(program.resolve())]
            with tempfile.TemporaryDirectory() as empty:
                done = subprocess.run(command, cwd=empty, env=environment, capture_output=True, text=True)
            kernels = [line.removeprefix(MARK).strip() for line in done.stdout.splitlines() if line.startswith(MARK)]
            print(f"{program.name}: {len(kernels)} kernels", *kernels, sep="\n  ", flush=True)
            if done.returncode:
                print(done.stderr, flush=True)
            compiling += bool(kernels or done.returncode)
    return compiling


if __name__ == "__main__":
    sys.exit(main())
