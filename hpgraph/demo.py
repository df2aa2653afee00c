"""The whole path on the bundled graph: five analytics on the CPU, and on the GPU where there is one, and a picture.

    python -m hpgraph.demo [--output demo.png] [--device cpu|cuda]

The graph is the dependencies between Debian's packages, so results can be checked with ``apt-cache``.
"""

import argparse
import functools
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Self

import numpy as np

import hpgraph as hpg
from hpgraph.core.device import array_module, cuda_available, to_device
from hpgraph.io.replace import check_writable, replacing
from hpgraph.warmup import compile_ahead

CENTRE, START = "libc6", "firefox-esr"
_REPEATS = 5
# By the time to compile: what begins last should not keep the others waiting.
_LONGEST_FIRST = ("triangles", "BFS", "PageRank", "SSSP", "SpMV")


@dataclass(frozen=True)
class Subject:
    """The graph in the forms that the analytics read, on one device.

    An arc i -> j of `depends`, and entry [i, j] of `matrix`, mean that i depends on j, whose installed size is the
    weight in KiB; `needed_by` has the reversed arcs.
    """

    depends: hpg.Graph
    needed_by: hpg.Graph
    matrix: hpg.Matrix
    device: str

    @classmethod
    def on(cls, device: str) -> Self:
        """Load it onto a device."""
        depends = hpg.datasets.debian(weighted=True, device=device)
        needed_by = hpg.Graph(depends.in_csr, directed=True, names=depends.names)
        return cls(depends, needed_by, hpg.hyb_array(depends.out_csr.to_scipy()), device)

    def wait(self) -> None:
        """Wait until the device is idle."""
        if self.device == "cuda":
            array_module("cuda").cuda.get_current_stream().synchronize()


@dataclass(frozen=True)
class Work:
    """A line of the table: the function, the description of its result, the arcs it visits, the part compared."""

    name: str
    call: Callable[[Subject], Any]
    found: Callable[[Any], str]
    arcs: Callable[[Subject, Any], int]
    values: Callable[[Any], Any]


@dataclass(frozen=True)
class Measured:
    """The result of a `Work` on one device, and its time in seconds."""

    work: Work
    result: Any
    first: float
    again: float
    arcs: int


def _reached(subject: Subject, reached: Any) -> int:
    return int(subject.needed_by.out_degree[reached].sum())


WORKS = (
    Work(
        "BFS", lambda s: hpg.bfs(s.needed_by, CENTRE),
        lambda r: f"{int((r.level > 0).sum()):,} packages need {CENTRE}, {int(r.level.max())} steps away at most",
        lambda s, r: _reached(s, r.level >= 0), lambda r: r.level,
    ),
    Work(
        "SSSP", lambda s: hpg.sssp(s.needed_by, CENTRE),
        lambda r: f"the lightest chains weigh up to {float(r.distance[r.distance < np.inf].max()) / 1024:,.0f} MiB",
        lambda s, r: _reached(s, r.distance < np.inf), lambda r: r.distance,
    ),
    Work(
        "PageRank", lambda s: hpg.pagerank(s.depends),
        lambda r: f"{'converged' if r.converged else 'not converged'} after {r.iterations} iterations",
        lambda s, r: s.depends.n_edges * r.iterations, lambda r: r.rank,
    ),
    Work(
        "triangles", lambda s: hpg.triangle_count(s.depends),
        lambda r: f"{int(r):,} triples of packages, each related to the other two",
        lambda s, r: s.depends.n_edges, lambda r: np.array([int(r)]),
    ),
    Work(
        "SpMV", lambda s: s.matrix @ array_module(s.device).ones(s.depends.n_vertices, dtype=np.float32),
        lambda y: f"{float(y.max()) / 2**20:.1f} GiB at most in what one package depends on directly",
        lambda s, y: s.depends.n_edges, lambda y: y,
    ),
)  # fmt: skip


@functools.cache
def first_calls(device: str) -> list[tuple[str, Callable[[], Any]]]:
    """Name and call of each piece of work, in the order of `_LONGEST_FIRST`."""
    subject = Subject.on(device)
    by_name = {work.name: functools.partial(work.call, subject) for work in WORKS}
    return [(name, by_name[name]) for name in _LONGEST_FIRST]


def compile_for_cpu() -> None:
    """Compile what the demo runs, in several processes, where nothing has been compiled yet."""
    from hpgraph.kernels.runtime.cpu.compilation import folder

    if any(Path(folder("hpgraph.kernels.traversal.direction_optimizing")).glob("*.code")):
        return
    start = time.perf_counter()
    done = list(compile_ahead(first_calls, _LONGEST_FIRST, "cpu"))
    print(f"compiled {_count(len(done), 'analytic')} in {time.perf_counter() - start:.0f} s (once)", file=sys.stderr)


def measure(work: Work, subject: Subject) -> Measured:
    """Run a piece of work: the first call apart, then the median of some more."""
    seconds = []
    result = None
    for _ in range(1 + _REPEATS):
        subject.wait()
        start = time.perf_counter()
        result = work.call(subject)
        subject.wait()
        seconds.append(time.perf_counter() - start)
    return Measured(work, result, seconds[0], median(seconds[1:]), work.arcs(subject, result))


def table(measured: Sequence[Measured], where: str) -> str:
    """The measurements of one device as text."""
    width = max(len(m.work.found(m.result)) for m in measured)
    lines = [f"{where:<{width + 13}}  first call       again    arcs/s"]
    lines += [
        f"  {m.work.name:<11}{m.work.found(m.result):<{width}}  {_seconds(m.first)}  {_seconds(m.again)}"
        f"  {_rate(m.arcs / m.again)}"
        for m in measured
    ]
    return "\n".join(lines)


def _seconds(value: float) -> str:
    unit, scale = ("s ", 1.0) if value >= 1 else ("ms", 1e3) if value >= 1e-3 else ("µs", 1e6)
    return f"{value * scale:7.3g} {unit}"


def _rate(value: float) -> str:
    return f"{value / 1e9:6.2f} G" if value >= 1e9 else f"{value / 1e6:6.1f} M"


def facts(subject: Subject, measured: Sequence[Measured]) -> str:
    """Statements about Debian from the results, which ``apt-cache`` can check."""
    graph = subject.depends
    result = {m.work.name: m.result for m in measured}
    found = (result["BFS"].level, result["SSSP"].distance, result["PageRank"].rank, result["SpMV"])
    level, distance, rank, wanted = (to_device(values, "cpu") for values in found)
    needs = to_device(hpg.bfs(graph, START).level, "cpu")
    steps = int(level[graph.index_of(CENTRE)] - level[graph.index_of(START)])
    farthest = int(np.argmax(level))
    heaviest = int(np.argmax(np.where(np.isfinite(distance), distance, -1)))
    most = int(np.argmax(wanted))
    top = ", ".join(f"{_name(graph, i)} {rank[i]:.1%}" for i in np.argsort(-rank)[:8])
    sentences = (
        f"Most depended upon (PageRank): {top}.",
        f"{START} is {_count(abs(steps), 'step')} from {CENTRE}; all it needs, needs of needs included, is "
        f"{int((needs > 0).sum())} packages, {_count(int(needs.max()), 'step')} deep.",
        f"Farthest from {CENTRE}, {_count(int(level[farthest]), 'step')}: {_chain(graph, level, farthest)}.",
        f"Heaviest of the lightest chains to {CENTRE}, {distance[heaviest] / 1024:,.0f} MiB: "
        f"{_chain(graph, distance, heaviest, weighted=True)}.",
        f"{_name(graph, most)} depends on {wanted[most] / 2**20:.1f} GiB of packages directly.",
    )
    # Package names have hyphens of their own: no line breaks at them.
    return "\n".join(textwrap.fill(line, 110, subsequent_indent="  ", break_on_hyphens=False) for line in sentences)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _name(graph: hpg.Graph, vertex: int) -> str:
    assert graph.names is not None  # the bundled graph has them
    return str(graph.names[vertex])


def _chain(graph: hpg.Graph, distance: np.ndarray, vertex: int, *, weighted: bool = False) -> str:
    """A shortest path from a vertex to where the search began, by name: on each step, one that lost no way."""
    arcs = graph.out_csr.to("cpu")
    path = [vertex]
    while distance[path[-1]] > 0:
        row = slice(arcs.indptr[path[-1]], arcs.indptr[path[-1] + 1])
        step = arcs.data[row] if weighted else 1
        tight = distance[arcs.indices[row]] + step == distance[path[-1]]
        path.append(int(arcs.indices[row][tight][0]))
    return " -> ".join(_name(graph, v) for v in path)


def agree(one: Sequence[Measured], other: Sequence[Measured]) -> list[str]:
    """Names of the analytics whose results differ between two devices."""
    return [
        a.work.name
        for a, b in zip(one, other, strict=True)
        if not np.allclose(to_device(a.work.values(a.result), "cpu"), to_device(b.work.values(b.result), "cpu"), 1e-5)
    ]


def picture(subject: Subject, measured: Sequence[Measured], path: Path) -> None:
    """Draw the degree distribution and the supersteps of the BFS into a file."""
    # A figure of its own, not pyplot's: works without a display and leaves the caller's settings alone.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    hpg.viz.degree_distribution(subject.depends, left)
    left.set_title("Degrees: packages and their dependencies", loc="left", fontsize=11)
    hpg.viz.trace(measured[0].result.trace, right)
    right.set_title(f"BFS from {CENTRE}, against the dependencies", loc="left", fontsize=11)
    with replacing(path) as file:
        figure.savefig(file, format=path.suffix[1:] or "png", dpi=120)


def _where(device: str) -> str:
    if device == "cuda":
        cuda = array_module("cuda").cuda
        properties = cuda.runtime.getDeviceProperties(cuda.Device().id)
        return f"On the GPU ({properties['name'].decode()})"
    threads = hpg.config.threads
    return f"On the CPU ({_count(threads, 'thread')})"


def main(arguments: list[str] | None = None) -> int:
    """Command line of the demo; returns the exit status, 1 when two devices disagree."""
    parser = argparse.ArgumentParser(prog="python -m hpgraph.demo", description="hpgraph, once, on its bundled graph.")
    parser.add_argument("--output", type=Path, default=Path("demo.png"), help="the picture (default: %(default)s)")
    parser.add_argument("--device", choices=["cpu", "cuda"], help="run on this device only (default: all there are)")
    options = parser.parse_args(arguments)
    try:
        check_writable(options.output)
    except OSError as error:
        parser.error(f"--output {error.filename}: {error.strerror}")
    devices = [options.device] if options.device else ["cpu", "cuda"] if cuda_available() else ["cpu"]

    print(f"hpgraph {hpg.__version__} on the dependencies of Debian bookworm's packages", flush=True)
    runs: list[tuple[Subject, list[Measured]]] = []
    if "cpu" in devices:
        compile_for_cpu()
    for device in devices:
        subject = Subject.on(device)
        if not runs:
            print(f"{subject.depends.n_vertices:,} packages, {subject.depends.n_edges:,} dependencies\n", flush=True)
        runs.append((subject, [measure(work, subject) for work in WORKS]))
        print(table(runs[-1][1], _where(device)) + "\n", flush=True)
    print("The first call compiles, or loads what an earlier run compiled.\n")

    subject, measured = runs[0]
    print(facts(subject, measured))
    different = [name for _, other in runs[1:] for name in agree(measured, other)]
    if len(runs) > 1:
        print(f"CPU and GPU disagree on {', '.join(different)}!" if different else "CPU and GPU agree on all five.")
    try:
        picture(subject, measured, options.output)
    except ImportError:
        print("No picture: pip install 'hpgraph[plot]'")
    else:
        print(f"Picture: {options.output}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
