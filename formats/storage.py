"""Base class of containers of entries: device, size, transfer between devices, and cached derived values."""

import dataclasses
import functools
import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import ModuleType
from typing import Any, Self, TypeVar

import numpy as np

from hpgraph.core.device import Device, count, device_of, normalize_device, to_device
from hpgraph.core.locks import Lock
from hpgraph.formats.interchange import own

Made = TypeVar("Made")
_attaching = Lock()


def backend(*arrays: Any) -> ModuleType:
    """The conversions for the device of the arrays; both modules have the same functions."""
    return importlib.import_module(f"hpgraph.formats.convert_{device_of(*arrays)}")


def attached(make: Callable[..., Made]) -> Callable[..., Made]:
    """Decorator: call `make` once for each `Storage` and further arguments; the `Storage` caches the result."""

    @functools.wraps(make)
    def get(container: Any, *more: Any) -> Made:
        key = (make, *more) if more else make
        try:
            return container._attached[key]  # type: ignore[no-any-return]
        except (AttributeError, KeyError):
            made = make(container, *more)
        with _attaching:
            if not hasattr(container, "_attached"):
                object.__setattr__(container, "_attached", {})
            # All threads get the value that was stored first.
            return container._attached.setdefault(key, made)  # type: ignore[no-any-return]

    return get


class Storage(ABC):
    """Entries of a matrix, or members of a set, in arrays of one device.

    Containers are frozen. With ``validate=True``, the default, a constructor checks that its arrays are consistent, and
    raises `ValueError`, `IndexError` (an id beyond the shape) or `TypeError` (unfit types, or arrays on different
    devices); on CUDA that synchronizes the stream. With ``copy=True``, the default, it copies a caller's arrays;
    otherwise they are shared, and must not be written to. `to_scipy` returns read-only views or copies; containers made
    from each other share arrays, which are never written to. The fields themselves are the arrays that kernels read,
    without a copy on either device; do not write to them. They are not flagged read-only, because kernels would then be
    compiled twice, once for each kind.
    """

    # Results of functions that are `attached`.
    __slots__ = ("_attached",)

    shape: tuple[int, ...]
    data: Any

    @property
    @abstractmethod
    def nnz(self) -> int:
        """Number of stored entries, including explicit zeros, without padding."""

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """Type of the values; None for a pattern."""
        return None if self.data is None else self.data.dtype

    @property
    def arrays(self) -> tuple[Any, ...]:
        """All its arrays."""
        found: list[Any] = []
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if isinstance(value, Storage):
                found.extend(value.arrays)
            elif hasattr(value, "nbytes"):
                found.append(value)
        return tuple(found)

    @property
    def nbytes(self) -> int:
        """Bytes of all its arrays."""
        return sum(array.nbytes for array in self.arrays)

    @property
    def device(self) -> Device:
        """Device of its arrays, the same for all: "cpu" or "cuda"."""
        return device_of(next(iter(self.arrays)))

    @property
    def padding_ratio(self) -> float:
        """Stored slots per entry; 1 without padding."""
        return 1.0

    def to(self, device: str) -> Self:
        """The same container on "cpu" or "cuda"; itself if already there. A copy to the CPU synchronizes the stream."""
        device = normalize_device(device)
        if device == self.device:
            return self

        def moved(value: Any) -> Any:
            if isinstance(value, Storage):
                return value.to(device)
            return to_device(value, device) if hasattr(value, "nbytes") else value

        return self._with_each(moved)

    def _with_each(self, change: Callable[[Any], Any]) -> Self:
        """The same container with a function applied to each field."""
        fields = {field.name: change(getattr(self, field.name)) for field in dataclasses.fields(self)}  # type: ignore[arg-type]
        return type(self)(**fields, validate=False)  # type: ignore[call-arg]

    def _take(self, shape: Any, copy: bool, **arrays: Any) -> None:
        """Set the shape, and the fields to checked arrays; with `copy`, to copies of a caller's arrays."""
        object.__setattr__(self, "shape", shape)
        for name, array in arrays.items():
            object.__setattr__(self, name, own(array, getattr(self, name)) if copy else array)
        device_of(*self.arrays)

    def __repr__(self) -> str:
        size = "x".join(str(length) for length in self.shape)
        values = "pattern" if self.dtype is None else str(self.dtype)
        return f"<{type(self).__name__} {size}, {self.nnz} entries, {values}, {self.device}, {self.nbytes} bytes>"


class Padded(Storage):
    """A format with slots for entries; the column of an unused slot is -1."""

    __slots__ = ()

    indices: Any
    nnz: int

    @property
    def padding_ratio(self) -> float:
        """Slots per entry; 1 without padding."""
        return self.indices.size / self.nnz if self.nnz else 1.0

    def _count(self, validate: bool) -> None:
        """Set `nnz` if it was not given; with `validate`, check it."""
        if validate or self.nnz < 0:
            held = count(self.indices >= 0)
            if self.nnz not in (-1, held):
                raise ValueError(f"nnz must be the number of slots that are not padding, {held}, not {self.nnz}")
            object.__setattr__(self, "nnz", held)
