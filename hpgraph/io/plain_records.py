"""GML and Pajek files of numbered vertices, their names, edges and weights alone: read without NetworkX's objects.

What such a file says more is left to NetworkX: each reader returns None for it, and where it may be wrong.
"""

import re
from typing import Any

import numpy as np

# Characters of whole numbers that float64 holds whatever they are.
_CHARACTERS = 15
_REAL = rb"[-+]?(?:\d+|(?:\d+\.\d*|\.\d+)(?:[Ee][-+]?\d+)?)"
_GML = re.compile(rb"\s*graph\s*\[((?:\s*(?:directed|multigraph)\s+[01])*)\s*")
_NODE = re.compile(rb'node\s*\[\s*id\s+(\d{1,18})\s+label\s+"([^"&]*)"\s*\]\s*')
_EDGE = re.compile(rb"edge\s*\[\s*source\s+(\d{1,18})\s+target\s+(\d{1,18})(?:\s+weight\s+(" + _REAL + rb"))?\s*\]\s*")
_PAJEK = re.compile(rb"\*vertices[ \t]+(\d{1,18})[ \t]*\r?\n", re.IGNORECASE)
_VERTEX = re.compile(rb'(\d{1,18})[ \t]+("[^"\\\r\n]*"|[^\s"\'\\#]+)(?:[ \t][-+.\w \t]*)?\r?\n')
_LINES = re.compile(rb"\*(edges|arcs)[ \t]*\r?\n([-+.\deE \t\r\n]*)\Z", re.IGNORECASE)


def gml(content: bytes) -> dict[str, Any] | None:
    """The parts of a GML file."""
    begun = _GML.match(content)
    if begun is None or not content.isascii():
        return None
    said = dict(re.findall(rb"(directed|multigraph)\s+([01])", begun[1]))
    if said.get(b"multigraph") == b"1" or len(begun[1].split()) > 2 * len(said):
        return None
    nodes, at = _records(_NODE, content, begun.end())
    edges, at = _records(_EDGE, content, at)
    if content[at:].strip() != b"]" or not nodes:
        return None
    names = [name.decode() for _, name in nodes]
    ends = [end for edge in edges for end in edge[:2]]
    weights = [edge[2] for edge in edges]
    return _parts([number for number, _ in nodes], names, ends, weights, said.get(b"directed") == b"1")


def pajek(content: bytes) -> dict[str, Any] | None:
    """The parts of a Pajek file."""
    begun = _PAJEK.match(content)
    if begun is None or not content.isascii():
        return None
    vertices, at = _records(_VERTEX, content, begun.end())
    found = _LINES.match(content, at)
    if found is None or len(vertices) != int(begun[1]):
        return None
    names = [name.decode().strip('"') for _, name in vertices]
    lines = [line for line in found[2].splitlines() if line.strip()]
    fields = found[2].split()
    width = len(fields) // max(len(lines), 1)
    if width not in (2, 3) or any(line.count(b" ") + 1 != width for line in lines) or b"\t" in found[2]:
        return None
    weights = fields[2::3] if width == 3 else [b"1"] * len(lines)
    ends = [fields[k + i] for k in range(0, len(fields), width) for i in range(2)]
    made = _parts([number for number, _ in vertices], names, ends, weights, found[1].lower() == b"arcs")
    if made is not None and bool((made["weight"] == 1).all()):
        made["weight"] = None
    return made


def _records(pattern: Any, content: bytes, at: int) -> tuple[list[tuple[bytes, ...]], int]:
    """The groups of records one after the other, and where the last of them ends."""
    found = []
    while (record := pattern.match(content, at)) is not None:
        found.append(record.groups())
        at = record.end()
    return found, at


def _parts(
    numbers: list[bytes], names: list[str], ends: list[bytes], weights: list[bytes], directed: bool
) -> dict[str, Any] | None:
    """As of `edges_of_networkx`; None where NetworkX finds a fault, or parallel edges."""
    place = {int(number): k for k, number in enumerate(numbers)}
    n, weight = len(names), None
    if len(place) < n or len(set(names)) < n or not all(names):
        return None
    given = sum(word is not None for word in weights)
    if given:
        if given < len(weights) or any(len(word) > _CHARACTERS and b"." not in word for word in weights):
            return None
        try:
            weight = np.array(weights).astype(np.float64)
        except ValueError:
            return None
    try:
        source, target = np.array([place[int(end)] for end in ends], np.int64).reshape(-1, 2).T
    except KeyError:
        return None
    lower, upper = (source, target) if directed else (np.minimum(source, target), np.maximum(source, target))
    if len(np.unique(lower * n + upper)) < len(source):
        return None
    return {
        "source": source, "target": target, "weight": weight, "n_vertices": n, "directed": directed, "names": names
    }  # fmt: skip
