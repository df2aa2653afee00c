// Steps of ForceAtlas2, as hpgraph.kernels.layout.cpu has them.
#pragma once
#include "warp.cuh"

namespace hpgraph {

constexpr int VERTEX_THREADS = 128;

// The force on each vertex, of repulsion, attraction and gravity; its swinging in `swing`, its traction n behind.
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

// Places after a step at a global speed.
__global__ void __launch_bounds__(VERTEX_THREADS)
move(const double2* __restrict__ place, const double2* __restrict__ force, const double* __restrict__ swing, double speed,
     i64 n, double2* __restrict__ found) {
    const i64 i = (i64)blockIdx.x * VERTEX_THREADS + threadIdx.x;
    if (i >= n) return;
    const double factor = speed / (1 + sqrt(speed * swing[i]));
    found[i] = make_double2(place[i].x + force[i].x * factor, place[i].y + force[i].y * factor);
}

}  // namespace hpgraph
