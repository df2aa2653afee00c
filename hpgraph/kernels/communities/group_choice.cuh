// Which community a vertex would be in: what it has in common with those around it is found by a thread in registers, by
// sixteen lanes, by a warp or a block in shared memory, or by several blocks in global memory.
#pragma once
#include "group_table.cuh"

namespace hpgraph {

// Arcs of a vertex that a thread looks at by itself, and those that a half of a warp does.
constexpr int FEW_ARCS = 8, HALF_ARCS = 16;
constexpr u64 NOBODY = ~0ull;
// As on the CPU: of the weight around a vertex, what a label must have for one order to decide among equals.
constexpr double EVIDENCE = 1.0 / 8;

struct Choice {
    double score;
    u64 label;  // NOBODY for none
};

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
    // has in common with its own community, how many pieces are done, and the best of each piece.
    const Index* hub_of;
    const i64* hub_begin;
    u64* hub_inside;
    u32* hub_done;
    Index* hub_keys;
    Sum* hub_sums;
    Choice* hub_best;
    u64 seed;
    i64 few, many;
    double penalty;
    int rounds, first_bits, bits, directed, refining, by_weight;
};

// Among equals chance decides, for each vertex its own; among labels that have enough weight, one order for all.
struct Ties {
    u64 chance, order;
    double least;

    __device__ u64 key(double score) const { return score >= least ? order : chance; }
};

template <bool FREQUENT>
__device__ __forceinline__ bool is_better(Choice a, Choice b, Ties ties) {
    if (a.label == NOBODY || b.label == NOBODY) return b.label == NOBODY && a.label != NOBODY;
    if (a.score != b.score) return a.score > b.score;
    if (FREQUENT) return a.label < b.label;
    const u64 key = ties.key(a.score);
    return a.label != b.label && group_hash(a.label ^ key) < group_hash(b.label ^ key);
}

template <bool FREQUENT, int LANES>
__device__ Choice best_of_lanes(Choice best, Ties ties) {
    for (int d = LANES / 2; d; d >>= 1) {
        const Choice other{__shfl_xor_sync(ALL, best.score, d), __shfl_xor_sync(ALL, best.label, d)};
        if (is_better<FREQUENT>(other, best, ties)) best = other;
    }
    return best;
}

template <bool FREQUENT, class Index, class W, class Sum>
struct Chooser {
    using Table = GroupTable<Index, Sum>;
    const Moving<Index, W, Sum>& m;
    int round;

    __device__ int batch_of(u64 v) const {
        if (FREQUENT) return 0;
        return int(group_hash(v + m.seed + u64(round) * 0x9E3779B97F4A7C15ull) >> (64 - (round ? m.bits : m.first_bits)));
    }
    __device__ Ties ties_of(Index v) const {
        const u64 chance = m.seed ^ u64(v) * 0x9E3779B97F4A7C15ull;
        if (FREQUENT || !m.by_weight) return {chance, chance, 0};
        return {chance, m.seed, EVIDENCE * double(m.directed ? m.sent[v] + m.received[v] : m.sent[v])};
    }
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
    __device__ void settle(i64 place, Index v, Index own, i64 inside, Choice best, Ties ties) const {
        if (FREQUENT) {
            const Choice stay{double(inside), u64(own)};
            m.target[place] = inside && is_better<FREQUENT>(stay, best, ties) || best.label == NOBODY ? own : Index(best.label);
            return;
        }
        const i64 sent = m.sent[v], received = m.received[v];
        const double stay = score(inside, sent, received, m.group_sent[own] - sent, m.group_received[own] - received);
        Index to = best.label != NOBODY && best.score > stay ? Index(best.label) : own;
        if (m.by_weight && best.score == stay && stay >= ties.least && is_better<FREQUENT>(best, {stay, u64(own)}, ties))
            to = Index(best.label);
        if (m.refining) {
            // Somebody may have joined it in this round.
            if (m.group_size[own] != 1) to = own;
        } else if (to > own && m.group_size[own] == 1 && m.group_size[to] == 1) to = own;
        m.target[place] = to;
    }

    // All arcs in the registers of one thread, so that many vertices wait for memory together.
    __device__ void by_thread(i64 place) const {
        const Index v = m.listed[place], own = m.label[v];
        const i64 begin = m.indptr[v];
        const int degree = int(m.indptr[v + 1] - begin);
        Index c[FEW_ARCS];
        Sum w[FEW_ARCS];
        Sum inside = 0;
#pragma unroll
        for (int k = 0; k < FEW_ARCS; ++k) c[k] = k < degree ? m.indices[begin + k] : v;
#pragma unroll
        for (int k = 0; k < FEW_ARCS; ++k) {
            const bool joined = k < degree && counts(c[k], v);
            c[k] = joined ? m.label[c[k]] : Index(-1);
            w[k] = joined ? Sum(weight_at(m.weights, begin + k)) : 0;
            if (c[k] == own) inside += w[k];
        }
        const Ties ties = ties_of(v);
        const i64 sent = FREQUENT ? 0 : m.sent[v], received = FREQUENT ? 0 : m.received[v];
        Choice best{0, NOBODY};
#pragma unroll
        for (int k = 0; k < FEW_ARCS; ++k) {
            Sum sum = 0;
            bool first = c[k] != Index(-1) && c[k] != own;
#pragma unroll
            for (int j = 0; j < FEW_ARCS; ++j) {
                if (c[j] == c[k]) sum += w[j];
                if (j < k && c[j] == c[k]) first = false;
            }
            if (!first) continue;
            const Choice one = offer(v, c[k], i64(sum), sent, received);
            if (is_better<FREQUENT>(one, best, ties)) best = one;
        }
        settle(place, v, own, i64(inside), best, ties);
    }

    // LANES lanes a vertex, an arc a lane. All lanes of the warp must call it.
    template <int LANES>
    __device__ void by_lanes(i64 place, bool live) const {
        const int lane = threadIdx.x % LANES, base = (threadIdx.x & 31) - lane;
        const Index v = live ? m.listed[place] : 0;
        const i64 begin = live ? m.indptr[v] : 0;
        const int degree = live ? int(m.indptr[v + 1] - begin) : 0;
        const Index own = live ? m.label[v] : 0;
        Index c = Index(-1);
        Sum w = 0, sum = 0, inside = 0;
        bool first = true;
        if (lane < degree) {
            const Index u = m.indices[begin + lane];
            if (counts(u, v)) c = m.label[u], w = Sum(weight_at(m.weights, begin + lane));
        }
#pragma unroll
        for (int i = 0; i < LANES; ++i) {
            const Index other = __shfl_sync(ALL, c, base + i);
            const Sum amount = __shfl_sync(ALL, w, base + i);
            if (other == own) inside += amount;
            if (other == c) {
                sum += amount;
                if (i < lane) first = false;
            }
        }
        const Ties ties = ties_of(v);
        Choice best{0, NOBODY};
        if (c != Index(-1) && c != own && first) best = offer(v, c, i64(sum), FREQUENT ? 0 : m.sent[v], FREQUENT ? 0 : m.received[v]);
        best = best_of_lanes<FREQUENT, LANES>(best, ties);
        if (live && lane == 0) settle(place, v, own, i64(inside), best, ties);
    }

    // Adds a stretch of the arcs of v to a table; what leads to its own community is returned, of this thread's arcs.
    __device__ u64 gather(Index v, Index own, i64 begin, i64 end, int first, int stride, const Table& table) const {
        u64 inside = 0;
        for (i64 at = begin + first; at < end; at += AT_ONCE * stride) {
            Index c[AT_ONCE];
            bool joined[AT_ONCE];
#pragma unroll
            for (int k = 0; k < AT_ONCE; ++k) c[k] = at + k * stride < end ? m.indices[at + k * stride] : v;
#pragma unroll
            for (int k = 0; k < AT_ONCE; ++k) {
                joined[k] = counts(c[k], v);
                c[k] = m.label[c[k]];
            }
#pragma unroll
            for (int k = 0; k < AT_ONCE; ++k) {
                if (!joined[k]) continue;
                const u64 weight = weight_at(m.weights, at + k * stride);
                if (c[k] == own) inside += weight;
                else table.add(c[k], Sum(weight));
            }
        }
        return inside;
    }
    // The best of what the slots from `begin` to `end` held, of those that this thread looks at.
    template <bool FAR>
    __device__ Choice look(Index v, u64 begin, u64 end, int first, int stride, const Table& table, Ties ties) const {
        const i64 sent = FREQUENT ? 0 : m.sent[v], received = FREQUENT ? 0 : m.received[v];
        Choice best{0, NOBODY};
        const auto use = [&](const Index(&key)[AT_ONCE], const Sum(&sum)[AT_ONCE]) {
#pragma unroll
            for (int k = 0; k < AT_ONCE; ++k) {
                if (key[k] == Index(-1)) continue;
                const Choice one = offer(v, key[k], i64(sum[k]), sent, received);
                if (is_better<FREQUENT>(one, best, ties)) best = one;
            }
        };
        if (FAR) table.take_fours(begin, end, first, stride, use);
        else table.take_all(begin, end, first, stride, use);
        return best;
    }

    struct Row {
        Index v;
        i64 begin, end;
    };
    __device__ Row row_of_listed(i64 place) const {
        const Index v = m.listed[place];
        return {v, m.indptr[v], m.indptr[v + 1]};
    }
    // Listed vertices from place i on, `stride` apart: use(place, row). The rows of the next ones are on their way meanwhile;
    // `width` threads do it together, of which this is number `first`.
    template <class Use>
    __device__ void go_through(i64 i, i64 end, i64 stride, int first, int width, Use use) const {
        constexpr int LINE = 128 / sizeof(Index);
        if (i >= end) return;
        Row row = row_of_listed(i), next = row_of_listed(min(i + stride, end - 1));
        Index after = m.listed[min(i + 2 * stride, end - 1)];
        for (; i < end; i += stride) {
            for (i64 p = next.begin + first * LINE; p < next.end; p += width * LINE) fetch_line(m.indices + p);
            const Row then{after, m.indptr[after], m.indptr[after + 1]};
            after = m.listed[min(i + 3 * stride, end - 1)];
            use(i, row);
            row = next, next = then;
        }
    }

    __device__ void by_warp(i64 place, Row row, Index* keys, Sum* sums) const {
        const int lane = lane_of_warp();
        const Index v = row.v, own = m.label[v];
        const Table table{keys, sums, u64(2 * (row.end - row.begin))};
        const Ties ties = ties_of(v);
        u64 inside = gather(v, own, row.begin, row.end, lane, 32, table);
        __syncwarp();
        const Choice best = best_of_lanes<FREQUENT, 32>(look<false>(v, 0, table.slots, lane, 32, table, ties), ties);
        inside = warp_sum(inside);
        if (lane == 0) settle(place, v, own, i64(inside), best, ties);
        __syncwarp();
    }

    // The sum and the best over the block, in thread 0.
    __device__ void join_block(Ties ties, u64& inside, Choice& best) const {
        __shared__ u64 insides[GROUP_WARPS];
        __shared__ Choice bests[GROUP_WARPS];
        inside = warp_sum(inside);
        best = best_of_lanes<FREQUENT, 32>(best, ties);
        __syncthreads();
        if (lane_of_warp() == 0) insides[threadIdx.x / 32] = inside, bests[threadIdx.x / 32] = best;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int w = 1; w < GROUP_WARPS; ++w) {
                inside += insides[w];
                if (is_better<FREQUENT>(bests[w], best, ties)) best = bests[w];
            }
        }
    }

    __device__ void by_block(i64 place, Row row, Index* keys, Sum* sums) const {
        const Index v = row.v, own = m.label[v];
        const Table table{keys, sums, u64(2 * (row.end - row.begin))};
        const Ties ties = ties_of(v);
        u64 inside = gather(v, own, row.begin, row.end, threadIdx.x, GROUP_THREADS, table);
        __syncthreads();
        Choice best = look<false>(v, 0, table.slots, threadIdx.x, GROUP_THREADS, table, ties);
        join_block(ties, inside, best);
        if (threadIdx.x == 0) settle(place, v, own, i64(inside), best, ties);
        __syncthreads();
    }

    // The table of one whose arcs several blocks share: never more slots than communities need.
    __device__ Table table_of(Index hub, u64 groups) const {
        const i64 begin = m.hub_begin[hub];
        return {m.hub_keys + begin, m.hub_sums + begin, min(u64(m.hub_begin[hub + 1] - begin), (2 * groups + 64) / 4 * 4)};
    }
    // Adds a chunk of its arcs to the table.
    __device__ void gather_chunk(i64 place, i64 chunk, u64 groups, Index* keys, Sum* sums) const {
        const Index v = m.listed[place], own = m.label[v], hub = m.hub_of[v];
        const i64 end = m.indptr[v + 1], begin = m.indptr[v] + chunk * BLOCK_ENTRIES;
        const Table near{keys, sums, BLOCK_SLOTS};
        u64 inside = gather(v, own, begin, min(begin + BLOCK_ENTRIES, end), threadIdx.x, GROUP_THREADS, near);
        inside = warp_sum(inside);
        if (lane_of_warp() == 0 && inside) atomicAdd(m.hub_inside + hub, inside);
        __syncthreads();
        near.empty_into(table_of(hub, groups), threadIdx.x, GROUP_THREADS);
        __syncthreads();
    }
    // The best of a piece of the table; who does the last piece decides.
    __device__ void look_at_piece(i64 place, i64 piece, i64 pieces, u64 groups) const {
        __shared__ bool is_last;
        const Index v = m.listed[place], hub = m.hub_of[v];
        const Table whole = table_of(hub, groups);
        const Ties ties = ties_of(v);
        Choice* const bests = m.hub_best + m.hub_begin[hub] / PIECE_SLOTS + hub;
        const u64 begin = u64(piece) * PIECE_SLOTS;
        Choice best = look<true>(v, begin, min(begin + u64(PIECE_SLOTS), whole.slots), threadIdx.x, GROUP_THREADS, whole, ties);
        u64 inside = 0;
        join_block(ties, inside, best);
        if (threadIdx.x == 0) {
            bests[piece] = best;
            __threadfence();
            is_last = atomicAdd(m.hub_done + hub, 1u) == u32(pieces - 1);
        }
        __syncthreads();
        if (!is_last) return;
        __threadfence();
        best = {0, NOBODY};
        for (i64 p = threadIdx.x; p < pieces; p += GROUP_THREADS) {
            const Choice one{__ldcg(&bests[p].score), __ldcg(&bests[p].label)};
            if (is_better<FREQUENT>(one, best, ties)) best = one;
        }
        join_block(ties, inside, best);
        if (threadIdx.x == 0) {
            settle(place, v, m.label[v], i64(atomicExch(m.hub_inside + hub, 0ull)), best, ties);
            m.hub_done[hub] = 0;
        }
        __syncthreads();
    }

    // Shares out work over the blocks: use(place, k, count) for each k below count(place) of the places from begin to end.
    template <class Count, class Use>
    __device__ void share_out(i64 begin, i64 end, i64* ends, Count count, Use use) const {
        i64 turn = 0;
        for (i64 tile = begin; tile < end; tile += GROUP_THREADS) {
            const i64 mine = tile + threadIdx.x;
            __syncthreads();
            ends[threadIdx.x] = mine < end ? count(mine) : 0;
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
                use(tile + low, t - first, ends[low] - first);
            }
            turn += total;
        }
        __syncthreads();
    }
    __device__ void gather_hubs(i64 begin, i64 end, u64 groups, i64* ends, Index* keys, Sum* sums) const {
        share_out(
            begin, end, ends,
            [&](i64 place) {
                const Index v = m.listed[place];
                return (m.indptr[v + 1] - m.indptr[v] + BLOCK_ENTRIES - 1) / BLOCK_ENTRIES;
            },
            [&](i64 place, i64 chunk, i64) { gather_chunk(place, chunk, groups, keys, sums); });
    }
    __device__ void look_at_hubs(i64 begin, i64 end, u64 groups, i64* ends) const {
        share_out(
            begin, end, ends,
            [&](i64 place) { return i64(table_of(m.hub_of[m.listed[place]], groups).slots + PIECE_SLOTS - 1) / PIECE_SLOTS; },
            [&](i64 place, i64 piece, i64 pieces) { look_at_piece(place, piece, pieces, groups); });
    }
};

}  // namespace hpgraph
