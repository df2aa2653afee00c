// One pass of a stable sort of entries by some bits of their keys, least significant digit first.
//
// A block takes a tile of entries, and each of its warps a stretch of the tile. count_digits tells how often each digit
// comes in each tile; the caller scans these counts, digit by digit; deal_by_digit then knows where each tile's entries of a
// digit begin, and numbers them in their order. So the result repeats bit for bit.
//
// I: int or long long, the type of keys and ids. V: an unsigned integer as wide as a value; values are only moved. Where
// there are none their pointer is null. Compiles with NVRTC alone: no header is included.

namespace hpgraph {

using i64 = long long;
using u16 = unsigned short;
using u32 = unsigned int;

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kItems = 16;  // entries of a tile for each thread
constexpr int kTile = kThreads * kItems;
constexpr int kDigits = 1024;

struct Digit {
  int shift, digits;
  template <class I>
  __device__ int of(I key) const { return int(key >> shift) & (digits - 1); }
};

// count[digit * tiles + tile] = how many entries of the tile have the digit.
template <class I>
__global__ void count_digits(const I* key, i64 entries, int shift, int digits, i64* count) {
  __shared__ u32 of_tile[kDigits];
  const Digit digit = {shift, digits};
  for (int d = threadIdx.x; d < digits; d += kThreads) of_tile[d] = 0;
  __syncthreads();
  const i64 begin = i64(blockIdx.x) * kTile, end = begin + kTile < entries ? begin + kTile : entries;
  for (i64 p = begin + threadIdx.x; p < end; p += kThreads) atomicAdd(&of_tile[digit.of(key[p])], 1u);
  __syncthreads();
  for (int d = threadIdx.x; d < digits; d += kThreads) count[i64(d) * gridDim.x + blockIdx.x] = of_tile[d];
}

// Entries to where those of their tile and digit begin, in their order. A null `out_key` stands for keys not wanted.
template <class I, class V>
__global__ void deal_by_digit(const I* key, const I* id, const V* data, i64 entries, int shift, int digits,
                              const i64* start, I* out_key, I* out_id, V* out_data) {
  __shared__ u16 of_warp[kWarps][kDigits];
  __shared__ i64 begin[kDigits];
  const Digit digit = {shift, digits};
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int d = lane; d < digits; d += 32) of_warp[warp][d] = 0;
  __syncwarp();
  const i64 first = i64(blockIdx.x) * kTile + warp * 32 * kItems + lane;
  I keys[kItems];
  u16 order[kItems];  // among the warp's entries of the same digit
#pragma unroll
  for (int item = 0; item < kItems; ++item) keys[item] = first + 32 * item < entries ? key[first + 32 * item] : I(0);
#pragma unroll
  for (int item = 0; item < kItems; ++item) {
    const bool inside = first + 32 * item < entries;
    const int d = digit.of(keys[item]);
    const u32 same = __match_any_sync(~0u, inside ? d : -1);
    const u16 before = of_warp[warp][d];
    order[item] = before + __popc(same & ((1u << lane) - 1));
    __syncwarp();
    if (inside && __ffs(same) - 1 == lane) of_warp[warp][d] = before + __popc(same);
    __syncwarp();
  }
  __syncthreads();
  for (int d = threadIdx.x; d < digits; d += kThreads) {
    u16 sum = 0;
    for (int w = 0; w < kWarps; ++w) {
      const u16 count = of_warp[w][d];
      of_warp[w][d] = sum;
      sum += count;
    }
    begin[d] = start[i64(d) * gridDim.x + blockIdx.x];
  }
  __syncthreads();
#pragma unroll
  for (int item = 0; item < kItems; ++item) {
    const i64 p = first + 32 * item;
    if (p >= entries) continue;
    const int d = digit.of(keys[item]);
    const i64 to = begin[d] + of_warp[warp][d] + order[item];
    if (out_key) out_key[to] = keys[item];
    out_id[to] = id[p];
    if (data) out_data[to] = data[p];
  }
}

}  // namespace hpgraph
