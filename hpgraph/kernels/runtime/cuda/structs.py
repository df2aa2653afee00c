"""C structs passed to kernels by value, and their layouts: one description for the host and for the compiler."""

from collections.abc import Callable
from functools import cache, cached_property
from struct import Struct
from typing import Any

import numpy as np

from hpgraph.semiring.cuda import c_type


def struct(*fields: Any) -> np.ndarray:
    """A C struct, a void of shape (): an array stands for its address, None for a null pointer, an int has 64 bits."""
    pack, void, addresses = _layout(tuple([type(field) for field in fields]))
    values = list(fields)
    for i in addresses:
        values[i] = 0 if fields[i] is None else fields[i].data.ptr
    # CuPy takes a structured type apart in Python at every launch: bytes it passes on as they are.
    return np.ndarray((), void, bytearray(pack(*values)))


@cache
def _layout(kinds: tuple[type, ...]) -> tuple[Callable[..., bytes], np.dtype, tuple[int, ...]]:
    """Packing of fields of these types, the void type of the struct's size, and the fields that are addresses."""
    chars = ["q" if kind is int else np.dtype(kind).char if issubclass(kind, np.generic) else "P" for kind in kinds]
    # The end is padded to where another struct of the kind may begin.
    widest = max(chars, key=lambda char: Struct(char).size)
    layout = Struct(f"@{''.join(chars)}0{widest}")
    addresses = tuple(i for i, char in enumerate(chars) if char == "P")
    return layout.pack, np.dtype((np.void, layout.size)), addresses


_KINDS = {
    "*": np.dtype(np.uintp),
    "i64": np.dtype(np.int64),
    "u64": np.dtype(np.uint64),
    "int": np.dtype(np.int32),
    "unsigned": np.dtype(np.uint32),
    "double": np.dtype(np.float64),
}


class Layout:
    """The fields of a C++ struct, described once: the host fills it by them, and the compiler checks them.

    ``**fields``: in their order: "*" is a pointer, "i64", "u64", "int", "unsigned" and "double" are C++'s; any other
    name is a parameter of the template; a pair is an array.
    """

    def __init__(self, name: str, /, **fields: Any) -> None:
        self._name, self._fields = name, fields
        self._made: dict[tuple[Any, ...], StructLayout] = {}

    def of(self, **types: Any) -> "StructLayout":
        """The layout for given types of the template's parameters, dtypes or C++ text; cached."""
        key = tuple(types.items())
        if key not in self._made:
            words = {one: given if isinstance(given, str) else c_type(given) for one, given in types.items()}
            name = self._name.format(**words)
            self._made[key] = StructLayout(name, self.dtype(types))
        return self._made[key]

    def dtype(self, types: dict[str, Any]) -> np.dtype:
        """The struct as NumPy describes it, laid out as a C compiler would."""

        def kind(field: Any) -> Any:
            if isinstance(field, tuple):
                return kind(field[0]), field[1]
            if isinstance(field, Layout):
                return field.dtype(types)
            return types[field] if field in types else _KINDS[field]

        fields = [(name, *found) if isinstance(found := kind(field), tuple) else (name, found)
                  for name, field in self._fields.items()]  # fmt: skip
        return np.dtype(fields, align=True)


class StructLayout:
    """A `Layout` for certain types; called with the values of all fields, inner structs' among them."""

    def __init__(self, name: str, dtype: np.dtype) -> None:
        self._name, self.dtype, self.size = name, dtype, dtype.itemsize

    def __call__(self, *values: Any) -> np.ndarray:
        """See `struct`."""
        made = struct(*values)
        if made.dtype.itemsize != self.size:
            raise TypeError(f"{self._name} takes {self.size} bytes, the values {made.dtype.itemsize}")
        return made

    def offset(self, field: str) -> int:
        """Where a field begins, in bytes."""
        return int(self.dtype.fields[field][1]) if self.dtype.fields else 0

    @cached_property
    def checks(self) -> str:
        """C++ text that does not compile where the compiler lays the struct out otherwise."""
        # NVRTC has no offsetof before CUDA 13.1; this is the builtin behind it.
        what = f"hpgraph::{self._name}"
        title = self._name.partition("<")[0]
        lines = [f'static_assert(sizeof({what}) == {self.size}, "{title}");']
        for field, described in (self.dtype.fields or {}).items():
            offset = described[1]
            lines.append(f'static_assert(__INTADDR__(&(({what}*)0)->{field}) == {offset}, "{title}.{field}");')
        return "\n".join(lines)
