"""The notebooks run from top to bottom, and are stored with what they print and draw."""

import os
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse.csgraph

import hpgraph as hpg

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
jupyter_client = pytest.importorskip("jupyter_client")
pytest.importorskip("ipykernel")

NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))


# Of what takes long less is enough to see that it runs: sources, and iterations, of the real ones.
SHORTER = {
    "03-who-is-central.ipynb": (("sources=2000", "sources=64"), ("both, 2000", "both, 64")),
    "07-drawing.ipynb": (("max_iter=300", "max_iter=20"),),
}


def text(cell) -> str:
    """What a cell printed and showed, as plain text; a notice that something compiles, on stderr, is no part of it."""
    outs = [out for out in cell.get("outputs", []) if out.get("name") != "stderr"]
    # What is printed may come in pieces, at the end of none of which a line need end.
    return "".join(out.get("text") or out.get("data", {}).get("text/plain", "") + "\n" for out in outs).strip()


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """Run a notebook once, in a folder and with names of its own; one process, and what it imported, serves all."""
    done = {}
    kernel = jupyter_client.AsyncKernelManager()
    # A backend that the user has set would show no pictures.
    environment = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}

    def run(path: Path):
        if path not in done:
            notebook = nbformat.read(path, as_version=4)
            begin = f"%reset_selective -f .\n%cd -q {tmp_path_factory.mktemp('notebook')}"
            for full, shorter in SHORTER.get(path.name, ()):
                (cell,) = (cell for cell in notebook.cells if cell.cell_type == "code" and full in cell.source)
                cell.source = cell.source.replace(full, shorter)
            notebook.cells.insert(0, nbformat.v4.new_code_cell(begin))
            client = nbclient.NotebookClient(notebook, km=kernel, timeout=300)
            try:
                done[path] = client.execute(env=environment)
            finally:
                client.kc.stop_channels()
        return done[path]

    yield run
    if kernel.has_kernel:
        nbclient.util.run_sync(kernel.shutdown_kernel)(now=True)


def test_there_are_notebooks():
    assert [path.name for path in NOTEBOOKS] == [
        "01-first-steps.ipynb", "02-algebra.ipynb", "03-who-is-central.ipynb", "04-larger-than-memory.ipynb",
        "05-on-a-cluster.ipynb", "06-samples-for-learning.ipynb", "07-drawing.ipynb", "08-communities.ipynb",
        "09-payments.ipynb", "10-contacts.ipynb", "11-graphs-of-points.ipynb",
    ]  # fmt: skip


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_with_outputs(path):
    """As ``make notebooks`` leaves them: run from top to bottom, no word of the machine that they were run on."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert any(cell.outputs for cell in cells)
    for cell in cells:
        for out in cell.outputs:
            assert out.output_type != "error" and out.get("name") != "stderr"
        assert not re.search(r"(/tmp|/root|/home|/work)/", text(cell))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs(path, executed):
    for cell in executed(path).cells:
        for out in cell.get("outputs", []):
            assert out.output_type != "error"
            # Compile notices are expected on stderr, warnings are not.
            assert not (out.get("name") == "stderr" and "Warning" in out.text), out.text


def test_first_steps_is_accurate(executed):
    """Against numbers that SciPy's csgraph and hand calculation give."""
    shown = [text(cell) for cell in executed(NOTEBOOKS[0]).cells if cell.cell_type == "code"]
    everything = "\n".join(shown)
    assert "49,486 packages need libc6" in everything
    levels = re.search(r"by number of steps: \[([\d\s]+)\]", everything)
    assert [int(count) for count in levels[1].split()] == [1, 21809, 16533, 7407, 3421, 230, 59, 23, 3, 1]
    assert "libmaven-reporting-exec-java -> " in everything
    assert re.search(r"0\.15\d+\s+libc6", everything)
    widths = next(eval(out, {"inf": float("inf")}) for out in shown if out.startswith("{'harbour'"))
    assert widths == {
        "harbour": float("inf"), "market": 40.0, "mill": 18.0, "station": 18.0, "quarry": 18.0, "airport": 18.0,
    }  # fmt: skip
    assert "converged - residual" in everything and "not converged" not in everything
    assert shown[-1] in ("True", "np.True_")


def test_larger_than_memory_is_accurate(executed):
    """Against SciPy's components: arcs go both ways there, so that one number is left in each."""
    everything = "\n".join(text(cell) for cell in executed(NOTEBOOKS[3]).cells if cell.cell_type == "code")
    sizes = re.findall(r"([\d,]+) (?:bytes of|in the file)", everything)
    plain, stored = (int(size.replace(",", "")) for size in sizes)
    graph = hpg.datasets.social(17).out_csr
    # One direction takes as much as plain ids of four bytes each; both take less in the file.
    assert plain == 4 * graph.nnz and stored < plain
    assert "bytes predicted" in everything
    first, same = re.findall(r"an iteration, first (\d+)", everything)
    assert first == same
    count = scipy.sparse.csgraph.connected_components(graph.to_scipy(np.float64), directed=False)[0]
    assert f"{count:,} different numbers are left" in everything
    assert "triangles needs the whole topology in memory" in everything


def of(name):
    return next(path for path in NOTEBOOKS if path.name == name)


def test_samples_for_learning_is_accurate(executed):
    shown = "\n".join(text(cell) for cell in executed(of("06-samples-for-learning.ipynb")).cells)
    assert "edges around 2 seeds, 2 hops" in shown and "True [2, " in shown
    networks = re.findall(r"epoch 3: accuracy (0\.\d+)", shown)
    guess = re.search(r"the likelier of the two: (0\.\d+)", shown)
    assert "skipped: PyTorch" in shown or float(networks[0]) > float(guess[1])
    assert re.search(r"^bash( \S+){8}$", shown, flags=re.MULTILINE)


def test_drawing_shows_pictures(executed):
    cells = executed(of("07-drawing.ipynb")).cells
    pictures = [out for cell in cells for out in cell.get("outputs", []) if "image/png" in out.get("data", {})]
    assert len(pictures) == 3
    wide = re.search(r"a group is (\S+) wide, all are (\S+)", "\n".join(text(cell) for cell in cells))
    assert float(wide[1]) < 0.5 * float(wide[2])


def test_statements_about_payments_are_true(executed):
    shown = "\n".join(text(cell) for cell in executed(of("09-payments.ipynb")).cells)
    circles = re.findall(r"(as paid|shuffled) +(\d+) circles", shown)
    assert int(dict(circles)["as paid"]) >= 52 and int(dict(circles)["shuffled"]) < 5
    assert "those that were made: True" in shown
    inside, others = (float(re.search(rf"{name} +(-?\d\.\d+)", shown)[1]) for name in ("in circles", "others"))
    assert inside > others + 0.05


def test_statements_about_contacts_are_true(executed):
    shown = "\n".join(text(cell) for cell in executed(of("10-contacts.ipynb")).cells)
    assert "4 communities, as the classes: 1.0" in shown and "everybody reaches everybody: True" in shown
    assert len(re.findall(r"minutes: +[\d,]+ pairs", shown)) == 3
    assert float(re.search(r"mean burstiness of \d+ pairs: (0\.\d+)", shown)[1]) > 0.2


def test_on_a_cluster_is_accurate(executed):
    everything = "\n".join(text(cell) for cell in executed(NOTEBOOKS[4]).cells if cell.cell_type == "code")
    assert "2 × 2 blocks on 2 workers" in everything
    assert everything.count("as on one machine: True") == 3
    assert "the same to the last bit: True" in everything and "the same again: True" in everything
    assert "the first: libc6" in everything


def test_graphs_of_points_is_accurate(executed):
    shown = "\n".join(text(cell) for cell in executed(of("11-graphs-of-points.ipynb")).cells)
    alike = [float(one) for one in re.findall(r"bits, (\d\.\d+) alike", shown)]
    assert len(alike) == 3 and alike[0] > 0.7 and min(alike) > 0.3
    assert re.search(r"points around the first, (9\d|100)% of its class", shown)
