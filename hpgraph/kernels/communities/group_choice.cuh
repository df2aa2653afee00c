// The choice of a vertex's community: the weights to neighbouring communities are summed by a thread in registers, by
// sixteen lanes, by a warp or a block in shared memory, or by several blocks in global memory.
#pragma once
#include "group_table.cuh"

namespace hpgraph {

// Maximum row lengths for a thread, for half a warp, and for a warp in registers.
constexpr int FEW_ARCS = 8, HALF_ARCS = 16, TWO_A_LANE = 64;
constexpr u64 NO_LABEL = ~0ull;
// As on the CPU: the share of a vertex's weight from which on ties are broken by one order for all vertices.
constexpr double EVIDENCE = 1.0 / 8;

// Whether this lane has the warp's largest value.
__device__ inline bool has_most(u64 value) {
#if __CUDA_ARCH__ >= 800
    const u32 high = u32(value >> 32), low = u32(value), most = __reduce_max_sync(ALL, high);
    const u32 least = __reduce_max_sync(ALL, high == most ? low : 0);
    return high == most && low == least;
#else
    u64 most = value;
    for (int d = 16; d; d >>= 1) most = max(most, __shfl_xor_sync(ALL, most, d));
    return value == most;
#endif
}

struct Choice {
    double score;
    u64 label;  // NO_LABEL for none
};

template <class Index, class W, class Sum>
struct Moving {
    i64 n;
    const i64* indptr;
    const Index* indices;
    const W* weights;
    const i64 *sent, *received;
    Index* label;
    Sum *group_sent, *group_received;
    Index* group_size;
    i64* group_load;
    const Index* within;
    // Under a size limit: original vertices of each vertex, and the demand on each community from vertices of each
    // priority and above. The vertices that may move; null if all.
    const i64* load;
    i64* demand;
    const unsigned char* movable;
    unsigned char* active;
    Index *listed, *target;
    u64* counters;
    // For vertices whose arcs several blocks share: the index among them, and for each the start of its table, the
    // weight to its own community, the number of finished pieces, and the best choice of each piece.
    const Index* hub_of;
    const i64* hub_begin;
    u64* hub_inside;
    u32* hub_done;
    Index* hub_keys;
    Sum* hub_sums;
    Choice* hub_best;
    u64 seed;
    i64 joined, few, many, limit;
    double share, penalty;
    int rounds, bits, two_sided, refining, alone, by_weight;
};

// Ties are broken by a random order of each vertex or, among labels with enough weight, by one order for all.
struct Ties {
    u64 chance, order;
    double least;

    __device__ u64 key(double score) const { return score >= least ? order : chance; }
};

template <bool FREQUENT>
__device__ __forceinline__ bool is_better(Choice a, Choice b, Ties ties) {
    if (a.label == NO_LABEL || b.label == NO_LABEL) return b.label == NO_LABEL && a.label != NO_LABEL;
    if (a.score != b.score) return a.score > b.score;
    if (FREQUENT) return a.label < b.label;
    const u64 key = ties.key(a.score);
    return a.label != b.label && group_hash(a.label ^ key) < group_hash(b.label ^ key);
}

// Maps scores to integers in the same order; never 0.
__device__ __forceinline__ u64 rank_of(double score) {
    const u64 bits = u64(__double_as_longlong(score));
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}

// The best choice of a warp, in every lane.
template <bool FREQUENT>
__device__ Choice best_of_warp(Choice best, Ties ties) {
    u32 lanes = __ballot_sync(ALL, has_most(best.label == NO_LABEL ? 0 : rank_of(best.score)));
    if (lanes & (lanes - 1)) {
        const u64 key = FREQUENT ? best.label : group_hash(best.label ^ ties.key(best.score));
        lanes &= __ballot_sync(ALL, has_most(lanes >> lane_of_warp() & 1 ? ~key : 0));
    }
    const int lane = __ffs(lanes) - 1;
    return {__shfl_sync(ALL, best.score, lane), __shfl_sync(ALL, best.label, lane)};
}

template <bool FREQUENT, int LANES>
__device__ Choice best_of_lanes(Choice best, Ties ties) {
#pragma unroll 1
    for (int d = LANES / 2; d; d >>= 1) {
        const Choice other{__shfl_xor_sync(ALL, best.score, d), __shfl_xor_sync(ALL, best.label, d)};
        if (is_better<FREQUENT>(other, best, ties)) best = other;
    }
    return best;
}

template <bool FREQUENT, bool PLAIN, class Index, class W, class Sum>
struct Chooser {
    using Table = GroupTable<Index, Sum>;
    using FarTable = GroupTable<Index, Sum, u64>;
    const Moving<Index, W, Sum>& m;
    int round, bits;

    // The options of a search: a plain one has none.
    __device__ i64 limit() const { return PLAIN ? 0 : m.limit; }
    __device__ bool two_sided() const { return !PLAIN && m.two_sided; }
    __device__ bool refining() const { return !PLAIN && m.refining; }
    __device__ bool by_weight() const { return !PLAIN && m.by_weight; }
    __device__ bool alone() const { return !PLAIN && m.alone; }
    __device__ const unsigned char* movable() const { return PLAIN ? nullptr : m.movable; }

    __device__ int batch_of(u64 v) const {
        if (FREQUENT) return 0;
        return int(group_hash(v + m.seed + u64(round) * 0x9E3779B97F4A7C15ull) >> (64 - bits));
    }
    __device__ Ties ties_of(Index v) const {
        const u64 chance = m.seed ^ u64(v) * 0x9E3779B97F4A7C15ull;
        if (FREQUENT || !by_weight()) return {chance, chance, 0};
        return {chance, m.seed, EVIDENCE * double(two_sided() ? m.sent[v] + m.received[v] : m.sent[v])};
    }
    __device__ bool counts(Index u, Index v) const { return u != v && (FREQUENT || !refining() || m.within[u] == m.within[v]); }

    // As on the CPU: no contraction to fused operations.
    __device__ double score(i64 sum, i64 sent, i64 received, i64 group_sent, i64 group_received) const {
        const double apart =
            __dadd_rn(__dmul_rn(double(sent), double(group_received)), __dmul_rn(double(received), double(group_sent)));
        return __dadd_rn(double(sum), -__dmul_rn(m.penalty, apart));
    }
    // Strengths of a vertex and of its community.
    struct Strengths {
        i64 sent, received, group_sent, group_received;
    };
    __device__ Strengths strengths_of(Index v, Index own) const {
        if (FREQUENT) return {0, 0, 0, 0};
        const i64 sent = m.sent[v], group_sent = i64(m.group_sent[own]);
        return {sent, two_sided() ? m.received[v] : sent, group_sent, two_sided() ? i64(m.group_received[own]) : group_sent};
    }
    // Score of another community c for a vertex.
    __device__ Choice offer(Index v, Index c, i64 sum, const Strengths& of) const {
        if (FREQUENT) return {double(sum), u64(c)};
        if (refining() && m.group_size[c] == 1 && batch_of(c) == batch_of(v)) return {0, NO_LABEL};
        if (limit() && m.group_load[c] + m.load[v] > limit()) return {0, NO_LABEL};
        const i64 group_sent = i64(m.group_sent[c]);
        return {score(sum, of.sent, of.received, group_sent, two_sided() ? i64(m.group_received[c]) : group_sent), u64(c)};
    }
    // Writes the target of a vertex; by one thread.
    __device__ void settle(i64 place, Index v, Index own, i64 inside, Choice best, Ties ties, const Strengths& of) const {
        if (FREQUENT) {
            const Choice stay{double(inside), u64(own)};
            m.target[place] = inside && is_better<FREQUENT>(stay, best, ties) || best.label == NO_LABEL ? own : Index(best.label);
            return;
        }
        const double stay = score(inside, of.sent, of.received, of.group_sent - of.sent, of.group_received - of.received);
        Index to = best.label != NO_LABEL && best.score > stay ? Index(best.label) : own;
        if (by_weight() && best.score == stay && stay >= ties.least && is_better<FREQUENT>(best, {stay, u64(own)}, ties))
            to = Index(best.label);
        if (refining()) {
            // Another vertex may have joined it in this round.
            if (m.group_size[own] != 1) to = own;
        } else if (to > own && m.group_size[own] == 1 && m.group_size[to] == 1) {
            // Singletons swap only between batches; one under another vertex's number may be of any batch.
            const bool apart = m.label[to] == to && batch_of(to) != batch_of(v);
            if (!apart) to = own;
        }
        // The vertex leaves for the empty community with its own number, which no other vertex takes.
        if (alone() && (to == own ? stay : best.score) < 0 && m.group_size[v] == 0) to = v;
        m.target[place] = to;
    }

    // All arcs in one thread's registers, so that the loads of many vertices overlap.
    __device__ void by_thread(i64 place) const {
        const Index v = m.listed[place], own = m.label[v];
        const i64 begin = m.indptr[v];
        const int degree = int(m.indptr[v + 1] - begin);
        const Strengths of = strengths_of(v, own);
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
        Choice best{0, NO_LABEL};
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
            const Choice one = offer(v, c[k], i64(sum), of);
            if (is_better<FREQUENT>(one, best, ties)) best = one;
        }
        settle(place, v, own, i64(inside), best, ties, of);
    }

    // LANES lanes per vertex, one arc per lane; warp-collective.
    template <int LANES>
    __device__ void by_lanes(i64 place, bool live) const {
        const int lane = threadIdx.x % LANES, base = (threadIdx.x & 31) - lane;
        const Index v = live ? m.listed[place] : 0;
        const i64 begin = live ? m.indptr[v] : 0;
        const int degree = live ? int(m.indptr[v + 1] - begin) : 0;
        const Index own = live ? m.label[v] : 0;
        const Strengths of = strengths_of(v, own);
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
        Choice best{0, NO_LABEL};
        if (c != Index(-1) && c != own && first) best = offer(v, c, i64(sum), of);
        best = best_of_lanes<FREQUENT, LANES>(best, ties);
        if (live && lane == 0) settle(place, v, own, i64(inside), best, ties, of);
    }

    // Adds a range of the arcs of v to a table; returns the weight of this thread's arcs to its own community.
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
    // Empties the slots begin..end; returns the best choice among those that this thread reads.
    template <class Slots>
    __device__ Choice look(Index v, u64 begin, u64 end, int first, int stride, const Slots& table, Ties ties, const Strengths& of) const {
        Choice best{0, NO_LABEL};
        const auto use = [&](const Index(&key)[AT_ONCE], const Sum(&sum)[AT_ONCE]) {
#pragma unroll
            for (int k = 0; k < AT_ONCE; ++k) {
                if (key[k] == Index(-1)) continue;
                const Choice one = offer(v, key[k], i64(sum[k]), of);
                if (is_better<FREQUENT>(one, best, ties)) best = one;
            }
        };
        if constexpr (Slots::FAR) table.take_fours(begin, end, first, stride, use);
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
    // Calls use(place, row) for listed vertices from place i on, `stride` apart; the next row bounds are prefetched.
    template <class Use>
    __device__ void for_listed(i64 i, i64 end, i64 stride, Use use) const {
        if (i >= end) return;
        Row row = row_of_listed(i), next = row_of_listed(min(i + stride, end - 1));
        Index after = m.listed[min(i + 2 * stride, end - 1)];
        for (; i < end; i += stride) {
            const Row then{after, m.indptr[after], m.indptr[after + 1]};
            after = m.listed[min(i + 3 * stride, end - 1)];
            use(i, row);
            row = next, next = then;
        }
    }

    // All arcs in a warp's registers, two per lane. With unit weights one instruction matches the arcs of the same
    // label; otherwise each arc in turn is broadcast.
    __device__ void by_registers(i64 place, Row row) const {
        const int lane = lane_of_warp(), degree = int(row.end - row.begin);
        const Index v = row.v, own = m.label[v];
        const Strengths of = strengths_of(v, own);
        Index u[2], c[2];
        Sum w[2], sum[2] = {0, 0};
#pragma unroll
        for (int k = 0; k < 2; ++k) {
            const i64 at = row.begin + lane + 32 * k;
            u[k] = at < row.end ? m.indices[at] : v, w[k] = at < row.end ? Sum(weight_at(m.weights, at)) : 0;
        }
        u64 inside = 0;
#pragma unroll
        for (int k = 0; k < 2; ++k) {
            c[k] = m.label[u[k]];
            if (!counts(u[k], v)) c[k] = Index(-1), w[k] = 0;
            if (c[k] == own) inside += w[k];
        }
        // A label in both halves is summed in the first.
        if (WEIGHS_ONE<W>) {
            sum[0] = __popc(__match_any_sync(ALL, c[0]));
            if (degree > 32) sum[1] = __popc(__match_any_sync(ALL, c[1]));
            for (int i = 0; i < degree - 32; ++i) sum[0] += __shfl_sync(ALL, c[1], i) == c[0];
        } else {
            for (int i = 0; i < min(degree, 32); ++i) {
                const Index label = __shfl_sync(ALL, c[0], i);
                const Sum theirs = __shfl_sync(ALL, w[0], i);
                if (label == c[0]) sum[0] += theirs;
            }
            for (int i = 0; i < degree - 32; ++i) {
                const Index label = __shfl_sync(ALL, c[1], i);
                const Sum theirs = __shfl_sync(ALL, w[1], i);
                if (label == c[0]) sum[0] += theirs;
                if (label == c[1]) sum[1] += theirs;
            }
        }
        inside = warp_sum(inside);
        const Ties ties = ties_of(v);
        Choice best{0, NO_LABEL};
#pragma unroll
        for (int k = 0; k < 2; ++k) {
            if (c[k] == Index(-1) || c[k] == own) continue;
            const Choice one = offer(v, c[k], i64(sum[k]), of);
            if (is_better<FREQUENT>(one, best, ties)) best = one;
        }
        best = best_of_warp<FREQUENT>(best, ties);
        if (lane == 0) settle(place, v, own, i64(inside), best, ties, of);
    }

    // Reduces the sum and the best choice over the warp or, in thread 0, over the block.
    __device__ void join(bool whole, Ties ties, u64& inside, Choice& best) const {
        __shared__ u64 insides[GROUP_WARPS];
        __shared__ Choice bests[GROUP_WARPS];
        inside = warp_sum(inside);
        best = best_of_warp<FREQUENT>(best, ties);
        if (!whole) return;
        __syncthreads();
        if (lane_of_warp() == 0) insides[threadIdx.x / 32] = inside, bests[threadIdx.x / 32] = best;
        __syncthreads();
        if (threadIdx.x == 0) {
#pragma unroll 1
            for (int w = 1; w < GROUP_WARPS; ++w) {
                inside += insides[w];
                if (is_better<FREQUENT>(bests[w], best, ties)) best = bests[w];
            }
        }
    }

    // A row in a table of the warp or, if `whole`, of the block. One function for both: it takes long to compile.
    __device__ void by_table(i64 place, Row row, bool whole, Index* keys, Sum* sums) const {
        const int first = whole ? threadIdx.x : lane_of_warp(), stride = whole ? GROUP_THREADS : 32;
        const auto sync = [&] { whole ? __syncthreads() : __syncwarp(); };
        const Index v = row.v, own = m.label[v];
        const Strengths of = strengths_of(v, own);
        const Table table{keys, sums, u32(2 * (row.end - row.begin))};
        const Ties ties = ties_of(v);
        u64 inside = gather(v, own, row.begin, row.end, first, stride, table);
        sync();
        Choice best = look(v, 0, table.slots, first, stride, table, ties, of);
        join(whole, ties, inside, best);
        if (first == 0) settle(place, v, own, i64(inside), best, ties, of);
        sync();
    }
};

}  // namespace hpgraph
