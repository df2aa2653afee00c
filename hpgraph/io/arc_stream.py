"""The arcs of a file some at a time, whatever its format, for what must not hold all of them."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from hpgraph.core.errors import FileFormatError
from hpgraph.io.arcs import Arcs, Array
from hpgraph.io.edge_list import (
    NAME_BYTES,
    as_written,
    fault,
    named_edges,
    numbered_tables,
    read_edge_list,
    text_weights,
)
from hpgraph.io.hpg_reader import GraphFile
from hpgraph.io.line_format import LineFormat, find_line_format
from hpgraph.io.matrix_market_stream import matrix_market_blocks
from hpgraph.io.memory import Budget
from hpgraph.io.npz import read_npz
from hpgraph.io.npz_stream import NpzEntries
from hpgraph.kernels.pages import decode

Block = tuple[Array, Array, Array | None]


@dataclass(frozen=True)
class ArcStream:
    """What a file holds, and a way through its arcs.

    ``blocks`` (function): begins anew at each call: sources, targets and weights of some arcs, of others, and so on;
    ``directed`` (bool or None): as the file says; None where that is seen from the arcs; ``n_vertices`` (int or None):
    none is one more than the largest id; ``relabel`` (bool or None): whether ids are names: numbers that become indices
    in ascending order. None is if half of them go unused; ``names`` (function or None): gives the names of vertices,
    once the blocks were gone through; ``mirrored`` (bool): as of `Arcs`; ``fault`` (function or None): what to raise
    for an id that is out of range, with its line.
    """

    blocks: Callable[[], Iterator[Block]]
    directed: bool | None
    n_vertices: int | None = None
    relabel: bool | None = False
    names: Callable[[], Any] | None = None
    fault: Callable[[], FileFormatError] | None = None
    mirrored: bool = False


def edge_list_stream(
    path: Path,
    progress: bool | None,
    budget: Budget,
    *,
    comments: tuple[str, ...],
    delimiter: str | None,
    n_vertices: int | None,
    names: bool | None,
) -> ArcStream:
    """As `hpgraph.io.edge_list.read_edge_list`, with its parameters."""
    form = find_line_format(path, comments, delimiter, names)
    if form is None or form.columns == 0:
        return of_arcs(
            read_edge_list(
                path, progress, budget, comments=comments, delimiter=delimiter, n_vertices=n_vertices, names=names
            )
        )
    own = form.own
    directed = own is None or own.directed
    if not form.numbered:
        if names is False:
            raise fault(path, replace(form, numbered=True), comments)
        if n_vertices is not None:
            raise ValueError(
                f"n_vertices is for ids that are vertex numbers, and those of {path} are names: leave it out"
            )
        number_of: defaultdict[str, int] = defaultdict(itertools.count().__next__)
        return ArcStream(
            lambda: _named(path, progress, budget, form, comments, number_of), directed, names=lambda: list(number_of)
        )
    numbers = own is not None and own.ids == "number"
    if n_vertices is None and own is not None and not numbers:
        n_vertices = own.n_vertices
    without_own = replace(form, own=None)
    return ArcStream(
        lambda: _numbered(path, progress, form, comments),
        directed,
        n_vertices,
        numbers or (None if n_vertices is None and names is not False else False),
        fault=lambda: fault(path, without_own, comments, n_vertices),
    )


def _numbered(path: Path, progress: bool | None, form: LineFormat, comments: tuple[str, ...]) -> Iterator[Block]:
    for table in numbered_tables(path, progress, form, comments):
        weight = None if form.weight is None else table["weight"]
        yield table["source"], table["target"], as_written(path, weight, form)


def _named(
    path: Path,
    progress: bool | None,
    budget: Budget,
    form: LineFormat,
    comments: tuple[str, ...],
    number_of: dict[str, int],
) -> Iterator[Block]:
    letters = known = 0
    for source, target, fields, read in named_edges(path, progress, form, comments, number_of):
        if len(number_of) > known:
            letters, known = letters + read, len(number_of)
            budget.check(known * NAME_BYTES + letters, f"the names of {known} vertices and more of {path}")
        weight = None if form.weight is None else text_weights(path, fields, form, comments)
        ends = np.array(source, dtype=np.int64), np.array(target, dtype=np.int64)
        yield *ends, as_written(path, weight, form)


def matrix_market_stream(path: Path, progress: bool | None, budget: Budget) -> ArcStream:
    """The entries of a Matrix Market file; one of an array, all of them at once."""
    header, blocks = matrix_market_blocks(path, progress, budget)
    return ArcStream(blocks, header.symmetry != "symmetric", header.n, mirrored=True)


def npz_stream(path: Path, progress: bool | None, budget: Budget) -> ArcStream:
    """The entries of a sparse array; of blocks and diagonals, all of them at once."""
    entries = NpzEntries.of(path, progress, budget)
    if entries is None:
        return of_arcs(read_npz(path, progress, budget))
    names = entries.names
    known = None if names is None else lambda: names
    return ArcStream(entries.blocks, entries.directed, entries.n, names=known, mirrored=True)


def of_arcs(arcs: Arcs) -> ArcStream:
    """Arcs that are in memory."""
    return ArcStream(
        lambda: iter([(arcs.source, arcs.target, arcs.weight)]),
        arcs.directed,
        arcs.n_vertices,
        names=None if arcs.names is None else lambda: arcs.names,
        mirrored=arcs.mirrored,
    )


def hpg_stream(path: Path) -> ArcStream:
    """The arcs of an ``.hpg`` file, page by page, each checked."""
    file = GraphFile(path)

    def blocks() -> Iterator[Block]:
        pages = file.pages("out")
        owner, none = pages.indptr, np.empty(0, np.int64)
        # Even no weights have a type.
        yield none, none, None if pages.dtype is None else np.empty(0, pages.dtype)
        for page in range(pages.n_pages):
            begin, end = int(pages.first_arc[page]), int(pages.first_arc[page + 1])
            ids, stored, values = np.empty(end - begin, pages.id_dtype), pages.payload(page), pages.values_of(page)
            pages.check(page, stored)
            pages.check(page, values, values=True)
            decode(pages, page, ids, payload=stored)
            rows = slice(int(pages.first_row[page]), int(pages.last_row[page]) + 1)
            inside = owner[rows.start : rows.stop + 1].clip(begin, end)
            yield np.repeat(np.arange(rows.start, rows.stop), np.diff(inside)), ids, values

    names = file.names if file.named else None
    return ArcStream(blocks, file.header.directed, file.header.n_vertices, names=names, mirrored=True)
