"""Graphs from standard input and remote storage, by way of a temporary file."""

import contextlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from hpgraph.core.errors import optional
from hpgraph.io.replace import check_writable

_URL = re.compile(r"[a-z][a-z0-9+.-]+(?:::|://)", re.IGNORECASE)
_PIECE = 1 << 20
_fsspec = partial(optional, "fsspec", "remote", "a URL other than of the web")


@contextlib.contextmanager
def here(path: Any) -> Iterator[Path]:
    """A local file with the content of a path."""
    if isinstance(path, str) and (path == "-" or path.startswith("-.")):
        if sys.stdin is None:
            raise ValueError("standard input is closed: give a file")
        with _copied(sys.stdin.buffer, "standard-input" + (path[1:] or ".txt")) as copy:
            yield copy
    elif _is_url(path):
        with _opened(path) as content, _copied(content, _name(path)) as copy:
            yield copy
    elif (place := given_path(path)).is_fifo():
        # The content of a pipe can be read once, and readers open a file more than once.
        with place.open("rb") as content, _copied(content, place.name if place.suffix else f"{place.name}.txt") as copy:
            yield copy
    else:
        yield place


@contextlib.contextmanager
def to_be_written(path: Any) -> Iterator[Path]:
    """A local file to write, copied to the path when the block ends."""
    check_target(path)
    if not _is_url(path):
        yield given_path(path)
        return
    with tempfile.TemporaryDirectory(prefix="hpgraph-") as folder:
        copy = Path(folder) / _name(path)
        yield copy
        with _fsspec().open(path, "wb") as target, copy.open("rb") as content:
            shutil.copyfileobj(content, target, _PIECE)


def check_target(path: Any) -> None:
    """Check in advance, as far as possible, that a path can be written to."""
    if _is_url(path):
        _fsspec()
    else:
        check_writable(given_path(path))


def given_path(path: object) -> Path:
    """A user's path as `pathlib.Path`."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path must be a string or a path, not {type(path).__name__}")
    return Path(os.fspath(path)).expanduser()  # type: ignore[arg-type]


def _is_url(path: Any) -> bool:
    # Any name is accepted if the file exists.
    return isinstance(path, str) and _URL.match(path) is not None and not os.path.exists(path)


def _name(url: str) -> str:
    # The first part of "zip://graph.el::file.zip" is the file to read.
    return Path(urlsplit(url.partition("::")[0]).path or urlsplit(url).netloc).name or "graph.txt"


@contextlib.contextmanager
def _opened(url: str) -> Iterator[Any]:
    if urlsplit(url).scheme in ("http", "https"):
        from urllib.request import urlopen

        with urlopen(url) as content:
            yield content
        return
    with _fsspec().open(url, "rb") as content:
        yield content


@contextlib.contextmanager
def _copied(content: BinaryIO, name: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="hpgraph-") as folder:
        copy = Path(folder) / name
        with copy.open("wb") as file:
            shutil.copyfileobj(content, file, _PIECE)
        yield copy
