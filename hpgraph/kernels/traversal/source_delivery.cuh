// Delivery of bits that are set for the first time: a vertex program receives a message, or a level is counted.
#pragma once
#include "source_words.cuh"

namespace hpgraph {

// The messages of a vertex program. `by_arc`: a message depends on its sender or its arc; if not, a vertex receives
// once in a superstep, whichever arc brings the bits.
template <class Program, bool by_arc>
struct Messages {
    static constexpr bool BY_ARC = by_arc, COUNTS = false, CHOOSES = Program::CHOOSES_ARCS;
    const Program &program, &samples;
    i64 n;

    __device__ Program of(int source) const { return program.of_source((i64)source * n); }

    __device__ void start(i64 v, int source) const {
        of(source).fill(v);
        of(source).start(v);
    }

    // Bits of the sources whose message passes `edge_cond`.
    template <class Weight>
    __device__ u64 passing(i64 u, Weight weight, i64 v, int word, u64 bits) const {
        for (u64 rest = bits; rest; rest &= rest - 1) {
            const int bit = __ffsll(rest) - 1;
            if (!of(64 * word + bit).edge_cond(u, weight, v)) bits ^= 1ull << bit;
        }
        return bits;
    }

    template <class Weight>
    __device__ bool receive(i64 u, Weight weight, i64 v, int source, i64 step) const {
        const Program own = of(source);
        return own.receive(v, own.gather(u, weight, v), step);
    }

    // If messages depend only on the superstep, one represents all: an element of small arrays receives it.
    template <class Weight>
    __device__ bool sample(int which, Weight weight, i64 step) const {
        return samples.receive(which, samples.gather(which, weight, which), step);
    }

    // Bits of the sources in which the message changes the vertex.
    template <class Weight>
    __device__ u64 deliver(i64 u, Weight weight, i64 v, int word, u64 fresh, i64 step) const {
        u64 changed = 0;
        for (u64 rest = fresh; rest; rest &= rest - 1) {
            const int bit = __ffsll(rest) - 1;
            if (receive(u, weight, v, 64 * word + bit, step)) changed |= 1ull << bit;
        }
        return changed;
    }

    // The same for a separate search by one block, and its count.
    template <class Weight>
    __device__ bool deliver_alone(i64 u, Weight weight, i64 v, int source, i64 step) const {
        return receive(u, weight, v, source, step);
    }
    __device__ void account_source(int, u32, i64) const {}
};

// Counts of the vertices that each source reaches in a superstep, and their totals.
template <int W>
struct Counts {
    static constexpr bool BY_ARC = false, COUNTS = true, CHOOSES = false;
    u32* of_block;      // in shared memory: one counter per source
    u64* of_level[2];   // a double buffer: one filled, one read and cleared
    i64 sources;
    i64 *reached, *total, *farthest;
    double* inverse;

    __device__ void start(i64, int source) const { atomicAdd((u64*)reached + source, 1ull); }

    template <class Weight>
    __device__ u64 passing(i64, Weight, i64, int, u64 bits) const { return bits; }

    template <class Weight>
    __device__ bool sample(int, Weight, i64) const { return true; }

    template <class Weight>
    __device__ u64 deliver(i64, Weight, i64, int word, u64 fresh, i64) const {
        for (u64 rest = fresh; rest; rest &= rest - 1) atomicAdd(of_block + 64 * word + __ffsll(rest) - 1, 1u);
        return fresh;
    }

    template <class Weight>
    __device__ bool deliver_alone(i64, Weight, i64, int, i64) const { return true; }

    // Add the block's counts to the grid's at the end of a superstep; collective over the block.
    __device__ void flush_sums(i64 step) const {
        __syncthreads();
        for (int source = threadIdx.x; source < 64 * W; source += THREADS)
            if (of_block[source]) {
                atomicAdd(of_level[step & 1] + source, (u64)of_block[source]);
                of_block[source] = 0;
            }
    }

    // By the first block, after the superstep. One thread adds to a source's sums, in the order of the levels, so that
    // floats are reproducible bit for bit.
    __device__ void account(i64 step) const {
        if (blockIdx.x != 0) return;
        for (int source = threadIdx.x; source < sources; source += THREADS) {
            u64* const where = of_level[step & 1] + source;
            const i64 count = (i64)__ldcg(where);
            if (!count) continue;
            *where = 0;
            account_source(source, count, step);
        }
    }

    // By one thread: add the vertices that a source reached in a superstep.
    __device__ void account_source(int source, i64 count, i64 step) const {
        if (!count) return;
        reached[source] += count, total[source] += count * step, farthest[source] = step;
        inverse[source] = __dadd_rn(inverse[source], __ddiv_rn((double)count, (double)step));
    }
};

}  // namespace hpgraph
