// Strong components by rounds of coloring (Slota, Rajamanickam, Madduri, IPDPS'14) in one kernel, with grid barriers.
// Each round passes over all rows until nothing changes, one warp per row: for few vertices.
//
// I: int or long long, the type of ids.
#pragma once
#include "persistent.cuh"
#include "splitmix.cuh"

namespace hpgraph {

constexpr int COLOR_THREADS = 1024;

// Random in the upper half, so that even a long path takes few rounds; the vertex id in the lower half.
__device__ __forceinline__ i64 color_of(i64 v) { return (i64)(mixed((u64)v * GOLDEN) >> 33 << 32 | (u64)v); }

// `part`: no component has vertices in two parts; negative where the component is known. `changes`: three zeros.
// `label`: the smallest vertex of each vertex's component. The other arrays have an element for each vertex.
template <class I>
__global__ void __launch_bounds__(COLOR_THREADS, 1)
color_components(i64 n, const i64* __restrict__ indptr, const I* __restrict__ indices, i64* part, i64* color, i64* least,
                 unsigned char* reached, I* __restrict__ label, unsigned* arrived, unsigned* changes) {
    GridBarrier barrier(arrived);
    const int lane = lane_of_warp();
    const i64 warp = ((i64)blockIdx.x * COLOR_THREADS + threadIdx.x) / 32, warps = (i64)gridDim.x * (COLOR_THREADS / 32);
    int turn = 0;
    // Whether any thread of the grid has changed something since the last call. Three flags in rotation: the one
    // cleared here was read by all threads before the last barrier, and is set after the next.
    const auto any = [&](bool changed) {
        if (changed) __stcg(changes + turn, 1u);
        barrier.wait();
        const bool found = __ldcg(changes + turn);
        turn = (turn + 1) % 3;
        if (warp == 0 && lane == 0) __stcg(changes + (turn + 1) % 3, 0u);
        return found;
    };
    const auto each = [&](auto step) {
        for (i64 v = warp; v < n; v += warps)
            if (part[v] >= 0) step(v, part[v]);
    };
    bool is_left = true;
    while (is_left) {
        each([&](i64 v, i64) {
            if (lane == 0) color[v] = color_of(v), least[v] = n, reached[v] = 0;
        });
        barrier.wait();
        // The largest color of each vertex's ancestors in its part.
        for (bool changed = true; changed;) {
            changed = false;
            each([&](i64 v, i64 own) {
                const i64 mine = __ldcg(color + v);
                for (i64 at = indptr[v] + lane; at < indptr[v + 1]; at += 32) {
                    const i64 u = indices[at];
                    if (part[u] != own || __ldcg(color + u) >= mine) continue;
                    atomicMax((long long*)color + u, (long long)mine);
                    changed = true;
                }
            });
            changed = any(changed);
        }
        // A vertex of its own color is a root; its component is the vertices of that color that reach it.
        for (bool changed = true; changed;) {
            changed = false;
            each([&](i64 v, i64 own) {
                const i64 mine = color[v];
                bool reaches = mine == color_of(v);
                if (__ldcg(reached + v)) return;
                for (i64 at = indptr[v]; at < indptr[v + 1] && !reaches; at += 32) {
                    const i64 u = at + lane < indptr[v + 1] ? (i64)indices[at + lane] : v;
                    reaches = __any_sync(ALL, part[u] == own && color[u] == mine && __ldcg(reached + u));
                }
                if (!reaches) return;
                if (lane == 0) __stcg(reached + v, (unsigned char)1);
                changed = true;
            });
            changed = any(changed);
        }
        each([&](i64 v, i64) {
            if (lane == 0 && reached[v]) atomicMin((long long*)least + (color[v] & 0xFFFFFFFFll), (long long)v);
        });
        barrier.wait();
        is_left = false;
        each([&](i64 v, i64) {
            if (reached[v]) {
                if (lane == 0) label[v] = (I)__ldcg(least + (color[v] & 0xFFFFFFFFll)), part[v] = -1;
            } else {
                if (lane == 0) part[v] = color[v];
                is_left = true;
            }
        });
        is_left = any(is_left);
    }
}

}  // namespace hpgraph
