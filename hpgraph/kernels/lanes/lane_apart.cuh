// Lanes that hardly meet go on each by itself, a block a lane.
//
// A road network has thousands of supersteps, and its lanes seldom meet: a barrier of the grid a superstep, and bits that
// serve one lane, bring nothing then. A block that has a lane for itself needs no barrier but its own, no lane waits for
// another's superstep, and its queue lies in shared memory. A lane whose frontier outgrows a block waits, as bits in an
// array, until the others are over or have outgrown theirs, and joins the joint frontier at its own superstep.
//
// Meanwhile the bits of who was reached lie lane after lane: those of 256 neighbouring vertices in one sector, which
// stays in the second-level cache while a lane's frontier passes through them.
#pragma once
#include "bit_matrix.cuh"
#include "lane_errands.cuh"
#include "one_block.cuh"
#include "persistent.cuh"

namespace hpgraph {

// Supersteps in a row of errands that seldom serve two lanes, after which lanes part: about what parting and meeting again
// may cost.
constexpr i64 PARTING = 64;
// Where a lane's share of the grid would be this many blocks or fewer, one block by itself is as quick (measured on an H200
// and a lattice of four million vertices, with 2, 8, 32 and 128 lanes); where it is more, while a superstep of the lane has
// so few arcs.
constexpr i64 BLOCKS_OF_LANE = 4, ARCS_OF_BLOCK = 1024;
// Up to so many senders claim bits without a look at them first: what a superstep takes is its chain of loads.
constexpr u32 FEW_SENDERS = 8;

__device__ inline bool is_crowded(i64 lanes) { return BLOCKS_OF_LANE * lanes >= gridDim.x; }

// Whether lanes that have hardly met should part, with so many arcs to go along in all.
__device__ inline bool should_part(i64 lanes, u64 arcs) { return lanes > 1 && (is_crowded(lanes) || arcs <= THIN * lanes); }

// A vertex that sends in a lane, and its arcs.
template <class Index>
struct Sender {
    i64 start;
    Index vertex;
    u32 degree;
};

struct ApartTally {
    u64 arcs;
    u32 count, pairs;
};

template <int W, class Delivery, class Index, class Weight>
struct Apart {
    static constexpr int SIZE = 4;  // arcs that a thread has under way at once
    static constexpr u32 ROOM = LanesBlock<W>::BYTES / 2 / sizeof(Sender<Index>);
    static_assert(sizeof(Sender<Index>) <= sizeof(Errand<Index>), "senders take the place of errands");
    const Delivery& delivery;
    const Arcs<Index, Weight>& out;
    u64 *reached, *parked;
    u32* seen;                         // `reached` lane after lane, in place of the frontier's bits
    LanesHeader* header;
    LanesBlock<W>& block;
    ApartTally* tallies;               // shared, of three: one read, one filled, one cleared
    Errands<Index> even, odd;          // the room of what does not fit a block's memory
    const Trace& trace;
    i64* pairs;
    i64 n, k, limit;
    i64 room, most;                    // for so many senders of a lane; arcs of a superstep that a block takes on

    __device__ Apart(const Delivery& delivery, const Arcs<Index, Weight>& out, u64* reached, u64* parked,
                     u64* front, LanesHeader* header, LanesBlock<W>& block, ApartTally* tallies, const Errands<Index>& even,
                     const Errands<Index>& odd, const Trace& trace, i64* pairs, i64 n, i64 k, i64 limit)
        : delivery(delivery), out(out), reached(reached), parked(parked), seen((u32*)front), header(header), block(block),
          tallies(tallies), even(even), odd(odd), trace(trace), pairs(pairs), n(n), k(k), limit(limit),
          room(even.room * (i64)sizeof(Errand<Index>) / ((i64)sizeof(Sender<Index>) * k)),
          most(is_crowded(k) ? room : min(room, ARCS_OF_BLOCK)) {}

    // By the whole grid, before lanes part: nothing is parked, and from the first time on rows of the trace are sums.
    __device__ void clear(i64 step, bool is_first) const {
        const i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x, threads = (i64)gridDim.x * THREADS;
        for (i64 i = thread; i < n * W; i += threads) parked[i] = 0;
        for (i64 i = step + thread; is_first && i < trace.room; i += threads) trace.rows[i] = TraceRow{}, pairs[i] = 0;
        if (thread < MAX_LANES) header->lanes[thread] = LaneApart{0, 0, NOT_PARKED};
        if (thread == 0) header->step = step, header->left = 0;
    }

    // By the whole grid: who was reached, from a vertex's lanes side by side to a lane's vertices side by side, and back.
    template <bool back>
    __device__ void turn_bits() const {
        const i64 warp = (i64)blockIdx.x * WARPS + (threadIdx.x >> 5), warps = (i64)gridDim.x * WARPS;
        const i64 words = (n + 31) / 32;
        for (i64 tile = warp; tile < words; tile += warps) {
            const i64 v = tile * 32 + lane_of_warp();
            Bits<W> bits{};
            if (!back && v < n) bits = load_bits<W>(reached, v);
#pragma unroll
            for (int half = 0; half < 2 * W; ++half) {
                const int lane = 32 * half + lane_of_warp();
                u32* const place = seen + lane * words + tile;
                if constexpr (back) {
                    bits.word[half / 2] |= (u64)transpose_bits(lane < k ? *place : 0) << 32 * (half & 1);
                } else {
                    const u32 of_lane = transpose_bits((u32)(bits.word[half / 2] >> 32 * (half & 1)));
                    if (lane < k) *place = of_lane;
                }
            }
            if (back && v < n) store_bits(reached, v, bits);
        }
    }

    // An errand's lanes: first their arcs are counted; then those that a block takes on are dealt to their lists, and the
    // bits of others parked.
    __device__ void count(const Errand<Index>& one) const {
        for (u64 rest = one.bits; rest; rest &= rest - 1)
            atomicAdd(&header->lanes[64 * one.word() + __ffsll(rest) - 1].arcs, (u64)one.arcs());
    }
    __device__ void deal(const Errand<Index>& one, i64 step) const {
        u64 parks = 0;
        for (u64 rest = one.bits; rest; rest &= rest - 1) {
            const int lane = 64 * one.word() + __ffsll(rest) - 1;
            LaneApart& of = header->lanes[lane];
            if ((i64)of.arcs > most) parks |= rest & -rest, of.parked = step;
            else list(0, lane)[atomicAdd(&of.count, 1ull)] = Sender<Index>{one.start, one.vertex, one.arcs()};
        }
        if (parks) atomicOr(parked + (i64)one.vertex * W + one.word(), parks);
    }

    // By a block: superstep after superstep of one lane, from `step` on.
    __device__ void run(int lane, i64 step) const {
        const LaneApart of = header->lanes[lane];
        if (!of.count) return;
        if (threadIdx.x == 0) tallies[0] = ApartTally{of.arcs, (u32)of.count, 0}, tallies[1] = ApartTally{};
        for (u32 i = threadIdx.x; i < of.count && i < ROOM; i += THREADS) slots(0)[i] = list(0, lane)[i];
        __syncthreads();
        for (u32 turn = 0;; ++turn) {
            const ApartTally here = tallies[turn % 3];
            if (threadIdx.x == 0) {
                tallies[(turn + 2) % 3] = ApartTally{};
                if (turn) tell(lane, step, here.pairs);
            }
            const bool is_over = here.count == 0 || step == limit;
            if (is_over || (i64)here.arcs > most) {
                if (!is_over) park(lane, step, turn & 1, here.count);
                if (threadIdx.x == 0) {
                    atomicMax((u64*)&header->step, (u64)step);
                    if (is_over) atomicAdd(&header->left, (u64)here.count);
                }
                break;
            }
            if (threadIdx.x == 0 && step < trace.room) {
                atomicAdd((u64*)&trace.rows[step].active, (u64)here.count);
                atomicAdd((u64*)&trace.rows[step].looked, here.arcs);
            }
            send(lane, ++step, turn & 1, here.count, tallies[(turn + 1) % 3]);
            __syncthreads();
        }
        __syncthreads();
    }

    // The first superstep above one at which a lane is parked, or NOT_PARKED; by whole warps.
    __device__ i64 next_parked(i64 above) const {
        i64 first = NOT_PARKED;
        for (int lane = lane_of_warp(); lane < MAX_LANES; lane += 32) {
            const i64 step = header->lanes[lane].parked;
            if (step > above && step < first) first = step;
        }
        for (int d = 16; d; d >>= 1) first = min(first, __shfl_xor_sync(ALL, first, d));
        return first;
    }

    // By the whole grid: lanes parked at a superstep join the frontier.
    __device__ void join(u64* front, i64 step) const {
        u64 lanes[W] = {};
        for (int lane = 0; lane < 64 * W; ++lane)
            if (header->lanes[lane].parked == step) lanes[W == 1 ? 0 : lane >> 6] |= 1ull << (lane & 63);
        for (i64 v = (i64)blockIdx.x * THREADS + threadIdx.x; v < n; v += (i64)gridDim.x * THREADS)
#pragma unroll
            for (int w = 0; w < W; ++w)
                if (const u64 bits = parked[v * W + w] & lanes[w]) atomicOr(front + v * W + w, bits);
    }

    // By the first block, at the end: nobody knows when a superstep of all lanes ended, so they share the time.
    __device__ void share_time(i64 from, i64 to, i64 began) const {
        const i64 took = clock64() - began;
        for (i64 i = from + threadIdx.x; i < min(to, trace.room); i += THREADS)
            trace.rows[i].cycles = began + (i64)(__fdividef((float)(i + 1 - from), (float)(to - from)) * (float)took);
    }

private:
    __device__ Sender<Index>* list(u32 which, int lane) const {
        return (Sender<Index>*)(which ? odd : even).list + lane * room;
    }
    __device__ Sender<Index>* slots(u32 which) const { return (Sender<Index>*)block.slots + which * ROOM; }
    __device__ Sender<Index> sender(u32 which, int lane, u32 i) const {
        return i < ROOM ? slots(which)[i] : list(which, lane)[i];
    }

    // By one thread: what a superstep has settled.
    __device__ void tell(int lane, i64 step, u32 settled) const {
        if (step <= trace.room) atomicAdd((u64*)pairs + step - 1, (u64)settled);
        delivery.account_lane(lane, settled, step);
    }

    __device__ void park(int lane, i64 step, u32 which, u32 count) const {
        for (u32 i = threadIdx.x; i < count; i += THREADS)
            atomicOr(parked + (i64)sender(which, lane, i).vertex * W + (lane >> 6), 1ull << (lane & 63));
        if (threadIdx.x == 0) header->lanes[lane].parked = step;
    }

    // One superstep: senders have threads of their own, as many as there are for so many.
    __device__ void send(int lane, i64 step, u32 which, u32 count, ApartTally& found) const {
        int shift = 5;
        while (shift && (count << shift) > THREADS) --shift;
        const u32 group = 1u << shift, member = threadIdx.x & (group - 1);
        const bool asks = count > FEW_SENDERS;
        const auto visit = [&](const Batch<Index, SIZE>& batch) { claim(lane, step, which, asks, batch, found); };
        for (u32 i = threadIdx.x >> shift; __any_sync(ALL, i < count); i += THREADS >> shift) {
            const Sender<Index> one = i < count ? sender(which, lane, i) : Sender<Index>{0, 0, 0};
            Batch<Index, SIZE> batch;
#pragma unroll
            for (int j = 0; j < SIZE; ++j) {
                const u32 t = member + j * group;
                batch.live[j] = t < one.degree, batch.source[j] = one.vertex, batch.arc[j] = one.start + t;
            }
            visit(batch);
            const int rest = member == 0 && one.degree > SIZE * group ? (int)(one.degree - SIZE * group) : 0;
            if (__any_sync(ALL, rest)) deal_arcs<SIZE>(one.vertex, one.start + SIZE * group, rest, visit);
        }
    }

    // Along some arcs, by the whole warp: who hears for the first time sends next.
    __device__ void claim(int lane, i64 step, u32 which, bool asks, const Batch<Index, SIZE>& batch,
                          ApartTally& found) const {
        u32* const words = seen + lane * ((n + 31) / 32);
        const auto flag = [](Index v) { return 1u << (v & 31); };
        Index v[SIZE];
        bool news[SIZE];
        u32 before[SIZE], settled = 0, senders = 0;
        i64 begin[SIZE], end[SIZE], arcs = 0;
#pragma unroll
        for (int j = 0; j < SIZE; ++j) v[j] = batch.live[j] ? out.indices[batch.arc[j]] : 0;
#pragma unroll
        for (int j = 0; j < SIZE; ++j) news[j] = batch.live[j] && !(asks && __ldcg(words + (v[j] >> 5)) & flag(v[j]));
#pragma unroll
        for (int j = 0; j < SIZE; ++j) {
            if constexpr (Delivery::CHOOSES)
                news[j] = news[j] && delivery.passing(batch.source[j], out.weight(batch.arc[j]), v[j], lane >> 6,
                                                      1ull << (lane & 63));
            before[j] = news[j] ? atomicOr(words + (v[j] >> 5), flag(v[j])) : ALL;
            begin[j] = news[j] ? out.indptr[v[j]] : 0, end[j] = news[j] ? out.indptr[v[j] + 1] : 0;
        }
        u32 votes[SIZE];
#pragma unroll
        for (int j = 0; j < SIZE; ++j) {
            news[j] = !(before[j] & flag(v[j]));
            settled += __popc(__ballot_sync(ALL, news[j]));
            news[j] = news[j] && delivery.deliver_alone(batch.source[j], out.weight(batch.arc[j]), v[j], lane, step);
            votes[j] = __ballot_sync(ALL, news[j]), senders += __popc(votes[j]);
            if (news[j]) arcs += end[j] - begin[j];
        }
        if (!settled) return;
        const u64 all = warp_sum((u64)arcs);
        u32 base = 0;
        if (lane_of_warp() == 0) {
            base = atomicAdd(&found.count, senders);
            atomicAdd(&found.arcs, all), atomicAdd(&found.pairs, settled);
        }
        base = __shfl_sync(ALL, base, 0);
#pragma unroll
        for (int j = 0; j < SIZE; ++j) {
            const u32 at = base + __popc(votes[j] & lanes_below());
            const Sender<Index> one{begin[j], v[j], (u32)(end[j] - begin[j])};
            if (news[j] && at < ROOM) slots(1 - which)[at] = one;
            if (news[j] && at >= ROOM) list(1 - which, lane)[at] = one;
            base += __popc(votes[j]);
        }
    }
};

}  // namespace hpgraph
