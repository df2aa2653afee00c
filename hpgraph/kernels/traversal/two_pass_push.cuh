// A push that reaches a large share of all vertices, in two passes.
//
// Each vertex that a push reaches costs random accesses: to its properties, its row pointers and the queue. Here the
// first pass along the arcs only stores one message for each claimed vertex. The second scans the vertices in order and
// delivers the messages of those whose bits were set by the first: its accesses are sequential. It leaves the frontier
// as a bitmap, as a pull does.
//
// With several GPUs no remote messages are sent: each part stores messages for all vertices in its own memory, and the
// owner of a vertex reads them from the other parts' memory, coalesced.
#pragma once
#include "load_balancing.cuh"
#include "multi_gpu_barrier.cuh"

namespace hpgraph {

// Arrays of all vertices, one in each part's memory.
template <class Message, int parts = MAX_PARTS>
struct Mail {
    u32* settled[parts];       // bitmap of own vertices that are settled, and of remote ones claimed by this part
    u32* before[parts];        // the same at the beginning of the superstep
    Message* messages[parts];  // of the vertices claimed since

    // Bitmap of 32 vertices that a part has claimed in this superstep.
    __device__ u32 arrived(int part, i64 word) const { return __ldcg(settled[part] + word) & ~__ldcg(before[part] + word); }
};

// The second pass, over the words of the team's part; its own messages first. `next` receives the bitmap of changed
// vertices.
template <class Program, class Team, class T, class Index, class Message, int parts>
__device__ void take_messages(const Program& program, i64 step, const Team& team, i64 n, const i64* indptr,
                              const Mail<Message, parts>& mail, u32* next, Collector<T, Index>& found) {
    constexpr int AT_ONCE = 4;
    const int lane = lane_of_warp(), me = (int)team.me();
    const i64 warp = (i64)blockIdx.x * WARPS + (threadIdx.x >> 5), warps = (i64)gridDim.x * WARPS;
    const i64 begin = team.first_word(), end = team.last_word(n);
    u32* const settled = mail.settled[me];
    for (i64 first = begin + warp * AT_ONCE; first < end; first += warps * AT_ONCE) {
        const i64 word = first + lane;
        const bool exists = lane < AT_ONCE && word < end;
        u32 done = exists ? mail.before[me][word] : ALL, changed = 0;
        for (int turn = 0; turn < (int)team.size(); ++turn) {
            const int part = turn == 0 ? me : turn <= me ? turn - 1 : turn;
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
