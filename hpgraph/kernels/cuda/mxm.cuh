// The product of two sparse matrices over a semiring, row by row: C[i, :] = sum over k of A[i, k] (x) B[k, :].
//
// A warp takes a row (F. G. Gustavson, ACM TOMS 4(3), 1978), twice: to count its entries, then to compute them where
// they belong. Rows of up to MOST pairs go through a hash table in shared memory, of the least size that serves (after
// Y. Nagasaka, A. Nukada, S. Matsuoka, "High-performance and memory-saving sparse general matrix-matrix multiplication
// for NVIDIA Pascal GPU", ICPP'17), and are sorted there. Longer rows go window by window, a range of columns that has a
// bit each in shared memory: which columns there are, and in which place each one stands, can be read from the bits. Very
// long rows are several tasks, each a range of columns.
//
// The pairs of a row are dealt to the lanes 32 at a time in the order of A's entries. Lanes that hold the same column
// join their values first, in their order, and no other warp writes there: no sum is made by atomic operations, and
// results repeat bit for bit.
//
// The host writes before this text a struct that says what is computed:
//
//     struct Multiply {
//         types A, B, C, Index; constants reads_a, reads_b, excludes (the mask says what not to compute), within (what to)
//         static C product(A a, B b, i64 i, i64 k, i64 j), reduce(C a, C b), identity()
//     };
#pragma once

namespace hpgraph {

typedef long long i64;
typedef unsigned int u32;
typedef unsigned long long u64;

constexpr u32 ALL = 0xffffffffu;
constexpr int THREADS = 256;
// Pairs of a row up to which a table serves; the smallest table; kinds of rows: tables, and windows.
constexpr i64 MOST = 1024;
constexpr u32 LEAST = 64;
constexpr int WINDOWED = 6;
constexpr int KINDS = 7;
// Threads of a block whose warps take long rows.
constexpr int LONG_THREADS = 128;
// Pairs of one task of a longer row.
constexpr i64 SHARE = 32768;
// Entries of A's row of which is remembered how far into B's rows the windows have come.
constexpr int CURSORS = 512;
// Columns set among 1024 from which their ids are written word by word.
constexpr u32 DENSE = 160;

template <class T>
__device__ T shuffle(T value, int lane) {
    if constexpr (sizeof(T) >= 4) return __shfl_sync(ALL, value, lane);
    else return T(__shfl_sync(ALL, int(value), lane));
}

template <class T>
__device__ T warp_sum(T x) {
    for (int offset = 16; offset; offset /= 2) x += __shfl_xor_sync(ALL, x, offset);
    return x;
}

__device__ inline i64 warp_min(i64 x) {
    for (int offset = 16; offset; offset /= 2) {
        const i64 other = __shfl_xor_sync(ALL, x, offset);
        if (other < x) x = other;
    }
    return x;
}

// First position in [begin, end) whose value is not below x.
template <class T>
__device__ i64 lower_bound(const T* values, i64 begin, i64 end, i64 x) {
    while (begin < end) {
        const i64 middle = begin + (end - begin) / 2;
        if (values[middle] < x) begin = middle + 1;
        else end = middle;
    }
    return begin;
}

template <class M>
struct Factors {
    typedef typename M::Index Index;
    const i64* a_indptr;
    const Index* a_indices;
    const typename M::A* a_data;
    const i64* b_indptr;
    const Index* b_indices;
    const typename M::B* b_data;
    const i64* mask_indptr;
    const Index* mask_indices;

    __device__ bool allows(i64 i, i64 j) const {
        if constexpr (!M::excludes && !M::within) return true;
        else {
            const i64 end = mask_indptr[i + 1], at = lower_bound(mask_indices, mask_indptr[i], end, j);
            return (at < end && mask_indices[at] == j) == M::within;
        }
    }
    // What entry p of A and entry q of B contribute to C[i, j].
    __device__ typename M::C product(i64 i, i64 p, i64 k, i64 q, i64 j) const {
        typename M::A a = typename M::A(1);
        typename M::B b = typename M::B(1);
        if constexpr (M::reads_a) a = a_data[p];
        if constexpr (M::reads_b) b = b_data[q];
        return M::product(a, b, i, k, j);
    }
};

// The entries of B's row k that a task is to look at: all of them.
struct WholeRows {
    const i64* indptr;
    __device__ void operator()(i64, i64 k, i64& begin, u32& length) const {
        begin = indptr[k];
        length = u32(indptr[k + 1] - begin);
    }
};

// Deal the pairs of a row to the lanes: use(whether there is one, p, k, q, lane that read p) for entries p of A and q of
// B; `range` says which of B's row. All lanes of the warp call it, and all call `use` together.
template <class M, class Range, class Use>
__device__ __forceinline__ void for_pairs(const Factors<M>& f, i64 row, Range range, Use use) {
    const int lane = threadIdx.x & 31;
    const i64 first = f.a_indptr[row], last = f.a_indptr[row + 1];
    for (i64 base = first; base < last; base += 32) {
        i64 k = 0, begin = 0;
        u32 length = 0;
        if (base + lane < last) {
            k = f.a_indices[base + lane];
            range(base + lane - first, k, begin, length);
        }
        u32 upto = length;
        for (int offset = 1; offset < 32; offset *= 2) {
            const u32 before = __shfl_up_sync(ALL, upto, offset);
            if (lane >= offset) upto += before;
        }
        const u32 total = __shfl_sync(ALL, upto, 31);
        for (u32 at = 0; at < total; at += 32) {
            const u32 mine = at + lane;
            // The first lane whose pairs end beyond this one.
            int owner = 0;
#pragma unroll
            for (int step = 16; step; step /= 2)
                if (__shfl_sync(ALL, upto, owner + step - 1) <= mine) owner += step;
            const u32 start = __shfl_sync(ALL, upto - length, owner);
            const i64 q = __shfl_sync(ALL, begin, owner) + (mine - start);
            const i64 its_k = __shfl_sync(ALL, k, owner);
            use(mine < total, base + owner, its_k, q, owner);
        }
    }
}

// Join the values of lanes with the same column, in the order of the lanes; true in the first of them, which has it all.
template <class M>
__device__ __forceinline__ bool join_lanes(bool valid, int owner, typename M::Index j, typename M::C& value) {
    // One row of B has no column twice.
    const int first_owner = __shfl_sync(ALL, owner, 0);
    if (__all_sync(ALL, !valid || owner == first_owner)) return valid;
    const int lane = threadIdx.x & 31;
    u32 same;
    if constexpr (sizeof(j) == 4) same = __match_any_sync(ALL, valid ? u32(j) : ~0u);
    else same = __match_any_sync(ALL, valid ? u64(j) : ~0ull);
    const bool leads = valid && __ffs(same) - 1 == lane;
    u32 rest = leads ? same & ~(1u << lane) : 0;
    while (__any_sync(ALL, rest != 0)) {
        const typename M::C other = shuffle(value, rest ? __ffs(rest) - 1 : lane);
        if (rest) {
            value = M::reduce(value, other);
            rest &= rest - 1;
        }
    }
    return leads;
}

// Pairs of each row, and how many tasks it makes.
template <class M>
__global__ void __launch_bounds__(THREADS) count_pairs(Factors<M> f, i64 rows, i64 windows, i64* pairs, i64* tasks) {
    const i64 row = (i64(blockIdx.x) * THREADS + threadIdx.x) / 32;
    if (row >= rows) return;
    i64 sum = 0;
    for (i64 p = f.a_indptr[row] + threadIdx.x % 32; p < f.a_indptr[row + 1]; p += 32) {
        const i64 k = f.a_indices[p];
        sum += f.b_indptr[k + 1] - f.b_indptr[k];
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32) return;
    if constexpr (M::within) {
        if (f.mask_indptr[row] == f.mask_indptr[row + 1]) sum = 0;
    }
    const i64 shares = (sum + SHARE - 1) / SHARE;
    pairs[row] = sum;
    tasks[row] = sum > MOST ? (shares < windows ? shares : windows) : sum > 0;
}

// The kind of a task: a table of LEAST << kind slots, or windows; -1 where there is nothing to do.
__device__ inline int kind_of(i64 pairs, i64 size) {
    if (size == 0) return -1;
    if (pairs > MOST) return WINDOWED;
    int kind = 0;
    while ((i64(LEAST) << kind) < 2 * size) ++kind;
    return kind;
}

// Sort the tasks by kind: first only count them, in `totals`; then, from `starts` on, list them. `sizes` has the number
// of entries of each task; null before it is known.
template <bool LIST>
__global__ void __launch_bounds__(THREADS) sort_tasks(const i64* pairs, const i64* first_task, i64 rows, i64 columns,
                                                      const i64* sizes, const i64* starts, u64* totals, i64* list,
                                                      i64* task_row) {
    __shared__ u32 here[KINDS];
    __shared__ u64 base[KINDS];
    if (threadIdx.x < KINDS) here[threadIdx.x] = 0;
    __syncthreads();
    const i64 row = i64(blockIdx.x) * THREADS + threadIdx.x;
    const i64 begin = row < rows ? first_task[row] : 0, end = row < rows ? first_task[row + 1] : 0;
    const i64 most = row < rows ? pairs[row] : 0;
    // Tasks of one row are windows all, or there is one: a place in its kind for each.
    u32 place = 0, count = 0;
    int kind = -1;
    for (i64 task = begin; task < end; ++task) {
        const int its = kind_of(most, sizes ? sizes[task] : most < columns ? most : columns);
        if (its >= 0) {
            kind = its;
            ++count;
        }
    }
    if (count) place = atomicAdd(here + kind, count);
    __syncthreads();
    if (threadIdx.x < KINDS && here[threadIdx.x])
        base[threadIdx.x] = atomicAdd(totals + threadIdx.x, u64(here[threadIdx.x]));
    if constexpr (LIST) {
        __syncthreads();
        for (i64 task = begin; task < end; ++task) {
            if (task_row) task_row[task] = row;
            if (!sizes || sizes[task]) list[starts[kind] + i64(base[kind]) + place++] = task;
        }
    }
}

// A hash table with linear probing; -1 marks a free slot.
template <class Index>
struct Table {
    Index* keys;
    u32 slots;

    __device__ void clear() const {
        for (u32 s = threadIdx.x & 31; s < slots; s += 32) keys[s] = Index(-1);
        __syncwarp();
    }
    // Where column j is, or is put now: `fresh`.
    __device__ u32 locate(Index j, bool& fresh) const {
        u32 slot = (u32(j) ^ u32(u64(j) >> 32)) * 0x9E3779B1u >> (__clz(slots) + 1);
        for (;; slot = (slot + 1) & (slots - 1)) {
            const Index seen = *(volatile Index*)(keys + slot);
            if (seen == j) break;
            if (seen != Index(-1)) continue;
            Index before;
            if constexpr (sizeof(Index) == 4) before = Index(atomicCAS((u32*)(keys + slot), ~0u, u32(j)));
            else before = Index(atomicCAS((u64*)(keys + slot), ~0ull, u64(j)));
            fresh = before == Index(-1);
            if (fresh || before == j) return slot;
        }
        fresh = false;
        return slot;
    }
};

template <class M>
__global__ void __launch_bounds__(THREADS) count_by_table(Factors<M> f, const i64* list, i64 tasks, const i64* task_row,
                                                          u32 slots, i64* counts) {
    typedef typename M::Index Index;
    extern __shared__ u64 shared[];
    const int warp = threadIdx.x / 32;
    const i64 place = i64(blockIdx.x) * (blockDim.x / 32) + warp;
    if (place >= tasks) return;
    const i64 task = list[place], row = task_row[task];
    const Table<Index> table{(Index*)shared + warp * slots, slots};
    table.clear();
    u32 found = 0;
    for_pairs(f, row, WholeRows{f.b_indptr}, [&](bool valid, i64, i64, i64 q, int) {
        if (!valid) return;
        const Index j = f.b_indices[q];
        if (!f.allows(row, j)) return;
        bool fresh;
        table.locate(j, fresh);
        found += fresh;
    });
    found = warp_sum(found);
    if (threadIdx.x % 32 == 0) counts[task] = found;
}

// Sort keys[0..count) ascending and the values with them; there is room for the next power of two. Bitonic (K. Batcher,
// 1968), by one warp.
template <class Index, class C>
__device__ void sort_warp(Index* keys, C* values, u32 count) {
    const int lane = threadIdx.x & 31;
    u32 size = 2;
    while (size < count) size *= 2;
    for (u32 s = count + lane; s < size; s += 32) keys[s] = Index(-1);
    __syncwarp();
    for (u32 run = 2; run <= size; run *= 2) {
        for (u32 gap = run / 2; gap; gap /= 2) {
            for (u32 t = lane; t < size / 2; t += 32) {
                const u32 low = (t & ~(gap - 1)) * 2 + (t & (gap - 1)), high = low + gap;
                const Index a = keys[low], b = keys[high];
                // Read as unsigned, what fills up is the largest.
                const bool falls = sizeof(Index) == 4 ? u32(a) > u32(b) : u64(a) > u64(b);
                if (falls == ((low & run) == 0) && a != b) {
                    keys[low] = b;
                    keys[high] = a;
                    const C value = values[low];
                    values[low] = values[high];
                    values[high] = value;
                }
            }
            __syncwarp();
        }
    }
}

template <class M>
__global__ void __launch_bounds__(THREADS) fill_by_table(Factors<M> f, const i64* list, i64 tasks, const i64* task_row,
                                                         u32 slots, const i64* offsets, typename M::Index* indices,
                                                         typename M::C* data) {
    typedef typename M::Index Index;
    typedef typename M::C C;
    extern __shared__ u64 shared[];
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    const i64 place = i64(blockIdx.x) * (blockDim.x / 32) + warp;
    if (place >= tasks) return;
    const i64 task = list[place], row = task_row[task];
    // Slots are at least 64, so whatever the types, each array begins at a multiple of eight bytes.
    char* const room = (char*)shared + warp * slots * (sizeof(Index) + sizeof(C));
    Index* const keys = (Index*)room;
    C* const values = (C*)(keys + slots);
    const Table<Index> table{keys, slots};
    table.clear();
    for_pairs(f, row, WholeRows{f.b_indptr}, [&](bool valid, i64 p, i64 k, i64 q, int owner) {
        Index j = 0;
        C value = C();
        if (valid) {
            j = f.b_indices[q];
            valid = f.allows(row, j);
            if (valid) value = f.product(row, p, k, q, j);
        }
        if (join_lanes<M>(valid, owner, j, value)) {
            bool fresh;
            const u32 slot = table.locate(j, fresh);
            values[slot] = M::reduce(fresh ? M::identity() : values[slot], value);
        }
        __syncwarp();
    });
    // Close the gaps: what is written lies before what is still to be read.
    u32 count = 0;
    for (u32 base = 0; base < slots; base += 32) {
        const Index key = keys[base + lane];
        const C value = values[base + lane];
        const u32 used = __ballot_sync(ALL, key != Index(-1));
        if (key != Index(-1)) {
            const u32 to = count + __popc(used & ((1u << lane) - 1));
            keys[to] = key;
            values[to] = value;
        }
        count += __popc(used);
        __syncwarp();
    }
    sort_warp(keys, values, count);
    for (u32 s = lane; s < count; s += 32) {
        indices[offsets[task] + s] = keys[s];
        data[offsets[task] + s] = values[s];
    }
}

// The columns of a task of a long row, whole windows.
struct Columns {
    i64 begin, end;
    __device__ Columns(i64 task, const i64* first_task, i64 row, i64 windows, i64 width, i64 columns) {
        const i64 order = task - first_task[row], tasks = first_task[row + 1] - first_task[row];
        begin = order * windows / tasks * width;
        end = (order + 1) * windows / tasks * width;
        if (end > columns) end = columns;
    }
};

// A bit a column: `bits` of them at a time for each warp.
template <class M>
__global__ void __launch_bounds__(LONG_THREADS) count_by_bits(Factors<M> f, const i64* list, i64 tasks,
                                                              const i64* task_row, const i64* first_task, i64 windows,
                                                              i64 width, i64 columns, i64 bits, i64* counts) {
    extern __shared__ u64 shared[];
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    const i64 number = i64(blockIdx.x) * (LONG_THREADS / 32) + warp;
    if (number >= tasks) return;
    u32* const words = (u32*)shared + warp * (bits / 32);
    const i64 task = list[number], row = task_row[task];
    const Columns mine(task, first_task, row, windows, width, columns);
    i64 found = 0;
    for (i64 from = mine.begin; from < mine.end; from += bits) {
        const i64 to = from + bits < mine.end ? from + bits : mine.end;
        const i64 used = (to - from + 31) / 32;
        for (i64 w = lane; w < used; w += 32) words[w] = 0;
        __syncwarp();
        const auto range = [&](i64, i64 k, i64& begin, u32& length) {
            const i64 end = f.b_indptr[k + 1];
            begin = lower_bound(f.b_indices, f.b_indptr[k], end, from);
            length = u32(lower_bound(f.b_indices, begin, end, to) - begin);
        };
        for_pairs(f, row, range, [&](bool valid, i64, i64, i64 q, int) {
            if (!valid) return;
            const i64 j = f.b_indices[q];
            if (f.allows(row, j)) atomicOr(words + (j - from) / 32, 1u << ((j - from) & 31));
        });
        __syncwarp();
        for (i64 w = lane; w < used; w += 32) found += __popc(words[w]);
        __syncwarp();
    }
    found = warp_sum(found);
    if (lane == 0) counts[task] = found;
}

// Write the columns that are set in the bits of a window, from `place` on, and into `ranks` how many lie before each word;
// returns how many there are. All lanes of the warp call it.
template <class Index>
__device__ __forceinline__ u32 write_columns(const u32* bits, i64 words, i64 from, i64 place, unsigned short* ranks,
                                             Index* indices) {
    const int lane = threadIdx.x & 31;
    u32 total = 0;
    for (i64 base = 0; base < words; base += 32) {
        u32 word = bits[base + lane];
        const u32 count = __popc(word);
        u32 upto = count;
        for (int offset = 1; offset < 32; offset *= 2) {
            const u32 before = __shfl_up_sync(ALL, upto, offset);
            if (lane >= offset) upto += before;
        }
        const u32 rank = total + upto - count, here = __shfl_sync(ALL, upto, 31);
        ranks[base + lane] = rank;
        if (here > DENSE) {
            // A word at a time, so that what is written lies side by side.
            for (u32 some = __ballot_sync(ALL, word != 0); some; some &= some - 1) {
                const int source = __ffs(some) - 1;
                const u32 set = __shfl_sync(ALL, word, source), start = __shfl_sync(ALL, rank, source);
                if (set >> lane & 1)
                    indices[place + start + __popc(set & ((1u << lane) - 1))] = Index(from + (base + source) * 32 + lane);
            }
        } else {
            for (u32 at = rank; word; word &= word - 1)
                indices[place + at++] = Index(from + (base + lane) * 32 + __ffs(word) - 1);
        }
        total += here;
    }
    return total;
}

// A window of `width` columns (a multiple of 1024, at most 65536) after the other, each begun at the next column that the
// row has. First the columns are set as bits and written in order; then each value is added where its column stands.
// Shared, for each warp: bits, cursors, ranks.
template <class M>
__global__ void __launch_bounds__(LONG_THREADS) fill_by_windows(Factors<M> f, const i64* list, i64 tasks,
                                                                const i64* task_row, const i64* first_task, i64 windows,
                                                                i64 width, i64 columns, const i64* offsets,
                                                                typename M::Index* indices, typename M::C* data) {
    typedef typename M::Index Index;
    typedef typename M::C C;
    extern __shared__ u64 shared[];
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    const i64 number = i64(blockIdx.x) * (LONG_THREADS / 32) + warp;
    if (number >= tasks) return;
    u32* const bits = (u32*)((char*)shared + warp * (width / 8 + width / 16 + 4 * CURSORS));
    u32* const cursors = bits + width / 32;
    unsigned short* const ranks = (unsigned short*)(cursors + CURSORS);
    const i64 task = list[number], row = task_row[task];
    const Columns mine(task, first_task, row, windows, width, columns);
    const i64 first = f.a_indptr[row], length = f.a_indptr[row + 1] - first;
    for (i64 w = lane; w < width / 32; w += 32) bits[w] = 0;
    i64 next = mine.end;
    for (i64 p = lane; p < length; p += 32) {
        const i64 k = f.a_indices[first + p], start = f.b_indptr[k], stop = f.b_indptr[k + 1];
        const i64 begin = mine.begin ? lower_bound(f.b_indices, start, stop, mine.begin) : start;
        if (p < CURSORS) cursors[p] = u32(begin - start);
        if (begin < stop && f.b_indices[begin] < next) next = f.b_indices[begin];
    }
    next = warp_min(next);
    __syncwarp();
    i64 place = offsets[task];
    while (next < mine.end) {
        const i64 from = next, to = from + width < mine.end ? from + width : mine.end;
        i64 following = mine.end;
        const auto range = [&](i64 p, i64 k, i64& begin, u32& count, bool moves) {
            const i64 start = f.b_indptr[k], stop = f.b_indptr[k + 1];
            begin = p < CURSORS ? start + cursors[p] : lower_bound(f.b_indices, start, stop, from);
            // Few columns of one row lie in one window: steps that double find their end.
            i64 low = begin, high = begin;
            for (i64 step = 1; high < stop && f.b_indices[high] < to; step *= 2) {
                low = high + 1;
                high += step;
            }
            const i64 end = lower_bound(f.b_indices, low, high < stop ? high : stop, to);
            count = u32(end - begin);
            if (moves) {
                if (p < CURSORS) cursors[p] = u32(end - start);
                if (end < stop && f.b_indices[end] < following) following = f.b_indices[end];
            }
        };
        for_pairs(
            f, row, [&](i64 p, i64 k, i64& begin, u32& count) { range(p, k, begin, count, false); },
            [&](bool valid, i64, i64, i64 q, int) {
                if (!valid) return;
                const i64 j = f.b_indices[q];
                if (f.allows(row, j)) atomicOr(bits + (j - from) / 32, 1u << ((j - from) & 31));
            });
        __syncwarp();
        const u32 total = write_columns(bits, width / 32, from, place, ranks, indices);
        for (u32 s = lane; s < total; s += 32) data[place + s] = M::identity();
        __syncwarp();
        for_pairs(
            f, row, [&](i64 p, i64 k, i64& begin, u32& count) { range(p, k, begin, count, true); },
            [&](bool valid, i64 p, i64 k, i64 q, int owner) {
                Index j = 0;
                u32 rank = 0;
                C value = C();
                if (valid) {
                    j = f.b_indices[q];
                    const u32 at = u32(j - from), word = bits[at / 32];
                    rank = ranks[at / 32] + __popc(word & ((1u << (at & 31)) - 1));
                    // What the mask does not allow is not set.
                    if constexpr (M::excludes || M::within) valid = word >> (at & 31) & 1;
                    if (valid) value = f.product(row, p, k, q, j);
                }
                if (join_lanes<M>(valid, owner, j, value)) data[place + rank] = M::reduce(data[place + rank], value);
                __syncwarp();
            });
        for (i64 w = lane; w < width / 32; w += 32) bits[w] = 0;
        __syncwarp();
        place += total;
        next = warp_min(following);
    }
}

}  // namespace hpgraph
