"""The commands for components, cuts, and topological order."""

from __future__ import annotations

from typing import Any

import hpgraph as hpg
from hpgraph.cli.graph_input import load
from hpgraph.cli.output import called, on_cpu, plural, save, timed

# Bridges, cut vertices and vertices of a path that are named.
_NAMED = 10


def components(arguments: Any) -> None:
    """Connected components, weak or strong."""
    import numpy as np

    graph = load(arguments, arguments.device)
    connection: Any = "strong" if arguments.strong else "weak"
    found, seconds = timed(arguments.device, lambda: hpg.connected_components(graph, connection=connection))
    label = on_cpu(found.label)
    sizes = np.sort(np.bincount(label, minlength=found.count))[::-1]
    kind = f"{connection} component" if graph.directed else "component"
    print(f"{plural(found.count, kind)} on {arguments.device}; {seconds:.3g} s with loading the kernels")
    for size in sizes[: arguments.top].tolist():
        print(f"  {plural(size, 'vertex')}")
    save(arguments.output, graph, component=label)


def cuts(arguments: Any) -> None:
    """Bridges, articulation points and biconnected components."""
    import numpy as np

    graph = load(arguments, arguments.device)
    (edges, vertices, parts), seconds = timed(
        arguments.device,
        lambda: (hpg.bridges(graph), hpg.articulation_points(graph), hpg.biconnected_components(graph)),
    )
    print(
        f"{plural(len(edges), 'bridge')}, {plural(len(vertices), 'articulation point')}, "
        f"{plural(len(parts), 'biconnected component')} on {arguments.device}; {seconds:.3g} s with loading the kernels"
    )
    if len(edges):
        print(f"  bridges: {_first([f'{u} - {v}' for u, v in edges[:_NAMED].tolist()], len(edges))}")
    if len(vertices):
        print(f"  articulation points: {_first(vertices[:_NAMED].tolist(), len(vertices))}")
    cut = np.zeros(graph.n_vertices, np.int64)
    cut[on_cpu(graph.indices_of(vertices))] = 1
    save(arguments.output, graph, articulation_point=cut)


def bipartite(arguments: Any) -> None:
    """Whether a graph has two sides, and which."""
    import numpy as np

    graph = load(arguments, arguments.device)
    whether, seconds = timed(arguments.device, lambda: hpg.is_bipartite(graph))
    told = "bipartite" if whether else "not bipartite: it has a cycle of odd length"
    print(f"the graph is {told}; {seconds:.3g} s with loading the kernels")
    if whether:
        second = graph.indices_of(hpg.bipartite_sets(graph)[1])
        side = np.zeros(graph.n_vertices, np.int64)
        side[on_cpu(second)] = 1
        print(f"  sides of {plural(int((side == 0).sum()), 'vertex')} and {plural(int(side.sum()), 'vertex')}")
        save(arguments.output, graph, side=side)


def order(arguments: Any) -> None:
    """A topological order, and the longest path."""
    import numpy as np

    graph = load(arguments, arguments.device)
    weight = "weight" if arguments.weighted else None
    (ordered, path), seconds = timed(
        arguments.device, lambda: (hpg.topological_sort(graph), hpg.dag_longest_path(graph, weight))
    )
    print(f"a topological order on {arguments.device}; {seconds:.3g} s with loading the kernels")
    indices = on_cpu(graph.indices_of(ordered))
    print(f"  first: {_first([called(graph, vertex) for vertex in indices[:_NAMED].tolist()], len(indices))}")
    print(f"  longest path, of {plural(len(path), 'vertex')}: {_first(path[:_NAMED].tolist(), len(path))}")
    place = np.empty(graph.n_vertices, np.int64)
    place[indices] = np.arange(graph.n_vertices)
    save(arguments.output, graph, place=place)


def _first(shown: list[Any], of: int) -> str:
    return ", ".join(map(str, shown)) + (", ..." if of > len(shown) else "")
