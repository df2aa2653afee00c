"""The commands for similarity, random walks and sampling."""

from __future__ import annotations

from typing import Any

import hpgraph as hpg
from hpgraph.cli.graph_input import load, source_of
from hpgraph.cli.output import called, on_cpu, plural, print_top, save, timed


def similar(arguments: Any) -> None:
    """The vertices most similar to a vertex."""
    import numpy as np

    graph = load(arguments, arguments.device)
    source = source_of(graph, arguments)
    measure = getattr(hpg, arguments.measure)
    found, seconds = timed(
        arguments.device,
        lambda: measure(graph, vertices=hpg.id(source), joined=not arguments.links, incoming=arguments.incoming),
    )
    print(
        f"{arguments.measure} on {arguments.device}: {plural(len(found), 'vertex')} with a neighbour in common with "
        f"{called(graph, source)}; {seconds:.3g} s with loading the kernels"
    )
    score = np.zeros(graph.n_vertices)
    score[on_cpu(found.target)] = on_cpu(found.score)
    print_top(graph, score, min(arguments.top, len(found)), arguments.measure, "{:.6g}")
    save(arguments.output, graph, **{arguments.measure: score})


def walks(arguments: Any) -> None:
    """Where random walks from a vertex lead."""
    import numpy as np

    graph = load(arguments, arguments.device)
    source = source_of(graph, arguments)
    starts = hpg.id(np.full(arguments.count, source))
    how = {"length": arguments.length, "weight": arguments.weighted, "seed": arguments.seed}
    if arguments.p == arguments.q == 1:
        found, seconds = timed(arguments.device, lambda: hpg.random_walk(graph, starts, **how))
    else:
        biased = {"p": arguments.p, "q": arguments.q}
        found, seconds = timed(arguments.device, lambda: hpg.node2vec_walk(graph, starts, **how, **biased))
    met = on_cpu(found)[:, 1:]
    steps = int((met >= 0).sum())
    visits = np.bincount(met[met >= 0], minlength=graph.n_vertices)
    reached = plural(int((visits > 0).sum()), "vertex")
    print(
        f"{plural(arguments.count, 'walk')} from {called(graph, source)} on {arguments.device}: "
        f"{plural(steps, 'step')} to {reached}; {seconds:.3g} s with loading the kernels"
    )
    print_top(graph, visits, arguments.top, "visits", "{:,}")
    save(arguments.output, graph, visits=visits)


def sample(arguments: Any) -> None:
    """Neighbours of a vertex, drawn hop by hop."""
    import numpy as np

    graph = load(arguments, arguments.device)
    source = source_of(graph, arguments)
    try:
        fanouts = [int(one) for one in arguments.fanouts.split(",")]
    except ValueError:
        raise ValueError(f"--fanouts {arguments.fanouts}: give numbers with commas between, 10,10 say") from None
    how = {"replace": arguments.replace, "weight": arguments.weighted, "incoming": arguments.incoming}
    found, seconds = timed(
        arguments.device,
        lambda: hpg.sample_neighbors(graph, hpg.id(source), fanouts, seed=arguments.seed, **how),
    )
    vertex = on_cpu(found.vertex)
    print(
        f"sample around {called(graph, source)} on {arguments.device}: {plural(len(vertex), 'vertex')}, "
        f"{plural(sum(found.edges_of_hop), 'edge')}; {seconds:.3g} s with loading the kernels"
    )
    print("    hop    vertices       edges")
    for hop, vertices in enumerate(found.vertices_of_hop):
        edges = f"{found.edges_of_hop[hop - 1]:>12,}" if hop else ""
        print(f"{hop:>7}{vertices:>12,}{edges}")
    hops = np.full(graph.n_vertices, -1)
    hops[vertex] = np.repeat(np.arange(len(found.vertices_of_hop)), found.vertices_of_hop)
    save(arguments.output, graph, hop=hops)
