"""The dependency network of Debian's packages, bundled with the library.

Debian 12 "bookworm", section main, amd64: 63,436 packages and their dependencies, as extracted by
`hpgraph.datasets.make_debian`.
"""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from hpgraph.core.device import normalize_device

if TYPE_CHECKING:
    from hpgraph.containers.graph import Graph


def debian(
    *, recommends: bool = False, suggests: bool = False, weighted: bool = False, device: str = "cpu"
) -> Graph:
    """The dependency network of Debian bookworm's packages.

    An arc ``i -> j`` says that package ``i`` depends on package ``j``: ``j`` is named in its ``Depends`` or
    ``Pre-Depends``, as one of several alternatives too, or provides a virtual package that is named there.

    .. [1] Debian Policy Manual, chapter 7, "Declaring relationships between packages".

    Returns Graph: directed, 63,436 vertices with names, in the order of the names; 275,492 arcs without the weaker
    kinds.
    """
    from hpgraph.containers.graph import Graph
    from hpgraph.formats import CSR

    device = normalize_device(device)
    file = resources.files("hpgraph.datasets") / "data" / "debian-bookworm.npz"
    with file.open("rb") as stream, np.load(stream) as stored:
        names = stored["names"].tobytes().decode("utf-8").split("\n")
        size, out_degree, target, kind = (
            stored[key] for key in ("installed_size", "out_degree", "indices", "kind")
        )
    n = len(names)
    # Kinds are numbered strongest first, see make_debian.KINDS.
    wanted = np.array([True, recommends, suggests])[kind]
    source = np.repeat(np.arange(n), out_degree)[wanted]
    target = target[wanted]
    indptr = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(source, minlength=n), out=indptr[1:])
    weight = np.maximum(size, 1).astype(np.float32)[target] if weighted else None
    graph = Graph(CSR((n, n), indptr, target, weight, validate=False), directed=True, names=names)
    return graph.to(device)
