// Bitmasks on the GPU: lists of vertices and flags to bits and back.
//
// Words are little-endian, so that 32-bit and 64-bit views show the same bits in the same order. Compiles with NVRTC
// alone: no header is included.

namespace hpgraph {

using i64 = long long;
using u32 = unsigned int;
using u64 = unsigned long long;

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

__device__ __forceinline__ i64 global_thread() { return (i64)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ __forceinline__ i64 global_threads() { return (i64)gridDim.x * blockDim.x; }

// Tests the bit first: one that is already set costs a load, not an atomic operation.
template <class I>
__global__ void set_bits(const I* ids, i64 entries, u32* words) {
  for (i64 p = global_thread(); p < entries; p += global_threads()) {
    const I id = ids[p];
    const u32 bit = 1u << (id & 31);
    if (!(words[id >> 5] & bit)) atomicOr(&words[id >> 5], bit);
  }
}

// One word from the 32 flags of a warp; words past the flags become 0.
__global__ void pack_flags(const bool* flags, i64 n, u32* words, i64 count) {
  for (i64 v = global_thread(); v / 32 < count; v += global_threads()) {
    const u32 word = __ballot_sync(~0u, v < n && flags[v]);
    if (v % 32 == 0) words[v / 32] = word;
  }
}

// The same for the rows without entries.
__global__ void pack_empty_rows(const i64* indptr, i64 rows, u32* words, i64 count) {
  for (i64 v = global_thread(); v / 32 < count; v += global_threads()) {
    const u32 word = __ballot_sync(~0u, v < rows && indptr[v] == indptr[v + 1]);
    if (v % 32 == 0) words[v / 32] = word;
  }
}

// Bits set in each block's words, one word a thread.
__global__ void count_bits(const u64* words, i64 count, i64* block_count) {
  __shared__ u32 total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  const i64 w = global_thread();
  u32 bits = w < count ? __popcll(words[w]) : 0;
  for (int offset = 16; offset; offset /= 2) bits += __shfl_down_sync(~0u, bits, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(&total, bits);
  __syncthreads();
  if (threadIdx.x == 0) block_count[blockIdx.x] = total;
}

// The positions of the set bits, ascending; block_start: the start of each block's positions.
template <class I>
__global__ void list_bits(const u64* words, i64 count, const i64* block_start, I* ids) {
  __shared__ u32 of_warp[kWarps];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const i64 w = global_thread();
  u64 word = w < count ? words[w] : 0;
  const u32 own = __popcll(word);
  u32 through = own;
  for (int offset = 1; offset < 32; offset *= 2) {
    const u32 before = __shfl_up_sync(~0u, through, offset);
    if (lane >= offset) through += before;
  }
  if (lane == 31) of_warp[warp] = through;
  __syncthreads();
  i64 slot = block_start[blockIdx.x] + through - own;
  for (int before = 0; before < warp; ++before) slot += of_warp[before];
  for (; word; word &= word - 1) ids[slot++] = (I)(w * 64 + __ffsll(word) - 1);
}

}  // namespace hpgraph
