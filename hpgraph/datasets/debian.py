"""The dependency network of Debian's packages, bundled with the library.

Debian 12 "bookworm", section main, amd64: 63,436 packages and their dependencies, as extracted by
`python -m wheels.debian`, in the repository.
"""

from importlib import resources

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.core.device import normalize_device
from hpgraph.formats import CSR


def debian(*, recommends: bool = False, suggests: bool = False, weighted: bool = False, device: str = "cpu") -> Graph:
    """The dependency network of Debian bookworm's packages.

    An arc ``i -> j`` says that package ``i`` depends on package ``j``: ``j`` is named in its ``Depends`` or
    ``Pre-Depends``, as one of several alternatives too, or provides a virtual package that is named there.

    Parameters
    ----------
    recommends, suggests : bool, optional
        Add the arcs of packages that are only recommended (34,004 more) or suggested (30,512 more).
    weighted : bool, optional
        Give each arc ``i -> j`` a weight: the KiB that ``j`` takes when installed, at least 1, as float32. The
        length of a path is then what is installed along it. Otherwise the graph is pattern-only.
    device : {"cpu", "cuda"}, optional
        Where the graph is to lie.

    Returns
    -------
    Graph
        Directed, 63,436 vertices with names, in the order of the names; 275,492 arcs without the weaker kinds.

    Raises
    ------
    ValueError, MissingExtraError, DeviceError
        If ``device`` is unknown, or cannot be had.

    References
    ----------
    .. [1] Debian Policy Manual, chapter 7, "Declaring relationships between packages".

    Examples
    --------
    >>> G = hpg.datasets.debian()
    >>> i = G.index_of("firefox-esr")
    >>> needs = G.out_csr.indices[G.out_csr.indptr[i] : G.out_csr.indptr[i + 1]]
    >>> [str(G.names[j]) for j in needs[:4]]
    ['debianutils', 'fontconfig', 'libasound2', 'libatk1.0-0']
    """
    device = normalize_device(device)
    file = resources.files("hpgraph.datasets") / "data" / "debian-bookworm.npz"
    with file.open("rb") as stream, np.load(stream) as stored:
        names = stored["names"].tobytes().decode("utf-8").split("\n")
        size, out_degree, target, kind = (stored[key] for key in ("installed_size", "out_degree", "indices", "kind"))
    n = len(names)
    # Kinds are numbered strongest first, see KINDS of wheels/debian.py.
    selected = np.array([True, recommends, suggests], np.bool_)[kind]
    source = np.repeat(np.arange(n), out_degree)[selected]
    target = target[selected]
    indptr = np.append(0, np.cumsum(np.bincount(source, minlength=n)))
    weight = np.maximum(size, 1).astype(np.float32)[target] if weighted else None
    graph = Graph(CSR((n, n), indptr, target, weight, validate=False), directed=True, names=names)
    return graph.to(device)
