// Messages of a traversal in lanes that have waited until its end: every value of a property is written once, side by side
// with its neighbours', by a kernel of its own.
#pragma once
#include "bit_matrix.cuh"
#include "lane_words.cuh"

namespace hpgraph {

// Threads of a block, and vertices it takes at a time: of each lane their values are one stretch of memory.
constexpr int HISTORY_THREADS = 256, HISTORY_VERTICES = 1024;

// Bits to elements of so many bytes, as many as fill a word of 32 bits: each is the lowest bit of its element.
template <int bytes>
__device__ u32 spread(u32 bits) {
    if constexpr (bytes == 1) return (bits & 15) * 0x00204081u & 0x01010101u;
    else if constexpr (bytes == 2) return ((bits & 3) | (bits & 3) << 15) & 0x00010001u;
    else return bits & 1;
}

// A property lane after lane: `values` holds what an element is after the message of each history, and behind them what
// it was at the beginning. Who was reached otherwise has its value already. `aligned`: every lane begins at a multiple
// of 16 bytes.
template <class Element, bool aligned>
__global__ void __launch_bounds__(HISTORY_THREADS)
write_history(i64 n, i64 k, int words, const u32* reached, const u32* history, const i64* histories,
              const Element* values, Element* property) {
    constexpr int BYTES = sizeof(Element), PARTS = BYTES == 8 ? 2 : 1, MANY = BYTES < 4 ? 4 / BYTES : 1;
    constexpr int PIECE = 16 / BYTES, TILES = HISTORY_VERTICES / 32;
    // By lane and 32 vertices; a column more, so that neither way do threads meet in a bank.
    __shared__ u32 masks[HISTORIES + 1][32][TILES + 1];
    const int count = (int)*histories, warp = threadIdx.x / 32;
    u32 fill[PARTS], change[PARTS][HISTORIES];
#pragma unroll
    for (int part = 0; part < PARTS; ++part) {
        fill[part] = (u32)((u64)values[HISTORIES] >> 32 * part);
#pragma unroll
        for (int h = 0; h < HISTORIES; ++h) change[part][h] = (u32)((u64)values[h] >> 32 * part) ^ fill[part];
        // As often as elements stand in a word.
        fill[part] *= BYTES == 1 ? 0x01010101u : BYTES == 2 ? 0x00010001u : 1;
    }
    const i64 spans = (n + HISTORY_VERTICES - 1) / HISTORY_VERTICES, halves = (k + 31) / 32;
    for (i64 unit = blockIdx.x; unit < spans * halves; unit += gridDim.x) {
        const i64 half = unit % halves, start = unit / halves * HISTORY_VERTICES;
        for (int tile = warp; tile < TILES; tile += HISTORY_THREADS / 32) {
            const i64 v = start + tile * 32 + lane_of_warp(), at = v * 2 * words + half;
            u32 otherwise = v < n ? reached[at] : ALL;
#pragma unroll
            for (int h = 0; h < HISTORIES; ++h) {
                const u32 heard = v < n && h < count ? history[h * n * 2 * words + at] : 0;
                otherwise &= ~heard;
                masks[h][lane_of_warp()][tile] = transpose_bits(heard);
            }
            masks[HISTORIES][lane_of_warp()][tile] = transpose_bits(otherwise);
        }
        __syncthreads();
        for (int row = warp; row < 32 && half * 32 + row < k; row += HISTORY_THREADS / 32) {
            Element* const where = property + (half * 32 + row) * n + start;
            for (int first = lane_of_warp() * PIECE; first < HISTORY_VERTICES; first += 32 * PIECE) {
                const int tile = first / 32, bit = first % 32;
                const u32 otherwise = masks[HISTORIES][row][tile] >> bit & ((1u << PIECE) - 1);
                u32 chunk[4], heard[HISTORIES];
#pragma unroll
                for (int h = 0; h < HISTORIES; ++h) heard[h] = masks[h][row][tile] >> bit;
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    chunk[i] = fill[i % PARTS];
#pragma unroll
                    for (int h = 0; h < HISTORIES; ++h)
                        chunk[i] ^= spread<BYTES>(heard[h] >> i / PARTS * MANY) * change[i % PARTS][h];
                }
                if (aligned && !otherwise) {
                    *(uint4*)(where + first) = uint4{chunk[0], chunk[1], chunk[2], chunk[3]};
                } else {
#pragma unroll
                    for (int i = 0; i < PIECE; ++i) {
                        const u32 low = chunk[i * BYTES / 4], high = PARTS == 2 ? chunk[2 * i + 1] : 0;
                        if (!(otherwise >> i & 1))
                            where[first + i] = (Element)(((u64)high << 32 | low) >> 8 * (i * BYTES % 4));
                    }
                }
            }
        }
        __syncthreads();
    }
}

}  // namespace hpgraph
