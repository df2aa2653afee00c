// A push that reaches a good part of all vertices, in two passes.
//
// Each vertex that a push reaches costs accesses at random places of memory: to its properties, its row pointers and the
// queue. Here the first pass along the arcs leaves one message a vertex and no more. The second goes through the vertices in
// their order and takes the messages of those whose bits have been set in between: what it reads and writes lies in a
// row, whoever of them was reached. It leaves the frontier as bits, as a pull does.
//
// Parts of a graph on several GPUs need no remote messages for it: each has messages for everybody, and whose vertex it is
// reads those that others have for it out of their memory, a row at a time.
#pragma once
#include "load_balancing.cuh"
#include "multi_gpu_barrier.cuh"

namespace hpgraph {

// Vertices that the second pass goes through in the time of one that a push reaches: 30 bytes in a row, or three sectors
// of 32 bytes and a place in the queue. No more vertices are reached than arcs are sent.
constexpr int PASS_COST = 4;

// What a part has for all vertices, in each part's memory.
template <class Message>
struct Mail {
    u32* settled[MAX_PARTS];       // who has been reached, or, of others' vertices, written to
    u32* before[MAX_PARTS];        // the same as the superstep began
    Message* messages[MAX_PARTS];  // for those who are in the one and not in the other

    // Who has been written to by a part since, of 32 vertices.
    __device__ u32 arrived(int part, i64 word) const { return __ldcg(settled[part] + word) & ~__ldcg(before[part] + word); }
};

// The second pass, over the words from `begin` to `end`: messages of one's own part first. `next` receives who was changed.
template <class Program, class T, class Index, class Message>
__device__ void take_messages(const Program& program, i64 step, i64 begin, i64 end, const i64* indptr, const Parts& parts,
                              const Mail<Message>& mail, u32* next, Collector<T, Index>& found) {
    constexpr int AT_ONCE = 4;
    const int lane = lane_of_warp();
    const i64 warp = (i64)blockIdx.x * WARPS + (threadIdx.x >> 5), warps = (i64)gridDim.x * WARPS;
    u32* const settled = mail.settled[parts.me];
    for (i64 first = begin + warp * AT_ONCE; first < end; first += warps * AT_ONCE) {
        const i64 word = first + lane;
        const bool exists = lane < AT_ONCE && word < end;
        u32 done = exists ? mail.before[parts.me][word] : ALL, changed = 0;
        for (int turn = 0; turn < parts.count; ++turn) {
            const int part = turn == 0 ? (int)parts.me : turn <= parts.me ? turn - 1 : turn;
            const u32 arrived = exists ? mail.arrived(part, word) & ~done : 0;
            if (!__any_sync(ALL, arrived)) continue;
            done |= arrived;
            const volatile Message* const messages = mail.messages[part];
            Message message[AT_ONCE];
            int degree[AT_ONCE];
            u32 mine = 0;
#pragma unroll
            for (int k = 0; k < AT_ONCE; ++k) {
                const i64 v = (first + k) * 32 + lane;
                const bool has_one = __shfl_sync(ALL, arrived, k) >> lane & 1;
                mine |= has_one << k;
                message[k] = has_one ? messages[v] : Message();
                degree[k] = has_one ? (int)(indptr[v + 1] - indptr[v]) : 0;
            }
#pragma unroll
            for (int k = 0; k < AT_ONCE; ++k) {
                const bool changes = (mine >> k & 1) && program.receive((first + k) * 32 + lane, message[k], step);
                if (changes) found.note(degree[k]);
                const u32 votes = __ballot_sync(ALL, changes);
                if (lane == k) changed |= votes;
            }
        }
        if (exists) settled[word] = done, next[word] = changed;
    }
}

}  // namespace hpgraph
