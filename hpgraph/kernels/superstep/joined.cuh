// Joins messages computed by another pass, on another GPU or for another block, to those already received.
#pragma once
#include "warp.cuh"

namespace hpgraph {

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

// One message for each of consecutive vertices, all of which have already received one.
template <class Program>
__global__ void join_all(typename Program::Message* message, const typename Program::Message* sent, i64 count) {
    const i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < count) message[k] = Program::join(message[k], sent[k]);
}

}  // namespace hpgraph
