// The searches of multi_source.cuh on several GPUs, each with the whole graph: one kernel on each of them, for all
// supersteps (multi_gpu_barrier.cuh).
//
// All GPUs hold all bits and compute every superstep redundantly, except pulls and large pushes: there each GPU
// processes its share of the rows, and writes their bits into the others' memory. So only the bits of a frontier are
// transferred, once for each such superstep.
#pragma once
#include "multi_source.cuh"
#include "multi_gpu_barrier.cuh"

namespace hpgraph {

struct TeamFronts {
    u64* of[2][MAX_PARTS];  // `MultiSourceSpace::front` of every GPU
};

template <int W>
struct Together {
    static constexpr bool TOGETHER = true;
    MultiGpuBarrier& barrier;
    const RowShare& share;
    const TeamFronts& fronts;
    int next = 0;  // which of the two fronts is filled

    __device__ void next_is(int which) { next = which; }
    __device__ bool shares_push(i64 arcs) const { return arcs > share.pushed; }

    // Copy the words of this GPU's rows only: other GPUs may already be writing theirs.
    __device__ void copy_own(const u64* from, u64* to, i64 words) const {
        for_own_pairs(words, [&](i64 place) { ((ulonglong2*)to)[place] = ((const ulonglong2*)from)[place]; });
    }

    // Write the bits of a row of this GPU to all others, unless there are none: then the others keep bits of an earlier
    // frontier, which are settled and have no effect.
    __device__ void send_row(i64 v, const Bits<W>& received) const {
        if (!received.any()) return;
        for (int part = 0; part < barrier.parts.count; ++part)
            if (part != barrier.parts.me) store_bits(fronts.of[next][part], v, received);
    }

    __device__ bool lost() const { return barrier.lost; }

    // Send the bits that rows of this GPU received since they were sent: of all rows, or of the deferred ones. After
    // the barrier the bits of the other GPUs' rows are here.
    template <class Index>
    __device__ void share_rows(bool all, i64 words, const u64* reached, const Piece<Index>* list, u64 put_off) const {
        barrier.wrote = true;
        const u64 thread = (u64)blockIdx.x * THREADS + threadIdx.x, threads = (u64)gridDim.x * THREADS;
        const u64* const own = fronts.of[next][barrier.parts.me];
        if (all) share_all(own, reached, words);
        else
            for (u64 p = thread; p < put_off; p += threads)
                if (list[p].number == 0) send_row(list[p].vertex, load_shared_bits<W>(own, list[p].vertex));
        barrier.meet([](Report&) {});
    }

    __device__ void share_all(const u64* own, const u64* reached, i64 words) const {
        for_own_pairs(words, [&](i64 place) {
            const ulonglong2 pair = __ldcg((const ulonglong2*)own + place), known = ((const ulonglong2*)reached)[place];
            if (!(pair.x & ~known.x | pair.y & ~known.y)) return;
            for (int part = 0; part < barrier.parts.count; ++part)
                if (part != barrier.parts.me) ((ulonglong2*)fronts.of[next][part])[place] = pair;
        });
    }

    // Visit the words of this GPU's rows in pairs; the array has room for a pair at its end.
    template <class Visit>
    __device__ void for_own_pairs(i64 words, Visit visit) const {
        constexpr int BLOCK = RowShare::GRAIN * 32 * W / 2;
        const i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x, threads = (i64)gridDim.x * THREADS;
        for (i64 i = thread; i < share.tiles / RowShare::GRAIN * BLOCK; i += threads) {
            const i64 place = (i / BLOCK * share.parts + share.part) * BLOCK + i % BLOCK;
            if (2 * place < words) visit(place);
        }
    }

    // The end of a superstep.
    __device__ void end(const MultiSourceTally* tally) const {
        const volatile MultiSourceTally& found = *tally;
        barrier.meet([&](Report& report) {
            report.count = found.count, report.arcs = found.arcs, report.looked = found.looked;
        });
    }

    // The number of entries depends on the order of claims: all GPUs decide by the first one's tally.
    __device__ void agree(Queued& now) const {
        now.count = barrier.lost ? 0 : barrier.report_of(0).count;
        now.arcs = barrier.lost ? 0 : barrier.report_of(0).arcs;
    }

    __device__ u64 looked(const MultiSourceTally&) const {
        u64 sum = 0;
        for (int part = 0; part < barrier.parts.count; ++part) sum += barrier.report_of(part).looked;
        return sum;
    }
};

template <class Program, class Index, class Weight, int W, class T = Techniques<>>
__global__ void __launch_bounds__(THREADS, 1)
traverse_sources_together(const Program program, const Program samples, const i64 n, const Arcs<Index, Weight> out,
                          const Arcs<Index, Weight> in, const SourceStarts<Index> starts,
                          const MultiSourcePolicy policy, const MultiSourceSpace<Index> space, const RowShare share,
                          const TeamFronts fronts, const Parts parts, const u64 launch) {
    // A test launch with one part checks whether the kernel can run.
    if (parts.count != share.parts) return;
    __shared__ BlockFlags flags;
    MultiGpuBarrier multi_gpu_barrier(parts, launch, flags);
    GridBarrier barrier(&space.header->barrier);
    Together<W> team{multi_gpu_barrier, share, fronts};
    // Clear the second frontier: bits that the last run left there would count as new.
    copy_words(nullptr, fronts.of[1][parts.me], n * W);
    multi_gpu_barrier.meet([](Report&) {});
    const Messages<Program, false> messages{program, samples, n};
    run_multi_source<T, W>(team, barrier, share, messages, n, out, in, starts, policy, space);
    if (blockIdx.x == 0 && threadIdx.x == 0) space.trace.outcome->passed[0] = multi_gpu_barrier.lost;
}

}  // namespace hpgraph
