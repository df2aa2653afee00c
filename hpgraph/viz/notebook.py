"""A graph as a widget of a notebook: sigma.js, by ipysigma, draws it by WebGL."""

from typing import Any

from hpgraph.containers.graph import Graph, whole
from hpgraph.containers.name_arrays import text_or_numbers
from hpgraph.core.errors import optional
from hpgraph.io.arcs import Arcs
from hpgraph.viz.placing import pictured, places, values_of_colors

# Radii of points, in pixels, of the least and the largest degree; edges up to which they stay while the picture moves.
_RADII, _STEADY = (2, 12), 5_000


def interactive(
    G: Graph | Any, pos: Any = None, *, layout: Any = None, color: Any = None, height: int = 500, seed: int = 0
) -> Any:
    """A picture of a graph in a notebook, in which to move, zoom, search and click.

    Parameters
    ----------
    G : Graph, or anything that makes one
        On either device, of up to 50,000 vertices. A click on a vertex or an edge shows its columns.
    pos, layout
        Where vertices lie, as for `hpgraph.viz.draw`.
    color : array of length n, optional
        The colours of vertices: numbers as on a scale, or whole numbers, such as communities, group by group.
    height : int
        Of the widget, in pixels.
    seed : int
        Of the layout.

    Returns
    -------
    ipysigma.Sigma
        The widget. Its ``get_selected_node()`` is the vertex that was clicked, by name where names are text or whole
        numbers, else by index; ``to_html(path)`` writes a page.

    Raises
    ------
    ValueError
        If there are more than 50,000 vertices, or `pos` or `color` do not have one entry for each.
    MissingExtraError
        If ipysigma or NetworkX is not installed.

    Examples
    --------
    >>> G = hpg.datasets.debian().subgraph(range(100))  # doctest: +SKIP
    >>> hpg.viz.interactive(G, color=hpg.leiden(G).label)  # doctest: +SKIP
    Sigma(nx.DiGraph with 100 nodes and 60 edges)
    """
    sigma = optional("ipysigma", "notebook", "an interactive picture")
    nx = optional("networkx", "notebook", "an interactive picture")
    tall = whole(height, "height", least=1)
    graph, degree = pictured(G, "interactive")
    place = places(graph, degree, pos, layout, seed)
    arcs = Arcs.of(graph.to("cpu")).each_edge_once()
    names = None if arcs.names is None else text_or_numbers(arcs.names)
    drawn = arcs.networkx(nx, columns=True)
    if arcs.names is not None and names is None:
        drawn = nx.relabel_nodes(drawn, {name: at for at, name in enumerate(drawn)})
    for at, node in enumerate(drawn):
        drawn.nodes[node].update(degree=int(degree[at]), label=str(node if arcs.names is None else arcs.names[at]))
    options: dict[str, Any] = {}
    if color is not None:
        values = values_of_colors(color, graph.n_vertices)
        groups = values.dtype.kind in "iub"
        for node, value in zip(drawn, values.tolist(), strict=True):
            drawn.nodes[node]["color"] = str(value) if groups else value
        options = {"node_color": "color"} if groups else {"node_color": "color", "node_color_gradient": "Viridis"}
    return sigma.Sigma(
        drawn, layout={node: {"x": x, "y": y} for node, (x, y) in zip(drawn, place.tolist(), strict=True)},
        node_size="degree", node_size_range=_RADII, node_label="label", height=tall, raw_node_color=None,
        raw_edge_color=None, edge_size=None, hide_edges_on_move=len(arcs.source) > _STEADY,
        process_gexf_viz=False, **options,
    )  # fmt: skip
