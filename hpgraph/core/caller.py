"""Warnings that name the line of the program outside hpgraph which led to them, and arguments' former names."""

import contextlib
import sys
import threading
import warnings
from collections.abc import Iterator
from types import FrameType
from typing import TypeVar


class _Warned(threading.local):
    categories: set[type[Warning]] | None = None
    collected: set[type[Warning]] | None = None


_warned = _Warned()


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn with the location of the innermost frame outside hpgraph."""
    if _warned.collected is not None:
        _warned.collected.add(category)
        return
    if _warned.categories is not None:
        if category in _warned.categories:
            return
        _warned.categories.add(category)
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and _is_ours(frame):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _is_ours(frame: FrameType) -> bool:
    home = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    return home in ("hpgraph", "contextlib")


@contextlib.contextmanager
def each_warning_once() -> Iterator[None]:
    """Context manager: `warn_caller` warns of each category once, in all that happens within."""
    if _warned.categories is not None:
        yield
        return
    _warned.categories = set()
    try:
        yield
    finally:
        _warned.categories = None


@contextlib.contextmanager
def warnings_collected() -> Iterator[set[type[Warning]]]:
    """Context manager that collects the categories of `warn_caller`'s warnings in this thread, which are not shown."""
    before, _warned.collected = _warned.collected, set()
    try:
        yield _warned.collected
    finally:
        _warned.collected = before


T = TypeVar("T")


def renamed(former: str, name: str, given: T, stacklevel: int = 4) -> T:
    """The value of an argument under its former name; by default for a function under `naming_arguments`."""
    message = f"{former} is called {name} now: 0.3 removes the former name"
    warnings.warn(message, DeprecationWarning, stacklevel=stacklevel)
    return given
