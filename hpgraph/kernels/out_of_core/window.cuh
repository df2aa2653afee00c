// Products over windows: resident pages of a matrix's arcs; rows may extend into the next window.
//
// A block takes a tile, several thousand adjacent arcs of a page, regardless of rows: it decodes them, computes their
// messages in shared memory, with many loads in flight, and folds those by rows. Rows that extend over several tiles
// leave a partial result in each, which a second kernel joins in order. No atomics touch messages, so sums are bitwise
// reproducible. (Stretches of equally many entries as in D. Merrill, M. Garland, "Merge-based parallel sparse
// matrix-vector multiplication", SC'16, here of the length that is decoded at once.)
#pragma once
#include "atomics.cuh"
#include "gaps.cuh"

namespace hpgraph {

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int GROUP = GAPS_GROUP;
constexpr int TILE = WARPS * GROUP;   // arcs of a block: a group a warp
constexpr int EACH = 8;              // arcs that a thread has in flight
constexpr int SERIAL = 48;            // arcs of a row that a thread folds alone
constexpr int MAX_PAGES = 64;        // pages of a window

// A pattern: all weights are 1, and take no memory.
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

// The arc's number instead of its weight.
struct ArcNumbers {
    int unused;
};
template <>
struct Weights<ArcNumbers> {
    const ArcNumbers* data;
    __device__ i64 operator[](i64 j) const { return j; }
};

// The tables of a matrix in pages; `weights` is addressed as if all weights were resident.
template <class Weight>
struct Tables {
    const i64* indptr;
    const i64* first_arc;
    const i64* first_row;
    const i64* last_row;
    const i64* offset;
    const i64* first_tile;
    Weights<Weight> weights;
    i64 columns;
    u32 mask;
};

// Addresses of the pages of a window.
struct Places {
    const unsigned char* at[MAX_PAGES];
};

__device__ inline bool has(const u32* words, i64 v) { return words[v >> 5] >> (v & 31) & 1; }

template <class Message>
struct Sum {
    Message value;
    bool found;
};

// A tile's partial results of shared rows: of the row that began before it, and of its last row, if that continues.
template <class Message>
struct Carry {
    i64* start;     // first arc of the tile
    i64* last_row;  // -1: no row continues
    Message* first;
    Message* last;
    unsigned char* found;  // bit 0 of the first, 1 of the last
};

template <class Program>
struct Gathering {
    typedef typename Program::Message Message;
    Program program;
    const u32* active;
    u32* received;  // null if not needed
    Message* message;
    Message identity;

    __device__ void add(Sum<Message>& sum, Message value) const {
        sum.value = Program::join(sum.value, value), sum.found = true;
    }

    // The warp's sum, in lane 0; always the same tree.
    __device__ void combine(Sum<Message>& sum) const {
        for (int d = 16; d; d >>= 1) {
            const Message other = shuffle_down(ALL, sum.value, d);
            const bool there = shuffle_down(ALL, sum.found, d);
            if (there) sum.value = sum.found ? Program::join(sum.value, other) : other, sum.found = true;
        }
    }

    __device__ void put(i64 v, const Sum<Message>& sum) const {
        if (!sum.found) return;
        message[v] = Program::join(message[v], sum.value);
        if (received) atomicOr(received + (v >> 5), 1u << (v & 31));
    }
};

// The last of the rows low..high that starts at or before an arc; warp-collective, 32 probes at a time.
__device__ inline i64 row_of(const i64* indptr, i64 low, i64 high, i64 arc) {
    while (true) {
        const i64 step = (high - low + 31) / 32, probe = low + lane_of_warp() * step;
        const int below = __popc(__ballot_sync(ALL, probe < high && indptr[probe] <= arc));
        low += (below - 1) * step;
        if (step == 1) return low;
        high = min(high, low + step);
    }
}

template <class Program, class Index, class Weight, bool GAPS, bool FILTER, bool TARGET>
__global__ void __launch_bounds__(THREADS, 4)
gather_tiles(const Gathering<Program> how, const Tables<Weight> tables, const Places places, i64 page, i64 pages,
             const Carry<typename Program::Message> carry, int* damaged) {
    typedef typename Program::Message Message;
    constexpr bool SOME = FILTER || Program::CHOOSES_ARCS;
    // Messages overwrite ids, from the last on, if they are at least as wide.
    constexpr int BESIDE = GAPS && sizeof(Message) < sizeof(Index) ? TILE * sizeof(Index) : 0;
    __shared__ __align__(16) unsigned char memory[BESIDE + TILE * sizeof(Message)];
    __shared__ u32 live[TILE / 32];
    __shared__ i64 rows[2];
    __shared__ int long_rows[TILE / SERIAL + 1];
    __shared__ int many;
    Index* const ids = (Index*)memory;
    Message* const sent = (Message*)(memory + BESIDE);
    const int lane = lane_of_warp(), warp = threadIdx.x >> 5;
    const i64 before = tables.first_tile[page], tile = before + blockIdx.x;
    // Page of the tile within the window.
    i64 low = 0, high = pages;
    while (high - low > 1) {
        const i64 middle = (low + high) / 2;
        if (tables.first_tile[page + middle] <= tile) low = middle;
        else high = middle;
    }
    const unsigned char* const stored = places.at[low];
    page += low;
    const i64 start = tables.first_arc[page], arcs = tables.first_arc[page + 1] - start;
    const i64 base = (tile - tables.first_tile[page]) * TILE, from = start + base;
    const int count = (int)min((i64)TILE, arcs - base);
    if (threadIdx.x == 0) many = 0;
    if constexpr (GAPS) {
        const auto use = [&](i64 position, u32 id) {
            if (id >= (u64)tables.columns) *damaged = 1, id = 0;
            ids[position - base] = (Index)id;
        };
        if (base + warp * GROUP < arcs) {
            const i64 bytes = tables.offset[page + 1] - tables.offset[page];
            if (!decode_group(stored, bytes, arcs, base / GROUP + warp, tables.mask, use)) *damaged = 1;
        }
    }
    if (warp < 2) {
        const i64 arc = warp ? from + count - 1 : from;
        const i64 row = row_of(tables.indptr, tables.first_row[page], tables.last_row[page] + 1, arc);
        if (lane == 0) rows[warp] = row;
    }
    __syncthreads();
    const i64 first_row = rows[0], last_row = rows[1];
#pragma unroll 1
    for (int part = TILE - EACH * THREADS; part >= 0; part -= EACH * THREADS) {
        Index u[EACH];
        Message made[EACH];
        bool there[EACH];
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            const int p = part + k * THREADS + threadIdx.x;
            there[k] = p < count;
            u[k] = 0;
            if constexpr (GAPS) {
                if (there[k]) u[k] = ids[p];
            } else {
                if (there[k]) u[k] = __ldcs((const Index*)stored + base + p);
                if ((u64)u[k] >= (u64)tables.columns) *damaged = 1, u[k] = 0;
            }
        }
        if constexpr (GAPS) __syncthreads();
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            const int p = part + k * THREADS + threadIdx.x;
            i64 v = 0;
            if constexpr (TARGET) {
                i64 begin = first_row, end = last_row + 1;
                while (end - begin > 1) {
                    const i64 middle = (begin + end) / 2;
                    if (tables.indptr[middle] <= from + p) begin = middle;
                    else end = middle;
                }
                v = begin;
            }
            if constexpr (FILTER) there[k] = there[k] && has(how.active, u[k]);
            const auto weight = there[k] ? tables.weights[from + p] : 0;
            if constexpr (Program::CHOOSES_ARCS) there[k] = there[k] && how.program.edge_cond(u[k], weight, v);
            made[k] = there[k] ? (Message)how.program.gather(u[k], weight, v) : how.identity;
        }
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            const int p = part + k * THREADS + threadIdx.x;
            sent[p] = made[k];
            if constexpr (SOME) {
                const u32 bits = __ballot_sync(ALL, there[k]);
                if (lane == 0) live[p >> 5] = bits;
            }
        }
    }
    __syncthreads();
    const auto finish = [&](i64 v, const Sum<Message>& sum) {
        const bool begins = tables.indptr[v] >= from, ends = tables.indptr[v + 1] <= from + count;
        if (begins && ends) return how.put(v, sum);
        if (!begins) carry.first[blockIdx.x] = sum.value;
        else carry.last[blockIdx.x] = sum.value, carry.last_row[blockIdx.x] = v;
        if (sum.found) {
            // At most one of two threads for each bit; both share a byte.
            atomicOr((u32*)(carry.found + (blockIdx.x & ~3)), (begins ? 2u : 1u) << (blockIdx.x & 3) * 8);
        }
    };
    const auto fold = [&](int p, int step, int end, Sum<Message>& sum) {
        for (; p < end; p += step)
            if (!SOME || (live[p >> 5] >> (p & 31) & 1)) how.add(sum, sent[p]);
    };
    if (threadIdx.x == 0) carry.start[blockIdx.x] = from;
    for (i64 v = first_row + threadIdx.x; v <= last_row; v += THREADS) {
        const int begin = (int)max(tables.indptr[v] - from, (i64)0), end = (int)min(tables.indptr[v + 1] - from, (i64)count);
        if (end <= begin || !how.program.cond(v)) continue;
        if (end - begin > SERIAL) {
            long_rows[atomicAdd(&many, 1)] = (int)(v - first_row);
            continue;
        }
        Sum<Message> sum{how.identity, false};
        fold(begin, 1, end, sum);
        finish(v, sum);
    }
    __syncthreads();
    for (int i = warp; i < many; i += WARPS) {
        const i64 v = first_row + long_rows[i];
        const int begin = (int)max(tables.indptr[v] - from, (i64)0), end = (int)min(tables.indptr[v + 1] - from, (i64)count);
        Sum<Message> sum{how.identity, false};
        fold(begin + lane, 32, end, sum);
        how.combine(sum);
        if (lane == 0) finish(v, sum);
    }
}

// Joins rows shared by several tiles: one warp for the last row of each tile, and one for a row that began before the
// window.
template <class Program>
__global__ void __launch_bounds__(THREADS)
join_tiles(const Gathering<Program> how, const i64* indptr, i64 row_before, i64 tiles,
           const Carry<typename Program::Message> carry) {
    typedef typename Program::Message Message;
    const i64 warp = (i64)blockIdx.x * WARPS + (threadIdx.x >> 5);
    if (warp > tiles) return;
    // The warp after the last tile's handles the row that began before.
    const bool continues = warp == tiles;
    const i64 row = continues ? row_before : carry.last_row[warp];
    if (row < 0 || !how.program.cond(row)) return;
    const i64 end = indptr[row + 1];
    Sum<Message> sum{how.identity, false};
    for (i64 t = (continues ? 0 : warp + 1) + lane_of_warp(); t < tiles && carry.start[t] < end; t += 32)
        if (carry.found[t] & 1) how.add(sum, carry.first[t]);
    how.combine(sum);
    if (lane_of_warp()) return;
    if (!continues && (carry.found[warp] & 2)) {
        const Message last = carry.last[warp];
        sum.value = sum.found ? Program::join(last, sum.value) : last, sum.found = true;
    }
    how.put(row, sum);
}

}  // namespace hpgraph
