// Attraction along sampled arcs and repulsion from sampled vertices: one epoch of hpgraph.kernels.layout.cpu_sampled.
#pragma once
#include "philox.cuh"
#include "splitmix.cuh"

namespace hpgraph {

constexpr int MOVE_THREADS = 128;

__device__ __forceinline__ float bounded(float move) { return fminf(fmaxf(move, -FARTHEST), FARTHEST); }

// One thread per vertex: its own position is updated after each arc; other positions are those of the last epoch.
template <class Index>
__global__ void __launch_bounds__(MOVE_THREADS)
move_sampled(const i64* __restrict__ indptr, const Index* __restrict__ indices, const float* __restrict__ chances,
             const float2* __restrict__ here, float2* __restrict__ there, i64 n, i64 epoch, float step, float a,
             float b, float repulsion, i64 negatives, u64 seed) {
    const i64 v = (i64)blockIdx.x * MOVE_THREADS + threadIdx.x;
    if (v >= n) return;
    const float now = (float)epoch, later = (float)(epoch + 1), pull = -2 * a * b, push = 2 * repulsion * b;
    float2 place = here[v];
    u64 key = random_bits(seed, (u64)v, (u64)epoch);
    const auto move = [&](const float2 other, auto factor_of) {
        const float dx = place.x - other.x, dy = place.y - other.y, square = dx * dx + dy * dy;
        if (!(square > 0)) return;
        const float factor = factor_of(square, __powf(square, b));
        place.x += step * bounded(factor * dx), place.y += step * bounded(factor * dy);
    };
    for (i64 p = indptr[v]; p < indptr[v + 1]; ++p) {
        const float chance = chances[p];
        if (!(floorf(later * chance) > floorf(now * chance))) continue;
        const float2 other = here[indices[p]];
        for (int end = 0; end < 2; ++end)
            move(other, [&](float square, float power) { return pull * power / (square * (1 + a * power)); });
        for (i64 k = 0; k < negatives; ++k) {
            key += GOLDEN;
            const i64 u = (i64)__umul64hi(mixed(key), (u64)n);
            if (u != v)
                move(here[u], [&](float square, float power) { return push / ((NEAREST + square) * (1 + a * power)); });
        }
    }
    there[v] = place;
}

}  // namespace hpgraph
