// Messages of a traversal in lanes that have waited until its end: every value of a property is written once, whole
// sectors at a time, by a kernel of its own.
#pragma once
#include "lane_sweep.cuh"

namespace hpgraph {

// A property lane after lane: `values` holds what it is after the message of each history, and behind them what it was
// at the beginning. Who was reached otherwise has its value already. By whole warps, 32 vertices and 32 lanes at a time.
template <class Element, class Chunk>
__global__ void write_history(i64 n, i64 k, int words, const u32* reached, const u32* history, const i64* histories,
                              const Element* values, Element* property) {
    constexpr int MANY = sizeof(Chunk) / sizeof(Element);
    const i64 tiles = (n + 31) / 32, halves = (k + 31) / 32;
    const i64 warp = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / 32, warps = (i64)gridDim.x * blockDim.x / 32;
    const int count = (int)*histories;
    Element value[HISTORIES + 1];
#pragma unroll
    for (int h = 0; h <= HISTORIES; ++h) value[h] = values[h];
    for (i64 tile = warp; tile < tiles; tile += warps)
        for (i64 half = 0; half < halves; ++half) {
            const i64 v = tile * 32 + lane_of_warp(), at = v * 2 * words + half;
            const u32 known = v < n ? reached[at] : 0;
            u32 heard[HISTORIES], otherwise = known;
#pragma unroll
            for (int h = 0; h < HISTORIES; ++h) {
                heard[h] = v < n && h < count ? history[h * n * 2 * words + at] : 0;
                otherwise &= ~heard[h];
            }
            // From here on a thread has a lane, and a bit is a vertex.
#pragma unroll
            for (int h = 0; h < HISTORIES; ++h) heard[h] = transpose_bits(heard[h]);
            otherwise = transpose_bits(otherwise);
            const i64 lane = half * 32 + lane_of_warp();
            if (lane >= k || otherwise == ALL) continue;
            Element* const row = property + lane * n + tile * 32;
            const bool whole = otherwise == 0 && tile * 32 + 32 <= n;
#pragma unroll
            for (int first = 0; first < 32; first += MANY) {
                __align__(16) Element chunk[MANY];
#pragma unroll
                for (int i = 0; i < MANY; ++i) {
                    chunk[i] = value[HISTORIES];
#pragma unroll
                    for (int h = 0; h < HISTORIES; ++h)
                        if (heard[h] & 1u << (first + i)) chunk[i] = value[h];
                }
                if (whole) {
                    *(Chunk*)(row + first) = *(const Chunk*)chunk;
                } else {
#pragma unroll
                    for (int i = 0; i < MANY; ++i)
                        if (!(otherwise & 1u << (first + i)) && tile * 32 + first + i < n) row[first + i] = chunk[i];
                }
            }
        }
}

}  // namespace hpgraph
