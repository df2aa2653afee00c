// How many rows have which length.

namespace hpgraph {

using i64 = long long;
using u32 = unsigned int;

constexpr u32 ALL = ~0u;
// Lengths that most rows have are counted in shared memory.
constexpr int SHARED = 256;

// Rows of each length below `few` in `counts`; the lengths of the others, in any order, in `longer`, and how many those
// are in counts[few].
__global__ void count_lengths(const i64* indptr, i64 rows, i64 few, i64* counts, i64* longer) {
    __shared__ u32 here[SHARED];
    for (int length = threadIdx.x; length < SHARED; length += blockDim.x) here[length] = 0;
    __syncthreads();
    const i64 step = (i64)gridDim.x * blockDim.x;
    for (i64 v = (i64)blockIdx.x * blockDim.x + threadIdx.x; v - threadIdx.x % 32 < rows; v += step) {
        const i64 length = v < rows ? indptr[v + 1] - indptr[v] : -1;
        // Of the lanes whose rows are as long, one counts for all.
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
