// A step of several PageRanks at once: product with a dense matrix, update and sums in one pass over the rows.
//
// A thread reads 16 bytes of a row of the dense matrix, and a group of threads the whole row. The group follows a row's
// arcs, in order, and updates the vertex when its message is complete; rows longer than PIECE are first summed by
// pieces, one warp each. Sums are added within blocks of the grid, then in order of the blocks: results are bitwise
// reproducible.
//
// A step is bound by gathers. Ranks in double precision are sent either as they are, or as changes in single precision:
// each vertex then sends the increase of its share since it last sent, and carries the rounding error over to the next
// step (compensated summation). The sum of what it has sent therefore lacks only the rounding of the last change, whose
// effect decays as any change does: the iteration ends where that in double precision does, with an error of at most
// 2^-24 of all ranks.
#pragma once
#include "warp.cuh"

namespace hpgraph {

constexpr int RANK_THREADS = 256, RANK_BLOCKS = 4, PIECE = 1024, ROWS_AHEAD = 4, SUMS = 3;

// Consecutive values, one per rank.
template <class Real, int EACH>
struct alignas(16) Values {
    Real of[EACH];
};

template <class Real, class Sent, class Index, class Weight>
struct RankStep {
    static constexpr int EACH = 16 / sizeof(Sent);  // ranks of a thread
    static constexpr bool CHANGES = sizeof(Sent) < sizeof(Real);
    const i64* indptr;
    const Index* indices;
    const Weight* data;
    const Real *leaving, *teleport;
    const int* teleport_rows;
    const double* jumps;     // of each rank; with changes, their increase
    const Sent* sent;
    Sent* following;         // sent in the next step
    Real* shares;            // ranks over `leaving`; without changes, the same as `sent`
    Sent* carried;           // with changes: rounding errors
    Real* part;              // of the pieces
    double* sums;            // of the blocks: residual, dangling, moving, of each rank
    const u32 *slots, *piece_slot, *piece_order, *long_slots;
    const i64* first_piece;  // of each long row
    i64 rows, pieces, long_rows;
    double damping, tol;
    i64 first;               // whether nothing has been sent before
};

// Arcs without stored weights, which are 1.
struct Unweighted {
    int unused;
};
template <class Weight>
constexpr bool IS_WEIGHT = true;
template <>
constexpr bool IS_WEIGHT<Unweighted> = false;

// The sum of a thread's ranks over a range of arcs, in order; or over ROWS_AHEAD of every `apart` arcs.
template <int HOLD, class Real, class Sent, class Index, class Weight>
__device__ auto gather_ranks(const RankStep<Real, Sent, Index, Weight>& step, i64 begin, i64 end, int member,
                             i64 apart = ROWS_AHEAD) {
    constexpr int EACH = RankStep<Real, Sent, Index, Weight>::EACH, GROUP = HOLD / EACH;
    Values<Real, EACH> sum{};
    const Values<Sent, EACH>* const sent = (const Values<Sent, EACH>*)step.sent + member;
    const auto add = [&](const Values<Sent, EACH>& one, i64 j) {
        Real weight = 1;
        if constexpr (IS_WEIGHT<Weight>) weight = (Real)step.data[j];
#pragma unroll
        for (int c = 0; c < EACH; ++c) {
            if constexpr (IS_WEIGHT<Weight>) sum.of[c] += (Real)one.of[c] * weight;
            else sum.of[c] += (Real)one.of[c];
        }
    };
    i64 j = begin;
    for (; j + ROWS_AHEAD <= end; j += apart) {
        Values<Sent, EACH> found[ROWS_AHEAD];
#pragma unroll
        for (int b = 0; b < ROWS_AHEAD; ++b) found[b] = sent[(i64)step.indices[j + b] * GROUP];
#pragma unroll
        for (int b = 0; b < ROWS_AHEAD; ++b) add(found[b], j + b);
    }
    for (; j < end; ++j) add(sent[(i64)step.indices[j] * GROUP], j);
    return sum;
}

// The same for arcs that the groups of a warp share, round-robin; each group has the sum.
template <int HOLD, class Real, class Sent, class Index, class Weight>
__device__ auto gather_together(const RankStep<Real, Sent, Index, Weight>& step, i64 begin, i64 end, int member) {
    constexpr int EACH = RankStep<Real, Sent, Index, Weight>::EACH, GROUP = HOLD / EACH;
    auto sum = gather_ranks<HOLD>(step, begin + lane_of_warp() / GROUP * ROWS_AHEAD, end, member, 32 / GROUP * ROWS_AHEAD);
#pragma unroll
    for (int d = GROUP; d < 32; d *= 2)
#pragma unroll
        for (int c = 0; c < EACH; ++c) sum.of[c] += __shfl_xor_sync(ALL, sum.of[c], d);
    return sum;
}

// One warp per piece.
template <int HOLD, class Real, class Sent, class Index, class Weight>
__global__ void __launch_bounds__(RANK_THREADS) rank_pieces(const RankStep<Real, Sent, Index, Weight> step) {
    constexpr int EACH = RankStep<Real, Sent, Index, Weight>::EACH, GROUP = HOLD / EACH;
    const int lane = lane_of_warp(), member = lane % GROUP;
    const i64 p = ((i64)blockIdx.x * RANK_THREADS + threadIdx.x) / 32;
    if (p >= step.pieces) return;
    const u32 v = step.piece_slot[p];
    const i64 begin = step.indptr[v] + (i64)step.piece_order[p] * PIECE, end = step.indptr[v + 1];
    const auto sum = gather_together<HOLD>(step, begin, begin + PIECE < end ? begin + PIECE : end, member);
    if (lane < GROUP) ((Values<Real, EACH>*)step.part)[p * GROUP + member] = sum;
}

// AHEAD: load the inputs of a row's update, and the pointers of the next row, before its arcs. With few arcs per row
// that hides most of the latency; with many it only takes registers.
template <bool AHEAD, int HOLD, class Real, class Sent, class Index, class Weight>
__global__ void __launch_bounds__(RANK_THREADS, RANK_BLOCKS) rank_rows(const RankStep<Real, Sent, Index, Weight> step) {
    using Step = RankStep<Real, Sent, Index, Weight>;
    constexpr int EACH = Step::EACH, GROUP = HOLD / EACH, GROUPS = RANK_THREADS / GROUP;
    using Ranks = Values<Real, EACH>;
    using Messages = Values<Sent, EACH>;
    const int member = threadIdx.x % GROUP;
    const i64 group = ((i64)blockIdx.x * RANK_THREADS + threadIdx.x) / GROUP, groups = (i64)gridDim.x * GROUPS;
    const Real damping = (Real)step.damping;
    double residual[EACH] = {}, dangling[EACH] = {};
    u32 moving[EACH] = {};
    const auto update = [&](i64 v, auto make_message) {
        const i64 at = v * GROUP + member;
        Ranks* const shares = (Ranks*)step.shares + at;
        Ranks message, before;
        Messages carried{};
        if constexpr (!AHEAD) message = make_message();
        const Real leaving = step.leaving[v];
        const int row = step.teleport_rows[v];
        before = *shares;
        if constexpr (Step::CHANGES) carried = ((const Messages*)step.carried)[at];
        if constexpr (AHEAD) message = make_message();
        Ranks rank, share;
#pragma unroll
        for (int c = 0; c < EACH; ++c) rank.of[c] = damping * message.of[c];
        if (row >= 0) {
            const Ranks teleport = ((const Ranks*)step.teleport)[(i64)row * GROUP + member];
#pragma unroll
            for (int c = 0; c < EACH; ++c) rank.of[c] += (Real)step.jumps[EACH * member + c] * teleport.of[c];
        }
        Messages sends;
#pragma unroll
        for (int c = 0; c < EACH; ++c) {
            const Real came = rank.of[c] / leaving;
            const bool grows = Step::CHANGES && !step.first;
            share.of[c] = grows ? before.of[c] + came : came;
            const Real change = grows ? came : came - before.of[c];
            const double moved = fabs((double)(change * leaving));
            residual[c] += moved;
            if (leaving < 0) dangling[c] -= share.of[c];
            moving[c] += moved > step.tol;
            if constexpr (Step::CHANGES) {
                const Real all = change + (Real)carried.of[c];
                sends.of[c] = (Sent)all;
                carried.of[c] = (Sent)(all - (Real)sends.of[c]);
            } else {
                sends.of[c] = share.of[c];
            }
        }
        ((Messages*)step.following)[at] = sends;
        if constexpr (Step::CHANGES) *shares = share, ((Messages*)step.carried)[at] = carried;
    };
    for (i64 i = group; i < step.long_rows; i += groups) {
        update(step.long_slots[i], [&] {
            Ranks message{};
            for (i64 p = step.first_piece[i]; p < step.first_piece[i + 1]; ++p) {
                const Ranks one = ((const Ranks*)step.part)[p * GROUP + member];
#pragma unroll
                for (int c = 0; c < EACH; ++c) message.of[c] += one.of[c];
            }
            return message;
        });
    }
    if constexpr (AHEAD) {
        i64 v = group < step.rows ? step.slots[group] : 0, begin = step.indptr[v], end = step.indptr[v + 1];
        for (i64 i = group; i < step.rows; i += groups) {
            const i64 next = i + groups < step.rows ? step.slots[i + groups] : v;
            const i64 next_begin = step.indptr[next], next_end = step.indptr[next + 1];
            update(v, [&] { return gather_ranks<HOLD>(step, begin, end, member); });
            v = next, begin = next_begin, end = next_end;
        }
    } else {
        for (i64 i = group; i < step.rows; i += groups) {
            const i64 v = step.slots[i];
            update(v, [&] { return gather_ranks<HOLD>(step, step.indptr[v], step.indptr[v + 1], member); });
        }
    }
    // Sums of the block's groups, in order.
    __shared__ double of_groups[GROUPS][HOLD];
#pragma unroll
    for (int s = 0; s < SUMS; ++s) {
        __syncthreads();
#pragma unroll
        for (int c = 0; c < EACH; ++c)
            of_groups[threadIdx.x / GROUP][EACH * member + c] = s == 0 ? residual[c] : s == 1 ? dangling[c] : moving[c];
        __syncthreads();
        if (threadIdx.x < HOLD) {
            double sum = 0;
            for (int g = 0; g < GROUPS; ++g) sum += of_groups[g][threadIdx.x];
            step.sums[((i64)blockIdx.x * SUMS + s) * HOLD + threadIdx.x] = sum;
        }
    }
}

// The first values to send, in single precision, and their rounding errors.
template <class Real, class Sent>
__global__ void __launch_bounds__(RANK_THREADS) begin_changes(const Real* shares, i64 size, Sent* sent, Sent* carried) {
    for (i64 i = (i64)blockIdx.x * RANK_THREADS + threadIdx.x; i < size; i += (i64)gridDim.x * RANK_THREADS) {
        sent[i] = (Sent)shares[i];
        carried[i] = (Sent)(shares[i] - (Real)sent[i]);
    }
}

// One warp for each sum over the blocks, in a fixed order.
__global__ void __launch_bounds__(32) add_blocks(const double* sums, int blocks, int width, double* totals) {
    double sum = 0;
    for (int b = threadIdx.x; b < blocks; b += 32) sum += sums[(i64)b * width + blockIdx.x];
    sum = warp_sum(sum);
    if (threadIdx.x == 0) totals[blockIdx.x] = sum;
}

}  // namespace hpgraph
