// Shared by both passes of betweenness: data layout, path counts beyond the range of doubles, distribution of a step's
// work over warps, and the sum over a vertex's neighbours.
// The numbers of a vertex's sources are contiguous, `stride` of them, a power of two. A thread handles two sources, so
// that a warp reads the numbers of 64 sources, or of fewer sources of several neighbours, by one instruction. A vertex
// with few arcs times sources is handled by one thread.
// instruction. A vertex with few arcs times sources is handled by one thread.
#pragma once
#include "persistent.cuh"
#include "warp.cuh"

namespace hpgraph {

// Threads of a block and blocks a multiprocessor, as launched.
constexpr int PATH_THREADS = HPGRAPH_PATH_THREADS, PATH_BLOCKS = HPGRAPH_PATH_BLOCKS, PATH_WARPS = PATH_THREADS / 32;
// As in the package's __init__: the limit from which numbers carry an exponent, and one step down.
constexpr double PATH_LIMIT = 0x1p256, STEP_DOWN = 0x1p-512;
// Arcs of a piece, and of the longest row of one warp; arcs times sources of one thread.
constexpr i64 PIECE_ARCS = 2048, FEW = 32;
// Loads of neighbours' numbers that a thread has in flight.
constexpr int IN_FLIGHT = 4;
// Cost of an arc in a push relative to one in a pull: bits are sent by atomic operations at random places, and the
// receivers read their own arcs afterwards.
constexpr u64 PUSH_COST = 4;

// Rows of more than PIECE_ARCS arcs, and the first piece of each; the row of each piece.
struct LongRows {
    const i64 *rows, *first, *owner;
    i64 count, pieces;
};

template <class Index>
struct PathArcs {
    const i64* indptr;
    const Index* indices;
    const double* weights;
    LongRows lengthy;

    // Where a piece of a long row begins.
    __device__ i64 begin_of(i64 piece, i64 row) const {
        return indptr[row] + (piece - lengthy.first[lengthy.owner[piece]]) * PIECE_ARCS;
    }
};

// Counts of a level being built: vertices, arcs that leave and reach them, in-arcs of those reached in all sources,
// whether a number reached the limit, and whether there is a long row.
struct LevelSlot {
    u64 count, leaving, reaching, full, large, heavy;
};

// A finished level: its start in the list, and its counts.
struct LevelRow {
    i64 begin;
    u64 leaving, reaching, heavy;
};

template <class Index>
struct PathState {
    double* numbers;  // n rows: path counts; in the backward pass (1 + dependency) / paths
    int* exponents;
    const double* distances;  // of weighted paths, and the number of arcs still pending
    int* pending;
    u64* seen;       // sources that have reached a vertex; in the backward pass those in which it may have dependencies
    u64* fronts;     // three times n: sources in which a vertex is on a level, by the level's number modulo 3
    Index* listed;   // the vertices of each level, in order of levels, and their sources
    u64* masks;
    LevelRow* levels;
    double* partial;  // sums of pieces, and their sources with any
    int* partial_exponents;
    u64* partial_received;
    LevelSlot* slots;  // 4, by the level's number modulo 4
    u64* chunks;       // 4 work counters, by the number of the step
    unsigned* barrier;
    i64* outcome;
    i64 n;
    u64 every;  // the bits of all sources
    i64 stride;

    __device__ u64* front(i64 level) const { return fronts + level % 3 * n; }
};

// A path count; a plain sum unless SCALED.
template <bool SCALED>
struct PathNumber {
    double m = 0;
    int e = 0;

    __device__ void add(double number, int exponent) {
        if constexpr (!SCALED) {
            m += number;
        } else {
            const int ahead = exponent - e;
            if (m == 0 || ahead > 1) m = number, e = exponent;
            else if (ahead == 1) m = number + m * STEP_DOWN, e = exponent;
            else if (ahead == 0) m += number;
            else if (ahead == -1) m += number * STEP_DOWN;
        }
    }

    __device__ void normalize() {
        if (m >= PATH_LIMIT) m *= STEP_DOWN, ++e;
    }
};

// 1 / paths(w), given without its exponent, relative to a vertex whose exponent is smaller by `less`.
__device__ inline double quotient(double inverse, int less) {
    return less == 0 ? inverse : less == 1 ? inverse * STEP_DOWN : 0.0;
}

// Calls body(first) for every 32 of `count` items, by warps: the first chunk of each warp is static, further chunks are
// dynamic.
template <class Body>
__device__ void for_chunks(u64* counter, i64 count, Body body) {
    const i64 warps = i64(gridDim.x) * PATH_WARPS, total = (count + 31) / 32;
    for (i64 c = i64(threadIdx.x / 32) * gridDim.x + blockIdx.x; c < total;) {
        body(c * 32);
        if (total <= warps) break;
        c = warps + i64(warp_fetch_add(counter, u64(1)));
    }
}

// The pieces of long rows, each by a warp: use(piece, row).
template <class Use>
__device__ void for_pieces(const LongRows& rows, Use use) {
    for (i64 p = i64(threadIdx.x / 32) * gridDim.x + blockIdx.x; p < rows.pieces; p += i64(gridDim.x) * PATH_WARPS)
        use(p, rows.rows[rows.owner[p]]);
}

// The long rows, each by a warp: use(number, row).
template <class Use>
__device__ void for_long_rows(const LongRows& rows, Use use) {
    for (i64 r = i64(threadIdx.x / 32) * gridDim.x + blockIdx.x; r < rows.count; r += i64(gridDim.x) * PATH_WARPS)
        use(r, rows.rows[r]);
}

// The arcs of `count` listed vertices from number `first` on, except long rows: use(vertex, its sources, begin, end,
// stride), by one thread for few arcs, else by a warp.
template <class Index, class Use>
__device__ void for_listed_arcs(const PathArcs<Index>& arcs, const PathState<Index>& state, u64* counter, i64 first, i64 count, Use use) {
    const int lane = lane_of_warp();
    for_chunks(counter, count, [&](i64 at) {
        i64 v = 0, begin = 0, end = 0;
        u64 mask = 0;
        if (at + lane < count) {
            v = state.listed[first + at + lane], mask = state.masks[first + at + lane];
            begin = arcs.indptr[v], end = arcs.indptr[v + 1];
            if (end - begin > PIECE_ARCS) end = begin;
        }
        if (end - begin <= 8) use(v, mask, begin, end, 1);
        for (u32 rest = __ballot_sync(ALL, end - begin > 8); rest; rest &= rest - 1) {
            const int owner = __ffs(rest) - 1;
            const i64 from = __shfl_sync(ALL, begin, owner), to = __shfl_sync(ALL, end, owner);
            const u64 bits = __shfl_sync(ALL, mask, owner);
            use(__shfl_sync(ALL, v, owner), bits, from + lane, to, 32);
        }
    });
}

// The same for the long rows among the vertices of a front.
template <class Index, class Use>
__device__ void for_long_arcs(const PathArcs<Index>& arcs, const u64* front, Use use) {
    for_pieces(arcs.lengthy, [&](i64 piece, i64 v) {
        if (const u64 mask = front[v]) {
            const i64 begin = arcs.begin_of(piece, v);
            use(v, mask, begin + lane_of_warp(), min(begin + PIECE_ARCS, arcs.indptr[v + 1]), 32);
        }
    });
}

// Compacted neighbours of a batch of arcs.
template <class Index>
struct WarpShare {
    Index vertex[32];
    unsigned char place[32];
    u64 sources[32];
};

// Sums the numbers of a vertex's neighbours: forward paths, backward (1 + dependency) / paths.
template <class Index, bool SCALED, bool BACK, bool PLACES, bool WEIGHTED>
struct PathPull {
    const PathArcs<Index>& arcs;
    const PathState<Index>& state;
    const u64* front;
    double* places;  // dependencies on arcs
    WarpShare<Index>& share;
    int width, groups, pair, group;  // threads a neighbour, neighbours at once; index in the first, in the second

    using Sum = PathNumber<SCALED && !BACK>;

    __device__ PathPull(const PathArcs<Index>& arcs, const PathState<Index>& state, const u64* front, double* places,
                        WarpShare<Index>& share)
        : arcs(arcs), state(state), front(front), places(places), share(share) {
        width = int(state.stride) / 2;
        groups = 32 / width;
        pair = lane_of_warp() % width;
        group = lane_of_warp() / width;
    }

    // Whether the arc between v and its neighbour u is tight in one source.
    __device__ static bool tight(double at_u, double weight, double at_v) {
        return BACK ? at_v + weight == at_u : at_u + weight == at_v;
    }

    // Adds a neighbour's number; returns the term.
    __device__ static double take(Sum& sum, double number, int exponent, int own) {
        if constexpr (BACK) {
            const double term = SCALED ? quotient(number, exponent - own) : number;
            sum.m += term;
            return term;
        } else {
            sum.add(number, exponent);
            return 0;
        }
    }

    // Warp-collective: the arcs begin..end of v in the sources wanted. The sums of a thread's two sources are the same in
    // all groups; returns the sources with any.
    __device__ u64 gather(i64 v, u64 want, i64 begin, i64 end, Sum (&sum)[2]) {
        const int lane = lane_of_warp();
        const i64 stride = state.stride, own = v * stride + 2 * pair;
        double2 own_number = {0, 0}, own_distance = {0, 0};
        int2 own_exponent = {0, 0};
        if (PLACES) own_number = *(const double2*)(state.numbers + own);
        if (WEIGHTED) own_distance = *(const double2*)(state.distances + own);
        if (SCALED && BACK) own_exponent = *(const int2*)(state.exponents + own);
        u64 received = 0;
        for (i64 from = begin; from < end; from += 32) {
            const i64 j = from + lane;
            Index u = 0;
            u64 both = 0;
            if (j < end) {
                u = arcs.indices[j];
                both = WEIGHTED ? want : front[u] & want;
            }
            received |= both;
            const u32 hits = __ballot_sync(ALL, both != 0);
            if (!hits) continue;
            if (both) {
                const int at = __popc(hits & lanes_below());
                share.vertex[at] = u, share.sources[at] = both, share.place[at] = (unsigned char)lane;
            }
            __syncwarp();
            const int count = __popc(hits);
            for (int first = 0; first < count; first += groups * IN_FLIGHT) {
                double2 number[IN_FLIGHT];
                int2 exponent[IN_FLIGHT];
                u32 bits[IN_FLIGHT];
#pragma unroll
                for (int q = 0; q < IN_FLIGHT; ++q) {
                    const int k = first + q * groups + group;
                    bits[q] = k < count ? u32(share.sources[k] >> (2 * pair)) & 3 : 0;
                    if (!bits[q]) continue;
                    const i64 at = i64(share.vertex[k]) * stride + 2 * pair;
                    number[q] = *(const double2*)(state.numbers + at);
                    if (SCALED) exponent[q] = *(const int2*)(state.exponents + at);
                    if (WEIGHTED) {
                        const double2 distance = *(const double2*)(state.distances + at);
                        const double weight = arcs.weights[from + share.place[k]];
                        if (!tight(distance.x, weight, own_distance.x)) bits[q] &= 2;
                        if (!tight(distance.y, weight, own_distance.y)) bits[q] &= 1;
                    }
                }
#pragma unroll
                for (int q = 0; q < IN_FLIGHT; ++q) {
                    double along = 0;
                    if (bits[q] & 1)
                        along = own_number.x * take(sum[0], number[q].x, SCALED ? exponent[q].x : 0, own_exponent.x);
                    if (bits[q] & 2)
                        along += own_number.y * take(sum[1], number[q].y, SCALED ? exponent[q].y : 0, own_exponent.y);
                    if (PLACES) {
                        for (int d = width / 2; d; d /= 2) along += __shfl_xor_sync(ALL, along, d);
                        const int k = first + q * groups + group;
                        if (pair == 0 && k < count) places[from + share.place[k]] += along;
                    }
                }
            }
            __syncwarp();
        }
        join(sum);
        return warp_or(received);
    }

    // All-reduces the sums over the groups.
    __device__ void join(Sum (&sum)[2]) const {
        for (int d = width; d < 32; d *= 2)
#pragma unroll
            for (int c = 0; c < 2; ++c) {
                const double m = __shfl_xor_sync(ALL, sum[c].m, d);
                const int e = SCALED && !BACK ? __shfl_xor_sync(ALL, sum[c].e, d) : 0;
                // Order-independent, so that the result is bitwise the same in all groups.
                sum[c].add(m, e);
            }
    }

    // By one thread: all arcs of v in source k.
    __device__ Sum gather_one(i64 v, int k) {
        const i64 begin = arcs.indptr[v], end = arcs.indptr[v + 1], own = v * state.stride + k;
        const double own_number = PLACES ? state.numbers[own] : 0, own_distance = WEIGHTED ? state.distances[own] : 0;
        const int own_exponent = SCALED && BACK ? state.exponents[own] : 0;
        Sum sum;
        for (i64 from = begin; from < end; from += IN_FLIGHT) {
            Index u[IN_FLIGHT];
            bool on[IN_FLIGHT];
            double number[IN_FLIGHT];
            int exponent[IN_FLIGHT];
#pragma unroll
            for (int q = 0; q < IN_FLIGHT; ++q) u[q] = from + q < end ? arcs.indices[from + q] : 0;
#pragma unroll
            for (int q = 0; q < IN_FLIGHT; ++q) {
                if constexpr (WEIGHTED)
                    on[q] = from + q < end &&
                            tight(state.distances[i64(u[q]) * state.stride + k], arcs.weights[from + q], own_distance);
                else
                    on[q] = from + q < end && (front[u[q]] >> k & 1);
            }
#pragma unroll
            for (int q = 0; q < IN_FLIGHT; ++q) {
                if (!on[q]) continue;
                const i64 at = i64(u[q]) * state.stride + k;
                number[q] = state.numbers[at];
                exponent[q] = SCALED ? state.exponents[at] : 0;
            }
#pragma unroll
            for (int q = 0; q < IN_FLIGHT; ++q) {
                if (!on[q]) continue;
                const double term = take(sum, number[q], exponent[q], own_exponent);
                if (PLACES) places[from + q] += own_number * term;
            }
        }
        return sum;
    }

    // Warp-collective: a piece of a long row, for `join_pieces`.
    __device__ void gather_piece(i64 piece, u64 want) {
        const LongRows& rows = arcs.lengthy;
        const i64 v = rows.rows[rows.owner[piece]], begin = arcs.begin_of(piece, v);
        Sum sum[2];
        const u64 received = gather(v, want, begin, min(begin + PIECE_ARCS, arcs.indptr[v + 1]), sum);
        if (lane_of_warp() == 0) state.partial_received[piece] = received;
        if (group) return;
        const i64 at = piece * state.stride + 2 * pair;
        *(double2*)(state.partial + at) = {sum[0].m, sum[1].m};
        if (SCALED && !BACK) *(int2*)(state.partial_exponents + at) = {sum[0].e, sum[1].e};
    }

    // Warp-collective: sums the pieces of a long row, in their order.
    __device__ u64 join_pieces(i64 row, Sum (&sum)[2]) const {
        u64 received = 0;
        for (i64 piece = arcs.lengthy.first[row] + group; piece < arcs.lengthy.first[row + 1]; piece += groups) {
            received |= state.partial_received[piece];
            const i64 at = piece * state.stride + 2 * pair;
            const double2 m = *(const double2*)(state.partial + at);
            int2 e = {0, 0};
            if (SCALED && !BACK) e = *(const int2*)(state.partial_exponents + at);
            sum[0].add(m.x, e.x);
            sum[1].add(m.y, e.y);
        }
        join(sum);
        return warp_or(received);
    }
};

}  // namespace hpgraph
