// Deferred messages of a multi-source traversal: at the end a separate kernel writes every value of a property once,
// coalesced.
#pragma once
#include "warp.cuh"
#include "source_words.cuh"

namespace hpgraph {

// Threads of a block, and vertices it takes at a time with all of their words; the values of each source are
// contiguous.
constexpr int HISTORY_THREADS = 256;
template <int W>
constexpr int HISTORY_VERTICES = 1024 / W;

// Spread bits over the elements of a 32-bit word: each becomes the lowest bit of its element.
template <int bytes>
__device__ u32 spread(u32 bits) {
    if constexpr (bytes == 1) return (bits & 15) * 0x00204081u & 0x01010101u;
    else if constexpr (bytes == 2) return ((bits & 3) | (bits & 3) << 15) & 0x00010001u;
    else return bits & 1;
}

// Masks by source and 32 vertices: one for each history, and one for vertices that already have their value or lie past
// the last vertex. One column of padding avoids bank conflicts in both directions.
template <int W>
using HistoryMasks = u32[HISTORIES + 1][64 * W][HISTORY_VERTICES<W> / 32 + 1];

// The masks of 32 vertices, one per lane of the warp.
template <int W>
__device__ void load_tile(i64 v, i64 n, int count, const u64* reached, const u64* history, int tile,
                          HistoryMasks<W>& masks) {
    Bits<W> otherwise{};
    if (v < n) otherwise = load_bits<W>(reached, v);
    const auto keep = [&](const Bits<W>& bits, int h) {
#pragma unroll
        for (int half = 0; half < 2 * W; ++half)
            masks[h][32 * half + lane_of_warp()][tile] = transpose_bits((u32)(bits.word[half / 2] >> 32 * (half & 1)));
    };
#pragma unroll
    for (int h = 0; h < HISTORIES; ++h) {
        Bits<W> received{};
        if (v < n && h < count) received = load_bits<W>(history + h * n * W, v);
        otherwise = otherwise.without(received);
        keep(received, h);
    }
#pragma unroll
    for (int w = 0; w < W; ++w) otherwise.word[w] |= v < n ? 0 : ~0ull;
    keep(otherwise, HISTORIES);
}

// Write a property, of shape (k, n): `values` holds an element's value after the message of each history, then the
// initial value. Elements reached outside the histories already have their value. `aligned`: every row begins at a
// multiple of 16 bytes.
template <class Element, bool aligned, int W>
__global__ void __launch_bounds__(HISTORY_THREADS)
write_history(i64 n, i64 k, const u64* reached, const u64* history, const i64* histories, const Element* values,
              Element* property) {
    constexpr int BYTES = sizeof(Element), PARTS = BYTES == 8 ? 2 : 1, MANY = BYTES < 4 ? 4 / BYTES : 1;
    constexpr int PIECE = 16 / BYTES, TILES = HISTORY_VERTICES<W> / 32;
    __shared__ HistoryMasks<W> masks;
    const int count = (int)*histories, warp = threadIdx.x / 32;
    u32 fill[PARTS], change[PARTS][HISTORIES];
#pragma unroll
    for (int part = 0; part < PARTS; ++part) {
        fill[part] = (u32)((u64)values[HISTORIES] >> 32 * part);
#pragma unroll
        for (int h = 0; h < HISTORIES; ++h) change[part][h] = (u32)((u64)values[h] >> 32 * part) ^ fill[part];
        // Replicated for each element of a word.
        fill[part] *= BYTES == 1 ? 0x01010101u : BYTES == 2 ? 0x00010001u : 1;
    }
    const i64 spans = (n + HISTORY_VERTICES<W> - 1) / HISTORY_VERTICES<W>;
    for (i64 span = blockIdx.x; span < spans; span += gridDim.x) {
        const i64 start = span * HISTORY_VERTICES<W>;
        for (int tile = warp; tile < TILES; tile += HISTORY_THREADS / 32)
            load_tile<W>(start + tile * 32 + lane_of_warp(), n, count, reached, history, tile, masks);
        __syncthreads();
        for (int row = warp; row < 64 * W && row < k; row += HISTORY_THREADS / 32) {
            Element* const where = property + row * n + start;
            for (int first = lane_of_warp() * PIECE; first < HISTORY_VERTICES<W>; first += 32 * PIECE) {
                const int tile = first / 32, bit = first % 32;
                const u32 otherwise = masks[HISTORIES][row][tile] >> bit & ((1u << PIECE) - 1);
                u32 chunk[4], received[HISTORIES];
#pragma unroll
                for (int h = 0; h < HISTORIES; ++h) received[h] = masks[h][row][tile] >> bit;
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    chunk[i] = fill[i % PARTS];
#pragma unroll
                    for (int h = 0; h < HISTORIES; ++h)
                        chunk[i] ^= spread<BYTES>(received[h] >> i / PARTS * MANY) * change[i % PARTS][h];
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
