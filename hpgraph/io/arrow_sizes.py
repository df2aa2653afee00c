"""Decompressed sizes of the record batches of an Arrow file, from its footer and their metadata.

Apache Arrow, "Columnar format", version 1.5, sections "IPC file format" and "Encapsulated message format". A compressed
buffer begins with its length, so that a kilobyte may claim to be a gigabyte; pyarrow allocates that length.
"""

import struct
from typing import BinaryIO

import numpy as np

_MAGIC = b"ARROW1"
_BLOCK = np.dtype([("at", "<i8"), ("metadata", "<i4"), ("zero", "<i4"), ("body", "<i8")])
_BUFFER = np.dtype([("at", "<i8"), ("nbytes", "<i8")])
# Places of fields in the tables of Arrow's Flatbuffers schemas; a message's header may be a batch, or hold one.
_DICTIONARIES, _BATCHES = 2, 3
_HEADER_TYPE, _HEADER = 1, 2
_BUFFERS, _COMPRESSION = 2, 3
_OF_DICTIONARY, _DATA = 2, 1


def largest_batch(file: BinaryIO) -> int:
    """Bytes of the largest record batch, or dictionary, of a file, decompressed, beside those that are stored."""
    size = file.seek(0, 2)
    file.seek(max(size - 10, 0))
    length, magic = struct.unpack("<i6s", file.read(10))
    if magic != _MAGIC or not 0 < length <= size - 10:
        raise ValueError("its end is not that of an Arrow file")
    file.seek(size - 10 - length)
    footer = _Table(file.read(length))
    blocks = np.concatenate([footer.structs(field, _BLOCK) for field in (_DICTIONARIES, _BATCHES)])
    return max((_nbytes(file, size, *map(int, (one["at"], one["metadata"], one["body"]))) for one in blocks), default=0)


def _nbytes(file: BinaryIO, size: int, at: int, metadata: int, body: int) -> int:
    if min(at, metadata, body) < 0 or at + metadata + body > size:
        raise ValueError(f"{metadata + body} bytes at {at} of {size}")
    file.seek(at)
    content = file.read(metadata)
    # A length in four bytes, since version 0.15 after four of 0xff.
    message = _Table(content[8 if content[:4] == b"\xff\xff\xff\xff" else 4 :])
    batch = message.table(_HEADER)
    if message.byte(_HEADER_TYPE) == _OF_DICTIONARY:
        batch = batch.table(_DATA)
    if not batch.has(_COMPRESSION):
        return body
    total = body
    for start, nbytes in batch.structs(_BUFFERS, _BUFFER).tolist():
        if nbytes >= 8 and 0 <= start <= body - 8:
            file.seek(at + metadata + start)
            # -1 marks a buffer that is not compressed.
            total += max(struct.unpack("<q", file.read(8))[0], 0)
    return total


class _Table:
    """A Flatbuffers table: it begins with the offset of its vtable, which holds the offsets of its fields."""

    def __init__(self, content: bytes, at: int | None = None) -> None:
        self._content = content
        self._at = self._read("<I", 0) if at is None else at
        self._fields = self._at - self._read("<i", self._at)

    def _read(self, form: str, at: int) -> int:
        if at < 0:
            raise ValueError("an offset that leads out of its metadata")
        return int(struct.unpack_from(form, self._content, at)[0])

    def _place(self, field: int) -> int:
        within = 4 + 2 * field
        offset = self._read("<H", self._fields + within) if within < self._read("<H", self._fields) else 0
        return self._at + offset if offset else 0

    def has(self, field: int) -> bool:
        """Whether a field is there."""
        return self._place(field) != 0

    def byte(self, field: int) -> int:
        """A field that is a number of one byte."""
        return self._read("<B", self._place(field)) if self.has(field) else 0

    def table(self, field: int) -> "_Table":
        """A field that is a table."""
        place = self._place(field)
        return _Table(self._content, place + self._read("<I", place))

    def structs(self, field: int, dtype: np.dtype) -> np.ndarray:
        """A field that is a vector of structs."""
        if not self.has(field):
            return np.empty(0, dtype)
        place = self._place(field)
        start = place + self._read("<I", place)
        return np.frombuffer(self._content, dtype, self._read("<I", start), start + 4)
