// Barnes-Hut repulsion: the tree of hpgraph.kernels.layout.cpu. A node's centre of mass is computed from its children,
// from the leaves to the root, in an order determined by the tree alone.
#pragma once
#include "warp.cuh"

namespace hpgraph {

constexpr int POINT_THREADS = 128;

// An inner node: its centre of mass, and the square of its cell's side.
struct alignas(32) Node {
    double x, y, mass, square;
};

// Spreads the bits of a number below 2^31, interleaving zeros (Morton code).
__device__ inline i64 apart(i64 number) {
    number = (number | number << 16) & 0x0000FFFF0000FFFFll;
    number = (number | number << 8) & 0x00FF00FF00FF00FFll;
    number = (number | number << 4) & 0x0F0F0F0F0F0F0F0Fll;
    number = (number | number << 2) & 0x3333333333333333ll;
    return (number | number << 1) & 0x5555555555555555ll;
}

// Side of the bounding square of all points.
__device__ __forceinline__ double side_of(const double* low, const double* high) {
    return fmax(fmax(high[0] - low[0], high[1] - low[1]), 2.2250738585072014e-308);
}

// Morton codes of the points' cells.
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

// Children of an inner node: inner nodes, or ~leaf. `points`: its first and last point. `parent`: of inner nodes, root
// first, then of leaves.
__global__ void __launch_bounds__(POINT_THREADS)
build_tree(const i64* __restrict__ codes, i64 n, const double* __restrict__ lowest, const double* __restrict__ highest,
           longlong2* __restrict__ children, longlong2* __restrict__ points, Node* __restrict__ nodes,
           i64* __restrict__ parent) {
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
    children[i] = make_longlong2(low == at ? ~at : at, high == at + 1 ? ~(at + 1) : at + 1);
    points[i] = make_longlong2(low, high);
    parent[low == at ? n - 1 + at : at] = i;
    parent[high == at + 1 ? n + at : at + 1] = i;
    if (i == 0) parent[0] = -1;
    // The two bits above the cell bits are zero; points of one cell may be as far apart as the cell is wide.
    const int level = (shared - 64 + 2 * SIDE_BITS) / 2;
    const double side = ldexp(side_of(lowest, highest), -(level < SIDE_BITS ? level : SIDE_BITS));
    nodes[i].square = side * side;
}

// Mass and centre of each inner node. A thread starts at its leaf and ascends; at each node the thread that arrives
// second adds up both children. `visited` starts at 0.
__global__ void __launch_bounds__(POINT_THREADS)
add_up_nodes(const longlong2* __restrict__ children, const i64* __restrict__ parent, const double2* __restrict__ points,
             const double* __restrict__ mass, i64 n, u32* visited, Node* nodes) {
    const i64 i = (i64)blockIdx.x * POINT_THREADS + threadIdx.x;
    if (i >= n) return;
    for (i64 node = parent[n - 1 + i]; node >= 0; node = parent[node]) {
        // Release the centre of this child, and acquire the other's.
        __threadfence();
        if (atomicAdd(visited + node, 1u) == 0) return;
        __threadfence();
        double total = 0, x = 0, y = 0;
        const longlong2 both = children[node];
        for (const i64 child : {both.x, both.y}) {
            const double2 at = child < 0 ? points[~child] : __ldcg((const double2*)(nodes + child));
            const double m = child < 0 ? mass[~child] : __ldcg(&nodes[child].mass);
            if (m > 0) total += m, x += m * at.x, y += m * at.y;
        }
        nodes[node].x = x / total, nodes[node].y = y / total, nodes[node].mass = total;
    }
}

// 1 << SPLIT adjacent threads share a point: each takes a subtree of the top of the tree, selected by the bits of its
// index, so that few points fill the GPU. The points of a warp are close together, and traverse the tree similarly.
template <int SPLIT>
__global__ void __launch_bounds__(POINT_THREADS)
push_apart(const longlong2* __restrict__ children, const longlong2* __restrict__ ranges, const Node* __restrict__ nodes,
           const i64* __restrict__ order, const double2* __restrict__ points, const double* __restrict__ mass, i64 n,
           double square, double2* __restrict__ force) {
    const i64 thread = (i64)blockIdx.x * POINT_THREADS + threadIdx.x, i = thread >> SPLIT;
    const int part = int(thread & ((1 << SPLIT) - 1));
    const double2 here = points[i < n ? i : 0];
    double fx = 0, fy = 0;
    i64 stack[DEPTH];
    stack[0] = 0;
    // `levels`: tree levels still to be divided between threads.
    int count = i < n, levels = SPLIT;
    while (count) {
        const i64 node = stack[--count];
        double dx, dy, m;
        bool opens = false;
        if (node < 0) {
            const double2 there = points[~node];
            m = mass[~node], dx = here.x - there.x, dy = here.y - there.y;
        } else {
            const Node at = nodes[node];
            const longlong2 range = ranges[node];
            m = at.mass, dx = here.x - at.x, dy = here.y - at.y;
            opens = m > 0 && (!(at.square < square * (dx * dx + dy * dy)) || (range.x <= i && i <= range.y));
        }
        if (opens) {
            const longlong2 both = children[node];
            if (levels) {
                --levels;
                stack[count++] = part >> levels & 1 ? both.y : both.x;
            } else {
                stack[count++] = both.x;
                stack[count++] = both.y;
            }
            continue;
        }
        // Of the threads that share this node, one adds it.
        const double far = dx * dx + dy * dy;
        if (far > 0 && m > 0 && !(part & ((1 << levels) - 1))) {
            const double pushes = m / far;
            fx += pushes * dx, fy += pushes * dy;
        }
        levels = 0;
    }
    for (int d = 1; d < 1 << SPLIT; d <<= 1) fx += __shfl_xor_sync(ALL, fx, d), fy += __shfl_xor_sync(ALL, fy, d);
    if (i < n && part == 0) force[order[i]] = make_double2(mass[i] * fx, mass[i] * fy);
}

}  // namespace hpgraph
