"""Works of the family of layouts: lattices and social networks by forces, on several levels or not."""

from collections.abc import Iterator
from typing import Any

import hpgraph as hpg

from .families_peers import Given, Row, nk


def _placed(places: Any) -> None:
    """Layouts differ by more than rounding."""


def layouts(scale: int, device: str) -> Iterator[Row]:
    """Of a quarter of the vertices of other families: peers take minutes."""
    lattice = Given(hpg.datasets.grid(2 ** (scale // 2 - 1), removed=0), device)
    work = f"layout.sfdp, a lattice of {lattice.host.n_vertices:,} vertices"
    yield Row("layouts", work, lambda: _placed(hpg.layout.sfdp(lattice.graph)), {
        "igraph": lambda: _placed(lattice.ig.layout_drl()),
        "networkit": lambda: _placed(nk.viz.MaxentStress(lattice.nk, 2, 1).run().getCoordinates()),
    })  # fmt: skip
    hubs = Given(hpg.datasets.social(scale - 2, 8), device)
    work = f"layout.sfdp, hubs, {hubs.host.n_edges:,} arcs"
    yield Row("layouts", work, lambda: _placed(hpg.layout.sfdp(hubs.graph)), {
        "igraph": lambda: _placed(hubs.ig.layout_drl()),
    })  # fmt: skip
