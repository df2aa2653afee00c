"""Rows of text from columns of names and numbers, made by NumPy.

Each text of a column is padded to the longest, rows are gathered as a matrix of bytes, and the padding is taken out.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

# Bytes of rows that are made at once: they stay in the cache.
_PIECE = 1 << 18
# A table may take so many times the bytes of its texts, and so many beside; longer texts are joined one by one.
_PADDING, _SPARE = 4, 1 << 20


def text_rows(marks: Sequence[str], *columns: tuple[Sequence[str], Any]) -> Iterator[str]:
    """Pieces of all rows: ``marks`` around ``columns``, texts without NUL and which of them each row has, or None."""
    count = len(columns[0][0] if columns[0][1] is None else columns[0][1])
    tables = [np.frombuffer(mark.encode(), np.uint8) for mark in marks]
    texts = [[text.encode() for text in column] for column, _ in columns]
    widths = [max(map(len, column), default=1) for column in texts]
    sizes = zip(widths, texts, strict=True)
    if any(width * len(column) > _PADDING * sum(map(len, column)) + _SPARE for width, column in sizes):
        yield from _joined([mark.encode() for mark in marks], texts, [which for _, which in columns], count)
        return
    held = [
        np.array(column, f"S{max(width, 1)}").view(np.uint8).reshape(len(column), max(width, 1))
        for width, column in zip(widths, texts, strict=True)
    ]
    length = sum(map(len, tables)) + sum(part.shape[1] for part in held)
    step = max(_PIECE // length, 1)
    for begin in range(0, count, step):
        end = min(begin + step, count)
        rows, at = np.empty((end - begin, length), np.uint8), 0
        for k, mark in enumerate(tables):
            rows[:, at : at + len(mark)] = mark
            at += len(mark)
            if k < len(held):
                which = columns[k][1]
                rows[:, at : at + held[k].shape[1]] = held[k][begin:end] if which is None else held[k][which[begin:end]]
                at += held[k].shape[1]
        yield rows.tobytes().translate(None, b"\0").decode()


def _joined(marks: list[bytes], texts: list[list[bytes]], which: list[Any], count: int) -> Iterator[str]:
    parts = [range(count) if ids is None else ids.tolist() for ids in which]
    for row in zip(*parts, strict=True):
        found = [mark + text[k] for mark, text, k in zip(marks, texts, row, strict=False)]
        yield (b"".join(found) + marks[-1]).decode()


def numbers_column(ids: Any, n: int) -> tuple[list[str], Any]:
    """A column of vertex ids below n, for `text_rows`."""
    few = n > 2 * len(ids)
    return (list(map(str, ids.tolist() if few else range(n))), None if few else ids)
