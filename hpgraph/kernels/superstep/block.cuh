// Messages that come from other blocks of a graph are joined to those of a block's own vertices.
#pragma once
#include "types.cuh"

namespace hpgraph {

// Messages to the vertices first + ids[k], each once. The first message of all is joined to the identity or, where
// there is none that it would replace, taken as it is.
template <class Program>
__global__ void bring(typename Program::Message* message, u32* received, i64 first, const u32* ids,
                      const typename Program::Message* sent, i64 count, typename Program::Message identity, bool any) {
    const i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= count) return;
    const i64 v = first + ids[k];
    const u32 bit = 1u << (v & 31), before = atomicOr(received + (v >> 5), bit);
    if (before & bit) message[v] = Program::join(message[v], sent[k]);
    else message[v] = any ? sent[k] : Program::join(identity, sent[k]);
}

// A message for each of consecutive vertices, all of which have one.
template <class Program>
__global__ void bring_all(typename Program::Message* message, const typename Program::Message* sent, i64 count) {
    const i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < count) message[k] = Program::join(message[k], sent[k]);
}

}  // namespace hpgraph
