"""The demo: what it prints is compared with what SciPy finds in the bundled file, what it draws is a picture."""

import itertools
import re
from importlib import resources

import new_process
import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.csgraph

from hpgraph import demo


@pytest.fixture(scope="module")
def packages():
    """Names, sizes, and the dependencies as a SciPy matrix of sizes, read straight from the file."""
    path = resources.files("hpgraph.datasets") / "data" / "debian-bookworm.npz"
    with path.open("rb") as file, np.load(file) as f:
        names = f["names"].tobytes().decode().split("\n")
        source = np.repeat(np.arange(len(names)), f["out_degree"])
        strong = f["kind"] == 0
        target = f["indices"][strong]
        size = np.maximum(f["installed_size"], 1).astype(float)
    matrix = scipy.sparse.csr_array((size[target], (source[strong], target)), shape=(len(names),) * 2)
    return names, size, matrix


@pytest.fixture(scope="module")
def runs():
    """Device -> what `printed` returned: the demo runs once on each."""
    return {}


@pytest.fixture
def printed(device, runs, tmp_path_factory, capsys):
    """Output of a run, and its picture."""
    if device not in runs:
        picture = tmp_path_factory.mktemp("demo") / "demo.png"
        assert demo.main(["--device", device, "--output", str(picture)]) == 0
        runs[device] = capsys.readouterr().out, picture
    return runs[device]


def test_facts(printed, packages):
    out = printed[0].replace("\n  ", " ")  # long lines are folded
    names, size, matrix = packages
    centre, start = names.index("libc6"), names.index("firefox-esr")
    against = matrix.T.tocsr()

    steps = scipy.sparse.csgraph.dijkstra(against, indices=centre, unweighted=True)
    reached = np.isfinite(steps)
    assert f"{reached.sum() - 1:,} packages need libc6, {steps[reached].max():.0f} steps away at most" in out
    needs = scipy.sparse.csgraph.dijkstra(matrix, indices=start, unweighted=True)
    inside = np.isfinite(needs)
    assert f"firefox-esr is {steps[start]:.0f} step from libc6" in out
    assert f"is {inside.sum() - 1} packages, {needs[inside].max():.0f} steps deep" in out

    chain = re.search(r"Farthest from libc6, (\d+) steps: (.*)\.\n", out)
    path = [names.index(name) for name in chain[2].split(" -> ")]
    assert path[-1] == centre and len(path) == int(chain[1]) + 1
    assert all(matrix[i, j] > 0 for i, j in itertools.pairwise(path))

    lightest = scipy.sparse.csgraph.dijkstra(against, indices=centre)
    heaviest = re.search(r"chains to libc6, ([\d,]+) MiB: (.*)\.\n", out)
    path = [names.index(name) for name in heaviest[2].split(" -> ")]
    assert int(heaviest[1].replace(",", "")) == round(lightest[np.isfinite(lightest)].max() / 1024)
    assert sum(size[v] for v in path[1:]) == lightest[path[0]] == lightest[np.isfinite(lightest)].max()

    top = re.search(r"\(PageRank\): (.*)\.\n", out)[1].split(", ")
    assert [entry.split()[0] for entry in top[:3]] == ["libc6", "libgcc-s1", "gcc-12-base"]
    widest = names[int(np.argmax(matrix.sum(axis=1)))]
    assert f"{widest} depends on {matrix.sum(axis=1).max() / 2**20:.1f} GiB" in out

    related = (matrix + matrix.T).tolil().rows
    neighbours = [set(row) for row in related]
    triangles = sum(len(neighbours[i] & neighbours[j]) for i, row in enumerate(related) for j in row if i < j) // 3
    assert f"{triangles:,} triples" in out


def test_table_and_picture(printed):
    out, picture = printed
    rows = re.findall(r"^  (\w+) .* [\d.]+ (?:s |ms|µs) +[\d.]+ (?:s |ms|µs) +[\d.]+ [MG]$", out, re.MULTILINE)
    assert rows == ["BFS", "SSSP", "PageRank", "triangles", "SpMV"]
    assert "The first call compiles" in out
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    matplotlib_image = pytest.importorskip("matplotlib.image")
    pixels = matplotlib_image.imread(picture)
    assert min(pixels.shape[:2]) > 400 and np.ptp(pixels[..., :3]) == 1


def test_without_matplotlib(tmp_path):
    """In a process where it cannot be imported: everything but the picture."""
    program = """
import sys
sys.modules["matplotlib"] = None
from hpgraph import demo
sys.exit(demo.main(["--device", "cpu"]))
"""
    assert "No picture: pip install 'hpgraph[plot]'" in new_process.printed(program, cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_devices_that_disagree_are_named():
    def measured(value):
        works = (demo.Work("BFS", None, None, None, lambda r: r), demo.Work("SpMV", None, None, None, lambda r: r))
        return [demo.Measured(work, np.array(v), 1.0, 1.0, 1) for work, v in zip(works, value, strict=True)]

    assert demo.agree(measured([[1, 2], [np.inf, 0.5]]), measured([[1, 2], [np.inf, 0.5 + 1e-9]])) == []
    assert demo.agree(measured([[1, 2], [np.inf, 0.5]]), measured([[1, 3], [np.inf, 0.6]])) == ["BFS", "SpMV"]
