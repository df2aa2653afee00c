// A superstep by blocks of columns: the second phase of column_blocks.cuh updates each vertex as soon as its message is
// complete, so that messages are not stored in memory.
#pragma once
#include "column_blocks.cuh"
#include "sweep.cuh"

namespace hpgraph {

static_assert(BLOCK == THREADS, "sums are computed by whole blocks");

// `apply` as in sweep_rows.
template <class P, class Program, class Apply>
__device__ void sweep_groups(const typename P::Message* partial, const u16* row, const Groups& groups, Program& program,
                             const Standing* standing, double* sums_of_blocks, Apply apply) {
    extern __shared__ uint4 memory[];
    if (standing->stopped) return;
    program.take(standing->sums);
    const i64 step = standing->step + 1;
    double sums[COLUMNS<Program>] = {};
    u32 changed = 0, updated = 0;
    finish_groups<P>(partial, row, groups, reinterpret_cast<typename P::Message*>(memory),
                     [&](i64 r, typename P::Message message) {
                         changed += apply(r, message, step, sums);
                         ++updated;
                     });
    sums[Program::SUMS] = changed;
    sums[Program::SUMS + 1] = updated;
    sum_block(sums, sums_of_blocks + blockIdx.x * i64(COLUMNS<Program>));
}

template <class P, class Program>
__global__ void __launch_bounds__(BLOCK)
sweep_blocks(const typename P::Message* partial, const u16* row, Groups groups, Program program,
             const Standing* standing, double* sums_of_blocks) {
    sweep_groups<P>(partial, row, groups, program, standing, sums_of_blocks,
                    [&](i64 v, typename P::Message message, i64 step, double* sums) {
                        return program.apply(v, message, step, sums);
                    });
}

template <class P, class Program>
__global__ void __launch_bounds__(BLOCK)
sweep_blocks_and_send(const typename P::Message* partial, const u16* row, Groups groups, Program program,
                      const Standing* standing, double* sums_of_blocks, i64 first,
                      const __grid_constant__ typename Program::Others others) {
    sweep_groups<P>(partial, row, groups, program, standing, sums_of_blocks,
                    [&](i64 r, typename P::Message message, i64 step, double* sums) {
                        return program.apply_and_send(first + r, message, step, sums, others);
                    });
}

}  // namespace hpgraph
