"""The programs of docs/phases.md: the page runs as it stands, and finds strong components."""

import contextlib
import re
from pathlib import Path

import numpy as np
import scipy.sparse.csgraph
from reference_algorithms import random_digraph

import hpgraph as hpg
from hpgraph.core.device import to_device

PAGE = Path(__file__).parents[2] / "docs" / "phases.md"


def test_strong_components(device):
    (program,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    names = {"__name__": "page"}
    with contextlib.redirect_stdout(None):
        exec(compile(program, str(PAGE), "exec"), names)
    network = random_digraph(300, 500, seed=3)
    r = hpg.run(names["strong"], hpg.Graph(network, directed=True).to(device))
    component = to_device(r.component, "cpu")
    count, expected = scipy.sparse.csgraph.connected_components(network, connection="strong")
    assert 1 < count < 300 and len(set(zip(component.tolist(), expected.tolist(), strict=True))) == count
    # Each goes by its largest vertex, which was the root.
    assert (component == [np.flatnonzero(expected == one)[-1] for one in expected]).all()
    assert {name for name, _ in r.traces} == {"Own", "Color", "Root", "Collect"}
