"""Decompressed sizes of the pages of a Parquet file, from their own headers.

Apache Parquet, "Thrift definition", and Apache Thrift, "Compact protocol". pyarrow allocates the size in the header of
a page and rejects a page that does not fill it; the sizes in the file's footer may be anything.
"""

from typing import Any, BinaryIO

# Of a page's header, which holds statistics, too; read in pieces, as its length is stored nowhere.
_PIECE, _HEADER_MAX = 1 << 10, 1 << 24
_DEEPEST = 16
_BOOLEANS, _DOUBLE, _BINARY, _LISTS, _MAP, _STRUCT = (1, 2), 7, 8, (9, 10), 11, 12
_UNCOMPRESSED, _COMPRESSED = 2, 3


def page_sizes(file: BinaryIO, size: int, chunk: Any) -> list[int]:
    """Bytes of each page of a column chunk, decompressed; none of one without values. ``size``: of the file."""
    if chunk.num_values == 0:
        return []
    at, first = chunk.data_page_offset, chunk.dictionary_page_offset
    if first is not None and 0 < first < at:
        at = first
    end = at + chunk.total_compressed_size
    if at < 0 or end > size:
        raise ValueError(f"a column of bytes {at} to {end} in a file of {size}")
    found = []
    while at < end:
        header = _header(file, at, end)
        nbytes, stored = (header.numbers.get(field, -1) for field in (_UNCOMPRESSED, _COMPRESSED))
        at += header.at + stored
        if nbytes < 0 or stored < 0 or at > end:
            raise ValueError(f"a page that ends at byte {at} of a column that ends at {end}")
        found.append(nbytes)
    return found


def _header(file: BinaryIO, at: int, end: int) -> "_Struct":
    length = _PIECE
    while True:
        file.seek(at)
        content = file.read(min(length, end - at))
        try:
            return _Struct(content)
        except IndexError:
            if length >= min(_HEADER_MAX, end - at):
                raise ValueError(f"no header of a page at byte {at}") from None
            length *= 4


class _Struct:
    """The fields of a struct that are whole numbers, the largest where one comes twice, and where it ends."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.at = 0
        self.numbers: dict[int, int] = {}
        self._fields(self.numbers, 0)

    def _byte(self) -> int:
        self.at += 1
        return self._content[self.at - 1]

    def _varint(self) -> int:
        found = shift = 0
        while True:
            byte = self._byte()
            found |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return found
            if shift > 63:
                raise ValueError("a number of more than 64 bits in the header of a page")

    def _number(self) -> int:
        found = self._varint()
        return found >> 1 ^ -(found & 1)

    def _fields(self, numbers: dict[int, int], depth: int) -> None:
        field = 0
        while (head := self._byte()) != 0:
            field = field + (head >> 4) if head >> 4 else self._number()
            if head & 15 in (4, 5, 6):
                numbers[field] = max(self._number(), numbers.get(field, -1))
            elif head & 15 not in _BOOLEANS:
                self._skip(head & 15, depth + 1)

    def _skip(self, kind: int, depth: int) -> None:
        if depth > _DEEPEST:
            raise ValueError("structs within structs in the header of a page")
        if kind in (*_BOOLEANS, 3):
            self._byte()
        elif kind in (4, 5, 6):
            self._varint()
        elif kind in (_DOUBLE, _BINARY):
            length = 8 if kind == _DOUBLE else self._varint()
            self.at += length
            # All of it must be there.
            _ = self._content[self.at - 1]
        elif kind in _LISTS:
            head = self._byte()
            self._several([head & 15], self._varint() if head >> 4 == 15 else head >> 4, depth)
        elif kind == _MAP:
            count = self._varint()
            kinds = self._byte() if count else 0
            self._several([kinds >> 4, kinds & 15], count, depth)
        elif kind == _STRUCT:
            self._fields({}, depth)
        else:
            raise ValueError(f"type {kind} in the header of a page")

    def _several(self, kinds: list[int], count: int, depth: int) -> None:
        for _ in range(count):
            for kind in kinds:
                self._skip(kind, depth + 1)
