"""Columns in text files: values as text, and the types by which they become arrays."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hpgraph.containers.columns import as_column, listed, text_column
from hpgraph.containers.dates import Dates
from hpgraph.core.errors import FileFormatError

TYPES = {"int": "int64", "long": "int64", "float": "float64", "double": "float64", "boolean": "bool"}
_KINDS = {"b": "boolean", "i": "long", "u": "long"}


@dataclass
class TextColumn:
    """A column being read: of nodes or edges, its title and type, and its values by index of their element."""

    of: str
    title: str
    type: str
    default: str | None = None
    values: dict[int, str | None] = field(default_factory=dict)

    def column(self, length: int, path: Path) -> Any:
        """The values of all elements."""
        given = [self.values.get(place, self.default) for place in range(length)]
        parse: Any = {"int64": int, "float64": float, "bool": as_bool}.get(TYPES.get(self.type, ""))
        if parse is None:
            return text_column(given)
        try:
            return as_column([None if text is None else parse(text) for text in given], f"{self.title!r} of {path}")
        except ValueError as error:
            raise FileFormatError(path, f"a value of {self.title!r} that is no {self.type} ({error})") from None


def as_bool(text: str) -> bool:
    """Whether a text stands for True."""
    return text.strip().lower() in ("true", "1")


def type_of(column: Any) -> str:
    """The type, of those of GraphML, that holds a column."""
    return "string" if isinstance(column, tuple) else _KINDS.get(column.dtype.kind, "double")


def plain_values(column: Any) -> list[Any]:
    """The values of a column in Python, dates as text; None where one is missing."""
    if not isinstance(column, Dates):
        return listed(column)
    return [None if text == "NaT" else text for text in np.datetime_as_string(column.plain()).tolist()]


def value_text(value: Any) -> str:
    """A value as text."""
    return value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else repr(value)
