// Join messages computed by another pass, on another GPU or for another block, to those already received.
#pragma once
#include "warp.cuh"

namespace hpgraph {

constexpr int JOIN_THREADS = 256;

// To all vertices whose bit in `other_received` is set.
template <class Program>
__global__ void __launch_bounds__(JOIN_THREADS)
join_messages(i64 n, const typename Program::Message* other, const u32* other_received,
              typename Program::Message* message, u32* received) {
    const i64 v = (i64)blockIdx.x * JOIN_THREADS + threadIdx.x;
    const int lane = threadIdx.x & 31;
    if (v - lane >= n) return;
    const u32 here = received[v >> 5], there = other_received[v >> 5];
    if (v < n && (there >> lane & 1)) message[v] = here >> lane & 1 ? Program::join(message[v], other[v]) : other[v];
    if (lane == 0) received[v >> 5] = here | there;
}

// Messages to the vertices first + ids[k], distinct. A vertex's first message is joined to the identity or, for the
// monoid "any", stored.
template <class Program>
__global__ void join_listed(typename Program::Message* message, u32* received, i64 first, const u32* ids,
                            const typename Program::Message* sent, i64 count, typename Program::Message identity, bool any) {
    const i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= count) return;
    const i64 v = first + ids[k];
    const u32 bit = 1u << (v & 31), before = atomicOr(received + (v >> 5), bit);
    if (before & bit) message[v] = Program::join(message[v], sent[k]);
    else message[v] = any ? sent[k] : Program::join(identity, sent[k]);
}

// One message for each of consecutive vertices, all of which have received.
template <class Program>
__global__ void join_all(typename Program::Message* message, const typename Program::Message* sent, i64 count) {
    const i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < count) message[k] = Program::join(message[k], sent[k]);
}

}  // namespace hpgraph
