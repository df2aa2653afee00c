"""The choice of a layout: what is predicted, what `Matrix.explain` says, and that the choice changes no answer."""

import pickle

import numpy as np
import pytest

import hpgraph as hpg
from hpgraph.core.device import to_device
from hpgraph.formats import HYB, Division
from hpgraph.kernels.spmv.layout_cost import RATES, Shape, rows_seconds, slab_seconds, stretches_seconds

# Of measured matrices: rows, columns, entries, bytes (index, value, x, y), rows with entries, short ones, the longest,
# and for each entry the sectors gathered and missed.
ROAD = Shape(4_194_304, 4_194_304, 11_737_326, 4, 4, 4, 4, 4_160_086, 4_160_086, 4, 0.135)
URAND = Shape(8_388_608, 8_388_608, 268_434_900, 4, 4, 4, 4, 8_388_608, 0, 67, 0.999)
CRAWL = Shape(8_388_608, 8_388_608, 253_053_442, 4, 4, 4, 4, 8_388_608, 0, 1_687_243, 0.218)
# How HYB divides them.
SLAB = {ROAD: Division(4 * ROAD.rows, 0, 0), URAND: Division(34 * URAND.rows, 10_000_000, 2_800_000),
        CRAWL: Division(31 * CRAWL.rows, 22_000_000, 2_430_000)}  # fmt: skip


def hyb_seconds(shape, rates):
    return slab_seconds(shape, SLAB[shape], rates)


@pytest.fixture(scope="module")
def road():
    return hpg.datasets.grid(150, weighted=True)


def test_rows_alike_are_for_a_slab():
    assert hyb_seconds(ROAD, RATES["cuda"]) < rows_seconds(ROAD, RATES["cuda"])
    # A tail of all entries is CSR with more launches.
    tail = Division(0, ROAD.entries, ROAD.rows)
    assert stretches_seconds(ROAD, RATES["cuda"]) < slab_seconds(ROAD, tail, RATES["cuda"])


def test_auto_takes_what_is_predicted_quickest(device, road):
    A = hpg.Matrix(road).to(device)
    assert A.layout == A.T.layout == {"cpu": "csr", "cuda": "hyb"}[device]
    assert A.to("cpu").layout == "csr"
    x = np.random.default_rng(0).random(A.shape[1]).astype(np.float32)
    expected = road.out_csr.to_scipy() @ x
    for made in (A, hpg.Matrix(road, format="csr").to(device), hpg.Matrix(road, format="hyb").to(device)):
        np.testing.assert_allclose(to_device(made @ to_device(x, device), "cpu"), expected, rtol=1e-5)


def test_hyb_array_multiplies_in_the_quickest_layout(device, road):
    A, H = hpg.Matrix(road).to(device), hpg.hyb_array(road).to(device)
    assert isinstance(H.hyb, HYB)
    for one, other in ((H, A), (H.T, A.T), (H.copy(), A), (pickle.loads(pickle.dumps(H)), A)):
        assert type(one.rows) is type(other.rows) and one.layout == other.layout
    assert H.layout == {"cpu": "csr", "cuda": "hyb"}[device]
    few = hpg.hyb_array(np.eye(3)).to(device)
    assert few.layout == "csr"
    chosen = [line.split()[0] for line in H.explain().splitlines() if line.endswith("chosen")]
    assert chosen == [H.layout]
    with hpg.techniques(hyb=False):
        assert H.layout == "csr"
    asked = hpg.Matrix(road, format="hyb").to(device)
    assert isinstance(asked.rows, HYB) and asked.layout == "hyb"


def test_explain_has_predicted_and_measured_times(device, road):
    A = hpg.Matrix(road).to(device)
    head, *rows, reason = A.explain().splitlines()
    assert head.split() == ["layout", "predicted", "measured", "memory"]
    assert [row.split()[0] for row in rows] == {"cpu": ["csr"], "cuda": ["csr", "hyb"]}[device]
    assert [row.split()[0] for row in rows if row.endswith("chosen")] == [A.layout]
    assert A.layout in reason and {"cpu": "the CPU multiplies", "cuda": "of the time of"}[device] in reason
    _, *rows, _ = A.explain(measure=True).splitlines()
    for row in rows:
        name, predicted, unit, measured, unit_too, memory, _ = row.split()[:7]
        assert unit == unit_too == "ms" and float(predicted) > 0 and float(measured) > 0
        assert float(memory) == pytest.approx(getattr(A, name).nbytes / 2**20, abs=0.06)


def test_explain_has_the_origin_of_the_choice(device, road):
    asked = hpg.Matrix(road, format="hyb").to(device).explain(measure=True)
    assert asked.endswith('hyb, as format="hyb" asks')
    assert [line.split()[0] for line in asked.splitlines() if line.endswith("chosen")] == ["hyb"]
    assert {"cpu": "the CPU", "cuda": "fewer than"}[device] in hpg.Matrix(np.eye(3)).to(device).explain()


@pytest.mark.parametrize("device", ["cuda"], indirect=True)
def test_explain_lists_blocks_where_they_are_used(device, monkeypatch):
    from hpgraph.kernels.spmv import cuda_column_blocks_layout as blocked_layout

    monkeypatch.setattr(blocked_layout, "MIN", 1)
    monkeypatch.setattr(blocked_layout, "blocks_seconds", lambda *sizes: 1e-9)
    A = hpg.Matrix(hpg.datasets.uniform(17, 4, weighted=True)).to(device)
    said = A.explain()
    assert "shared memory" in said and "not built" in said and A.layout == "csr"
    row = next(line for line in A.explain(measure=True).splitlines() if line.startswith("blocks"))
    assert row.endswith("chosen") and row.count("ms") == 2
    with hpg.techniques(column_blocks=False):
        assert "blocks" not in A.explain()


def test_the_technique_is_obeyed(device, road):
    A = hpg.Matrix(road).to(device)
    with hpg.techniques(hyb=False):
        assert A.layout == "csr"


def test_a_hyb_keeps_its_csr(device, road):
    csr = hpg.Matrix(road).to(device).csr
    assert HYB.of(csr).csr is csr.csr is csr
    stranger = HYB.from_csr(csr)
    found = stranger.csr
    assert found is stranger.csr and found is not csr
    assert bool((found.indices == csr.indices).all()) and bool((found.data == csr.data).all())


def test_products_of_a_hyb_on_the_cpu_read_the_csr_it_was_made_of(road):
    A = hpg.Matrix(road, format="hyb")
    assert A.rows.csr is A.csr and A.T.rows.csr is A.T.csr
    given = hpg.Matrix(HYB.from_csr(A.csr), format="hyb")
    assert given.rows is given.hyb and given.rows.csr is given.csr
    x = np.random.default_rng(1).random(A.shape[1]).astype(np.float32)
    assert np.array_equal(A @ x, hpg.Matrix(road, format="csr") @ x) and np.array_equal(given @ x, A @ x)
