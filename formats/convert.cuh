// Conversions between formats on the GPU.
//
// Entries are processed in tiles of equal size, never one row per thread (except for the slab, whose rows are short),
// so that a row of a million entries costs no more than a million rows of one. A tile finds the rows it spans by two
// searches in the row pointer, and the row of each entry by a search between them.
//
// Kernels that keep some of the entries are a stream compaction: count the kept entries of each tile; the caller
// computes the prefix sum of the counts; each tile writes from its offset on. Entries stay in order, and results are
// bitwise reproducible.
//
// I: int or long long, the type of ids. V: an unsigned integer as wide as a value; values are only moved. If there are
// no values, their pointers are null. Compiles with NVRTC alone.

#include "search.cuh"

namespace hpgraph {

using i64 = long long;
using u32 = unsigned int;
using u64 = unsigned long long;

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kItems = 16;  // entries of a tile for each thread
constexpr int kTile = kThreads * kItems;

__device__ __forceinline__ i64 global_thread() { return (i64)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ __forceinline__ i64 global_threads() { return (i64)gridDim.x * blockDim.x; }

struct Span {
  i64 low, high;
};

// The rows of the entries first..last. All threads of the block must call it.
__device__ __forceinline__ Span rows_spanned(const i64* indptr, i64 rows, i64 first, i64 last) {
  __shared__ i64 ends[2];
  if (threadIdx.x < 2) ends[threadIdx.x] = row_of(indptr, 0, rows - 1, threadIdx.x ? last : first);
  __syncthreads();
  return {ends[0], ends[1]};
}

// Calls use(p, row) for each entry p of this block's tile of first..last-1.
template <class Use>
__device__ __forceinline__ void for_tile(const i64* indptr, i64 rows, i64 first, i64 last, Use use) {
  const i64 begin = first + (i64)blockIdx.x * kTile;
  const i64 end = begin + kTile < last ? begin + kTile : last;
  const Span span = rows_spanned(indptr, rows, begin, end - 1);
  for (i64 p = begin + threadIdx.x; p < end; p += kThreads) use(p, row_of(indptr, span.low, span.high, p));
}

// Counts the kept entries of this block's tile. keep(p) is called by whole warps.
template <class Keep>
__device__ __forceinline__ void count_kept(i64 entries, i64* tile_count, Keep keep) {
  __shared__ u32 total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  u32 kept = 0;
  for (int item = 0; item < kItems; ++item) {
    const i64 p = (i64)blockIdx.x * kTile + item * kThreads + threadIdx.x;
    kept += __popc(__ballot_sync(~0u, p < entries && keep(p)));
  }
  if (threadIdx.x % 32 == 0) atomicAdd(&total, kept);
  __syncthreads();
  if (threadIdx.x == 0) tile_count[blockIdx.x] = total;
}

// Calls write(p, slot) for each kept entry of this block's tile; slots are consecutive from `slot`, in the order of the
// entries.
template <class Keep, class Write>
__device__ __forceinline__ void write_kept(i64 entries, i64 slot, Keep keep, Write write) {
  __shared__ u32 of_warp[kWarps];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const i64 begin = (i64)blockIdx.x * kTile + warp * 32 * kItems + lane;
  u32 kept[kItems];
  u32 total = 0;
#pragma unroll
  for (int item = 0; item < kItems; ++item) {
    const i64 p = begin + 32 * item;
    kept[item] = __ballot_sync(~0u, p < entries && keep(p));
    total += __popc(kept[item]);
  }
  if (lane == 0) of_warp[warp] = total;
  __syncthreads();
  for (int before = 0; before < warp; ++before) slot += of_warp[before];
#pragma unroll
  for (int item = 0; item < kItems; ++item) {
    if (kept[item] >> lane & 1) write(begin + 32 * item, slot + __popc(kept[item] & ((1u << lane) - 1)));
    slot += __popc(kept[item]);
  }
}

// ---------------------------------------------------------------------------------------------------------- rows

// count[id] += occurrences of each id. Runs of equal ids, as in a sorted list, share one atomic operation.
template <class I>
__global__ void count_ids(const I* ids, i64 entries, u64* count) {
  const int lane = threadIdx.x % 32;
  for (i64 begin = global_thread() - lane; begin < entries; begin += global_threads()) {
    const bool inside = begin + lane < entries;
    const I id = inside ? ids[begin + lane] : (I)-1;
    const I before = __shfl_up_sync(~0u, id, 1);
    const bool head = inside && (lane == 0 || id != before);
    const u32 heads = __ballot_sync(~0u, head);
    const int members = __popc(__ballot_sync(~0u, inside));
    if (head) {
      const u32 later = heads & ~((2u << lane) - 1);
      atomicAdd(&count[id], (u64)((later ? __ffs(later) - 1 : members) - lane));
    }
  }
}

// sum[id] += sum of the weights of each id.
template <class I>
__global__ void sum_by_id(const I* ids, const double* weights, i64 entries, double* sum) {
  for (i64 p = global_thread(); p < entries; p += global_threads()) atomicAdd(&sum[ids[p]], weights[p]);
}

// row[p] = the row of entry p.
template <class I>
__global__ void expand_rows(const i64* indptr, i64 rows, i64 entries, I* row) {
  for_tile(indptr, rows, 0, entries, [&](i64 p, i64 of) { row[p] = (I)of; });
}

// Sets found[0] if a column is outside 0..columns-1, and found[1] if a column is less than its predecessor in the row
// or, with `strictly`, equal to it.
template <class I>
__global__ void inspect_rows(const i64* indptr, i64 rows, const I* indices, i64 entries, i64 columns, bool strictly,
                             int* found) {
  for_tile(indptr, rows, 0, entries, [&](i64 p, i64 row) {
    const I column = indices[p];
    if (column < 0 || (i64)column >= columns) found[0] = 1;
    if (p > indptr[row] && (column < indices[p - 1] || (strictly && column == indices[p - 1]))) found[1] = 1;
  });
}

// -------------------------------------------------------------------------------------------------- keys to sort

template <class I>
__global__ void count_range(const I* major, i64 entries, i64 low, i64 high, i64* tile_count) {
  count_kept(entries, tile_count, [&](i64 p) { return major[p] >= low && major[p] < high; });
}

// Key and position of each entry whose major id is in low..high-1: the major id above `bits` bits of the minor id. If
// `minor` is null, minor ids are the rows of the entries; if `position` is null, positions are not written.
template <class I>
__global__ void pick_range(const I* major, const I* minor, const i64* indptr, i64 rows, i64 entries, i64 low, i64 high,
                           int bits, const i64* tile_start, i64* key, i64* position) {
  Span span = {0, 0};
  if (!minor) {
    const i64 begin = (i64)blockIdx.x * kTile;
    span = rows_spanned(indptr, rows, begin, begin + kTile < entries ? begin + kTile - 1 : entries - 1);
  }
  write_kept(
      entries, tile_start[blockIdx.x], [&](i64 p) { return major[p] >= low && major[p] < high; },
      [&](i64 p, i64 slot) {
        const i64 second = minor ? (i64)minor[p] : row_of(indptr, span.low, span.high, p);
        key[slot] = ((i64)major[p] - low) << bits | second;
        if (position) position[slot] = p;
      });
}

// Keys of the entries first..last-1, those of the rows from `low` on: row above column.
template <class I>
__global__ void row_keys(const i64* indptr, i64 rows, const I* indices, i64 low, i64 first, i64 last, int bits,
                         i64* key) {
  for_tile(indptr, rows, first, last, [&](i64 p, i64 row) { key[p - first] = (row - low) << bits | (i64)indices[p]; });
}

struct Sum {
  template <class T>
  static __device__ T merge(T a, T b) { return a + b; }
  static __device__ bool merge(bool a, bool b) { return a || b; }
};

struct Least {
  // As in NumPy, NaN is less than all numbers.
  template <class T>
  static __device__ T merge(T a, T b) { return a != a || a <= b ? a : b; }
};

struct Most {
  // As in NumPy, NaN is greater than all numbers.
  template <class T>
  static __device__ T merge(T a, T b) { return a != a || a >= b ? a : b; }
};

// out[r] = duplicates of run r merged in order; the run begins at head[r], and its values are data[position[..]].
template <class T, class Merge>
__global__ void merge_runs(const T* data, const i64* position, i64 entries, const i64* head, i64 runs, T* out) {
  for (i64 r = global_thread(); r < runs; r += global_threads()) {
    const i64 end = r + 1 < runs ? head[r + 1] : entries;
    T value = data[position[head[r]]];
    for (i64 p = head[r] + 1; p < end; ++p) value = Merge::merge(value, data[position[p]]);
    out[r] = value;
  }
}

// ------------------------------------------------------------------------------------------------- moving entries

// Concatenates segments that begin at source[s] and have the lengths given by `offsets`.
template <class I, class V>
__global__ void gather_segments(const i64* offsets, i64 segments, i64 entries, const i64* source, const I* indices,
                                const V* data, I* out_indices, V* out_data) {
  for_tile(offsets, segments, 0, entries, [&](i64 p, i64 segment) {
    const i64 from = source[segment] + p - offsets[segment];
    out_indices[p] = indices[from];
    if (data) out_data[p] = data[from];
  });
}

// The first `width` entries of each row, column by column; -1 if a row is shorter. Writes are coalesced, and the
// sectors that a warp reads for one slot also contain its following slots.
template <class I, class V>
__global__ void fill_slab(const i64* indptr, i64 rows, i64 width, const I* indices, const V* data, I* slab,
                          V* slab_data) {
  for (i64 row = global_thread(); row < rows; row += global_threads()) {
    const i64 begin = indptr[row], length = indptr[row + 1] - begin;
    for (i64 slot = 0; slot < width; ++slot) {
      const bool held = slot < length;
      slab[slot * rows + row] = held ? indices[begin + slot] : (I)-1;
      if (data) slab_data[slot * rows + row] = held ? data[begin + slot] : V{};
    }
  }
}

// ------------------------------------------------------------------------------------------------------- symmetry

// The finalizer of SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
__device__ __forceinline__ u64 mixed(u64 x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

// Bits that are equal if values are equal: one zero, one NaN.
template <class T>
__device__ __forceinline__ u64 value_bits(T value) { return (u64)value; }
__device__ __forceinline__ u64 value_bits(float value) {
  return value == 0 ? 0 : value != value ? ~0ull : (u64)__float_as_uint(value);
}
__device__ __forceinline__ u64 value_bits(double value) {
  return value == 0 ? 0 : value != value ? ~0ull : (u64)__double_as_longlong(value);
}

// difference[h] += sum of hash h over the arcs (i, j, value), minus the sum over (j, i, value), modulo 2^64. The key
// differs by process: with known hashes, arcs without reverses could be constructed whose sums agree.
template <class I, class T>
__global__ void hash_arcs(const i64* indptr, i64 rows, const I* indices, const T* data, i64 entries, u64 key,
                          u64* difference) {
  u64 sum[2] = {0, 0};
  for_tile(indptr, rows, 0, entries, [&](i64 p, i64 row) {
    const u64 i = (u64)row, j = (u64)indices[p], value = data ? value_bits(data[p]) : 0;
    for (int h = 0; h < 2; ++h) {
      const u64 seed = mixed(mixed(value + 0x9e3779b97f4a7c15ull * (h + 1)) ^ key);
      sum[h] += mixed(mixed(seed + i) + j) - mixed(mixed(seed + j) + i);
    }
  });
  for (int h = 0; h < 2; ++h) {
    for (int offset = 16; offset; offset /= 2) sum[h] += __shfl_down_sync(~0u, sum[h], offset);
    if (threadIdx.x % 32 == 0 && sum[h]) atomicAdd(&difference[h], sum[h]);
  }
}

}  // namespace hpgraph
