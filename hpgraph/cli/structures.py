"""The commands that find structures: cores, trusses, colours, independent sets, matchings, communities."""

from __future__ import annotations

from typing import Any

import hpgraph as hpg
from hpgraph.cli.graph_input import load
from hpgraph.cli.output import on_cpu, plural, print_top, save, timed


def cores(arguments: Any) -> None:
    """Core numbers."""
    numbers = _of_vertices(arguments, hpg.core_number, "core")
    largest = int(numbers.max()) if len(numbers) else 0
    inside = int((numbers == largest).sum())
    print(f"largest core number {largest:,}, of {plural(inside, 'vertex')}")


def colors(arguments: Any) -> None:
    """A greedy colouring."""
    found = _of_vertices(arguments, lambda graph: hpg.greedy_color(graph, arguments.strategy, arguments.seed), "color")
    print(plural(int(found.max()) + 1 if len(found) else 0, "colour"))


def communities(arguments: Any) -> None:
    """Communities, and how large the largest are."""
    import numpy as np

    graph = load(arguments, arguments.device)
    options = {"weight": arguments.weighted, "seed": arguments.seed}
    searches = {
        "louvain": lambda: hpg.louvain(graph, resolution=arguments.resolution, **options),
        "leiden": lambda: hpg.leiden(graph, resolution=arguments.resolution, **options),
        "labels": lambda: hpg.label_propagation_communities(graph, **options),
        "cdlp": lambda: hpg.cdlp(graph),
    }
    found, seconds = timed(arguments.device, searches[arguments.method])
    label = on_cpu(getattr(found, "label", found))
    sizes = np.unique(label, return_counts=True)[1]
    quality = hpg.modularity(graph, label, weight=arguments.weighted, resolution=arguments.resolution)
    print(
        f"{arguments.method} on {arguments.device}: {len(sizes):,} communities, modularity {quality:.4f}; "
        f"{seconds:.3g} s with loading the kernels"
    )
    if arguments.top > 0 and len(sizes):
        largest = np.sort(sizes)[::-1][: arguments.top]
        print(f"  the largest have {', '.join(f'{size:,}' for size in largest)} vertices")
    save(arguments.output, graph, community=label)


def truss(arguments: Any) -> None:
    """Truss numbers: of a vertex, the largest among its edges."""
    import numpy as np

    def of_vertices(graph: Any) -> Any:
        numbers = on_cpu(hpg.truss_number(graph.undirected))
        ends = on_cpu(graph.undirected.edges(both_ways=True).source)
        largest = np.zeros(graph.n_vertices, np.int64)
        np.maximum.at(largest, ends, numbers)
        return largest

    numbers = _of_vertices(arguments, of_vertices, "truss")
    largest = int(numbers.max()) if len(numbers) else 0
    print(f"largest truss number {largest:,}, at {plural(int((numbers == largest).sum()), 'vertex')}")


def degree(arguments: Any) -> None:
    """Degree centrality."""
    _of_vertices(arguments, hpg.degree_centrality, "degree_centrality", "{:.6g}")


def independent(arguments: Any) -> None:
    """A maximal independent set."""
    import numpy as np

    def members(graph: Any) -> Any:
        inside = np.zeros(graph.n_vertices, np.int64)
        inside[on_cpu(graph.indices_of(hpg.maximal_independent_set(graph, seed=arguments.seed)))] = 1
        return inside

    print(plural(int(_of_vertices(arguments, members, "independent").sum()), "vertex"), "in the set")


def matching(arguments: Any) -> None:
    """A maximal matching."""
    # As "parent" among columns: an index that is written as the vertex is called.
    mates = _of_vertices(arguments, lambda graph: hpg.maximal_matching(graph, arguments.seed), "mate")
    print(plural(int((mates >= 0).sum()) // 2, "edge"), "in the matching")


def forest(arguments: Any) -> None:
    """A spanning forest of least weight."""
    graph = load(arguments, arguments.device)
    found, seconds = timed(arguments.device, lambda: hpg.minimum_spanning_forest(graph))
    print(
        f"spanning forest on {arguments.device}: {plural(len(found.source), 'edge')}, {plural(found.count, 'tree')}, "
        f"total weight {found.total:,.10g}; {seconds:.3g} s with loading the kernels"
    )


def _of_vertices(arguments: Any, call: Any, name: str, form: str = "{:,}") -> Any:

    graph = load(arguments, arguments.device)
    found, seconds = timed(arguments.device, lambda: call(graph))
    each = on_cpu(found)
    print(f"{name} of every vertex on {arguments.device}: {seconds:.3g} s with loading the kernels")
    if arguments.top > 0:
        print_top(graph, each, arguments.top, name, form)
    save(arguments.output, graph, **{name: each})
    return each
