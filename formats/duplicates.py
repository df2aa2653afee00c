"""Combination of several entries with the same row and column."""

from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np

from hpgraph.core.caller import warn_caller
from hpgraph.core.device import anywhere, array_module
from hpgraph.core.errors import DuplicateEdgesWarning

Duplicates = Literal["sum", "min", "max", "first", "keep", "error"]
CHOICES: tuple[str, ...] = get_args(Duplicates)


def checked_duplicates(duplicates: Any, data: Any = None) -> Any:
    """One of `CHOICES`, or None, which is "min" with a warning if values of duplicates differ."""
    if duplicates is not None and not (isinstance(duplicates, str) and duplicates in CHOICES):
        raise ValueError(f'duplicates must be {", ".join(map(_quoted, CHOICES[:-1]))} or "error", not {duplicates!r}')
    if duplicates not in ("sum", "first", "keep", "error") and getattr(getattr(data, "dtype", None), "kind", "") == "c":
        rule = "min" if duplicates is None else duplicates
        raise TypeError(f'duplicates="{rule}" needs an order, which complex numbers do not have: give "sum" or "first"')
    return duplicates


def merging(duplicates: Any, where: str) -> Any:
    """`checked_duplicates` for results without parallel edges."""
    if checked_duplicates(duplicates) == "keep":
        raise ValueError(
            f'duplicates="keep" is for a graph in one memory, and {where} has each edge once: '
            'choose "min", "max", "sum" or "first"'
        )
    return duplicates


def run_starts(*keys: Any) -> Any:
    """Flags of the first element of each run of equal ones, in one array or in several in parallel."""
    starts = array_module(keys[0]).ones(len(keys[0]), np.bool_)
    starts[1:] = keys[0][1:] != keys[0][:-1]
    for key in keys[1:]:
        starts[1:] |= key[1:] != key[:-1]
    return starts


def merge_runs(values: np.ndarray[Any, Any], heads: np.ndarray[Any, Any], duplicates: str | None) -> Any:
    """One value for each run of duplicates, the runs starting at `heads`; in NumPy."""
    if duplicates == "first":
        return values[heads]
    if duplicates == "sum":
        return np.add.reduceat(values, heads, dtype=values.dtype)
    return (np.maximum if duplicates == "max" else np.minimum).reduceat(values, heads)


def check_sums(values: Any, sums: Any, in_floats: Callable[[], Any]) -> None:
    """Refuse integers whose sums overflow their type: wrapped sums differ greatly from sums in floats."""
    if values.dtype.kind not in "iu":
        return
    # The total of most weights fits.
    if float(abs(values.astype(np.float64)).sum()) < 0.5 * np.iinfo(values.dtype).max:
        return
    if anywhere(abs(in_floats() - sums.astype(np.float64)) > 2.0 ** (8 * values.itemsize - 1)):
        raise ValueError(
            f"weight: parallel edges add up to more than {values.dtype} holds: convert it by .astype(numpy.float64)"
        )


def differ(values: Any, repeats: Any) -> bool:
    """Whether any value differs from the one before it where `repeats`; NaN equals NaN. Synchronizes on CUDA."""
    before, after = values[:-1], values[1:]
    unlike = (before != after) & repeats
    if values.dtype.kind in "fc":
        unlike &= (before == before) | (after == after)
    return anywhere(unlike)


def warn_unlike() -> None:
    """The warning if `duplicates` was not given and values of duplicates differ."""
    warn_caller(
        "edges are given more than once with different weights, and the smallest weight of each is kept: choose by "
        'duplicates="min", "max", "sum" or "first"; "keep" keeps all, "error" refuses such edges',
        DuplicateEdgesWarning,
    )


def duplicate_error(place: tuple[int, int], repeats: int) -> ValueError:
    """The error of `duplicates="error"`, on either device."""
    return ValueError(
        f"entry {place} is given more than once, and {repeats} entries repeat an earlier place: "
        'choose duplicates="sum", "min", "max" or "first", or remove them'
    )


def _quoted(text: str) -> str:
    return f'"{text}"'
