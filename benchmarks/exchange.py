"""What a level of a search on several GPUs pays for telling the others: a frontier's words and a meeting."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cuda.compile import load
from hpgraph.kernels.runtime.cuda.meeting import Parts
from hpgraph.kernels.runtime.cuda.multiprocessors import multiprocessors
from hpgraph.kernels.runtime.cuda.part import Part
from hpgraph.kernels.runtime.cuda.persistent import THREADS

LEVELS = 2000
_SOURCE = f"""#define HPGRAPH_THREADS {THREADS}
#include "meeting.cuh"
namespace hpgraph {{
struct Arrays {{ u32* of[MOST_PARTS]; }};
__global__ void __launch_bounds__(THREADS, 1) levels(const Parts parts, i64 rounds, const Arrays arrays) {{
    Meeting meeting(parts);
    for (i64 round = 0; round < rounds; ++round) {{
        share_words(meeting, arrays.of);
        meeting.meet([](Report&) {{}});
    }}
}}
}}
"""
# As launches of searches are numbered, but far from those.
_numbers = itertools.count(1 << 30)


def level(parts: Parts) -> float:
    """Seconds that it takes to write the words of a frontier of all vertices to the others, and to meet."""
    words = parts.shared("frontier to measure", (parts.n + 63) // 64 * 8)
    arrays = np.ndarray((), np.dtype((np.void, 8 * len(words))), bytearray(np.array(words, np.int64).tobytes()))

    def prepare(part: Part, number: int) -> Callable[[], Any]:
        module = load("meeting.cuh", prologue=_SOURCE, names=("hpgraph::levels",), cooperative=part.beside == 1)
        arguments = parts.struct(part, number), np.int64(LEVELS), arrays
        grid = multiprocessors() // part.beside
        return lambda: module.function("hpgraph::levels")((grid,), (THREADS,), arguments)

    times = []
    for _ in range(3):
        number, ready = next(_numbers), []
        for part in parts:
            with part.here:
                part.clear_header()
                ready.append(prepare(part, number))
                part.stream.synchronize()
        began = time.perf_counter()
        for part, launch in zip(parts, ready, strict=True):
            with part.here:
                launch()
        for part in parts:
            part.stream.synchronize()
        times.append((time.perf_counter() - began) / LEVELS)
    return min(times)
