// APPLY: update each vertex from its combined message, and compute the sums over all vertices.
//
// A block serves SPAN consecutive vertices and leaves one row of sums; a second kernel adds the rows in a fixed order,
// so that sums repeat bit for bit. Program::WIDTH is the number of numbers of a message that is a tuple, else 0.
#pragma once
#include "warp.cuh"

namespace hpgraph {

constexpr int THREADS = 256;
constexpr int SPAN = 2048;

// Two counts follow a program's sums: vertices that changed, and vertices updated.
template <class Program>
constexpr int COLUMNS = Program::SUMS + 2;

// A block's sums in a fixed order. Collective over a block of THREADS threads; row is complete after its next barrier.
template <int N>
__device__ void sum_block(double (&mine)[N], double* row) {
    __shared__ double partial[THREADS / 32][N];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int k = 0; k < N; ++k) {
        for (int d = 16; d; d >>= 1) mine[k] += __shfl_down_sync(ALL, mine[k], d);
        if (lane == 0) partial[warp][k] = mine[k];
    }
    __syncthreads();
    if (threadIdx.x < N) {
        double total = 0;
        for (int w = 0; w < THREADS / 32; ++w) total += partial[w][threadIdx.x];
        row[threadIdx.x] = total;
    }
}

template <class Program>
__global__ void __launch_bounds__(THREADS)
apply(Program program, i64 n, typename Program::Number* messages, const u32* received, i64 step, u32* active,
      double* rows) {
    const int lane = threadIdx.x & 31;
    double sums[COLUMNS<Program>] = {};
    const i64 begin = (i64)blockIdx.x * SPAN;
    for (i64 v = begin + threadIdx.x; v < begin + SPAN && v - lane < n; v += THREADS) {
        const u32 wanted = received[v >> 5];
        bool changed = false;
        if (v < n && (wanted >> lane & 1)) {
            if constexpr (Program::WIDTH == 0) {
                changed = program.apply(v, messages[v], step, sums);
            } else {
                // `apply` indexes v's message itself, which is then reset: the next product accumulates into it.
                changed = program.apply(v, messages, step, sums);
                for (int k = 0; k < Program::WIDTH; ++k) messages[v * Program::WIDTH + k] = Program::identity();
            }
            sums[Program::SUMS + 1] += 1;
        }
        const u32 bits = __ballot_sync(ALL, changed);
        if (lane == 0) active[v >> 5] = bits;
        sums[Program::SUMS] += changed;
    }
    sum_block(sums, rows + blockIdx.x * (i64)COLUMNS<Program>);
}

template <class Program>
__global__ void __launch_bounds__(THREADS) contribute(Program program, i64 n, double* rows) {
    double sums[COLUMNS<Program>] = {};
    const i64 begin = (i64)blockIdx.x * SPAN;
    for (i64 v = begin + threadIdx.x; v < begin + SPAN && v < n; v += THREADS) program.contribute(v, 0, sums);
    sum_block(sums, rows + blockIdx.x * (i64)COLUMNS<Program>);
}

template <class Program>
__global__ void __launch_bounds__(THREADS) total(const double* rows, i64 count, double* sums) {
    double mine[COLUMNS<Program>] = {};
    for (i64 r = threadIdx.x; r < count; r += THREADS)
        for (int k = 0; k < COLUMNS<Program>; ++k) mine[k] += rows[r * COLUMNS<Program> + k];
    sum_block(mine, sums);
}

template <class Program>
__global__ void __launch_bounds__(THREADS) settle(Program program, i64 n, u32* settled) {
    const int lane = threadIdx.x & 31;
    const i64 v = (i64)blockIdx.x * THREADS + threadIdx.x;
    // The mask has 64-bit words: the upper half of a word may lie entirely past the last vertex.
    if (v - lane >= (n + 63) / 64 * 64) return;
    const u32 bits = __ballot_sync(ALL, v < n && !program.cond(v));
    if (lane == 0) settled[v >> 5] = bits;
}

}  // namespace hpgraph
