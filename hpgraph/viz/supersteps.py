"""A run, superstep by superstep: how many vertices were active, and in which direction their arcs were followed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.core.device import to_device
from hpgraph.viz.axes import BLUE, ORANGE, axes_or_new, style_axes, tones_on

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {"push": ORANGE, "pull": BLUE}
# Points, of 1/72 inch: a name in the legend across, and a line of names down.
_NAME, _LINE = 95, 16
# Beyond this many supersteps points replace bars.
_MAX_BARS = 60


def trace(trace: Any, ax: Axes | None = None) -> Axes:
    """Draw the frontier's size per superstep, coloured by direction, and the arcs it touched.

    Parameters
    ----------
    trace : Trace
        ``result.trace`` of any algorithm or vertex program.
    ax : matplotlib.axes.Axes, optional
        Where to draw; without it, on a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError, MissingExtraError
        If ``trace`` is no trace: a result in place of its ``.trace``, say; or matplotlib is not installed.

    Examples
    --------
    >>> r = hpg.bfs(hpg.datasets.kron(8), 1)
    >>> ax = hpg.viz.trace(r.trace)
    >>> ax.get_xlabel()
    'superstep'
    """
    if not all(hasattr(trace, name) for name in ("direction", "active", "edges")):
        raise TypeError(f"trace must be the .trace of a result, not {type(trace).__name__}")
    direction = np.array([str(name) for name in trace.direction])
    active = np.asarray(to_device(trace.active, "cpu"))
    edges = np.asarray(to_device(trace.edges, "cpu"))
    step = np.arange(1, active.size + 1)  # counted from 1, as trace.explain() does

    ax = axes_or_new(ax)
    from matplotlib.ticker import MaxNLocator

    points = active.size > _MAX_BARS
    for name, colour in COLOURS.items():
        chosen = direction == name
        if points and chosen.any():
            ax.plot(step[chosen], active[chosen], ".", color=colour, markersize=3, label=f"active, {name}")
        elif chosen.any():
            ax.bar(step[chosen], active[chosen], color=colour, width=0.8, label=f"active, {name}")
    # Zeros have no logarithm: a gap in the line, and bars that stand on half a vertex.
    grey = tones_on(ax.get_facecolor()).line
    touched = np.where(edges > 0, edges, np.nan)
    ax.plot(step, touched, "-" if points else "o-", color=grey, markersize=3.5, linewidth=1, label="arcs touched")
    # The legend stands inside, above all that is drawn: a caller may set another title.
    names = len(ax.get_legend_handles_labels()[1])
    extent = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
    columns = names if 72 * extent.width > names * _NAME else 1
    if active.any():
        taken = min(_LINE * (names // columns + 0.5) / (72 * extent.height), 0.5)
        ax.set_yscale("log", nonpositive="clip")
        ax.set_ylim(0.5, 0.5 * (4 * max(active.max(), edges.max())) ** (1 / (1 - taken)))
    ax.xaxis.set_major_locator(MaxNLocator(nbins=12, integer=True))
    style_axes(ax, title="Supersteps", xlabel="superstep", ylabel="vertices, arcs")
    ax.legend(frameon=False, fontsize=9, loc="upper right", borderaxespad=0.2, ncols=columns)
    return ax
