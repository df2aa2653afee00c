// Separate searches from sources whose frontiers hardly overlap, one block for each.
//
// A road network has thousands of supersteps, and its frontiers seldom overlap: a grid barrier a superstep, and words
// in which one bit is set, gain nothing then. A block with one search needs no barrier but its own, no search waits for
// another's superstep, and its queue is in shared memory. A search whose frontier outgrows a block is parked, as bits
// in an array, until the others have ended or are parked, and is merged into the joint frontier at its own superstep.
//
// Meanwhile each source has a bitmap of the reached vertices: the bits of 256 consecutive vertices are in one sector,
// which stays in the second-level cache while the frontier passes through them. Where the frontier is a few vertices,
// as on a path, one warp runs alone and keeps these bits in the first-level cache. Where the ids of a path's vertices
// keep a stride, the lanes examine many of them at once.
#pragma once
#include "warp.cuh"
#include "source_entries.cuh"
#include "one_block.cuh"
#include "persistent.cuh"

namespace hpgraph {

// Consecutive sparse supersteps with little overlap after which searches continue separately: about the cost of
// splitting and merging.
constexpr i64 PARTING = 64;
// Up to this many blocks for each source's share of the grid, one block is as fast (measured on an H200 and a lattice
// of four million vertices, with 2, 8, 32 and 128 sources); above it, only for supersteps of at most ARCS_OF_BLOCK
// arcs.
constexpr i64 BLOCKS_OF_SOURCE = 4, ARCS_OF_BLOCK = 1024;
// Up to this many senders, claims skip the non-atomic test of the bit: the superstep is bound by its chain of loads.
constexpr u32 FEW_SENDERS = 8;
// Up to this many senders and arcs, one warp runs alone; it compares the vertices that it reaches one after another.
constexpr u32 WARP_ARCS = 16;

__device__ inline bool is_crowded(i64 sources) { return BLOCKS_OF_SOURCE * sources >= gridDim.x; }

// Whether sources with little overlap should continue separately, from the out-arcs of the frontier.
__device__ inline bool should_part(i64 sources, u64 arcs) {
    return sources > 1 && (is_crowded(sources) || arcs <= THIN * sources);
}

// A vertex that sends in a separate search, and its arcs.
template <class Index>
struct Sender {
    i64 start;
    Index vertex;
    u32 degree;
};

struct SeparateTally {
    u64 arcs;
    u32 count, pairs;
    u32 steps;  // supersteps that one warp ran meanwhile
};

template <int W, class Delivery, class Index, class Weight>
struct SeparateSearches {
    static constexpr int SIZE = 4;  // arcs that a thread has in flight
    static constexpr u32 ROOM = SourceBlock<W>::BYTES / 2 / sizeof(Sender<Index>);
    static_assert(sizeof(Sender<Index>) <= sizeof(Entry<Index>), "senders take the place of entries");
    const Delivery& delivery;
    const Arcs<Index, Weight>& out;
    u64 *reached, *parked;
    u32* seen;                         // `reached` as a bitmap for each source, in the memory of the frontier's bits
    MultiSourceHeader* header;
    SourceBlock<W>& block;
    SeparateTally* tallies;               // three in shared memory: one read, one filled, one cleared
    EntryList<Index> even, odd;        // memory for senders that do not fit shared memory
    const Trace& trace;
    i64* pairs;
    i64 n, k, limit;
    i64 room, most;                    // capacity in senders of a source; limit to the arcs of a block's superstep

    __device__ SeparateSearches(const Delivery& delivery, const Arcs<Index, Weight>& out, u64* reached, u64* parked,
                                u64* front, MultiSourceHeader* header, SourceBlock<W>& block, SeparateTally* tallies,
                                const EntryList<Index>& even, const EntryList<Index>& odd, const Trace& trace,
                                i64* pairs, i64 n, i64 k, i64 limit)
        : delivery(delivery), out(out), reached(reached), parked(parked), seen((u32*)front), header(header),
          block(block), tallies(tallies), even(even), odd(odd), trace(trace), pairs(pairs), n(n), k(k), limit(limit),
          room(even.room * (i64)sizeof(Entry<Index>) / ((i64)sizeof(Sender<Index>) * k)),
          most(is_crowded(k) ? room : min(room, ARCS_OF_BLOCK)) {}

    // By the whole grid, before the split: clear parked bits; after the first split rows of the trace are sums.
    __device__ void clear(i64 step, bool is_first) const {
        const i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x, threads = (i64)gridDim.x * THREADS;
        for (i64 i = thread; i < n * W; i += threads) parked[i] = 0;
        for (i64 i = step + thread; is_first && i < trace.room; i += threads) trace.rows[i] = TraceRow{}, pairs[i] = 0;
        if (thread < MAX_SOURCES) header->searches[thread] = SeparateSearch{0, 0, NOT_PARKED};
        if (thread == 0) header->step = step, header->left = 0;
    }

    // By the whole grid: transpose the reached bits from words per vertex to a bitmap per source, or back.
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
                const int source = 32 * half + lane_of_warp();
                u32* const place = seen + source * words + tile;
                if constexpr (back) {
                    bits.word[half / 2] |= (u64)transpose_bits(source < k ? *place : 0) << 32 * (half & 1);
                } else {
                    const u32 of_source = transpose_bits((u32)(bits.word[half / 2] >> 32 * (half & 1)));
                    if (source < k) *place = of_source;
                }
            }
            if (back && v < n) store_bits(reached, v, bits);
        }
    }

    // The sources of an entry: first count their arcs; then append a sender to the list of each source that fits a
    // block, and park the bits of the others.
    __device__ void count(const Entry<Index>& one) const {
        for (u64 rest = one.bits; rest; rest &= rest - 1)
            atomicAdd(&header->searches[64 * one.word() + __ffsll(rest) - 1].arcs, (u64)one.arcs());
    }
    __device__ void deal(const Entry<Index>& one, i64 step) const {
        u64 parks = 0;
        for (u64 rest = one.bits; rest; rest &= rest - 1) {
            const int source = 64 * one.word() + __ffsll(rest) - 1;
            SeparateSearch& of = header->searches[source];
            if ((i64)of.arcs > most) parks |= rest & -rest, of.parked = step;
            else list(0, source)[atomicAdd(&of.count, 1ull)] = Sender<Index>{one.start, one.vertex, one.arcs()};
        }
        if (parks) atomicOr(parked + (i64)one.vertex * W + one.word(), parks);
    }

    // By a block: run the supersteps of one search, from `step` on.
    __device__ void run(int source, i64 step) const {
        const SeparateSearch of = header->searches[source];
        if (!of.count) return;
        if (threadIdx.x == 0) tallies[0] = SeparateTally{of.arcs, (u32)of.count, 0, 0}, tallies[1] = SeparateTally{};
        for (u32 i = threadIdx.x; i < of.count && i < ROOM; i += THREADS) slots(0)[i] = list(0, source)[i];
        __syncthreads();
        for (u32 turn = 0;; ++turn) {
            const SeparateTally here = tallies[turn % 3];
            step += here.steps;
            if (threadIdx.x == 0) {
                tallies[(turn + 2) % 3] = SeparateTally{};
                if (turn) note_pairs(step, here.pairs), delivery.account_source(source, here.pairs, step);
            }
            const bool is_over = here.count == 0 || step == limit;
            if (is_over || (i64)here.arcs > most) {
                if (!is_over) park(source, step, turn & 1, here.count);
                if (threadIdx.x == 0) {
                    atomicMax((u64*)&header->step, (u64)step);
                    if (is_over) atomicAdd(&header->left, (u64)here.count);
                }
                break;
            }
            SeparateTally& found = tallies[(turn + 1) % 3];
            if (is_thin(here)) {
                if (threadIdx.x < 32) run_thin(source, step, turn & 1, here, found);
            } else {
                if (threadIdx.x == 0) note(step, here);
                send(source, ++step, turn & 1, here.count, found);
            }
            __syncthreads();
        }
        __syncthreads();
    }

    // The first superstep after `above` at which a search is parked, or NOT_PARKED; warp-collective.
    __device__ i64 next_parked(i64 above) const {
        i64 first = NOT_PARKED;
        for (int source = lane_of_warp(); source < MAX_SOURCES; source += 32) {
            const i64 step = header->searches[source].parked;
            if (step > above && step < first) first = step;
        }
        for (int d = 16; d; d >>= 1) first = min(first, __shfl_xor_sync(ALL, first, d));
        return first;
    }

    // By the whole grid: merge the searches parked at a superstep into the frontier.
    __device__ void join(u64* front, i64 step) const {
        u64 sources[W] = {};
        for (int source = 0; source < 64 * W; ++source)
            if (header->searches[source].parked == step) sources[W == 1 ? 0 : source >> 6] |= 1ull << (source & 63);
        for (i64 v = (i64)blockIdx.x * THREADS + threadIdx.x; v < n; v += (i64)gridDim.x * THREADS)
#pragma unroll
            for (int w = 0; w < W; ++w)
                if (const u64 bits = parked[v * W + w] & sources[w]) atomicOr(front + v * W + w, bits);
    }

    // By the first block, at the end: separate searches have no common end of a superstep, so the time is divided
    // evenly.
    __device__ void share_time(i64 from, i64 to, i64 began) const {
        const i64 took = clock64() - began;
        for (i64 i = from + threadIdx.x; i < min(to, trace.room); i += THREADS)
            trace.rows[i].cycles = began + (i64)(__fdividef((float)(i + 1 - from), (float)(to - from)) * (float)took);
    }

private:
    __device__ Sender<Index>* list(u32 which, int source) const {
        return (Sender<Index>*)(which ? odd : even).list + source * room;
    }
    __device__ Sender<Index>* slots(u32 which) const { return (Sender<Index>*)block.slots + which * ROOM; }
    __device__ Sender<Index> sender(u32 which, int source, u32 i) const {
        return i < ROOM ? slots(which)[i] : list(which, source)[i];
    }

    __device__ bool is_thin(const SeparateTally& now) const {
        return now.count <= WARP_ARCS && now.arcs <= WARP_ARCS && (i64)now.arcs <= most;
    }

    __device__ bool is_over(i64 step, const SeparateTally& now) const {
        return now.count == 0 || step == limit || !is_thin(now);
    }

    // By one thread: add the frontier that sends after superstep `step` to the trace.
    __device__ void note(i64 step, const SeparateTally& now) const {
        if (step >= trace.room) return;
        atomicAdd((u64*)&trace.rows[step].active, (u64)now.count);
        atomicAdd((u64*)&trace.rows[step].looked, now.arcs);
    }

    // By one thread: count the pairs settled by a superstep.
    __device__ void note_pairs(i64 step, u32 settled) const {
        if (step <= trace.room) atomicAdd((u64*)pairs + step - 1, (u64)settled);
    }

    __device__ void park(int source, i64 step, u32 which, u32 count) const {
        for (u32 i = threadIdx.x; i < count; i += THREADS)
            atomicOr(parked + (i64)sender(which, source, i).vertex * W + (source >> 6), 1ull << (source & 63));
        if (threadIdx.x == 0) header->searches[source].parked = step;
    }

    // One superstep: a group of threads for each sender, as large as the number of senders allows.
    __device__ void send(int source, i64 step, u32 which, u32 count, SeparateTally& found) const {
        int shift = 5;
        while (shift && (count << shift) > THREADS) --shift;
        const u32 group = 1u << shift, member = threadIdx.x & (group - 1);
        const bool asks = count > FEW_SENDERS;
        const auto visit = [&](const Batch<Index, SIZE>& batch) { claim(source, step, which, asks, batch, found); };
        for (u32 i = threadIdx.x >> shift; __any_sync(ALL, i < count); i += THREADS >> shift) {
            const Sender<Index> one = i < count ? sender(which, source, i) : Sender<Index>{0, 0, 0};
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

    // By one warp, from a superstep on while the frontier is thin: a level of a path is a chain of two loads, where atomics
    // and barriers would take four times as long. Nothing else accesses the source's bitmap meanwhile, so that a lane may
    // load and store its words.
    __device__ void run_thin(int source, i64 step, u32 which, SeparateTally now, SeparateTally& found) const {
        u32* const words = seen + source * ((n + 31) / 32);
        const Sender<Index>* from = slots(which);
        Sender<Index>* const to = slots(1 - which);
        const u32 lane = lane_of_warp();
        const i64 began = step;
        SeparateTally traced{};  // of one superstep of 32
        Index before = 0;        // the lane's sender 32 supersteps ago
        for (u32 row = 0;; ++row) {
            if (lane == row) traced = {now.arcs, now.count, 0, 0};
            ++step;
            // A group of lanes for each sender, as large as their number allows.
            const int shift = __clz(now.count - 1) - 27;
            const Sender<Index> one = lane >> shift < now.count ? from[lane >> shift] : Sender<Index>{0, 0, 0};
            u64 arcs = 0;
            now = SeparateTally{};
            u32 t = lane & ((1u << shift) - 1);
            __syncwarp();
            do {
                const bool live = t < one.degree;
                const Index v = live ? out.indices[one.start + t] : 0;
                const u32 word = live ? words[v >> 5] : ALL;
                const i64 begin = live ? out.indptr[v] : 0, end = live ? out.indptr[v + 1] : 0;
                bool news = !(word >> (v & 31) & 1);
                if constexpr (Delivery::CHOOSES)
                    news = news && delivery.passing(one.vertex, out.weight(one.start + t), v, source >> 6,
                                                    1ull << (source & 63));
                // Of lanes that reach the same vertex only the first claims it; lanes with the same word store the same
                // value. Two lanes are compared at a time, as a path has two: their shuffles overlap.
                u32 bits = word;
                for (u32 rest = __ballot_sync(ALL, news); rest;) {
                    const u32 first = __ffs(rest) - 1, last = 31 - __clz(rest);
                    rest &= ~(1u << first | 1u << last);
                    const Index one_of = __shfl_sync(ALL, v, first), other = __shfl_sync(ALL, v, last);
                    if (one_of >> 5 == v >> 5) bits |= 1u << (one_of & 31);
                    if (other >> 5 == v >> 5) bits |= 1u << (other & 31);
                    if ((one_of == v && lane > first) || (other == v && lane > last)) news = false;
                }
                if (news) words[v >> 5] = bits;
                now.pairs += __popc(__ballot_sync(ALL, news));
                news = news && delivery.deliver_alone(one.vertex, out.weight(one.start + t), v, source, step);
                const u32 votes = __ballot_sync(ALL, news);
                if (news) to[now.count + __popc(votes & lanes_below())] = Sender<Index>{begin, v, (u32)(end - begin)};
                if (news) arcs += end - begin;
                now.count += __popc(votes);
                t += 1u << shift;
                __syncwarp();
            } while (__any_sync(ALL, t < one.degree));
            from = to;
            // The sum of many arcs is needed once.
            now.arcs = warp_sum((u32)min(arcs, (u64)WARP_ARCS + 1));
            if (now.arcs > WARP_ARCS) now.arcs = warp_sum(arcs);
            bool ends = is_over(step, now);
            if (!ends) {
                if (lane == row) traced.pairs = now.pairs;
                if (lane == 0) delivery.account_source(source, now.pairs, step);
                if (row < 31) continue;
            }
            if (lane <= row) note(step - 1 - row + lane, traced), note_pairs(step - row + lane, traced.pairs);
            if (!ends) {
                row = ~0u;
                const Index moved = one.vertex - before;
                before = one.vertex;
                if (now.count <= 2 && __all_sync(ALL, moved % 32 == 0 && moved)) {
                    run_straight(source, step, moved / 32, words, to, now);
                    ends = is_over(step, now);
                }
            }
            if (ends) {
                if (lane == 0) now.steps = (u32)(step - began), found = now;
                return;
            }
        }
    }

    // By one warp: supersteps of one or two senders, while their vertices keep a stride, as on a path numbered along it.
    // Each lane of a sender's group examines one of the vertices ahead, so that their loads overlap. Afterwards the pairs
    // of `now` are already counted.
    __device__ void run_straight(int source, i64& step, Index stride, u32* words, Sender<Index>* slots,
                                 SeparateTally& now) const {
        const u32 lane = lane_of_warp(), count = now.count, size = 32 / count, member = lane & (size - 1);
        stride = __shfl_sync(ALL, stride, lane - member);
        for (u32 steps = size - 1; steps == size - 1 && now.count == count && !is_over(step, now);) {
            const i64 v = slots[lane / size].vertex + (i64)member * stride, ahead = v + stride, behind = v - stride;
            const bool exists = v >= 0 && v < n, leads = exists && ahead >= 0 && ahead < n;
            const i64 begin = exists ? out.indptr[v] : 0, degree = exists ? out.indptr[v + 1] - begin : 0;
            const u32 word = leads ? words[ahead >> 5] : ALL;
            bool follows = !(word >> (ahead & 31) & 1) && (degree == 1 || degree == 2);
            i64 arc = begin;
            if (follows) {
                // The other neighbour, if any, is the vertex behind, which is reached.
                const Index one = out.indices[begin], other = out.indices[begin + degree - 1];
                arc += one != ahead;
                follows = one == ahead ? degree == 1 || other == behind : one == behind && other == ahead;
                follows = follows && (member || degree == 1 || words[behind >> 5] >> (behind & 31) & 1);
            }
            u64 arcs = degree;
            if (count == 2) {
                // Two senders may approach the same vertex.
                follows = __match_any_sync(ALL, ahead) == 1u << lane && follows;
                arcs += __shfl_xor_sync(ALL, arcs, 16);
            }
            u32 votes = __ballot_sync(ALL, follows);
            if (count == 2) votes &= votes >> 16;
            // A superstep less than lanes: the next lane has the row of the vertex ahead.
            const u32 reach = (u32)min((i64)min((u32)__ffs(~votes) - 1, size - 1), limit - step);
            if (!reach) return;
            SeparateTally traced{arcs, count, 0, 0};
            bool claims = false, sends = false;
            steps = 0;
            do {
                bool news = member == steps;
                if constexpr (Delivery::CHOOSES)
                    news = news && delivery.passing(v, out.weight(arc), ahead, source >> 6, 1ull << (source & 63));
                claims |= news;
                const u32 settled = __popc(__ballot_sync(ALL, news));
                if (lane == steps) traced.pairs = settled;
                ++steps;
                sends = news && delivery.deliver_alone(v, out.weight(arc), ahead, source, step + steps);
                if (lane == 0) delivery.account_source(source, settled, step + steps);
                votes = __ballot_sync(ALL, sends);
                __syncwarp();
            } while (steps < reach && __popc(votes) == count);
            // Lanes with the same word store the same value.
            for (u32 rest = __ballot_sync(ALL, claims); rest;) {
                const i64 place = __shfl_sync(ALL, ahead >> 5, __ffs(rest) - 1);
                const bool same = claims && ahead >> 5 == place;
                const u32 bits = warp_sum(same ? 1u << (ahead & 31) : 0u);
                if (same) words[place] = word | bits;
                rest &= ~__ballot_sync(ALL, same);
            }
            if (lane < steps) note(step + lane, traced), note_pairs(step + lane + 1, traced.pairs);
            step += steps;
            const i64 start = __shfl_down_sync(ALL, begin, 1), next = __shfl_down_sync(ALL, degree, 1);
            if (sends) slots[__popc(votes & lanes_below())] = Sender<Index>{start, (Index)ahead, (u32)next};
            now = {warp_sum(sends ? (u64)next : 0), (u32)__popc(votes), 0, 0};
            __syncwarp();
        }
    }

    // Claim along a batch of arcs; warp-collective: newly settled vertices become the next senders.
    __device__ void claim(int source, i64 step, u32 which, bool asks, const Batch<Index, SIZE>& batch,
                          SeparateTally& found) const {
        u32* const words = seen + source * ((n + 31) / 32);
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
                news[j] = news[j] && delivery.passing(batch.source[j], out.weight(batch.arc[j]), v[j], source >> 6,
                                                      1ull << (source & 63));
            before[j] = news[j] ? atomicOr(words + (v[j] >> 5), flag(v[j])) : ALL;
            begin[j] = news[j] ? out.indptr[v[j]] : 0, end[j] = news[j] ? out.indptr[v[j] + 1] : 0;
        }
        u32 votes[SIZE];
#pragma unroll
        for (int j = 0; j < SIZE; ++j) {
            news[j] = !(before[j] & flag(v[j]));
            settled += __popc(__ballot_sync(ALL, news[j]));
            news[j] = news[j] && delivery.deliver_alone(batch.source[j], out.weight(batch.arc[j]), v[j], source, step);
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
            if (news[j] && at >= ROOM) list(1 - which, source)[at] = one;
            base += __popc(votes[j]);
        }
    }
};

}  // namespace hpgraph
