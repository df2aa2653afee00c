// Bottom-up in lanes: a vertex that lanes wait for collects the bits of its in-neighbours, and leaves its row as soon as
// every lane that waits has heard. A lane whose frontier is empty waits for nobody.
//
// A row is read by a group of threads, one for each 16 bytes of a vertex's bits, which fetch one neighbour's bits side by
// side. Groups end at different places, so one that is done takes the next row of the warp's share at once, as in
// bottom_up.cuh; after ALONE probes the whole warp goes on, and rows too long for a warp are put off for the whole grid.
//
// Where nobody can leave early, all there is to gain is locality: the rows are then read in several passes, each over the
// columns whose bits fit the second-level cache together (as S. Beamer et al. block PageRank, IPDPS'17). A row remembers
// how far it was read; where columns are not sorted, that is only less local.
#pragma once
#include "bottom_up.cuh"
#include "lane_delivery.cuh"

namespace hpgraph {

// Rows of a warp's share.
constexpr int SHARE_OF_WARP = 128;

template <class T, int W, class Delivery, class Index, class Weight>
struct LanesPull {
    static constexpr int S = SLICE<W>, GROUP = W / S, GROUPS = 32 / GROUP;
    const Delivery& delivery;
    const Arcs<Index, Weight>& in;
    const u64* front;
    u64 *reached, *next;
    i64 n, step;
    const u64* live;  // lanes whose frontier is not empty
    Index* resume;    // neighbours of each vertex that earlier passes have read
    i64 columns;      // of this pass and earlier ones: it reads on up to a neighbour beyond
    bool begins, ends;  // whether this is the first pass, and the last
    LanesSums<W>& sums;
    Piece<Index>* list;  // of what is put off
    u64* tail;
    int spare = SPARE;

    __device__ static int slice() { return lane_of_warp() % GROUP; }
    __device__ static u32 of_group() {
        return GROUP == 32 ? ALL : ((1u << GROUP) - 1) << (lane_of_warp() / GROUP * GROUP);
    }
    __device__ i64 place(i64 v) const { return v * W + slice() * S; }

    // What lanes still wait for; by whole warps, as one of their bits decides for the group.
    __device__ static bool lacks(const Slice<S>& want, const Slice<S>& heard) {
        bool mine = false;
#pragma unroll
        for (int w = 0; w < S; ++w) mine |= (want.word[w] & ~heard.word[w]) != 0;
        return (__ballot_sync(ALL, mine) & of_group()) != 0;
    }

    // Bits that an in-neighbour brings: heard, and where messages differ by their arc, delivered by who is first.
    __device__ void bring(Index u, i64 arc, i64 v, const Slice<S>& bits, const Slice<S>& want, Slice<S>& heard,
                          Slice<S>& changed) {
#pragma unroll
        for (int w = 0; w < S; ++w) {
            u64 news = bits.word[w] & want.word[w] & ~heard.word[w];
            if constexpr (Delivery::BY_ARC) {
                if (!news) continue;
                const int word = slice() * S + w;
                news = delivery.passing(u, in.weight(arc), v, word, news);
                if (!news) continue;
                const u64 fresh = news & ~atomicOr(reached + v * W + word, news);
                if (fresh) {
                    sums.pairs += __popcll(fresh);
                    changed.word[w] |= delivery.deliver(u, in.weight(arc), v, word, fresh, step);
                }
            }
            heard.word[w] |= news;
        }
    }

    // By the whole warp: the neighbours from the j-th on, of a row for which `want` is wanted, up to `end` or one among
    // the columns of a later pass, whose place is returned.
    __device__ i64 search(i64 v, i64 j, i64 end, i64 columns, const Slice<S>& want, Slice<S>& heard, Slice<S>& changed) {
        for (; j < end; j += GROUPS * TOGETHER) {
            const i64 mine = j + lane_of_warp() / GROUP;
            Index u[TOGETHER];
            Slice<S> bits[TOGETHER];
            i64 stop = end;
#pragma unroll
            for (int k = 0; k < TOGETHER; ++k) u[k] = mine + GROUPS * k < end ? in.indices[mine + GROUPS * k] : 0;
#pragma unroll
            for (int k = TOGETHER - 1; k >= 0; --k) {
                const u32 beyond = __ballot_sync(ALL, mine + GROUPS * k < end && (i64)u[k] >= columns);
                if (beyond) stop = j + GROUPS * k + (__ffs(beyond) - 1) / GROUP;
            }
#pragma unroll
            for (int k = 0; k < TOGETHER; ++k)
                bits[k] = mine + GROUPS * k < stop ? load_slice<S>(front + place(u[k])) : Slice<S>{};
#pragma unroll
            for (int k = 0; k < TOGETHER; ++k) {
                sums.looked += slice() == 0 && mine + GROUPS * k < stop;
                bring(u[k], mine + GROUPS * k, v, bits[k], want, heard, changed);
            }
            join(heard);
            if (T::EARLY_EXIT && !lacks(want, heard)) return end;
            if (stop < min(end, j + GROUPS * TOGETHER)) return stop;
        }
        return end;
    }

    // The bits of all groups of the warp.
    __device__ static void join(Slice<S>& slice) {
#pragma unroll
        for (int w = 0; w < S; ++w) {
            if constexpr (GROUP == 1) {
                slice.word[w] = warp_or(slice.word[w]);
            } else {
#pragma unroll
                for (int d = 16; d >= GROUP; d >>= 1) slice.word[w] |= __shfl_xor_sync(ALL, slice.word[w], d);
            }
        }
    }

    __device__ static Slice<S> from_lane(const Slice<S>& slice, int lane) {
        Slice<S> got;
#pragma unroll
        for (int w = 0; w < S; ++w) got.word[w] = __shfl_sync(ALL, slice.word[w], lane);
        return got;
    }

    __device__ Slice<S> wanted(const Slice<S>& known) const {
        Slice<S> want;
#pragma unroll
        for (int w = 0; w < S; ++w) want.word[w] = live[slice() * S + w] & ~known.word[w];
        return want;
    }

    // All vertices; `next` receives what they hear, or, where it is delivered by arcs, what that changes.
    __device__ void all_rows() {
        const int lane = lane_of_warp(), warps = gridDim.x * WARPS;
        const Quads<Index> quads(in.indices);
        for (i64 share = blockIdx.x + (i64)gridDim.x * (threadIdx.x >> 5); share * SHARE_OF_WARP < n; share += warps) {
            const i64 first = share * SHARE_OF_WARP;
            const int rows = (int)min((i64)SHARE_OF_WARP, n - first);
            int taken = 0;
            bool busy = false;
            i64 v = 0, begin = 0, from = 0, j = 0, end = 0;
            Slice<S> want{}, heard{}, changed{};
            Index ahead[4] = {};  // the quad of the j-th neighbour
            while (true) {
                const u32 idle = __ballot_sync(ALL, !busy);
                if (idle && taken < rows && (T::REFILL || idle == ALL)) {
                    const int row = taken + __popc(idle & lanes_below()) / GROUP;
                    taken += __popc(idle) / GROUP;
                    const bool takes = !busy && row < rows;
                    if (takes) {
                        v = first + row, begin = in.indptr[v], end = in.indptr[v + 1];
                        j = from = begins ? begin : begin + resume[v];
                        want = wanted(load_slice<S>(reached + place(v)));
                        heard = begins ? Slice<S>{} : load_slice<S>(next + place(v));
                        if constexpr (Delivery::BY_ARC) changed = heard, heard = Slice<S>{};
                    }
                    const bool open = lacks(want, heard);
                    if (takes) {
                        busy = open && j < end;
                        if (busy) quads.load(quads.begin(j), ahead);
                        if (!busy && begins) {
                            store_slice(next + place(v), Slice<S>{});
                            if (!ends && slice() == 0) resume[v] = (Index)(end - begin);
                        }
                    }
                }
                if (!__any_sync(ALL, busy)) {
                    if (taken >= rows) break;
                    continue;
                }
                const bool paused = busy && probe(quads, ahead, v, j, end, want, heard, changed);
                const bool lacking = lacks(want, heard);
                if (T::EARLY_EXIT && !lacking) j = end;
                bool done = busy && (paused || j >= end), put_off = false;
                // One thread of each group that goes on in vain.
                for (u32 rest = __ballot_sync(ALL, busy && !done && j - from >= ALONE && slice() == 0); rest;
                     rest &= rest - 1) {
                    const int owner = __ffs(rest) - 1;
                    const i64 at = __shfl_sync(ALL, j, owner), to = __shfl_sync(ALL, end, owner);
                    const bool mine = lane / GROUP == owner / GROUP;
                    if (to - at > spare && __shfl_sync(ALL, end - begin, owner) > T::PIECE) {
                        put_off |= mine;
                        continue;
                    }
                    const Slice<S> wants = from_lane(want, owner + slice());
                    Slice<S> hears = from_lane(heard, owner + slice()), changes{};
                    const i64 stop = search(__shfl_sync(ALL, v, owner), at, to, columns, wants, hears, changes);
                    spare -= (int)min(stop - at, (i64)spare);
                    if constexpr (Delivery::BY_ARC) join(changes);
                    if (mine) {
                        heard = hears, j = stop, done = true;
#pragma unroll
                        for (int w = 0; w < S; ++w) changed.word[w] |= changes.word[w];
                    }
                }
                append_pieces<T>((Index)v, put_off && slice() == 0 ? end - begin : 0, list, tail);
                if (done || put_off) {
                    store_slice(next + place(v), Delivery::BY_ARC ? changed : heard);
                    // Nothing is left to be read of a row that was put off, either.
                    if (!ends && slice() == 0) resume[v] = (Index)((put_off ? end : j) - begin);
                    busy = false, want = heard = Slice<S>{};
                }
            }
        }
    }

    // The rows that were put off, piece by piece, once all of them are known.
    __device__ void pieces_put_off(u64 pieces) {
        for (u64 p = blockIdx.x + gridDim.x * (threadIdx.x >> 5); p < pieces; p += gridDim.x * WARPS) {
            const Piece<Index> piece = list[p];
            const i64 v = piece.vertex, begin = in.indptr[v] + (i64)piece.number * T::PIECE;
            Slice<S> want = wanted(load_shared_slice<S>(reached + place(v))), heard{}, changed{};
            if constexpr (T::EARLY_EXIT && !Delivery::BY_ARC) {
                const Slice<S> others = load_shared_slice<S>(next + place(v));
#pragma unroll
                for (int w = 0; w < S; ++w) want.word[w] &= ~others.word[w];
                // The groups may have read at different times: the first decides.
                want = from_lane(want, slice());
            }
            if (!lacks(want, heard)) continue;
            search(v, begin, min(begin + T::PIECE, in.indptr[v + 1]), n, want, heard, changed);
            if constexpr (Delivery::BY_ARC) join(changed);
            if (lane_of_warp() >= GROUP) continue;
#pragma unroll
            for (int w = 0; w < S; ++w) {
                const u64 bits = Delivery::BY_ARC ? changed.word[w] : heard.word[w];
                if (bits) atomicOr(next + place(v) + w, bits);
            }
        }
    }

private:
    // The neighbours from the j-th to the end of its quad, or to one among the columns of a later pass, which is told; j
    // moves on.
    __device__ bool probe(const Quads<Index>& quads, Index (&ahead)[4], i64 v, i64& j, i64 end, const Slice<S>& want,
                          Slice<S>& heard, Slice<S>& changed) {
        const i64 begin = quads.begin(j);
        Index u[4];
        Slice<S> bits[4];
        i64 stop = min(begin + 4, end);
#pragma unroll
        for (int k = 0; k < 4; ++k) u[k] = ahead[k];
        // The next quad is on its way while this one's bits are.
        if (begin + 4 < end) quads.load(begin + 4, ahead);
#pragma unroll
        for (int k = 3; k >= 0; --k)
            if (begin + k >= j && begin + k < end && (i64)u[k] >= columns) stop = begin + k;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const bool mine = begin + k >= j && begin + k < stop;
            bits[k] = mine ? load_slice<S>(front + place(u[k])) : Slice<S>{};
            sums.looked += mine && slice() == 0;
        }
#pragma unroll
        for (int k = 0; k < 4; ++k) bring(u[k], begin + k, v, bits[k], want, heard, changed);
        j = stop;
        return stop < min(begin + 4, end);
    }
};

}  // namespace hpgraph
