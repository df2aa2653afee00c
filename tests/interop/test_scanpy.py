"""Clustering of cells, on a stand-in that has what AnnData has, and on AnnData where that is installed."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from raising import raises

import hpgraph as hpg
import hpgraph.scanpy as hsc

pandas = pytest.importorskip("pandas")

ROOT = Path(__file__).parents[2]
PLANTED = np.repeat(["x", "y", "z"], [30, 60, 50])


class Cells(SimpleNamespace):
    def copy(self):
        return Cells(**{name: held.copy() for name, held in vars(self).items()})


@pytest.fixture(params=["stand-in", "anndata"])
def cells(request):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(140, 12)) + 8 * np.eye(12)[np.searchsorted(["x", "y", "z"], PLANTED)]
    obs = pandas.DataFrame({"kind": pandas.Categorical(PLANTED)}, index=[f"cell{i}" for i in range(140)])
    if request.param == "anndata":
        made = pytest.importorskip("anndata").AnnData(X, obs=obs)
    else:
        made = Cells(X=X, obs=obs, obsm={}, obsp={}, uns={})
    hsc.neighbors(made, n_neighbors=12)
    return made


def test_neighbours(cells):
    assert cells.uns["neighbors"]["connectivities_key"] == "connectivities"
    distances = cells.obsp["distances"]
    assert (np.diff(distances.tocsr().indptr) == 11).all()
    near, far = hpg.nearest_neighbors(cells.X, 11)
    assert np.allclose(distances.toarray()[np.arange(140)[:, None], near], far)
    expected = hpg.from_knn(near, far).out_csr.to_scipy()
    assert abs(cells.obsp["connectivities"] - expected).max() < 1e-12
    # scanpy's umap drops what is small from them.
    cells.obsp["connectivities"].data[0] = 0
    cells.obsm["X_pca"] = np.asarray(cells.X)[:, ::-1]
    hsc.neighbors(cells, 12, 10, key_added="pca")
    assert cells.uns["pca"]["params"]["n_pcs"] == 10 and "pca_connectivities" in cells.obsp


@pytest.mark.parametrize("search", [hsc.leiden, hsc.louvain])
def test_clusters(search, cells, device):
    name = search.__name__
    assert search(cells, 0.1, device=device) is None
    column = cells.obs[name]
    assert list(column.cat.categories) == ["0", "1", "2"]
    # The largest is the first.
    assert dict(zip(column, PLANTED, strict=True)) == {"0": "y", "1": "z", "2": "x"}
    assert cells.uns[name]["params"]["resolution"] == 0.1 and 0.5 < cells.uns[name]["modularity"] < 1
    other = search(cells, 3, key_added="fine", copy=True, random_state=2)
    assert "fine" in other.obs and "fine" not in cells.obs and list(cells.obs["kind"]) == list(PLANTED)
    numbers = [int(category) for category in other.obs["fine"].cat.categories]
    assert numbers == list(range(len(numbers)))


def test_some_cells(cells):
    hsc.leiden(cells, 3, restrict_to=("kind", ["x", "z"]))
    column = cells.obs["leiden_R"].astype(str)
    assert (column[PLANTED == "y"] == "y").all()
    assert column[PLANTED != "y"].str.startswith("x-z,").all()
    cells.obs["kind"] = cells.obs["kind"].astype(str).replace("y", "CO²")
    hsc.leiden(cells, 3, restrict_to=("kind", ["x", "z"]))
    assert (cells.obs["leiden_R"][PLANTED == "y"] == "CO²").all()
    raises(ValueError, "restrict_to must list categories of 'kind'", hsc.leiden, cells, restrict_to=("kind", "xz"))
    raises(ValueError, r"not \['w'\]", hsc.leiden, cells, restrict_to=("kind", ["w"]))
    raises(KeyError, "restrict_to: adata.obs has no 'sort'", hsc.leiden, cells, restrict_to=("sort", ["x"]))


def test_where_the_graph_is(cells):
    hsc.neighbors(cells, 20, key_added="wide")
    hsc.leiden(cells, 0.1, neighbors_key="wide", key_added="a")
    hsc.leiden(cells, 0.1, obsp="wide_connectivities", key_added="b")
    hsc.leiden(cells, 0.1, adjacency=cells.obsp["wide_connectivities"], key_added="c", max_size=40)
    assert list(cells.obs["a"]) == list(cells.obs["b"]) and cells.obs["c"].value_counts().max() <= 40
    raises(ValueError, "give one", hsc.leiden, cells, neighbors_key="wide", obsp="wide_connectivities")
    raises(KeyError, r"adata\.uns has no 'narrow'", hsc.leiden, cells, neighbors_key="narrow")
    raises(KeyError, r"adata\.obsp has no 'narrow'", hsc.leiden, cells, obsp="narrow")
    raises(TypeError, "random_state must be a whole number", hsc.louvain, cells, random_state=None)
    raises(ValueError, r"row and a column for each of 140 cells", hsc.leiden, cells, adjacency=np.eye(3))
    raises(KeyError, "use_rep: adata.obsm has no 'X_narrow'", hsc.neighbors, cells, use_rep="X_narrow")
    raises(ValueError, "n_pcs must be at most", hsc.neighbors, cells, n_pcs=1000)
    raises(ValueError, "n_neighbors must be at least 2", hsc.neighbors, cells, 1)
    hsc.neighbors(cells, n_pcs=0, key_added="all")
    hsc.neighbors(cells, use_rep="X", key_added="X")
    assert (cells.obsp["all_distances"] != cells.obsp["X_distances"]).nnz == 0


def test_arguments_of_scanpys(cells):
    """Flavors change nothing; objectives are named by igraph's argument and by classes of leidenalg."""
    for flavor in ("igraph", "leidenalg"):
        hsc.leiden(cells, flavor=flavor, n_iterations=-1, random_state=3, key_added=flavor)
    assert list(cells.obs["igraph"]) == list(cells.obs["leidenalg"])
    kind = type("CPMVertexPartition", (), {})
    found = [
        hsc.leiden(cells, 0.1, copy=True, **given).obs["leiden"]
        for given in ({"objective": "CPM"}, {"objective_function": "CPM"}, {"partition_type": kind})
    ]
    assert all(list(each) == list(found[0]) for each in found) and len(found[0].cat.categories) > 3
    raises(ValueError, "flavor must be 'igraph' or 'leidenalg', but 'rapids'", hsc.leiden, cells, flavor="rapids")
    with pytest.raises(ValueError, match="objective must be"):
        hsc.leiden(cells, partition_type=type("SurpriseVertexPartition", (), {}))


@pytest.mark.skipif("HPGRAPH_SCANPY" not in os.environ, reason="HPGRAPH_SCANPY names no checkout of scanpy")
def test_scanpys_own_tests():
    """All pass but those that `tests.scanpy_suite` lists, of the version that is installed."""
    pytest.importorskip("scanpy")
    folder = Path(os.environ["HPGRAPH_SCANPY"]) / "tests"
    files = [str(folder / f"{name}.py") for name in ("test_clustering", "test_neighbors_key_added")]
    plugins = ("-p", "testing.scanpy._pytest", "-p", "tests.scanpy_suite")
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--import-mode=importlib", *plugins]
    run = subprocess.run([*command, "-k", "not louvain", *files], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout
