"""Files compressed by zstd, through pyarrow, all builds of which include it."""

import io
import os
from functools import partial
from typing import Any, BinaryIO

from hpgraph.core.errors import optional

MAGIC = b"\x28\xb5\x2f\xfd"
_pyarrow = partial(optional, "pyarrow", "arrow", "zstd")


class ZstdReader(io.RawIOBase):
    """The content of a compressed file; seeking back starts over, as with gzip."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._at = file, 0
        self._stream = _pyarrow().CompressedInputStream(_Open(file), "zstd")

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read bytes into a buffer."""
        try:
            content = self._stream.read(len(buffer))
        except OSError as error:
            # The error of other decompressors for damaged data.
            raise EOFError(str(error)) from None
        buffer[: len(content)] = content
        self._at += len(content)
        return len(content)

    def seekable(self) -> bool:
        """True; seeking back starts over."""
        return True

    def tell(self) -> int:
        """The position in the decompressed content."""
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Seek from the beginning or from the current position."""
        if whence == os.SEEK_END:
            raise io.UnsupportedOperation("the end of compressed data is not known before it is read")
        wanted = offset + (self._at if whence == os.SEEK_CUR else 0)
        if wanted < self._at:
            self._file.seek(0)
            self._stream, self._at = _pyarrow().CompressedInputStream(_Open(self._file), "zstd"), 0
        while self._at < wanted and self.read(min(wanted - self._at, 1 << 20)):
            pass
        return self._at


def zstd_writer(file: BinaryIO) -> Any:
    """A file that compresses into another."""
    return _Writer(_pyarrow().CompressedOutputStream(_Open(file), "zstd"))


# SciPy writes to pyarrow's streams only by way of this: they cannot report a position.
class _Writer(io.RawIOBase):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        self._stream.write(content)
        return len(content)

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


class _Open:
    """A file that stays open when pyarrow closes it."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self.read, self.write, self.flush = file.read, file.write, file.flush

    def close(self) -> None:
        """Do nothing: the owner closes the file."""
