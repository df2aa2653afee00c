// Supersteps in which every vertex sends and is updated, one after another without the host: sums, the number of the
// superstep and whether to stop stay on the device.
//
// The host adds to the program: take(sums), which puts the last superstep's sums in its parameters, and
// converged(step). Launches that follow the end find it stopped and change nothing, so the host may run ahead.
#pragma once
#include "apply.cuh"

namespace hpgraph {

struct Standing {
    i64 step;     // supersteps done
    i64 stopped;
    double sums[1];  // COLUMNS of them: those of the last superstep, then who changed and who was updated
};

// Updates n vertices from `first` on, whose messages these are.
template <class Program>
__global__ void __launch_bounds__(THREADS)
sweep(Program program, i64 first, i64 n, const typename Program::Message* message, const Standing* standing,
      double* rows) {
    if (standing->stopped) return;
    program.take(standing->sums);
    const i64 step = standing->step + 1;
    double sums[COLUMNS<Program>] = {};
    u32 changed = 0, updated = 0;
    const i64 begin = (i64)blockIdx.x * SPAN;
    for (i64 v = begin + threadIdx.x; v < begin + SPAN && v < n; v += THREADS) {
        changed += program.apply(first + v, message[v], step, sums);
        ++updated;
    }
    sums[Program::SUMS] = changed;
    sums[Program::SUMS + 1] = updated;
    sum_block(sums, rows + blockIdx.x * (i64)COLUMNS<Program>);
}

// One block: adds the rows in a fixed order, and asks the program whether that was all.
template <class Program>
__global__ void __launch_bounds__(THREADS) conclude(Program program, const double* rows, i64 count, Standing* standing) {
    if (standing->stopped) return;
    double mine[COLUMNS<Program>] = {};
    for (i64 r = threadIdx.x; r < count; r += THREADS)
        for (int k = 0; k < COLUMNS<Program>; ++k) mine[k] += rows[r * COLUMNS<Program> + k];
    sum_block(mine, standing->sums);
    __syncthreads();
    if (threadIdx.x == 0) {
        program.take(standing->sums);
        const i64 step = ++standing->step;
        standing->stopped = standing->sums[Program::SUMS] == 0 || program.converged(step);
    }
}

}  // namespace hpgraph
