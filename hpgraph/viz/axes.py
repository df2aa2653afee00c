"""The axes a picture is drawn on, and the manner all pictures share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hpgraph.core.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Told apart by readers who see red and green alike, and in grey (Okabe and Ito, "Color universal design", 2008).
BLUE, ORANGE, GREY = "#0072B2", "#E69F00", "#555555"


def axes_or_new(ax: Axes | None) -> Axes:
    """The axes given, or those of a new figure.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MissingExtraError("matplotlib", "plot", "drawing") from None
    return pyplot.subplots(figsize=(6.0, 4.0), layout="constrained")[1]


def dress(ax: Axes, *, title: str, xlabel: str, ylabel: str) -> None:
    """Title, labels, a faint grid under the data, and no box around it."""
    ax.set_title(title, loc="left", fontsize=11)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    ax.grid(True, which="major", color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
