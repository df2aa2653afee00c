// Local moving on the GPU, and label propagation (FREQUENT): all rounds of a level in one cooperative launch. The
// algorithm is that of hpgraph.kernels.communities.cpu, with the same results. Listed vertices are sorted by batch, and
// within a batch by degree, which determines how many threads choose for a vertex.
#pragma once
#include "group_hubs.cuh"
#include "persistent.cuh"

namespace hpgraph {

// As in batches.py.
constexpr int PRIORITIES = 10, MIN_BITS = 2, NEIGHBOUR_BATCHES = 2;
constexpr int BINS = 5, MAX_BATCHES = 64, BUCKETS = BINS * MAX_BATCHES;
// Counters: a double buffer of vertices by bucket, of those placed, of moves, of communities and of active vertices; then
// the barrier's word and the number of moves.
constexpr int PLACED = BUCKETS, MOVES = 2 * BUCKETS, GROUPS = MOVES + 1, ACTIVE = MOVES + 2, SET = MOVES + 3;
constexpr int BARRIER = 2 * SET, TOTAL = BARRIER + 1, COUNTERS = BARRIER + 2;

// A block's view of the list: the start of each bucket, the block's start in each, and the size of its part.
struct MoveShare {
    i64 starts[BUCKETS + 1], base[BUCKETS], ends[GROUP_THREADS];
    u32 hist[BUCKETS];
    u64 tally[2];  // communities, and moves
};

template <bool FREQUENT, bool PLAIN, class Index, class W, class Sum>
struct Mover : HubChooser<FREQUENT, PLAIN, Index, W, Sum> {
    using HubChooser<FREQUENT, PLAIN, Index, W, Sum>::m;

    __device__ Mover(const Moving<Index, W, Sum>& moving, int round)
        : HubChooser<FREQUENT, PLAIN, Index, W, Sum>{{moving, round, 0}} {}

    __device__ bool is_listed(i64 v) const {
        const bool is_active = m.active[v] & IS_ACTIVE;
        if (FREQUENT || !is_active) return is_active;
        return (!this->movable() || this->movable()[v]) && (!this->refining() || m.group_size[m.label[v]] == 1);
    }
    __device__ int bucket_of(i64 v) const {
        const i64 degree = m.indptr[v + 1] - m.indptr[v];
        const int bin = degree > BLOCK_ENTRIES ? 0 : degree > WARP_ENTRIES ? 1 : degree > HALF_ARCS ? 2 : degree > FEW_ARCS ? 3 : 4;
        return this->batch_of(v) * BINS + bin;
    }

    // Sets the bits of a batch for this round from the number of active vertices, such that a vertex has on average
    // half an active neighbour in its own batch.
    __device__ __forceinline__ void draw_batches(u64* set, i64 low, i64 high, GridBarrier& barrier) {
        u64 count = 0;
        for (i64 v = low + threadIdx.x; v < high; v += GROUP_THREADS)
            count += m.active[v] & IS_ACTIVE && (!this->movable() || this->movable()[v]);
        count = warp_sum(count);
        if (lane_of_warp() == 0 && count) atomicAdd(set + ACTIVE, count);
        barrier.wait();
        count = __ldcg(set + ACTIVE) * (NEIGHBOUR_BATCHES * u64(m.indptr[m.n] / m.joined));
        for (this->bits = MIN_BITS; this->bits < m.bits && u64(m.joined) << this->bits < count;) ++this->bits;
    }

    // Lists the active vertices by bucket; this block's share is low..high. Returns the number of communities. Loops that
    // contain atomic operations overlap no loads when unrolled, as the compiler does by default: a fifth of the code.
    __device__ __forceinline__ u64 list(MoveShare& share, u64* set, i64 low, i64 high, GridBarrier& barrier) const {
        for (int i = threadIdx.x; i < BUCKETS; i += GROUP_THREADS) share.hist[i] = 0;
        __syncthreads();
        u64 groups = 0;
#pragma unroll 1
        for (i64 v = low + threadIdx.x; v < high; v += GROUP_THREADS) {
            groups += FREQUENT || m.group_size[v] > 0;
            if (is_listed(v)) atomicAdd(share.hist + bucket_of(v), 1u);
        }
        groups = warp_sum(groups);
        if (lane_of_warp() == 0) atomicAdd(share.tally, groups);
        __syncthreads();
#pragma unroll 1
        for (int i = threadIdx.x; i < BUCKETS; i += GROUP_THREADS)
            if (share.hist[i]) atomicAdd(set + i, u64(share.hist[i]));
        if (threadIdx.x == 0) atomicAdd(set + GROUPS, share.tally[0]);
        barrier.wait();
#pragma unroll 1
        for (int i = threadIdx.x; i < BUCKETS; i += GROUP_THREADS) share.starts[i + 1] = i64(__ldcg(set + i));
        __syncthreads();
        if (threadIdx.x == 0) {
            share.starts[0] = 0;
            for (int i = 0; i < BUCKETS; ++i) share.starts[i + 1] += share.starts[i];
        }
        __syncthreads();
        groups = __ldcg(set + GROUPS);
        if (share.starts[BUCKETS] == 0) return groups;
#pragma unroll 1
        for (int i = threadIdx.x; i < BUCKETS; i += GROUP_THREADS) {
            share.base[i] = share.hist[i] ? share.starts[i] + i64(atomicAdd(set + PLACED + i, u64(share.hist[i]))) : 0;
            share.hist[i] = 0;
        }
        __syncthreads();
#pragma unroll 1
        for (i64 v = low + threadIdx.x; v < high; v += GROUP_THREADS) {
            if (!is_listed(v)) continue;
            const int bucket = bucket_of(v);
            m.listed[share.base[bucket] + atomicAdd(share.hist + bucket, 1u)] = Index(v);
        }
        return groups;
    }

    // Chooses for the vertices of a batch, whose buckets start at `at`; for hubs this only begins the sums.
    __device__ __forceinline__ void choose(const i64* at, u64 groups, i64* ends, Index* keys, Sum* sums) const {
        const int warp = threadIdx.x / 32;
        const i64 number = (i64)blockIdx.x * GROUP_WARPS + warp, warps = (i64)gridDim.x * GROUP_WARPS;
        if (at[0] < at[1]) this->gather_hubs(at[0], at[1], groups, ends, keys, sums);
        const auto by_row = [&](int whole) {
            const int slot = whole ? 0 : warp * WARP_SLOTS;
            this->for_listed(at[2 - whole] + (whole ? blockIdx.x : number), at[3 - whole], whole ? gridDim.x : warps,
                             [&](i64 place, auto row) {
                                 if (!(FREQUENT && whole) && row.end - row.begin <= TWO_A_LANE) this->by_registers(place, row);
                                 else this->by_table(place, row, whole, keys + slot, sums + slot);
                             });
        };
        if constexpr (FREQUENT) by_row(1), by_row(0);
        else
#pragma unroll 1
            for (int whole = 1; whole >= 0; --whole) by_row(whole);
        for (i64 i = at[3] + number * 2; i < at[4]; i += warps * 2) {
            const i64 place = i + lane_of_warp() / HALF_ARCS;
            this->template by_lanes<HALF_ARCS>(place, place < at[4]);
        }
        for (i64 i = at[4] + number * 32 + lane_of_warp(); i < at[5]; i += warps * 32) this->by_thread(i);
    }

    // Calls use(place, v, target, priority) for the vertices of a batch that would move. A priority is at least p with
    // probability 2^-p, from the low bits of the hash whose high bits are the batch.
    template <class Use>
    __device__ void for_moving(i64 begin, i64 end, Use use) const {
        for (i64 i = begin + (i64)blockIdx.x * GROUP_THREADS + threadIdx.x; i < end; i += (i64)gridDim.x * GROUP_THREADS) {
            const Index v = m.listed[i], to = m.target[i];
            if (to == m.label[v]) continue;
            const u64 bits = group_hash(u64(v) + m.seed + u64(this->round) * 0x9E3779B97F4A7C15ull);
            use(i, v, to < 0 ? Index(-2 - to) : to, __ffsll(i64(bits | 1ull << (PRIORITIES - 1))) - 1);
        }
    }
    // Enforces the size limit: sets the target to -1 for vertices of a batch whose demand, with that of their priority
    // and above, exceeds the limit. The steps, with a barrier after the first two: demand on each community, vertices
    // within its limit, reset of the demand.
    __device__ void add_demand(i64 begin, i64 end) const {
        for_moving(begin, end, [&](i64, Index v, Index to, int priority) {
            for (int p = 0; p <= priority; ++p) atomicAdd((u64*)m.demand + p * m.n + to, u64(m.load[v]));
        });
    }
    __device__ void find_excess(i64 begin, i64 end) const {
        for_moving(begin, end, [&](i64 place, Index, Index to, int priority) {
            if (m.group_load[to] + __ldcg(m.demand + priority * m.n + to) > this->limit()) m.target[place] = Index(-2 - to);
        });
    }
    __device__ void clear_demand(i64 begin, i64 end) const {
        for_moving(begin, end, [&](i64 place, Index v, Index to, int priority) {
            for (int p = 0; p <= priority; ++p) atomicAdd((u64*)m.demand + p * m.n + to, 0 - u64(m.load[v]));
            if (m.target[place] < 0) m.target[place] = Index(-1);
        });
    }

    // Applies the moves of a batch; returns the number of moves by this thread.
    __device__ u64 apply_moves(i64 begin, i64 end) const {
        u64 moves = 0;
        for (i64 i = begin + (i64)blockIdx.x * GROUP_THREADS + threadIdx.x; i < end; i += (i64)gridDim.x * GROUP_THREADS) {
            const Index v = m.listed[i], to = m.target[i], own = m.label[v];
            // A vertex without room in its target now chooses again in the next round.
            if (to == Index(-1)) continue;
            m.active[v] &= ~IS_ACTIVE;
            if (to == own) {
                m.target[i] = Index(-1);
                continue;
            }
            ++moves;
            m.label[v] = to;
            if (FREQUENT) continue;
            add_to(m.group_size + own, Index(-1));
            add_to(m.group_size + to, Index(1));
            if (this->limit()) {
                atomicAdd((u64*)m.group_load + own, 0 - u64(m.load[v]));
                atomicAdd((u64*)m.group_load + to, u64(m.load[v]));
            }
            const Sum sent = Sum(m.sent[v]);
            atomicAdd(m.group_sent + own, 0 - sent);
            atomicAdd(m.group_sent + to, sent);
            if (this->two_sided()) {
                const Sum received = Sum(m.received[v]);
                atomicAdd(m.group_received + own, 0 - received);
                atomicAdd(m.group_received + to, received);
            }
        }
        return moves;
    }
    // Whether a vertex with a long row is examined again after its neighbour v has moved: at random.
    __device__ bool is_woken(Index u, Index v) const {
        const i64 shares = (m.indptr[u + 1] - m.indptr[u]) / LONG_ROW;
        const u64 drawn = group_hash((u64(u) << 32 ^ u64(v)) + m.seed + u64(this->round) * 0x9E3779B97F4A7C15ull);
        return drawn >> __clzll(shares) == 0;
    }
    // If the vertex at a place moved, activates the neighbours, along some of its arcs, outside its new community.
    __device__ void wake(i64 place, i64 begin, i64 end, int first, int stride) const {
        const Index to = m.target[place], v = m.listed[place];
        if (to == Index(-1)) return;
#pragma unroll 1
        for (i64 at = begin + first; at < end; at += stride) {
            const Index u = m.indices[at];
            const unsigned char flags = m.active[u];
            const bool is_apart = FREQUENT || m.label[u] != to;
            if (flags & IS_ACTIVE || !is_apart) continue;
            if (FREQUENT || this->by_weight() || !(flags & IS_LONG) || is_woken(u, v)) m.active[u] = flags | IS_ACTIVE;
        }
    }
    // The same for a batch, whose buckets start at `at`: rows of hubs by chunks, others by a block or a warp.
    __device__ void wake(const i64* at, i64* ends) const {
        this->distribute(
            at[0], at[1], ends,
            [&](i64 place) { return m.target[place] == Index(-1) ? 0 : this->chunks_of(m.listed[place]); },
            [&](i64 place, i64 chunk, i64) {
                const auto row = this->row_of_listed(place);
                const i64 begin = row.begin + chunk * BLOCK_ENTRIES;
                wake(place, begin, min(begin + BLOCK_ENTRIES, row.end), threadIdx.x, GROUP_THREADS);
            });
        const i64 number = (i64)blockIdx.x * GROUP_WARPS + threadIdx.x / 32, warps = (i64)gridDim.x * GROUP_WARPS;
#pragma unroll 1
        for (int whole = 1; whole >= 0; --whole)
            for (i64 i = at[2 - whole] + (whole ? blockIdx.x : number); i < at[whole ? 2 : BINS]; i += whole ? gridDim.x : warps) {
                const auto row = this->row_of_listed(i);
                wake(i, row.begin, row.end, whole ? threadIdx.x : lane_of_warp(), whole ? GROUP_THREADS : 32);
            }
    }
};

// PLAIN: without any option, which takes two thirds of the time to compile.
template <bool FREQUENT, bool PLAIN, class Index, class W, class Sum>
__global__ void __launch_bounds__(GROUP_THREADS, 4) move_groups(Moving<Index, W, Sum> m) {
    extern __shared__ __align__(16) u64 room[];
    __shared__ MoveShare share;
    const i64* const starts = share.starts;
    u64* const tally = share.tally;
    Sum* const sums = (Sum*)room;
    Index* const keys = (Index*)(sums + BLOCK_SLOTS);
    GroupTable<Index, Sum>{keys, sums, BLOCK_SLOTS}.clear(threadIdx.x, GROUP_THREADS);
    GridBarrier barrier((unsigned*)(m.counters + BARRIER));
    // This block's share of the vertices.
    const i64 low = m.n / gridDim.x * blockIdx.x + min((i64)blockIdx.x, m.n % gridDim.x);
    const i64 high = low + m.n / gridDim.x + ((i64)blockIdx.x < m.n % gridDim.x);
    u64 last = u64(m.n), total = 0, groups = 0;
    // Without batches, the previous round's list is reused if all vertices are examined again.
    bool is_known = false;
    for (int round = 0; round < m.rounds; ++round) {
        Mover<FREQUENT, PLAIN, Index, W, Sum> mover{m, round};
        u64* const set = m.counters + (round & 1) * SET;
        if (threadIdx.x < 2) tally[threadIdx.x] = 0;
        __syncthreads();
        if (!FREQUENT) mover.draw_batches(set, low, high, barrier);
        if (!is_known) {
            groups = mover.list(share, set, low, high, barrier);
            if (starts[BUCKETS] == 0) break;
        }
        barrier.wait();
        // Each listed vertex may start a new community.
        const u64 most = !FREQUENT && mover.alone() ? groups + u64(starts[BUCKETS]) : groups;
        // The next round's counters are no longer read.
        if (blockIdx.x == 0)
            for (int i = threadIdx.x; i < SET; i += GROUP_THREADS) m.counters[((round + 1) & 1) * SET + i] = 0;
        // If communities are given, few moves are expected.
        if (!FREQUENT && round == 0 && groups < u64(m.joined)) last = 0;
        bool waking = (FREQUENT || !mover.refining()) && last <= u64(m.many);
        for (int batch = 0; batch < 1 << mover.bits; ++batch) {
            const i64* const at = starts + batch * BINS;
            if (at[0] == at[BINS]) continue;
            mover.choose(at, most, share.ends, keys, sums);
            barrier.wait();
            if (at[0] < at[1]) {
                mover.look_at_hubs(at[0], at[1], most, share.ends);
                barrier.wait();
            }
            if (!FREQUENT && mover.limit()) {
                mover.add_demand(at[0], at[BINS]);
                barrier.wait();
                mover.find_excess(at[0], at[BINS]);
                barrier.wait();
                // The same thread applies a vertex's move below.
                mover.clear_demand(at[0], at[BINS]);
            }
            const u64 moves = warp_sum(mover.apply_moves(at[0], at[BINS]));
            if (lane_of_warp() == 0 && moves) atomicAdd(tally + 1, moves);
            __syncthreads();
            // By an exchange: the compiler may hoist a plain read above the condition, for all threads, which racecheck
            // reports.
            if (threadIdx.x == 0)
                if (const u64 all = atomicExch(tally + 1, 0ull)) atomicAdd(set + MOVES, all);
            barrier.wait();
            waking = waking && __ldcg(set + MOVES) <= u64(m.many);
            if (waking) mover.wake(at, share.ends);
        }
        barrier.wait();
        last = __ldcg(set + MOVES);
        total += last;
        if (last <= u64(m.few) || double(last) <= __dmul_rn(m.share, double(starts[BUCKETS]))) break;
        is_known = FREQUENT && !waking;
        if (!waking && !is_known)
            for (i64 v = low + threadIdx.x; v < high; v += GROUP_THREADS) m.active[v] = activated(m.indptr[v + 1] - m.indptr[v]);
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) m.counters[TOTAL] = total;
}

}  // namespace hpgraph
