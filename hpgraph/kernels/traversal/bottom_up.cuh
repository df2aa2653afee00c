// The bottom-up step (S. Beamer et al., SC'12): each unsettled vertex searches for an active in-neighbour.
//
// Rows exit early and at different arcs, so a warp that waited for its slowest lane would be idle most of the time.
// Here a lane that is done takes the next unsettled vertex of the warp's share, whose row pointers were prefetched
// during the search ("dynamic work fetch" of XBFS, A. Gaihre et al., HPDC'19, within a warp). After ALONE probes the
// whole warp searches the rest of a long row, up to SPARE arcs in total. Rows beyond that are deferred, and the whole
// grid searches them afterwards, piece by piece: in many graphs hubs have consecutive ids, so one warp might have 32 of
// them.
#pragma once
#include "load_balancing.cuh"

namespace hpgraph {

// Probes of one lane before the warp takes over the rest of a row.
constexpr int ALONE = 64;
// Probes of each lane in flight at once after that.
constexpr int TOGETHER = 2;
// Arcs of long rows that a warp searches in one pull: about 30 microseconds.
constexpr int SPARE = 2048;

// A warp's share: 32 words of the bitmasks.
struct PullShare {
    u32 settled[32], changed[32];
};

// Position of the n-th set bit, counted from 0.
__device__ inline int nth_bit(u32 bits, int n) {
    int place = 0;
    for (int half = 16; half; half >>= 1) {
        const int below = __popc(bits & ((1u << half) - 1));
        if (n >= below) n -= below, place += half, bits >>= half;
    }
    return place;
}

// Four consecutive elements, aligned to their size: one load, or two of wide ids.
template <class Index>
struct Quads {
    const Index* indices;
    int shift;

    __device__ explicit Quads(const Index* indices)
        : indices(indices), shift((int)((u64)indices / sizeof(Index) & 3)) {}

    // Beginning of the quad of element j; it may contain elements outside the row.
    __device__ i64 begin(i64 j) const { return ((j + shift) & ~(i64)3) - shift; }

    __device__ void load(i64 begin, Index (&u)[4]) const {
        if constexpr (sizeof(Index) == 4) {
            const int4 quad = *(const int4*)(indices + begin);
            u[0] = quad.x, u[1] = quad.y, u[2] = quad.z, u[3] = quad.w;
        } else {
            const longlong2 low = *(const longlong2*)(indices + begin), high = *(const longlong2*)(indices + begin + 2);
            u[0] = low.x, u[1] = low.y, u[2] = high.x, u[3] = high.y;
        }
    }
};

// A row to search, and the place of its vertex in the share.
template <class Index>
struct OpenRow {
    i64 begin;
    Index degree;
    int place;  // 32 * word + bit; -1: none
};

template <class T, class Program, class Index, class Weight>
struct Pull {
    const Program& program;
    const Arcs<Index, Weight>& out;
    const Arcs<Index, Weight>& in;
    Quads<Index> quads;
    const u32* active;
    i64 step;
    Collector<T, Index>& found;
    u64 looked = 0;
    int spare = SPARE;

    __device__ bool sends(Index u, i64 j, i64 v) const { return program.edge_cond(u, in.weight(j), v); }
    __device__ bool receive(Index u, i64 j, i64 v) const {
        return program.receive(v, program.gather(u, in.weight(j), v), step);
    }

    // Test the neighbours from the j-th arc to the end of its quad, and advance j. Returns whether one is active;
    // `changed` is set to whether its message changed v.
    __device__ bool probe(i64 v, i64& j, i64 end, bool received, bool& changed) {
        // Four neighbours are in one sector: load them together, then their bits together, and test in order.
        const i64 begin = quads.begin(j);
        Index u[4];
        u32 word[4];
        quads.load(begin, u);
#pragma unroll
        for (int k = 0; k < 4; ++k) word[k] = begin + k >= j && begin + k < end ? active[u[k] >> 5] : 0;
        loaded(word);
        int hit = -1;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            if ((T::EARLY_EXIT && hit >= 0) || begin + k < j || begin + k >= end) continue;
            ++looked;
            if (hit < 0 && (word[k] >> (u[k] & 31) & 1) && sends(u[k], begin + k, v)) hit = k;
        }
        j = begin + 4;
        if (hit >= 0 && !received) changed = receive(pick(u, hit), begin + hit, v);
        return received || hit >= 0;
    }

    // Warp-collective: returns the first arc from the j-th on whose source is active, or -1. The search is bound by the
    // latency of chains of two loads, so each lane has several in flight.
    __device__ i64 find(i64 v, i64 j, i64 end) {
        i64 first = -1;
        for (j += lane_of_warp(); __any_sync(ALL, j < end) && !(T::EARLY_EXIT && first >= 0); j += 32 * TOGETHER) {
            Index u[TOGETHER];
            u32 word[TOGETHER];
#pragma unroll
            for (int k = 0; k < TOGETHER; ++k) u[k] = j + 32 * k < end ? in.indices[j + 32 * k] : 0;
#pragma unroll
            for (int k = 0; k < TOGETHER; ++k) word[k] = j + 32 * k < end ? active[u[k] >> 5] : 0;
            loaded(word);
#pragma unroll
            for (int k = 0; k < TOGETHER; ++k) {
                const i64 arc = j + 32 * k;
                looked += arc < end;
                const u32 hits = __ballot_sync(ALL, (word[k] >> (u[k] & 31) & 1) && sends(u[k], arc, v));
                if (hits && first < 0) first = __shfl_sync(ALL, arc, __ffs(hits) - 1);
            }
        }
        return first;
    }

    // Warp-collective: search a piece of a deferred row, unless another piece has settled its vertex.
    __device__ void look_through(const Piece<Index>& piece, u32* settled, u32* next) {
        const i64 v = piece.vertex, begin = in.indptr[v] + (i64)piece.number * T::PIECE;
        const u32 flag = 1u << (v & 31);
        // One lane tests for the whole warp, since another warp may settle the vertex in between.
        const u32 done = T::EARLY_EXIT && lane_of_warp() == 0 ? __ldcg(settled + (v >> 5)) : 0;
        if (__shfl_sync(ALL, done, 0) & flag) return;
        const i64 arc = find(v, begin, min(begin + T::PIECE, in.indptr[v + 1]));
        if (arc < 0 || lane_of_warp() != 0 || (atomicOr(settled + (v >> 5), flag) & flag)) return;
        if (!receive(in.indices[arc], arc, v)) return;
        atomicOr(next + (v >> 5), flag);
        found.note(out.indptr[v + 1] - out.indptr[v]);
    }

    // Warp-collective: search the rest of the rows in which lanes found nothing, or defer them. `vertex(place)` is the
    // vertex at a place in the share.
    template <class Vertex>
    __device__ void search_together(bool in_vain, Vertex vertex, OpenRow<Index>& row, i64& j, bool& received,
                                    bool& changed) {
        const i64 end = row.begin + row.degree;
        const u32 divisible = __ballot_sync(ALL, in_vain && !received && row.degree > T::PIECE);
        u32 put_off = 0;
        for (u32 rest = __ballot_sync(ALL, in_vain); rest; rest &= rest - 1) {
            const int owner = __ffs(rest) - 1;
            const i64 from = __shfl_sync(ALL, j, owner), to = __shfl_sync(ALL, end, owner);
            if (divisible >> owner & 1) {
                if (to - from > spare) {
                    put_off |= 1u << owner;
                    continue;
                }
                spare -= (int)(to - from);
            }
            const i64 v = vertex(__shfl_sync(ALL, row.place, owner)), arc = find(v, from, to);
            if (lane_of_warp() != owner) continue;
            if (!received && arc >= 0) received = true, changed = receive(in.indices[arc], arc, v);
            j = to;
        }
        if (!put_off) return;
        const bool mine = put_off >> lane_of_warp() & 1;
        append_pieces<T>((Index)vertex(row.place), mine ? (i64)row.degree : 0, found.next.pieces, &found.tally->put_off);
        if (mine) row.place = -1;
    }

    // Process the unsettled vertices among the warp's 32 words; `done` is the lane's own word of settled bits.
    __device__ void work_off(PullShare& share, i64 first, i64 stride, u32 done) {
        const int lane = lane_of_warp();
        share.settled[lane] = share.changed[lane] = 0;
        __syncwarp();
        const WarpScan open(__popc(~done));
        int taken = 0;
        const auto vertex = [&](int place) { return (first + (place >> 5) * stride) * 32 + (place & 31); };
        OpenRow<Index> now{0, 0, -1}, next{0, 0, -1};
        i64 j = 0;
        bool received = false, changed = false;
        while (true) {
            const bool may_take = T::REFILL || __all_sync(ALL, now.place < 0);
            if (may_take && now.place < 0) {
                now = next, next.place = -1, j = now.begin;
                received = changed = false;
            }
            const u32 lacking = __ballot_sync(ALL, next.place < 0);
            if (lacking && taken < open.total) {
                const int t = taken + __popc(lacking & lanes_below()), owner = open.owner(t);
                const u32 bits = ~__shfl_sync(ALL, done, owner);
                const int before = __shfl_sync(ALL, open.through, owner) - __popc(bits);
                if (next.place < 0 && t < open.total) {
                    next.place = 32 * owner + nth_bit(bits, t - before);
                    const i64 v = vertex(next.place);
                    next.begin = in.indptr[v], next.degree = (Index)(in.indptr[v + 1] - next.begin);
                }
                taken += __popc(lacking);
            }
            if (!__any_sync(ALL, now.place >= 0)) {
                if (!__any_sync(ALL, next.place >= 0)) break;
                continue;
            }
            const i64 end = now.begin + now.degree;
            if (now.place >= 0) received = probe(vertex(now.place), j, end, received, changed);
            const auto over = [&] { return j >= end || (T::EARLY_EXIT && received); };
            const bool in_vain = now.place >= 0 && !over() && j - now.begin >= ALONE;
            search_together(in_vain, vertex, now, j, received, changed);
            if (now.place >= 0 && over()) {
                if (received) atomicOr(&share.settled[now.place >> 5], 1u << (now.place & 31));
                if (changed) {
                    const i64 v = vertex(now.place);
                    atomicOr(&share.changed[now.place >> 5], 1u << (now.place & 31));
                    found.note(out.indptr == in.indptr ? (i64)now.degree : out.indptr[v + 1] - out.indptr[v]);
                }
                now.place = -1;
            }
        }
        __syncwarp();
    }
};

// Bottom-up step over the words from `begin` to `words`. Returns the number of arcs this lane examined. Deferred rows
// are appended to the pieces of the next queue.
template <class T, class Program, class Index, class Weight>
__device__ u64 bottom_up_step(const Program& program, i64 step, i64 begin, i64 words, const Arcs<Index, Weight>& in,
                          const Arcs<Index, Weight>& out, const u32* active, u32* settled, u32* next, PullShare* shares,
                          Collector<T, Index>& found) {
    const i64 warp = (i64)blockIdx.x * WARPS + (threadIdx.x >> 5), warps = (i64)gridDim.x * WARPS;
    PullShare& share = shares[threadIdx.x >> 5];
    Pull<T, Program, Index, Weight> pull{program, out, in, Quads<Index>(in.indices), active, step, found};
    // All warps have the same number of shares, of the same size: a last share for only a few warps would take as long
    // as a full one.
    const u32 all = (u32)(words - begin), rounds = max(1u, (all + 32 * (u32)warps - 1) / (32 * (u32)warps));
    const u32 most = rounds * (u32)warps, each = (all + most - 1) / most;
    for (i64 first = begin + warp; first < words; first += each * warps) {
        const i64 word = lane_of_warp() < each ? first + lane_of_warp() * warps : words;
        const u32 done = word < words ? settled[word] : ALL;
        pull.work_off(share, first, warps, done);
        if (word < words) {
            next[word] = share.changed[lane_of_warp()];
            if (share.settled[lane_of_warp()]) settled[word] = done | share.settled[lane_of_warp()];
        }
    }
    return pull.looked;
}

// Bottom-up step over the deferred rows, after a barrier. Returns the number of arcs this lane examined.
template <class T, class Program, class Index, class Weight>
__device__ u64 pull_put_off(const Program& program, i64 step, const Arcs<Index, Weight>& in,
                            const Arcs<Index, Weight>& out, const u32* active, u32* settled, u32* next, u64 pieces,
                            Collector<T, Index>& found) {
    Pull<T, Program, Index, Weight> pull{program, out, in, Quads<Index>(in.indices), active, step, found};
    for (u64 p = blockIdx.x + gridDim.x * (threadIdx.x >> 5); p < pieces; p += gridDim.x * WARPS)
        pull.look_through(found.next.pieces[p], settled, next);
    return pull.looked;
}

}  // namespace hpgraph
