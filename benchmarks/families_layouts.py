"""Works of the family of layouts: lattices and social networks by forces, on several levels or not."""

from collections.abc import Iterator
from typing import Any

import numpy as np

import hpgraph as hpg

from .families_peers import Given, Row, nk, nx


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
    few = Given(hpg.datasets.social(scale - 5, 4), device)
    size = f"{few.host.n_edges:,} arcs"
    yield Row("layouts", f"layout.spring, 50 steps, {size}", lambda: _placed(hpg.layout.spring(few.graph)), {
        "igraph": lambda: _placed(few.ig.layout_fruchterman_reingold(niter=50, grid=False)),
        "NetworkX": lambda: _placed(nx.spring_layout(few.nx)),
    })  # fmt: skip
    work = f"layout.force_atlas2, 100 steps, {size}"
    yield Row("layouts", work, lambda: _placed(hpg.layout.force_atlas2(few.graph)), {
        "NetworkX": lambda: _placed(nx.forceatlas2_layout(few.nx)),
    })  # fmt: skip
    small = Given(hpg.datasets.grid(2 ** (scale // 2 - 3), removed=0), device)
    size = f"a lattice of {small.host.n_vertices:,} vertices"
    yield Row("layouts", f"layout.kamada_kawai, {size}", lambda: _placed(hpg.layout.kamada_kawai(small.graph)), {
        "igraph": lambda: _placed(small.ig.layout_kamada_kawai()),
        "NetworkX": lambda: _placed(nx.kamada_kawai_layout(small.nx)),
    })  # fmt: skip
    rng, n = np.random.default_rng(11), 2 ** (scale - 4)
    one, other = np.sort(rng.integers(0, n, (2, 2 * n)), axis=0)
    apart = one < other
    deep = Given(hpg.Graph((one[apart], other[apart]), directed=True), device)
    size = f"{deep.host.n_edges:,} arcs without cycles"
    yield Row("layouts", f"layout.layered, {size}", lambda: _placed(hpg.layout.layered(deep.graph)), {
        "igraph": lambda: _placed(deep.ig.layout_sugiyama()),
    })  # fmt: skip
    near = Given(hpg.knn_graph(rng.normal(size=(n, 8)), device=device), device)
    distances = 1 - near.weights
    yield Row("layouts", f"layout.umap, {near.host.n_edges:,} arcs of neighbours", lambda: _placed(
        hpg.layout.umap(near.graph)), {
        "igraph": lambda: _placed(near.ig.layout_umap(dist=distances.tolist(), epochs=500)),
    })  # fmt: skip
