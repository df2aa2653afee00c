"""scanpy's clustering and neighbours on AnnData: the same arguments, and results in the same fields.

Neither scanpy nor anndata is imported: the input needs AnnData's attributes `X`, `obs`, `obsm`, `obsp` and `uns`.
"""

import re
from typing import Any

import numpy as np

from hpgraph.algorithms.knn_graph import from_knn
from hpgraph.algorithms.louvain import leiden as _leiden
from hpgraph.algorithms.louvain import louvain as _louvain
from hpgraph.algorithms.nearest_neighbors import nearest_neighbors
from hpgraph.containers.graph import Graph
from hpgraph.core.device import normalize_device, to_device
from hpgraph.core.number import whole

__all__ = ["leiden", "louvain", "neighbors"]


def leiden(
    adata: Any,
    resolution: float = 1,
    *,
    restrict_to: Any = None,
    random_state: int = 0,
    key_added: str = "leiden",
    adjacency: Any = None,
    directed: bool = False,
    use_weights: bool = True,
    n_iterations: int = 2,
    partition_type: Any = None,
    neighbors_key: str | None = None,
    obsp: str | None = None,
    copy: bool = False,
    flavor: str | None = None,
    device: str = "cpu",
    **options: Any,
) -> Any:
    """Cluster cells by the Leiden method: scanpy's ``sc.tl.leiden`` in parallel, on the CPU or on a GPU.

    Parameters
    ----------
    adata : AnnData
        With a graph of neighbours in `obsp`, as ``sc.pp.neighbors`` or `neighbors` makes it.
    resolution : float
        Values above 1 give more clusters, below 1 fewer.
    restrict_to : (str, sequence of str), optional
        Only cells of these categories of a column of `obs` are clustered.
    random_state : int
        Random seed; the same seed gives the same clusters for any number of threads.
    key_added : str
        The column of `obs`; with `restrict_to` "leiden" becomes "leiden_R".
    adjacency : sparse matrix, optional
        The graph, instead of that in `obsp`.
    directed, use_weights : bool
        Whether arcs have directions, and weights.
    n_iterations : int
        As for `hpgraph.leiden`; -1 iterates until the objective stops improving.
    partition_type : class, optional
        A class of leidenalg that selects its objective: `ModularityVertexPartition`, `CPMVertexPartition`, ...
    neighbors_key, obsp : str, optional
        The graph: named by ``adata.uns[neighbors_key]``, or ``adata.obsp[obsp]``.
    copy : bool
        Whether to work on a copy, and return it.
    flavor : {"igraph", "leidenalg"}, optional
        For compatibility with scanpy, and checked as there; it does not change the algorithm.
    device : str
        "cpu" or "cuda".
    **options
        Of `hpgraph.leiden`: ``objective="CPM"``, or igraph's ``objective_function="CPM"``; ``max_size=``,
        ``start=``, ...

    Returns
    -------
    AnnData or None
        The copy, if `copy`. ``adata.obs[key_added]`` holds the clusters, as categories "0", "1", ... in descending
        order of size; ``adata.uns[key_added]`` the parameters and the modularity.

    Raises
    ------
    ValueError
        If `flavor` or the objective is unknown, or `restrict_to` or `adjacency` does not fit the cells.

    References
    ----------
    V. A. Traag, L. Waltman, N. J. van Eck, "From Louvain to Leiden: guaranteeing well-connected communities",
    Scientific Reports 9, 5233 (2019). F. A. Wolf, P. Angerer, F. J. Theis, "SCANPY: large-scale single-cell gene
    expression data analysis", Genome Biology 19 (2018).

    Examples
    --------
    >>> import hpgraph.scanpy as hsc
    >>> from types import SimpleNamespace
    >>> import pandas as pd, scipy.sparse as sp
    >>> near = sp.csr_array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0.0]])
    >>> adata = SimpleNamespace(obs=pd.DataFrame(index=list("abcd")), obsp={"connectivities": near}, uns={})
    >>> hsc.leiden(adata)
    >>> adata.obs["leiden"].tolist()
    ['0', '0', '1', '1']
    """
    if flavor not in (None, "igraph", "leidenalg"):
        raise ValueError(f"flavor must be 'igraph' or 'leidenalg', but {flavor!r} was given: one search serves both")
    objective = options.pop("objective_function", None)
    if partition_type is not None:
        objective = partition_type.__name__.removesuffix("VertexPartition")
    options |= {"n_iterations": n_iterations} | ({} if objective is None else {"objective": objective})
    where = adjacency, neighbors_key, obsp, directed, use_weights, device
    return _cluster(adata, _leiden, resolution, random_state, key_added, where, restrict_to, copy, options)


def louvain(
    adata: Any,
    resolution: float = 1,
    *,
    random_state: int = 0,
    restrict_to: Any = None,
    key_added: str = "louvain",
    adjacency: Any = None,
    directed: bool = False,
    use_weights: bool = True,
    neighbors_key: str | None = None,
    obsp: str | None = None,
    copy: bool = False,
    device: str = "cpu",
    **options: Any,
) -> Any:
    """Cluster cells by the Louvain method: scanpy's ``sc.tl.louvain``, with the arguments of `leiden`.

    Parameters
    ----------
    adata, resolution, random_state, restrict_to, key_added, adjacency, directed, use_weights
        As for `leiden`.
    neighbors_key, obsp, copy, device
        As for `leiden`.
    **options
        Of `hpgraph.louvain`.

    Returns
    -------
    AnnData or None
        As for `leiden`.

    Examples
    --------
    >>> import hpgraph.scanpy as hsc
    >>> from types import SimpleNamespace
    >>> import pandas as pd, scipy.sparse as sp
    >>> near = sp.csr_array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0.0]])
    >>> adata = SimpleNamespace(obs=pd.DataFrame(index=list("abcd")), obsp={"connectivities": near}, uns={})
    >>> hsc.louvain(adata)
    >>> adata.obs["louvain"].tolist()
    ['0', '0', '1', '1']
    """
    where = adjacency, neighbors_key, obsp, directed, use_weights, device
    return _cluster(adata, _louvain, resolution, random_state, key_added, where, restrict_to, copy, options)


def neighbors(
    adata: Any,
    n_neighbors: int = 15,
    n_pcs: int | None = None,
    *,
    use_rep: str | None = None,
    metric: str = "euclidean",
    random_state: int = 0,
    key_added: str | None = None,
    copy: bool = False,
    device: str = "cpu",
) -> Any:
    """The graph of neighbours of cells: scanpy's ``sc.pp.neighbors`` with UMAP's weights, exact.

    Parameters
    ----------
    adata : AnnData
        The cells.
    n_neighbors : int
        Number of neighbours, the cell itself included.
    n_pcs : int, optional
        Number of leading columns of the representation to use; by default all. 0 selects `X`.
    use_rep : str, optional
        "X", or a name in `obsm`; by default "X_pca" if present, else "X".
    metric : str
        As for `hpgraph.nearest_neighbors`.
    random_state : int
        For compatibility with scanpy, and recorded as there: exact neighbours do not depend on a seed.
    key_added : str, optional
        A prefix of the names in `obsp`, and the name in `uns`; by default "neighbors", without a prefix.
    copy : bool
        Whether to work on a copy, and return it.
    device : str
        "cpu" or "cuda".

    Returns
    -------
    AnnData or None
        The copy, if `copy`. The results are in ``adata.obsp["distances"]``, ``adata.obsp["connectivities"]`` and
        ``adata.uns["neighbors"]``.

    Examples
    --------
    >>> import hpgraph.scanpy as hsc
    >>> from types import SimpleNamespace
    >>> adata = SimpleNamespace(X=[[0.0], [1.0], [5.0]], obsm={}, obsp={}, uns={})
    >>> hsc.neighbors(adata, n_neighbors=2)
    >>> adata.obsp["distances"].toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 4.0, 0.0]]
    """
    adata = adata.copy() if copy else adata
    whole(n_neighbors, "n_neighbors", least=2)
    name = use_rep or ("X_pca" if "X_pca" in adata.obsm and n_pcs != 0 else "X")
    if name != "X" and name not in adata.obsm:
        raise KeyError(f"use_rep: adata.obsm has no {name!r}: compute it first, or give use_rep='X'")
    points = adata.X if name == "X" else adata.obsm[name]
    points = points.toarray() if hasattr(points, "toarray") else np.asarray(points)
    # In scanpy 0 selects X, all of it.
    if n_pcs and whole(n_pcs, "n_pcs", least=0) > points.shape[1]:
        raise ValueError(f"n_pcs must be at most {points.shape[1]}, the columns of {name}, not {n_pcs}")
    found = nearest_neighbors(points[:, : n_pcs or None], n_neighbors - 1, metric, device=normalize_device(device))
    prefix = "" if key_added is None else f"{key_added}_"
    keys = {"connectivities": f"{prefix}connectivities", "distances": f"{prefix}distances"}
    for weights, what in (("distance", "distances"), ("fuzzy", "connectivities")):
        adata.obsp[keys[what]] = from_knn(*found, weights).to("cpu").out_csr.to_scipy(copy=True)
    params = {"n_neighbors": n_neighbors, "method": "umap", "metric": metric, "random_state": random_state}
    params["use_rep"] = name
    adata.uns[key_added or "neighbors"] = {
        "connectivities_key": keys["connectivities"], "distances_key": keys["distances"],
        "params": params | ({} if n_pcs is None else {"n_pcs": n_pcs}),
    }  # fmt: skip
    return adata if copy else None


def _cluster(
    adata: Any, search: Any, resolution: Any, seed: Any, key: str, where: Any, restrict_to: Any, copy: bool,
    options: dict[str, Any],
) -> Any:  # fmt: skip
    import pandas
    import scipy.sparse

    adjacency, neighbors_key, obsp, directed, use_weights, device = where
    adata = adata.copy() if copy else adata
    matrix = _connectivities(adata, neighbors_key, obsp) if adjacency is None else adjacency
    seed, count = whole(seed, "random_state"), len(adata.obs)
    if (shape := getattr(matrix, "shape", (count, count))) != (count, count):
        raise ValueError(f"adjacency must have a row and a column for each of {count} cells, not shape {shape}")
    among = None
    if restrict_to is not None:
        column, categories = restrict_to
        if column not in adata.obs:
            raise KeyError(f"restrict_to: adata.obs has no {column!r}")
        known = set(adata.obs[column])
        if isinstance(categories, str) or not (categories and known.issuperset(categories)):
            raise ValueError(f"restrict_to must list categories of {column!r}, such as ['0', '1'], not {categories!r}")
        among = np.flatnonzero(adata.obs[column].isin(list(categories)))
        matrix = scipy.sparse.csr_array(matrix) if isinstance(matrix, np.ndarray) else matrix.tocsr()
        matrix = matrix[among][:, among]
        key = f"{key}_R" if key == search.__name__ else key
    graph = Graph(matrix, directed=directed).to(normalize_device(device))
    found = search(graph, weight=use_weights, resolution=resolution, seed=seed, **options)
    label = to_device(found.label, "cpu")
    size = np.bincount(label, minlength=found.count)
    rank = np.empty(found.count, np.int64)
    rank[np.argsort(-size, kind="stable")] = np.arange(found.count)
    groups = rank[label].astype(str).astype(object)
    if among is not None:
        within = adata.obs[column].astype(str).to_numpy(object, copy=True)
        within[among] = [f"{'-'.join(map(str, categories))},{group}" for group in groups]
        groups = within
    adata.obs[key] = pandas.Categorical(groups, categories=sorted(set(groups), key=_natural))
    params = {"resolution": resolution, "random_state": seed}
    params |= {name: value for name, value in options.items() if name == "n_iterations"}
    adata.uns[key] = {"params": params, "modularity": found.modularity}
    return adata if copy else None


def _connectivities(adata: Any, neighbors_key: str | None, obsp: str | None) -> Any:
    if obsp is not None and neighbors_key is not None:
        raise ValueError("obsp and neighbors_key both select the graph: give one")
    name = obsp or "connectivities"
    if neighbors_key is not None:
        if neighbors_key not in adata.uns:
            raise KeyError(f"neighbors_key: adata.uns has no {neighbors_key!r}: sc.pp.neighbors makes it")
        name = adata.uns[neighbors_key]["connectivities_key"]
    if name not in adata.obsp:
        raise KeyError(f"adata.obsp has no {name!r}: run sc.pp.neighbors or hpgraph.scanpy.neighbors first")
    return adata.obsp[name]


def _natural(name: str) -> list[Any]:
    """Sort key of natural order: "10" comes after "9"."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]
