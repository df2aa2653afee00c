// One row for every superstep, written by the first thread of the grid.
#pragma once
#include "frontier.cuh"

namespace hpgraph {

struct TraceRow {
    i64 direction, active, looked, nanoseconds;
};

__device__ inline i64 nanoseconds() {
    i64 t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

}  // namespace hpgraph
