"""Base class of containers of entries: device, size, transfer between devices."""

from __future__ import annotations

import dataclasses
import importlib
from abc import ABC, abstractmethod
from types import ModuleType
from typing import Any, Literal, Self

import numpy as np

from hpgraph.core.device import Device, device_of, normalize_device, to_device


def backend(subject: Literal["convert", "slab", "bits"], *arrays: Any) -> ModuleType:
    """The module of this subject for the device that holds the arrays; both devices' have the same functions."""
    return importlib.import_module(f"hpgraph.formats.{subject}_{device_of(*arrays)}")


class Storage(ABC):
    """Entries of a matrix, or members of a set, in arrays of one device.

    Containers are frozen. Their constructors copy a caller's arrays, unless told not to, and `to_scipy` gives read-only
    views or copies; containers made from each other share arrays, which are never written to. The fields themselves are
    the arrays that kernels read, without a copy on either device; do not write to them. They are not flagged
    read-only, because kernels would then be compiled twice, once for each kind.
    """

    __slots__ = ()

    shape: tuple[int, ...]

    @property
    @abstractmethod
    def nnz(self) -> int:
        """Stored entries; padding is not one, an explicit zero is."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any] | None:
        """Type of the values; None for a pattern."""

    @property
    def arrays(self) -> tuple[Any, ...]:
        """Every array it consists of."""
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
        """Where its arrays lie: "cpu" or "cuda"; they lie together."""
        return device_of(next(iter(self.arrays)))

    @property
    def padding_ratio(self) -> float:
        """Stored slots per entry; 1 where nothing is padded."""
        return 1.0

    def to(self, device: str) -> Self:
        """The same container on a device; itself where it lies there already.

        Parameters
        ----------
        device : {"cpu", "cuda"}
            Where to.

        Returns
        -------
        Storage

        Notes
        -----
        Moving to the CPU waits for the GPU's current stream.
        """
        device = normalize_device(device)
        if device == self.device:
            return self
        moved = {}
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if isinstance(value, Storage):
                value = value.to(device)
            elif hasattr(value, "nbytes"):
                value = to_device(value, device)
            moved[field.name] = value
        return type(self)(**moved, validate=False)  # type: ignore[call-arg]

    def __repr__(self) -> str:
        size = "x".join(str(length) for length in self.shape)
        values = "pattern" if self.dtype is None else str(self.dtype)
        return f"<{type(self).__name__} {size}, {self.nnz} entries, {values}, {self.device}, {self.nbytes} bytes>"
