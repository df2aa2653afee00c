// Graph attention at the entries of a matrix: sums of a row's and a column's number, and row-wise softmax.
//
// A group of `entries` times `tile` lanes shares a row: a lane takes one head of every entries-th entry. Softmax
// follows M. Milakov, N. Gimelshein, "Online normalizer calculation for softmax", 2018: one pass finds the maximum and
// the sum, a second one writes. Rows longer than PIECE are divided into pieces, whose results are joined in order.
#pragma once
#include "dense_rows.cuh"

#define INFINITE __int_as_float(0x7f800000)

namespace hpgraph {

// `tiles` groups of `tile` adjacent heads; the last group may have fewer.
struct Heads {
    i64 count;
    u32 tile, tiles, entries;
};

// A lane's position in its group, and its group's task.
struct Lane {
    i64 task, head;
    int entry;
    bool inside, idle;

    __device__ Lane(const Heads& heads, i64 tasks) {
        const int size = heads.tile * heads.entries, rows = 32 / size, row = lane_of_warp() / size;
        const int place = lane_of_warp() % size;
        inside = row < rows;
        entry = place / heads.tile;
        const i64 warp = (i64(blockIdx.x) / heads.tiles) * (BLOCK / 32) + threadIdx.x / 32;
        task = warp * rows + row;
        head = i64(blockIdx.x) % heads.tiles * heads.tile + place % heads.tile;
        idle = !inside || task >= tasks || head >= heads.count;
    }
    // The same head's value at the entry whose index differs in one bit (butterfly exchange).
    template <class T>
    __device__ T other(T value, const Heads& heads, int bit) const {
        const int distance = inside ? ((entry ^ bit) - entry) * int(heads.tile) : 0;
        return __shfl_sync(ALL, value, lane_of_warp() + distance);
    }
};

// Running maximum, and sum of exponentials relative to it.
template <class T>
struct Exponentials {
    T most = -T(INFINITE), sum = 0;

    __device__ void add(T x, T) {
        if (x > most) {
            // x - x is NaN for infinity, as in PyTorch.
            sum = sum * exp(most - x) + (x - x + 1);
            most = x;
        } else if (x != -T(INFINITE)) {
            sum += exp(x - most);
        }
    }
    __device__ void join(const Exponentials& other) {
        const T larger = other.most > most ? other.most : most;
        sum = (most == larger ? sum : sum * exp(most - larger)) +
              (other.most == larger ? other.sum : other.sum * exp(other.most - larger));
        most = larger;
    }
    __device__ Exponentials other(const Lane& lane, const Heads& heads, int bit) const {
        Exponentials found;
        found.most = lane.other(most, heads, bit);
        found.sum = lane.other(sum, heads, bit);
        return found;
    }
    __device__ T of(T x, T) const { return exp(x - most) / sum; }
};

// Sum of the products of a softmax and its gradient.
template <class T>
struct Products {
    T sum = 0;

    __device__ void add(T y, T gradient) { sum += y * gradient; }
    __device__ void join(const Products& other) { sum += other.sum; }
    __device__ Products other(const Lane& lane, const Heads& heads, int bit) const {
        Products found;
        found.sum = lane.other(sum, heads, bit);
        return found;
    }
    __device__ T of(T y, T gradient) const { return y * (gradient - sum); }
};

// Calls `use(e, a, b)` for the lane's entries; four entries are loaded before the first is used.
template <class Value, class Use>
__device__ void each_entry(const RowPart& row, const Lane& lane, const Heads& heads, const Value* a, const Value* b,
                           Use use) {
    typedef typename Wide<Value>::type T;
    for (i64 e = row.begin + lane.entry; e < row.end; e += 4 * i64(heads.entries)) {
        T x[4], y[4] = {};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const i64 at = e + i * i64(heads.entries);
            if (at < row.end) {
                x[i] = widened(a[at * heads.count + lane.head]);
                if (b) y[i] = widened(b[at * heads.count + lane.head]);
            }
        }
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (const i64 at = e + i * i64(heads.entries); at < row.end) use(at * heads.count + lane.head, x[i], y[i]);
    }
}

template <class Value, template <class> class Fold>
__device__ auto fold_row(const RowPart& row, const Lane& lane, const Heads& heads, const Value* a, const Value* b) {
    typedef typename Wide<Value>::type T;
    Fold<T> fold;
    if (!lane.idle) each_entry(row, lane, heads, a, b, [&](i64, T x, T y) { fold.add(x, y); });
    for (u32 bit = 1; bit < heads.entries; bit *= 2) fold.join(fold.other(lane, heads, bit));
    return fold;
}

template <class Value, template <class> class Fold>
__global__ void __launch_bounds__(BLOCK)
fold_pieces(const i64* __restrict__ indptr, Bins bins, Heads heads, const Value* __restrict__ a,
            const Value* __restrict__ b, Fold<typename Wide<Value>::type>* __restrict__ part) {
    const Lane lane(heads, bins.pieces);
    const RowPart row(indptr, bins, lane.idle ? 0 : lane.task);
    const auto fold = fold_row<Value, Fold>(row, lane, heads, a, b);
    if (!lane.idle && lane.entry == 0) part[lane.task * heads.count + lane.head] = fold;
}

// Joins the pieces of each long row, and stores the result in every piece.
template <class Value, template <class> class Fold>
__global__ void __launch_bounds__(BLOCK)
join_pieces(const i64* __restrict__ first_piece, i64 rows, i64 heads, Fold<typename Wide<Value>::type>* __restrict__ part) {
    const i64 at = i64(blockIdx.x) * BLOCK + threadIdx.x, row = at / heads, head = at % heads;
    if (row >= rows) return;
    Fold<typename Wide<Value>::type> fold;
    for (i64 piece = first_piece[row]; piece < first_piece[row + 1]; ++piece) fold.join(part[piece * heads + head]);
    for (i64 piece = first_piece[row]; piece < first_piece[row + 1]; ++piece) part[piece * heads + head] = fold;
}

template <class Value, template <class> class Fold>
__global__ void __launch_bounds__(BLOCK)
write_rows(const i64* __restrict__ indptr, Bins bins, i64 short_rows, Heads heads, const Value* __restrict__ a,
           const Value* __restrict__ b, const Fold<typename Wide<Value>::type>* __restrict__ part,
           Value* __restrict__ out) {
    typedef typename Wide<Value>::type T;
    const Lane lane(heads, bins.pieces + short_rows);
    const RowPart row(indptr, bins, lane.idle ? 0 : lane.task);
    auto whole = row;
    // `part` already holds the fold of a piece's row.
    if (row.is_piece) whole.end = whole.begin;
    auto fold = fold_row<Value, Fold>(whole, lane, heads, a, b);
    if (lane.idle) return;
    if (row.is_piece) fold = part[lane.task * heads.count + lane.head];
    each_entry(row, lane, heads, a, b, [&](i64 at, T x, T y) { narrow(fold.of(x, y), out[at]); });
}

// out[e, h] = x[i, h] + y[j, h] for entry e = (i, j).
template <class Index, class Value>
__global__ void __launch_bounds__(BLOCK)
sample_sums(const i64* __restrict__ indptr, const Index* __restrict__ indices, Bins bins, i64 short_rows, Heads heads,
            const Value* __restrict__ x, const Value* __restrict__ y, Value* __restrict__ out) {
    const Lane lane(heads, bins.pieces + short_rows);
    if (lane.idle) return;
    const RowPart row(indptr, bins, lane.task);
    const auto own = widened(x[row.v * heads.count + lane.head]);
    for (i64 e = row.begin + lane.entry; e < row.end; e += 4 * i64(heads.entries)) {
        Index u[4];
        Value other[4];
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (const i64 at = e + i * i64(heads.entries); at < row.end) u[i] = indices[at];
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (e + i * i64(heads.entries) < row.end) other[i] = y[i64(u[i]) * heads.count + lane.head];
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (const i64 at = e + i * i64(heads.entries); at < row.end)
                narrow(own + widened(other[i]), out[at * heads.count + lane.head]);
    }
}

}  // namespace hpgraph
