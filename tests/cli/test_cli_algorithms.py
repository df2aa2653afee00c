"""The command line's algorithms beyond searches, beside NetworkX."""

from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from written import ROADS, table

from hpgraph.cli import main


def test_pagerank(karate: str, device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "ranks.npz"
    arguments = ["pagerank", karate, "--undirected", "--top", "3", "--tol", "1e-10", "--damping", "0.9", "-o", str(out)]
    assert main([*arguments, "--device", device]) == 0
    expected = nx.pagerank(nx.karate_club_graph(), alpha=0.9, tol=1e-12, weight=None)
    best = sorted(expected, key=lambda vertex: -expected[vertex])[:3]
    lines = capsys.readouterr().out.splitlines()
    start = next(at for at, line in enumerate(lines) if line.split() == ["vertex", "rank"])
    assert [int(line.split()[0]) for line in lines[start + 1 : start + 4]] == best
    assert float(lines[start + 1].split()[1]) == pytest.approx(expected[best[0]], rel=1e-5)
    with np.load(out) as stored:
        np.testing.assert_allclose(stored["rank"], [expected[vertex] for vertex in range(34)], atol=1e-9)


def test_triangles(karate: str, device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "triangles.csv"
    assert main(["triangles", karate, "--undirected", "--device", device, "--top", "1", "-o", str(out)]) == 0
    expected = nx.triangles(nx.karate_club_graph())
    assert f"{sum(expected.values()) // 3} triangles on {device}" in capsys.readouterr().out
    assert [int(row["triangles"]) for row in table(out)] == [expected[vertex] for vertex in range(34)]


def test_structures(karate: str, roads: str, device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    g, out = nx.karate_club_graph(), tmp_path / "cores.csv"
    assert main(["cores", karate, "--undirected", "--device", device, "--top", "1", "-o", str(out)]) == 0
    expected = nx.core_number(g)
    largest = max(expected.values())
    count = list(expected.values()).count(largest)
    assert f"largest core number {largest}, of {count} vertices" in capsys.readouterr().out
    assert [int(row["core"]) for row in table(out)] == [expected[vertex] for vertex in range(34)]

    out = tmp_path / "colors.csv"
    assert main(["colors", karate, "--undirected", "--device", device, "-o", str(out)]) == 0
    color = [int(row["color"]) for row in table(out)]
    assert all(color[u] != color[v] for u, v in g.edges)
    assert f"{max(color) + 1} colours" in capsys.readouterr().out

    assert main(["forest", karate, "--undirected", "--device", device]) == 0
    assert "33 edges, 1 tree, total weight" in capsys.readouterr().out


def test_sets_and_trusses(karate: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    g, out = nx.karate_club_graph(), str(tmp_path / "each.csv")
    assert main(["truss", karate, "--undirected", "-o", out]) == 0
    # The 5-truss of the karate club is the last one that is not empty.
    inside = {v for v, row in enumerate(table(Path(out))) if row["truss"] == "5"}
    assert inside == set(nx.k_truss(g, 5))
    assert f"largest truss number 5, at {len(inside)} vertices" in capsys.readouterr().out

    assert main(["degree", karate, "--undirected", "-o", out]) == 0
    found = [float(row["degree_centrality"]) for row in table(Path(out))]
    assert found == pytest.approx([nx.degree_centrality(g)[v] for v in range(34)])

    assert main(["independent", karate, "--undirected", "-o", out]) == 0
    inside = {v for v, row in enumerate(table(Path(out))) if row["independent"] == "1"}
    assert f"{len(inside)} vertices in the set" in capsys.readouterr().out
    assert not any(u in inside and v in inside for u, v in g.edges)
    assert inside.union(*(g[v] for v in inside)) == set(g)

    assert main(["matching", karate, "--undirected", "-o", out]) == 0
    mates = [row["mate"] for row in table(Path(out))]
    pairs = {(v, int(mate)) for v, mate in enumerate(mates) if mate and v < int(mate)}
    assert f"{len(pairs)} edges in the matching" in capsys.readouterr().out
    assert nx.is_maximal_matching(g, pairs)


def test_connectivity(karate: str, roads: str, device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    g, out = nx.karate_club_graph(), str(tmp_path / "each.csv")
    assert main(["components", roads, "--directed", "--device", device, "-o", out]) == 0
    said = capsys.readouterr().out
    assert f"1 weak component on {device}" in said
    assert "  5 vertices" in said
    assert {row["component"] for row in table(Path(out))} == {"0"}
    assert main(["components", roads, "--directed", "--strong", "--device", device]) == 0
    assert "5 strong components" in capsys.readouterr().out

    assert main(["cuts", karate, "--undirected", "--device", device, "-o", out]) == 0
    assert "  bridges: 0 - 11\n" in capsys.readouterr().out
    found = {v for v, row in enumerate(table(Path(out))) if row["articulation_point"] == "1"}
    assert found == set(nx.articulation_points(g))

    assert main(["bipartite", karate, "--undirected", "--device", device]) == 0
    assert "not bipartite" in capsys.readouterr().out
    star = tmp_path / "star.el"
    star.write_text("0 1\n0 2\n0 3\n")
    assert main(["bipartite", str(star), "--device", device, "-o", out]) == 0
    assert "sides of 1 vertex and 3 vertices" in capsys.readouterr().out
    assert [row["side"] for row in table(Path(out))] == ["0", "1", "1", "1"]


def test_order(roads: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "order.csv")
    assert main(["order", roads, "--directed", "--weighted", "-o", out]) == 0
    assert "longest path, of 4 vertices: Bonn, Mainz, Trier, Metz" in capsys.readouterr().out
    place = {row["vertex"]: int(row["place"]) for row in table(Path(out))}
    assert all(place[u] < place[v] for u, v, _ in (line.split(",") for line in ROADS.splitlines()[1:]))
    assert main(["order", roads, "--undirected"]) == 2
    assert "G has a cycle" in capsys.readouterr().err


def test_propagation(karate: str, roads: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, given = str(tmp_path / "each.csv"), tmp_path / "given.csv"
    given.write_text("vertex,label\n0,Mr. Hi\n33,Officer\n5,\n")
    assert main(["labels", karate, "--undirected", "--labels", str(given), "-o", out]) == 0
    label = [row["label"] for row in table(Path(out))]
    assert "2 labels spread on cpu: converged" in capsys.readouterr().out
    assert (label[0], label[33]) == ("Mr. Hi", "Officer")
    club = nx.get_node_attributes(nx.karate_club_graph(), "club")
    assert sum(label[v] == club[v] for v in range(34)) >= 31

    assert main(["heat", roads, "--undirected", "--source", "Bonn", "--time", "0.5", "-o", out]) == 0
    heat = {row["vertex"]: float(row["heat"]) for row in table(Path(out))}
    assert sum(heat.values()) == pytest.approx(1)
    assert max(heat, key=lambda vertex: heat[vertex]) == "Bonn"

    unary = tmp_path / "unary.csv"
    unary.write_text("vertex,dry,wet\nBonn,9,1\n")
    assert main(["beliefs", roads, "--undirected", "--unary", str(unary), "--potential", "2,1;1,2", "-o", out]) == 0
    assert "dry: 5 vertices" in capsys.readouterr().out
    assert all(float(row["dry"]) > 0.5 for row in table(Path(out)))


def test_closeness(karate: str, device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    networkx = pytest.importorskip("networkx")
    out = tmp_path / "closeness.csv"
    assert main(["closeness", karate, "--undirected", "--device", device, "--top", "2", "-o", str(out)]) == 0
    printed = capsys.readouterr().out
    expected = networkx.closeness_centrality(networkx.karate_club_graph())
    first, second = sorted(expected, key=lambda v: -expected[v])[:2]
    assert f"closeness of 34 vertices on {device}" in printed
    lines = [line.split() for line in printed.splitlines()]
    at = lines.index(["vertex", "closeness"])
    assert [line[0] for line in lines[at + 1 : at + 3]] == [str(first), str(second)]
    rows = [line.split(",") for line in out.read_text().splitlines()]
    assert rows[0] == ["vertex", "closeness"]
    assert [float(value) for _, value in rows[1:]] == pytest.approx(list(expected.values()))
    assert main(["closeness", karate, "--harmonic", "--sources", "3", "--device", device]) == 0
    printed = capsys.readouterr().out
    assert "harmonic centrality of 3 vertices" in printed and "nan" not in printed


@pytest.mark.parametrize("command", ["eigenvector", "katz", "hits", "clustering"])
def test_numbers_of_neighbours(
    karate: str, command: str, device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    networkx = pytest.importorskip("networkx")
    out, top = tmp_path / "out.csv", ["--top", "1"]
    options = ["--alpha", "0.05"] if command == "katz" else []
    assert main([command, karate, "--undirected", "--device", device, "-o", str(out), *top, *options]) == 0
    printed = capsys.readouterr().out
    N = networkx.karate_club_graph()
    expected, column = {
        "eigenvector": (lambda: networkx.eigenvector_centrality(N, weight=None), "centrality"),
        "katz": (lambda: networkx.katz_centrality(N, 0.05, weight=None), "centrality"),
        "hits": (lambda: networkx.hits(networkx.Graph(N.edges()))[1], "authorities"),
        "clustering": (lambda: networkx.clustering(N), "clustering"),
    }[command]
    rows = [line.split(",") for line in out.read_text().splitlines()]
    found = {int(row[0]): float(row[rows[0].index(column)]) for row in rows[1:]}
    assert found == pytest.approx(expected(), abs=1e-4)
    assert ("converged after" in printed) == (command != "clustering") and f" on {device}" in printed


def test_betweenness(karate: str, device: str, capsys: pytest.CaptureFixture[str]) -> None:
    networkx = pytest.importorskip("networkx")
    assert main(["betweenness", karate, "--undirected", "--device", device, "--top", "1"]) == 0
    expected = networkx.betweenness_centrality(networkx.karate_club_graph())
    printed = capsys.readouterr().out
    assert "betweenness by paths from all vertices" in printed
    assert printed.splitlines()[-1].split() == ["0", f"{expected[0]:.6g}"]


def test_diameter(karate: str, device: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diameter", karate, "--undirected", "--device", device]) == 0
    printed = capsys.readouterr().out
    assert "diameter 5, radius 3" in printed and "center: 8 vertices (0, 1, 2, 3, 8, ...)" in printed
    assert main(["diameter", "debian", "--undirected", "--device", device]) == 2
    assert "--largest" in capsys.readouterr().err


def test_similar(karate: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph, out = nx.karate_club_graph(), tmp_path / "like.csv"
    assert main(["similar", karate, "--undirected", "--source", "0", "--top", "2", "-o", str(out)]) == 0
    pairs = [(0, v) for v in graph if v]
    expected = {str(v): score for _, v, score in nx.jaccard_coefficient(graph, pairs)}
    many = sum(score > 0 for score in expected.values())
    assert f"jaccard on cpu: {many} vertices with a neighbour in common with 0" in capsys.readouterr().out
    found = {row["vertex"]: float(row["jaccard"]) for row in table(out)}
    assert found.pop("0") == 0 and found == pytest.approx(expected)
    how = ["--undirected", "--source", "0", "--measure", "common_neighbors", "--links", "--top", "1"]
    assert main(["similar", karate, *how]) == 0
    assert capsys.readouterr().out.split()[-2:] == ["33", "4"]


def test_walks_and_samples(karate: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for bias in ([], ["--q", "0.5"]):
        out = tmp_path / "visits.csv"
        how = ["--undirected", "--source", "33", "--count", "50", "--length", "4", *bias]
        assert main(["walks", karate, *how, "--top", "1", "-o", str(out)]) == 0
        said = capsys.readouterr().out
        assert "50 walks from 33 on cpu: 200 steps to" in said
        assert sum(int(row["visits"]) for row in table(out)) == 200
    out = tmp_path / "hops.csv"
    assert main(["sample", karate, "--undirected", "--source", "0", "--fanouts", "4,2", "-o", str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines if line.split()[0] in "01"] == [["0", "1"], ["1", "4"]]
    distance = nx.single_source_shortest_path_length(nx.karate_club_graph(), 0)
    hops = {int(row["vertex"]): int(row["hop"]) for row in table(out)}
    assert all(distance[v] <= hop for v, hop in hops.items() if hop >= 0)
    assert sorted(hops.values()).count(1) == 4
    assert main(["sample", karate, "--source", "0", "--fanouts", "many"]) == 2
    assert "--fanouts many: give numbers" in capsys.readouterr().err


@pytest.mark.parametrize("method", ["louvain", "leiden", "labels", "cdlp"])
def test_communities(karate, method, device, tmp_path, capsys):
    out = tmp_path / "communities.csv"
    assert main(["communities", karate, "--undirected", "--method", method, "--device", device, "-o", str(out)]) == 0
    printed = capsys.readouterr().out
    labels = [line.split(",")[1] for line in out.read_text().splitlines()[1:]]
    assert len(labels) == 34 and f"{len(set(labels))} communities" in printed and "vertices" in printed
