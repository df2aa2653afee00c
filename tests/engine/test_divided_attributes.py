"""Graphs in parts of which each holds what belongs to its own vertices alone (strategy S), and the choice of that."""

from __future__ import annotations

import numpy as np
import programs
import pytest
import test_divided
import test_run
import test_shapes
from reference_algorithms import levels
from test_divided import device, places, sweeps_divided  # noqa: F401
from test_run import SMALL, host

import hpgraph as hpg
from hpgraph.containers.divided_graph import divide
from hpgraph.core.errors import BudgetError, DeviceMemoryError
from hpgraph.engine.divided_plan import Plan


@pytest.fixture(params=[1000, 30], ids=["one piece", "several pieces"])
def divided(request, monkeypatch):
    """However little there is, attributes are divided, and so many of others' vertices fetched at a time."""
    pieces = 1 if request.param > 200 else 8
    monkeypatch.setattr(
        "hpgraph.engine.divided_plan.plan_of", lambda *arguments: Plan(False, request.param, "divided", pieces)
    )


@pytest.fixture(params=[False, True], ids=["ranges", "dealt"])
def G(request, places, divided):  # noqa: F811
    return divide(hpg.Graph(SMALL, directed=True), places, scatter=request.param)


test_widest_path = test_run.test_widest_path
test_components = test_run.test_components
test_core = test_run.test_core
test_which_arcs = test_run.test_which_arcs
test_everyone_is_updated_in_every_superstep = test_run.test_everyone_is_updated_in_every_superstep
test_any_receives_once_in_the_general_loop_too = test_run.test_any_receives_once_in_the_general_loop_too
test_conditions_of_a_search = test_run.test_conditions_of_a_search
test_without_update_the_message_joins_the_property = test_run.test_without_update_the_message_joins_the_property
test_a_run_that_is_cut_off_goes_on_from_there = test_run.test_a_run_that_is_cut_off_goes_on_from_there
test_elementwise_sums = test_shapes.test_elementwise_sums
test_values_stay_apart = test_divided.test_values_stay_apart


def test_sums_over_all_parts_decide_when_to_stop(places, divided):  # noqa: F811
    plain = hpg.run(programs.Halving, hpg.Graph(SMALL / 40, directed=True))
    found = hpg.run(programs.Halving, divide(hpg.Graph(SMALL / 40, directed=True), places))
    assert found.supersteps == plain.supersteps and np.allclose(host(found.value), plain.value, rtol=1e-12)
    assert np.isclose(found.world["total"], plain.world["total"])
    assert "whole" not in found.trace.explain()


def test_memory_chooses(places):  # noqa: F811
    """Ever less memory: all attributes on every device, each its own, too little."""
    grid = hpg.datasets.grid(40).out_csr
    whole = hpg.Graph(grid.with_data(np.ones(grid.nnz)), directed=False)
    most = max(shard.nbytes for shard in divide(whole, places).shards)
    expected, told, least = hpg.run(programs.Halving, whole, max_iteration=5).value, [], None
    for memory in range(200_000, most, -4_000):
        graph = divide(whole, places, memory=memory)
        try:
            found = hpg.run(programs.Halving, graph, max_iteration=5)
        except BudgetError as error:
            least = int(str(error).partition("memory=")[2].split()[0])
            break
        assert np.allclose(host(found.value), expected, rtol=1e-12)
        told.append(found.trace.explain().splitlines()[0])
        assert "whole" not in graph._layouts
    assert "(strategy P)" in told[0] and "of 195.3 KiB" in told[0]
    assert "(strategy S)" in told[-1] and "are too much" in told[-1] and "pieces" in told[-1]
    assert len({line.partition("(strategy ")[2][0] for line in told}) == 2
    # What the error says does.
    assert least is not None and memory < least
    found = hpg.run(programs.Halving, divide(whole, places, memory=least), max_iteration=5)
    assert np.allclose(host(found.value), expected, rtol=1e-12)


def test_searches_do_not_take_more_than_one_device_was_given(places):  # noqa: F811
    whole = hpg.Graph(SMALL, directed=True)
    graph = divide(whole, places, scatter=True, memory=36_000)
    assert (host(hpg.run(programs.Widest, graph, active=[3]).width) == test_run.widest(SMALL, 3)).all()
    # It reads ids, and gets shards of vertices that keep theirs.
    assert (host(hpg.bfs(graph, 3).level) == levels(SMALL, 3)).all()
    tight = divide(whole, places, memory=15_000)
    with pytest.raises(DeviceMemoryError, match=r"the whole of a divided graph.*is the memory it was given"):
        _ = tight.whole


def test_what_needs_all_attributes(places, divided):  # noqa: F811
    whole, box = hpg.Graph(SMALL, directed=True), np.random.default_rng(1).random((200, 4))
    found = hpg.run(test_shapes.Box, divide(whole, places), box=box, grown=0, max_iteration=3)
    expected = hpg.run(test_shapes.Box, whole, box=box, grown=0, max_iteration=3)
    assert (host(found.box) == expected.box).all()
    assert "(strategy P), more than its memory for it, as it has tuples" in found.trace.explain()
