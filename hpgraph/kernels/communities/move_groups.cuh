// Local moving on the GPU, and the most frequent label around each vertex (FREQUENT): all rounds of a level in one cooperative launch. hpgraph.kernels.communities.cpu describes what it
// does; the answer is the same. Listed vertices lie by batch, and within a batch by how many arcs they have: a few lanes,
// a warp, a block, or several blocks find what one has in common with each community around it.
#pragma once
#include "grid_barrier.cuh"
#include "group_table.cuh"

namespace hpgraph {

constexpr int BINS = 5, MOST_BATCHES = 64, BUCKETS = BINS * MOST_BATCHES;
// Arcs of a vertex that eight lanes look at, and those that a warp holds in registers.
constexpr i64 EIGHT = 8, HALVES = 64;
constexpr u64 NOBODY = ~0ull;
// As on the CPU: batches of the first round, in bits.
constexpr int FIRST_BITS = 1;

template <class Index, class W, class Sum>
struct Moving {
    i64 n;
    const i64* indptr;
    const Index* indices;
    const W* weights;
    const i64 *sent, *received;
    Index* label;
    i64 *group_sent, *group_received, *group_size;
    const Index* within;
    unsigned char* active;
    Index *listed, *target;
    u64* counters;
    // Of vertices whose arcs several blocks share: their place among these, and for each where its table begins, how much it
    // has in common with its own community, and how many chunks are done.
    const Index* hub_of;
    const i64* hub_begin;
    u64* hub_inside;
    u32* hub_done;
    Index* hub_keys;
    Sum* hub_sums;
    u64 seed;
    i64 few, many;
    double penalty;
    int rounds, bits, directed, refining;
};

// Counters: two sets, which take turns, of vertices by bucket, of those placed, of moves and of communities; then the
// barrier's and how many moves there were.
constexpr int PLACED = BUCKETS, MOVES = 2 * BUCKETS, GROUPS = MOVES + 1, SET = MOVES + 2;
constexpr int BARRIER = 2 * SET, TOTAL = BARRIER + 1, COUNTERS = BARRIER + 2;

struct Choice {
    double score;
    u64 label;  // NOBODY for none
};

template <bool FREQUENT>
__device__ __forceinline__ bool is_better(Choice a, Choice b, u64 seed) {
    if (a.label == NOBODY || b.label == NOBODY) return b.label == NOBODY && a.label != NOBODY;
    if (a.score != b.score) return a.score > b.score;
    if (FREQUENT) return a.label < b.label;
    return a.label != b.label && group_hash(a.label ^ seed) < group_hash(b.label ^ seed);
}

template <bool FREQUENT, int LANES>
__device__ Choice best_of_lanes(Choice best, u64 seed) {
    for (int d = LANES / 2; d; d >>= 1) {
        const Choice other{__shfl_xor_sync(ALL, best.score, d), __shfl_xor_sync(ALL, best.label, d)};
        if (is_better<FREQUENT>(other, best, seed)) best = other;
    }
    return best;
}

template <bool FREQUENT, class Index, class W, class Sum>
struct Mover {
    const Moving<Index, W, Sum>& m;
    int round;

    __device__ int batch_of(u64 v) const {
        if (FREQUENT) return 0;
        return int(group_hash(v + m.seed + u64(round) * 0x9E3779B97F4A7C15ull) >> (64 - (round ? m.bits : FIRST_BITS)));
    }
    // Chance decides among equals, for each vertex its own.
    __device__ u64 key_of(Index v) const { return m.seed ^ u64(v) * 0x9E3779B97F4A7C15ull; }
    __device__ bool counts(Index u, Index v) const { return u != v && (FREQUENT || !m.refining || m.within[u] == m.within[v]); }

    // As on the CPU, where nothing is contracted to a fused operation.
    __device__ double score(i64 sum, i64 sent, i64 received, i64 group_sent, i64 group_received) const {
        const double apart =
            __dadd_rn(__dmul_rn(double(sent), double(group_received)), __dmul_rn(double(received), double(group_sent)));
        return __dadd_rn(double(sum), -__dmul_rn(m.penalty, apart));
    }
    // What community c, not its own, offers a vertex.
    __device__ Choice offer(Index v, Index c, i64 sum, i64 sent, i64 received) const {
        if (FREQUENT) return {double(sum), u64(c)};
        if (m.refining && m.group_size[c] == 1 && batch_of(c) == batch_of(v)) return {0, NOBODY};
        const i64 group_sent = m.group_sent[c];
        return {score(sum, sent, received, group_sent, m.directed ? m.group_received[c] : group_sent), u64(c)};
    }
    // Where a vertex goes, by one thread.
    __device__ void settle(i64 place, Index v, Index own, i64 inside, Choice best) const {
        if (FREQUENT) {
            const Choice stay{double(inside), u64(own)};
            m.target[place] = inside && is_better<FREQUENT>(stay, best, 0) || best.label == NOBODY ? own : Index(best.label);
            return;
        }
        const i64 sent = m.sent[v], received = m.received[v];
        const double stay = score(inside, sent, received, m.group_sent[own] - sent, m.group_received[own] - received);
        Index to = best.label != NOBODY && best.score > stay ? Index(best.label) : own;
        if (m.refining) {
            // Somebody may have joined it in this round.
            if (m.group_size[own] != 1) to = own;
        } else if (to > own && m.group_size[own] == 1 && m.group_size[to] == 1) to = own;
        m.target[place] = to;
    }

    // LANES lanes a vertex, PER arcs a lane, all in registers. All lanes of the warp must call it.
    template <int LANES, int PER>
    __device__ void by_lanes(i64 place, bool live) const {
        const int lane = threadIdx.x % LANES, base = (threadIdx.x & 31) - lane;
        const Index v = live ? m.listed[place] : 0;
        const i64 begin = live ? m.indptr[v] : 0;
        const int degree = live ? int(m.indptr[v + 1] - begin) : 0;
        const Index own = live ? m.label[v] : 0;
        Index c[PER];
        Sum w[PER], sum[PER];
        bool first[PER];
#pragma unroll
        for (int k = 0; k < PER; ++k) {
            const int at = k * LANES + lane;
            c[k] = Index(-1), w[k] = 0, sum[k] = 0, first[k] = true;
            if (at < degree) {
                const Index u = m.indices[begin + at];
                if (counts(u, v)) c[k] = m.label[u], w[k] = Sum(weight_at(m.weights, begin + at));
            }
        }
        int most = degree;
        if (LANES < 32) most = LANES;
        Sum inside = 0;
#pragma unroll
        for (int k = 0; k < PER; ++k) {
            for (int i = 0; i < LANES && k * LANES + i < most; ++i) {
                const Index other = __shfl_sync(ALL, c[k], base + i);
                const Sum amount = __shfl_sync(ALL, w[k], base + i);
                if (other == own) inside += amount;
#pragma unroll
                for (int j = 0; j < PER; ++j) {
                    if (other == c[j]) {
                        sum[j] += amount;
                        if (k < j || (k == j && i < lane)) first[j] = false;
                    }
                }
            }
        }
        const u64 key = key_of(v);
        Choice best{0, NOBODY};
        const i64 sent = live && !FREQUENT ? m.sent[v] : 0, received = live && !FREQUENT ? m.received[v] : 0;
#pragma unroll
        for (int k = 0; k < PER; ++k) {
            if (c[k] != Index(-1) && c[k] != own && first[k]) {
                const Choice one = offer(v, c[k], i64(sum[k]), sent, received);
                if (is_better<FREQUENT>(one, best, key)) best = one;
            }
        }
        best = best_of_lanes<FREQUENT, LANES>(best, key);
        if (live && lane == 0) settle(place, v, own, i64(inside), best);
    }

    // Adds a stretch of the arcs of v to a table; what leads to its own community is returned, of this thread's arcs.
    __device__ u64 gather(Index v, Index own, i64 begin, i64 end, int first, int stride,
                          const GroupTable<Index, Sum>& table) const {
        u64 inside = 0;
        for (i64 at = begin + first; at < end; at += stride) {
            const Index u = m.indices[at];
            if (!counts(u, v)) continue;
            const Index c = m.label[u];
            const u64 weight = weight_at(m.weights, at);
            if (c == own) inside += weight;
            else table.add(c, Sum(weight));
        }
        return inside;
    }
    __device__ Choice look(Index v, int first, int stride, const GroupTable<Index, Sum>& table) const {
        const i64 sent = FREQUENT ? 0 : m.sent[v], received = FREQUENT ? 0 : m.received[v];
        const u64 key = key_of(v);
        Choice best{0, NOBODY};
        for (u64 s = first; s < table.slots; s += stride) {
            Index c;
            Sum sum;
            if (!table.take(s, c, sum)) continue;
            const Choice one = offer(v, c, i64(sum), sent, received);
            if (is_better<FREQUENT>(one, best, key)) best = one;
        }
        return best;
    }

    __device__ void by_warp(i64 place, Index* keys, Sum* sums) const {
        const int lane = lane_of_warp();
        const Index v = m.listed[place], own = m.label[v];
        const i64 begin = m.indptr[v], end = m.indptr[v + 1];
        const GroupTable<Index, Sum> table{keys, sums, u64(2 * (end - begin))};
        u64 inside = gather(v, own, begin, end, lane, 32, table);
        __syncwarp();
        const Choice best = best_of_lanes<FREQUENT, 32>(look(v, lane, 32, table), key_of(v));
        inside = warp_sum(inside);
        if (lane == 0) settle(place, v, own, i64(inside), best);
        __syncwarp();
    }

    // The sum and the best over the block, in thread 0.
    __device__ void join_block(u64 key, u64& inside, Choice& best) const {
        __shared__ u64 insides[GROUP_WARPS];
        __shared__ Choice bests[GROUP_WARPS];
        inside = warp_sum(inside);
        best = best_of_lanes<FREQUENT, 32>(best, key);
        __syncthreads();
        if (lane_of_warp() == 0) insides[threadIdx.x / 32] = inside, bests[threadIdx.x / 32] = best;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int w = 1; w < GROUP_WARPS; ++w) {
                inside += insides[w];
                if (is_better<FREQUENT>(bests[w], best, key)) best = bests[w];
            }
        }
    }

    __device__ void by_block(i64 place, Index* keys, Sum* sums) const {
        const Index v = m.listed[place], own = m.label[v];
        const i64 begin = m.indptr[v], end = m.indptr[v + 1];
        const GroupTable<Index, Sum> table{keys, sums, u64(2 * (end - begin))};
        u64 inside = gather(v, own, begin, end, threadIdx.x, GROUP_THREADS, table);
        __syncthreads();
        Choice best = look(v, threadIdx.x, GROUP_THREADS, table);
        join_block(key_of(v), inside, best);
        if (threadIdx.x == 0) settle(place, v, own, i64(inside), best);
        __syncthreads();
    }

    // A chunk of the arcs of one that several blocks share; who does the last one decides.
    __device__ void by_chunk(i64 place, i64 chunk, i64 chunks, u64 groups, Index* keys, Sum* sums) const {
        __shared__ bool is_last;
        const Index v = m.listed[place], own = m.label[v];
        const i64 end = m.indptr[v + 1], begin = m.indptr[v] + chunk * BLOCK_ENTRIES;
        const Index hub = m.hub_of[v];
        const i64 room = m.hub_begin[hub];
        // Never more slots than communities need.
        const u64 slots = min(u64(m.hub_begin[hub + 1] - room), 2 * groups + 64);
        const GroupTable<Index, Sum> near{keys, sums, BLOCK_SLOTS}, whole{m.hub_keys + room, m.hub_sums + room, slots};
        const i64 stop = begin + BLOCK_ENTRIES < end ? begin + BLOCK_ENTRIES : end;
        u64 inside = gather(v, own, begin, stop, threadIdx.x, GROUP_THREADS, near);
        inside = warp_sum(inside);
        if (lane_of_warp() == 0 && inside) atomicAdd(m.hub_inside + hub, inside);
        __syncthreads();
        for (u32 s = threadIdx.x; s < BLOCK_SLOTS; s += GROUP_THREADS) {
            Index c;
            Sum sum;
            if (near.take(s, c, sum)) whole.add(c, sum);
        }
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) is_last = atomicAdd(m.hub_done + hub, 1u) == u32(chunks - 1);
        __syncthreads();
        if (!is_last) return;
        __threadfence();
        Choice best = look(v, threadIdx.x, GROUP_THREADS, whole);
        inside = 0;
        join_block(key_of(v), inside, best);
        if (threadIdx.x == 0) {
            settle(place, v, own, i64(atomicExch(m.hub_inside + hub, 0ull)), best);
            m.hub_done[hub] = 0;
        }
        __threadfence();
        __syncthreads();
    }

    // Those from begin to end, chunk by chunk, shared out over the blocks.
    __device__ void by_chunks(i64 begin, i64 end, u64 groups, Index* keys, Sum* sums) const {
        __shared__ i64 ends[GROUP_THREADS];
        i64 turn = 0;
        for (i64 tile = begin; tile < end; tile += GROUP_THREADS) {
            const i64 mine = tile + threadIdx.x;
            __syncthreads();
            if (mine < end) {
                const Index v = m.listed[mine];
                ends[threadIdx.x] = (m.indptr[v + 1] - m.indptr[v] + BLOCK_ENTRIES - 1) / BLOCK_ENTRIES;
            } else ends[threadIdx.x] = 0;
            __syncthreads();
            for (int d = 1; d < GROUP_THREADS; d *= 2) {
                const i64 before = threadIdx.x >= d ? ends[threadIdx.x - d] : 0;
                __syncthreads();
                ends[threadIdx.x] += before;
                __syncthreads();
            }
            const i64 total = ends[GROUP_THREADS - 1];
            // Blocks go on where the tile before left off.
            for (i64 t = (blockIdx.x + gridDim.x - turn % gridDim.x) % gridDim.x; t < total; t += gridDim.x) {
                int low = 0, high = GROUP_THREADS - 1;
                while (low < high) {
                    const int middle = (low + high) / 2;
                    if (ends[middle] > t) high = middle;
                    else low = middle + 1;
                }
                const i64 first = low ? ends[low - 1] : 0;
                by_chunk(tile + low, t - first, ends[low] - first, groups, keys, sums);
            }
            turn += total;
        }
        __syncthreads();
    }

    __device__ bool is_listed(i64 v) const { return m.active[v] && (FREQUENT || !m.refining || m.group_size[m.label[v]] == 1); }
    __device__ int bucket_of(i64 v) const {
        const i64 degree = m.indptr[v + 1] - m.indptr[v];
        const int bin = degree > BLOCK_ENTRIES ? 0 : degree > WARP_ENTRIES ? 1 : degree > HALVES ? 2 : degree > EIGHT ? 3 : 4;
        return batch_of(v) * BINS + bin;
    }

    // The moves of a batch; how many this thread made.
    __device__ u64 go(i64 begin, i64 end) const {
        u64 moves = 0;
        for (i64 i = begin + (i64)blockIdx.x * GROUP_THREADS + threadIdx.x; i < end; i += (i64)gridDim.x * GROUP_THREADS) {
            const Index v = m.listed[i], to = m.target[i], own = m.label[v];
            m.active[v] = 0;
            if (to == own) {
                m.target[i] = Index(-1);
                continue;
            }
            ++moves;
            m.label[v] = to;
            if (FREQUENT) continue;
            atomicAdd((u64*)m.group_size + own, ~0ull);
            atomicAdd((u64*)m.group_size + to, 1ull);
            const u64 sent = u64(m.sent[v]);
            atomicAdd((u64*)m.group_sent + own, 0 - sent);
            atomicAdd((u64*)m.group_sent + to, sent);
            if (m.directed) {
                const u64 received = u64(m.received[v]);
                atomicAdd((u64*)m.group_received + own, 0 - received);
                atomicAdd((u64*)m.group_received + to, received);
            }
        }
        return moves;
    }
    // The neighbours of those who moved, where they are not in the same community, are to be looked at.
    __device__ void wake(i64 begin, i64 end) const {
        const i64 warps = (i64)gridDim.x * GROUP_WARPS;
        for (i64 i = begin + (i64)blockIdx.x * GROUP_WARPS + threadIdx.x / 32; i < end; i += warps) {
            const Index to = m.target[i];
            if (to == Index(-1)) continue;
            const Index v = m.listed[i];
            for (i64 at = m.indptr[v] + lane_of_warp(); at < m.indptr[v + 1]; at += 32) {
                const Index u = m.indices[at];
                if (FREQUENT || m.label[u] != to) m.active[u] = 1;
            }
        }
    }
};

template <bool FREQUENT, class Index, class W, class Sum>
__global__ void __launch_bounds__(GROUP_THREADS, 4) move_groups(Moving<Index, W, Sum> m) {
    extern __shared__ __align__(16) u64 room[];
    __shared__ i64 starts[BUCKETS + 1], base[BUCKETS];
    __shared__ u32 hist[BUCKETS];
    __shared__ u64 tally[2];
    Sum* const sums = (Sum*)room;
    Index* const keys = (Index*)(sums + BLOCK_SLOTS);
    const int warp = threadIdx.x / 32;
    Sum* const warp_sums = sums + warp * WARP_SLOTS;
    Index* const warp_keys = keys + warp * WARP_SLOTS;
    GroupTable<Index, Sum>{keys, sums, BLOCK_SLOTS}.clear(threadIdx.x, GROUP_THREADS);
    GridBarrier barrier((unsigned*)(m.counters + BARRIER));
    // This block's share of the vertices.
    const i64 low = m.n / gridDim.x * blockIdx.x + min((i64)blockIdx.x, m.n % gridDim.x);
    const i64 high = low + m.n / gridDim.x + ((i64)blockIdx.x < m.n % gridDim.x);
    const int batches = 1 << m.bits;
    u64 last = u64(m.n), total = 0;
    for (int round = 0; round < m.rounds; ++round) {
        const Mover<FREQUENT, Index, W, Sum> mover{m, round};
        u64* const set = m.counters + (round & 1) * SET;
        for (int i = threadIdx.x; i < BUCKETS; i += GROUP_THREADS) hist[i] = 0;
        if (threadIdx.x < 2) tally[threadIdx.x] = 0;
        __syncthreads();
        u64 groups = 0;
        for (i64 v = low + threadIdx.x; v < high; v += GROUP_THREADS) {
            groups += FREQUENT || m.group_size[v] > 0;
            if (mover.is_listed(v)) atomicAdd(hist + mover.bucket_of(v), 1u);
        }
        groups = warp_sum(groups);
        if (lane_of_warp() == 0) atomicAdd(tally, groups);
        __syncthreads();
        for (int i = threadIdx.x; i < BUCKETS; i += GROUP_THREADS)
            if (hist[i]) atomicAdd(set + i, u64(hist[i]));
        if (threadIdx.x == 0) atomicAdd(set + GROUPS, tally[0]);
        barrier.wait();
        for (int i = threadIdx.x; i < BUCKETS; i += GROUP_THREADS) starts[i + 1] = i64(__ldcg(set + i));
        __syncthreads();
        if (threadIdx.x == 0) {
            starts[0] = 0;
            for (int i = 0; i < BUCKETS; ++i) starts[i + 1] += starts[i];
        }
        __syncthreads();
        groups = __ldcg(set + GROUPS);
        if (starts[BUCKETS] == 0) break;
        for (int i = threadIdx.x; i < BUCKETS; i += GROUP_THREADS) {
            base[i] = hist[i] ? starts[i] + i64(atomicAdd(set + PLACED + i, u64(hist[i]))) : 0;
        }
        __syncthreads();
        for (i64 v = low + threadIdx.x; v < high; v += GROUP_THREADS) {
            if (mover.is_listed(v)) m.listed[atomicAdd((u64*)base + mover.bucket_of(v), 1ull)] = Index(v);
        }
        // What the next round counts in, nobody reads any more.
        if (blockIdx.x == 0)
            for (int i = threadIdx.x; i < SET; i += GROUP_THREADS) m.counters[((round + 1) & 1) * SET + i] = 0;
        barrier.wait();
        const bool waking = (FREQUENT || !m.refining) && last <= u64(m.many);
        u64 moves = 0;
        for (int batch = 0; batch < batches; ++batch) {
            const i64* const at = starts + batch * BINS;
            if (at[0] == at[BINS]) continue;
            mover.by_chunks(at[0], at[1], groups, keys, sums);
            for (i64 i = at[1] + blockIdx.x; i < at[2]; i += gridDim.x) mover.by_block(i, keys, sums);
            const i64 number = (i64)blockIdx.x * GROUP_WARPS + warp, warps = (i64)gridDim.x * GROUP_WARPS;
            for (i64 i = at[2] + number; i < at[3]; i += warps) mover.by_warp(i, warp_keys, warp_sums);
            for (i64 i = at[3] + number; i < at[4]; i += warps) mover.template by_lanes<32, 2>(i, true);
            for (i64 i = at[4] + number * 4; i < at[5]; i += warps * 4) {
                const i64 place = i + lane_of_warp() / 8;
                mover.template by_lanes<8, 1>(place, place < at[5]);
            }
            barrier.wait();
            moves += mover.go(at[0], at[BINS]);
            barrier.wait();
            if (waking) mover.wake(at[0], at[BINS]);
        }
        moves = warp_sum(moves);
        if (lane_of_warp() == 0) atomicAdd(tally + 1, moves);
        __syncthreads();
        if (threadIdx.x == 0 && tally[1]) atomicAdd(set + MOVES, tally[1]);
        barrier.wait();
        last = __ldcg(set + MOVES);
        total += last;
        if (last <= u64(m.few)) break;
        if (!waking)
            for (i64 v = low + threadIdx.x; v < high; v += GROUP_THREADS) m.active[v] = m.indptr[v + 1] > m.indptr[v];
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) m.counters[TOTAL] = total;
}

}  // namespace hpgraph
