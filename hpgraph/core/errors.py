"""Errors, one class a cause; each is also the built-in exception that fits.

``except ValueError`` or ``except MemoryError`` therefore works without knowing hpgraph, and ``except HpgraphError``
catches every error of the library. Bad arguments raise plain `ValueError`, `TypeError` or `IndexError`.
"""

import importlib
import os
from typing import Any


class HpgraphError(Exception):
    """Base of the library's own exceptions."""

    def __reduce__(self) -> Any:
        # Bypasses the constructor, whose arguments are not the message; attributes are restored from the dict.
        return type(self).__new__, (type(self), *self.args), vars(self)


class MissingExtraError(ImportError, HpgraphError):
    """An optional dependency is not installed: the missing `package`, the `extra` that installs it, what needed it.

    Examples
    --------
    >>> raise MissingExtraError("matplotlib", "plot", "drawing a trace")
    Traceback (most recent call last):
    ...
    hpgraph.core.errors.MissingExtraError: drawing a trace needs matplotlib: pip install 'hpgraph[plot]'
    """

    def __init__(self, package: str, extra: str, purpose: str = "this feature") -> None:
        super().__init__(f"{purpose} needs {package}: pip install 'hpgraph[{extra}]'", name=package)
        self.package = package
        self.extra = extra

    def __reduce__(self) -> Any:
        return type(self).__new__, (type(self), *self.args), {**vars(self), "name": self.name, "msg": self.msg}


def optional(module: str, extra: str, purpose: str) -> Any:
    """An optional module, imported; MissingExtraError where it, or a package that it imports, is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError((error.name or module).partition(".")[0], extra, purpose) from None


class DeviceError(RuntimeError, HpgraphError):
    """The requested device is missing or unusable."""


class DeviceMemoryError(MemoryError, HpgraphError):
    """An allocation of `what` would not fit on a `device`, in bytes `needed` and `free`; raised before any is made.

    Examples
    --------
    >>> str(DeviceMemoryError("the HYB matrix", 3 << 30, 1 << 30, "cuda"))
    'the HYB matrix needs 3.0 GiB on cuda and 1.0 GiB is free'
    """

    def __init__(self, what: str, needed: int, free: int, device: str, allowed: str = "is free") -> None:
        super().__init__(f"{what} needs {readable(needed)} on {device} and {readable(free)} {allowed}")
        self.what = what
        self.needed = needed
        self.free = free
        self.device = device


class OutOfBoundsError(IndexError, HpgraphError):
    """A `function` of a program, or one that an operation was given, indexes an array out of its bounds.

    Examples
    --------
    >>> str(OutOfBoundsError("BFS.gather"))
    'BFS.gather() indexes an array or a tuple out of its bounds: an index is at least -len(a) and less than len(a)'
    """

    def __init__(self, function: str) -> None:
        super().__init__(
            f"{function}() indexes an array or a tuple out of its bounds: an index is at least -len(a) and less than "
            "len(a)"
        )
        self.function = function


class BudgetError(ValueError, HpgraphError):
    """A memory budget does not suffice; raised before anything is read, with the least that does."""


class StreamingError(ValueError, HpgraphError):
    """The algorithm needs the whole topology in memory, and the graph's topology is elsewhere."""


class NegativeCycleError(ValueError, HpgraphError):
    """A cycle of negative total weight is reachable from the source, so distances have no minimum."""


class NoPathError(ValueError, HpgraphError):
    """No path leads from one vertex to the other."""


class FileFormatError(ValueError, HpgraphError):
    """A file at `path` does not fit its format, for a `reason`, at a `line` counted from 1 if known.

    Examples
    --------
    >>> str(FileFormatError("web.mtx", "3 columns expected, 2 found", line=17))
    'web.mtx, line 17: 3 columns expected, 2 found'
    """

    def __init__(self, path: str | os.PathLike[str], reason: str, line: int | None = None) -> None:
        place = os.fspath(path) if line is None else f"{os.fspath(path)}, line {line}"
        super().__init__(f"{place}: {reason}")
        self.path = os.fspath(path)
        self.line = line


class DamagedPageError(FileFormatError):
    """A `page` of a graph, of its first and last of `rows`, does not hold what it held when it was written.

    Examples
    --------
    >>> str(DamagedPageError("web.hpg, out-arcs", 7, (120, 144), "the stored ids do not have their checksum"))
    'web.hpg, out-arcs, page 7 (rows 120 to 144): the stored ids do not have their checksum'
    """

    def __init__(self, path: str | os.PathLike[str], page: int, rows: tuple[int, int], reason: str) -> None:
        super().__init__(f"{os.fspath(path)}, page {page} (rows {rows[0]} to {rows[1]})", reason)
        self.page = page
        self.rows = rows


class CompileError(TypeError, HpgraphError):
    """A user's Python `function` cannot be compiled for the device; `reason` is what its author can act on.

    Examples
    --------
    >>> str(CompileError("gather", "dict literals are not supported on the GPU"))
    'gather() cannot be compiled: dict literals are not supported on the GPU'
    """

    def __init__(self, function: str, reason: str) -> None:
        super().__init__(f"{function}() cannot be compiled: {reason}")
        self.function = function
        self.reason = reason


class ConvergenceWarning(UserWarning):
    """An iteration stopped at its limit before it reached its tolerance."""


class DuplicateEdgesWarning(UserWarning):
    """Edges were given more than once with different weights: the least was kept, as `duplicates` was not given."""


class SparseIdsWarning(UserWarning):
    """Ids were taken for indices and leave nearly all indices up to the largest without an edge."""


def readable(nbytes: int) -> str:
    """A number of bytes with a binary unit."""
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if nbytes >= size:
            return f"{nbytes / size:.1f} {unit}"
    return f"{nbytes} bytes"
