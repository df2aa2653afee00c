"""What pictures of graphs share: which graphs they take, and where their vertices lie."""

from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph, as_graph
from hpgraph.core.device import to_device
from hpgraph.layout import force_atlas2

# Beyond this many vertices a picture shows no structure, and takes minutes.
_MAX = 50_000
# Hubs have a degree of at least this multiple of the usual one: they contract communities in the layout.
_HUB = 4.0


def pictured(G: Any, function: str) -> tuple[Graph, Any]:
    """The graph of a picture, and its degrees on the CPU."""
    graph = as_graph(G)
    if graph.n_vertices > _MAX:
        raise ValueError(
            f"{function} takes up to {_MAX:,} vertices, not {graph.n_vertices:,}: draw a part, such as k_hop or k_core "
            "give"
        )
    return graph, np.asarray(to_device(graph.degree, "cpu"), dtype=np.float64)


def places(graph: Graph, degree: Any, pos: Any, layout: Any, seed: int) -> Any:
    """Where vertices lie, on the CPU: as given, by a layout, or by that of pictures."""
    if pos is None:
        pos = _default_layout(graph, degree, seed) if layout is None else _layout_by(graph, layout)
    elif layout is not None:
        raise ValueError("give pos or layout, not both")
    place = np.asarray(to_device(pos, "cpu"), dtype=np.float64)
    if place.shape != (graph.n_vertices, 2) or not np.isfinite(place).all():
        raise ValueError(f"pos must be finite, of shape ({graph.n_vertices}, 2), not {place.shape}")
    return place


def values_of_colors(color: Any, n: int) -> Any:
    """One value for each vertex, on the CPU."""
    values = np.asarray(to_device(color, "cpu"))
    if values.shape != (n,):
        raise ValueError(f"color must have one value for each of the {n} vertices, not shape {values.shape}")
    return values


def _layout_by(graph: Graph, layout: Any) -> Any:
    """Places by a layout of the user's choice."""
    import hpgraph.layout

    if isinstance(layout, str) and layout not in hpgraph.layout.__all__:
        raise ValueError(f"layout must be one of {', '.join(hpgraph.layout.__all__)}, or a function; not {layout!r}")
    return (getattr(hpgraph.layout, layout) if isinstance(layout, str) else layout)(graph)


def _default_layout(graph: Graph, degree: Any, seed: int) -> Any:
    """Places by the layout. Vertices find their sides first: what parts communities leaves them where it finds them."""
    # A small graph can have as many steps as it takes to settle.
    steps = int(np.clip(200_000 / max(len(degree), 1), 150, 600))
    pos = force_atlas2(graph, max_iter=steps, seed=seed)
    if len(degree) and degree.max() > _HUB * degree.mean():
        pos = force_atlas2(graph, pos, max_iter=steps, linlog=True, seed=seed)
    return pos
