// Products over windows: a stretch of a matrix's arcs that is resident, whose rows may go on in the next.
//
// A warp takes 32 adjacent rows, whose marks share a word. Short rows are folded by a lane each, longer ones by the warp,
// and of very long ones, cut in pieces, by the whole grid; a last kernel joins those in order. Messages are joined to
// what earlier windows brought, in the order of the arcs, by one lane: sums repeat bit for bit.
#pragma once
#include "atomics.cuh"
#include "warp.cuh"

namespace hpgraph {

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int SERIAL = 16;    // arcs that a lane folds alone
constexpr int PIECE = 4096;   // arcs of a long row that a warp folds
constexpr int TOGETHER = 4;   // arcs that a lane has under way

// The weight of an arc of a pattern is 1, and takes no memory.
struct NoWeights {
    int unused;
};

template <class Weight>
struct Weights {
    const Weight* data;
    __device__ Weight operator[](i64 j) const { return data[j]; }
};
template <>
struct Weights<NoWeights> {
    const NoWeights* data;
    __device__ int operator[](i64) const { return 1; }
};

template <class Index, class Weight>
struct Window {
    const i64* indptr;
    const Index* indices;  // of the arcs first..last
    Weights<Weight> weights;
    i64 begin, end;        // rows
    i64 first, last;
};

struct LongRow {
    i64 row, base, count;
};
struct LongPiece {
    i64 row, begin;
};

// Rows too long for a warp, and their pieces: the arcs are counted from the window's first.
template <class Message>
struct Rest {
    u64* counts;  // pieces, rows
    LongPiece* pieces;
    LongRow* rows;
    Message* part;
    unsigned char* found;
};

__device__ inline bool has(const u32* words, i64 v) { return words[v >> 5] >> (v & 31) & 1; }

template <class Message>
struct Sum {
    Message value;
    bool found;
};

template <class Program, class Index, class Weight, bool FILTER>
struct Gathering {
    typedef typename Program::Message Message;
    Program program;
    Window<Index, Weight> window;
    const u32* active;
    Message identity;

    __device__ void fold(i64 j, i64 step, i64 end, i64 v, Sum<Message>& sum) const {
        for (; j < end; j += TOGETHER * step) {
            Index u[TOGETHER];
            bool live[TOGETHER];
            Message sent[TOGETHER];
#pragma unroll
            for (int k = 0; k < TOGETHER; ++k) live[k] = j + k * step < end, u[k] = live[k] ? window.indices[j + k * step] : 0;
            if constexpr (FILTER) {
#pragma unroll
                for (int k = 0; k < TOGETHER; ++k) live[k] = live[k] && has(active, u[k]);
            }
#pragma unroll
            for (int k = 0; k < TOGETHER; ++k) {
                const auto weight = live[k] ? window.weights[j + k * step] : 0;
                if constexpr (Program::CHOOSES_ARCS) live[k] = live[k] && program.edge_cond(u[k], weight, v);
                sent[k] = live[k] ? (Message)program.gather(u[k], weight, v) : identity;
            }
#pragma unroll
            for (int k = 0; k < TOGETHER; ++k) {
                if (live[k]) sum.value = Program::join(sum.value, sent[k]), sum.found = true;
            }
        }
    }

    // The warp's sums as one, in the first lane; the same tree whatever the lanes found.
    __device__ void combine(Sum<Message>& sum) const {
        for (int d = 16; d; d >>= 1) {
            Message other;
            if constexpr (sizeof(Message) >= 4) other = __shfl_down_sync(ALL, sum.value, d);
            else other = (Message)__shfl_down_sync(ALL, (int)sum.value, d);
            const bool there = __shfl_down_sync(ALL, (int)sum.found, d);
            if (there) sum.value = sum.found ? Program::join(sum.value, other) : other, sum.found = true;
        }
    }
};

template <class Program, class Index, class Weight, bool FILTER>
__global__ void __launch_bounds__(THREADS)
gather_rows(const Gathering<Program, Index, Weight, FILTER> how, u32* received, typename Program::Message* message,
            const Rest<typename Program::Message> rest) {
    typedef typename Program::Message Message;
    const int lane = lane_of_warp();
    const auto& window = how.window;
    const i64 word = (window.begin >> 5) + (i64)blockIdx.x * WARPS + (threadIdx.x >> 5), v = word * 32 + lane;
    if (word * 32 >= window.end) return;
    i64 begin = 0, end = 0;
    if (v >= window.begin && v < window.end) {
        begin = max(window.indptr[v], window.first) - window.first;
        end = min(window.indptr[v + 1], window.last) - window.first;
        if (end > begin && !how.program.cond(v)) end = begin;
    }
    Sum<Message> sum{how.identity, false};
    if (end - begin <= SERIAL) how.fold(begin, 1, end, v, sum);
    for (u32 left = __ballot_sync(ALL, end - begin > SERIAL); left; left &= left - 1) {
        const int owner = __ffs(left) - 1;
        const i64 from = __shfl_sync(ALL, begin, owner), to = __shfl_sync(ALL, end, owner), row = word * 32 + owner;
        if (to - from > PIECE) {
            const i64 pieces = (to - from + PIECE - 1) / PIECE;
            i64 base = 0;
            if (lane == 0) {
                base = atomicAdd(rest.counts, (u64)pieces);
                rest.rows[atomicAdd(rest.counts + 1, 1ull)] = LongRow{row, base, pieces};
            }
            base = __shfl_sync(ALL, base, 0);
            for (i64 k = lane; k < pieces; k += 32) rest.pieces[base + k] = LongPiece{row, from + k * PIECE};
            continue;
        }
        Sum<Message> shared{how.identity, false};
        how.fold(from + lane, 32, to, row, shared);
        how.combine(shared);
        const bool found = __shfl_sync(ALL, (int)shared.found, 0);
        Message value;
        if constexpr (sizeof(Message) >= 4) value = __shfl_sync(ALL, shared.value, 0);
        else value = (Message)__shfl_sync(ALL, (int)shared.value, 0);
        if (lane == owner) sum = Sum<Message>{value, found};
    }
    if (sum.found) message[v] = Program::join(message[v], sum.value);
    // This warp is the word's only writer.
    const u32 came = __ballot_sync(ALL, sum.found);
    if (lane == 0 && came) received[word] |= came;
}

template <class Program, class Index, class Weight, bool FILTER>
__global__ void __launch_bounds__(THREADS)
gather_pieces(const Gathering<Program, Index, Weight, FILTER> how, const Rest<typename Program::Message> rest) {
    typedef typename Program::Message Message;
    const i64 pieces = rest.counts[0];
    for (i64 i = (i64)blockIdx.x * WARPS + (threadIdx.x >> 5); i < pieces; i += (i64)gridDim.x * WARPS) {
        const LongPiece piece = rest.pieces[i];
        const i64 end = min(how.window.indptr[piece.row + 1], how.window.last) - how.window.first;
        Sum<Message> sum{how.identity, false};
        how.fold(piece.begin + lane_of_warp(), 32, min(piece.begin + PIECE, end), piece.row, sum);
        how.combine(sum);
        if (lane_of_warp() == 0) rest.part[i] = sum.value, rest.found[i] = sum.found;
    }
}

template <class Program>
__global__ void __launch_bounds__(THREADS)
join_pieces(const Rest<typename Program::Message> rest, u32* received, typename Program::Message* message) {
    const i64 rows = rest.counts[1];
    for (i64 i = (i64)blockIdx.x * THREADS + threadIdx.x; i < rows; i += (i64)gridDim.x * THREADS) {
        const LongRow row = rest.rows[i];
        bool found = false;
        auto value = message[row.row];
        for (i64 k = row.base; k < row.base + row.count; ++k)
            if (rest.found[k]) value = Program::join(value, rest.part[k]), found = true;
        if (!found) continue;
        message[row.row] = value;
        atomicOr(received + (row.row >> 5), 1u << (row.row & 31));
    }
}

}  // namespace hpgraph
