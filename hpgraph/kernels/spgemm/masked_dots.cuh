// The product of two sparse matrices at the places of a mask, by dot products: place (i, j) is the sum over k of A[i,
// k] (x) B[k, j]; B is given by its transpose, whose row j lists those k.
//
// One of the two rows of a place is inserted into a bit filter in shared memory, and the other is read and looked up
// there, up to the last entry of the row in the filter. A place is computed from the side of A, in the order of the
// mask, unless row j is not short and fewer entries of row i would be read: then it is listed with others of its column
// and computed from the side of B.
//
// A row that may need more than MUCH look-ups, by its length and its number of places, has its places divided into
// tasks of PIECE for a whole block, small for the sake of load balance; other rows take a warp. Groups of lanes read
// rows concurrently, and each group reduces its lanes' results in a fixed order: results are bitwise reproducible.
//
// The filter holds k modulo its size. If the row in it spans no more than that, a bit is exact. Otherwise the same
// memory holds fewer, wider slots: slot k mod n stores the quotient k / n, which is exact as well, unless several
// entries share the slot. Shared slots, and the bits of rows too long for slots, are confirmed by a binary search in
// the row. Few lanes of a warp need it, but the whole warp waits for them.
//
// The host writes a struct Multiply before this text, as for spgemm.cuh.
#pragma once
#include "masked_sides.cuh"

namespace hpgraph {

constexpr int WARPS = THREADS / 32;
// Places that a warp of a block takes at once.
constexpr int TAKEN = 16;

// A slot holds 0, or one more than k divided by the number of slots, or SHARED.
typedef unsigned short Slot;
constexpr Slot SHARED = 0xffff;
// Least number of slots for each entry.
constexpr int ROOMY = 4;

// The row of a task, and the filter of its k.
template <class M, bool TURNED>
struct Owner {
    typedef typename M::Index Index;
    const Side<M, TURNED> side;
    i64 row, begin, end;
    Index first, beyond;
    u32* filter;
    u32 mask;  // of bits, or of slots
    int shift;
    bool exact, slotted;

    __device__ Owner(const Operands<M>& f, i64 row, u32* filter, u32 bits)
        : side{f}, row(row), filter(filter), mask(bits - 1) {
        begin = side.set_indptr()[row];
        end = side.set_indptr()[row + 1];
        first = begin < end ? side.set_indices()[begin] : Index(0);
        beyond = begin < end ? side.set_indices()[end - 1] + 1 : Index(0);
        exact = i64(beyond) - first <= bits;
        const u32 slots = bits / (8 * sizeof(Slot));
        shift = 31 - __clz(slots);
        slotted = !exact && (end - begin) * ROOMY <= slots && (i64(beyond) >> shift) + 1 < SHARED;
        if (slotted) mask = slots - 1;
    }
    __device__ u32& word(Index k) const { return filter[(u32(k) & mask) >> 5]; }
    __device__ Slot& slot(Index k) const { return reinterpret_cast<Slot*>(filter)[u32(k) & mask]; }
    __device__ Slot tag(Index k) const { return Slot((k >> shift) + 1); }
    __device__ void set(int worker, int workers) const {
        for (i64 p = begin + worker; p < end; p += workers) {
            const Index k = side.set_indices()[p];
            if (!slotted) atomicOr(&word(k), 1u << (u32(k) & 31));
            else if (atomicCAS(&slot(k), Slot(0), tag(k))) slot(k) = SHARED;
        }
    }
    __device__ void clear(int worker, int workers) const {
        for (i64 p = begin + worker; p < end; p += workers) {
            const Index k = side.set_indices()[p];
            if (slotted) slot(k) = 0;
            else word(k) = 0;
        }
    }
    // Whether the row contains k, which is below `beyond`; if `located`, p becomes its position.
    template <bool located>
    __device__ bool holds(Index k, i64& p) const {
        if (slotted) {
            const Slot held = slot(k);
            if (held != tag(k)) {
                if (held != SHARED) return false;
            } else if (!located) return true;
        } else {
            if (!(word(k) >> (u32(k) & 31) & 1) || k < first) return false;
            if (!located && exact) return true;
        }
        p = lower_bound(side.set_indices(), begin, end, k);
        return p < end && side.set_indices()[p] == k;
    }
};

// Type of the number of entries of one row.
template <int BYTES_OF_IDS>
struct Counting {
    typedef u64 Type;
};
template <>
struct Counting<4> {
    typedef u32 Type;
};
template <class M>
using Count = typename Counting<sizeof(typename M::Index)>::Type;

// A lane's result at one place: the number of pairs, or their sum.
template <class M, bool COUNTS = M::counts>
struct Found {
    Count<M> count = 0;

    template <bool TURNED>
    __device__ void look_up(const Owner<M, TURNED>& owner, typename M::Index k, i64, i64) {
        i64 p;
        count += owner.template holds<false>(k, p);
    }
    __device__ void join(int offset) { count += __shfl_down_sync(ALL, count, offset); }
    __device__ bool any() const { return count != 0; }
    __device__ typename M::C value() const { return typename M::C(count); }
};

template <class M>
struct Found<M, false> {
    typedef typename M::C C;
    C sum = M::identity();
    bool met = false;

    // Looks up k, entry q of row number `other`.
    template <bool TURNED>
    __device__ void look_up(const Owner<M, TURNED>& owner, typename M::Index k, i64 q, i64 other) {
        i64 p = 0;
        if (!owner.template holds<TURNED ? M::reads_b : M::reads_a>(k, p)) return;
        typename M::A a = typename M::A(1);
        typename M::B b = typename M::B(1);
        if constexpr (M::reads_a) a = owner.side.f.a_data[TURNED ? q : p];
        if constexpr (M::reads_b) b = owner.side.f.b_data[TURNED ? p : q];
        sum = M::reduce(sum, M::product(a, b, TURNED ? other : owner.row, k, TURNED ? owner.row : other));
        met = true;
    }
    __device__ void join(int offset) {
        const C other = shuffle_down(ALL, sum, offset);
        const bool other_met = __shfl_down_sync(ALL, int(met), offset);
        if (other_met) sum = met ? M::reduce(sum, other) : other;
        met |= other_met;
    }
    __device__ bool any() const { return met; }
    __device__ C value() const { return sum; }
};

// Up to 32 places of one owner: their positions, the rows to read, where these begin, and their lengths.
template <class M>
struct Batch {
    i64 place[32], start[32];
    Count<M> length[32];
    typename M::Index other[32];
};

// Lengths saturate here in sums, which only separate long rows from short ones.
constexpr u32 MANY = 1024;

// Collects the owner's places in base..end that are computed from this side; returns their number, and approximately
// their number of entries. Warp-collective.
template <class M, bool TURNED>
__device__ __forceinline__ int gather(const Owner<M, TURNED>& owner, i64 base, i64 end, Batch<M>& batch, u32& entries) {
    typedef typename M::Index Index;
    const Operands<M>& f = owner.side.f;
    const int lane = threadIdx.x & 31;
    const i64 at = base + lane;
    Index other = 0;
    i64 place = 0, start = 0, stop = 0;
    bool mine = at < end;
    if (mine) {
        place = TURNED ? f.turned_place[at] : at;
        const Index reach = f.reach[place];
        mine = TURNED || reach < 0;
        other = TURNED ? f.turned_row[at] : f.mask_indices[at];
        start = owner.side.read_indptr()[other];
        stop = TURNED ? start + reach : owner.side.read_indptr()[i64(other) + 1];
    }
    const u32 which = __ballot_sync(ALL, mine);
    if (mine) {
        const int to = __popc(which & ((1u << lane) - 1));
        batch.start[to] = start;
        batch.length[to] = Count<M>(stop - start);
        batch.other[to] = other;
        batch.place[to] = place;
    }
    entries = warp_sum(!mine ? 0u : stop - start < MANY ? u32(stop - start) : MANY);
    return __popc(which);
}

// Computes the places of a batch, with `lanes` lanes per row. The first loads of several rows, and then several loads
// along a row, are in flight at once. Warp-collective.
template <class M, bool TURNED>
__device__ __forceinline__ void dots(const Owner<M, TURNED>& owner, const Batch<M>& batch, int rows, int lanes,
                                     typename M::C* values, bool* found) {
    typedef typename M::Index Index;
    constexpr int ROWS = 2, ALONG = 4;
    const Index* const indices = owner.side.read_indices();
    const Index beyond = owner.beyond;
    const int lane = threadIdx.x & 31, sub = lane & (lanes - 1), group = lane / lanes, groups = 32 / lanes;
    for (int first = 0; first < rows; first += ROWS * groups) {
        Index head[ROWS];
        Found<M> here[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const int row = first + r * groups + group;
            head[r] = beyond;
            if (row < rows && sub < batch.length[row]) head[r] = indices[batch.start[row] + sub];
        }
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            if (head[r] >= beyond) continue;
            const int row = first + r * groups + group;
            const i64 start = batch.start[row], other = batch.other[row];
            const Count<M> length = batch.length[row];
            here[r].look_up(owner, head[r], start + sub, other);
            for (Count<M> at = sub + lanes; at < length; at += ALONG * lanes) {
                Index next[ALONG];
#pragma unroll
                for (int a = 0; a < ALONG; ++a)
                    next[a] = at + a * lanes < length ? indices[start + at + a * lanes] : beyond;
#pragma unroll
                for (int a = 0; a < ALONG; ++a)
                    if (next[a] < beyond) here[r].look_up(owner, next[a], start + at + a * lanes, other);
                // Rows ascend: all further entries are beyond, too.
                if (next[ALONG - 1] >= beyond) break;
            }
        }
        for (int offset = lanes / 2; offset; offset /= 2)
#pragma unroll
            for (int r = 0; r < ROWS; ++r) here[r].join(offset);
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const int row = first + r * groups + group;
            if (sub || row >= rows) continue;
            values[batch.place[row]] = here[r].value();
            found[batch.place[row]] = here[r].any();
        }
    }
}

// Computes the owner's places from `base` on, up to 32 of them, by a warp.
template <class M, bool TURNED>
__device__ __forceinline__ void compute(const Owner<M, TURNED>& owner, i64 base, i64 end, Batch<M>& batch,
                                        typename M::C* values, bool* found) {
    u32 entries;
    const int rows = gather(owner, base, end, batch, entries);
    __syncwarp();
    // If the result depends on the order of additions, `lanes` must not depend on the composition of batches.
    const int lanes = !M::counts ? 16 : entries > 64 * rows ? 32 : entries > 16 * rows ? 16 : 8;
    dots(owner, batch, rows, lanes, values, found);
    __syncwarp();
}

template <class M, bool TURNED>
__device__ __forceinline__ void by_block(const Operands<M>& f, i64 row, i64 begin, u32* filter, u32 bits, u32& taken,
                                         Batch<M>& batch, typename M::C* values, bool* found) {
    const Owner<M, TURNED> owner(f, row, filter, bits);
    const i64 row_end = owner.side.places_indptr()[row + 1], end = begin + PIECE < row_end ? begin + PIECE : row_end;
    owner.set(threadIdx.x, THREADS);
    __syncthreads();
    for (;;) {
        const i64 base = begin + warp_fetch_add(&taken, u32(TAKEN));
        if (base >= end) break;
        compute(owner, base, base + TAKEN < end ? base + TAKEN : end, batch, values, found);
    }
    __syncthreads();
    owner.clear(threadIdx.x, THREADS);
}

// Rows that do not need a block, a warp each, `share` at a time. `next` starts at 0.
template <class M, bool TURNED>
__device__ __forceinline__ void by_warps(const Operands<M>& f, i64 rows, int share, u32* filter, u32 bits, u64* next,
                                         Batch<M>& batch, typename M::C* values, bool* found) {
    const Side<M, TURNED> side{f};
    const int lane = threadIdx.x & 31;
    for (;;) {
        const i64 base = warp_fetch_add(next, u64(share));
        if (base >= rows) break;
        i64 my_begin = 0, my_end = 0, length = 0;
        if (lane < share && base + lane < rows) {
            my_begin = side.places_indptr()[base + lane];
            my_end = side.places_indptr()[base + lane + 1];
            if (my_begin < my_end) length = side.set_indptr()[base + lane + 1] - side.set_indptr()[base + lane];
        }
        u32 waiting = __ballot_sync(ALL, my_begin < my_end && !takes_block(length, my_end - my_begin));
        while (waiting) {
            const int owner_lane = __ffs(waiting) - 1;
            waiting &= waiting - 1;
            const i64 begin = __shfl_sync(ALL, my_begin, owner_lane), end = __shfl_sync(ALL, my_end, owner_lane);
            const Owner<M, TURNED> owner(f, base + owner_lane, filter, bits);
            owner.set(lane, 32);
            __syncwarp();
            for (i64 at = begin; at < end; at += 32) compute(owner, at, end, batch, values, found);
            owner.clear(lane, 32);
            __syncwarp();
        }
    }
}

// All places: first the tasks of whole blocks, of both sides, then the rows of single warps. Dynamic shared memory: a
// filter of `bits` bits, a power of two. The first counter is the number of tasks, the others start at 0.
template <class M>
__global__ void __launch_bounds__(THREADS) dots_at_places(Operands<M> f, i64 rows, i64 columns, int row_share,
                                                          int column_share, u32 bits, const Task* tasks, u64* counters,
                                                          typename M::C* values, bool* found) {
    extern __shared__ u32 filter[];
    __shared__ Batch<M> batches[WARPS];
    __shared__ u64 number;
    __shared__ u32 taken;
    const int warp = threadIdx.x / 32;
    for (u32 w = threadIdx.x; w < bits / 32; w += THREADS) filter[w] = 0;
    for (;;) {
        // All threads have finished with the last task's filter, and have read its number.
        __syncthreads();
        if (threadIdx.x == 0) {
            number = atomicAdd(counters + 1, u64(1));
            taken = 0;
        }
        __syncthreads();
        if (number >= counters[0]) break;
        const Task task = tasks[number];
        Batch<M>& batch = batches[warp];
        if (task.row >= 0) by_block<M, false>(f, task.row, task.begin, filter, bits, taken, batch, values, found);
        else by_block<M, true>(f, ~task.row, task.begin, filter, bits, taken, batch, values, found);
    }
    u32* const own = filter + warp * (bits / WARPS / 32);
    by_warps<M, false>(f, rows, row_share, own, bits / WARPS, counters + 2, batches[warp], values, found);
    by_warps<M, true>(f, columns, column_share, own, bits / WARPS, counters + 3, batches[warp], values, found);
}

}  // namespace hpgraph
