"""Drawing of a graph as points and lines.

Lines fade with their number; points shrink with their number and grow with their degree; hubs are drawn last, on top.
All points of a small graph have labels, of a larger one the hubs; labels do not overlap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.core.device import to_device
from hpgraph.viz.axes import BLUE, ORANGE, Tones, axes_or_new, tones_on
from hpgraph.viz.placing import pictured, places, values_of_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Up to the first number all points are labelled; beyond, as many hubs as the second.
_NAMED, _HUBS = 60, 12
# Where a name stands, away from its point: across and up, and its own end there. Of more names each is above.
_SIDES = ((0, 1, "center", "bottom"), (0, -1, "center", "top"), (1, 0, "left", "center"), (-1, 0, "right", "center"))
_PLACED, _CLEAR = 300, 5.0
# Square points that all vertices cover together, that one of usual degree does at the most, and that any does.
_AREA, _USUAL_AREA, _MIN_AREA, _MAX_AREA = 20_000.0, 90.0, 2.0, 300.0
# Ink: equal for every line, and in total that of opaque lines as long as this many widths of the picture. Long lines,
# which cross the others, are therefore faint.
_INK, _FAINTEST, _STRONGEST = 250.0, 0.006, 0.65
# Arcs of a directed graph that get a head.
_HEADS = 300
# Colours for groups, distinct with red-green colour blindness (Okabe and Ito, 2008). Then comes ink, and last yellow:
# its points have a rim, since it hardly shows on white.
_GROUPS = (BLUE, ORANGE, "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
_YELLOW, _OTHERS = "#F0E442", "#BBBBBB"
_RIM = 0.5


def draw(
    G: Graph | Any, pos: Any = None, ax: Axes | None = None, *, layout: Any = None, color: Any = None,
    labels: Any = "auto", seed: int = 0,
) -> Axes:  # fmt: skip
    """Draw a graph of up to some ten thousand vertices.

    Parameters
    ----------
    G : Graph, or anything that makes one
        On either device. In a directed graph of up to some hundred arcs heads show where arcs lead.
    pos : array of shape (n, 2), optional
        Where vertices lie; by default by `hpgraph.layout.force_atlas2`, the more steps the smaller the graph. Where
        there are hubs, as many steps follow with ``linlog=True``, which part the communities that they hold together.
    ax : matplotlib.axes.Axes, optional
        Where to draw; without it, on a new figure.
    layout : str or function, optional
        What places vertices instead: the name of a function of `hpgraph.layout`, as "layered" for graphs without
        cycles, or a function of the graph.
    color : array of length n, optional
        What colours vertices: numbers as on a scale, or whole numbers, such as communities, group by group; the eight
        largest groups get a colour each.
    labels : "auto", bool, or sequence of vertices
        Vertices to label: with "auto" those that there is room for, or if those are too many, the hubs.
    seed : int
        Of the layout.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there are more than 50,000 vertices, or `pos` or `color` do not have one entry for each.
    MissingExtraError
        If matplotlib is not installed.

    Examples
    --------
    >>> ax = hpg.viz.draw(hpg.datasets.grid(5))
    >>> ax.figure.savefig("grid.png")  # doctest: +SKIP
    """
    graph, degree = pictured(G, "draw")
    n, ax = graph.n_vertices, axes_or_new(ax)
    place = places(graph, degree, pos, layout, seed)
    # The most central last, on top of the others.
    order = np.argsort(degree, kind="stable")
    usual = min(_AREA / max(n, 1), _USUAL_AREA) / (degree.mean() + 1 if n else 1)
    area = np.clip(usual * (degree + 1), _MIN_AREA, _MAX_AREA)
    # There will be no axes: what shows behind the points is the figure.
    tones = tones_on(ax.figure.get_facecolor())
    _lines(ax, graph, place, area, tones.line)
    # Rims of the paper's colour part points that touch; those of many would hide them.
    rims = {"linewidths": _RIM if n <= 2_000 else 0.0, "edgecolors": tones.paper}
    style = rims | _colours(color, n, order, tones, rims["linewidths"])
    if n:
        x, y = place[order].T
        ax.scatter(x, y, s=area[order], zorder=2, **style)
    _frame(ax, place)
    _write_names(ax, graph, labels, degree, place, area, tones)
    return ax


def _lines(ax: Axes, graph: Graph, place: Any, area: Any, grey: str) -> None:
    """The edges, behind the points."""
    from matplotlib.collections import LineCollection

    source, target, _ = graph.edges()
    if not len(source):
        # Matplotlib takes no empty list of opacities.
        return
    ends: Any = np.stack((place[to_device(source, "cpu")], place[to_device(target, "cpu")]), axis=1)
    low, high = _window(place)
    width = max(float((high - low).max()), np.finfo(np.float64).tiny)
    length = np.maximum(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) / width, 1e-6)
    ink = np.clip(_INK / len(ends) / length, _FAINTEST, _STRONGEST)
    if graph.directed and len(ends) <= _HEADS:
        for (start, end), size, one in zip(ends, area[to_device(target, "cpu")], ink.tolist(), strict=True):
            ax.annotate("", end, start, zorder=1, arrowprops={
                "arrowstyle": "-|>", "color": grey, "alpha": one, "linewidth": 0.7, "mutation_scale": 10,
                "shrinkA": 0, "shrinkB": np.sqrt(size) / 2,
            })  # fmt: skip
        return
    thin = 0.7 if len(ends) < 3_000 else 0.3
    order = np.argsort(-length, kind="stable")
    ax.add_collection(LineCollection(ends[order], colors=grey, alpha=ink[order], linewidths=thin, zorder=1))


def _colours(color: Any, n: int, order: Any, tones: Tones, rim: float) -> dict[str, Any]:
    """How points are coloured, as `scatter` takes it."""
    if color is None:
        return {"color": BLUE}
    values = values_of_colors(color, n)
    if values.dtype.kind not in "iub":
        return {"c": values[order], "cmap": "viridis"}
    # The largest groups get a colour each, all others one together.
    groups, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    rank = np.empty(len(groups), np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(groups))
    palette = [*_GROUPS, tones.ink, _YELLOW, _OTHERS]
    points = [palette[min(one, len(palette) - 1)] for one in rank[which][order].tolist()]
    return {
        "c": points,
        "edgecolors": [tones.line if one == _YELLOW else tones.paper for one in points],
        "linewidths": [_RIM if one == _YELLOW else rim for one in points],
    }


def _named(graph: Graph, labels: Any, degree: Any) -> Any:
    """The vertices whose names may be written, in order of degree."""
    order = np.argsort(-degree, kind="stable")
    if isinstance(labels, str) and labels == "auto":
        if len(degree) <= _NAMED:
            return order
        # Labels that are numbers are left out at hubs.
        return order[: 0 if graph.names is None or graph.names.dtype.kind in "iuf" else 3 * _HUBS]
    if isinstance(labels, bool):
        return order if labels else order[:0]
    chosen = to_device(graph.indices_of(labels, "labels"), "cpu")
    return chosen[np.argsort(-degree[chosen], kind="stable")]


def _write_names(ax: Axes, graph: Graph, labels: Any, degree: Any, place: Any, area: Any, tones: Tones) -> None:
    """Labels above, below or beside their points, where no other is; without such a place only requested ones."""
    vertices = _named(graph, labels, degree)
    auto = isinstance(labels, str) and labels == "auto"
    max_names = _HUBS if auto and len(degree) > _NAMED else len(vertices)
    sides = _SIDES if len(vertices) <= _PLACED else _SIDES[:1]
    # Positions are fixed by then, except for a later title: some pixels are reserved for it.
    figure: Any = ax.figure.canvas.figure
    if (layout := figure.get_layout_engine()) is not None:
        layout.execute(figure)
    ax.apply_aspect()
    taken: list[Any] = []
    for vertex in vertices.tolist():
        if len(taken) == max_names:
            break
        name = vertex if graph.names is None else graph.names[vertex]
        away = 2 + np.sqrt(area[vertex]) / 2
        for side in sides:
            right, up, across, along = side
            text = ax.annotate(
                str(name), place[vertex], xytext=(away * right, away * up), textcoords="offset points",
                ha=across, va=along, fontsize=8, zorder=3, color=tones.ink,
                bbox={"boxstyle": "round,pad=0.1", "fc": tones.paper, "ec": "none", "alpha": 0.7},
            )  # fmt: skip
            box = text.get_window_extent()
            if (side is sides[-1] and not auto) or not any(box.overlaps(other) for other in taken):
                taken.append(box.padded(_CLEAR))
                break
            text.remove()


def _window(place: Any) -> tuple[Any, Any]:
    """Corners of what is shown: all, but for a hundredth of many points that may lie far from all others."""
    if len(place) <= 300:
        return place.min(axis=0), place.max(axis=0)
    low, high = np.quantile(place, [0.005, 0.995], axis=0)
    return low, high


def _frame(ax: Axes, place: Any) -> None:
    """Equal scales, no axes, and room around all points but those that lie far from all others."""
    ax.set_axis_off()
    ax.set_aspect("equal")
    if len(place):
        low, high = _window(place)
        margin = 0.06 * max(float((high - low).max()), 1e-9)
        ax.set_xlim(low[0] - margin, high[0] + margin)
        ax.set_ylim(low[1] - margin, high[1] + margin)
