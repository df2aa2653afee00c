// Delivery of bits that are set for the first time: a vertex program receives a message, or a level is counted.
#pragma once
#include "lane_words.cuh"

namespace hpgraph {

// The messages of a vertex program. `by_arc`: a message depends on its sender or its arc; if not, a vertex receives
// once in a superstep, whichever arc brings the bits.
template <class Program, bool by_arc>
struct Messages {
    static constexpr bool BY_ARC = by_arc, COUNTS = false, CHOOSES = Program::CHOOSES_ARCS;
    const Program &program, &samples;
    i64 n;

    __device__ Program of(int lane) const { return program.in_lane((i64)lane * n); }

    __device__ void start(i64 v, int lane) const {
        of(lane).fill(v);
        of(lane).start(v);
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
    __device__ bool receive(i64 u, Weight weight, i64 v, int lane, i64 step) const {
        const Program own = of(lane);
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
    __device__ bool deliver_alone(i64 u, Weight weight, i64 v, int lane, i64 step) const {
        return receive(u, weight, v, lane, step);
    }
    __device__ void account_lane(int, u32, i64) const {}
};

// Counts of the vertices that each source reaches in a superstep, and their totals.
template <int W>
struct Counts {
    static constexpr bool BY_ARC = false, COUNTS = true, CHOOSES = false;
    u32* of_block;      // in shared memory: one counter per source
    u64* of_level[2];   // a double buffer: one filled, one read and cleared
    i64 lanes;
    i64 *reached, *total, *farthest;
    double* inverse;

    __device__ void start(i64, int lane) const { atomicAdd((u64*)reached + lane, 1ull); }

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
        for (int lane = threadIdx.x; lane < 64 * W; lane += THREADS)
            if (of_block[lane]) {
                atomicAdd(of_level[step & 1] + lane, (u64)of_block[lane]);
                of_block[lane] = 0;
            }
    }

    // By the first block, after the superstep. One thread adds to a source's sums, in the order of the levels, so that
    // floats are reproducible bit for bit.
    __device__ void account(i64 step) const {
        if (blockIdx.x != 0) return;
        for (int lane = threadIdx.x; lane < lanes; lane += THREADS) {
            u64* const where = of_level[step & 1] + lane;
            const i64 count = (i64)__ldcg(where);
            if (!count) continue;
            *where = 0;
            account_lane(lane, count, step);
        }
    }

    // By one thread: add the vertices that a source reached in a superstep.
    __device__ void account_lane(int lane, i64 count, i64 step) const {
        if (!count) return;
        reached[lane] += count, total[lane] += count * step, farthest[lane] = step;
        inverse[lane] = __dadd_rn(inverse[lane], __ddiv_rn((double)count, (double)step));
    }
};

}  // namespace hpgraph
