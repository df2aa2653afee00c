"""One device or several, by the names that users give them: "cpu", "cuda", "cuda:1", "cuda:0,1", "cuda:all"."""

import contextvars
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

import numpy as np

from hpgraph.core.config import config
from hpgraph.core.device import Device, is_cuda, normalize_device, require_cupy
from hpgraph.core.errors import DeviceError
from hpgraph.core.platform import at_fork

_NAMES = 'device must be "cpu" or "cuda", "cuda:1", "cuda:0,1", "cuda:all" or a list of such'


@dataclass(frozen=True)
class Devices:
    """A placement: the CPU, CuPy's current GPU, or GPUs by number."""

    kind: Device
    indices: tuple[int, ...] = ()

    @classmethod
    def of(cls, device: Any) -> "Devices":
        """The devices of a name, or of a list of names."""
        if isinstance(device, cls):
            return device
        if isinstance(device, str):
            devices = cls._named(device)
        elif isinstance(device, Sequence) and device:
            several = [one if isinstance(one, cls) else cls._named(one) for one in device]
            if len(several) > 1 and any(one.kind == "cpu" for one in several):
                raise ValueError(f"a graph can be divided only between GPUs, not {list(device)!r}: name GPUs by number")
            devices = several[0]
            if len(several) > 1:
                devices = cls("cuda", tuple(index for one in several for index in one.indices or (_current(),)))
        else:
            raise ValueError(f"{_NAMES}, not {device!r}")
        twice = [index for index in devices.indices if devices.indices.count(index) > 1]
        if twice:
            raise ValueError(f"device names cuda:{twice[0]} twice: name each GPU once")
        available = _count() if devices.indices else 0
        for index in devices.indices:
            if index >= available:
                raise DeviceError(
                    f"there is no cuda:{index}: the GPUs here are numbered from 0 to {available - 1}; see nvidia-smi "
                    "and CUDA_VISIBLE_DEVICES"
                )
        return devices

    @classmethod
    def _named(cls, name: str) -> Self:
        if not isinstance(name, str):
            raise ValueError(f"{_NAMES}, not {name!r}")
        kind, colon, numbers = name.lower().partition(":")
        if not colon:
            try:
                return cls(normalize_device(kind))
            except ValueError:
                raise ValueError(f"{_NAMES}, not {name!r}") from None
        if kind not in ("cuda", "gpu"):
            raise ValueError(f"{_NAMES}, not {name!r}")
        if numbers == "all":
            return cls("cuda", tuple(range(_count())))
        listed = numbers.split(",")
        if not all(number.strip().isdecimal() for number in listed):
            raise ValueError(f"{_NAMES}, not {name!r}")
        return cls("cuda", tuple(int(number) for number in listed))

    def __len__(self) -> int:
        return max(1, len(self.indices))

    def __iter__(self) -> "Iterator[Devices]":
        """Iterate over the devices, as `Devices` of one."""
        return iter([Devices(self.kind, (index,)) for index in self.indices] or [self])

    @property
    def here(self) -> Any:
        """A context in which the one device is CuPy's current one; on the CPU it does nothing."""
        return nullcontext() if not self.indices else require_cupy().cuda.Device(self.indices[0])

    def __str__(self) -> str:
        return self.kind + (f":{','.join(map(str, self.indices))}" if self.indices else "")


def _count() -> int:
    return int(require_cupy().cuda.runtime.getDeviceCount())


def _current() -> int:
    return int(require_cupy().cuda.runtime.getDevice())


def current_index(device: str) -> int:
    """The number of CuPy's current GPU for "cuda", -1 for "cpu"."""
    return _current() if device == "cuda" else -1


def device_index(array: Any) -> int:
    """The number of the GPU that an array lies on; -1 for one on the CPU."""
    return int(array.device.id) if is_cuda(array) else -1


def place_of(array: Any) -> Devices:
    """The one device that an array lies on."""
    return Devices("cuda", (device_index(array),)) if is_cuda(array) else Devices("cpu")


def require_current(index: int, what: str) -> None:
    """Refuse arrays on another GPU than CuPy's current one."""
    if index != _current():
        raise DeviceError(
            f"{what} lies on cuda:{index}, and CuPy's current device is cuda:{_current()}: work on it within "
            f"cupy.cuda.Device({index}), as in ``with cupy.cuda.Device({index}): hpgraph.bfs(G, 0)``"
        )


def move_array(array: Any, device: Devices, *, hold: bool = True) -> Any:
    """The array on one device, the same object where it lies there already; current streams see the copy done."""
    if array is None or (device.kind == "cpu" and not is_cuda(array)):
        return array
    if device.kind == "cpu":
        with require_cupy().cuda.Device(device_index(array)):
            return array.get()
    cupy = require_cupy()
    with device.here:
        if not is_cuda(array):
            return cupy.asarray(array)
        if device_index(array) == _current():
            return array
        moved = cupy.empty(array.shape, array.dtype)
        copy_between(array, moved, hold=hold)
        return moved


def copy_between(source: Any, target: Any, *, hold: bool = True) -> None:
    """Copy an array into another of its size, on any devices.

    From a GPU to another on a stream of its own, after the work so far of both devices' current streams; without peer
    access, the driver copies through main memory. The current stream of the target's device waits for the copy; the
    host does not. With `hold` the source's stream waits too; without it the caller must neither write to the source nor
    free it until then.
    """
    if not is_cuda(target):
        target[...] = source
        return
    cupy = require_cupy()
    from_index, to_index = device_index(target), device_index(source)
    if from_index == to_index:
        with cupy.cuda.Device(from_index):
            target[...] = source
        return
    with cupy.cuda.Device(to_index):
        if not source.flags.c_contiguous:
            # A copy, freed when this returns.
            source, hold = cupy.ascontiguousarray(source), True
    between = _between(from_index)
    for device in (from_index, to_index):
        with cupy.cuda.Device(device):
            # The target may be reused memory that is still being read.
            between.wait_event(cupy.cuda.get_current_stream().record(cupy.cuda.Event(disable_timing=True)))
    with cupy.cuda.Device(from_index):
        copy_on(between, source, target)
        done = between.record(cupy.cuda.Event(disable_timing=True))
    for device in (from_index, to_index) if hold else (from_index,):
        with cupy.cuda.Device(device):
            cupy.cuda.get_current_stream().wait_event(done)


def copy_on(stream: Any, source: Any, target: Any) -> None:
    """Enqueue on a stream a copy from a GPU to the same or another."""
    # Empty arrays have no address that the driver would take.
    if source.nbytes:
        require_cupy().cuda.runtime.memcpyPeerAsync(
            target.data.ptr, device_index(target), source.data.ptr, device_index(source), source.nbytes, stream.ptr
        )


@cache
def _between(device: int) -> Any:
    """The stream of copies to a GPU from others; the default stream would synchronize with other work of both."""
    cupy = require_cupy()
    with cupy.cuda.Device(device):
        return cupy.cuda.Stream(non_blocking=True)


def follow(device: Devices, other: Devices) -> None:
    """Make a device's current stream wait for the work submitted to another's so far; the host does not wait."""
    if device == other or device.kind == "cpu":
        return
    cupy = require_cupy()
    with other.here:
        done = cupy.cuda.Event(disable_timing=True)
        done.record(cupy.cuda.get_current_stream())
    with device.here:
        cupy.cuda.get_current_stream().wait_event(done)


def reach_each_other(devices: Devices) -> bool:
    """Let the GPUs read and write each other's memory; whether they all can."""
    if devices.kind != "cuda":
        return False
    return _reach(devices.indices) if config.peer_access else _kept_apart(devices)


@cache
def _kept_apart(devices: Devices) -> bool:
    warnings.warn(
        f"{devices} do not access each other's memory, as peer_access is off: they exchange data through the host, "
        "slowly",
        stacklevel=3,
    )
    return False


@cache
def _reach(indices: tuple[int, ...]) -> bool:
    cupy = require_cupy()
    runtime = cupy.cuda.runtime
    apart = [
        (gpu, other)
        for gpu in indices
        for other in indices
        if gpu != other and not runtime.deviceCanAccessPeer(gpu, other)
    ]
    if apart:
        gpu, other = apart[0]
        warnings.warn(
            f"cuda:{gpu} has no access to the memory of cuda:{other}: they exchange data through the host, slowly",
            stacklevel=3,
        )
        return False
    for gpu in indices:
        with cupy.cuda.Device(gpu):
            for other in indices:
                if gpu == other:
                    continue
                try:
                    runtime.deviceEnablePeerAccess(other)
                except runtime.CUDARuntimeError as error:
                    # Access may be enabled already, such as by CuPy.
                    if "AlreadyEnabled" not in str(error):
                        raise
    return True


def even_ranges(indptr: Any, parts: int, multiple: int = 64, shares: Sequence[float] | None = None) -> np.ndarray:
    """Ranges of rows with about equally many entries: int64 array of shape (parts + 1,), from 0 to the rows."""
    n = len(indptr) - 1
    total = int(indptr[-1])
    targets = np.array([total * part // parts for part in range(1, parts)], np.int64)
    if shares is not None:
        targets = (np.cumsum(shares)[:-1] * total).astype(np.int64)
    if is_cuda(indptr):
        targets = require_cupy().asarray(targets)
    inner = indptr.searchsorted(targets)
    inner = np.asarray(inner.get() if is_cuda(inner) else inner, np.int64)
    inner = np.minimum((inner + multiple // 2) // multiple * multiple, n)
    return np.concatenate(([0], np.maximum.accumulate(inner), [n])).astype(np.int64)


# Maximum number of threads that call GPUs.
_MAX_GPUS = 16


def on_each(devices: Sequence[Devices], work: Callable[[int], Any]) -> list[Any]:
    """Results of `work` on several devices in parallel, in their order; waits for the GPUs."""

    def there(number: int) -> Any:
        with devices[number].here:
            result = work(number)
            if devices[number].kind == "cuda":
                require_cupy().cuda.get_current_stream().synchronize()
            return result

    if len(devices) == 1 or devices[0].kind == "cpu":
        return [there(number) for number in range(len(devices))]
    cupy = require_cupy()
    for device in devices:
        with device.here:
            # The caller's stream may still be writing the arrays that the work reads.
            cupy.cuda.get_current_stream().synchronize()
    threads = _threads()
    waiting = [threads.submit(contextvars.copy_context().run, there, number) for number in range(1, len(devices))]
    try:
        return [there(0), *(future.result() for future in waiting)]
    finally:
        # All work has finished before an error is raised.
        wait(waiting)


def shares(count: int, devices: int) -> list[slice]:
    """The share of each device in many independent searches: nearly equal parts, in order, none empty."""
    parts = min(count, devices)
    return [slice(count * part // parts, count * (part + 1) // parts) for part in range(parts)]


@cache
def _threads() -> ThreadPoolExecutor:
    """A persistent thread pool: the first call to a GPU from a new thread takes a millisecond."""
    return ThreadPoolExecutor(_MAX_GPUS, "hpgraph-gpu")


# A forked child has none of its parent's threads.
at_fork(after_in_child=_threads.cache_clear)
