"""The cost model of push and pull: its corners, and that every place that chooses asks it."""

import ast
import re
from pathlib import Path

import pytest

import hpgraph
from hpgraph.kernels.runtime.direction import ALPHA, BETA, PULL, PUSH, product_pushes, traversal_direction

N, ARCS = 1000, 10_000


def direction(last=PUSH, count=100, before=50, leaving=1000, leaving_before=500, looked=500, waiting=300):
    return traversal_direction(
        last, count, before, leaving, leaving_before, looked, waiting, N, ARCS, ALPHA, BETA
    )  # fmt: skip


def test_few_arcs_push_however_few_wait():
    assert direction(leaving=ARCS // 20, waiting=0) == PUSH


def test_a_pull_that_stops_soon_is_cheaper():
    """500 wait: 5,000 looks where one neighbour in ten is active, for 1,400; 1,000 where one in two is, for 13,000."""
    assert direction(leaving=1000, leaving_before=2000, count=100, waiting=500) == PUSH
    assert direction(leaving=5000, leaving_before=500, count=100, waiting=500) == PULL


def test_a_pull_pays_for_each_vertex_that_waits():
    """Half of a tree's vertices wait, with two arcs each; a push reaches one for each two of its arcs."""
    assert traversal_direction(PUSH, 104, 102, 208, 204, 204, 450, N, 2 * N, ALPHA, BETA) == PUSH


def test_the_way_back():
    assert direction(last=PULL, count=40, before=50, looked=0) == PUSH, "the frontier dwindles"
    assert direction(last=PULL, count=40, before=30, looked=0) == PULL, "it is small, but grows"
    assert direction(last=PULL, count=200, before=300, looked=0) == PULL
    assert direction(last=PULL, count=200, before=100, leaving=100, leaving_before=100_000, looked=5000) == PUSH


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_products(share):
    assert product_pushes(int(share * ARCS), ARCS, share)
    assert not product_pushes(int(share * ARCS) + 1, ARCS, share)


def test_nobody_else_compares_the_arcs_of_a_frontier():
    """Other modules import the shares of arcs and the constants of the choice from this one."""
    names = {"ALPHA", "BETA", "REACHED", "SHARE", "PUSH", "PULL"}
    for file in Path(hpgraph.__file__).parent.rglob("*.py"):
        if file.name == "direction.py" and file.parent.name == "runtime":
            continue
        text = file.read_text()
        for node in ast.parse(text).body if names & set(re.findall(r"\w+", text)) else ():
            if isinstance(node, ast.Assign):
                made = {name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)}
                assert not made & names, f"{file}: {made & names}"
