"""The estimators, by scikit-learn's own checks."""

import numpy as np
import pytest
from raising import raises

import hpgraph as hpg

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from hpgraph.sklearn import Leiden, Louvain, SpectralClustering

ESTIMATORS = [Leiden(), Louvain(), SpectralClustering(3)]


@parametrize_with_checks(ESTIMATORS)
def test_equal_to_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_groups_are_found(estimator):
    X, planted = make_blobs(150, 5, centers=3, cluster_std=0.5, random_state=1)
    estimator = clone(estimator).set_params(**({} if "n_clusters" in estimator.get_params() else {"resolution": 0.1}))
    assert adjusted_rand_score(planted, make_pipeline(StandardScaler(), estimator).fit_predict(X)) == 1
    assert estimator.labels_.dtype == np.int64 and 0.5 < estimator.modularity_ < 1
    A = hpg.knn_graph(X).out_csr.to_scipy()
    for given in (A, A.toarray()):
        again = clone(estimator).set_params(affinity="precomputed").fit(given)
        assert adjusted_rand_score(planted, again.labels_) == 1
    precomputed = clone(estimator).set_params(affinity="precomputed")
    raises(ValueError, "square", precomputed.fit, np.abs(X))
    assert precomputed.__sklearn_tags__().input_tags.positive_only
    raises(ValueError, "Negative values in data passed to X", precomputed.fit, -np.eye(3))
    raises(ValueError, "affinity must be", clone(estimator).set_params(affinity="rbf").fit, X)


def test_digits():
    X, digit = load_digits(return_X_y=True)
    assert adjusted_rand_score(digit, Leiden(random_state=1).fit(X).labels_) > 0.75
    assert np.bincount(Leiden(max_size=100).fit(X).labels_).max() <= 100
