"""The commands that describe a graph, convert it and search it from one vertex; and those of no graph."""

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

import hpgraph as hpg
from hpgraph.cli.graph_input import load, source_of, vertex_of
from hpgraph.cli.output import called, explain, on_cpu, plural, print_levels, printable, save, timed
from hpgraph.core.device import cuda_available
from hpgraph.io.hpg_reader import GraphFile
from hpgraph.io.kinds import kind_of
from hpgraph.io.remote import check_target


def info(graph: hpg.Graph, arguments: Any) -> None:
    """The content of a graph file."""
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
            largest = int(degree.argmax())
            rows.append((f"largest {title}", f"{int(degree[largest]):,} (vertex {called(graph, largest)})"))
    rows.append(("memory as CSR", f"{csr.nbytes / 2**20:,.1f} MiB"))
    for title, value in rows:
        print(f"  {title:<20}{value}")


def convert(arguments: Any) -> None:
    """Write a graph in another format; as .hpg without having it in memory."""
    kind = kind_of(Path(arguments.target))
    if kind != "hpg" or arguments.file == "debian":
        check_target(arguments.target)
        hpg.write(load(arguments), arguments.target, compression=arguments.compression)
        print(f"written to {arguments.target}")
        return
    start = time.perf_counter()
    same = ("memory", "directed", "duplicates", "compression", "delimiter")
    options = {name: getattr(arguments, name) for name in same}
    hpg.convert(arguments.file, arguments.target, transpose=arguments.reverse, **options)
    seconds = time.perf_counter() - start
    header = GraphFile(Path(arguments.target)).header
    print(
        f"{arguments.target}: {header.n_vertices:,} vertices, {header.n_arcs:,} arcs, "
        f"{'directed' if header.directed else 'undirected'}; "
        f"{header.file_bytes / 2**20:,.1f} MiB, converted in {seconds:.3g} s"
    )


def path(graph: hpg.Graph, arguments: Any) -> None:
    """A shortest path between two vertices."""
    ends = [hpg.id(vertex_of(graph, getattr(arguments, end), f"--{end}")) for end in ("source", "target")]
    weight = arguments.weighted or None
    result, seconds = timed(arguments, lambda: hpg.shortest_path(graph, *ends, weight=weight))
    length = hpg.shortest_path_length(graph, *ends, weight=weight)
    steps = plural(len(result) - 1, "step")
    print(f"{steps}{f' of length {length:.6g}' if weight else ''}; {seconds}")
    print(f"  {' -> '.join(map(printable, result))}")


def bfs(graph: hpg.Graph, arguments: Any) -> None:
    """Breadth-first search from one vertex."""
    source = source_of(graph, arguments)
    result, seconds = timed(arguments, lambda: hpg.bfs(graph, hpg.id(source)))
    level = on_cpu(result.level)
    reached = level[level >= 0]
    print(
        f"BFS from {called(graph, source)} on {arguments.device}: {reached.size:,} of {graph.n_vertices:,} vertices "
        f"reached, the farthest in {plural(int(reached.max()), 'step')}; {seconds}"
    )
    print_levels(reached)
    explain(arguments, result)
    save(arguments, graph, level=level, parent=on_cpu(result.parent))


def sssp(graph: hpg.Graph, arguments: Any) -> None:
    """Shortest paths from one vertex."""
    source = source_of(graph, arguments)
    to_file = arguments.output is not None
    result, seconds = timed(arguments, lambda: hpg.sssp(graph, hpg.id(source), parents=to_file))
    distance = on_cpu(result.distance)
    unreached = np.isinf(distance) if distance.dtype.kind == "f" else distance == np.iinfo(distance.dtype).max
    reached = np.flatnonzero(~unreached)
    farthest = int(reached[np.argmax(distance[reached])])
    print(
        f"SSSP from {called(graph, source)} on {arguments.device}: {reached.size:,} of {graph.n_vertices:,} vertices "
        f"reached, the farthest ({called(graph, farthest)}) at distance {distance[farthest]:.6g}; "
        f"{seconds}"
    )
    if not graph.weighted:
        print("  (the graph has no weights: every arc has length 1)")
    explain(arguments, result)
    if to_file:
        save(arguments, graph, distance=distance, parent=on_cpu(result.parent))


def warmup(arguments: Any) -> None:
    """Compile the built-in kernels."""
    from hpgraph.warmup import warm_up

    devices = [arguments.device] if arguments.device else ["cpu", *(["cuda"] if cuda_available() else [])]
    for device in devices:
        start, calls = time.perf_counter(), 0
        for what, seconds in warm_up(device, arguments.jobs):
            calls += 1
            # A bar moves instead, where there is one.
            if not hpg.config.show_progress():
                print(f"{device:<5} {what:<28} {seconds:6.2f} s", flush=True)
        print(f"{device:<5} {calls} calls compiled, or found compiled, in {time.perf_counter() - start:.1f} s")


def completion(arguments: Any) -> None:
    """A script that makes a shell complete the commands and their options, made from what reads them."""
    print(_script(arguments.parser, arguments.shell))


def _script(top: argparse.ArgumentParser, shell: str) -> str:
    """The completion script of a shell."""
    below = next(action for action in top._actions if isinstance(action, argparse._SubParsersAction))
    options = {
        name: [option for action in command._actions for option in action.option_strings]
        for name, command in below.choices.items()
    }
    if shell == "fish":
        lines = [f"complete -c hpgraph -n __fish_use_subcommand -f -a '{' '.join(options)}'"]
        lines += [
            f"complete -c hpgraph -n '__fish_seen_subcommand_from {name}' -l {option.removeprefix('--')}"
            for name, known in options.items()
            for option in known
            if option.startswith("--")
        ]
        return "\n".join(lines)
    cases = "\n".join(f"    {name}) known='{' '.join(known)}' ;;" for name, known in options.items())
    head = "autoload -U +X bashcompinit && bashcompinit\n" if shell == "zsh" else ""
    return f"""{head}_hpgraph() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} known=
  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W '{" ".join(options)}' -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{cases}
  esac
  case $word in
    -*) COMPREPLY=($(compgen -W "$known" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}}
complete -o filenames -F _hpgraph hpgraph"""
