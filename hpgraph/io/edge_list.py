"""Edge lists: one edge a line, two ids and perhaps a weight. Numbers are parsed by NumPy's C parser, names by a table.

Both read blocks of lines, and after each check the memory of the edges so far. If the C parser rejects a line, a second
pass in Python finds it for the error message.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import IO, Any

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.core.errors import FileFormatError
from hpgraph.io.arc_stream import ArcStream, Block, joined, of_arcs
from hpgraph.io.arcs import Arcs, Array, NameNumbers, mixed_names, plain_names
from hpgraph.io.line_format import (
    TITLES,
    LineFormat,
    OwnComment,
    data_lines,
    find_line_format,
    is_number,
    is_whole,
    name_of,
    numbers_of,
    split_fields,
    without_comment,
)
from hpgraph.io.memory import NO_LIMIT, Budget
from hpgraph.io.replace import is_zipped, replacing_text
from hpgraph.io.stream import count_lines, open_text, shortened
from hpgraph.io.text_numbers import parsed
from hpgraph.io.text_rows import numbers_column, text_rows

_INT64_MAX = 2**63 - 1
# Characters of the lines read at a time.
_BLOCK = 1 << 16


def read_edge_list(path: Path, progress: bool | None, budget: Budget, **options: Any) -> Arcs:
    """A `Reader` with the further parameters of `edge_list_stream`.

    Weights are int64 if all are whole numbers, uint64 if only that represents them, else float64; in files by
    `hpgraph.write`, of the type recorded there.
    """
    return joined(path, edge_list_stream(path, progress, NO_LIMIT, **options), budget)


def edge_list_stream(
    path: Path, progress: bool | None, budget: Budget, *, comments: tuple[str, ...], delimiter: str | None,
    n_vertices: int | None, names: bool | None,
) -> ArcStream:  # fmt: skip
    """The lines of an edge list as arcs; the parameters are those of `hpgraph.read`."""
    form = find_line_format(path, comments, delimiter, names)
    if form is None or form.columns == 0:
        return of_arcs(_no_edges(path, form, n_vertices))
    own = form.own
    directed = own is None or own.directed
    if not form.numbered:
        if names is False:
            raise fault(path, replace(form, numbered=True), comments)
        if n_vertices is not None:
            raise ValueError(
                f"n_vertices is for ids that are vertex numbers, and those of {path} are names: leave it out, "
                "as many vertices are made as there are names"
            )
        number_of = NameNumbers()
        blocks = partial(_named, path, progress, budget, form, comments, number_of)
        return ArcStream(blocks, directed, names=lambda: list(number_of), number_of=number_of)
    are_names = own is not None and own.ids == "number"
    if n_vertices is None and own is not None and not are_names:
        n_vertices = own.n_vertices
    relabel = False if n_vertices is not None or names is False else are_names or None
    return ArcStream(
        partial(_numbered, path, progress, form, comments), directed, n_vertices, relabel,
        fault=lambda: fault(path, replace(form, own=None), comments, n_vertices),
    )  # fmt: skip


def _no_edges(path: Path, form: LineFormat | None, n_vertices: int | None) -> Arcs:
    """The result for a file without a line of data."""
    own = None if form is None else form.own
    if own is not None:
        _check_whole(path, own.n_lines, 0, True)
    none = np.empty(0, np.int64)
    weight = None if own is None or own.dtype is None else np.empty(0, own.dtype)
    directed = own is None or own.directed
    if n_vertices is None and own is not None and own.ids != "index":
        return Arcs(none, none, weight, 0, directed, [])
    known = own.n_vertices if n_vertices is None and own is not None else n_vertices
    if known is None:
        raise FileFormatError(path, "no edge in the file; n_vertices=... makes a graph without edges of it")
    return Arcs(none, none, weight, known, directed)


def _numbered(path: Path, progress: bool | None, form: LineFormat, comments: tuple[str, ...]) -> Iterator[Block]:
    """The lines of an edge list of numbers, parsed, some at a time."""
    columns = [form.source, form.target, *([] if form.weight is None else [form.weight])]
    # NumPy is several times as fast without comments, which could hide in a column that is skipped.
    bare = (False, True) if 0 in columns else (True,)
    attempts = list(product(bare, ["i8", "u8", "f8"] if form.weight is not None and form.whole else ["f8"]))
    rows, lines = 0, [""]
    with open_text(path, progress) as text:
        for lines in _blocks(text, form.start):
            for at, (commented, kind) in enumerate(attempts):
                given = (
                    [without_comment(line, comments) for _, line in data_lines(lines, comments)] if commented else lines
                )
                if not any(map(str.strip, given)):
                    break
                try:
                    table = parsed(
                        given,
                        np.dtype([("source", "i8"), ("target", "i8"), ("weight", kind)][: len(columns)]),
                        delimiter=form.delimiter,
                        usecols=None if columns == list(range(form.columns)) else columns,
                        quotechar=None if form.delimiter is None else '"',
                    )
                except ValueError as error:
                    reason = str(error)
                else:
                    # A variant needed by one block is likely to be needed by the next.
                    del attempts[:at]
                    rows += table.size
                    weight = None if form.weight is None else table["weight"]
                    yield table["source"], table["target"], _as_written(path, weight, form)
                    break
            else:
                raise fault(path, replace(form, numbered=True), comments, reason=reason)
    if rows == 0:
        raise fault(path, form, comments)
    if form.own is not None:
        _check_whole(path, form.own.n_lines, rows, not lines[-1])


def _blocks(text: IO[str], start: int) -> Iterator[list[str]]:
    """Some lines at a time, from a line on, without their ends; after the end of the last comes an empty one."""
    for _ in range(start - 1):
        text.readline()
    while block := text.read(_BLOCK):
        if not block.endswith("\n"):
            block += text.readline()
        # Not splitlines, which splits at further characters.
        yield block.split("\n")


def _as_written(path: Path, weight: Array | None, form: LineFormat) -> Array | None:
    """Weights in the type recorded in the file, if they fit."""
    dtype = None if form.own is None else form.own.dtype
    if dtype is None:
        return weight
    if weight is None:
        raise FileFormatError(
            path,
            f"{dtype} weights announced, and there is no third column: the file was cut short or changed",
            form.start,
        )
    with np.errstate(invalid="ignore", over="ignore"):
        cast = weight.astype(dtype)
    return cast if dtype.kind == "f" or np.array_equal(cast, weight) else weight


def _check_whole(path: Path, announced: int, lines: int, ended: bool) -> None:
    """Refuse a truncated file that `hpgraph.write` wrote."""
    if lines != announced:
        raise FileFormatError(
            path,
            f"the first line announces {announced} edges and {lines} follow: the file was cut short or changed "
            "(without that line it is read as it is)",
            1,
        )
    if not ended:
        raise FileFormatError(path, "the last line has no end: the file was cut short", count_lines(path))


def _named(
    path: Path, progress: bool | None, budget: Budget, form: LineFormat, comments: tuple[str, ...],
    number_of: NameNumbers,
) -> Iterator[Block]:  # fmt: skip
    """The lines of an edge list of names, some at a time; what is wrong is a `FileFormatError`, as for numbers."""
    rows, known, lines = 0, 0, [""]
    with open_text(path, progress) as text:
        for lines in _blocks(text, form.start):
            source: list[int] = []
            target: list[int] = []
            weights: list[str] = []
            for _, line in data_lines(lines, comments):
                fields = split_fields(line, form.delimiter)
                if len(fields) != form.columns:
                    raise fault(path, form, comments)
                source.append(number_of[fields[form.source]])
                target.append(number_of[fields[form.target]])
                if form.weight is not None:
                    weights.append(fields[form.weight])
            rows += len(source)
            if len(number_of) > known:
                # All characters of the lines may belong to names.
                known = len(number_of)
                number_of.text_bytes += sum(map(len, lines))
                budget.check(number_of.nbytes, f"the names of {known} vertices and more of {path}")
            try:
                weight = None if form.weight is None else numbers_of(weights)
            except ValueError:
                raise fault(path, form, comments) from None
            ends = np.array(source, dtype=np.int64), np.array(target, dtype=np.int64)
            yield *ends, _as_written(path, weight, form)
    if form.own is not None:
        _check_whole(path, form.own.n_lines, rows, not lines[-1])
    if any(_unfit_name(name) for name in number_of):
        raise fault(path, form, comments)


def fault(
    path: Path, form: LineFormat, comments: tuple[str, ...], n_vertices: int | None = None,
    reason: str = "not an edge list",
) -> FileFormatError:  # fmt: skip
    """The error for the first invalid line, by a slow second pass."""
    with open_text(path) as text:
        for number, line in data_lines(text, comments, form.start):
            bare = without_comment(line, comments) if form.numbered else line
            found = _reason(split_fields(bare, form.delimiter), form, n_vertices)
            if found is not None:
                return FileFormatError(path, f"{found}: {shortened(line)!r}", number)
    return FileFormatError(path, reason)


def _unfit_name(name: str) -> str | None:
    if not name:
        return "a vertex without a name"
    # open_text decodes bytes that are not UTF-8 as lone surrogates; there are no other sources of these.
    if not name.isascii() and any("\udc80" <= letter <= "\udcff" for letter in name):
        return "a name that is not UTF-8"
    return None


def _reason(fields: list[str], form: LineFormat, n_vertices: int | None) -> str | None:
    """The error in the fields of one line, if any."""
    if len(fields) != form.columns:
        return f"{form.columns} fields expected ({name_of(form.delimiter)} between them), {len(fields)} found"
    for field in (fields[form.source], fields[form.target]):
        if not form.numbered:
            if unfit := _unfit_name(field):
                return unfit
        elif not is_whole(field):
            return f"vertex id {field!r} is not a whole number (names=True reads all ids as names)"
        # 30 digits suffice, and Python refuses to convert thousands.
        elif (value := int(field[:30])) < 0 and not (form.own is not None and form.own.ids == "number"):
            return f"vertex id {field} is negative (names=True reads all ids as names)"
        elif value > _INT64_MAX:
            return f"vertex id {field[:40]} does not fit 64 bits (names=True reads all ids as names)"
        elif n_vertices is not None and value >= n_vertices:
            return f"vertex id {field} is not below n_vertices={n_vertices}"
    if form.weight is not None and not is_number(fields[form.weight]):
        return f"weight {fields[form.weight]!r} is not a number"
    return None


def write_edge_list(graph: Graph, path: Path) -> None:
    """A `Writer`: an undirected edge once.

    ``.csv`` puts commas between fields and a header line on top, ``.tsv`` tabs, all others blanks, or tabs where a name
    needs them. Names must be all text or all whole numbers, and stand in a line; ``.wel`` requires weights.
    """
    arcs = Arcs.of(graph).each_edge_once()
    kind = path.suffixes[-2 if is_zipped(path) else -1].lower()
    if kind == ".wel" and arcs.weight is None:
        raise ValueError(f"{path}: a .wel file holds weights and the graph has none; write it to .el")
    delimiter = {".csv": ",", ".tsv": "\t"}.get(kind, " ")
    names, ids = None, "index"
    if (known := plain_names(arcs.names, path)) is not None:
        if known.dtype.kind == "u" and known.max() > _INT64_MAX:
            raise mixed_names(path)
        ids = "name" if known.dtype.kind in "UT" else "number"
        names = list(map(str, known.tolist()))
        if delimiter == " " and not all(set(name).isdisjoint(' ,;"') and name[:1] not in ("#", "%") for name in names):
            delimiter = "\t"
        names = [_as_field(name, delimiter, path) for name in names]

    with replacing_text(path) as target:
        dtype = None if arcs.weight is None else arcs.weight.dtype
        target.write(f"{OwnComment(arcs.n_vertices, arcs.source.size, graph.directed, ids, dtype)}\n")
        if kind == ".csv":
            target.write(",".join(TITLES[:2] if dtype is None else TITLES) + "\n")
        _write_lines(arcs, names, delimiter, target)


def _write_lines(arcs: Arcs, names: Sequence[str] | None, delimiter: str, target: IO[str]) -> None:
    columns: list[Any] = [
        numbers_column(ends, arcs.n_vertices) if names is None else (names, ends) for ends in (arcs.source, arcs.target)
    ]
    if arcs.weight is not None:
        weight = arcs.weight.astype("i1") if arcs.weight.dtype.kind == "b" else arcs.weight
        # The shortest digits that read back as the same number.
        columns.append((list(map(repr, weight.tolist())), None))
    target.writelines(text_rows(["", *[delimiter] * (len(columns) - 1), "\n"], *columns))


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
