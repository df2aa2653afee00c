// The encoding "gaps" of pages on the GPU; cpu_gaps.py describes it.
#pragma once
#include "warp.cuh"

namespace hpgraph {

const int GAPS_BLOCK = 32;   // ids packed at one width: a warp's lanes
const int GAPS_GROUP = 512;  // ids from one entry of the directory to the next

__device__ inline i64 gaps_words_begin(i64 arcs) {
    i64 groups = (arcs + GAPS_GROUP - 1) / GAPS_GROUP, blocks = (arcs + GAPS_BLOCK - 1) / GAPS_BLOCK;
    return 8 * groups + ((2 * blocks + 7) >> 3 << 3);
}

// The bits at an offset in the warp's words, one word per lane; each lane has its own offset.
__device__ inline u32 gaps_bits(u32 word, int place) {
    u32 low = __shfl_sync(ALL, word, place >> 5), high = __shfl_sync(ALL, word, (place >> 5) + 1 & 31);
    return __funnelshift_r(low, high, place & 31);
}

__device__ inline u32 gaps_low(int width) { return (1u << width) - 1; }

// One warp decodes the ids of one group, and calls ``use(position in the page, id)``, for 32 consecutive ones at a
// time. `stored`: the page's bytes, aligned to 8; `bytes`: their number; `mask`: 2^(bits of an id) - 1. Nothing is read
// beyond the bytes, whatever their contents. False if they are not a page of this number of ids.
template <class Use>
__device__ bool decode_group(const unsigned char* stored, i64 bytes, i64 arcs, i64 group, u32 mask, Use use) {
    int lane = lane_of_warp();
    i64 groups = (arcs + GAPS_GROUP - 1) / GAPS_GROUP, begin = gaps_words_begin(arcs);
    i64 words = (bytes - begin - 8) >> 2;
    if (words < 0) return false;
    const u32* data = reinterpret_cast<const u32*>(stored + begin);
    uint2 entry = reinterpret_cast<const uint2*>(stored)[group];
    i64 first = group * GAPS_GROUP;
    int blocks = (int)((min(arcs - first, (i64)GAPS_GROUP) + GAPS_BLOCK - 1) / GAPS_BLOCK);
    u32 header = 0;
    if (lane < blocks)
        header = reinterpret_cast<const unsigned short*>(stored + 8 * groups)[first / GAPS_BLOCK + lane];
    int beyond = header >> 6 & 31, upper = header >> 11;
    int length = (header & 31) + (beyond ? 1 + (beyond * upper + 31 >> 5) : 0);
    // No valid block has more words than a warp has lanes.
    int start = warp_prefix_sum(length), longest = length;
    for (int d = 1; d < 32; d *= 2) longest = max(longest, __shfl_xor_sync(ALL, longest, d));
    i64 end = (i64)entry.x + __shfl_sync(ALL, start, 31);
    if (longest > 32 || end > words) return false;
    start -= length;
    u32 id = entry.y;
    for (int block = 0; block < blocks; ++block) {
        u32 held = __shfl_sync(ALL, header, block);
        int width = held & 31, exceptions = held >> 6 & 31, more = held >> 11;
        int many = __shfl_sync(ALL, length, block);
        i64 at = (i64)entry.x + __shfl_sync(ALL, start, block);
        u32 word = lane < many ? data[at + lane] : 0;
        u32 gap = gaps_bits(word, lane * width) & gaps_low(width);
        if (exceptions) {
            u32 which = __shfl_sync(ALL, word, width);
            int rank = __popc(which & lanes_below());
            u32 high = gaps_bits(word, ((width + 1) * 32 + rank * more) & 1023) & gaps_low(more);
            if (which >> lane & 1) gap |= high << width;
        }
        if (held & 32) gap = gap >> 1 ^ 0u - (gap & 1);
        id += warp_prefix_sum(gap + 1);
        i64 position = first + block * GAPS_BLOCK + lane;
        if (position < arcs) use(position, id & mask);
        id = __shfl_sync(ALL, id, 31);
    }
    return true;
}

// Decodes consecutive pages, a group a warp: page p has the ids ``first_arc[p]`` to ``first_arc[p + 1]`` and the bytes
// ``offset[p]`` to ``offset[p + 1]``, both relative to the first page's.
template <class Index>
__global__ void decode_pages(
    const unsigned char* stored, const i64* offset, const i64* first_arc, i64 pages, i64 columns, u32 mask, Index* out,
    int* damaged
) {
    i64 warps = (i64)gridDim.y * (blockDim.x >> 5);
    for (i64 page = blockIdx.x; page < pages; page += gridDim.x) {
        i64 arcs = first_arc[page + 1] - first_arc[page], begin = offset[page] - offset[0];
        Index* const ids = out + (first_arc[page] - first_arc[0]);
        const auto write = [&](i64 position, u32 id) {
            const bool wrong = id >= columns;
            if (wrong) *damaged = 1;
            ids[position] = wrong ? 0 : (Index)id;
        };
        i64 group = (i64)blockIdx.y * (blockDim.x >> 5) + (threadIdx.x >> 5);
        for (; group * GAPS_GROUP < arcs; group += warps)
            if (!decode_group(stored + begin, offset[page + 1] - offset[page], arcs, group, mask, write)) *damaged = 1;
    }
}

}  // namespace hpgraph
