"""Degree distribution of a graph.

Drawn cumulatively, the number of vertices of *at least* each degree: counts per degree scatter over decades at the
highest degrees (M. E. J. Newman, "Power laws, Pareto distributions and Zipf's law", Contemporary Physics 46, 2005,
section 2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.containers.graph import Graph, as_graph
from hpgraph.core.device import to_device
from hpgraph.viz.axes import BLUE, ORANGE, axes_or_new, style_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def degree_distribution(G: Graph | Any, ax: Axes | None = None) -> Axes:
    """Draw the number of vertices of at least each degree, both axes logarithmic.

    Parameters
    ----------
    G : Graph, or anything that makes one
        On either device. A directed graph gets one curve for the arcs that leave a vertex and one for those that
        reach it.
    ax : matplotlib.axes.Axes, optional
        Where to draw; without it, on a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.

    Examples
    --------
    >>> ax = hpg.viz.degree_distribution(hpg.datasets.kron(8))
    >>> ax.figure.savefig("degrees.png")  # doctest: +SKIP
    """
    graph = as_graph(G)
    ax = axes_or_new(ax)
    if graph.directed:
        series = [("in-degree", graph.in_degree, BLUE, "o"), ("out-degree", graph.out_degree, ORANGE, "s")]
    else:
        series = [("degree", graph.out_degree, BLUE, "o")]
    for label, degree, colour, marker in series:
        degrees, at_least = cumulative(to_device(degree, "cpu"))
        ax.plot(degrees, at_least, marker, color=colour, markersize=3.5, alpha=0.8, markeredgewidth=0, label=label)
    # A graph without edges leaves nothing to show, and an empty logarithmic axis only warns.
    if graph.n_edges:
        ax.set_xscale("log")
        ax.set_yscale("log")
    style_axes(ax, title="Degree distribution", xlabel="degree d", ylabel="vertices with degree d or more")
    if len(series) > 1:
        ax.legend(frameon=False, fontsize=9, markerscale=1.8)
    return ax


def cumulative(degree: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The degrees that occur, from 1, and for each the number of vertices with at least that many."""
    counts = np.bincount(degree)
    degrees = np.flatnonzero(counts)
    at_least = np.cumsum(counts[::-1])[::-1][degrees]
    positive = degrees > 0
    return degrees[positive], at_least[positive]
