// Supersteps in which every vertex sends and is updated, without the host between them: sums, the number of the
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
    double sums[1];  // COLUMNS of them: those of the last superstep, then the counts of changed and updated vertices
};

// `apply(r, message, step, sums)` updates the vertex of row r.
template <class Program, class Apply>
__device__ void sweep_rows(Program& program, i64 n, const typename Program::Message* message, const Standing* standing,
                           double* rows, Apply apply) {
    if (standing->stopped) return;
    program.take(standing->sums);
    const i64 step = standing->step + 1;
    double sums[COLUMNS<Program>] = {};
    u32 changed = 0, updated = 0;
    const i64 begin = (i64)blockIdx.x * SPAN;
    for (i64 r = begin + threadIdx.x; r < begin + SPAN && r < n; r += THREADS) {
        changed += apply(r, message[r], step, sums);
        ++updated;
    }
    sums[Program::SUMS] = changed;
    sums[Program::SUMS + 1] = updated;
    sum_block(sums, rows + blockIdx.x * (i64)COLUMNS<Program>);
}

template <class Program>
__global__ void __launch_bounds__(THREADS)
sweep(Program program, i64 n, const typename Program::Message* message, const Standing* standing, double* rows) {
    sweep_rows(program, n, message, standing, rows, [&](i64 v, typename Program::Message message, i64 step, double* sums) {
        return program.apply(v, message, step, sums);
    });
}

// The vertices from `first` on, whose new values are also written into the memory of other GPUs.
template <class Program>
__global__ void __launch_bounds__(THREADS)
sweep_and_send(Program program, i64 n, const typename Program::Message* message, const Standing* standing, double* rows,
               i64 first, const __grid_constant__ typename Program::Others others) {
    sweep_rows(program, n, message, standing, rows, [&](i64 r, typename Program::Message message, i64 step, double* sums) {
        return program.apply_and_send(first + r, message, step, sums, others);
    });
}

// Destinations of a GPU's sums: in its own memory, and in that of the others.
struct Places {
    i64 count;
    double* at[16];
};

// One block: adds the rows in a fixed order, and writes the sums to all places.
template <class Program>
__global__ void __launch_bounds__(THREADS)
send_sums(const double* rows, i64 count, const __grid_constant__ Places places) {
    __shared__ double total[COLUMNS<Program>];
    double mine[COLUMNS<Program>] = {};
    for (i64 r = threadIdx.x; r < count; r += THREADS)
        for (int k = 0; k < COLUMNS<Program>; ++k) mine[k] += rows[r * COLUMNS<Program> + k];
    sum_block(mine, total);
    __syncthreads();
    for (int i = threadIdx.x; i < places.count * COLUMNS<Program>; i += THREADS)
        places.at[i / COLUMNS<Program>][i % COLUMNS<Program>] = total[i % COLUMNS<Program>];
}

// One block: adds the rows in a fixed order, and evaluates `converged`.
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
