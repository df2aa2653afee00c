"""Tables of arcs in Parquet, Arrow and Feather files, by pyarrow; metadata hold the rest of a graph."""

import functools
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hpgraph.containers.columns import Categories, as_column, plain_of
from hpgraph.containers.graph import Graph
from hpgraph.core.config import config
from hpgraph.core.errors import FileFormatError, optional
from hpgraph.core.progress import progress_bar
from hpgraph.io.arc_stream import ArcStream, Block, joined
from hpgraph.io.arcs import Arcs, Array, NameNumbers, plain_names
from hpgraph.io.arrow_sizes import largest_batch
from hpgraph.io.line_format import arc_columns
from hpgraph.io.memory import Budget
from hpgraph.io.parquet_sizes import group_sizes
from hpgraph.io.replace import replacing

ARROW = (".parquet", ".arrow", ".feather")
"""Suffixes of such files."""

# Metadata key of `hpgraph.write`, and rows of a batch, in reading and writing.
_OWN, _ROWS = b"hpgraph", 1 << 17
_BUFFER = 1 << 16
_INT64_MAX = 2**63 - 1
# Bytes a string, in addition to its characters.
_TEXT_BYTES = 60


def arrow_stream(
    path: Path, progress: bool | None, budget: Budget, *, n_vertices: int | None, names: bool | None
) -> ArcStream:
    """The rows of a table in ``.parquet``, ``.arrow`` or ``.feather`` as arcs."""
    pyarrow = optional("pyarrow", "arrow", f"reading {path.suffix} files")
    try:
        with closing(_Table(path)) as table:
            schema, metadata = table.schema, table.schema.metadata or {}
            columns = [schema.names[place] for place in arc_columns(path, schema.names)]
            text = [_is_text(schema.field(name).type) for name in columns[:2]]
            for name in columns:
                _check_kind(path, name, schema.field(name).type)
            held = table.largest(columns)
    except (pyarrow.ArrowException, OSError) as error:
        raise _error_of(path, error) from None
    budget.check(held, f"a batch of rows of {path}, decompressed,")
    own = table_metadata(path, metadata)
    directed = own.get("directed", True)
    if any(text) != all(text):
        raise FileFormatError(path, f"{columns[0]} and {columns[1]} must both be text or both whole numbers")
    if names and n_vertices is not None:
        raise ValueError(f"n_vertices is for ids that are vertex numbers, and those of {path} are names: leave it out")
    if all(text):
        if names is False or n_vertices is not None:
            raise ValueError(f"the vertices of {path} have names that are text: leave names and n_vertices out")
        number_of = NameNumbers()
        blocks = functools.partial(_blocks, path, columns, progress, budget, own.get("weight"), number_of)
        return ArcStream(blocks, directed, names=lambda: list(number_of), number_of=number_of)
    n = own.get("n_vertices") if n_vertices is None else n_vertices
    relabel = True if names or own.get("ids") == "number" else None if n is None and names is None else False
    blocks = functools.partial(_blocks, path, columns, progress, budget, own.get("weight"))
    return ArcStream(blocks, directed, n, relabel)


def _error_of(path: Path, error: Exception) -> Exception:
    """Errors of the operating system unchanged; pyarrow's errors about the content as errors of the format."""
    if isinstance(error, OSError) and error.errno is not None:
        return error
    return FileFormatError(path, f"no whole {path.suffix} file ({error})")


def table_metadata(path: Path | str, metadata: dict[bytes, bytes]) -> dict[str, Any]:
    """The metadata that `hpgraph.write` added to a table; empty for other tables."""
    try:
        notes = json.loads(metadata.get(_OWN, b"{}"))
        n, directed = notes.get("n_vertices", 0), notes.get("directed", True)
        weight = np.dtype(notes.get("weight", "f8"))
        fits = isinstance(n, int) and n >= 0 and isinstance(directed, bool) and weight.kind in "biuf"
    except (ValueError, TypeError, AttributeError):
        fits = False
    if not fits:
        raise FileFormatError(path, "its hpgraph metadata were not written by hpgraph")
    return notes  # type: ignore[no-any-return]


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    kind = kind.value_type if types.is_dictionary(kind) else kind
    return types.is_string(kind) or types.is_large_string(kind)  # type: ignore[no-any-return]


def _check_kind(path: Path, name: str, kind: Any) -> None:
    """Refuse columns that are neither numeric nor text: values of other types may be as long as the file says."""
    from pyarrow import types

    inner = kind.value_type if types.is_dictionary(kind) else kind
    if not (types.is_primitive(inner) or types.is_null(inner) or _is_text(inner)):
        raise FileFormatError(path, f"column {name} holds {kind}, not numbers or text")


class _Table:
    """A Parquet or Arrow file, read rather than memory-mapped: truncating a mapped file would kill the process."""

    def __init__(self, path: Path, columns: list[str] | None = None, text: Sequence[str] = ()) -> None:
        """Of all columns, or of some; of text as dictionaries, since a long name may be that of many rows."""
        self._path = path
        self._parquet: Any = None
        self._reader: Any = None
        self.rows = None
        if path.suffix.lower() == ".parquet":
            import pyarrow.parquet

            self._parquet = pyarrow.parquet.ParquetFile(path, buffer_size=_BUFFER, read_dictionary=list(text))
            self.schema, self.rows = self._parquet.schema_arrow, self._parquet.metadata.num_rows
            return
        import pyarrow.ipc

        self._file = pyarrow.OSFile(str(path))
        try:
            self._reader = pyarrow.ipc.open_file(self._file)
            self.schema = self._reader.schema
            if columns is not None:
                places = [self.schema.names.index(name) for name in columns]
                options = pyarrow.ipc.IpcReadOptions(included_fields=places)
                self._reader = pyarrow.ipc.open_file(self._file, options=options)
        except BaseException:
            self._file.close()
            raise

    def largest(self, columns: list[str]) -> int:
        """Bytes of the largest piece that a batch of rows is made of, decompressed, as its parts say themselves."""
        with self._path.open("rb") as file:
            if self._parquet is None:
                return largest_batch(file)
            schema = self._parquet.schema
            places = [place for place in range(len(schema)) if schema.column(place).path in columns]
            return max(group_sizes(file, places), default=0)

    def batches(self, columns: list[str]) -> Iterator[Any]:
        """Some rows of some columns at a time, each checked: offsets in a file may lead anywhere."""
        if self._parquet is not None:
            found = self._parquet.iter_batches(batch_size=_ROWS, columns=columns, use_threads=False)
        else:
            found = (self._reader.get_batch(number) for number in range(self._reader.num_record_batches))
        for batch in found:
            batch.validate(full=True)
            yield batch

    def close(self) -> None:
        (self._file if self._parquet is None else self._parquet).close()


def _blocks(
    path: Path, columns: list[str], progress: bool | None, budget: Budget, weight: str | None,
    number_of: NameNumbers | None = None,
) -> Iterator[Block]:  # fmt: skip
    import pyarrow

    rows = 0
    show = config.show_progress() if progress is None else bool(progress)
    text = () if number_of is None else columns[:2]
    with closing(_Table(path, columns, text)) as table, progress_bar(
        total=table.rows, desc=f"reading {path.name}", unit="rows", unit_scale=True, disable=not show, delay=1.0
    ) as bar:  # fmt: skip
        try:
            for batch in table.batches(columns):
                found = [batch.column(name) for name in columns]
                for name, column in zip(columns, found, strict=True):
                    if column.null_count:
                        raise FileFormatError(path, f"column {name} has rows without a value")
                values = _numbers(path, found[2], columns[2]) if len(found) > 2 else None
                if number_of is None:
                    ends = [_ids(path, column, name) for column, name in zip(found[:2], columns, strict=False)]
                else:
                    ends = _numbered(path, found[:2], number_of, budget)
                yield ends[0], ends[1], values
                rows += len(batch)
                bar.update(len(batch))
        except (pyarrow.ArrowException, OSError) as error:
            raise _error_of(path, error) from None
    if not rows and weight is not None:
        # An empty block conveys the dtype of the weights.
        none = np.empty(0, np.int64)
        yield none, none, np.empty(0, weight)


def _numbers(path: Path, column: Any, name: str) -> Array:
    array: Array = column.to_numpy(zero_copy_only=False)
    if array.dtype.kind not in "biuf":
        raise FileFormatError(path, f"column {name} holds {column.type}, not numbers")
    return array


def _ids(path: Path, column: Any, name: str) -> Array:
    array = _numbers(path, column, name)
    if array.dtype.kind not in "iu":
        raise FileFormatError(
            path, f"vertices are whole numbers or text, and a column of them, {name}, holds {column.type}"
        )
    if array.dtype == np.uint64:
        largest = int(array.max(initial=0))
        if largest > _INT64_MAX:
            raise FileFormatError(path, f"vertex {largest} of column {name} does not fit 64 bits with a sign")
        return array.astype(np.int64)
    return array


def _numbered(path: Path, columns: list[Any], number_of: NameNumbers, budget: Budget) -> list[Array]:
    """The numbers of names, in the order in which they come, row by row."""
    import pyarrow

    coded = [c if pyarrow.types.is_dictionary(c.type) else c.dictionary_encode() for c in columns]
    # Codes of the second dictionary follow those of the first.
    first = len(coded[0].dictionary)
    places = [one.indices.to_numpy(zero_copy_only=False).astype(np.int64) for one in coded]
    rows = np.column_stack([places[0], places[1] + first]).ravel()
    codes, begins, inverse = np.unique(rows, return_index=True, return_inverse=True)
    texts: list[str] = []
    for one, codes_of_one in zip(coded, (codes[codes < first], codes[codes >= first] - first), strict=True):
        held = one.dictionary.take(pyarrow.array(codes_of_one))
        if held.null_count:
            raise FileFormatError(path, "a column of names has rows without a value")
        # Most of them may be known.
        pending = len(codes_of_one) * _TEXT_BYTES + 2 * held.nbytes
        budget.check(number_of.nbytes + pending, f"names in a batch of rows of {path}")
        texts += held.to_pylist()
    numbers = np.empty(len(codes), np.int64)
    for code in np.argsort(begins).tolist():
        known = len(number_of)
        numbers[code] = number = number_of[texts[code]]
        if number == known:
            number_of.text_bytes += 2 * sys.getsizeof(texts[code])
    budget.check(number_of.nbytes, f"the names of {len(number_of)} vertices and more of {path}")
    return list(numbers[inverse].reshape(-1, 2).T)


def read_arrow(path: Path, progress: bool | None, budget: Budget, *, columns: Any = None, **options: Any) -> Arcs:
    """A `Reader` with the further parameters of `arrow_stream`, and titles of further columns. It needs pyarrow."""
    arcs = joined(path, arrow_stream(path, progress, budget, **options), budget)
    return replace(arcs, columns=_further(path, columns, budget))


def _further(path: Path, columns: Any, budget: Budget) -> dict[str, Any]:
    """Further columns of a table; None for those that `write_arrow` wrote."""
    import pyarrow

    try:
        with closing(_Table(path)) as table:
            schema = table.schema
        chosen = {schema.names[place] for place in arc_columns(path, schema.names)}
        if columns is None:
            columns = table_metadata(path, schema.metadata or {}).get("columns", [])
        titles = [title for title in schema.names if title not in chosen] if columns is True else list(columns)
        for title in titles:
            if title not in schema.names:
                raise ValueError(
                    f"columns: {path} has no column {title!r}; it has {', '.join(map(repr, schema.names))}"
                )
            _check_kind(path, title, schema.field(title).type)
        if not titles:
            return {}
        with closing(_Table(path, titles)) as table:
            budget.check(table.largest(titles), f"a batch of rows of {path}, decompressed,")
            batches = []
            for batch in table.batches(titles):
                batches.append(batch.select(titles))
                budget.check(2 * sum(one.nbytes for one in batches), f"the columns of {path}")
        held = pyarrow.Table.from_batches(batches) if batches else schema.empty_table().select(titles)
        return {title: as_column(held[title], f"column {title!r} of {path}") for title in titles}
    except (pyarrow.ArrowException, OSError) as error:
        raise _error_of(path, error) from None


def _as_arrow(column: Any) -> Any:
    """A column as Arrow has it: text as a dictionary."""
    import pyarrow

    if not isinstance(column, Categories):
        return pyarrow.array(plain_of(column))
    codes = pyarrow.array(column.codes, mask=column.codes < 0)
    return pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array(list(column.categories), pyarrow.string()))


def write_arrow(graph: Graph, path: Path) -> None:
    """A `Writer` of a table: an undirected edge once; with names no vertex without an edge. It needs pyarrow."""
    pyarrow = optional("pyarrow", "arrow", f"writing {path.suffix} files")
    arcs = Arcs.of(graph).each_edge_once()
    notes: dict[str, Any] = {"directed": arcs.directed, "ids": "index", "n_vertices": arcs.n_vertices}
    ends: list[Any] = [arcs.source, arcs.target]
    if (known := plain_names(arcs.names, path)) is not None:
        notes = {"directed": arcs.directed, "ids": "number" if known.dtype.kind in "iu" else "name"}
        try:
            called = pyarrow.array(known.astype(object) if known.dtype.kind not in "iu" else known)
        except UnicodeEncodeError:
            raise ValueError(f"{path}: names there hold no half of a surrogate pair; .hpg holds any text") from None
        ends = [called.take(pyarrow.array(end)) for end in ends]
    columns = {"source": ends[0], "target": ends[1]}
    if arcs.weight is not None:
        columns["weight"], notes["weight"] = arcs.weight, arcs.weight.dtype.str
    if arcs.columns:
        notes["columns"] = list(arcs.columns)
        columns |= {title: _as_arrow(column) for title, column in arcs.columns.items()}
    table = pyarrow.table(columns).replace_schema_metadata({_OWN: json.dumps(notes)})
    with replacing(path) as file:
        if path.suffix.lower() == ".parquet":
            optional("pyarrow.parquet", "arrow", "writing .parquet files").write_table(table, file, compression="zstd")
        else:
            with pyarrow.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table, max_chunksize=_ROWS)
