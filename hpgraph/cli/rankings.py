"""The commands that give each vertex a number by its neighbours: iterated centralities, and clustering."""

from __future__ import annotations

from typing import Any

import hpgraph as hpg
from hpgraph.cli.graph_input import load
from hpgraph.cli.output import on_cpu, plural, print_top, save, timed


def eigenvector(arguments: Any) -> None:
    """Eigenvector centrality."""
    _iterated(arguments, "eigenvector centrality", lambda graph, how: hpg.eigenvector_centrality(graph, **how))


def katz(arguments: Any) -> None:
    """Katz centrality."""
    _iterated(arguments, "Katz centrality", lambda graph, how: hpg.katz_centrality(graph, arguments.alpha, **how))


def hits(arguments: Any) -> None:
    """Hubs and authorities."""
    _iterated(arguments, "HITS", lambda graph, how: hpg.hits(graph, **how))


def _iterated(arguments: Any, title: str, call: Any) -> None:

    graph = load(arguments, arguments.device)
    how = {"tol": arguments.tol, "max_iteration": arguments.max_iteration, "weight": arguments.weighted}
    result, seconds = timed(arguments.device, lambda: call(graph, how))
    print(
        f"{title} on {arguments.device}: {'converged' if result.converged else 'NOT converged'} after "
        f"{plural(int(result.iterations), 'iteration')}, last change {float(result.residual):.2g}; "
        f"{seconds:.3g} s with loading the kernels"
    )
    columns = {name: getattr(result, name, None) for name in ("centrality", "authorities", "hubs")}
    found = {name: on_cpu(values) for name, values in columns.items() if values is not None}
    for name, values in found.items():
        print_top(graph, values, arguments.top, name, "{:.6g}")
    save(arguments.output, graph, **found)


def clustering(arguments: Any) -> None:
    """Clustering coefficients."""
    graph = load(arguments, arguments.device)
    found, seconds = timed(
        arguments.device, lambda: hpg.clustering(graph, weight=arguments.weighted, form=arguments.form)
    )
    each = on_cpu(found)
    mean = float(each.mean()) if len(each) else 0.0
    print(
        f"clustering on {arguments.device}: {mean:.6g} on the average, transitivity {hpg.transitivity(graph):.6g}; "
        f"{seconds:.3g} s with loading the kernels"
    )
    if arguments.top > 0:
        print_top(graph, each, arguments.top, "clustering", "{:.6g}")
    save(arguments.output, graph, clustering=each)
