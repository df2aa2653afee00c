"""The cost model of push and pull stands in one place."""

import ast
import re
from pathlib import Path

import hpgraph


def test_the_arcs_of_a_frontier_are_compared_in_one_place():
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
