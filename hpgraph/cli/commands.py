"""The commands that describe a graph, search it and rank its vertices."""

from __future__ import annotations

import time
from typing import Any

import hpgraph as hpg
from hpgraph.cli.graph_input import load, source_of, vertex_of
from hpgraph.cli.output import called, explain, on_cpu, plural, print_levels, print_top, printable, save, timed


def info(arguments: Any) -> None:
    """What a graph file holds."""
    import numpy as np

    graph = load(arguments, "cpu")
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
            rows.append((f"largest {title}", f"{int(degree[most]):,} (vertex {called(graph, most)})"))
    rows.append(("memory as CSR", f"{csr.nbytes / 2**20:,.1f} MiB"))
    for title, value in rows:
        print(f"  {title:<20}{value}")


def convert(arguments: Any) -> None:
    """Write a graph in another format; as .hpg without having it in memory."""
    from pathlib import Path

    from hpgraph.io.hpg_reader import GraphFile
    from hpgraph.io.kinds import kind_of
    from hpgraph.io.remote import check_target

    kind = kind_of(Path(arguments.target))
    if kind != "hpg" or arguments.file == "debian":
        check_target(arguments.target)
        hpg.write(load(arguments, "cpu"), arguments.target, compression=arguments.compression)
        print(f"written to {arguments.target}")
        return
    start = time.perf_counter()
    hpg.convert(
        arguments.file,
        arguments.target,
        memory=arguments.memory,
        directed=arguments.directed,
        transpose=arguments.reverse,
        duplicates=arguments.duplicates,
        compression=arguments.compression,
        delimiter=arguments.delimiter,
    )
    seconds = time.perf_counter() - start
    header = GraphFile(Path(arguments.target)).header
    print(
        f"{arguments.target}: {header.n_vertices:,} vertices, {header.n_arcs:,} arcs, "
        f"{'directed' if header.directed else 'undirected'}; "
        f"{header.file_bytes / 2**20:,.1f} MiB, converted in {seconds:.3g} s"
    )


def path(arguments: Any) -> None:
    """A shortest path between two vertices."""
    graph = load(arguments, arguments.device)
    ends = [hpg.id(vertex_of(graph, getattr(arguments, end), f"--{end}")) for end in ("source", "target")]
    weight = arguments.weighted or None
    found, seconds = timed(arguments.device, lambda: hpg.shortest_path(graph, *ends, weight=weight))
    length = hpg.shortest_path_length(graph, *ends, weight=weight)
    steps = plural(len(found) - 1, "step")
    print(f"{steps}{f' of length {length:.6g}' if weight else ''}; {seconds:.3g} s with loading the kernels")
    print(f"  {' -> '.join(map(printable, found))}")


def bfs(arguments: Any) -> None:
    """Breadth-first search from one vertex."""
    graph = load(arguments, arguments.device)
    source = source_of(graph, arguments)
    result, seconds = timed(arguments.device, lambda: hpg.bfs(graph, hpg.id(source)))
    level = on_cpu(result.level)
    reached = level[level >= 0]
    print(
        f"BFS from {called(graph, source)} on {arguments.device}: {reached.size:,} of {graph.n_vertices:,} vertices "
        f"reached, the farthest in {plural(int(reached.max()), 'step')}; {seconds:.3g} s with loading the kernels"
    )
    print_levels(reached)
    explain(arguments, result)
    save(arguments.output, graph, level=level, parent=on_cpu(result.parent))


def sssp(arguments: Any) -> None:
    """Shortest paths from one vertex."""
    import numpy as np

    graph = load(arguments, arguments.device)
    source = source_of(graph, arguments)
    wanted = arguments.output is not None
    result, seconds = timed(arguments.device, lambda: hpg.sssp(graph, hpg.id(source), parents=wanted))
    distance = on_cpu(result.distance)
    unreached = np.isinf(distance) if distance.dtype.kind == "f" else distance == np.iinfo(distance.dtype).max
    reached = np.flatnonzero(~unreached)
    farthest = int(reached[np.argmax(distance[reached])])
    print(
        f"SSSP from {called(graph, source)} on {arguments.device}: {reached.size:,} of {graph.n_vertices:,} vertices "
        f"reached, the farthest ({called(graph, farthest)}) at distance {distance[farthest]:.6g}; "
        f"{seconds:.3g} s with loading the kernels"
    )
    if not graph.weighted:
        print("  (the graph has no weights: every arc has length 1)")
    explain(arguments, result)
    if wanted:
        save(arguments.output, graph, distance=distance, parent=on_cpu(result.parent))


def pagerank(arguments: Any) -> None:
    """PageRank of every vertex."""
    graph = load(arguments, arguments.device)
    result, seconds = timed(
        arguments.device,
        lambda: hpg.pagerank(
            graph, damping=arguments.damping, tol=arguments.tol, max_iteration=arguments.max_iteration
        ),
    )
    rank = on_cpu(result.rank)
    print(
        f"PageRank on {arguments.device}: {'converged' if result.converged else 'NOT converged'} after "
        f"{plural(int(result.iterations), 'iteration')}, last change {float(result.residual):.2g}; "
        f"{seconds:.3g} s with loading the kernels"
    )
    print_top(graph, rank, arguments.top, "rank", "{:.6g}")
    explain(arguments, result)
    save(arguments.output, graph, rank=rank)


def triangles(arguments: Any) -> None:
    """The number of triangles."""
    graph = load(arguments, arguments.device)
    count, seconds = timed(arguments.device, lambda: hpg.triangle_count(graph))
    print(f"{plural(int(count), 'triangle')} on {arguments.device}; {seconds:.3g} s with loading the kernels")
    if arguments.top > 0 or arguments.output is not None:
        each = on_cpu(hpg.triangles(graph))
        print_top(graph, each, arguments.top, "triangles", "{:,}")
        save(arguments.output, graph, triangles=each)


def warmup(arguments: Any) -> None:
    """Compile the built-in kernels."""
    from hpgraph.core.config import config
    from hpgraph.core.device import cuda_available
    from hpgraph.warmup import warm_up

    devices = [arguments.device] if arguments.device else ["cpu", *(["cuda"] if cuda_available() else [])]
    for device in devices:
        start, calls = time.perf_counter(), 0
        for what, seconds in warm_up(device, arguments.jobs):
            calls += 1
            # A bar moves instead, where there is one.
            if not config.show_progress():
                print(f"{device:<5} {what:<28} {seconds:6.2f} s", flush=True)
        print(f"{device:<5} {calls} calls compiled, or found compiled, in {time.perf_counter() - start:.1f} s")
