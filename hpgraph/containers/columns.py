"""Columns: values of edges and of vertices beside weights and names: numbers, categories of text, or dates.

A column of edges has one value for each arc in the order of ``out_csr``, so the number of an arc is its index in every
column. Parts of a graph are cut from numbered arcs, and take their columns by number.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from hpgraph.containers import adjacency
from hpgraph.containers.dates import Dates, dates_of
from hpgraph.core.device import (
    anywhere,
    array_module,
    everywhere,
    is_cuda,
    is_sparse_matrix,
    native,
    to_device,
    unmasked,
)
from hpgraph.formats import CSR
from hpgraph.formats.checks import as_value_dtype
from hpgraph.formats.duplicates import Duplicates, run_starts

# Titles with a meaning of their own in tables.
_TAKEN = {"source", "target", "weight", "vertex"}


class Categories(NamedTuple):
    """A column of text: `codes`, an int32 array, -1 where there is no text; `categories`, the text of each code."""

    codes: Any
    categories: Any

    def text(self, codes: Any = None) -> Any:
        """The text of all codes, or of some, in an array of objects; None where there is none."""
        categories = np.append(np.asarray(self.categories, dtype=object), [None])
        return categories[to_device(self.codes if codes is None else codes, "cpu")]


@dataclass(frozen=True)
class Columns:
    """The columns of a graph by title, each an array on its device or `Categories`; not to be written to."""

    edges: Mapping[str, Any] = field(default_factory=dict)
    vertices: Mapping[str, Any] = field(default_factory=dict)

    def cut(self, arcs: Any = None, vertices: Any = None) -> "Columns":
        """The columns of some arcs, by number, and of some vertices; None is all."""
        return Columns(*(
            held if places is None else {title: taken(column, places) for title, column in held.items()}
            for held, places in ((self.edges, arcs), (self.vertices, vertices))
        ))  # fmt: skip

    def to(self, device: str) -> "Columns":
        """The columns on a device."""
        return Columns(moved_to(self.edges, device), moved_to(self.vertices, device))


NO_COLUMNS = Columns()


class Derived(Mapping[str, Any]):
    """Columns of a derived graph, computed when the values of one are first read."""

    def __init__(self, titles: tuple[str, ...], find: Callable[[], dict[str, Any]]) -> None:
        self._titles, self._find = titles, find

    @cached_property
    def _found(self) -> dict[str, Any]:
        return self._find()

    def __getitem__(self, title: str) -> Any:
        return self._found[title]

    def __iter__(self) -> Iterator[str]:
        return iter(self._titles)

    def __contains__(self, title: object) -> bool:
        return title in self._titles

    def __len__(self) -> int:
        return len(self._titles)

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


def values_of(column: Any) -> Any:
    """The numbers of a column: of text its codes, of dates whole numbers of their unit."""
    return column[0] if isinstance(column, Categories | Dates) else column


def with_values(column: Any, values: Any) -> Any:
    """A column of other values, and of the same categories, or unit."""
    return type(column)(values, column[1]) if isinstance(column, Categories | Dates) else values


def taken(column: Any, places: Any) -> Any:
    """Some values of a column, by place or by flag."""
    return with_values(column, values_of(column)[places])


def followed(column: Any, more: Any, count: int, called: str) -> Any:
    """A column followed by `count` values of another, or by missing values if that is None."""
    if not count:
        return column
    values = values_of(column)
    more = _without_any(column, count) if more is None else more
    if _kind(more) != _kind(column):
        # A column without any value is compatible with every type.
        if _is_missing(more):
            more = _without_any(column, count)
        elif _is_missing(column):
            return followed(_without_any(more, len(values)), more, count, called)
        else:
            raise TypeError(f"{called} holds {_kind(column)} in the graph, and {_kind(more)} here")
    xp = array_module(values)
    if isinstance(column, Dates):
        return Dates(xp.concatenate((values, more.in_unit(column.unit, called).values)), column.unit)
    if isinstance(column, Categories):
        texts = list(dict.fromkeys([*column.categories, *more.categories]))
        place = {text: code for code, text in enumerate(texts)}
        codes = xp.asarray([*(place[text] for text in more.categories), -1], dtype=np.int32)[more.codes]
        return Categories(xp.concatenate((values, codes)), _text(texts))
    dtype = np.result_type(values.dtype, more.dtype)
    for part in (values, more):
        rounds = part.dtype.kind in "iu" and dtype.kind == "f"
        if rounds and anywhere(part.astype(dtype).astype(part.dtype) != part):
            raise ValueError(
                f"{called} would become {dtype}, which cannot hold all of its whole numbers: give it whole numbers, "
                "for each edge inserted"
            )
    return xp.concatenate((values, more))


def moved_to(held: Mapping[str, Any], device: str) -> dict[str, Any]:
    """Columns on a device."""
    return {title: with_values(column, to_device(values_of(column), device)) for title, column in held.items()}


def stacked(parts: Iterable[tuple[Mapping[str, Any], int]]) -> dict[str, Any]:
    """Concatenated columns of several parts, each with its number of values; missing where one lacks a title."""
    columns: dict[str, Any] = {}
    before = 0
    for columns_of_part, count in parts:
        for title in dict.fromkeys((*columns, *columns_of_part)):
            column = columns[title] if title in columns else _without_any(columns_of_part[title], before)
            more = columns_of_part.get(title)
            columns[title] = followed(column, more, count, repr(title)) if before else more
        before += count
    return columns


def united(
    ours: Mapping[str, Any], theirs: Mapping[str, Any], counts: tuple[int, int], places: tuple[Any, Any]
) -> dict[str, Any]:
    """Columns of two graphs in one; ``places`` in both graphs' values, of the first's titles and the second's own."""
    joined, own = {}, counts[0]
    for title in dict.fromkeys((*ours, *theirs)):
        place = places[title not in ours]
        behind = place >= own
        # Without missing values, integers stay integers.
        if title in ours and not anywhere(behind):
            joined[title] = taken(ours[title], place)
        elif title in theirs and everywhere(behind):
            joined[title] = taken(theirs[title], place - own)
        else:
            one = ({title: held[title]} if title in held else {} for held in (ours, theirs))
            joined[title] = taken(stacked(zip(one, counts, strict=True))[title], place)
    return joined


def _kind(column: Any) -> str:
    return {Categories: "text", Dates: "dates"}.get(type(column), "numbers")


def _without_any(like: Any, count: int) -> Any:
    """A column of missing values, of the type of another."""
    if isinstance(like, Dates):
        return like.without_any(count)
    xp = array_module(values_of(like))
    return Categories(xp.full(count, -1, np.int32), ()) if isinstance(like, Categories) else xp.full(count, np.nan)


def _is_missing(column: Any) -> bool:
    return _kind(column) == "numbers" and column.dtype.kind == "f" and everywhere(column != column)


def plain_of(column: Any) -> Any:
    """A column as other libraries take it, on the CPU: text as text, dates in NumPy's type."""
    if isinstance(column, Dates):
        return column.plain()
    return column.text() if isinstance(column, Categories) else to_device(column, "cpu")


def listed(column: Any) -> list[Any]:
    """A column as Python's values; None where there is no text, or no date."""
    plain = plain_of(column)
    # NumPy converts nanoseconds to integers.
    return (plain.astype("M8[us]") if plain.dtype.kind == "M" else plain).tolist()


def as_columns(given: Mapping[str, Any] | None, length: int, argument: str, device: str) -> dict[str, Any]:
    """Columns from an argument, checked, on the device; writable arrays are copied."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(f"{argument} must be a dict of titles and values here, not {type(given).__name__}")
    columns = {}
    for title, values in given.items():
        if not isinstance(title, str):
            raise TypeError(f"{argument}: a title must be text, not {title!r}: rename the column")
        if title in _TAKEN:
            raise ValueError(f"{argument}: {title!r} is what tables call another column: rename it")
        column = as_column(values, f"{argument}: {title!r}")
        if values_of(column).shape != (length,):
            what = "vertices" if argument.startswith("vert") else "edges"
            raise ValueError(
                f"{argument}: {title!r} must have a value for each of the {length} {what} given, not shape "
                f"{values_of(column).shape}"
            )
        columns[title] = with_values(column, to_device(values_of(column), device))
    return columns


def as_column(given: Any, called: str) -> Any:
    """A column of numbers or of text, from a column of a table or a sequence."""
    if isinstance(given, Categories):
        return _checked_codes(given.codes, given.categories, called)
    if isinstance(given, Dates):
        return given
    if getattr(getattr(given, "dt", None), "tz", None) is not None:
        given = given.dt.tz_convert("UTC").dt.tz_localize(None)
    if (coded := _coded(given)) is not None:
        return _checked_codes(*coded, called)
    values = native(unmasked(given.to_numpy() if hasattr(given, "to_numpy") else given, called))
    if not is_cuda(values):
        listed = not isinstance(values, np.ndarray) or values.dtype.kind in "OUT"
        values = _of_objects(values, called) if listed else values
    if isinstance(values, Categories | Dates):
        return values
    if values.ndim != 1:
        raise ValueError(f"{called} must be one-dimensional, not of shape {values.shape}")
    if (dates := dates_of(values)) is not None:
        return dates
    if values.dtype.kind == "m":
        raise TypeError(f'{called} holds {values.dtype}: give numbers, as .astype("int64") makes them')
    dtype = as_value_dtype(values.dtype, called, real=True).newbyteorder("=")
    return values.astype(dtype, copy=not is_cuda(values))


def _coded(given: Any) -> tuple[Any, Any] | None:
    """Codes and categories of a categorical column of pandas or a dictionary of Arrow; else None."""
    if hasattr(given, "cat") and hasattr(given.cat, "codes"):
        codes_and_categories = given.cat.codes.to_numpy(), given.cat.categories.to_numpy()
    elif hasattr(given, "combine_chunks") and hasattr(given.type, "index_type"):
        whole = given.unify_dictionaries().combine_chunks()
        whole = whole.combine_chunks() if hasattr(whole, "num_chunks") else whole
        codes = whole.indices.cast("int32").fill_null(-1).to_numpy(zero_copy_only=False)
        codes_and_categories = codes, whole.dictionary.to_numpy(zero_copy_only=False)
    else:
        return None
    return codes_and_categories if all(isinstance(text, str) for text in codes_and_categories[1].tolist()) else None


def _checked_codes(codes: Any, categories: Any, called: str) -> Categories:
    listed = list(categories)
    if not all(isinstance(text, str) for text in listed) or len(set(listed)) < len(listed):
        raise ValueError(f"{called}: categories must be text, each once")
    codes = native(codes)
    if getattr(codes, "ndim", 0) != 1 or codes.dtype.kind not in "iu":
        raise TypeError(f"{called}: codes must be whole numbers in one dimension")
    if codes.size and not (int(codes.min()) >= -1 and int(codes.max()) < len(listed)):
        raise ValueError(f"{called}: codes must lie in -1..{len(listed) - 1}, as many as there are categories")
    return Categories(codes.astype(np.int32), _text(listed))


def _text(listed: list[str]) -> np.ndarray[Any, Any]:
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    array.flags.writeable = False
    return array


def text_column(listed: list[Any]) -> Categories:
    """A column of text from Python values; other values are missing."""
    code_of = {text: code for code, text in enumerate(sorted({value for value in listed if isinstance(value, str)}))}
    codes = [code_of[value] if isinstance(value, str) else -1 for value in listed]
    return Categories(np.array(codes, dtype=np.int32), _text(list(code_of)))


def _of_objects(given: Any, called: str) -> Any:
    """A column of Python values: text, or numbers with NaN for missing ones."""
    try:
        if is_sparse_matrix(given):
            raise TypeError
        listed = given.tolist() if isinstance(given, np.ndarray) and given.ndim == 1 else list(given)
        present = [value for value in listed if value is not None and value == value]
    except (TypeError, ValueError):  # rows that are arrays have no single truth value
        raise TypeError(f"{called} must be an array, or a sequence, of numbers or of text") from None
    if present and all(isinstance(value, str) for value in present):
        return text_column(listed)
    if (dates := dates_of(listed)) is not None:
        return dates
    try:
        values = np.array([np.nan if value is None else value for value in listed] if listed else np.empty(0))
    except ValueError:  # sequences of several lengths
        values = np.empty(0, object)
    if values.dtype.kind not in "biuf" or any(isinstance(value, str) for value in present):
        unfit = (one for one in present if hasattr(one, "__len__") or np.asarray(one).dtype.kind not in "biuf")
        raise TypeError(f"{called} must hold numbers, text or dates, and not objects such as {next(unfit, None)!r}")
    return values


def of_rows(
    csr: CSR, ends: tuple[Any, Any], weight: Any, columns: dict[str, Any], both_ways: bool,
    duplicates: Duplicates | None,
) -> dict[str, Any]:  # fmt: skip
    """Columns of the arcs of a matrix: those of the row whose weight was kept, or sums over an arc's rows."""
    if duplicates == "sum":
        return {title: _summed(csr, ends, title, column, both_ways) for title, column in columns.items()}
    rows = _rows_kept(csr, ends, weight, both_ways, duplicates)
    return {title: taken(column, rows) for title, column in columns.items()}


def _rows_kept(csr: CSR, ends: tuple[Any, Any], weight: Any, both_ways: bool, duplicates: Duplicates | None) -> Any:
    """The number of the row that each arc of a matrix was taken from."""
    xp = array_module(csr.device)
    every = _built(csr, ends, xp.arange(len(ends[0]), dtype=np.int64), both_ways, "keep")
    rows = every.data
    if every.nnz == csr.nnz:
        return rows
    first = run_starts(every.expand_rows(), every.indices)
    if weight is None or duplicates == "first":
        return rows[first]
    # Rows of an arc whose weight equals the one that was kept; NaN equals NaN.
    arc, weights = xp.cumsum(first) - 1, xp.asarray(weight)[rows]
    kept_weights = csr.data[arc]
    rows, arc = (
        array[(weights == kept_weights) | ((weights != weights) & (kept_weights != kept_weights))]
        for array in (rows, arc)
    )
    return rows[run_starts(arc)]


def adds_up(column: Any) -> bool:
    """Whether a column holds numbers, which can be summed."""
    return _kind(column) == "numbers" and column.dtype.kind != "b"


def _summed(csr: CSR, ends: tuple[Any, Any], title: str, column: Any, both_ways: bool) -> Any:
    if not adds_up(column):
        holds = "bool" if _kind(column) == "numbers" else _kind(column)
        raise TypeError(
            f'columns: {title!r} holds {holds}, which duplicates="sum" cannot add up: give "min", "max" or "first", '
            "which keep a row, or leave the column out"
        )
    return _built(csr, ends, column, both_ways, "sum").data


def _built(csr: CSR, ends: tuple[Any, Any], values: Any, both_ways: bool, duplicates: Duplicates) -> CSR:
    """The same arcs, or edges between vertices of two kinds, with other values."""
    if csr.shape[0] != csr.shape[1]:
        return CSR.from_coo(*ends, values, csr.shape, duplicates=duplicates, copy=False)
    return adjacency.from_arcs(
        *ends, values, csr.shape[0], both_ways=both_ways, duplicates=duplicates, sparse=True, copy=False
    )


def alike_both_ways(csr: CSR, columns: Mapping[str, Any], multigraph: bool) -> bool:
    """Whether every arc has its reverse, and every column the same value for both."""
    return all(
        adjacency.is_symmetric(csr.with_data(values_of(column), copy=False), multigraph) for column in columns.values()
    )
