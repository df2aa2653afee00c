// A superstep by blocks of columns: the second phase of column_blocks.cuh updates each vertex as soon as its message is
// complete, so that messages are not stored in memory.
#pragma once
#include "column_blocks.cuh"
#include "sweep.cuh"

namespace hpgraph {

static_assert(BLOCK == THREADS, "sums are computed by whole blocks");

template <class P, class Program>
__global__ void __launch_bounds__(BLOCK)
sweep_blocks(const typename P::Message* partial, const u16* row, Groups groups, Program program,
             const Standing* standing, double* sums_of_blocks, i64 first,
             const __grid_constant__ typename Program::Others others) {
    extern __shared__ uint4 memory[];
    if (standing->stopped) return;
    program.take(standing->sums);
    Update<Program> update{program, others, first, standing->step + 1};
    finish_groups<P>(partial, row, groups, reinterpret_cast<typename P::Message*>(memory), update);
    update.finish(sums_of_blocks + blockIdx.x * i64(COLUMNS<Program>));
}

}  // namespace hpgraph
