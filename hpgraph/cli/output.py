"""The output of commands: printed tables, and files."""

from __future__ import annotations

import contextlib
import csv
import importlib.util
import io
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING, Any

from hpgraph.core.errors import MissingExtraError

if TYPE_CHECKING:
    from hpgraph.containers.graph import Graph

_LEVELS_SHOWN = 24
_ARROW = (".parquet", ".arrow", ".feather")
_SUFFIXES = (".csv", ".csv.gz", ".npz", *_ARROW)
# Columns that hold vertices, -1 for none.
_VERTICES = ("parent", "mate")


def timed(arguments: Any, call: Callable[[], Any]) -> tuple[Any, str]:
    """The result of a call, and its seconds until the result was ready."""
    from hpgraph.core.device import array_module

    start = time.perf_counter()
    result = call()
    if arguments.device == "cuda":
        array_module("cuda").cuda.get_current_stream().synchronize()
    return result, f"{time.perf_counter() - start:.3g} s with loading the kernels"


def on_cpu(values: Any) -> Any:
    """A result as an array of NumPy's."""
    from hpgraph.core.device import to_device

    return to_device(values, "cpu")


def how_it_ended(result: Any) -> str:
    """Whether an iteration converged, and after how many steps."""
    return f"{'' if result.converged else 'NOT '}converged after {plural(int(result.iterations), 'iteration')}"


def explain(arguments: Any, result: Any) -> None:
    """Print the table of supersteps, if requested."""
    if arguments.explain:
        print(result.trace.explain())


def called(graph: Graph, vertex: int) -> str:
    """The name of a vertex, printable."""
    return printable(vertex if graph.names is None else graph.names[vertex])


def printable(text: Any) -> str:
    """A text without what a terminal would act on: control characters, in names too, as Python writes them."""
    plain = str(text)
    if plain.isprintable():
        return plain
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in plain)


def plural(count: int, noun: str) -> str:
    """A number and what it counts."""
    many = "vertices" if noun == "vertex" else f"{noun}s"
    return f"{count:,} {noun if count == 1 else many}"


def print_levels(reached: Any) -> None:
    """Print how many vertices lie at each distance."""
    import numpy as np

    vertices = np.bincount(reached).tolist()
    print("  steps    vertices")
    left_out = len(vertices) - _LEVELS_SHOWN
    for level, count in enumerate(vertices):
        if left_out > 0 and _LEVELS_SHOWN // 2 <= level < _LEVELS_SHOWN // 2 + left_out:
            if level == _LEVELS_SHOWN // 2:
                print(f"    ...    ({left_out:,} more)")
            continue
        print(f"{level:>7}{count:>12,}")


def show(arguments: Any, graph: Graph, **columns: Any) -> None:
    """Print the vertices of the largest values of each column, and write all to the output file, if any."""
    import numpy as np

    for title, values in columns.items():
        if arguments.top < 1 or values.size == 0:
            break
        # A stable sort: the first vertex wins ties, on every device.
        best = np.argsort(-values, kind="stable")[: arguments.top].tolist()
        labels = [called(graph, vertex) for vertex in best]
        width = max(6, *(len(label) for label in labels))
        form = "{:,}" if values.dtype.kind in "iu" else "{:.6g}"
        print(f"  {'vertex':<{width}}  {title.replace('_', ' ')}")
        for vertex, label in zip(best, labels, strict=True):
            print(f"  {label:<{width}}  {form.format(values[vertex])}")
    save(arguments, graph, **columns)


@contextlib.contextmanager
def any_character() -> Iterator[None]:
    """Context manager: characters outside the encoding of standard output are printed escaped, as by `ascii`."""
    stream = sys.stdout
    if not isinstance(stream, io.TextIOWrapper):
        yield
        return
    before = stream.errors
    stream.reconfigure(errors="backslashreplace")
    try:
        yield
    finally:
        stream.reconfigure(errors=before)


def print_message(text: str) -> None:
    """A line on standard error, if there is one."""
    if sys.stderr is not None:
        print(f"hpgraph: {printable(text)}", file=sys.stderr)


@contextlib.contextmanager
def warnings_in_a_line() -> Iterator[None]:
    """Context manager: a warning is a line on standard error, without a line of code."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: print_message(f"warning: {message}")
        yield


@contextlib.contextmanager
def results_apart(arguments: Any) -> Iterator[None]:
    """Context manager: with ``-o -`` results go to standard output, and messages to standard error."""
    if getattr(arguments, "output", None) != "-":
        yield
        return
    if sys.stdout is None:
        raise ValueError("--output -: standard output is closed")
    arguments.output = sys.stdout
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # as files are
    with contextlib.redirect_stdout(sys.stderr):
        yield
    arguments.output.flush()


def check_output(path: str | IO[str] | None) -> None:
    """Refuse a file that could not be written before the work rather than after it."""
    if not isinstance(path, str):
        return
    if not path.lower().endswith(_SUFFIXES):
        raise ValueError(f"--output {path}: the name must end in {', '.join(_SUFFIXES[:-1])} or {_SUFFIXES[-1]}")
    if path.lower().endswith(_ARROW) and importlib.util.find_spec("pyarrow") is None:
        raise MissingExtraError("pyarrow", "arrow", f"--output {path}")
    from hpgraph.io.replace import check_writable

    check_writable(path)


def save(arguments: Any, graph: Graph, **columns: Any) -> None:
    """Write one row a vertex, by name if there are names; no parent or mate is an empty field."""
    path: str | IO[str] | None = arguments.output
    if path is None:
        return
    import numpy as np

    from hpgraph.io.replace import replacing, replacing_text

    if isinstance(path, str) and path.lower().endswith(".npz"):
        if graph.names is not None:
            # Archives have text of fixed width; NumPy's other text becomes that by way of objects.
            names = graph.names
            columns["names"] = names.astype(object).astype(np.str_) if names.dtype.hasobject else names
        with replacing(path) as file:
            np.savez_compressed(file, **columns)
    elif isinstance(path, str) and path.lower().endswith(_ARROW):
        _save_arrow(path, graph, columns)
    else:
        # Unchanged, "=1+1" too, which a spreadsheet takes for a formula: any reader of CSV restores them.
        labels = list(map(str, range(graph.n_vertices) if graph.names is None else graph.names.tolist()))
        if not isinstance(path, str) and path.isatty():
            labels = list(map(printable, labels))
        lists = [values.tolist() for values in columns.values()]
        for at, title in enumerate(columns):
            if title in _VERTICES:
                lists[at] = ["" if other < 0 else labels[other] for other in lists[at]]
        with replacing_text(path) if isinstance(path, str) else contextlib.nullcontext(path) as text:
            rows = csv.writer(text, lineterminator="\n")
            rows.writerow(["vertex", *columns])
            rows.writerows(zip(labels, *lists, strict=True))
    if isinstance(path, str):
        print(f"written to {path}")


def _save_arrow(path: str, graph: Graph, columns: dict[str, Any]) -> None:
    """A table of Arrow's, in which names keep their type and a vertex that is not there is missing."""
    import numpy as np
    import pyarrow
    from pyarrow import feather, parquet

    from hpgraph.io.replace import replacing

    names = np.arange(graph.n_vertices) if graph.names is None else graph.names
    vertices = pyarrow.array(names.astype(object) if names.dtype.kind not in "iu" else names)
    table = {"vertex": vertices}
    for title, values in columns.items():
        if title in _VERTICES:
            table[title] = vertices.take(pyarrow.array(values, mask=values < 0))
        else:
            table[title] = pyarrow.array(values)
    with replacing(path) as file:
        write = parquet.write_table if path.lower().endswith(".parquet") else feather.write_feather
        write(pyarrow.table(table), file)
