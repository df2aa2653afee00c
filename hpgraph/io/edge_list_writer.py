"""Writing edge lists: a comment that says what the lines cannot, then an edge a line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from hpgraph.containers.name_arrays import text_or_numbers
from hpgraph.io.arcs import Arcs
from hpgraph.io.own_comment import TITLES, OwnComment
from hpgraph.io.replace import is_zipped, replacing_text

if TYPE_CHECKING:
    from hpgraph.containers.graph import Graph

_BLOCK = 1 << 16
_INT64_MAX = 2**63 - 1


def write_edge_list(graph: Graph, path: Path) -> None:
    """A `Writer`: an undirected edge once.

    ``.csv`` puts commas between fields and a header line on top, ``.tsv`` tabs, all others blanks, or tabs where a name
    needs them. Names must be all text or all whole numbers, and stand in a line; ``.wel`` wants weights.
    """
    arcs = Arcs.of(graph).each_edge_once()
    kind = path.suffixes[-2 if is_zipped(path) else -1].lower()
    if kind == ".wel" and arcs.weight is None:
        raise ValueError(f"{path}: a .wel file holds weights and the graph has none; write it to .el")
    delimiter = {".csv": ",", ".tsv": "\t"}.get(kind, " ")
    names, ids = None, "index"
    if arcs.names is not None:
        known = text_or_numbers(arcs.names)
        if known is None or (known.dtype.kind == "u" and known.max() > _INT64_MAX):
            raise ValueError(
                f"{path}: an edge list holds names that are all text or all whole numbers of 64 bits, and some are "
                "neither; pickle holds any"
            )
        ids = "name" if known.dtype.kind in "UT" else "number"
        names = list(map(str, known.tolist()))
        if delimiter == " " and not all(map(_stands_between_blanks, names)):
            delimiter = "\t"
        names = [_as_field(name, delimiter, path) for name in names]

    with replacing_text(path) as target:
        dtype = None if arcs.weight is None else arcs.weight.dtype
        target.write(f"{OwnComment(arcs.n_vertices, arcs.source.size, arcs.directed, ids, dtype)}\n")
        if kind == ".csv":
            target.write(",".join(TITLES[:2] if dtype is None else TITLES) + "\n")
        _write_lines(arcs, names, delimiter, target)


def _write_lines(arcs: Arcs, names: Sequence[str] | None, delimiter: str, target: IO[str]) -> None:
    columns: list[Any] = [
        ends.tolist() if names is None else map(names.__getitem__, ends.tolist()) for ends in (arcs.source, arcs.target)
    ]
    if arcs.weight is not None:
        columns.append((arcs.weight.astype("i1") if arcs.weight.dtype.kind == "b" else arcs.weight).tolist())
    # %r gives the shortest digits that read back as the same number.
    marks = ["%s", "%s", "%r"][: len(columns)]
    line: Callable[[Any], str] = delimiter.join(marks).__mod__
    edges = zip(*columns, strict=True)
    while block := list(islice(edges, _BLOCK)):
        target.write("\n".join(map(line, block)) + "\n")


def _stands_between_blanks(name: str) -> bool:
    return set(name).isdisjoint(' ,;"') and not name.startswith(("#", "%"))


def _as_field(name: str, delimiter: str, path: Path) -> str:
    """A name as it stands in a line: quoted where it would be split or taken for a comment."""
    if not name or name != name.strip() or not name.isprintable():
        raise ValueError(
            f"{path}: the name {name!r} is empty, begins or ends with a blank or holds a control character, which an "
            "edge list cannot show; .npz holds any name"
        )
    if delimiter == " " or (delimiter not in name and '"' not in name and not name.startswith(("#", "%"))):
        return name
    return '"' + name.replace('"', '""') + '"'
