// One pass of a stable LSD radix sort of entries by their keys.
//
// A block takes a tile of entries, and each of its warps a stretch of the tile. count_digits computes each tile's
// histogram of digits; the caller computes the prefix sum of these counts, digit by digit; deal_by_digit then has the
// start of each tile's entries of a digit, and ranks them in order, so results are bitwise reproducible. A tile's
// entries are first sorted in shared memory, so that writes of the same digit are coalesced.
//
// I: int or long long, the type of keys and ids. V: an unsigned integer as wide as a value; values are only moved. If
// there are no values, their pointers are null. Compiles with NVRTC alone.

#include "search.cuh"

namespace hpgraph {

using i64 = long long;
using u16 = unsigned short;
using u32 = unsigned int;

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kItems = 16;  // entries of a tile for each thread
constexpr int kTile = kThreads * kItems;
constexpr int kDigitBits = 10;
constexpr int kDigits = 1 << kDigitBits;

struct Digit {
  int shift, digits;
  template <class I>
  __device__ int of(I key) const { return int(key >> shift) & (digits - 1); }
};

// count[1 + digit * tiles + tile] = number of the tile's entries with the digit; count[0] = 0.
template <class I>
__global__ void __launch_bounds__(kThreads) count_digits(const I* key, i64 entries, int shift, int digits, u32* count) {
  __shared__ u32 of_tile[kDigits];
  const Digit digit = {shift, digits};
  for (int d = threadIdx.x; d < digits; d += kThreads) of_tile[d] = 0;
  __syncthreads();
  const i64 begin = i64(blockIdx.x) * kTile, end = begin + kTile < entries ? begin + kTile : entries;
  for (i64 p = begin + threadIdx.x; p < end; p += kThreads) atomicAdd(&of_tile[digit.of(key[p])], 1u);
  __syncthreads();
  for (int d = threadIdx.x; d < digits; d += kThreads) count[1 + i64(d) * gridDim.x + blockIdx.x] = of_tile[d];
  if (blockIdx.x == 0 && threadIdx.x == 0) count[0] = 0;
}

// Exclusive prefix sum over the threads of the block.
__device__ __forceinline__ u32 sum_before(u32 mine) {
  __shared__ u32 of_warps[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  u32 sum = mine;
  for (int offset = 1; offset < 32; offset *= 2) {
    const u32 other = __shfl_up_sync(~0u, sum, offset);
    if (lane >= offset) sum += other;
  }
  if (lane == 31) of_warps[warp] = sum;
  __syncthreads();
  for (int w = 0; w < warp; ++w) sum += of_warps[w];
  return sum - mine;
}

template <class I, class V>
union Stage {
  u16 of_warp[kWarps][kDigits];  // the warp's count of each digit, then the entries of the tile before them
  I ids[kTile];
  V values[kTile];
};

// Scatters entries to the range of their digit and tile, in order. If `id` is null, ids are the rows of the entries.
template <class I, class V>
__global__ void __launch_bounds__(kThreads, 4)
deal_by_digit(const I* key, const I* id, const V* data, const i64* indptr, i64 rows, i64 entries, int shift, int digits,
              const u32* start, I* out_key, I* out_id, V* out_data) {
  __shared__ Stage<I, V> stage;
  __shared__ u16 digit_at[kTile];
  __shared__ u32 shift_of[kDigits];  // for each digit, position in the result minus position in the tile
  __shared__ i64 row_of_end[2];
  const Digit digit = {shift, digits};
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int d = lane; d < digits; d += 32) stage.of_warp[warp][d] = 0;
  const i64 base = i64(blockIdx.x) * kTile;
  const int size = int(base + kTile < entries ? kTile : entries - base);
  if (!id && threadIdx.x < 2) row_of_end[threadIdx.x] = row_of(indptr, 0, rows - 1, threadIdx.x ? base + size - 1 : base);
  __syncwarp();
  const int first = warp * 32 * kItems + lane;
  I keys[kItems];
  // The digit, and above it the rank: first among the warp's entries of the same digit, then in the tile.
  u32 place[kItems];
#pragma unroll
  for (int item = 0; item < kItems; ++item) keys[item] = first + 32 * item < size ? key[base + first + 32 * item] : I(0);
#pragma unroll
  for (int item = 0; item < kItems; ++item) {
    const bool inside = first + 32 * item < size;
    const int d = digit.of(keys[item]);
    const u32 same = __match_any_sync(~0u, inside ? d : -1);
    const u16 before = stage.of_warp[warp][d];
    place[item] = u32(before + __popc(same & ((1u << lane) - 1))) << kDigitBits | u32(d);
    __syncwarp();
    if (inside && __ffs(same) - 1 == lane) stage.of_warp[warp][d] = before + __popc(same);
    __syncwarp();
  }
  __syncthreads();
  // Each thread has consecutive digits: the number of the tile's entries before each digit, then before each warp.
  constexpr int kEach = kDigits / kThreads;
  u32 of_digit[kEach], mine = 0;
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    const int d = threadIdx.x * kEach + e;
    of_digit[e] = 0;
    for (int w = 0; d < digits && w < kWarps; ++w) of_digit[e] += stage.of_warp[w][d];
    mine += of_digit[e];
  }
  u32 before = sum_before(mine);
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    const int d = threadIdx.x * kEach + e;
    if (d >= digits) break;
    shift_of[d] = start[i64(d) * gridDim.x + blockIdx.x] - before;
    for (int w = 0; w < kWarps; ++w) {
      const u16 count = stage.of_warp[w][d];
      stage.of_warp[w][d] = u16(before);
      before += count;
    }
  }
  __syncthreads();
#pragma unroll
  for (int item = 0; item < kItems; ++item)
    place[item] += u32(stage.of_warp[warp][place[item] & (kDigits - 1)]) << kDigitBits;
  __syncthreads();
  // From here on the stage holds the data to scatter: ids, then keys, then values.
#pragma unroll
  for (int item = 0; item < kItems; ++item) {
    const int at = first + 32 * item;
    if (at >= size) continue;
    digit_at[place[item] >> kDigitBits] = u16(place[item] & (kDigits - 1));
    stage.ids[place[item] >> kDigitBits] = id ? id[base + at] : I(row_of(indptr, row_of_end[0], row_of_end[1], base + at));
  }
  __syncthreads();
  for (int at = threadIdx.x; at < size; at += kThreads) out_id[u32(at + shift_of[digit_at[at]])] = stage.ids[at];
  __syncthreads();
#pragma unroll
  for (int item = 0; item < kItems; ++item)
    if (first + 32 * item < size) stage.ids[place[item] >> kDigitBits] = key[base + first + 32 * item];
  __syncthreads();
  for (int at = threadIdx.x; at < size; at += kThreads) out_key[u32(at + shift_of[digit_at[at]])] = stage.ids[at];
  if (data) {
    __syncthreads();
#pragma unroll
    for (int item = 0; item < kItems; ++item)
      if (first + 32 * item < size) stage.values[place[item] >> kDigitBits] = data[base + first + 32 * item];
    __syncthreads();
    for (int at = threadIdx.x; at < size; at += kThreads) out_data[u32(at + shift_of[digit_at[at]])] = stage.values[at];
  }
}

// begin[c] = number of sorted keys less than c, for c in 0..below.
template <class I>
__global__ void __launch_bounds__(kThreads) find_begins(const I* key, i64 entries, i64 below, i64* begin) {
  const i64 c = i64(blockIdx.x) * kThreads + threadIdx.x;
  if (c <= below) begin[c] = lower_bound(key, i64(0), entries, c);
}

}  // namespace hpgraph
