// Supersteps in which every vertex sends and is updated, without the host between them: sums, the number of the
// superstep and whether to stop stay on the device.
//
// The host adds to the program: take(sums), which stores the last superstep's sums in its parameters, and
// converged(step). Launches after convergence find `stopped` set and change nothing, so the host may run ahead.
#pragma once
#include "apply.cuh"

namespace hpgraph {

struct Standing {
    i64 step;     // supersteps done
    i64 stopped;
    double sums[1];  // COLUMNS of them: those of the last superstep, then the counts of changed and updated vertices
};

// Update a vertex whose message is complete, and add to the thread's sums and counts. The vertices of other rows begin
// at `first`; new values are also written into the memory of `others`.
template <class Program>
struct Update {
    const Program& program;
    const typename Program::Others& others;
    i64 first, step;
    double sums[COLUMNS<Program>] = {};
    u32 changed = 0, updated = 0;

    using Held = typename Program::Vertex;
    __device__ Held fetch(i64 r) const { return program.vertex(first + r); }
    __device__ void operator()(i64 r, typename Program::Message message, const Held& held) {
        changed += program.apply(first + r, held, message, step, sums, program, &others);
        ++updated;
    }

    // Add up the block's sums; collective over the block.
    __device__ void finish(double* of_block) {
        sums[Program::SUMS] = changed;
        sums[Program::SUMS + 1] = updated;
        sum_block(sums, of_block);
    }
};

// The vertices from `first` on.
template <class Program>
__global__ void __launch_bounds__(THREADS)
sweep(Program program, i64 n, const typename Program::Message* message, const Standing* standing, double* rows,
      i64 first, const __grid_constant__ typename Program::Others others) {
    if (standing->stopped) return;
    program.take(standing->sums);
    Update<Program> update{program, others, first, standing->step + 1};
    const i64 begin = (i64)blockIdx.x * SPAN;
    for (i64 r = begin + threadIdx.x; r < begin + SPAN && r < n; r += THREADS) update(r, message[r], update.fetch(r));
    update.finish(rows + blockIdx.x * (i64)COLUMNS<Program>);
}

// Destinations of a GPU's sums: in its own memory, and in that of the others.
struct Places {
    i64 count;
    double* at[16];
};

// Add rows of sums in a fixed order, by one block.
template <class Program>
__device__ void add_rows(const double* rows, i64 count, double* total) {
    double mine[COLUMNS<Program>] = {};
    for (i64 r = threadIdx.x; r < count; r += THREADS)
        for (int k = 0; k < COLUMNS<Program>; ++k) mine[k] += __ldcg(rows + r * COLUMNS<Program> + k);
    sum_block(mine, total);
    __syncthreads();
}

// One block: adds the rows, and writes the sums to all places.
template <class Program>
__global__ void __launch_bounds__(THREADS)
send_sums(const double* rows, i64 count, const __grid_constant__ Places places) {
    __shared__ double total[COLUMNS<Program>];
    add_rows<Program>(rows, count, total);
    for (int i = threadIdx.x; i < places.count * COLUMNS<Program>; i += THREADS)
        places.at[i / COLUMNS<Program>][i % COLUMNS<Program>] = total[i % COLUMNS<Program>];
}

// One block: adds the rows, and evaluates `converged`. `to_host`: set in the host's memory once it holds, or null.
template <class Program>
__global__ void __launch_bounds__(THREADS)
conclude(Program program, const double* rows, i64 count, Standing* standing, i64* to_host) {
    if (standing->stopped) return;
    add_rows<Program>(rows, count, standing->sums);
    if (threadIdx.x == 0) {
        program.take(standing->sums);
        const i64 step = ++standing->step;
        standing->stopped = standing->sums[Program::SUMS] == 0 || program.converged(step);
        if (to_host && standing->stopped) *to_host = 1;
    }
}

}  // namespace hpgraph
