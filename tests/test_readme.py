"""The README's programs, links and shell commands, and the demonstration's output in docs/start.md."""

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


@pytest.mark.parametrize("target", re.findall(r"\]\((?!http)([^)#]+)", TEXT))
def test_links(target):
    assert (ROOT / target).is_file()


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
