"""What a level of a search on several GPUs spends on communication: the words of a frontier and a barrier."""

import time
from functools import cache, partial
from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cuda.compile import load
from hpgraph.kernels.runtime.cuda.multi_gpu_barrier import Launch, Parts
from hpgraph.kernels.runtime.cuda.multiprocessors import multiprocessors
from hpgraph.kernels.runtime.cuda.part import Part
from hpgraph.kernels.runtime.cuda.persistent import THREADS

LEVELS = 2000
SOURCE = f"""#define HPGRAPH_THREADS {THREADS}
#include "multi_gpu_barrier.cuh"
namespace hpgraph {{
struct Arrays {{ u32* of[MAX_PARTS]; }};
__global__ void __launch_bounds__(THREADS, 1)
levels(i64 rounds, const Arrays arrays, const Parts parts, u64 launch) {{
    __shared__ BlockFlags flags;
    MultiGpuBarrier barrier(parts, launch, flags);
    for (i64 round = 0; round < rounds; ++round) {{
        share_words(barrier, arrays.of);
        barrier.meet([](Report&) {{}});
    }}
}}
}}
"""


def level(parts: Parts) -> float:
    """Seconds that it takes to write the words of a frontier of all vertices to the other GPUs and to wait for them."""
    words = parts.shared("frontier to measure", (parts.n + 63) // 64 * 8)
    arrays = np.ndarray((), np.dtype((np.void, 8 * len(words))), bytearray(np.array(words, np.int64).tobytes()))

    def prepare(part: Part, own: Any, trace: Any) -> Launch:
        return Launch(_kernel(part.rows.device, part.beside), (np.int64(LEVELS), arrays))

    times = []
    for _ in range(4):
        began = time.perf_counter()
        parts.run(prepare).wait()
        times.append((time.perf_counter() - began) / LEVELS)
    return min(times)


@cache
def _kernel(device: int, beside: int) -> Any:
    module = load("multi_gpu_barrier.cuh", prologue=SOURCE, names=("hpgraph::levels",), cooperative=beside == 1)
    return partial(module.function("hpgraph::levels"), (multiprocessors() // beside,), (THREADS,))
