"""The command ``hpgraph``: what a graph file holds, and the built-in algorithms on it.

Nothing but argparse is imported until a command runs, so that ``hpgraph --help`` answers at once.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hpgraph import __version__
from hpgraph.core.config import config
from hpgraph.core.errors import HpgraphError

if TYPE_CHECKING:
    from hpgraph.containers.graph import Graph

BAD_INPUT = 2
"""Exit status when a file, an argument or the machine does not allow what was asked for; argparse uses the same."""

_INTERRUPTED = 130
_LEVELS_SHOWN = 24


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; those of the process by default.

    Returns
    -------
    int
        Exit status: 0, or 2 after one line on standard error that says what was wrong.

    Raises
    ------
    SystemExit
        By argparse, for ``--help``, ``--version`` and arguments that it cannot make sense of.

    Examples
    --------
    >>> main(["info", "nothing.mtx"])  # on standard error: hpgraph: nothing.mtx: No such file or directory
    2
    """
    arguments = _parser().parse_args(argv)
    settings = {
        **({"progress": False} if arguments.no_progress else {}),
        **({"threads": arguments.threads} if arguments.threads is not None else {}),
    }
    try:
        with config(**settings):
            arguments.run(arguments)
            sys.stdout.flush()
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader, `head` say, has seen enough. What Python still flushes on its way out must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (HpgraphError, ValueError, TypeError, IndexError, KeyError, MemoryError, OSError) as error:
        if arguments.debug:
            raise
        print(f"hpgraph: {_one_line(error)}", file=sys.stderr)
        return BAD_INPUT
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="hpgraph",
        description="Graph analytics on CPU and GPU.",
        epilog="FILE: .mtx (Matrix Market), .el .wel .txt .tsv .csv (edge lists), each also with .gz, .npz (SciPy "
        "sparse array), or the word debian for the bundled graph. 'hpgraph COMMAND --help' says more.",
    )
    parser.add_argument("--version", action="version", version=f"hpgraph {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    run = argparse.ArgumentParser(add_help=False)
    run.add_argument("--debug", action="store_true", help="show the traceback of an error")
    run.add_argument("--no-progress", action="store_true", help="no progress bar on long reads")
    run.add_argument("--threads", type=int, metavar="N", help="threads of the CPU kernels (default: all cores)")

    graph = argparse.ArgumentParser(add_help=False, parents=[run])
    graph.add_argument("file", metavar="FILE", help="graph file, or debian")
    direction = graph.add_mutually_exclusive_group()
    direction.add_argument("--directed", dest="directed", action="store_true", default=None, help="take edges as arcs")
    direction.add_argument("--undirected", dest="directed", action="store_false", help="take arcs in both directions")
    graph.add_argument("--memory", metavar="M", help="what reading may take, 4GiB say (default: 3/4 of what is free)")
    graph.add_argument("--delimiter", metavar="C", help="what separates the fields of an edge list (default: found)")

    compute = argparse.ArgumentParser(add_help=False, parents=[graph])
    compute.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="where to compute (default: cpu)")
    compute.add_argument("-o", "--output", metavar="OUT", help="write a value per vertex: .csv, .csv.gz or .npz")

    def command(name: str, about: str, action: Callable[[Any], None], parent: Any) -> argparse.ArgumentParser:
        one = commands.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.", parents=[parent])
        one.set_defaults(run=action)
        return one

    command("info", "what a graph file holds", _info, graph)

    bfs = command("bfs", "steps from a source to every vertex", _bfs, compute)
    sssp = command("sssp", "lengths of the shortest paths from a source", _sssp, compute)
    for one in (bfs, sssp):
        start = one.add_mutually_exclusive_group(required=True)
        start.add_argument("--source", metavar="V", help="where to start: a name, or a number if there are no names")
        start.add_argument("--source-id", type=int, metavar="I", help="where to start: the I-th vertex, counted from 0")
        one.add_argument("--explain", action="store_true", help="print what each superstep did")

    pagerank = command("pagerank", "PageRank of every vertex", _pagerank, compute)
    pagerank.add_argument("--top", type=int, default=10, metavar="N", help="print the N first vertices (default: 10)")
    pagerank.add_argument("--damping", type=float, default=0.85, metavar="D", help="damping factor (default: 0.85)")
    pagerank.add_argument("--tol", type=float, default=1e-6, metavar="T", help="L1 change to stop at (default: 1e-6)")
    pagerank.add_argument("--max-iteration", type=int, default=100, metavar="N", help="give up after N (default: 100)")
    pagerank.add_argument("--explain", action="store_true", help="print what each iteration did")

    triangles = command("triangles", "the number of triangles", _triangles, compute)
    triangles.add_argument("--top", type=int, default=0, metavar="N", help="print the N vertices in most triangles")

    warmup = command("warmup", "compile the built-in kernels, so that no later call waits", _warmup, run)
    warmup.add_argument("--device", choices=["cpu", "cuda"], help="for one device only (default: all there are)")
    warmup.add_argument("--jobs", type=int, metavar="N", help="processes that compile (default: one a thread)")
    return parser


def _info(arguments: Any) -> None:
    import numpy as np

    graph = _load(arguments, "cpu")
    n, m = graph.n_vertices, graph.n_edges
    csr = graph.out_csr
    out_degree, in_degree = np.asarray(graph.out_degree), np.asarray(graph.in_degree)
    loops = int(np.count_nonzero(csr.indices == np.repeat(np.arange(n), np.diff(csr.indptr))))
    if not graph.weighted:
        weights = "none"
    elif m == 0:
        weights = str(csr.data.dtype)
    else:
        weights = f"{csr.data.dtype}, {csr.data.min():.6g} to {csr.data.max():.6g}"
    rows = [
        ("vertices", f"{n:,}"),
        ("arcs", f"{m:,}" if graph.directed else f"{m:,}, both directions of every edge"),
        ("directed", "yes" if graph.directed else "no"),
        ("weights", weights),
        ("self-loops", f"{loops:,}"),
        ("without an edge", f"{int(np.count_nonzero((out_degree == 0) & (in_degree == 0))):,}"),
    ]
    if n:
        rows.append(("mean degree", f"{m / n:.4g}"))
        named = [("out-degree", out_degree), ("in-degree", in_degree)] if graph.directed else [("degree", out_degree)]
        for title, degree in named:
            most = int(degree.argmax())
            rows.append((f"largest {title}", f"{int(degree[most]):,} (vertex {_label(graph, most)})"))
    rows.append(("memory as CSR", f"{csr.nbytes / 2**20:,.1f} MiB"))
    for title, value in rows:
        print(f"  {title:<20}{value}")


def _bfs(arguments: Any) -> None:
    import hpgraph as hpg
    from hpgraph.core.device import to_device

    _check_output(arguments.output)
    graph = _load(arguments, arguments.device)
    source = _source(graph, arguments)
    result, seconds = _timed(arguments.device, lambda: hpg.bfs(graph, hpg.id(source)))
    level = to_device(result.level, "cpu")
    reached = level[level >= 0]
    print(
        f"BFS from {_label(graph, source)} on {arguments.device}: {reached.size:,} of {graph.n_vertices:,} vertices "
        f"reached, the farthest in {_plural(int(reached.max()), 'step')}; {seconds:.3g} s with loading the kernels"
    )
    _print_levels(reached)
    _explain(arguments, result)
    _save(arguments.output, graph, level=level, parent=to_device(result.parent, "cpu"))


def _sssp(arguments: Any) -> None:
    import numpy as np

    import hpgraph as hpg
    from hpgraph.core.device import to_device

    _check_output(arguments.output)
    graph = _load(arguments, arguments.device)
    source = _source(graph, arguments)
    wanted = arguments.output is not None
    result, seconds = _timed(arguments.device, lambda: hpg.sssp(graph, hpg.id(source), parents=wanted))
    distance = to_device(result.distance, "cpu")
    unreached = np.isinf(distance) if distance.dtype.kind == "f" else distance == np.iinfo(distance.dtype).max
    reached = np.flatnonzero(~unreached)
    farthest = int(reached[np.argmax(distance[reached])])
    print(
        f"SSSP from {_label(graph, source)} on {arguments.device}: {reached.size:,} of {graph.n_vertices:,} vertices "
        f"reached, the farthest ({_label(graph, farthest)}) at distance {distance[farthest]:.6g}; "
        f"{seconds:.3g} s with loading the kernels"
    )
    if not graph.weighted:
        print("  (the graph has no weights: every arc has length 1)")
    _explain(arguments, result)
    if wanted:
        _save(arguments.output, graph, distance=distance, parent=to_device(result.parent, "cpu"))


def _pagerank(arguments: Any) -> None:
    import hpgraph as hpg
    from hpgraph.core.device import to_device

    _check_output(arguments.output)
    graph = _load(arguments, arguments.device)
    result, seconds = _timed(
        arguments.device,
        lambda: hpg.pagerank(
            graph, damping=arguments.damping, tol=arguments.tol, max_iteration=arguments.max_iteration
        ),
    )
    rank = to_device(result.rank, "cpu")
    print(
        f"PageRank on {arguments.device}: {'converged' if result.converged else 'NOT converged'} after "
        f"{_plural(int(result.iterations), 'iteration')}, last change {float(result.residual):.2g}; "
        f"{seconds:.3g} s with loading the kernels"
    )
    _print_top(graph, rank, arguments.top, "rank", "{:.6g}")
    _explain(arguments, result)
    _save(arguments.output, graph, rank=rank)


def _triangles(arguments: Any) -> None:
    import hpgraph as hpg
    from hpgraph.core.device import to_device

    _check_output(arguments.output)
    graph = _load(arguments, arguments.device)
    count, seconds = _timed(arguments.device, lambda: hpg.triangle_count(graph))
    print(f"{_plural(int(count), 'triangle')} on {arguments.device}; {seconds:.3g} s with loading the kernels")
    if arguments.top > 0 or arguments.output is not None:
        each = to_device(hpg.triangles(graph), "cpu")
        _print_top(graph, each, arguments.top, "triangles", "{:,}")
        _save(arguments.output, graph, triangles=each)


def _warmup(arguments: Any) -> None:
    from hpgraph.core.device import cuda_available
    from hpgraph.warmup import warm_up

    devices = [arguments.device] if arguments.device else ["cpu", *(["cuda"] if cuda_available() else [])]
    for device in devices:
        for what, seconds in warm_up(device, arguments.jobs):
            print(f"{device:<5} {what:<28} {seconds:6.2f} s", flush=True)


def _load(arguments: Any, device: str) -> Graph:
    import hpgraph as hpg

    start = time.perf_counter()
    if arguments.file == "debian":
        graph = hpg.datasets.debian(weighted=arguments.run is _sssp)
        if arguments.directed is False:
            graph = graph.undirected
    else:
        graph = hpg.read(
            arguments.file,
            directed=arguments.directed,
            delimiter=arguments.delimiter,
            memory=arguments.memory,
        )
    seconds = time.perf_counter() - start
    kind = "directed" if graph.directed else "undirected"
    print(f"{arguments.file}: {graph.n_vertices:,} vertices, {graph.n_edges:,} arcs, {kind}; read in {seconds:.3g} s")
    return graph if device == "cpu" else graph.to(device)


def _source(graph: Graph, arguments: Any) -> int:
    """The index of the vertex to start from: of a name where the graph has names, which may be numbers."""
    from hpgraph.containers.vertices import id

    if arguments.source_id is not None:
        return graph.index_of(id(arguments.source_id), "--source-id")
    text = arguments.source
    number = int(text) if re.fullmatch(r"[+-]?[0-9]{1,20}", text) else None
    if graph.names is None:
        if number is None:
            raise ValueError(f"--source {text}: the vertices of this graph have no names, give a number")
        return graph.index_of(number, "--source")
    try:
        return graph.index_of(text if number is None or graph.names.dtype.kind == "U" else number, "--source")
    except ValueError as error:
        if number is None:
            raise
        raise ValueError(f"{error}; here --source-id {number} says an index") from None


def _timed(device: str, call: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = call()
    if device == "cuda":
        from hpgraph.core.device import array_module

        array_module(device).cuda.get_current_stream().synchronize()
    return result, time.perf_counter() - start


def _explain(arguments: Any, result: Any) -> None:
    if arguments.explain:
        print(result.trace.explain())


def _label(graph: Graph, vertex: int) -> str:
    return str(vertex) if graph.names is None else str(graph.names[vertex])


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _print_levels(reached: Any) -> None:
    import numpy as np

    vertices = np.bincount(reached).tolist()
    print("  steps    vertices")
    left_out = len(vertices) - _LEVELS_SHOWN
    for level, count in enumerate(vertices):
        if left_out > 0 and _LEVELS_SHOWN // 2 <= level < _LEVELS_SHOWN // 2 + left_out:
            if level == _LEVELS_SHOWN // 2:
                print(f"    ...    ({left_out:,} more)")
            continue
        print(f"{level:>7}{count:>12,}")


def _print_top(graph: Graph, values: Any, top: int, title: str, form: str) -> None:
    import numpy as np

    if top < 1 or values.size == 0:
        return
    # A stable sort: of equals the first vertex comes first, whatever the device.
    best = np.argsort(-values, kind="stable")[:top].tolist()
    labels = [_label(graph, vertex) for vertex in best]
    width = max(6, *(len(label) for label in labels))
    print(f"  {'vertex':<{width}}  {title}")
    for vertex, label in zip(best, labels, strict=True):
        print(f"  {label:<{width}}  {form.format(values[vertex])}")


def _check_output(path: str | None) -> None:
    # Before the work rather than after it.
    if path is not None and not path.lower().endswith((".csv", ".csv.gz", ".npz")):
        raise ValueError(f"--output {path}: the name must end in .csv, .csv.gz or .npz")
    if path is not None:
        from hpgraph.io.replace import check_writable

        check_writable(path)


def _save(path: str | None, graph: Graph, **columns: Any) -> None:
    """One row a vertex; vertices by name where the graph has names, and an empty field where there is no parent."""
    if path is None:
        return
    import numpy as np

    from hpgraph.io.replace import replacing, replacing_text

    if path.lower().endswith(".npz"):
        if graph.names is not None:
            columns["names"] = graph.names.astype(np.str_) if graph.names.dtype.hasobject else graph.names
        with replacing(path) as file:
            np.savez_compressed(file, **columns)
    else:
        import csv

        labels = [_label(graph, vertex) for vertex in range(graph.n_vertices)]
        lists = [values.tolist() for values in columns.values()]
        for at, title in enumerate(columns):
            if title == "parent":
                lists[at] = ["" if parent < 0 else labels[parent] for parent in lists[at]]
        with replacing_text(path, zipped=path.lower().endswith(".gz")) as text:
            rows = csv.writer(text, lineterminator="\n")
            rows.writerow(["vertex", *columns])
            rows.writerows(zip(labels, *lists, strict=True))
    print(f"written to {path}")


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    return " ".join(text.split()) or type(error).__name__


if __name__ == "__main__":
    sys.exit(main())
