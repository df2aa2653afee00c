// A step of PageRank in several lanes: product with a dense matrix, update and sums in one pass over the rows.
//
// A row of the dense matrix is read by HOLD / 2 threads, two lanes each, in one piece. A group of them follows a row's
// arcs, in order, and updates the vertex when its message is complete; rows longer than PIECE go in pieces first. Sums are
// added up by blocks of the grid, then in order of the blocks: the results repeat bit for bit.
#pragma once
#include "warp.cuh"

namespace hpgraph {

constexpr int RANK_THREADS = 256, PIECE = 1024, ROWS_AHEAD = 4, SUMS = 3;

template <class Real>
struct alignas(2 * sizeof(Real)) Two {
    Real x, y;
};

template <class Real, class Index, class Weight>
struct RankStep {
    const i64* indptr;
    const Index* indices;
    const Weight* data;
    const Real *leaving, *teleport, *shares;
    const int* seats;
    const double* dangling;
    Real* following;
    Two<Real>* part;         // of the pieces
    double* sums;            // of the blocks: residual, dangling, moving, of each lane
    const u32 *slots, *piece_slot, *piece_order, *long_slots;
    const i64* first_piece;  // of each long row
    i64 rows, pieces, long_rows;
    double damping, jump, spread, tol;
};

// The weight of an arc that has none is 1, and takes no memory.
struct Unweighted {
    int unused;
};
template <class Weight>
constexpr bool IS_WEIGHT = true;
template <>
constexpr bool IS_WEIGHT<Unweighted> = false;

// The sum over some arcs, in order, of two lanes.
template <int HOLD, class Real, class Index, class Weight>
__device__ Two<Real> gather_two(const RankStep<Real, Index, Weight>& step, i64 begin, i64 end, int pair) {
    Two<Real> sum{0, 0};
    const Two<Real>* const shares = (const Two<Real>*)step.shares + pair;
    const auto add = [&](const Two<Real>& one, i64 j) {
        if constexpr (IS_WEIGHT<Weight>) {
            const Real weight = (Real)step.data[j];
            sum.x += one.x * weight, sum.y += one.y * weight;
        } else {
            sum.x += one.x, sum.y += one.y;
        }
    };
    i64 j = begin;
    for (; j + ROWS_AHEAD <= end; j += ROWS_AHEAD) {
        Two<Real> found[ROWS_AHEAD];
#pragma unroll
        for (int b = 0; b < ROWS_AHEAD; ++b) found[b] = shares[(i64)step.indices[j + b] * (HOLD / 2)];
#pragma unroll
        for (int b = 0; b < ROWS_AHEAD; ++b) add(found[b], j + b);
    }
    for (; j < end; ++j) add(shares[(i64)step.indices[j] * (HOLD / 2)], j);
    return sum;
}

template <int HOLD, class Real, class Index, class Weight>
__global__ void __launch_bounds__(RANK_THREADS) rank_pieces(const RankStep<Real, Index, Weight> step) {
    constexpr int GROUP = HOLD / 2;
    const int pair = threadIdx.x % GROUP;
    const i64 p = ((i64)blockIdx.x * RANK_THREADS + threadIdx.x) / GROUP;
    if (p >= step.pieces) return;
    const u32 v = step.piece_slot[p];
    const i64 begin = step.indptr[v] + (i64)step.piece_order[p] * PIECE, end = step.indptr[v + 1];
    step.part[p * GROUP + pair] = gather_two<HOLD>(step, begin, begin + PIECE < end ? begin + PIECE : end, pair);
}

// AHEAD: what a row's update reads, and where the next row lies, is fetched before its arcs are followed. With few arcs a
// row that is most of the waiting; with many it only keeps registers.
template <bool AHEAD, int HOLD, class Real, class Index, class Weight>
__global__ void __launch_bounds__(RANK_THREADS) rank_rows(const RankStep<Real, Index, Weight> step) {
    constexpr int GROUP = HOLD / 2, GROUPS = RANK_THREADS / GROUP;
    const int pair = threadIdx.x % GROUP;
    const i64 group = ((i64)blockIdx.x * RANK_THREADS + threadIdx.x) / GROUP, groups = (i64)gridDim.x * GROUPS;
    const Real damping = (Real)step.damping;
    const Real jump_x = (Real)(step.jump + step.spread * step.dangling[2 * pair]),
               jump_y = (Real)(step.jump + step.spread * step.dangling[2 * pair + 1]);
    double sums[SUMS][2] = {};
    const auto update = [&](i64 v, auto make_message) {
        const Two<Real>* const own = (const Two<Real>*)step.shares + v * GROUP + pair;
        Two<Real> message, before;
        if constexpr (!AHEAD) message = make_message();
        const Real leaving = step.leaving[v];
        const int seat = step.seats[v];
        before = *own;
        if constexpr (AHEAD) message = make_message();
        Two<Real> rank{damping * message.x, damping * message.y};
        if (seat >= 0) {
            const Two<Real> teleport = ((const Two<Real>*)step.teleport)[(i64)seat * GROUP + pair];
            rank.x += jump_x * teleport.x, rank.y += jump_y * teleport.y;
        }
        const Two<Real> share{rank.x / leaving, rank.y / leaving};
        const double x = fabs((double)((share.x - before.x) * leaving)), y = fabs((double)((share.y - before.y) * leaving));
        ((Two<Real>*)step.following)[v * GROUP + pair] = share;
        sums[0][0] += x, sums[0][1] += y;
        if (leaving < 0) sums[1][0] -= share.x, sums[1][1] -= share.y;
        sums[2][0] += x > step.tol, sums[2][1] += y > step.tol;
    };
    for (i64 i = group; i < step.long_rows; i += groups) {
        update(step.long_slots[i], [&] {
            Two<Real> message{0, 0};
            for (i64 p = step.first_piece[i]; p < step.first_piece[i + 1]; ++p) {
                const Two<Real> one = step.part[p * GROUP + pair];
                message.x += one.x, message.y += one.y;
            }
            return message;
        });
    }
    if constexpr (AHEAD) {
        i64 v = group < step.rows ? step.slots[group] : 0, begin = step.indptr[v], end = step.indptr[v + 1];
        for (i64 i = group; i < step.rows; i += groups) {
            const i64 next = i + groups < step.rows ? step.slots[i + groups] : v;
            const i64 next_begin = step.indptr[next], next_end = step.indptr[next + 1];
            update(v, [&] { return gather_two<HOLD>(step, begin, end, pair); });
            v = next, begin = next_begin, end = next_end;
        }
    } else {
        for (i64 i = group; i < step.rows; i += groups) {
            const i64 v = step.slots[i];
            update(v, [&] { return gather_two<HOLD>(step, step.indptr[v], step.indptr[v + 1], pair); });
        }
    }
    // Of the block's groups, in order.
    __shared__ double of_groups[GROUPS][HOLD];
    for (int s = 0; s < SUMS; ++s) {
        __syncthreads();
        of_groups[threadIdx.x / GROUP][2 * pair] = sums[s][0], of_groups[threadIdx.x / GROUP][2 * pair + 1] = sums[s][1];
        __syncthreads();
        if (threadIdx.x < HOLD) {
            double sum = 0;
            for (int g = 0; g < GROUPS; ++g) sum += of_groups[g][threadIdx.x];
            step.sums[((i64)blockIdx.x * SUMS + s) * HOLD + threadIdx.x] = sum;
        }
    }
}

// A warp for each sum: over the blocks, in an order that is always the same.
__global__ void __launch_bounds__(32) add_blocks(const double* sums, int blocks, int width, double* totals) {
    double sum = 0;
    for (int b = threadIdx.x; b < blocks; b += 32) sum += sums[(i64)b * width + blockIdx.x];
    sum = warp_sum(sum);
    if (threadIdx.x == 0) totals[blockIdx.x] = sum;
}

}  // namespace hpgraph
