// A run of supersteps over a matrix that is all slab, in one cooperative launch: each vertex folds its row, is updated
// and adds to the sums in one pass; after a barrier, each block adds up the sums of all blocks.
//
// Beside its memory traffic a superstep costs one barrier, and messages are not stored in memory.
// Properties that `gather` reads are double-buffered: one copy is read, one written, and they swap roles after each
// superstep. For the others `here` and `there` have the same array.
#pragma once
#include "persistent.cuh"
#include "spmv.cuh"
#include "sweep.cuh"

namespace hpgraph {

static_assert(BLOCK == THREADS, "sums are computed by whole blocks");

template <class P>
struct SlabBatch {
    typename P::Index u[BATCH];
    typename P::Weight w[BATCH];

    // Entries k and following of row v.
    __device__ void load(const Entries<P>& slab, i64 rows, i64 width, i64 k, i64 v) {
        const i64 begin = k * rows + v;
        if (k + BATCH <= width) {
#pragma unroll
            for (int i = 0; i < BATCH; ++i) {
                u[i] = stream(slab.indices + begin + i * rows);
                w[i] = slab.weight(begin + i * rows);
            }
            return;
        }
#pragma unroll
        for (int i = 0; i < BATCH; ++i) {
            u[i] = k + i < width ? stream(slab.indices + begin + i * rows) : typename P::Index(-1);
            w[i] = k + i < width ? slab.weight(begin + i * rows) : typename P::Weight();
        }
    }

    // The message of row v, whose first entries are loaded.
    __device__ typename P::Message fold_row(const typename P::Gather& gather, const Entries<P>& slab, i64 rows,
                                            i64 width, i64 v) {
        Fold<P> fold{P::identity(), false};
        for (i64 k = 0;;) {
            bool live[BATCH];
#pragma unroll
            for (int i = 0; i < BATCH; ++i) live[i] = u[i] >= 0;
            const bool full = live[BATCH - 1];
            fold_batch<P>(gather, u, w, live, v, Sets{}, fold);
            k += BATCH;
            if (!full || k >= width) return fold.value;
            load(slab, rows, width, k, v);
        }
    }
};

// `sums` has two rows of COLUMNS for each block, a double buffer: those of one superstep may still be read in the next.
template <class P, class Program>
__global__ void __launch_bounds__(BLOCK, 5)
sweep_slab(Program here, Program there, typename P::Gather gather, typename P::Gather gather_there, Entries<P> slab,
           i64 rows, i64 width, i64 limit, Standing* standing, double* sums, unsigned* arrived) {
    __shared__ double total[COLUMNS<Program>];
    GridBarrier barrier(arrived);
    if (threadIdx.x < COLUMNS<Program>) total[threadIdx.x] = standing->sums[threadIdx.x];
    __syncthreads();
    const i64 stride = i64(gridDim.x) * BLOCK;
    i64 step = 0;
    bool stopped = false;
    while (step < limit && !stopped) {
        ++step;
        here.take(total);
        double mine[COLUMNS<Program>] = {};
        u32 changed = 0, updated = 0;
        i64 v = i64(blockIdx.x) * BLOCK + threadIdx.x;
        SlabBatch<P> next;
        if (v < rows) next.load(slab, rows, width, 0, v);
        typename Program::Vertex held_next = here.vertex(v < rows ? v : 0);
        for (; v < rows; v += stride) {
            SlabBatch<P> batch = next;
            const typename Program::Vertex held = held_next;
            // Prefetch the next row's entries and properties while this row gathers; after the last, its own again.
            const i64 ahead = v + stride < rows ? v + stride : v;
            next.load(slab, rows, width, 0, ahead);
            held_next = here.vertex(ahead);
            changed += here.apply(v, held, batch.fold_row(gather, slab, rows, width, v), step, mine, there, nullptr);
            ++updated;
        }
        mine[Program::SUMS] = changed;
        mine[Program::SUMS + 1] = updated;
        double* const of_blocks = sums + (step & 1) * i64(gridDim.x) * COLUMNS<Program>;
        sum_block(mine, of_blocks + blockIdx.x * i64(COLUMNS<Program>));
        barrier.wait();
        add_rows<Program>(of_blocks, gridDim.x, total);
        here.take(total);
        stopped = total[Program::SUMS] == 0 || here.converged(step);
        const Program written = there;
        there = here;
        here = written;
        const typename P::Gather gather_written = gather_there;
        gather_there = gather;
        gather = gather_written;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        standing->step = step;
        standing->stopped = stopped;
        for (int k = 0; k < COLUMNS<Program>; ++k) standing->sums[k] = total[k];
    }
}

}  // namespace hpgraph
