"""Columns that programs and compiled filters read."""

import numpy as np
import pandas as pd
import pytest
from column_tables import TITLES, graph_of, plain, rows_kept, same_columns, tables
from hypothesis import given, settings
from hypothesis import strategies as st
from raising import raises

import hpgraph as hpg


def test_programs_read_a_column_along_arcs(device: str) -> None:
    rng = np.random.default_rng(5)
    u, v = rng.integers(0, 40, (2, 300))
    year, toll = rng.integers(1990, 2025, 300), rng.random(300)
    G = hpg.Graph.from_edges(u, v, columns={"year": year, "toll": toll}, n_vertices=40).to(device)

    class Latest(hpg.VertexProgram):
        latest = hpg.Property("int64", initial=0)
        reduce, max_iteration = "max", 1

        def edge_cond(source, edge, target):
            return edge.year < 2020

        def gather(source, edge, target):
            return edge.year

        def update(vertex, message):
            return max(vertex.latest, message)

    class Cheapest(hpg.VertexProgram):
        cost = hpg.Property("float64", initial=np.inf, start=0.0)
        reduce = "min"

        def gather(source, edge, target):
            return source.cost + edge.toll

    arcs = pd.DataFrame({"u": u, "v": v, "year": year, "toll": toll}).drop_duplicates(["u", "v"])
    want = arcs[arcs.year < 2020].groupby("v").year.max().reindex(range(40), fill_value=0)
    assert hpg.run(Latest, G).latest.tolist() == want.tolist()
    lengths = hpg.Graph.from_edges(arcs.u, arcs.v, arcs.toll, n_vertices=40).to(device)
    found = hpg.run(Cheapest, G, active=[0])
    assert np.array_equal(found.cost.tolist(), hpg.sssp(lengths, 0).distance.tolist())
    assert "relaxation" in found.trace.loop
    many = hpg.run(Cheapest, G, active=[[0], [3]])
    assert many.cost[1].tolist() == hpg.run(Cheapest, G, active=[3]).cost.tolist()


def test_programs_read_several_columns(device: str) -> None:
    rng = np.random.default_rng(6)
    u, v = rng.integers(0, 40, (2, 300))
    year, toll, weight = rng.integers(1990, 2025, 300), rng.random(300), rng.random(300)
    G = hpg.Graph.from_edges(u, v, weight, columns={"year": year, "toll": toll}, n_vertices=40, duplicates="first")
    G = G.to(device)

    class Cheapest(hpg.VertexProgram):
        cost = hpg.Property("float64", initial=np.inf, start=0.0)
        factor = hpg.Parameter("float64", 1.0)
        reduce = "min"

        def edge_cond(source, edge, target):
            return edge.year < 2020

        def gather(source, edge, target, world):
            return source.cost + world.factor * edge.toll + edge.weight

        def update(vertex, message):
            return min(vertex.cost, message)

        def sends(before, vertex):
            return vertex.cost < before.cost

    arcs = pd.DataFrame({"u": u, "v": v, "w": 2 * toll + weight, "year": year}).drop_duplicates(["u", "v"])
    arcs = arcs[arcs.year < 2020]
    lengths = hpg.Graph.from_edges(arcs.u, arcs.v, arcs.w, n_vertices=40)
    found = hpg.run(Cheapest, G, active=[0], factor=2.0)
    assert list(found.properties) == ["cost"] and np.allclose(found.cost.tolist(), hpg.sssp(lengths, 0).distance)
    many = hpg.run(Cheapest, G, active=[[0], [3]], factor=2.0)
    assert np.allclose(many.cost[1].tolist(), hpg.sssp(lengths, 3).distance)
    Cheapest.edge_cond = lambda source, edge, target: edge.year < 1980
    assert hpg.run(Cheapest, G, active=[0]).supersteps == 1
    program = Cheapest()
    program.edge_cond = lambda source, edge, target: edge.year < 2020
    assert np.array_equal(hpg.run(program, G, active=[0], factor=2.0).cost.tolist(), found.cost.tolist())


def test_edge_programs_have_columns_for_constant_properties(device: str) -> None:
    columns = {"price": [5, 7, 2], "kind": ["toll", "free", "toll"]}
    G = hpg.from_edges([0, 1, 0], [1, 2, 2], columns=columns).to(device)

    class Paid(hpg.EdgeVertexProgram):
        paid = hpg.Property("int64")
        price = hpg.EdgeProperty(constant=True)
        kind = hpg.EdgeProperty(constant=True)
        combiner, max_iteration = "plus", 1

        def edge_compute(source, edge, target):
            return edge.price if edge.kind == 1 else 0

    assert hpg.run(Paid, G).paid.tolist() == [0, 5, 2]
    assert hpg.run(Paid, G, price=1).paid.tolist() == [0, 1, 1]


def test_bad_functions_of_columns() -> None:
    G = hpg.from_edges([0, 1], [1, 2], columns={"a": [1, 2], "b": [3, 4]})
    for holds in (lambda source, edge, target: edge.c > 1, lambda source, edge, target: edge.a > 1 and edge.c > 1):
        raises(ValueError, "no edge column 'c'; it has 'a', 'b'", G.filter, edges=holds)
    raises(TypeError, r"edges reads e\.a: .* call the parameter edge", G.filter, edges=lambda s, e, t: e.a > 1)
    U = hpg.from_edges([0, 0, 1], [1, 2, 2], columns={"a": [1, 2, 3], "b": [1, 1, 1]}, directed=False)
    assert U.filter(edges=lambda source, edge, target: edge.a > edge.b and target.id == 2).n_edges == 4

    class Program(hpg.VertexProgram):
        value = hpg.Property("int64")
        reduce = "max"

    def two(source, edge, target):
        return edge.a + edge.b

    def none(source, edge, target):
        return edge.c

    Program.gather = two
    for name, value in (("edges", "all"), ("reduce", "any"), ("cond", lambda vertex: True)):
        one = type("Program", (Program,), {name: value})
        raises(TypeError, rf"edge.a and edge.b, and has {name}.*: a VertexProgram is given one number", hpg.run, one, G)
    with pytest.raises(ValueError, match="no edge column 'a'"):
        hpg.run(Program, hpg.Graph.from_edges([0], [1]))
    with pytest.raises(TypeError, match="Program reads several columns of edges"):
        hpg.run(hpg.Phases([Program], max_iteration=1), G)
    Program.gather = none
    raises(ValueError, "no edge column 'c'", hpg.run, Program, G)
    Program.gather = lambda source, edge, target: edge.a
    Program.edge_cond = lambda source, weight, target: weight > 1
    raises(TypeError, r"reads edge.a, and edge_cond a weight", hpg.run, Program, G)


@given(table=tables(), directed=st.booleans(), ages=st.lists(st.integers(0, 9), min_size=6, max_size=6))
@settings(max_examples=20, deadline=None)
def test_filters_read_columns_of_vertices(table: pd.DataFrame, directed: bool, ages: list[int]) -> None:
    G = graph_of(table, columns=TITLES, directed=directed, duplicates="min", n_vertices=6)
    G = G.with_columns(vertices={"age": ages, "town": ["xy"[age % 2] for age in ages]})
    want, age = rows_kept(table, directed, "min"), np.array(ages)
    older = want[age[want.source] > age[want.target]]
    same_columns(G.filter(edges=lambda source, edge, target: source.age > target.age), older)
    both = older[(older.year > 100) & (age[older.target] % 2 == 0)]
    town = G.vertex_column("town").categories.tolist().index("x") if "x" in G.vertex_column("town").categories else -2
    found = G.filter(
        edges=lambda source, edge, target: source.age > target.age and edge.year > 100 and target.town == town
    )
    same_columns(found, both)
    grown = G.filter(vertices=lambda vertex: vertex.age > 4 and vertex.id != 2)
    assert grown.vertex_column("age").tolist() == [a for v, a in enumerate(ages) if a > 4 and v != 2]
    assert G.subgraph(lambda vertex: vertex.age > 9).n_vertices == 0
    kept = want[(age[want.source] > 4) & (age[want.target] > 4) & want.lit]
    part = G.filter(edges=lambda source, edge, target: edge.lit, vertices=lambda vertex: vertex.age > 4)
    assert plain(part.edge_column("share")) == plain(kept.share)


def test_bad_functions_of_vertices() -> None:
    G = hpg.from_edges([0, 1], [1, 2], columns={"a": [1, 2], "both": [3, 4]}, vertex_columns={"both": [1, 2, 3]})
    with pytest.raises(ValueError, match="no vertex column 'age'; it has 'both'"):
        G.filter(edges=lambda source, edge, target: source.age > 1)
    raises(ValueError, "no vertex column 'a'; it has 'both'", G.filter, vertices=lambda vertex: vertex.a > 1)
    with pytest.raises(ValueError, match="a column 'both', and a function cannot read both"):
        G.filter(edges=lambda source, edge, target: source.both > edge.both)
    with pytest.raises(TypeError, match=r"edges reads source\.both: .* that stands second"):
        G.filter(edges=lambda source, weight, target: source.both > 1)
    with pytest.raises(TypeError, match=r"vertices must be a function of .vertex., not of 2"):
        G.filter(vertices=lambda vertex, other: True)


@given(table=tables(), directed=st.booleans(), years=st.lists(st.integers(-2, 2), max_size=3), data=st.data())
@settings(max_examples=20, deadline=None)
def test_filters_take_values(table: pd.DataFrame, directed: bool, years: list[int], data: st.DataObject) -> None:
    table = table.assign(year=table.year % 5 - 2)
    G = graph_of(table, columns=TITLES, directed=directed, duplicates="min", n_vertices=6)
    want = rows_kept(table, directed, "min")
    same_columns(G.filter(edges={"year": years}), want[want.year.isin(years)])
    same_columns(G.filter(edges={"share": [None, 0]}), want[want.share.isna() | (want.share == 0)])
    there = [None, *sorted({*want.kind} - {None})]
    kinds = data.draw(st.lists(st.sampled_from(there), max_size=3))
    of_kinds = want.kind.map(lambda kind: kind in kinds)
    same_columns(G.filter(edges={"kind": kinds, "lit": True}), want[of_kinds & want.lit])
    assert G.filter(edges={}).n_edges == G.n_edges


def test_bad_values_of_columns() -> None:
    G = hpg.from_edges(
        [0, 1], [1, 2], columns={"n": [1, 2], "kind": ["rent", "food"], "on": np.array(["2024", "2025"], "M8[s]")}
    )
    assert G.filter(edges={"n": np.int8(2), "kind": "food"}).edge_column("n").tolist() == [2]
    for values, error, message in (
        ({"m": 1}, ValueError, "no edge column 'm'; it has 'n', 'kind', 'on'"),
        ({"kind": "rnet"}, ValueError, "no edge has 'rnet' in column 'kind', .*: did you mean rent"),
        ({"kind": ["rent", 5]}, ValueError, "no edge has 5 in column 'kind', which holds 'food', 'rent'"),
        ({"n": "x"}, TypeError, "'n' holds numbers"),
        ({"n": [1, "2"]}, TypeError, "'n' holds numbers"),
        ({"on": np.datetime64("2024")}, TypeError, "'on' holds dates, which functions compare"),
    ):
        raises(error, message, G.filter, edges=values)
