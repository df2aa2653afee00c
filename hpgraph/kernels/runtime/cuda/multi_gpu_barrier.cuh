// Parts of one graph on several GPUs, whose kernels run concurrently and synchronize without the host.
//
// Each part owns a range of the vertices, and their rows. Data for another part is written directly into its memory
// (peer access): words of the frontier's bitmap (the compressed frontier of Enterprise, H. Liu, H. H. Huang, SC'15), or
// remote messages, a vertex of the other part and the message for it. A barrier synchronizes all blocks of all parts,
// and makes their earlier writes visible. The last block of a part to arrive signals the other parts, together with the
// part's tally: one store over the link instead of one from each block, and the sums for a decision arrive with the
// flag.
//
// All kernels must be resident at once. If the host finds that one could not be launched, it sets `lost` of the others,
// and they end. A thread that waits for LIMIT nanoseconds stops with an error.
#pragma once
#include "one_block.cuh"
#include "persistent.cuh"

namespace hpgraph {

// Memory order between GPUs that share memory while their kernels run.

// Orders this thread's earlier reads and writes before its later writes, for all devices.
__device__ inline void fence_of_system() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }

__device__ inline void publish(u64* where, u64 value) {
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(where), "l"(value) : "memory");
}

__device__ inline u64 published(const u64* where) {
    u64 value;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(where) : "memory");
    return value;
}

__device__ inline u32 look_at(const u32* where) {
    u32 value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(where) : "memory");
    return value;
}

// Increment a counter of this device; returns its value before.
__device__ inline u32 count_up(u32* where) {
    u32 before;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(where) : "memory");
    return before;
}

__device__ inline u64 nanoseconds_now() {
    u64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

// End the kernel with an error, which the next CUDA call on the host reports.
__device__ inline void stop() { asm volatile("trap;"); }

constexpr int MAX_PARTS = 8;
constexpr u64 LIMIT = 60000000000ull;

// Report of a part to another at a barrier.
struct Report {
    u64 count, arcs, looked;    // the part's tally
    u64 count_before, arcs_before;  // the tally of the previous superstep
    u64 sent, remote_messages;  // numbers of remote messages to all parts, and to the reader
    u64 waiting, repeated;      // vertices in its far pile, repeated arcs of its bucket
    u64 least;                  // bits of the minimum value in its far pile
    u64 turn;                   // launch and number of the barrier; written last
};

struct Assembly {
    u32 arrived, lost;
    u64 remote_messages[MAX_PARTS];  // tails of the messages to each part
};

// In the memory of each part, and written by this part only. Zero at launch.
struct BarrierState {
    Header header;
    Assembly assembly;
};

struct Parts {
    i64 me, count;
    i64 begins[MAX_PARTS + 1];      // start of each part's range
    BarrierState* barrier_states;   // a double buffer: each launch clears that of the next
    Report* reports[MAX_PARTS];     // in each part's memory, a double buffer from each part: never zeroed

    __device__ i64 first() const { return begins[me]; }
    __device__ i64 last() const { return begins[me + 1]; }
    __device__ bool owns(i64 v) const { return v >= first() && v < last(); }
    __device__ bool owns(int part, i64 v) const { return v >= begins[part] && v < begins[part + 1]; }
    // Words of this part's range of a bitmap; ranges begin at multiples of 64.
    __device__ i64 first_word() const { return first() / 32; }
    __device__ i64 last_word() const { return first() < last() ? (last() + 31) / 32 : first_word(); }
};

// Flags of a block at a barrier, in shared memory. (Not by __syncthreads_or: if its argument is a constant and only one
// thread uses the result, ptxas of CUDA 13.0 puts a second reduction into that thread's branch, which deadlocks.)
struct BlockFlags {
    u32 lost;      // sticky
    u32 wrote[2];  // a double buffer
};

// A barrier of the part's own blocks, and one of all parts, which are identified by the number of the launch.
struct MultiGpuBarrier {
    static constexpr bool DIVIDED = true;
    typedef Report Sums;  // see OneGpu
    const Parts& parts;
    BarrierState* barrier_state;
    Header* header;
    BlockFlags& flags;
    u64 launch;
    u32 target, turn;
    bool lost, wrote;  // whether this thread has written to other parts since the last barrier

    __device__ MultiGpuBarrier(const Parts& parts, u64 launch, BlockFlags& flags)
        : parts(parts), barrier_state(parts.barrier_states + (launch & 1)), header(&barrier_state->header), flags(flags),
          launch(launch << 32), target(0), turn(0), lost(false), wrote(false) {
        if (threadIdx.x == 0) flags.lost = flags.wrote[0] = flags.wrote[1] = 0;
        u64* const next = (u64*)(parts.barrier_states + (~launch & 1));
        if (blockIdx.x == 0)
            for (int i = threadIdx.x; i < (int)(sizeof(BarrierState) / sizeof(u64)); i += THREADS) next[i] = 0;
        __syncthreads();
    }

    // Barrier of all blocks of the part.
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

    // Barrier of all blocks of all parts; fill(report) writes this part's tally. Returns sums over the parts, zeros if
    // a part is lost.
    template <class Fill>
    __device__ Report meet(Fill fill) {
        target += gridDim.x, ++turn;
        u32& block_wrote = flags.wrote[turn & 1];
        if (wrote) block_wrote = 1;
        wrote = false;
        __syncthreads();
        bool is_last = false;
        if (threadIdx.x == 0) {
            // The block's writes to other devices are complete before it counts as arrived.
            if (block_wrote) fence_of_system();
            block_wrote = 0;
            is_last = count_up(&barrier_state->assembly.arrived) + 1 == target;
        }
        if (threadIdx.x < 32 && __any_sync(ALL, is_last)) report_to_all(fill);
        const auto has_come = [&] { return published(&slot(parts.me, threadIdx.x)->turn) == launch + turn; };
        if ((int)threadIdx.x < parts.count && !await(has_come)) flags.lost = 1;
        __syncthreads();
        lost = flags.lost;
        Report joint{};
        if (!lost) {
            for (int part = 0; part < parts.count; ++part) {
                const Report& one = report_of(part);
                joint.count += one.count, joint.arcs += one.arcs, joint.looked += one.looked;
                joint.count_before += one.count_before, joint.arcs_before += one.arcs_before;
                joint.sent += one.sent, joint.waiting += one.waiting, joint.repeated += one.repeated;
            }
        }
        return joint;
    }

    __device__ i64 size() const { return parts.count; }
    __device__ i64 me() const { return parts.me; }
    __device__ bool owns(i64 v) const { return parts.owns(v); }
    __device__ i64 first_word() const { return parts.first_word(); }
    __device__ i64 last_word(i64) const { return parts.last_word(); }
    __device__ i64 last(i64) const { return parts.last(); }

    // The report of a part at the last barrier.
    __device__ const Report& report_of(int part) const { return *slot(parts.me, part); }

private:
    // By the first warp of the last block, a lane for each part.
    template <class Fill>
    __device__ void report_to_all(Fill fill) {
        const int part = threadIdx.x;
        Report report{};
        if (part < parts.count) {
            fill(report);
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

    // Wait for a condition; false if the host has marked a part as lost.
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

// Buffers of remote messages; a double buffer, as those of a superstep may still be read while the next ones are sent.
template <class Index, class Message>
struct Post {
    RemoteMessage<Index, Message>* to[2][MAX_PARTS];    // in the memory of the part that receives
    RemoteMessage<Index, Message>* from[2][MAX_PARTS];  // in this part's

    // Send the remote messages of the lanes with `mine` to the owners of their vertices; warp-collective.
    __device__ void send(MultiGpuBarrier& barrier, int place, bool mine, Index v, Message message) const {
        const Parts& parts = barrier.parts;
        for (int part = 0; part < parts.count; ++part) {
            const u32 votes = __ballot_sync(ALL, mine && parts.owns(part, v));
            if (!votes) continue;
            barrier.wrote = true;
            u64* const sent = &barrier.barrier_state->assembly.remote_messages[part];
            const u64 base = warp_fetch_add(sent, (u64)__popc(votes)) + __popc(votes & lanes_below());
            if (votes >> lane_of_warp() & 1) to[place][part][base] = RemoteMessage<Index, Message>{v, message};
        }
    }

    // Call read(has_one, message) until all remote messages of the last barrier are read; warp-collective.
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

// Copy the words of this part's vertices to the same array of the other parts; collective over the part. In pairs, as a
// range begins at a multiple of 64 vertices, or is empty.
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

// The team of GPUs that runs a persistent kernel is one that has all rows, or several that have a range of them each. A
// kernel's loop is written once; code that only several GPUs need is conditional on `DIVIDED`.
struct OneGpu {
    static constexpr bool DIVIDED = false, lost = false;
    typedef Tally Sums;  // of a superstep, over the team
    GridBarrier barrier;
    Header* header;

    __device__ explicit OneGpu(Header* header) : barrier(&header->barrier), header(header) {}

    __device__ void wait() { barrier.wait(); }
    __device__ i64 size() const { return 1; }
    __device__ i64 me() const { return 0; }
    __device__ bool owns(i64) const { return true; }
    __device__ i64 first_word() const { return 0; }
    __device__ i64 last_word(i64 n) const { return (n + 31) / 32; }
    __device__ i64 last(i64 n) const { return n; }
};

}  // namespace hpgraph
