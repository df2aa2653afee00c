"""Atomic replacement of files, compressed by their names, and of text."""

import contextlib
import gzip
import io
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from hpgraph.core.replace import check_writable as check_writable
from hpgraph.core.replace import replacing as replaced
from hpgraph.io.zstd import zstd_writer


def replacing(path: str | os.PathLike[str]) -> AbstractContextManager[BinaryIO]:
    """As that of `hpgraph.core.replace`; the file is compressed if its name ends in ``.gz`` or ``.zst``."""
    return replaced(path, lambda file: _zipping(file, Path(path)))


@contextlib.contextmanager
def replacing_text(path: str | os.PathLike[str]) -> Iterator[IO[str]]:
    """As `replacing`, for text in UTF-8 with line ends as they are written."""
    with replacing(path) as target:
        text = io.TextIOWrapper(target, encoding="utf-8", newline="\n")
        yield text
        text.detach()


def is_zipped(path: Path) -> bool:
    """Whether a file is compressed, by its name."""
    return path.suffix.lower() in (".gz", ".zst")


@contextlib.contextmanager
def _zipping(file: BinaryIO, path: Path) -> Iterator[BinaryIO]:
    if not is_zipped(path):
        yield file
        return
    zstd = path.suffix.lower() == ".zst"
    target = zstd_writer(file) if zstd else gzip.GzipFile(path.name, "wb", 6, cast(Any, file))
    try:
        yield cast(BinaryIO, target)
        target.close()
    except BaseException:
        # Discard buffered data: finalizers would report that they cannot write it.
        if isinstance(target, gzip.GzipFile):
            target.fileobj = io.BytesIO()
            target.close()
        raise
