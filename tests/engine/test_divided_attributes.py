"""Graphs in parts of which each holds what belongs to its own vertices alone (strategy S), and the choice of that."""

from __future__ import annotations

import numpy as np
import programs
import pytest
import test_divided
import test_run
from test_divided import device, places  # noqa: F401
from test_run import SMALL, host

import hpgraph as hpg
from hpgraph.containers.divided_graph import divide
from hpgraph.core.errors import BudgetError
from hpgraph.engine.divided_plan import Plan


@pytest.fixture(params=[1000, 30], ids=["one piece", "several pieces"])
def divided(request, monkeypatch):
    """However little there is, attributes are divided, and so many of others' vertices fetched at a time."""
    pieces = 1 if request.param > 200 else 8
    monkeypatch.setattr(
        "hpgraph.engine.run.plan_of", lambda *arguments: Plan(False, request.param, "divided", pieces, 1)
    )


@pytest.fixture(params=[False, True], ids=["ranges", "dealt"])
def G(request, places, divided):  # noqa: F811
    return divide(hpg.Graph(SMALL, directed=True), places, scatter=request.param)


test_widest_path = test_run.test_widest_path
test_components = test_run.test_components
test_core = test_run.test_core
test_which_arcs = test_run.test_which_arcs
test_everyone_is_updated_in_every_superstep = test_run.test_everyone_is_updated_in_every_superstep
test_conditions_of_a_search = test_run.test_conditions_of_a_search
test_many_properties = test_run.test_many_properties
test_without_update_the_message_joins_the_property = test_run.test_without_update_the_message_joins_the_property
test_a_run_that_is_cut_off_goes_on_from_there = test_run.test_a_run_that_is_cut_off_goes_on_from_there
test_values_stay_apart = test_divided.test_values_stay_apart


def test_sums_over_all_parts_decide_when_to_stop(places, divided):  # noqa: F811
    plain = hpg.run(programs.Halving, hpg.Graph(SMALL / 40, directed=True))
    found = hpg.run(programs.Halving, divide(hpg.Graph(SMALL / 40, directed=True), places))
    assert found.supersteps == plain.supersteps and np.allclose(host(found.value), plain.value, rtol=1e-12)
    assert np.isclose(found.world["total"], plain.world["total"])
    assert "whole" not in found.trace.explain()


def test_memory_chooses(places):  # noqa: F811
    """Ever less memory: all attributes on every device, each its own, too little."""
    whole = hpg.Graph(SMALL, directed=True)
    shards = divide(whole, places).shards
    expected, told = test_run.widest(SMALL, 3), []
    least = None
    for memory in range(60_000, max(shard.nbytes for shard in shards), -500):
        graph = divide(whole, places, memory=memory)
        try:
            found = hpg.run(programs.Widest, graph, active=[3])
        except BudgetError as error:
            least = int(str(error).partition("memory=")[2].split()[0])
            break
        assert (host(found.width) == expected).all()
        told.append(found.trace.explain().splitlines()[0])
    assert "(strategy P)" in told[0] and "of 58.6 KiB" in told[0]
    assert "(strategy S)" in told[-1] and "are too much" in told[-1] and "pieces" in told[-1]
    assert len({line.partition("(strategy ")[2][0] for line in told}) == 2
    # What the error says does.
    assert least is not None and memory < least
    found = hpg.run(programs.Widest, divide(whole, places, memory=least), active=[3])
    assert (host(found.width) == expected).all()


def test_what_needs_all_attributes(places, divided):  # noqa: F811
    whole = hpg.Graph(SMALL, directed=True)
    found = hpg.run(programs.HeavySenders, divide(whole, places))
    assert (host(found.came) == hpg.run(programs.HeavySenders, whole).came).all()
    assert "(strategy P), more than its memory for it, as it reads ids" in found.trace.explain()
