"""What two or more GPUs pay for telling each other something: NCCL, copies, and writes by kernels, side by side.

Every GPU has so many bytes, and all have all in the end. The times are of one round of many in a row, none of which
begins on any GPU before the last one has ended on all. How long searches take to meet without the host is
``python -m benchmarks several-gpus --works level``.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hpgraph.core.device import require_cupy
from hpgraph.core.devices import Devices, reach_each_other

from .record import Record, command_parser
from .report import aligned

SIZES = {"8 B": 8, "1 MiB": 1 << 20, "8 MiB": 8 << 20, "256 MiB": 256 << 20}
# Bytes that all rounds of a measurement move at the most, and rounds.
MAX_BYTES, MAX_ROUNDS = 16 << 30, 500
# 8 bytes a thread, as kernels write words of frontiers and values of doubles.
_WRITE = r"""
extern "C" __global__ void tell(const unsigned long long* from, unsigned long long* to, long long words) {
    const long long all = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < words; i += all) to[i] = from[i];
}
"""


class Gpus:
    """Arrays and streams on several GPUs.

    Parameters
    ----------
    devices : Devices
    nbytes : int
        That each has to tell.
    """

    def __init__(self, devices: Devices, nbytes: int) -> None:
        cupy = require_cupy()
        self.cupy, self.indices, self.words = cupy, devices.indices, nbytes // 8
        self.streams, self.own, self.all, self.done = [], [], [], []
        for number, index in enumerate(self.indices):
            with cupy.cuda.Device(index):
                self.streams.append(cupy.cuda.Stream(non_blocking=True))
                self.own.append(cupy.full(self.words, number + 1, np.uint64))
                self.all.append(cupy.zeros(self.words * len(devices), np.uint64))
                self.done.append(cupy.cuda.Event(disable_timing=True))
        self.wait()

    def wait(self) -> None:
        """Until all is done."""
        for index in self.indices:
            with self.cupy.cuda.Device(index):
                self.cupy.cuda.runtime.deviceSynchronize()

    def part(self, number: int, of: int) -> Any:
        """Destination on a GPU of the values received from another."""
        return self.all[number][of * self.words : (of + 1) * self.words]

    def meet(self) -> None:
        """Have every stream wait for what all have been given so far."""
        for index, stream, done in zip(self.indices, self.streams, self.done, strict=True):
            with self.cupy.cuda.Device(index):
                done.record(stream)
        for index, stream in zip(self.indices, self.streams, strict=True):
            with self.cupy.cuda.Device(index):
                for done in self.done:
                    stream.wait_event(done)

    def check(self) -> bool:
        """Whether each GPU has all; then what they have is cleared."""
        self.wait()
        right = True
        for number, array in enumerate(self.all):
            with array.device:
                right &= all(bool((self.part(number, of) == of + 1).all()) for of in range(len(self.indices)))
                array.fill(0)
        self.wait()
        return right


def copies(gpus: Gpus) -> Callable[[], None]:
    """The copy engines' copies from GPU to GPU, each on the taker's stream."""
    runtime = gpus.cupy.cuda.runtime

    def round_() -> None:
        for number, (index, stream) in enumerate(zip(gpus.indices, gpus.streams, strict=True)):
            with gpus.cupy.cuda.Device(index):
                for of, source in enumerate(gpus.own):
                    place = gpus.part(number, of)
                    runtime.memcpyPeerAsync(
                        place.data.ptr, index, source.data.ptr, gpus.indices[of], source.nbytes, stream.ptr
                    )
        gpus.meet()

    return round_


def writes(gpus: Gpus) -> Callable[[], None]:
    """Kernels that write into the others' memory."""
    cupy = gpus.cupy
    kernels = []
    for index in gpus.indices:
        with cupy.cuda.Device(index):
            kernels.append(cupy.RawKernel(_WRITE, "tell"))
    blocks = min(-(-gpus.words // 256), 4 * 132)

    def round_() -> None:
        for of, (index, stream, kernel) in enumerate(zip(gpus.indices, gpus.streams, kernels, strict=True)):
            with cupy.cuda.Device(index), stream:
                for number in range(len(gpus.indices)):
                    # The address alone: CuPy would ask, at every launch, whether the array may be reached.
                    there = np.uint64(gpus.part(number, of).data.ptr)
                    kernel((blocks,), (256,), (gpus.own[of], there, np.int64(gpus.words)))
        gpus.meet()

    return round_


def nccl(gpus: Gpus) -> Callable[[], None]:
    """NCCL's all-gather."""
    from cupy.cuda import nccl as library

    communicators = library.NcclCommunicator.initAll(list(gpus.indices))

    def round_() -> None:
        library.groupStart()
        for communicator, index, stream, own, everything in zip(
            communicators, gpus.indices, gpus.streams, gpus.own, gpus.all, strict=True
        ):
            with gpus.cupy.cuda.Device(index):
                communicator.allGather(
                    own.data.ptr, everything.data.ptr, gpus.words, library.NCCL_UINT64, stream.ptr
                )  # fmt: skip
        library.groupEnd()
        gpus.meet()

    return round_


WAYS: dict[str, Callable[[Gpus], Callable[[], None]]] = {"copies": copies, "writes": writes, "nccl": nccl}


def measure(way: Callable[[Gpus], Callable[[], None]], devices: Devices, nbytes: int) -> tuple[float, bool]:
    """Seconds of a round, the least of five means, and whether all had all."""
    gpus = Gpus(devices, nbytes)
    round_ = way(gpus)
    round_()
    right = gpus.check()
    rounds = min(MAX_ROUNDS, max(5, MAX_BYTES // (5 * nbytes)))
    times = []
    for _ in range(5):
        gpus.wait()
        began = time.perf_counter()
        for _ in range(rounds):
            round_()
        gpus.wait()
        times.append((time.perf_counter() - began) / rounds)
    return min(times), right and gpus.check()


def main(words: Sequence[str]) -> int:
    """Measure, print a table, and save the results.

    Returns
    -------
    int
        1 when something did not arrive, else 0.
    """
    parser = command_parser("all-gather", __doc__)
    parser.add_argument("--devices", default="cuda:all", help="which GPUs (cuda:all)")
    parser.add_argument("--ways", default=",".join(WAYS), help="of " + ", ".join(WAYS))
    chosen = parser.parse_args(words)
    devices = Devices.of(chosen.devices)
    if not reach_each_other(devices):
        raise SystemExit("these GPUs have no access to each other's memory")
    ways = chosen.ways.split(",")
    try:
        from cupy.cuda import nccl as _  # noqa: F401
    except ImportError as error:
        print(f"NCCL is not here: {error}", flush=True)
        ways = [way for way in ways if way != "nccl"]
    record = Record.of(chosen, words, "cuda")
    rows, saved, wrong = [["each has", *(f"{way}, µs" for way in ways)]], {}, False
    for name, nbytes in SIZES.items():
        row = [name]
        for way in ways:
            seconds, right = measure(WAYS[way], devices, nbytes)
            wrong = wrong or not right
            row.append(f"{seconds * 1e6:,.1f}" if right else "WRONG")
            saved[f"{way}, {name}"] = {"seconds": seconds, "right": right}
        rows.append(row)
        print("  ".join(row), flush=True)
    print("\n".join(aligned(rows)))
    record.save(all_gather={"devices": str(devices), **saved})
    print(f"saved in {record.path}")
    return int(wrong)
