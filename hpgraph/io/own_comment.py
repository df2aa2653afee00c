"""The comment that edge lists by `hpgraph.write` begin with: what their lines cannot say.

``# hpgraph: 3 vertices, 2 edges, directed by name, int64 weights``. It identifies truncated files, vertices
without an edge, and names that look like titles or numbers. To other readers it is a comment.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

_FORM = re.compile(
    r"\W*hpgraph: ([0-9]{1,18}) vertices, ([0-9]{1,18}) edges, (un)?directed(?: by (name|number))?"
    r"(?:, (bool|u?int(?:8|16|32|64)|float(?:32|64)) weights)?",
    re.ASCII,
)
TITLES = ("source", "target", "weight")
"""Titles that `write` puts over the columns of a .csv, and over no others; the last where there are weights."""


@dataclass(frozen=True)
class OwnComment:
    """What an edge list says of itself.

    ``n_vertices, n_lines`` (int): number of vertices, and of lines with an edge; ``directed`` (bool): whether edges are
    arcs; ``ids`` ({"index", "name", "number"}): what stands for a vertex; "number" is a name that is a whole number;
    ``dtype`` (numpy.dtype or None): of the weights; files of earlier versions do not say.
    """

    n_vertices: int
    n_lines: int
    directed: bool
    ids: str
    dtype: np.dtype[Any] | None

    @classmethod
    def of(cls, line: str) -> OwnComment | None:
        """What the first line of a file says, if it is such a comment."""
        found = _FORM.match(line)
        if found is None:
            return None
        vertices, lines, undirected, ids, dtype = found.groups()
        return cls(int(vertices), int(lines), undirected is None, ids or "index", np.dtype(dtype) if dtype else None)

    def __str__(self) -> str:
        directed = "directed" if self.directed else "undirected"
        by = "" if self.ids == "index" else f" by {self.ids}"
        weights = "" if self.dtype is None else f", {self.dtype} weights"
        return f"# hpgraph: {self.n_vertices} vertices, {self.n_lines} edges, {directed}{by}{weights}"

    def has_titles(self, delimiter: str | None, fields: list[str]) -> bool:
        """Whether a first line below the comment is that of the titles, rather than an edge between such names."""
        return delimiter == "," and fields in (list(TITLES[:2]), list(TITLES))
