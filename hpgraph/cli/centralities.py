"""The commands that search from many vertices: centralities and distances."""

from __future__ import annotations

from typing import Any

import hpgraph as hpg
from hpgraph.cli.graph_input import load
from hpgraph.cli.output import on_cpu, plural, print_top, save, timed

# Vertices of the center that are named.
_NAMED = 5


def closeness(arguments: Any) -> None:
    """Closeness, or harmonic centrality, of all vertices or of a sample."""
    import numpy as np

    from hpgraph.algorithms.sources import sources_of

    graph = load(arguments, arguments.device)
    call = hpg.harmonic_centrality if arguments.harmonic else hpg.closeness_centrality
    vertices = sources_of(graph, arguments.sources, arguments.seed, "--sources")
    found, seconds = timed(
        arguments.device, lambda: call(graph, hpg.id(vertices), weight=True if arguments.weighted else None)
    )
    title = "harmonic centrality" if arguments.harmonic else "closeness"
    print(
        f"{title} of {plural(len(vertices), 'vertex')} on {arguments.device}; {seconds:.3g} s with loading the kernels"
    )
    # What was not asked for is no number, and comes last.
    values = np.full(graph.n_vertices, np.nan)
    values[vertices] = on_cpu(found)
    print_top(graph, values, min(arguments.top, len(vertices)), title, "{:.6g}")
    save(arguments.output, graph, **{title.replace(" ", "_"): values})


def betweenness(arguments: Any) -> None:
    """Betweenness, of shortest paths from all vertices or from a sample."""
    graph = load(arguments, arguments.device)
    found, seconds = timed(
        arguments.device,
        lambda: hpg.betweenness_centrality(
            graph, sources=arguments.sources, weight=True if arguments.weighted else None, seed=arguments.seed
        ),
    )
    sampled = "all vertices" if arguments.sources is None else plural(arguments.sources, "vertex")
    print(f"betweenness by paths from {sampled} on {arguments.device}; {seconds:.3g} s with loading the kernels")
    values = on_cpu(found)
    print_top(graph, values, arguments.top, "betweenness", "{:.6g}")
    save(arguments.output, graph, betweenness=values)


def diameter(arguments: Any) -> None:
    """Diameter, radius and center."""
    graph = load(arguments, arguments.device)
    how = {"weight": True if arguments.weighted else None, "largest_component": arguments.largest}

    def all_three() -> tuple[Any, Any, Any]:
        return hpg.diameter(graph, **how), hpg.radius(graph, **how), hpg.center(graph, **how)

    try:
        (widest, least, center), seconds = timed(arguments.device, all_three)
    except ValueError as error:
        told = str(error).replace("largest_component=True", "--largest").replace("take G.undirected", "--undirected")
        raise ValueError(told) from error
    part = " of the largest component" if arguments.largest else ""
    shown = ", ".join(map(str, center[:_NAMED].tolist())) + (", ..." if len(center) > _NAMED else "")
    print(f"diameter{part} {widest:g}, radius {least:g}; {seconds:.3g} s with loading the kernels")
    print(f"  center: {plural(len(center), 'vertex')} ({shown})")
