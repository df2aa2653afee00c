"""C structs and parameters of kernels: their layouts in memory, one description for the host and for the compiler."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from struct import Struct, error
from typing import Any

import numpy as np

from hpgraph.semiring.cuda import c_type

# Alignment of a parameter in the block of all; no struct that is passed needs more.
_ALIGNMENT = 16


def word(given: Any) -> str:
    """A dtype, a flag or a text in C++."""
    if isinstance(given, bool):
        return "true" if given else "false"
    return c_type(given) if isinstance(given, np.dtype) else str(given)


def traits(name: str, types: Mapping[str, Any], flags: Mapping[str, bool], members: str) -> str:
    """A C++ struct by which templates are specialized: its types and flags, and text of the other members."""
    lines = [f"    typedef {word(kind)} {alias};\n" for alias, kind in types.items()]
    lines += [f"    static constexpr bool {flag} = {word(value)};\n" for flag, value in flags.items()]
    return f"struct {name} {{\n{''.join(lines)}{members}}};\n"


def struct(*fields: Any) -> bytes:
    """A C struct: an array stands for its address, None for a null pointer, an int has 64 bits; bytes are a struct."""
    layout = _layout(_kinds(fields))
    return layout.pack(*layout.packable(fields))  # type: ignore[no-any-return]


def _kinds(values: Sequence[Any]) -> tuple[Any, ...]:
    """What determines the layout of values: types, sizes of structs, and dtypes of NumPy arrays of shape ()."""
    return tuple(
        [len(one) if (kind := type(one)) is bytes else one.dtype if kind is np.ndarray else kind for one in values]
    )


_CHARS = {int: "q", float: "d", bool: "?"}


def _char(kind: Any) -> str:
    """The format of a value as `struct.pack` takes it."""
    if isinstance(kind, int | np.dtype):
        return f"{kind if isinstance(kind, int) else kind.itemsize}s"
    if issubclass(kind, np.complexfloating):
        return f"{np.dtype(kind).itemsize}s"
    return np.dtype(kind).char if issubclass(kind, np.generic) else _CHARS.get(kind, "P")


class _Values:
    """Values of certain kinds, as `struct.pack` takes them: CuPy's arrays by their addresses, NumPy's as bytes."""

    def __init__(self, kinds: tuple[Any, ...]) -> None:
        self.chars = [_char(kind) for kind in kinds]
        self._arrays = [i for i, char in enumerate(self.chars) if char == "P"]
        self._bytes = [i for i, kind in enumerate(kinds) if not isinstance(kind, int) and self.chars[i][-1] == "s"]

    def packable(self, values: Sequence[Any]) -> list[Any]:
        """The values, converted."""
        packable = list(values)
        for i in self._arrays:
            array = packable[i]
            packable[i] = 0 if array is None else array.data.ptr
        for i in self._bytes:
            packable[i] = packable[i].tobytes()
        return packable


class _Fields(_Values):
    """The fields of a struct."""

    def __init__(self, kinds: tuple[Any, ...]) -> None:
        super().__init__(kinds)
        # A struct within begins and ends where a number of 64 bits may.
        chars = [f"0q{char}0q" if char[-1] == "s" else char for char in self.chars]
        # The end is padded to where another struct of the kind may begin.
        widest = max(chars, key=lambda char: Struct(char[-1]).size)[-1]
        self.pack = Struct(f"@{''.join(chars)}0{widest}").pack


_layout: Callable[[tuple[Any, ...]], _Fields] = cache(_Fields)


def _number(value: Any) -> Any:
    """A value as a field of a known type takes it."""
    if isinstance(value, int | float | np.generic):
        return value
    return 0 if value is None else value.data.ptr


def _format(dtype: np.dtype) -> str:
    """The fields of a struct as `struct.pack` takes them, with what pads them."""
    if dtype.subdtype is not None:
        return _format(dtype.subdtype[0]) * int(np.prod(dtype.subdtype[1]))
    if dtype.fields is None:
        # An address less an offset may be below 0: that of no memory is 0.
        return "P" if dtype == np.uintp else dtype.char
    text, end = "", 0
    for field, offset, *_ in dtype.fields.values():
        text += f"{offset - end}x{_format(field)}"
        end = offset + field.itemsize
    return f"{text}{dtype.itemsize - end}x"


class _Parameters(_Values):
    """The parameters of a kernel."""

    def __init__(self, kinds: tuple[Any, ...]) -> None:
        super().__init__(kinds)
        chars = [char + f"{-Struct(char).size % _ALIGNMENT}x" for char in self.chars]
        *self.offsets, self.size = np.cumsum([0, *(Struct(char).size for char in chars)]).tolist()
        self.pack_into = Struct("@" + "".join(chars)).pack_into
        # The driver copies them at a launch: memory is used again, and threads that launch at once each have their own.
        self.free: list[Block] = []


_parameters: Callable[[tuple[Any, ...]], _Parameters] = cache(_Parameters)


class Block:
    """Memory for the arguments of one launch at a time; ``address``: where the addresses of all of them are."""

    def __init__(self, layout: _Parameters) -> None:
        self.memory, self.free = np.zeros(layout.size, np.uint8), layout.free
        self._pointers = np.array(layout.offsets, np.uint64) + np.uint64(self.memory.ctypes.data)
        self.address = int(self._pointers.ctypes.data)

    def set_last(self, number: int) -> None:
        """Replace the last argument, a number of 64 bits."""
        self.memory[-_ALIGNMENT:].view(np.uint64)[0] = number


def packed(arguments: Sequence[Any]) -> Block:
    """A kernel's arguments where a launch finds them: arrays, structs, scalars, and None for null pointers.

    CuPy's launch packs them one by one, some 20 µs for those of a search. To be given back to ``free`` after it.
    """
    layout = _parameters(_kinds(arguments))
    try:
        block = layout.free.pop()
    except IndexError:
        block = Block(layout)
    layout.pack_into(block.memory.data, 0, *layout.packable(arguments))
    return block


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

    def __call__(self, *values: Any) -> bytes:
        """See `struct`; numbers are packed as the fields' types."""
        try:
            return self._pack(*values)
        except error:
            # Some are arrays, or None.
            return self._pack(*[_number(value) for value in values])

    @cached_property
    def _pack(self) -> Callable[..., bytes]:
        return Struct("@" + _format(self.dtype)).pack

    def offset(self, field: str) -> int:
        """Offset of a field in bytes."""
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
