// Barnes and Hut's forces: the tree and the sums of hpgraph.kernels.layout.cpu.
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

// hpgraph.kernels.layout.morton_codes, in one pass.
__global__ void __launch_bounds__(POINT_THREADS)
find_codes(const double* __restrict__ points, const double* __restrict__ corner, double inverse, i64 n, i64* codes) {
    const i64 i = (i64)blockIdx.x * POINT_THREADS + threadIdx.x;
    if (i >= n) return;
    constexpr double MAX_CELL = (1ll << SIDE_BITS) - 1;
    const auto cell = [&](int axis) {
        return (i64)fmin((points[2 * i + axis] - corner[axis]) * inverse * MAX_CELL, MAX_CELL);
    };
    codes[i] = apart(cell(0)) | apart(cell(1)) << 1;
}

// Length of the common prefix of two codes; equal codes are extended by their indices.
__device__ __forceinline__ int shared_bits(const i64* __restrict__ codes, i64 n, i64 i, i64 j) {
    if (j < 0 || j >= n) return -1;
    const i64 x = codes[i] ^ codes[j];
    return x ? __clzll(x) : 64 + __clzll(i ^ j);
}

// Children of an inner node are inner nodes, or ~leaf.
__global__ void __launch_bounds__(POINT_THREADS)
build_tree(const i64* __restrict__ codes, i64 n, double side, i64* __restrict__ left, i64* __restrict__ right,
           i64* __restrict__ first, i64* __restrict__ last, double* __restrict__ sides) {
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
    first[i] = low, last[i] = high;
    // The two bits above those of the cells are zeros; points of one cell may be as far apart as it is wide.
    const int level = (shared - 64 + 2 * SIDE_BITS) / 2;
    sides[i] = ldexp(side, -(level < SIDE_BITS ? level : SIDE_BITS));
}

// One point a thread; those of a warp are close together, and traverse the tree similarly.
__global__ void __launch_bounds__(POINT_THREADS)
push_apart(const i64* __restrict__ left, const i64* __restrict__ right, const i64* __restrict__ first,
           const i64* __restrict__ last, const double* __restrict__ sides, const i64* __restrict__ order,
           const double2* __restrict__ points, const double* __restrict__ sums, const double* __restrict__ mass, i64 n,
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
            m = sums[3 * end] - sums[3 * begin];
            if (!(m > 0)) continue;
            dx = here.x - (sums[3 * end + 1] - sums[3 * begin + 1]) / m;
            dy = here.y - (sums[3 * end + 2] - sums[3 * begin + 2]) / m;
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
