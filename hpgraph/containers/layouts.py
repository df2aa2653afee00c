"""Several layouts of one matrix, which may share arrays: counted once, copied once, and shared by their copies too."""

import functools
from collections.abc import Callable
from typing import Any

from hpgraph.core.device import Device, array_module, check_memory, is_cuda, normalize_device, require_cupy, to_device
from hpgraph.core.devices import Devices, move_array
from hpgraph.core.locks import Lock
from hpgraph.formats import Storage


class Layouts:
    """Thread-safe cache of layouts and of values computed from them, by name: built on first use, under `lock`."""

    def __init__(self, **given: Any) -> None:
        self._kept = given
        self.lock = Lock()

    def __getitem__(self, name: str) -> Any:
        return self._kept[name]

    def __setitem__(self, name: str, value: Any) -> None:
        with self.lock:
            self._kept[name] = value

    def __contains__(self, name: str) -> bool:
        return name in self._kept

    def get(self, name: str) -> Any:
        """The cached value, or None."""
        return self._kept.get(name)

    def once(self, name: str, build: Callable[[], Any]) -> Any:
        """The cached value, built on first use."""
        try:
            return self._kept[name]
        except KeyError:
            pass
        with self.lock:
            if name not in self._kept:
                value = build()
                if _is_on_gpu(value):
                    # Other threads may read it on other streams.
                    require_cupy().cuda.get_current_stream().synchronize()
                self._kept[name] = value
            return self._kept[name]

    @property
    def nbytes(self) -> int:
        """Bytes of all cached arrays; arrays that layouts share count once."""
        return sum(array.nbytes for array in self._arrays().values())

    def _arrays(self) -> dict[int, Any]:
        """Every cached array, by identity."""
        arrays: dict[int, Any] = {}
        with self.lock:
            values = list(self._kept.values())
        for value in values:
            if isinstance(value, Storage):
                arrays.update((id(array), array) for array in value.arrays)
            elif hasattr(value, "nbytes"):
                arrays[id(value)] = value
        return arrays

    def to(self, device: str, what: str) -> "Layouts":
        """Copies of everything cached, on another device."""
        device = normalize_device(device)
        array_module(device)  # raises without CuPy, before anything is counted
        check_memory(self.nbytes, f"a copy of {what}", device)
        moved: dict[int, Any] = {}
        with self.lock:
            values = dict(self._kept)
        return Layouts(**{name: _move(value, device, moved) for name, value in values.items()})


def _is_on_gpu(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(map(_is_on_gpu, value))
    return is_cuda(value) or getattr(value, "device", None) == "cuda"


def _move(value: Any, device: Device, moved: dict[int, Any]) -> Any:
    if id(value) in moved:
        return moved[id(value)]
    again = functools.partial(_move, device=device, moved=moved)
    result = value
    if isinstance(value, Storage):
        result = value._with_each(again)
    elif hasattr(value, "to"):
        result = value.to(device)
    elif hasattr(value, "nbytes"):
        # Another GPU may be the current one.
        result = move_array(value, Devices(device)) if is_cuda(value) else to_device(value, device)
    moved[id(value)] = result
    return result
