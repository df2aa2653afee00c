// Pushed messages that are short tuples of numbers, combined element by element with compare-and-swap.
//
// The host prepends the structs ``Program`` and ``Product`` over ``Several``.
#pragma once
#include "apply.cuh"
#include "atomics.cuh"
#include "several.cuh"

namespace hpgraph {

// A warp for each vertex of the frontier. Sets the bits of the targets in `received`; all their messages start as the
// identity.
template <class Program, class Index>
__global__ void __launch_bounds__(THREADS)
send(const Program program, const i64 count, const Index* frontier, const i64* indptr, const Index* indices,
     const typename Program::Weight* data, u32* received, typename Program::Number* messages) {
    const int lane = threadIdx.x & 31;
    const i64 warps = (i64)gridDim.x * (THREADS / 32);
    for (i64 i = (i64)blockIdx.x * (THREADS / 32) + threadIdx.x / 32; i < count; i += warps) {
        const i64 u = frontier[i], end = indptr[u + 1];
        for (i64 j = indptr[u] + lane; j < end; j += 32) {
            const i64 v = indices[j];
            const auto weight = data ? data[j] : typename Program::Weight(1);
            if (!program.cond(v) || !program.edge_cond(u, weight, v)) continue;
            const auto message = program(u, weight, v);
            atomicOr(received + (v >> 5), 1u << (v & 31));
#pragma unroll
            for (int k = 0; k < Program::WIDTH; ++k)
                op::combine_by_cas<op::Meet<Program>>(messages + v * Program::WIDTH + k, message.number[k]);
        }
    }
}

}  // namespace hpgraph
