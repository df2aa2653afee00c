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

// Blocks of a multiprocessor: more leave too few registers for three rows in flight.
constexpr int RESIDENT = 3;

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

    // The messages of the loaded entries of row v.
    __device__ void gather_messages(const typename P::Gather& gather, i64 v, typename P::Message (&message)[BATCH]) const {
#pragma unroll
        for (int i = 0; i < BATCH; ++i) message[i] = u[i] >= 0 ? gather(i64(u[i]), w[i], v) : P::identity();
    }

    // Folds messages of the loaded entries; whether all entries exist.
    __device__ bool fold_messages(const typename P::Message (&message)[BATCH], typename P::Message& value) const {
#pragma unroll
        for (int i = 0; i < BATCH; ++i)
            if (u[i] >= 0) value = P::reduce(value, message[i]);
        return u[BATCH - 1] >= 0;
    }
};

// `sums` has two rows of COLUMNS for each block, a double buffer: those of one superstep may still be read in the next.
template <class P, class Program>
__global__ void __launch_bounds__(BLOCK, RESIDENT)
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
        SlabBatch<P> batch, next;
        typename P::Message message[BATCH];
        typename Program::Vertex held;
        if (v < rows) {
            held = here.vertex(v);
            batch.load(slab, rows, width, 0, v);
            batch.gather_messages(gather, v, message);
        }
        if (v + stride < rows) next.load(slab, rows, width, 0, v + stride);
        for (; v < rows; v += stride) {
            // While this row is updated, the next one gathers, and the entries of the one after it are loaded.
            const i64 ahead = v + stride, then = ahead + stride;
            typename P::Message message_ahead[BATCH];
            typename Program::Vertex held_ahead;
            SlabBatch<P> after;
            if (ahead < rows) {
                next.gather_messages(gather, ahead, message_ahead);
                held_ahead = here.vertex(ahead);
            }
            if (then < rows) after.load(slab, rows, width, 0, then);
            typename P::Message folded = P::identity();
            for (i64 k = BATCH; batch.fold_messages(message, folded) && k < width; k += BATCH) {
                batch.load(slab, rows, width, k, v);
                batch.gather_messages(gather, v, message);
            }
            changed += here.apply(v, held, folded, step, mine, there, nullptr);
            ++updated;
            batch = next, next = after, held = held_ahead;
#pragma unroll
            for (int i = 0; i < BATCH; ++i) message[i] = message_ahead[i];
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
