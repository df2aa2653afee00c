// Histogram of row lengths.

namespace hpgraph {

using i64 = long long;
using u32 = unsigned int;

constexpr u32 ALL = ~0u;
// The most frequent lengths, below SHARED, are counted in shared memory.
constexpr int SHARED = 256;

// counts[length]: number of rows of each length below `few`. counts[few]: number of the other rows, whose lengths are
// appended to `longer` in any order.
__global__ void count_lengths(const i64* indptr, i64 rows, i64 few, i64* counts, i64* longer) {
    __shared__ u32 here[SHARED];
    for (int length = threadIdx.x; length < SHARED; length += blockDim.x) here[length] = 0;
    __syncthreads();
    const i64 step = (i64)gridDim.x * blockDim.x;
    for (i64 v = (i64)blockIdx.x * blockDim.x + threadIdx.x; v - threadIdx.x % 32 < rows; v += step) {
        const i64 length = v < rows ? indptr[v + 1] - indptr[v] : -1;
        // Warp-aggregated: one lane counts for all lanes of equal length.
        const u32 alike = __match_any_sync(ALL, length);
        if (length >= few) longer[atomicAdd((unsigned long long*)counts + few, 1ull)] = length;
        if (length < 0 || length >= few || threadIdx.x % 32 != __ffs(alike) - 1) continue;
        if (length < SHARED) atomicAdd(here + length, __popc(alike));
        else atomicAdd((unsigned long long*)counts + length, (unsigned long long)__popc(alike));
    }
    __syncthreads();
    for (int length = threadIdx.x; length < SHARED; length += blockDim.x)
        if (here[length]) atomicAdd((unsigned long long*)counts + length, (unsigned long long)here[length]);
}

}  // namespace hpgraph
