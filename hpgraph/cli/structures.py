"""Commands for parts and structures: components, cuts, communities, forests, orders, samples, labels.

Initial labels and beliefs are given as a table in a CSV file with a column ``vertex``.
"""

import csv
from typing import Any

import numpy as np

import hpgraph as hpg
from hpgraph.cli.graph_input import source_of, vertex_of
from hpgraph.cli.output import called, how_it_ended, on_cpu, plural, save, timed

# Vertices of the center, and of bridges, cut vertices and paths, that are named.
_CENTER, _NAMED = 5, 10


def _first(shown: Any, of: int) -> str:
    return ", ".join(map(str, shown)) + (", ..." if of > len(shown) else "")


def _marked(graph: hpg.Graph, vertices: Any) -> Any:
    """1 at some vertices, and else 0."""
    mark = np.zeros(graph.n_vertices, np.int64)
    mark[on_cpu(graph.indices_of(vertices))] = 1
    return mark


def diameter(graph: hpg.Graph, arguments: Any) -> None:
    """Diameter, radius and center."""
    options: dict[str, Any] = {"weight": arguments.weighted or None, "largest_component": arguments.largest}
    calls = hpg.diameter, hpg.radius, hpg.center
    try:
        (widest, bounds, center), seconds = timed(arguments, lambda: [call(graph, **options) for call in calls])
    except ValueError as error:
        message = str(error).replace("largest_component=True", "--largest").replace("take G.undirected", "--undirected")
        raise ValueError(message) from error
    part = " of the largest component" if arguments.largest else ""
    print(f"diameter{part} {widest:g}, radius {bounds:g}; {seconds}")
    print(f"  center: {plural(len(center), 'vertex')} ({_first(center[:_CENTER].tolist(), len(center))})")


def components(graph: hpg.Graph, arguments: Any) -> None:
    """Connected components, weak or strong."""
    connection: Any = "strong" if arguments.strong else "weak"
    result, seconds = timed(arguments, lambda: hpg.connected_components(graph, connection=connection))
    label = on_cpu(result.label)
    kind = f"{connection} component" if graph.directed else "component"
    print(f"{plural(result.count, kind)} on {arguments.device}; {seconds}")
    for size in np.sort(np.bincount(label, minlength=result.count))[::-1][: arguments.top].tolist():
        print(f"  {plural(size, 'vertex')}")
    save(arguments, graph, component=label)


def cuts(graph: hpg.Graph, arguments: Any) -> None:
    """Bridges, articulation points and biconnected components."""
    calls = hpg.bridges, hpg.articulation_points, hpg.biconnected_components
    (edges, vertices, parts), seconds = timed(arguments, lambda: [call(graph) for call in calls])
    print(
        f"{plural(len(edges), 'bridge')}, {plural(len(vertices), 'articulation point')}, "
        f"{plural(len(parts), 'biconnected component')} on {arguments.device}; {seconds}"
    )
    if len(edges):
        print(f"  bridges: {_first([f'{u} - {v}' for u, v in edges[:_NAMED].tolist()], len(edges))}")
    if len(vertices):
        print(f"  articulation points: {_first(vertices[:_NAMED].tolist(), len(vertices))}")
    save(arguments, graph, articulation_point=_marked(graph, vertices))


def bipartite(graph: hpg.Graph, arguments: Any) -> None:
    """Whether a graph has two sides, and which."""
    whether, seconds = timed(arguments, lambda: hpg.is_bipartite(graph))
    print(f"the graph is {'bipartite' if whether else 'not bipartite: it has a cycle of odd length'}; {seconds}")
    if whether:
        side = _marked(graph, hpg.bipartite_sets(graph)[1])
        print(f"  sides of {plural(int((side == 0).sum()), 'vertex')} and {plural(int(side.sum()), 'vertex')}")
        save(arguments, graph, side=side)


def order(graph: hpg.Graph, arguments: Any) -> None:
    """A topological order, and the longest path."""
    weight = "weight" if arguments.weighted else None
    (ordered, path), seconds = timed(
        arguments, lambda: (hpg.topological_sort(graph), hpg.dag_longest_path(graph, weight))
    )
    print(f"a topological order on {arguments.device}; {seconds}")
    indices = on_cpu(graph.indices_of(ordered))
    print(f"  first: {_first([called(graph, vertex) for vertex in indices[:_NAMED].tolist()], len(indices))}")
    print(f"  longest path, of {plural(len(path), 'vertex')}: {_first(path[:_NAMED].tolist(), len(path))}")
    place = np.empty(graph.n_vertices, np.int64)
    place[indices] = np.arange(graph.n_vertices)
    save(arguments, graph, place=place)


def communities(graph: hpg.Graph, arguments: Any) -> None:
    """Communities, and how large the largest are."""
    options = {"weight": arguments.weighted, "seed": arguments.seed}
    calls: dict[str, tuple[Any, dict[str, Any]]] = {
        "louvain": (hpg.louvain, options | {"resolution": arguments.resolution}),
        "leiden": (hpg.leiden, options | {"resolution": arguments.resolution}),
        "labels": (hpg.label_propagation_communities, options),
        "cdlp": (hpg.cdlp, {}),
    }
    call, options = calls[arguments.method]
    result, seconds = timed(arguments, lambda: call(graph, **options))
    label = on_cpu(getattr(result, "label", result))
    sizes = np.unique(label, return_counts=True)[1]
    quality = hpg.modularity(graph, label, weight=arguments.weighted, resolution=arguments.resolution)
    print(f"{arguments.method} on {arguments.device}: {len(sizes):,} communities, modularity {quality:.4f}; {seconds}")
    if arguments.top > 0 and len(sizes):
        largest = np.sort(sizes)[::-1][: arguments.top]
        print(f"  the largest have {', '.join(f'{size:,}' for size in largest)} vertices")
    save(arguments, graph, community=label)


def forest(graph: hpg.Graph, arguments: Any) -> None:
    """A spanning forest of least weight."""
    result, seconds = timed(arguments, lambda: hpg.minimum_spanning_forest(graph))
    print(
        f"spanning forest on {arguments.device}: {plural(len(result.source), 'edge')}, {plural(result.count, 'tree')}, "
        f"total weight {result.total:,.10g}; {seconds}"
    )


def sample(graph: hpg.Graph, arguments: Any) -> None:
    """Neighbours of a vertex, drawn hop by hop."""
    source = source_of(graph, arguments)
    try:
        fanouts = [int(one) for one in arguments.fanouts.split(",")]
    except ValueError:
        raise ValueError(f"--fanouts {arguments.fanouts}: give numbers separated by commas, such as 10,10") from None
    options = {name: getattr(arguments, option) for name, option in (
        ("replace", "replace"), ("weight", "weighted"), ("incoming", "incoming"), ("seed", "seed"))}  # fmt: skip
    result, seconds = timed(arguments, lambda: hpg.sample_neighbors(graph, hpg.id(source), fanouts, **options))
    vertex = on_cpu(result.vertex)
    print(
        f"sample around {called(graph, source)} on {arguments.device}: {plural(len(vertex), 'vertex')}, "
        f"{plural(sum(result.edges_of_hop), 'edge')}; {seconds}"
    )
    print("    hop    vertices       edges")
    for hop, vertices in enumerate(result.vertices_of_hop):
        edges = f"{result.edges_of_hop[hop - 1]:>12,}" if hop else ""
        print(f"{hop:>7}{vertices:>12,}{edges}")
    hops = np.full(graph.n_vertices, -1)
    hops[vertex] = np.repeat(np.arange(len(result.vertices_of_hop)), result.vertices_of_hop)
    save(arguments, graph, hop=hops)


def labels(graph: hpg.Graph, arguments: Any) -> None:
    """Labels of some vertices for all of them."""
    columns, table = _table(arguments.labels, "--labels")
    if "label" not in columns:
        raise ValueError(f"--labels {arguments.labels}: there must be a column label, not only {', '.join(columns)}")
    labels_by_vertex = {
        hpg.id(vertex_of(graph, row["vertex"], "--labels")): row["label"] for row in table if row["label"]
    }
    call = hpg.label_propagation if arguments.keep else hpg.label_spreading
    result, seconds = timed(arguments, lambda: call(graph, labels_by_vertex, weight=arguments.weighted))
    print(f"{plural(len(labels_by_vertex), 'label')} spread on {arguments.device}: {how_it_ended(result)}; {seconds}")
    label = np.asarray(result)
    named, count = np.unique(label[label != None].astype(str), return_counts=True)  # noqa: E711
    for name, vertices in zip(named.tolist(), count.tolist(), strict=True):
        print(f"  {name}: {plural(vertices, 'vertex')}")
    save(arguments, graph, label=np.where(label == None, "", label))  # noqa: E711


def beliefs(graph: hpg.Graph, arguments: Any) -> None:
    """Loopy belief propagation."""
    columns, table = _table(arguments.unary, "--unary")
    states = [name for name in columns if name != "vertex"]
    unary = {
        hpg.id(vertex_of(graph, row["vertex"], "--unary")): _numbers([row[name] for name in states], "--unary")
        for row in table
    }
    potential = [_numbers(row.split(","), "--potential") for row in arguments.potential.split(";")]
    if {len(row) for row in potential} != {len(states)} or len(potential) != len(states):
        raise ValueError(
            f"--potential must have {len(states)} rows of {len(states)} numbers, as there are states in --unary "
            f"({', '.join(states)}): '2,1;1,2' says two of two"
        )
    options = {"product": arguments.product, "damping": arguments.damping, "weight": arguments.weighted}
    result, seconds = timed(arguments, lambda: hpg.belief_propagation(graph, unary, potential, **options))
    print(f"beliefs on {arguments.device}: {how_it_ended(result)}; {seconds}")
    belief, state = on_cpu(result.belief), np.array(states)[on_cpu(result.state)]
    for name in states:
        print(f"  {name}: {plural(int((state == name).sum()), 'vertex')}")
    save(arguments, graph, **{name: belief[:, at] for at, name in enumerate(states)}, state=state)


def _table(path: str, argument: str) -> tuple[list[str], list[dict[str, str]]]:
    """The columns and rows of a CSV file that begins with the columns' names."""
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file, strict=True)
        columns = list(reader.fieldnames or [])
        if "vertex" not in columns or len(columns) < 2:
            raise ValueError(f"{argument} {path}: the first line must name a column vertex and at least one other")
        rows = list(reader)
    for line, row in enumerate(rows, 2):
        if None in row or None in row.values():
            raise ValueError(f"{argument} {path}, row {line}: {plural(len(columns), 'field')} expected")
    return columns, rows


def _numbers(texts: list[str], argument: str) -> list[float]:
    try:
        return [float(text) for text in texts]
    except ValueError as error:
        raise ValueError(f"{argument}: {error}") from None
