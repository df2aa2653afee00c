"""Tables of arcs in Parquet and Arrow files, read some rows at a time by pyarrow, which is an optional extra."""

from __future__ import annotations

import functools
import itertools
import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from hpgraph.core.config import config
from hpgraph.core.errors import FileFormatError, MissingExtraError
from hpgraph.core.progress import progress_bar
from hpgraph.io.arc_stream import ArcStream, Block
from hpgraph.io.arcs import Array
from hpgraph.io.edge_list import NAME_BYTES
from hpgraph.io.line_format import arc_columns
from hpgraph.io.memory import Budget

ARROW = (".parquet", ".arrow", ".feather")
"""Suffixes of such files."""

OWN = b"hpgraph"
"""Under which metadata `hpgraph.write` says what a table cannot."""

_ROWS = 1 << 17


def arrow_stream(
    path: Path, progress: bool | None, budget: Budget, *, n_vertices: int | None, names: bool | None
) -> ArcStream:
    """The rows of a table as arcs.

    Parameters
    ----------
    path : pathlib.Path
        ``.parquet``, or ``.arrow`` and ``.feather``, Arrow's own files.
    progress, n_vertices, names
        As for `hpgraph.read`. Columns of text hold names.
    budget : Budget
        What names may take of the memory.

    Returns
    -------
    ArcStream

    Raises
    ------
    MissingExtraError
        Without pyarrow.
    FileFormatError
        Where it is no such file, or no table of arcs.
    """
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError("pyarrow", "arrow", f"reading {path.suffix} files") from None
    try:
        with closing(_Table(path)) as table:
            columns, metadata = _columns(path, table.schema), table.schema.metadata or {}
            kinds = [table.schema.field(name).type for name in columns[:2]]
            text = [pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind) for kind in kinds]
    except (pyarrow.ArrowException, OSError) as error:
        raise _said(path, error) from None
    own = said_beside(path, metadata)
    directed = own.get("directed", True)
    if any(text) != all(text):
        raise FileFormatError(path, f"{columns[0]} and {columns[1]} must both be text or both whole numbers")
    if all(text):
        if names is False or n_vertices is not None:
            raise ValueError(f"the vertices of {path} have names that are text: leave names and n_vertices out")
        number_of: defaultdict[str, int] = defaultdict(itertools.count().__next__)
        blocks = functools.partial(_blocks, path, columns, progress, budget, own.get("weight"), number_of)
        return ArcStream(blocks, directed, names=lambda: list(number_of))
    n = own.get("n_vertices") if n_vertices is None else n_vertices
    relabel = True if names or own.get("ids") == "number" else None if n is None and names is None else False
    blocks = functools.partial(_blocks, path, columns, progress, budget, own.get("weight"))
    return ArcStream(blocks, directed, n, relabel)


def _said(path: Path, error: Exception) -> Exception:
    """What the machine said of a file, as it is; what pyarrow said of its content, as an error of the format."""
    if isinstance(error, OSError) and error.errno is not None:
        return error
    return FileFormatError(path, f"no whole {path.suffix} file ({error})")


def said_beside(path: Path | str, metadata: dict[bytes, bytes]) -> dict[str, Any]:
    """What `hpgraph.write` said beside a table; nothing where it did not write it.

    Parameters
    ----------
    path : pathlib.Path or str
        For errors.
    metadata : dict
        Of the table's schema.

    Returns
    -------
    dict
        Perhaps with "directed", "n_vertices", "weight" (a type), and what "ids" are: "index", "number" or "name".

    Raises
    ------
    FileFormatError
        Where somebody else wrote under our name.
    """
    try:
        said = json.loads(metadata.get(OWN, b"{}"))
        n, directed, weight = said.get("n_vertices", 0), said.get("directed", True), np.dtype(said.get("weight", "f8"))
        fits = isinstance(n, int) and n >= 0 and isinstance(directed, bool) and weight.kind in "biuf"
    except (ValueError, TypeError, AttributeError):
        fits = False
    if not fits:
        raise FileFormatError(path, "its metadata under hpgraph are none that hpgraph writes")
    return said  # type: ignore[no-any-return]


def _columns(path: Path, schema: Any) -> list[str]:
    """Names of the columns of source, target and, where there is one, weight."""
    return [schema.names[place] for place in arc_columns(path, schema.names)]


class _Table:
    """A file of pyarrow's, whichever of the two it is."""

    def __init__(self, path: Path) -> None:
        if path.suffix.lower() == ".parquet":
            import pyarrow.parquet

            self._parquet = pyarrow.parquet.ParquetFile(path)
            self.schema = self._parquet.schema_arrow
            self.rows = self._parquet.metadata.num_rows
            return
        import pyarrow.ipc

        self._parquet = None
        self._mapped = pyarrow.memory_map(str(path))
        self._reader = pyarrow.ipc.open_file(self._mapped)
        self.schema = self._reader.schema
        self.rows = None

    def batches(self, columns: list[str]) -> Iterator[Any]:
        """Some rows of some columns at a time."""
        if self._parquet is not None:
            yield from self._parquet.iter_batches(batch_size=_ROWS, columns=columns)
            return
        for number in range(self._reader.num_record_batches):
            yield self._reader.get_batch(number).select(columns)

    def close(self) -> None:
        (self._mapped if self._parquet is None else self._parquet).close()


def _blocks(
    path: Path, columns: list[str], progress: bool | None, budget: Budget, weight: str | None,
    number_of: dict[str, int] | None = None,
) -> Iterator[Block]:  # fmt: skip
    import pyarrow

    rows = known = letters = 0
    show = config.show_progress() if progress is None else bool(progress)
    with closing(_Table(path)) as table, progress_bar(
        total=table.rows, desc=f"reading {path.name}", unit="rows", unit_scale=True, disable=not show, delay=1.0
    ) as bar:  # fmt: skip
        try:
            for batch in table.batches(columns):
                arrays = [_array(path, batch.column(name), name, number_of is None) for name in columns]
                if number_of is not None:
                    # In the order in which they come, row by row.
                    numbers = [number_of[name] for ends in zip(*arrays[:2], strict=True) for name in ends]
                    letters += sum(map(len, itertools.islice(number_of, known, None)))
                    known = len(number_of)
                    budget.check(known * NAME_BYTES + letters, f"the names of {known} vertices and more of {path}")
                    arrays[0], arrays[1] = np.array(numbers, dtype=np.int64).reshape(-1, 2).T
                yield arrays[0], arrays[1], arrays[2] if len(arrays) > 2 else None
                rows += len(batch)
                bar.update(len(batch))
        except (pyarrow.ArrowException, OSError) as error:
            raise _said(path, error) from None
    if not rows and weight is not None:
        # Even no weights have a type.
        none = np.empty(0, np.int64)
        yield none, none, np.empty(0, weight)


def _array(path: Path, column: Any, name: str, numbers: bool) -> Array:
    if column.null_count:
        raise FileFormatError(path, f"column {name} has rows without a value")
    array: Array = column.to_numpy(zero_copy_only=False)
    if numbers and array.dtype.kind not in "biuf":
        raise FileFormatError(path, f"column {name} holds {column.type}, not numbers")
    return array
