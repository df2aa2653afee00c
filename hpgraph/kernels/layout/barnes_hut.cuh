// Barnes and Hut's forces: the tree of hpgraph.kernels.layout.cpu. A node's sums are those of its children, added up from
// the leaves to the root in an order that the tree alone decides.
#pragma once
#include "warp.cuh"

namespace hpgraph {

constexpr int POINT_THREADS = 128;

// The bits of a number below 2^31, interleaved with zeros.
__device__ inline i64 apart(i64 number) {
    number = (number | number << 16) & 0x0000FFFF0000FFFFll;
    number = (number | number << 8) & 0x00FF00FF00FF00FFll;
    number = (number | number << 4) & 0x0F0F0F0F0F0F0F0Fll;
    number = (number | number << 2) & 0x3333333333333333ll;
    return (number | number << 1) & 0x5555555555555555ll;
}

// The side of the square that holds all points, between their least and largest coordinates.
__device__ __forceinline__ double side_of(const double* low, const double* high) {
    return fmax(fmax(high[0] - low[0], high[1] - low[1]), 2.2250738585072014e-308);
}

// The Morton codes of points' cells.
__global__ void __launch_bounds__(POINT_THREADS)
find_codes(const double* __restrict__ points, const double* __restrict__ low, const double* __restrict__ high, i64 n,
           i64* codes) {
    const i64 i = (i64)blockIdx.x * POINT_THREADS + threadIdx.x;
    if (i >= n) return;
    constexpr double MAX_CELL = (1ll << SIDE_BITS) - 1;
    const double inverse = 1.0 / side_of(low, high);
    const auto cell = [&](int axis) { return (i64)fmin((points[2 * i + axis] - low[axis]) * inverse * MAX_CELL, MAX_CELL); };
    codes[i] = apart(cell(0)) | apart(cell(1)) << 1;
}

// Points, masses and codes in Morton order.
__global__ void __launch_bounds__(POINT_THREADS)
put_in_order(const i64* __restrict__ order, const double2* __restrict__ points, const double* __restrict__ mass,
             const i64* __restrict__ codes, i64 n, double2* __restrict__ ordered, double* __restrict__ weights,
             i64* __restrict__ sorted) {
    const i64 i = (i64)blockIdx.x * POINT_THREADS + threadIdx.x;
    if (i >= n) return;
    const i64 from = order[i];
    ordered[i] = points[from], weights[i] = mass[from], sorted[i] = codes[from];
}

// Length of the common prefix of two codes; equal codes are extended by their indices.
__device__ __forceinline__ int shared_bits(const i64* __restrict__ codes, i64 n, i64 i, i64 j) {
    if (j < 0 || j >= n) return -1;
    const i64 x = codes[i] ^ codes[j];
    return x ? __clzll(x) : 64 + __clzll(i ^ j);
}

// Children of an inner node are inner nodes, or ~leaf. `parent` has inner nodes, the root first, then leaves.
__global__ void __launch_bounds__(POINT_THREADS)
build_tree(const i64* __restrict__ codes, i64 n, const double* __restrict__ lowest, const double* __restrict__ highest,
           i64* __restrict__ left, i64* __restrict__ right, i64* __restrict__ first, i64* __restrict__ last,
           double* __restrict__ sides, i64* __restrict__ parent) {
    const i64 i = (i64)blockIdx.x * POINT_THREADS + threadIdx.x;
    if (i >= n - 1) return;
    const i64 step = shared_bits(codes, n, i, i + 1) > shared_bits(codes, n, i, i - 1) ? 1 : -1;
    const int least = shared_bits(codes, n, i, i - step);
    i64 most = 2;
    while (shared_bits(codes, n, i, i + most * step) > least) most *= 2;
    i64 length = 0;
    for (i64 stride = most / 2; stride; stride /= 2)
        if (shared_bits(codes, n, i, i + (length + stride) * step) > least) length += stride;
    const i64 end = i + length * step;
    const int shared = shared_bits(codes, n, i, end);
    i64 split = 0;
    for (i64 stride = length; stride > 1;) {
        stride = (stride + 1) / 2;
        if (shared_bits(codes, n, i, i + (split + stride) * step) > shared) split += stride;
    }
    const i64 at = i + split * step + (step < 0 ? -1 : 0), low = i < end ? i : end, high = i < end ? end : i;
    left[i] = low == at ? ~at : at;
    right[i] = high == at + 1 ? ~(at + 1) : at + 1;
    parent[low == at ? n - 1 + at : at] = i;
    parent[high == at + 1 ? n + at : at + 1] = i;
    if (i == 0) parent[0] = -1;
    first[i] = low, last[i] = high;
    // The two bits above those of the cells are zeros; points of one cell may be as far apart as it is wide.
    const int level = (shared - 64 + 2 * SIDE_BITS) / 2;
    sides[i] = ldexp(side_of(lowest, highest), -(level < SIDE_BITS ? level : SIDE_BITS));
}

// Mass, and mass times position, of each inner node. A thread begins at its leaf and ascends; at each node the second
// child to arrive adds up both. `visited` is 0.
__global__ void __launch_bounds__(POINT_THREADS)
add_up_nodes(const i64* __restrict__ left, const i64* __restrict__ right, const i64* __restrict__ parent,
             const double2* __restrict__ points, const double* __restrict__ mass, i64 n, u32* visited, double* sums) {
    const i64 i = (i64)blockIdx.x * POINT_THREADS + threadIdx.x;
    if (i >= n) return;
    for (i64 node = parent[n - 1 + i]; node >= 0; node = parent[node]) {
        // Releases the sums of the child before, and acquires those of the other.
        __threadfence();
        if (atomicAdd(visited + node, 1u) == 0) return;
        __threadfence();
        double total[3] = {0, 0, 0};
        for (const i64 child : {left[node], right[node]}) {
            if (child < 0) {
                const double2 at = points[~child];
                const double m = mass[~child];
                total[0] += m, total[1] += m * at.x, total[2] += m * at.y;
            } else {
                for (int k = 0; k < 3; ++k) total[k] += __ldcg(sums + 3 * child + k);
            }
        }
        for (int k = 0; k < 3; ++k) sums[3 * node + k] = total[k];
    }
}

// One point a thread; those of a warp are close together, and traverse the tree similarly.
__global__ void __launch_bounds__(POINT_THREADS)
push_apart(const i64* __restrict__ left, const i64* __restrict__ right, const i64* __restrict__ first,
           const i64* __restrict__ last, const double* __restrict__ sides, const double* __restrict__ sums,
           const i64* __restrict__ order, const double2* __restrict__ points, const double* __restrict__ mass, i64 n,
           double square, double2* __restrict__ force) {
    const i64 i = (i64)blockIdx.x * POINT_THREADS + threadIdx.x;
    if (i >= n) return;
    const double2 here = points[i];
    double fx = 0, fy = 0;
    i64 stack[DEPTH];
    stack[0] = 0;
    int count = 1;
    while (count) {
        const i64 node = stack[--count];
        double dx, dy, m, side = 0;
        i64 begin = 0, end = 0;
        if (node < 0) {
            const double2 there = points[~node];
            m = mass[~node], dx = here.x - there.x, dy = here.y - there.y;
        } else {
            begin = first[node], end = last[node] + 1, side = sides[node];
            m = sums[3 * node];
            if (!(m > 0)) continue;
            dx = here.x - sums[3 * node + 1] / m;
            dy = here.y - sums[3 * node + 2] / m;
        }
        const double far = dx * dx + dy * dy;
        if (node < 0 || (side * side < square * far && !(begin <= i && i < end))) {
            if (far > 0) fx += m * dx / far, fy += m * dy / far;
        } else {
            stack[count++] = left[node];
            stack[count++] = right[node];
        }
    }
    force[order[i]] = make_double2(mass[i] * fx, mass[i] * fy);
}

}  // namespace hpgraph
