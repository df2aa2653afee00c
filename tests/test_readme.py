"""The README's programs and shell commands, and the demonstration's output in docs/start.md."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def test_what_the_programs_find():
    """tests/test_docs.py runs every block by itself; here two of them are asked what they found."""
    namespace = {"__name__": "readme"}
    for part in ("class Widest", "hyb_array"):
        (block,) = (block for block in BLOCKS if part in block)
        exec(compile(block, "README.md", "exec"), namespace)
    S, b, x, z = (namespace[name] for name in "Sbxz")
    assert np.linalg.norm(S @ x - b) < 1e-3 * np.linalg.norm(b)
    # Over min and plus, a row of the stencil with ones for b is its least entry plus one.
    assert np.array_equal(z, np.zeros(1000))
    assert namespace["r"].width[namespace["start"]] == np.inf


def test_length():
    assert len(TEXT.split()) <= 1200


WORKS = {"BFS": "bfs", "SSSP": "sssp", "PageRank": "pagerank", "SpMV": "spmv", "triangle": "triangles"}


@pytest.mark.parametrize("file", re.findall(r"benchmarks/results/([\w-]+\.json)", TEXT))
def test_measured_times(file):
    """Each number of a table is that of the file named above it, or of published.json, to its last digit."""
    recorded = json.loads((ROOT / "benchmarks" / "results" / file).read_text(encoding="utf-8"))
    published = json.loads((ROOT / "benchmarks" / "published.json").read_text(encoding="utf-8"))["milliseconds"]
    before, table = re.search(rf"\n\n([^|]*{re.escape(file)}[^|]*)\n\n((?:\|.*\n)+)", TEXT).groups()
    assert f"hpgraph {recorded['versions']['hpgraph']}," in before and recorded["date"][:10] in before
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines())
    for title, *cells in rows:
        work = WORKS[title.split()[0].strip(",")]
        which = "new_graph_s" if title.endswith("first on the graph") else "median_s"
        for graph, cell in zip(head[1:], cells, strict=True):
            results = {one["library"]: one for one in recorded["graphs"][graph]["results"] if one["work"] == work}
            ours = results.pop("hpgraph")[which] * 1e3
            if recorded["device"] == "cuda":
                theirs = [
                    min(published[work][name][graph] for name in published[work] if graph in published[work][name])
                ]
            else:
                gapbs = results.pop("GAPBS", {}).get("median_s")
                theirs = [gapbs and gapbs * 1e3, min(one["median_s"] for one in results.values()) * 1e3]
            shown = re.findall(r"[\d.,]*\d|–", cell)
            assert len(shown) == 1 + len(theirs), cell
            for text, number in zip(shown, [ours, *theirs], strict=True):
                digits = len(text.partition(".")[2])
                unit = 10.0**-digits if digits or number is None or number < 1000 else 10.0
                assert (text == "–") == (number is None)
                assert number is None or abs(float(text.replace(",", "")) - number) <= 0.501 * unit, (
                    title,
                    graph,
                    text,
                )


def test_make_targets():
    named = set(re.findall(r"\bmake ([a-z-]+)", TEXT)) - {"the"}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert {"demo", "test"} <= named
    for target in named:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"README names make {target}"


def test_demo_output_is_what_the_demo_prints_today(capsys, tmp_path):
    """Everything but the times."""
    from hpgraph import demo

    assert demo.main(["--device", "cpu", "--output", str(tmp_path / "demo.png")]) == 0
    page = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
    shown = re.search(r"^```text\n(hpgraph .*?)^```", page, re.MULTILINE | re.DOTALL)[1]

    def timeless(text):
        text = re.sub(r"\s+[\d.]+ (?:s |ms|µs) +[\d.]+ (?:s |ms|µs) +[\d.]+ [MG]$", "", text, flags=re.MULTILINE)
        text = re.sub(r"On the CPU \(\d+ threads?\)", "On the CPU", text)
        return [re.sub(r"\s+", " ", line) for line in text.splitlines() if not line.startswith("Picture: ")]

    wanted = timeless(capsys.readouterr().out)
    assert [line for line in timeless(shown) if line in wanted] == wanted
