// Steps of ForceAtlas2, as in hpgraph.kernels.layout.cpu.
#pragma once
#include "warp.cuh"

namespace hpgraph {

constexpr int VERTEX_THREADS = 128;

// The force on each vertex: repulsion, attraction and gravity. Swinging is in the first n elements of `swing`, traction
// in the next n.
__global__ void __launch_bounds__(VERTEX_THREADS)
combine_forces(const double2* __restrict__ place, const double2* __restrict__ pushed, const double2* __restrict__ pulled,
               const double* __restrict__ mass, const double2* __restrict__ before, double scaling, double gravity,
               bool strong_gravity, bool distributed_action, i64 n, double2* __restrict__ force,
               double* __restrict__ swing) {
    const i64 i = (i64)blockIdx.x * VERTEX_THREADS + threadIdx.x;
    if (i >= n) return;
    const double2 at = place[i], push = pushed[i], pull = pulled[i], last = before[i];
    const double m = mass[i], share = distributed_action ? m : 1;
    const double far = strong_gravity ? 1 : fmax(hypot(at.x, at.y), 2.2250738585072014e-308);
    const double x = scaling * push.x + pull.x / share - gravity * m * at.x / far;
    const double y = scaling * push.y + pull.y / share - gravity * m * at.y / far;
    force[i] = make_double2(x, y);
    swing[i] = m * hypot(x - last.x, y - last.y);
    swing[n + i] = m * hypot(x + last.x, y + last.y) / 2;
}

// Global speed and efficiency of the next step, from those of the last.
__device__ inline double2 next_pace(double2 pace, double swinging, double traction, double tolerance, double n) {
    if (swinging <= 0 || traction <= 0) return pace;
    const double estimate = 0.05 * sqrt(n);
    double allowed = tolerance * fmax(sqrt(estimate), fmin(10.0, estimate * traction / (n * n)));
    if (swinging / traction > WILD) {
        if (pace.y > MIN_EFFICIENCY) pace.y *= 0.5;
        allowed = fmax(allowed, tolerance);
    }
    const double target = allowed * pace.y * traction / swinging;
    if (swinging > allowed * traction) {
        if (pace.y > MIN_EFFICIENCY) pace.y *= 0.7;
    } else if (pace.x < FASTEST) {
        pace.y *= 1.3;
    }
    return make_double2(pace.x + fmin(target - pace.x, RISE * pace.x), pace.y);
}

// Positions after a step at the next global speed, which each thread computes redundantly; one stores it in
// `following`.
__global__ void __launch_bounds__(VERTEX_THREADS)
move(const double2* __restrict__ place, const double2* __restrict__ force, const double* __restrict__ swing,
     const double* __restrict__ totals, const double2* __restrict__ pace, double tolerance, i64 n,
     double2* __restrict__ found, double2* __restrict__ following) {
    const i64 i = (i64)blockIdx.x * VERTEX_THREADS + threadIdx.x;
    if (i >= n) return;
    const double2 next = next_pace(*pace, totals[0], totals[1], tolerance, (double)n);
    if (i == 0) *following = next;
    const double factor = next.x / (1 + sqrt(next.x * swing[i]));
    found[i] = make_double2(place[i].x + force[i].x * factor, place[i].y + force[i].y * factor);
}

}  // namespace hpgraph
