"""Decompressed sizes of the pages of a Parquet file, from their own headers.

Apache Parquet, "Thrift definition", and Apache Thrift, "Compact protocol". pyarrow allocates the size in the header of
a page and rejects a page that does not fill it; the sizes in the file's footer may be anything. The footer is parsed
here, too: pyarrow's own objects of column chunks end the process where a histogram in it has another length than fits.
"""

from typing import Any, BinaryIO

# Of a page's header, which holds statistics, too; read in pieces, as its length is stored nowhere.
_PIECE, _HEADER_MAX = 1 << 10, 1 << 24
_DEEPEST = 16
_BOOLEANS, _DOUBLE, _BINARY, _LISTS, _MAP, _STRUCT = (1, 2), 7, 8, (9, 10), 11, 12
_I32, _I64 = 5, 6
# Fields by number and type: of a page's header; of the file's footer, a group of rows, a column chunk and its metadata.
_UNCOMPRESSED, _COMPRESSED = (2, _I32), (3, _I32)
_GROUPS, _ROWS, _CHUNKS, _METADATA = (4, 9), (3, _I64), (1, 9), (3, _STRUCT)
_VALUES, _STORED, _DATA_PAGE, _DICTIONARY_PAGE = (5, _I64), (7, _I64), (9, _I64), (11, _I64)

_Fields = dict[tuple[int, int], Any]


def group_sizes(file: BinaryIO, columns: list[int]) -> list[int]:
    """Bytes of the pages of some columns, by their places in the schema, decompressed, of each group of rows."""
    size = file.seek(-8, 2) + 8
    length = int.from_bytes(file.read(4), "little")
    file.seek(max(0, size - 8 - length))
    try:
        footer = _Struct(file.read(length)).fields
        groups = footer[_GROUPS]
        chunks = [[group[_CHUNKS][place][_METADATA] for place in columns] for group in groups]
        rows = [group[_ROWS] for group in groups]
        values = [{chunk[_VALUES] for chunk in group} for group in chunks]
        if sum(rows) != footer[_ROWS] or values != [{count} for count in rows]:
            raise ValueError("numbers of rows and of values in the footer that differ")
        return [sum(sum(_page_sizes(file, size, chunk)) for chunk in group) for group in chunks]
    except (LookupError, TypeError):
        raise ValueError("a footer without the places of all columns") from None


def _page_sizes(file: BinaryIO, size: int, chunk: _Fields) -> list[int]:
    """Bytes of each page of a column chunk, decompressed; none of one without values. ``size``: of the file."""
    if chunk[_VALUES] == 0:
        return []
    at, first = chunk[_DATA_PAGE], chunk.get(_DICTIONARY_PAGE, 0)
    if 0 < first < at:
        at = first
    end = at + chunk[_STORED]
    if at < 0 or end > size:
        raise ValueError(f"a column of bytes {at} to {end} in a file of {size}")
    found = []
    while at < end:
        header = _header(file, at, end)
        nbytes, stored = (header.fields.get(field, -1) for field in (_UNCOMPRESSED, _COMPRESSED))
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
    """The fields of a struct by number and type, and where it ends: numbers, lists and structs; None for others."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.at = 0
        self.fields = self._fields(0)

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
                raise ValueError("a number of more than 64 bits")

    def _number(self) -> int:
        found = self._varint()
        return found >> 1 ^ -(found & 1)

    def _fields(self, depth: int) -> _Fields:
        found: _Fields = {}
        field = 0
        while (head := self._byte()) != 0:
            field = field + (head >> 4) if head >> 4 else self._number()
            key = field, head & 15
            if key in found:
                raise ValueError(f"field {field} twice in a struct")
            found[key] = None if head & 15 in _BOOLEANS else self._value(head & 15, depth + 1)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if depth > _DEEPEST:
            raise ValueError(f"structs within structs, more than {_DEEPEST} deep")
        if kind in (*_BOOLEANS, 3):
            self._byte()
        elif kind in (4, _I32, _I64):
            return self._number()
        elif kind in (_DOUBLE, _BINARY):
            length = 8 if kind == _DOUBLE else self._varint()
            self.at += length
            # All of it must be there.
            _ = self._content[self.at - 1]
        elif kind in _LISTS:
            head = self._byte()
            count = self._varint() if head >> 4 == 15 else head >> 4
            return [self._value(head & 15, depth + 1) for _ in range(count)]
        elif kind == _MAP:
            count = self._varint()
            kinds = self._byte() if count else 0
            for _ in range(count):
                self._value(kinds >> 4, depth + 1)
                self._value(kinds & 15, depth + 1)
        elif kind == _STRUCT:
            return self._fields(depth)
        else:
            raise ValueError(f"type {kind}, which no struct has")
        return None
