// Parts of one graph on several GPUs, whose kernels run side by side and never return to the host between supersteps.
//
// Each part owns a range of the vertices, and their rows. What another part must know is written straight into its
// memory (peer access): words of the frontier as bits (the compressed frontier of Enterprise, H. Liu, H. H. Huang,
// SC'15), or remote messages, a vertex of the other part and the message for it. At a barrier all blocks of all parts have come
// so far, and everything that was written before is seen after it. The last block of a part to arrive tells the other
// parts so, and with it what its part has found: one store over the link instead of one from each block, and the sums that a
// decision wants arrive with the flag.
//
// All kernels must be resident at once. Where the host finds that one could not be launched, it sets `lost` of the others, and
// they end. Whoever waits for LIMIT nanoseconds stops with an error instead of for ever.
#pragma once
#include "one_block.cuh"
#include "system_scope.cuh"

namespace hpgraph {

constexpr int MAX_PARTS = 8;
constexpr u64 LIMIT = 60000000000ull;

// What a part tells another at a barrier.
struct Report {
    u64 count, arcs, looked;    // of its tally
    u64 count_before, arcs_before;  // of that of the superstep before
    u64 sent, remote_messages;          // remote messages to anybody, and to the reader
    u64 waiting, repeated;      // of its far pile, and of its bucket
    u64 least;                  // bits of the least value in its far pile
    u64 turn;                   // which barrier of which launch this is of; written last
};

struct Assembly {
    u32 arrived, lost;
    u64 remote_messages[MAX_PARTS];  // tails of what is sent to each part
};

// In the memory of each part, and written by itself alone. A launch finds it zeroed.
struct BarrierState {
    Header header;
    Assembly assembly;
};

struct Parts {
    i64 me, count;
    i64 begins[MAX_PARTS + 1];      // of the ranges
    BarrierState* barrier_states;               // two, used in turn by launches: each clears that of the next
    Report* reports[MAX_PARTS];     // in each part's memory, two from each part, used in turn: never zeroed

    __device__ i64 first() const { return begins[me]; }
    __device__ i64 last() const { return begins[me + 1]; }
    __device__ bool owns(i64 v) const { return v >= first() && v < last(); }
    __device__ bool owns(int part, i64 v) const { return v >= begins[part] && v < begins[part + 1]; }
    // Words of bits of the vertices that are this part's: ranges begin at multiples of 64.
    __device__ i64 first_word() const { return first() / 32; }
    __device__ i64 last_word() const { return first() < last() ? (last() + 31) / 32 : first_word(); }
};

// What the threads of a block tell each other at a barrier, in shared memory. (Not by __syncthreads_or: where its argument is
// a constant and one thread alone wants the answer, ptxas of CUDA 13.0 puts a second reduction into that thread's branch, at
// which it waits for the others for ever.)
struct BlockFlags {
    u32 lost;      // for good
    u32 wrote[2];  // used in turn
};

// A barrier of the part's own blocks, and one of all parts; by the number of the launch, which those of the parts count.
struct MultiGpuBarrier {
    const Parts& parts;
    BarrierState* barrier_state;
    BlockFlags& flags;
    u64 launch;
    u32 target, turn;
    bool lost, wrote;  // whether this thread has written to other parts since the last barrier

    __device__ MultiGpuBarrier(const Parts& parts, u64 launch, BlockFlags& flags)
        : parts(parts), barrier_state(parts.barrier_states + (launch & 1)), flags(flags), launch(launch << 32), target(0), turn(0),
          lost(false), wrote(false) {
        if (threadIdx.x == 0) flags.lost = flags.wrote[0] = flags.wrote[1] = 0;
        u64* const next = (u64*)(parts.barrier_states + (~launch & 1));
        if (blockIdx.x == 0)
            for (int i = threadIdx.x; i < (int)(sizeof(BarrierState) / sizeof(u64)); i += THREADS) next[i] = 0;
        __syncthreads();
    }

    // By all blocks of the part.
    __device__ void wait() {
        __syncthreads();
        target += gridDim.x;
        if (threadIdx.x == 0) {
            count_up(&barrier_state->assembly.arrived);
            if (!await([&] { return (int)(look_at(&barrier_state->assembly.arrived) - target) >= 0; })) flags.lost = 1;
        }
        __syncthreads();
        lost = flags.lost;
    }

    // By all blocks of all parts; tell(report) fills in what this part has found. Joint sums are returned, zeros where a part
    // is lost.
    template <class Tell>
    __device__ Report meet(Tell tell) {
        target += gridDim.x, ++turn;
        u32& block_wrote = flags.wrote[turn & 1];
        if (wrote) block_wrote = 1;
        wrote = false;
        __syncthreads();
        bool is_last = false;
        if (threadIdx.x == 0) {
            // What the block wrote to other devices is there before it counts as arrived.
            if (block_wrote) fence_of_system();
            block_wrote = 0;
            is_last = count_up(&barrier_state->assembly.arrived) + 1 == target;
        }
        if (threadIdx.x < 32 && __any_sync(ALL, is_last)) report_to_all(tell);
        const auto has_come = [&] { return published(&slot(parts.me, threadIdx.x)->turn) == launch + turn; };
        if ((int)threadIdx.x < parts.count && !await(has_come)) flags.lost = 1;
        __syncthreads();
        lost = flags.lost;
        Report joint{};
        if (!lost) {
            for (int part = 0; part < parts.count; ++part) {
                const Report& told = report_of(part);
                joint.count += told.count, joint.arcs += told.arcs, joint.looked += told.looked;
                joint.count_before += told.count_before, joint.arcs_before += told.arcs_before;
                joint.sent += told.sent, joint.waiting += told.waiting, joint.repeated += told.repeated;
            }
        }
        return joint;
    }

    // What a part has said at the last barrier.
    __device__ const Report& report_of(int part) const { return *slot(parts.me, part); }

private:
    // By the first warp of the last block, a lane for each part.
    template <class Tell>
    __device__ void report_to_all(Tell tell) {
        const int part = threadIdx.x;
        Report report{};
        if (part < parts.count) {
            tell(report);
            report.remote_messages = barrier_state->assembly.remote_messages[part];
            for (int other = 0; other < parts.count; ++other) report.sent += barrier_state->assembly.remote_messages[other];
        }
        __syncwarp();
        if (part < parts.count) {
            barrier_state->assembly.remote_messages[part] = 0;
            Report* const there = slot(part, parts.me);
            there->count = report.count, there->arcs = report.arcs, there->looked = report.looked;
            there->count_before = report.count_before, there->arcs_before = report.arcs_before;
            there->sent = report.sent, there->remote_messages = report.remote_messages;
            there->waiting = report.waiting, there->repeated = report.repeated, there->least = report.least;
        }
        __syncwarp();
        if (part < parts.count) publish(&slot(part, parts.me)->turn, launch + turn);
    }

    __device__ Report* slot(int to, int from) const {
        return parts.reports[to] + (turn & 1) * MAX_PARTS + from;
    }

    // Whether something comes true, or the host has said that it will not.
    template <class Ready>
    __device__ bool await(Ready ready) const {
        if (lost) return false;
        u64 until = 0;
        for (u32 spins = 1; !ready(); ++spins) {
            if (spins % 1024) continue;
            const u64 now = nanoseconds_now();
            if (!until) until = now + LIMIT;
            if (look_at(&barrier_state->assembly.lost)) return false;
            if (now >= until) stop();
        }
        return true;
    }
};

// A vertex of another part, and the message for it.
template <class Index, class Message>
struct RemoteMessage {
    Index vertex;
    Message message;
};

// Where remote messages go, and come from; two places, as those of a superstep may still be read while the next one's are sent.
template <class Index, class Message>
struct Post {
    RemoteMessage<Index, Message>* to[2][MAX_PARTS];    // in the memory of the part that receives
    RemoteMessage<Index, Message>* from[2][MAX_PARTS];  // in this part's

    // A remote message from each lane that has one, to whoever owns the vertex; by the whole warp.
    __device__ void send(MultiGpuBarrier& barrier, int place, bool mine, Index v, Message message) const {
        const Parts& parts = barrier.parts;
        for (int part = 0; part < parts.count; ++part) {
            const u32 votes = __ballot_sync(ALL, mine && parts.owns(part, v));
            if (!votes) continue;
            barrier.wrote = true;
            u64 base = 0;
            if (lane_of_warp() == 0) base = atomicAdd(&barrier.barrier_state->assembly.remote_messages[part], (u64)__popc(votes));
            base = __shfl_sync(ALL, base, 0) + __popc(votes & lanes_below());
            if (votes >> lane_of_warp() & 1) to[place][part][base] = RemoteMessage<Index, Message>{v, message};
        }
    }

    // read(has_one, remote message), by whole warps, until all remote messages of the last barrier are read.
    template <class Read>
    __device__ void read_all(const MultiGpuBarrier& barrier, int place, Read read) const {
        const u64 thread = (u64)blockIdx.x * THREADS + threadIdx.x, threads = (u64)gridDim.x * THREADS;
        for (int part = 0; part < barrier.parts.count; ++part) {
            const u64 remote_messages = barrier.lost ? 0 : barrier.report_of(part).remote_messages;
            for (u64 i = thread; i - lane_of_warp() < remote_messages; i += threads) {
                const bool has_one = i < remote_messages;
                read(has_one, has_one ? from[place][part][i] : RemoteMessage<Index, Message>{});
            }
        }
    }
};

// Words of this part's vertices, to where the other parts have the same array; by the whole part. In pairs, as a range
// begins at a multiple of 64 vertices, or is empty.
__device__ inline void share_words(MultiGpuBarrier& barrier, u32* const (&arrays)[MAX_PARTS]) {
    const Parts& parts = barrier.parts;
    barrier.wrote = true;
    const i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x, threads = (i64)gridDim.x * THREADS;
    const u64* const own = (const u64*)arrays[parts.me];
    const i64 begin = (parts.first_word() + 1) / 2, end = (parts.last_word() + 1) / 2;
    for (i64 w = begin + thread; w < end; w += threads) {
        const u64 word = __ldcg(own + w);
        for (int part = 0; part < parts.count; ++part)
            if (part != parts.me) ((u64*)arrays[part])[w] = word;
    }
}

}  // namespace hpgraph
