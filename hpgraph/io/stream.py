"""A file as a stream of bytes: decompressed if it is compressed, with a progress bar if it takes long.

Progress counts bytes read from the disk: their total is known at the start, that of the decompressed bytes is not. No
line is longer than `LONGEST_LINE`: two megabytes of gzip can hold a line of two gigabytes, and readers hold a whole
line in memory.
"""

import contextlib
import gzip
import io
import os
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from hpgraph.core.config import config
from hpgraph.core.errors import FileFormatError
from hpgraph.core.progress import progress_bar
from hpgraph.io.memory import Taken
from hpgraph.io.zstd import MAGIC, ZstdReader

PROGRESS_DELAY = 1.0
"""Seconds that a read may take before it shows a progress bar."""

LONGEST_LINE = 1 << 20
"""Bytes that a line of a text file may have."""

_PIECE = 1 << 16
_GZIP_MAGIC = b"\x1f\x8b"


class _CountedFile(io.FileIO):
    """A file opened for reading that updates a progress bar, shown after `PROGRESS_DELAY` seconds."""

    # Python closes an object whose file could not be opened, too.
    _bar: Any = None

    def __init__(self, path: Path, show: bool) -> None:
        super().__init__(path)
        self._show, self._taken, self._start = show, 0, time.monotonic()

    def readinto(self, buffer: Any) -> int | None:
        count = super().readinto(buffer)
        self._taken += count or 0
        if self._bar is not None:
            self._bar.update(count)
        elif self._show and time.monotonic() - self._start > PROGRESS_DELAY:
            self._bar = progress_bar(
                total=os.fstat(self.fileno()).st_size, initial=self._taken, desc=f"reading {Path(str(self.name)).name}",
                unit="B", unit_scale=True, file=sys.stderr,
            )  # fmt: skip
        return count

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        super().close()


class LineBound:
    """Refuses lines longer than `LONGEST_LINE` in the blocks of a text file, from byte `taken` on."""

    def __init__(self, path: Path, ends: tuple[bytes, ...] = (b"\n", b"\r"), taken: int = 0) -> None:
        self._path = path
        self._ends = ends
        self._line_start = self.taken = taken

    def check(self, piece: bytes) -> None:
        """Check the next piece, which is much shorter than the longest line."""
        end = next((at for mark in self._ends if (at := piece.rfind(mark)) >= 0), None)
        if end is not None:
            self._line_start = self.taken + end + 1
        self.taken += len(piece)
        if self.taken - self._line_start > LONGEST_LINE:
            line = line_at(self._path, self._line_start)
            raise FileFormatError(self._path, f"a line of more than {LONGEST_LINE} bytes", line)


class _BoundedLines(io.BufferedIOBase):
    """The methods of a stream that `io.TextIOWrapper` calls, each piece under a `LineBound`."""

    def __init__(self, path: Path, content: BinaryIO) -> None:
        self._read1 = content.read1  # type: ignore[attr-defined]
        self._bound = LineBound(path)

    def readable(self) -> bool:
        return True

    def read1(self, size: int = -1) -> bytes:
        piece: bytes = self._read1(size)
        self._bound.check(piece)
        return piece


@contextlib.contextmanager
def open_bytes(path: Path, progress: bool | None = False) -> Iterator[BinaryIO]:
    """The content of a file, gzip or zstd decompressed; compression is detected by its first bytes, not by its name."""
    raw = _CountedFile(path, config.show_progress() if progress is None else bool(progress))
    with contextlib.closing(raw), io.BufferedReader(raw, 1 << 20) as buffered:
        begins = buffered.peek(4)[:4]
        if begins[:2] != _GZIP_MAGIC and begins != MAGIC:
            yield buffered
            return
        with _unzipped(buffered, begins == MAGIC) as unzipped:
            try:
                yield unzipped
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                lines = _readable_lines(path)
                raise FileFormatError(
                    path, f"the compressed data end early or are damaged from here on ({error})", line=lines + 1
                ) from None


def content_of(path: Path, progress: bool | None, taken: Taken, each: int) -> bytes:
    """All of a file, each byte of which takes `each` of memory."""
    pieces = []
    with open_bytes(path, progress) as file:
        while piece := file.read(_PIECE):
            pieces.append(piece)
            taken.add(len(piece) * each)
    return b"".join(pieces)


@contextlib.contextmanager
def open_text(path: Path, progress: bool | None = False) -> Iterator[IO[str]]:
    """As `open_bytes`, decoded from UTF-8; other bytes become lone surrogates, harmless in a comment."""
    with open_bytes(path, progress) as content:
        lines = cast(BinaryIO, _BoundedLines(path, content))
        text = io.TextIOWrapper(lines, encoding="utf-8-sig", errors="surrogateescape")
        try:
            yield text
        finally:
            # The stream underneath belongs to open_bytes, which closes it.
            text.detach()


def line_of(path: Path, number: int) -> str:
    """One line of a text file, for an error message: without its end, shortened."""
    with open_text(path) as text:
        for at, line in enumerate(text, start=1):
            if at == number:
                return shortened(line)
    return ""


def line_at(path: Path, offset: int) -> int:
    """The number of the line that holds a byte."""
    ends = 0
    with open_bytes(path) as content:
        while offset > 0 and (piece := content.read(min(offset, _PIECE))):
            ends += piece.count(b"\n")
            offset -= len(piece)
    return 1 + ends


def count_lines(path: Path) -> int:
    """Lines of a text file; a last one without an end counts."""
    with open_text(path) as text:
        return sum(1 for _ in text)


def shortened(text: str, limit: int = 60) -> str:
    """A piece of a file as an error message can show it."""
    text = text.rstrip("\r\n").encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _unzipped(file: Any, zstd: bool) -> BinaryIO:
    return io.BufferedReader(ZstdReader(file)) if zstd else cast(BinaryIO, gzip.GzipFile(fileobj=file))


def _readable_lines(path: Path) -> int:
    """How many whole lines come out of a damaged file."""
    lines = 0
    damage = contextlib.suppress(EOFError, zlib.error, gzip.BadGzipFile)
    with path.open("rb") as file, _unzipped(file, file.peek(4)[:4] == MAGIC) as unzipped, damage:
        # Small pieces: a failed read returns none of its bytes.
        while piece := unzipped.read1(4096):  # type: ignore[attr-defined]
            lines += piece.count(b"\n")
    return lines
