// Messages of a traversal in lanes that have waited until its end: every value of a property is written once, whole
// sectors at a time, by a kernel of its own.
#pragma once
#include "lane_sweep.cuh"

namespace hpgraph {

// Bits to elements of so many bytes, as many as fill a word of 32 bits: each is the lowest bit of its element.
template <int bytes>
__device__ u32 spread(u32 bits) {
    if constexpr (bytes == 1) return (bits & 15) * 0x00204081u & 0x01010101u;
    else if constexpr (bytes == 2) return ((bits & 3) | (bits & 3) << 15) & 0x00010001u;
    else return bits & 1;
}

// A property lane after lane, as words of 32 bits: `values` holds what an element is after the message of each history,
// and behind them what it was at the beginning. Who was reached otherwise has its value already. A warp takes 128
// vertices of 32 lanes at a time.
template <class Element, bool aligned>
__global__ void write_history(i64 n, i64 k, int words, const u32* reached, const u32* history, const i64* histories,
                              const Element* values, Element* property) {
    constexpr int BYTES = sizeof(Element), PARTS = BYTES == 8 ? 2 : 1, MANY = BYTES < 4 ? 4 / BYTES : 1;
    const i64 spans = (n + 127) / 128, halves = (k + 31) / 32;
    const i64 warp = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / 32, warps = (i64)gridDim.x * blockDim.x / 32;
    const int count = (int)*histories;
    u32 fill[PARTS], change[PARTS][HISTORIES];
#pragma unroll
    for (int part = 0; part < PARTS; ++part) {
        fill[part] = (u32)((u64)values[HISTORIES] >> 32 * part);
#pragma unroll
        for (int h = 0; h < HISTORIES; ++h) change[part][h] = (u32)((u64)values[h] >> 32 * part) ^ fill[part];
        // As often as elements stand in a word.
        fill[part] *= BYTES == 1 ? 0x01010101u : BYTES == 2 ? 0x00010001u : 1;
    }
    for (i64 unit = warp; unit < spans * halves; unit += warps) {
        const i64 half = unit % halves, lane = half * 32 + lane_of_warp();
        for (i64 tile = unit / halves * 4; tile < unit / halves * 4 + 4 && tile * 32 < n; ++tile) {
            const i64 v = tile * 32 + lane_of_warp(), at = v * 2 * words + half;
            u32 heard[HISTORIES], otherwise = v < n ? reached[at] : 0;
#pragma unroll
            for (int h = 0; h < HISTORIES; ++h) {
                heard[h] = v < n && h < count ? history[h * n * 2 * words + at] : 0;
                otherwise &= ~heard[h];
            }
            // From here on a thread has a lane, and a bit is a vertex.
#pragma unroll
            for (int h = 0; h < HISTORIES; ++h)
                if (h < count) heard[h] = transpose_bits(heard[h]);
            otherwise = __any_sync(ALL, otherwise) ? transpose_bits(otherwise) : 0;
            if (lane >= k || otherwise == ALL) continue;
            Element* const row = property + lane * n + tile * 32;
            const bool whole = aligned && otherwise == 0 && tile * 32 + 32 <= n;
#pragma unroll
            for (int first = 0; first < 32; first += 16 / BYTES) {
                u32 chunk[4];
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const int element = first + i / PARTS * MANY, part = i % PARTS;
                    chunk[i] = fill[part];
#pragma unroll
                    for (int h = 0; h < HISTORIES; ++h)
                        chunk[i] ^= spread<BYTES>(heard[h] >> element) * change[part][h];
                }
                if (whole) {
                    *(uint4*)(row + first) = uint4{chunk[0], chunk[1], chunk[2], chunk[3]};
                } else {
#pragma unroll
                    for (int i = 0; i < 16 / BYTES; ++i) {
                        const u64 words_of = (u64)chunk[i * BYTES / 4] | (u64)chunk[min(i * BYTES / 4 + 1, 3)] << 32;
                        if (!(otherwise >> (first + i) & 1) && tile * 32 + first + i < n)
                            row[first + i] = (Element)(words_of >> 8 * (i * BYTES % 4));
                    }
                }
            }
        }
    }
}

}  // namespace hpgraph
