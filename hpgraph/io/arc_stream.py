"""The arcs of a file in batches, for any format, for readers that must not hold all of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hpgraph.containers.names import as_names
from hpgraph.core.errors import FileFormatError
from hpgraph.io.arc_sorter import join_weights
from hpgraph.io.arcs import Arcs, Array, NameNumbers, in_order, is_sparse
from hpgraph.io.hpg_reader import GraphFile
from hpgraph.io.memory import Budget
from hpgraph.kernels.pages import content

Block = tuple[Array, Array, Array | None]
# Bytes of an arc at the peak: ids and weight in blocks, and all of them joined.
_ARC_BYTES = 48


@dataclass(frozen=True)
class ArcStream:
    """The contents of a file, and its arcs in batches.

    ``blocks`` (function): starts over in each call: sources, targets and weights of some arcs, of others, and so on;
    ``directed`` (bool or None): from the file; None if it is determined by the arcs; ``n_vertices`` (int or None): None
    is one more than the largest id; ``relabel`` (bool or None): whether ids are names: numbers that become indices in
    ascending order. None is if half of them would be unused; ``names`` (function or None): returns the names of
    vertices, after all blocks; ``mirrored`` (bool): as of `Arcs`; ``fault`` (function or None): makes the error for an
    id that is out of range, with its line; ``number_of`` (NameNumbers or None): names that were read so far.
    """

    blocks: Callable[[], Iterator[Block]]
    directed: bool | None
    n_vertices: int | None = None
    relabel: bool | None = False
    names: Callable[[], Any] | None = None
    fault: Callable[[], FileFormatError] | None = None
    mirrored: bool = False
    number_of: NameNumbers | None = None


def joined(path: Path, stream: ArcStream, budget: Budget) -> Arcs:
    """All arcs of a file, with ids that are vertex numbers."""
    parts: list[Any] = []
    count = 0
    for block in stream.blocks():
        parts.append(block)
        count += len(block[0])
        names = 0 if stream.number_of is None else stream.number_of.nbytes
        budget.check(count * _ARC_BYTES + names, f"reading {count} edges and more of {path}")
    none = np.empty(0, np.int64)
    source, target = (np.concatenate([block[end] for block in parts]) if parts else none for end in (0, 1))
    weight = join_weights([block[2] for block in parts]) if parts and parts[0][2] is not None else None
    n, directed, mirrored = stream.n_vertices, stream.directed is not False, stream.mirrored
    if stream.names is not None:
        names = stream.names()
        return Arcs(source, target, weight, len(names), directed, names, mirrored)
    least = min(int(source.min(initial=0)), int(target.min(initial=0)))
    largest = max(int(source.max(initial=-1)), int(target.max(initial=-1)))
    sparse = stream.relabel is None and source.size and least >= 0 and is_sparse(source, target, largest)
    if stream.relabel or sparse:
        source, target, ids = in_order(source, target)
        return Arcs(source, target, weight, ids.size, directed, ids, mirrored)
    if least < 0 or (n is not None and largest >= n):
        if stream.fault is not None:
            raise stream.fault()
        raise FileFormatError(path, f"vertex {least if least < 0 else largest} is not in 0..{(n or largest + 1) - 1}")
    return Arcs(source, target, weight, largest + 1 if n is None else n, directed, None, mirrored)


def of_arcs(arcs: Arcs) -> ArcStream:
    """Arcs that are in memory."""
    names = None if arcs.names is None else distinct(lambda: arcs.names, arcs.n_vertices)
    block = arcs.source, arcs.target, arcs.weight
    return ArcStream(lambda: iter([block]), arcs.directed, arcs.n_vertices, names=names, mirrored=arcs.mirrored)


def distinct(read: Callable[[], Any], n: int) -> Callable[[], Any]:
    """`ArcStream.names` of a file that holds names of n vertices; an error where two are the same."""

    def names() -> Any:
        found = read()
        as_names(found, n)
        return found

    return names


def hpg_stream(path: Path) -> ArcStream:
    """The arcs of an ``.hpg`` file, page by page, each checked."""
    file = GraphFile(path)
    file.require_simple("what is converted from it")

    def blocks() -> Iterator[Block]:
        pages = file.pages("out")
        owner, none = pages.indptr, np.empty(0, np.int64)
        # An empty block conveys the dtype of the weights.
        yield none, none, None if pages.dtype is None else np.empty(0, pages.dtype)
        for page in range(pages.n_pages):
            begin, end = int(pages.first_arc[page]), int(pages.first_arc[page + 1])
            ids, values = content(pages, page)
            rows = slice(int(pages.first_row[page]), int(pages.last_row[page]) + 1)
            inside = owner[rows.start : rows.stop + 1].clip(begin, end)
            yield np.repeat(np.arange(rows.start, rows.stop), np.diff(inside)), ids, values

    names = distinct(file.names, file.header.n_vertices) if file.named else None
    return ArcStream(blocks, file.header.directed, file.header.n_vertices, names=names, mirrored=True)
