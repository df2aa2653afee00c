"""Estimators for scikit-learn: communities of points, in their nearest-neighbour graph, or of a graph."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hpgraph.algorithms.knn_graph import knn_graph
from hpgraph.algorithms.louvain import leiden, louvain
from hpgraph.algorithms.spectral_clustering import spectral_clustering
from hpgraph.containers.graph import Graph, one_of, whole
from hpgraph.core.device import normalize_device, to_device
from hpgraph.core.errors import MissingExtraError

try:
    from sklearn.base import BaseEstimator, ClusterMixin
    from sklearn.utils.validation import validate_data
except ImportError:
    raise MissingExtraError("scikit-learn", "sklearn", "hpgraph.sklearn") from None

__all__ = ["Leiden", "Louvain", "SpectralClustering"]


class _Clusters(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Base class of the estimators."""

    def fit(self, X: Any, y: Any = None) -> Any:
        """Find the communities.

        Parameters
        ----------
        X : array of shape (n, d), or with ``affinity="precomputed"`` array or sparse matrix of shape (n, n)
            The points, or the graph.
        y : ignored
            For compatibility with scikit-learn.

        Returns
        -------
        estimator
            The estimator itself.
        """
        one_of(self.affinity, "affinity", ("nearest_neighbors", "precomputed"))
        given = self.affinity == "precomputed"
        X = validate_data(
            self, X, accept_sparse="csr" if given else False, ensure_min_samples=2, ensure_non_negative=given
        )
        if given:
            if X.shape[0] != X.shape[1]:
                raise ValueError(f'affinity="precomputed" needs a square matrix, not shape {X.shape}')
            graph = Graph(csr_array(X), directed=False).to(normalize_device(self.device or "cpu"))
        else:
            k = min(whole(self.n_neighbors, "n_neighbors", least=1), len(X) - 1)
            graph = knn_graph(X, k, self.metric, weights=self.weights, device=self.device or "cpu")
        seed = 0 if self.random_state is None else whole(self.random_state, "random_state")
        found = self._search(graph.undirected, seed)
        self.labels_ = to_device(found.label, "cpu").astype(np.int64)
        self.modularity_ = found.modularity
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = self.affinity == "precomputed"
        tags.input_tags.pairwise = tags.input_tags.sparse = tags.input_tags.positive_only = given
        return tags


class Leiden(_Clusters):
    """Communities by `hpgraph.leiden`.

    Parameters
    ----------
    resolution : float
        Above 1 smaller communities, below 1 larger ones.
    objective, n_iterations, max_size
        As for `hpgraph.leiden`.
    n_neighbors : int
        Number of neighbours of each point, itself excluded; limited to the number of other points.
    metric : str
        As for `hpgraph.nearest_neighbors`.
    weights : str or None
        As for `hpgraph.from_knn`.
    affinity : str
        "nearest_neighbors", or "precomputed" if `X` is the weighted adjacency matrix of an undirected graph.
    random_state : int or None
        Random seed; None is 0.
    device : str or None
        "cpu" or "cuda"; None is the CPU.

    Attributes
    ----------
    labels_ : int64 array of shape (n,)
        The community of each point.
    modularity_ : float
        Modularity of the communities.
    n_features_in_ : int
        Number of columns of `X`.

    Examples
    --------
    >>> from hpgraph.sklearn import Leiden
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [9.0, 9.0], [9.0, 8.0], [8.0, 9.0]]
    >>> Leiden(n_neighbors=2).fit_predict(X).tolist()
    [0, 0, 0, 1, 1, 1]
    """

    def __init__(
        self, resolution=1.0, *, objective="modularity", n_iterations=2, max_size=None, n_neighbors=15,
        metric="euclidean", weights="fuzzy", affinity="nearest_neighbors", random_state=None, device=None,
    ):  # fmt: skip
        self.resolution, self.objective = resolution, objective
        self.n_iterations, self.max_size = n_iterations, max_size
        self.n_neighbors, self.metric, self.weights, self.affinity = n_neighbors, metric, weights, affinity
        self.random_state, self.device = random_state, device

    def _search(self, graph: Graph, seed: int) -> Any:
        options = {"objective": self.objective, "n_iterations": self.n_iterations, "max_size": self.max_size}
        return leiden(graph, resolution=self.resolution, seed=seed, **options)


class Louvain(_Clusters):
    """Communities by `hpgraph.louvain`.

    Parameters
    ----------
    resolution : float
        Above 1 smaller communities, below 1 larger ones.
    n_neighbors, metric, weights, affinity, random_state, device
        As for `Leiden`.

    Attributes
    ----------
    labels_, modularity_, n_features_in_
        As of `Leiden`.

    Examples
    --------
    >>> from hpgraph.sklearn import Louvain
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [9.0, 9.0], [9.0, 8.0], [8.0, 9.0]]
    >>> Louvain(n_neighbors=2).fit_predict(X).tolist()
    [0, 0, 0, 1, 1, 1]
    """

    def __init__(
        self, resolution=1.0, *, n_neighbors=15, metric="euclidean", weights="fuzzy", affinity="nearest_neighbors",
        random_state=None, device=None,
    ):  # fmt: skip
        self.resolution, self.n_neighbors, self.metric, self.weights = resolution, n_neighbors, metric, weights
        self.affinity, self.random_state, self.device = affinity, random_state, device

    def _search(self, graph: Graph, seed: int) -> Any:
        return louvain(graph, resolution=self.resolution, seed=seed)


class SpectralClustering(_Clusters):
    """Communities by `hpgraph.spectral_clustering`.

    Parameters
    ----------
    n_clusters : int
        Number of communities.
    n_neighbors, metric, weights, affinity, random_state, device
        As for `Leiden`.

    Attributes
    ----------
    labels_, modularity_, n_features_in_
        As of `Leiden`.

    Examples
    --------
    >>> from hpgraph.sklearn import SpectralClustering
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [9.0, 9.0], [9.0, 8.0], [8.0, 9.0]]
    >>> SpectralClustering(2, n_neighbors=2).fit_predict(X).tolist()
    [0, 0, 0, 1, 1, 1]
    """

    def __init__(
        self, n_clusters=8, *, n_neighbors=10, metric="euclidean", weights="fuzzy", affinity="nearest_neighbors",
        random_state=None, device=None,
    ):  # fmt: skip
        self.n_clusters, self.n_neighbors, self.metric, self.weights = n_clusters, n_neighbors, metric, weights
        self.affinity, self.random_state, self.device = affinity, random_state, device

    def _search(self, graph: Graph, seed: int) -> Any:
        return spectral_clustering(graph, self.n_clusters, seed=seed)
