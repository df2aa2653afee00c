"""The commands that give each vertex a value: centralities, cores, colours, similarity, heat, visits of walks."""

from collections.abc import Callable
from typing import Any

import numpy as np

import hpgraph as hpg
from hpgraph.algorithms.sources import sources_of
from hpgraph.cli.graph_input import source_of
from hpgraph.cli.output import called, explain, how_it_ended, on_cpu, plural, show, timed


def _of_vertices(graph: hpg.Graph, arguments: Any, call: Callable[[hpg.Graph], Any], name: str) -> Any:
    result, seconds = timed(arguments, lambda: call(graph))
    each = on_cpu(result)
    print(f"{name} of every vertex on {arguments.device}: {seconds}")
    show(arguments, graph, **{name: each})
    return each


def degree(graph: hpg.Graph, arguments: Any) -> None:
    """Degree centrality."""
    _of_vertices(graph, arguments, hpg.degree_centrality, "degree_centrality")


def cores(graph: hpg.Graph, arguments: Any) -> None:
    """Core numbers."""
    numbers = _of_vertices(graph, arguments, hpg.core_number, "core")
    largest = int(numbers.max(initial=0))
    print(f"largest core number {largest:,}, of {plural(int((numbers == largest).sum()), 'vertex')}")


def truss(graph: hpg.Graph, arguments: Any) -> None:
    """Truss numbers: of a vertex, the largest among its edges."""

    def of_vertices(graph: hpg.Graph) -> Any:
        largest = np.zeros(graph.n_vertices, np.int64)
        ends = on_cpu(graph.undirected.edges(both_ways=True).source)
        np.maximum.at(largest, ends, on_cpu(hpg.truss_number(graph.undirected)))
        return largest

    numbers = _of_vertices(graph, arguments, of_vertices, "truss")
    largest = int(numbers.max(initial=0))
    print(f"largest truss number {largest:,}, at {plural(int((numbers == largest).sum()), 'vertex')}")


def colors(graph: hpg.Graph, arguments: Any) -> None:
    """A greedy colouring."""
    result = _of_vertices(
        graph, arguments, lambda graph: hpg.greedy_color(graph, arguments.strategy, arguments.seed), "color"
    )
    print(plural(int(result.max(initial=-1)) + 1, "colour"))


def independent(graph: hpg.Graph, arguments: Any) -> None:
    """A maximal independent set."""

    def members(graph: hpg.Graph) -> Any:
        inside = np.zeros(graph.n_vertices, np.int64)
        inside[on_cpu(graph.indices_of(hpg.maximal_independent_set(graph, seed=arguments.seed)))] = 1
        return inside

    print(plural(int(_of_vertices(graph, arguments, members, "independent").sum()), "vertex"), "in the set")


def matching(graph: hpg.Graph, arguments: Any) -> None:
    """A maximal matching."""
    # As "parent" among columns: an index that is written as the vertex's name.
    mates = _of_vertices(graph, arguments, lambda graph: hpg.maximal_matching(graph, arguments.seed), "mate")
    print(plural(int((mates >= 0).sum()) // 2, "edge"), "in the matching")


def pagerank(graph: hpg.Graph, arguments: Any) -> None:
    """PageRank of every vertex."""
    _iterated(graph, arguments, "PageRank", hpg.pagerank, damping=arguments.damping)


def eigenvector(graph: hpg.Graph, arguments: Any) -> None:
    """Eigenvector centrality."""
    _iterated(graph, arguments, "eigenvector centrality", hpg.eigenvector_centrality, weight=arguments.weighted)


def katz(graph: hpg.Graph, arguments: Any) -> None:
    """Katz centrality."""
    _iterated(
        graph, arguments, "Katz centrality", hpg.katz_centrality, alpha=arguments.alpha, weight=arguments.weighted
    )


def hits(graph: hpg.Graph, arguments: Any) -> None:
    """Hubs and authorities."""
    _iterated(graph, arguments, "HITS", hpg.hits, weight=arguments.weighted)


def _iterated(graph: hpg.Graph, arguments: Any, title: str, call: Callable[..., Any], **options: Any) -> None:
    options |= {"tol": arguments.tol, "max_iteration": arguments.max_iteration}
    result, seconds = timed(arguments, lambda: call(graph, **options))
    print(f"{title} on {arguments.device}: {how_it_ended(result)}, last change {float(result.residual):.2g}; {seconds}")
    explain(arguments, result)
    names = ("rank", "centrality", "authorities", "hubs")
    show(arguments, graph, **{name: on_cpu(getattr(result, name)) for name in names if hasattr(result, name)})


def clustering(graph: hpg.Graph, arguments: Any) -> None:
    """Clustering coefficients."""
    result, seconds = timed(arguments, lambda: hpg.clustering(graph, weight=arguments.weighted, form=arguments.form))
    each = on_cpu(result)
    mean, whole = float(each.mean()) if len(each) else 0.0, hpg.transitivity(graph)
    print(f"clustering on {arguments.device}: {mean:.6g} on the average, transitivity {whole:.6g}; {seconds}")
    show(arguments, graph, clustering=each)


def triangles(graph: hpg.Graph, arguments: Any) -> None:
    """The number of triangles."""
    count, seconds = timed(arguments, lambda: hpg.triangle_count(graph))
    print(f"{plural(int(count), 'triangle')} on {arguments.device}; {seconds}")
    if arguments.top > 0 or arguments.output is not None:
        show(arguments, graph, triangles=on_cpu(hpg.triangles(graph)))


def closeness(graph: hpg.Graph, arguments: Any) -> None:
    """Closeness, or harmonic centrality, of all vertices or of a sample."""
    vertices = sources_of(graph, arguments.sources, arguments.seed, "--sources")
    call, title = (
        (hpg.harmonic_centrality, "harmonic centrality")
        if arguments.harmonic
        else (hpg.closeness_centrality, "closeness")
    )
    result, seconds = timed(arguments, lambda: call(graph, hpg.id(vertices), weight=arguments.weighted or None))
    print(f"{title} of {plural(len(vertices), 'vertex')} on {arguments.device}; {seconds}")
    # Vertices that were not requested have NaN, and come last.
    values = np.full(graph.n_vertices, np.nan)
    values[vertices] = on_cpu(result)
    arguments.top = min(arguments.top, len(vertices))
    show(arguments, graph, **{title.replace(" ", "_"): values})


def betweenness(graph: hpg.Graph, arguments: Any) -> None:
    """Betweenness, of shortest paths from all vertices or from a sample."""
    options = {"sources": arguments.sources, "weight": arguments.weighted or None, "seed": arguments.seed}
    result, seconds = timed(arguments, lambda: hpg.betweenness_centrality(graph, **options))
    sampled = "all vertices" if arguments.sources is None else plural(arguments.sources, "vertex")
    print(f"betweenness by paths from {sampled} on {arguments.device}; {seconds}")
    show(arguments, graph, betweenness=on_cpu(result))


def similar(graph: hpg.Graph, arguments: Any) -> None:
    """The vertices most similar to a vertex."""
    source = source_of(graph, arguments)
    measure, options = getattr(hpg, arguments.measure), {"joined": not arguments.links, "incoming": arguments.incoming}
    result, seconds = timed(arguments, lambda: measure(graph, vertices=hpg.id(source), **options))
    print(
        f"{arguments.measure} on {arguments.device}: {plural(len(result), 'vertex')} with a neighbour in common with "
        f"{called(graph, source)}; {seconds}"
    )
    score = np.zeros(graph.n_vertices)
    score[on_cpu(result.target)] = on_cpu(result.score)
    arguments.top = min(arguments.top, len(result))
    show(arguments, graph, **{arguments.measure: score})


def walks(graph: hpg.Graph, arguments: Any) -> None:
    """Where random walks from a vertex lead."""
    source = source_of(graph, arguments)
    starts, call = hpg.id(np.full(arguments.count, source)), hpg.random_walk
    options = {"length": arguments.length, "weight": arguments.weighted, "seed": arguments.seed}
    if not arguments.p == arguments.q == 1:
        call, options = hpg.node2vec_walk, options | {"p": arguments.p, "q": arguments.q}
    result, seconds = timed(arguments, lambda: call(graph, starts, **options))
    visited = on_cpu(result)[:, 1:]
    visits = np.bincount(visited[visited >= 0], minlength=graph.n_vertices)
    print(
        f"{plural(arguments.count, 'walk')} from {called(graph, source)} on {arguments.device}: "
        f"{plural(int(visits.sum()), 'step')} to {plural(int((visits > 0).sum()), 'vertex')}; {seconds}"
    )
    show(arguments, graph, visits=visits)


def heat(graph: hpg.Graph, arguments: Any) -> None:
    """Heat that spreads from one vertex."""
    start = {hpg.id(source_of(graph, arguments)): 1.0}
    options = {"laplacian": arguments.laplacian, "weight": arguments.weighted}
    result, seconds = timed(arguments, lambda: hpg.heat_kernel(graph, start, arguments.time, **options))
    print(f"heat after {arguments.time:g} on {arguments.device}; {seconds}")
    show(arguments, graph, heat=on_cpu(result))
