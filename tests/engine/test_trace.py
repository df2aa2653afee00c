"""What a run tells of itself."""

import time

import numba
import numba.core.event
import numpy as np
import pytest

import hpgraph as hpg
from hpgraph.core.work_clock import now
from hpgraph.kernels.backend import kernels

ROWS = np.array([[0, 1, 3, 1500], [1, 30_000, 1_200_000, 2_500_000], [0, 2, 5, 900]])


def trace_of(length):
    return hpg.Trace(np.array([[k % 2, k + 1, 10 * k, 1000 * k] for k in range(length)], np.int64).reshape(-1, 4))


def test_columns():
    trace = hpg.Trace(ROWS)
    assert trace.direction.tolist() == ["push", "pull", "push"]
    assert trace.active.tolist() == [1, 30_000, 2]
    assert trace.edges.tolist() == [3, 1_200_000, 5]
    assert np.allclose(trace.seconds, [1.5e-6, 2.5e-3, 9e-7])
    assert len(trace) == 3


def test_explain_is_a_table():
    lines = hpg.Trace(ROWS).explain().splitlines()
    assert lines == [
        "step direction active      arcs      µs",
        "   1      push      1         3     1.5",
        "   2      pull 30,000 1,200,000 2,500.0",
        "   3      push      2         5     0.9",
        "3 supersteps, 1,200,008 arcs, 2.502 ms",
    ]


@pytest.mark.parametrize("limit", [0, 1, 2, 5, 6, 40])
def test_long_traces_show_both_ends(limit):
    lines = trace_of(100).explain(limit).splitlines()[1:-1]
    assert len(lines) == limit + 1
    shown = [int(line.split()[0]) for line in lines if not line.split()[0].startswith(".")]
    assert shown == [*range(1, (limit + 1) // 2 + 1), *range(101 - limit // 2, 101)]


def test_what_fits_is_shown_whole():
    assert "..." not in trace_of(40).explain()
    assert len(trace_of(3).explain(3).splitlines()) == 5


def test_no_supersteps():
    empty = trace_of(0)
    assert len(empty) == 0 and empty.direction.tolist() == [] and "0 supersteps, 0 arcs" in empty.explain()


def test_jupyter_shows_a_table():
    html = hpg.Trace(ROWS)._repr_html_()
    assert html.count("<tr>") == 4 and "<td>30,000</td>" in html and "3 supersteps" in html
    assert trace_of(100)._repr_html_().count("<tr>") == 22
    assert repr(hpg.Trace(ROWS)) == "<Trace: 3 supersteps, 1,200,008 arcs, 2.502 ms>"


def test_rows_are_fetched_when_looked_at_and_once():
    fetched = []

    def fetch():
        fetched.append(1)
        return ROWS

    trace = hpg.Trace(fetch)
    assert not fetched
    assert len(trace) == 3 and trace.active[0] == 1 and trace.explain()
    assert fetched == [1]


def test_a_run_s_own(device):
    n = 5000
    G = hpg.Graph.from_edges(np.arange(n - 1), np.arange(1, n), directed=False).to(device)
    found = hpg.bfs(G, 0)
    assert len(found.trace) == n, "one superstep a level"
    assert (found.trace.active == 1).all()
    assert (found.trace.seconds >= 0).all() and 0 < found.trace.seconds.sum() < 60
    assert found.trace.edges.sum() >= n - 1


class _Clock(numba.core.event.Listener):
    """What `now` counts of each compilation's first millisecond."""

    def __init__(self):
        self.counted = []

    def on_start(self, event):
        before = now()
        time.sleep(0.001)
        self.counted.append(now() - before)

    def on_end(self, event):
        pass


def test_compiling_is_not_counted(device):
    kernels(device)  # from then on the clock looks at Numba

    @numba.njit
    def compiled(x):
        return np.sqrt(x) + 1

    with numba.core.event.install_listener("numba:compile", _Clock()) as clock:
        assert compiled(4.0) == 3.0
    assert clock.counted and not any(clock.counted)
    before = now()
    time.sleep(0.01)
    assert now() - before >= 10_000_000, "and it goes on"
