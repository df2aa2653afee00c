"""The axes a picture is drawn on, and the manner all pictures share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hpgraph.core.errors import optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Distinct with red-green colour blindness, and in grey (Okabe and Ito, "Color universal design", 2008).
BLUE, ORANGE = "#0072B2", "#E69F00"


class Tones(NamedTuple):
    """Neutral colours of a picture, on a background of any colour."""

    paper: Any
    ink: str
    line: str
    grid: str


def tones_on(paper: Any) -> Tones:
    """Ink, lines and a grid that are seen on the paper, be it light or dark."""
    from matplotlib.colors import to_rgba

    red, green, blue, opaque = to_rgba(paper)
    # How bright it is to the eye (ITU-R BT.709).
    if 1 - opaque + opaque * (0.2126 * red + 0.7152 * green + 0.0722 * blue) > 0.5:
        return Tones(paper if opaque else "white", "#222222", "#555555", "#DDDDDD")
    return Tones(paper, "#EEEEEE", "#AAAAAA", "#444444")


def axes_or_new(ax: Axes | None) -> Axes:
    """The axes given, or those of a new figure."""
    if ax is not None:
        return ax
    return optional("matplotlib.pyplot", "plot", "drawing").subplots(figsize=(6.0, 4.0), layout="constrained")[1]


def style_axes(ax: Axes, *, title: str, xlabel: str, ylabel: str) -> None:
    """Title, labels, a faint grid under the data, and no box around it."""
    ax.set_title(title, loc="left", fontsize=11)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    ax.grid(True, which="major", color=tones_on(ax.get_facecolor()).grid, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
