"""The pictures: what they plot is read back from the axes and compared with counts made another way."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from new_process import printed
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import to_device
from hpgraph.viz.degrees import cumulative

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.colors import to_hex, to_rgb  # noqa: E402


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


def run(direction, active, edges):
    return SimpleNamespace(direction=direction, active=np.array(active), edges=np.array(edges))


def test_a_layout_by_name_or_function():
    G = hpg.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3])
    (points,) = hpg.viz.draw(G, layout="layered").collections
    assert sorted(points.get_offsets()[:, 1].tolist()) == [-1, 0, 0, 1]
    (points,) = hpg.viz.draw(G, layout=lambda graph: np.full((graph.n_vertices, 2), 7.0)).collections
    assert (points.get_offsets() == 7).all()
    for how, said in (
        ({"layout": "round"}, "layout must be one of"),
        ({"layout": "sfdp", "pos": np.eye(2)}, "not both"),
    ):
        raises(ValueError, said, hpg.viz.draw, G, **how)


class TestDegrees:
    def test_cumulative(self):
        degree = np.random.default_rng(1).integers(0, 20, 300)
        degrees, at_least = cumulative(degree)
        assert degrees.tolist() == sorted(set(degree.tolist()) - {0})
        assert at_least.tolist() == [sum(1 for d in degree if d >= limit) for limit in degrees]

    def test_undirected(self, device):
        G = hpg.datasets.kron(7, 4, device=device)
        ax = hpg.viz.degree_distribution(G)
        (line,) = ax.get_lines()
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
        assert line.get_ydata()[0] == np.count_nonzero(to_device(G.out_degree, "cpu"))

    def test_directed_draws_both(self):
        source, target = np.array([0, 0, 0, 1]), np.array([1, 2, 3, 2])
        ax = hpg.viz.degree_distribution(hpg.Graph.from_edges(source, target, n_vertices=5))
        into, out = ax.get_lines()
        assert (into.get_label(), out.get_label()) == ("in-degree", "out-degree")
        assert (into.get_xdata().tolist(), into.get_ydata().tolist()) == ([1, 2], [3, 1])
        assert (out.get_xdata().tolist(), out.get_ydata().tolist()) == ([1, 3], [2, 1])

    def test_given_axes_are_used(self):
        ax = pyplot.figure().add_subplot()
        assert hpg.viz.degree_distribution(hpg.datasets.grid(4), ax) is ax

    def test_no_edges(self, tmp_path):
        ax = hpg.viz.degree_distribution(hpg.Graph.from_edges([], [], n_vertices=3))
        ax.figure.savefig(tmp_path / "empty.png")


class TestTrace:
    def test_bars_and_colours(self):
        ax = hpg.viz.trace(run(["push", "pull", "pull", "push"], [1, 50, 400, 3], [9, 700, 20, 0]))
        bars = {round(bar.get_x() + bar.get_width() / 2): bar for bar in ax.patches}
        assert [bars[step].get_height() for step in range(1, 5)] == [1, 50, 400, 3]
        colours = [to_hex(bars[step].get_facecolor()) for step in range(1, 5)]
        assert colours[0] == colours[3] != colours[1] == colours[2]
        (line,) = ax.get_lines()
        assert line.get_ydata()[:3].tolist() == [9, 700, 20] and np.isnan(line.get_ydata()[3])
        assert ax.get_yscale() == "log"

    def test_many_supersteps_become_points(self):
        n = 500
        ax = hpg.viz.trace(run(["push"] * n, np.arange(n) + 1, np.arange(n) * 2))
        assert not ax.patches
        points, _ = ax.get_lines()
        assert points.get_ydata().tolist() == list(range(1, n + 1))
        # A direction that never occurred is not explained.
        assert {text.get_text() for text in ax.get_legend().get_texts()} == {"active, push", "arcs touched"}

    def test_of_a_real_run(self, device):
        G = hpg.datasets.kron(9, device=device)
        r = hpg.bfs(G, int(G.out_degree.argmax()))
        ax = hpg.viz.trace(r.trace)
        drawn = {round(bar.get_x() + bar.get_width() / 2): int(bar.get_height()) for bar in ax.patches}
        level = Counter(to_device(r.level, "cpu").tolist())
        # Active in superstep k are the vertices that the one before it reached: those of level k - 1.
        assert len(drawn) >= max(level)
        assert all(height == level[step - 1] for step, height in drawn.items())

    @pytest.mark.parametrize("inches", [2.5, 3.5, 5, 6, 9])
    def test_names_are_drawn_on_top(self, inches):
        figure, ax = pyplot.subplots(figsize=(inches, 3), layout="constrained")
        hpg.viz.trace(run(["push", "pull", "push"], [1, 5, 900], [5, 9, 700]), ax)
        # A title of the caller's, as the demo's.
        ax.set_title("Supersteps of a search, one after the other", loc="left", fontsize=11)
        figure.draw_without_rendering()
        (title,) = (text for text in ax.findobj(matplotlib.text.Text) if text.get_text().startswith("Supersteps"))
        names, inside = ax.get_legend().get_window_extent(), ax.get_window_extent()
        assert not names.overlaps(title.get_window_extent())
        assert inside.y1 >= names.y1 and inside.x0 <= names.x0 < names.x1 <= inside.x1
        tops = [bar.get_window_extent().y1 for bar in ax.patches]
        tops += [ax.transData.transform((3, 700))[1]]
        assert max(tops) < names.y0

    def test_nothing_ran(self, tmp_path):
        ax = hpg.viz.trace(run([], [], []))
        ax.figure.savefig(tmp_path / "empty.png")

    def test_result_instead_of_trace(self):
        with pytest.raises(TypeError, match=r"trace must be the \.trace of a result, not SimpleNamespace"):
            hpg.viz.trace(SimpleNamespace(level=[0]))


class TestDraw:
    def points(self, ax):
        return ax.collections[-1]

    @pytest.mark.parametrize("directed", [False, True])
    def test_points_and_lines_are_the_graph(self, directed):
        G = hpg.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=directed)
        place = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [3.0, 3.0]])
        ax = hpg.viz.draw(G, place)
        assert sorted(map(tuple, self.points(ax).get_offsets().tolist())) == sorted(map(tuple, place.tolist()))
        # The hub is drawn last, and largest.
        assert self.points(ax).get_offsets()[-1].tolist() == [0.0, 1.0]
        assert self.points(ax).get_sizes().argmax() == 3
        texts = {text.get_text() for text in ax.texts} - {""}
        assert texts == {"0", "1", "2", "3"}
        if directed:
            heads = [text for text in ax.texts if text.get_text() == ""]
            drawn = {(tuple(head.xyann), tuple(head.xy)) for head in heads}
            assert drawn == {(tuple(place[u]), tuple(place[v])) for u, v in ((0, 1), (1, 2), (2, 0), (2, 3))}
        else:
            (lines,) = (one for one in ax.collections if hasattr(one, "get_segments"))
            drawn = {tuple(map(tuple, line.tolist())) for line in lines.get_segments()}
            assert drawn == {(tuple(place[u]), tuple(place[v])) for u, v in ((0, 1), (1, 2), (0, 2), (2, 3))}

    def test_colours(self):
        G = hpg.datasets.grid(12)
        groups = np.arange(144) % 10
        shown = self.points(hpg.viz.draw(G, color=groups)).get_facecolors()
        order = np.argsort(to_device(G.degree, "cpu"), kind="stable")
        by_group = {g: {tuple(c) for c in shown[groups[order] == g]} for g in range(10)}
        assert all(len(colours) == 1 for colours in by_group.values())
        # The eight largest have a colour each, those that are left one together.
        assert len(set.union(*by_group.values())) == 9 and by_group[8] == by_group[9]
        graded = hpg.viz.draw(G, color=np.linspace(0, 1, 144))
        assert self.points(graded).get_array().tolist() == np.linspace(0, 1, 144)[order].tolist()

    def test_names(self):
        G = hpg.datasets.debian().subgraph(hpg.id(np.arange(400)))
        hubs = {text.get_text() for text in hpg.viz.draw(G).texts} - {""}
        assert 1 <= len(hubs) <= 12 and hubs <= set(G.names.tolist())
        one = {text.get_text() for text in hpg.viz.draw(G, labels=[G.names[7]]).texts}
        assert one - {""} == {G.names[7]}
        assert not any(text.get_text() for text in hpg.viz.draw(G, labels=False).texts)
        assert not hpg.viz.draw(hpg.datasets.grid(9)).texts

    def test_no_name_lies_upon_another(self):
        """In the notebook's picture of what python3 needs, and among many points in one place."""
        for G, place in (
            (hpg.k_hop(hpg.datasets.debian(), "python3", 3), None),
            (hpg.datasets.grid(7), np.random.default_rng(1).random((49, 2)) * (1, 0.1)),
        ):
            ax = hpg.viz.draw(G, place)
            ax.set_title("as a caller may set it")
            ax.figure.draw_without_rendering()
            boxes = [text.get_window_extent() for text in ax.texts if text.get_text()]
            assert len(boxes) >= 12
            assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])
        crowd = np.zeros((49, 2))
        crowd[0] = 1
        assert len(hpg.viz.draw(G, crowd).texts) < 10
        assert len(hpg.viz.draw(G, crowd, labels=True).texts) == 49

    def test_ugly(self, tmp_path):
        for directed in (True, False):
            for n, ends in ((0, []), (3, []), (2, [0])):
                G = hpg.Graph.from_edges(ends, ends, n_vertices=n, directed=directed)
                hpg.viz.draw(G).figure.savefig(tmp_path / "few.png")
        with pytest.raises(ValueError, match="draw takes up to 50,000 vertices"):
            hpg.viz.draw(hpg.Graph.from_edges([], [], n_vertices=50_001))
        with pytest.raises(ValueError, match=r"pos must be finite, of shape \(4, 2\)"):
            hpg.viz.draw(hpg.datasets.grid(2), np.zeros((3, 2)))
        with pytest.raises(ValueError, match="color must have one value for each of the 4 vertices"):
            hpg.viz.draw(hpg.datasets.grid(2), color=[1, 2])


def test_matplotlib_is_imported_only_for_drawing():
    """In a process where matplotlib cannot be imported: the module loads, drawing names the extra."""
    program = """
import sys
sys.modules["matplotlib"] = None
import hpgraph as hpg
from types import SimpleNamespace
try:
    hpg.viz.trace(SimpleNamespace(direction=["push"], active=[1], edges=[1]))
except hpg.MissingExtraError as error:
    print(error)
"""
    assert printed(program).strip() == "drawing needs matplotlib: pip install 'hpgraph[plot]'"


def luminance(colour):
    """Of a colour, relative to white's (Web Content Accessibility Guidelines 2.2)."""
    light = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return float(np.dot((0.2126, 0.7152, 0.0722), light))


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_seen_on_light_and_dark_paper(style):
    def contrast(colour, paper):
        darker, lighter = sorted((luminance(colour), luminance(paper)))
        return (lighter + 0.05) / (darker + 0.05)

    with pyplot.style.context(style):
        ring = np.arange(9)
        G = hpg.Graph.from_edges(ring, (ring + 1) % 9, directed=False)
        ax = hpg.viz.draw(G, color=np.arange(9))
        paper = ax.figure.get_facecolor()
        lines, points = ax.collections
        assert contrast(lines.get_colors()[0][:3], paper) > 4.5
        # The guidelines ask 3 of graphics, which Okabe and Ito's lighter colours have not on white; yellow has a rim.
        least = 1.8 if style == "default" else 3
        seen = zip(points.get_facecolors(), points.get_edgecolors(), strict=True)
        assert min(max(contrast(face[:3], paper), contrast(rim[:3], paper)) for face, rim in seen) > least
        assert {to_hex(face) for face in points.get_facecolors()} >= {"#f0e442", "#d55e00"}
        assert contrast(points.get_edgecolors()[0][:3], paper) == 1
        assert len(ax.texts) == 9
        assert all(contrast(text.get_color(), paper) > 12 for text in ax.texts)
        assert all(contrast(text.get_bbox_patch().get_facecolor()[:3], paper) == 1 for text in ax.texts)
        ax = hpg.viz.trace(run(["push", "pull"], [3, 6], [8, 20]))
        assert contrast(ax.get_lines()[-1].get_color(), ax.get_facecolor()) > 4.5
        assert contrast(ax.xaxis.get_gridlines()[0].get_color(), ax.get_facecolor()) < 2.5
