"""GML and Pajek files of numbered vertices, their names, edges and weights alone, without NetworkX's objects.

What such a file says more is left to NetworkX: each reader returns None for it, and where it may be wrong. So does each
writer for a graph that would be read as another one, or not by these readers; what it writes is NetworkX's text.
"""

import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from hpgraph.containers.name_arrays import text_or_numbers
from hpgraph.core.device import everywhere
from hpgraph.io.arcs import Arcs, whole_names
from hpgraph.io.text_rows import text_rows

# Characters of whole numbers that float64 holds whatever they are.
_CHARACTERS = 15
_REAL = rb"[-+]?(?:\d+|(?:\d+\.\d*|\.\d+)(?:[Ee][-+]?\d+)?)"
_GML = re.compile(rb"\s*graph\s*\[((?:\s*(?:directed|multigraph)\s+[01])*)\s*")
# Text that begins no record matches as one record up to the end.
_NODE = re.compile(rb'node\s*\[\s*id\s+(\d{1,18})\s+label\s+"([^"&]*)"\s*\]\s*|(.+)', re.DOTALL)
_EDGE = re.compile(
    rb"edge\s*\[\s*source\s+(\d{1,15})\s+target\s+(\d{1,15})(?:\s+weight\s+(" + _REAL + rb"))?\s*\]\s*|(.+)", re.DOTALL
)
_FIRST_EDGE = re.compile(rb"\]\s*(edge\s*\[)")
_PAJEK = re.compile(rb"\*vertices[ \t]+(\d{1,18})[ \t]*\r?\n", re.IGNORECASE)
_VERTEX = re.compile(rb'(\d{1,18})[ \t]+("[^"\\\r\n]*"|[^\s"\'\\#]+)(?:[ \t][-+.\w \t]*)?\r?\n|(.+)', re.DOTALL)
_LINES = re.compile(rb"\*(edges|arcs)[ \t]*\r?\n([-+.\deE \r\n]*)\Z", re.IGNORECASE)
_BLANK, _LINE_END = b" \n"
# Names that either format holds as they are.
_GML_NAME, _PAJEK_NAME = re.compile("[ !#-%'-~]+"), re.compile(r"[ !$-&()+-\[\]-~]+")


def gml(content: bytes) -> dict[str, Any] | None:
    """The parts of a GML file."""
    begun = _GML.match(content)
    if begun is None or not content.isascii():
        return None
    said = dict(re.findall(rb"(directed|multigraph)\s+([01])", begun[1]))
    end = len(content.rstrip()) - 1
    if said.get(b"multigraph") == b"1" or len(begun[1].split()) > 2 * len(said) or content[end:].strip() != b"]":
        return None
    first = _FIRST_EDGE.search(content, begun.end())
    edges_at = end if first is None else first.start(1)
    nodes, edges = _NODE.findall(content, begun.end(), edges_at), _EDGE.findall(content, edges_at, end)
    if not nodes or nodes[-1][-1] or (edges and edges[-1][-1]):
        return None
    numbers, labels, _ = zip(*nodes, strict=True)
    names = b"\0".join(labels).decode().split("\0")
    table = _table(b"".join(b" ".join(filter(None, edge)) + b"\n" for edge in edges))
    return _of_table(numbers, names, table, said.get(b"directed") == b"1")


def pajek(content: bytes) -> dict[str, Any] | None:
    """The parts of a Pajek file."""
    begun = _PAJEK.match(content)
    if begun is None or not content.isascii():
        return None
    lines_at = content.rfind(b"*")
    vertices, found = _VERTEX.findall(content, begun.end(), lines_at), _LINES.match(content, max(lines_at, 0))
    if found is None or len(vertices) != int(begun[1]) or not vertices or vertices[-1][-1]:
        return None
    numbers, labels, _ = zip(*vertices, strict=True)
    names = [name.strip('"') for name in b"\0".join(labels).decode().split("\0")]
    table = _table(found[2].replace(b"\r\n", b"\n"))
    if table is not None and table.shape[1] == 3 and bool((table[:, 2] == 1).all()):
        table = table[:, :2]
    return _of_table(numbers, names, table, found[1].lower() == b"arcs")


def _table(text: bytes) -> Any:
    """Lines of two or three numbers, one blank between them, two of which are whole; None for any others."""
    if not text:
        return np.zeros((0, 2))
    marks = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero((marks == _BLANK) | (marks == _LINE_END))
    lines = np.flatnonzero(marks[ends] == _LINE_END)
    width = int(lines[0]) + 1 if len(lines) else 0
    lengths = np.diff(ends, prepend=-1) - 1
    regular = width in (2, 3) and len(ends) == width * len(lines) and bool((lines % width == width - 1).all())
    if not regular or int(ends[-1]) != len(text) - 1 or not bool((lengths > 0).all()) or b"\r" in text:
        return None
    digit = (marks >= ord("0")) & (marks <= ord("9"))
    digit[ends] = True
    if bool((np.searchsorted(ends, np.flatnonzero(~digit)) % width < 2).any()):
        return None
    # Longer whole numbers may be rounded; a point comes from a float.
    long = np.flatnonzero(lengths > _CHARACTERS)
    if any(at % width < 2 or b"." not in text[ends[at] - lengths[at] : ends[at]] for at in long.tolist()):
        return None
    with warnings.catch_warnings():
        # Stop at the first field that is no number.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            numbers = np.fromstring(text, np.float64, sep=" ")
        except ValueError:
            return None
    return numbers.reshape(-1, width) if numbers.size == len(ends) else None


def _of_table(numbers: tuple[bytes, ...], names: list[str], table: Any, directed: bool) -> dict[str, Any] | None:
    """As of `edges_of_networkx`; None where NetworkX finds a fault, or parallel edges."""
    n, ids = len(names), np.array(list(map(int, numbers)), np.int64)
    order = np.argsort(ids, kind="stable")
    ids = ids[order]
    if table is None or bool((ids[1:] == ids[:-1]).any()) or len(set(names)) < n or not all(names):
        return None
    ends = table[:, :2].astype(np.int64)
    following = int(ids[-1]) - int(ids[0]) == n - 1
    place = np.clip(ends - ids[0] if following else np.searchsorted(ids, ends), 0, n - 1)
    if bool((ids[place] != ends).any()):
        return None
    source, target = order[place].T
    lower, upper = (source, target) if directed else (np.minimum(source, target), np.maximum(source, target))
    keys = np.sort(lower * n + upper)
    if bool((keys[1:] == keys[:-1]).any()):
        return None
    weight = table[:, 2].copy() if table.shape[1] == 3 else None
    return {
        "source": source, "target": target, "weight": weight, "n_vertices": n, "directed": directed, "names": names
    }  # fmt: skip


def gml_text(arcs: Arcs) -> Iterator[str] | None:
    """The text of a GML file."""
    names, weights = _plain_names(arcs, _GML_NAME), _plain_weights(arcs)
    if names is None or weights is None:
        return None
    ids = list(map(str, range(arcs.n_vertices)))
    ends = (ids, arcs.source), (ids, arcs.target)
    # GML's real numbers have a point.
    weights = [word if "E" not in word or "." in word else word.replace("E", ".E") for word in map(str.upper, weights)]
    marks = ("  edge [\n    source ", "\n    target ", *(("\n    weight ",) if weights else ()), "\n  ]\n")

    def text() -> Iterator[str]:
        yield "graph [\n" + ("  directed 1\n" if arcs.directed else "")
        yield from text_rows(("  node [\n    id ", '\n    label "', '"\n  ]\n'), (ids, None), (names, None))
        yield from text_rows(marks, *ends, *(((weights, None),) if weights else ()))
        yield "]\n"

    return text()


def pajek_text(arcs: Arcs) -> Iterator[str] | None:
    """The text of a Pajek file."""
    names, weights = _plain_names(arcs, _PAJEK_NAME), _plain_weights(arcs)
    if names is None or weights is None or (arcs.weight is not None and everywhere(arcs.weight == 1)):
        return None
    ids = list(map(str, range(1, arcs.n_vertices + 1)))
    ends = (ids, arcs.source), (ids, arcs.target)
    names = [f'"{name}"' if " " in name else name for name in names]
    marks = ("", " ", *((" ",) if weights else ()), "\n" if weights else " 1.0\n")

    def text() -> Iterator[str]:
        yield f"*vertices {arcs.n_vertices}\n"
        yield from text_rows(("", " ", " 0.0 0.0 ellipse\n"), (ids, None), (names, None))
        yield "*arcs\n" if arcs.directed else "*edges\n"
        yield from text_rows(marks, *ends, *(((weights, None),) if weights else ()))

    return text()


def _plain_names(arcs: Arcs, fit: re.Pattern[str]) -> list[str] | None:
    """The names of the vertices as text; None where they would be read as others."""
    if not arcs.n_vertices or arcs.multigraph:
        return None
    if arcs.names is None:
        return list(map(str, range(arcs.n_vertices)))
    held = text_or_numbers(arcs.names)
    if held is None:
        return None
    names = list(map(str, held.tolist()))
    # Text that looks like whole numbers is read as these.
    numbers = whole_names(names) is not None
    return names if numbers == (held.dtype.kind in "iu") and all(map(fit.fullmatch, names)) else None


def _plain_weights(arcs: Arcs) -> list[str] | None:
    """The weights as text, empty for a graph without; None where they would be read as others."""
    weight = arcs.weight
    if weight is None:
        return []
    fits = weight.dtype.kind in "iu" and everywhere((weight > -(2**31)) & (weight < 2**31))
    if not weight.size or not (fits or (weight.dtype.kind == "f" and everywhere(np.isfinite(weight)))):
        return None
    return list(map(repr, weight.tolist()))
