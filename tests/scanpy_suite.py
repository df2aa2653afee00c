"""scanpy's own tests of clustering with hpgraph's functions in the place of scanpy's: a plugin for pytest.

With a checkout of the version of scanpy that is installed, beside leidenalg, igraph and scikit-learn, from the root:

    python -m pytest -c /dev/null -p testing.scanpy._pytest -p tests.scanpy_suite --import-mode=importlib \
        CHECKOUT/tests/test_clustering.py CHECKOUT/tests/test_neighbors_key_added.py -k "not louvain"

``HPGRAPH_SCANPY=CHECKOUT`` makes `tests/interop/test_scanpy.py` do so. Of scanpy 1.11.5 and 1.12.4 all tests pass but
those below, which must fail.
"""

import pytest
import scanpy

import hpgraph.scanpy

scanpy.tl.leiden = hpgraph.scanpy.leiden
scanpy.pp.neighbors = hpgraph.scanpy.neighbors

# What fails, by how the name of the test begins, and why.
DIFFERENCES = {
    "test_leiden_basic[leidenalg": "flavors do not change the algorithm: none is advised against, as since scanpy 1.12",
    "test_leiden_igraph_directed": "directed graphs are served whatever the flavor",
    "test_leiden_igraph_partition_type": "classes of leidenalg stand for objectives whatever the flavor",
    "test_neighbors_pca_keys_added_without_previous_pca_run": "no PCA is made unasked: distances are those of X",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for reason in [why for name, why in DIFFERENCES.items() if item.name.startswith(name)]:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
