// Multi-source bottom-up step: a vertex unsettled in some live source ORs the bits of its in-neighbours, and exits its
// row as soon as all wanted bits are found. A source whose frontier is empty is not live.
//
// A warp takes 32 rows and distributes their arcs over its lanes, in rounds: some of each row, then more of those that
// still lack bits. So loads are coalesced, no lane idles while longer rows than its own are read, and all loads of a
// round are independent. A segmented scan combines the bits of a row's arcs. Rows too long for a warp are deferred, and
// the whole grid searches them afterwards, piece by piece.
#pragma once
#include "bottom_up.cuh"
#include "source_delivery.cuh"

namespace hpgraph {

// Cache blocking: bands of columns, so narrow that the bits of their vertices stay in the second-level cache while all
// rows search them. `ends` holds, for each band but the first and each vertex, the number of arcs before it. Rows of
// more than BANDED arcs are searched whole, in band 0: they use each cache line often enough.
struct Bands {
    const unsigned short* ends;
    i64 count;
};
constexpr int BANDED = 256;
// Arcs examined per row for which bands save as much as a further pass over the row costs: 4 to 16 ps of 11 to 27 each,
// against 20 to 42 ps (H200).
constexpr float BANDED_ROW = 3;

// Rows that this GPU searches of several GPUs: tiles of 32 rows, block-cyclic, so that long rows are spread evenly. One
// GPU has all rows.
struct RowShare {
    static constexpr int GRAIN = 64;
    i64 part, parts;
    i64 tiles;  // of this GPU, including those past the last row
    i64 pushed;  // arcs above which a push is divided by target rows

    __device__ i64 tile(i64 i) const { return (i / GRAIN * parts + part) * GRAIN + i % GRAIN; }
    __device__ bool owns(i64 v) const { return (u32)(v / (32 * GRAIN)) % (u32)parts == (u32)part; }
};

__device__ inline RowShare all_rows(i64 n) { return {0, 1, (n + 31) / 32, 0}; }

// Least number of neighbours of a row in the first round.
constexpr int FIRST_ROUND = 4;

// If messages differ by arc, the arc that brings each bit of eight rows is recorded first, for rows of up to NOTED
// arcs, as its index in a byte. Then the messages to eight consecutive vertices in one source are written together, as
// one sector; written separately they would be eight sectors, since each is evicted before the next write.
constexpr int NOTED_ROWS = 8, NOTED = 256;

template <class T, int W, class Team, class Delivery, class Index, class Weight>
struct MultiSourcePull {
    // Neighbours that a lane of the warp has in flight.
    static constexpr int SIZE = 4;
    const Delivery& delivery;
    const Arcs<Index, Weight>& in;
    const u64* front;
    u64 *reached, *next;
    i64 n, step;
    const u64* live;     // bits of the sources that pull
    int round;           // neighbours of a row in the first round
    SourceSums<W>& sums;
    SourceBlock<W>& block;
    Piece<Index>* list;  // of deferred rows
    u64* tail;
    const RowShare& share;
    const Team& team;
    int spare = SPARE;

    // Search the rows of the share within one band; `next` receives the bits found or, if delivered by arc, those that
    // change the vertex.
    __device__ void all_rows(const Bands& bands, int band) {
        const i64 warps = (i64)gridDim.x * WARPS;
        for (i64 i = blockIdx.x + (i64)gridDim.x * (threadIdx.x >> 5); i < share.tiles; i += warps) {
            const i64 v = share.tile(i) * 32 + lane_of_warp();
            const bool exists = v < n;
            i64 begin = 0, j = 0, end = 0, most = round;
            Bits<W> want{}, received{};
            if (exists) {
                begin = j = in.indptr[v], end = in.indptr[v + 1];
                want = wanted(load_bits<W>(reached, v));
                if (end - begin > BANDED) {
                    if (band) end = j;
                } else {
                    if (band + 1 < bands.count) end = begin + bands.ends[band * n + v];
                    if (band) j += bands.ends[(band - 1) * n + v];
                }
                if (band == 0) {
                    if constexpr (Delivery::BY_ARC) store_bits(next, v, received);
                } else if (!Delivery::BY_ARC && j < end && want.any()) {
                    received = load_bits<W>(next, v);
                }
            }
            if constexpr (Delivery::BY_ARC) __syncwarp();
            bool open = j < end && want.any() && (!T::EARLY_EXIT || want.without(received).any());
            const bool looks = open;
            if (!Delivery::BY_ARC && round == T::PIECE) search_full_rows(v, j, end, want, received, open);
            for (int group = 0; group < (Delivery::BY_ARC ? 32 / NOTED_ROWS : 1); ++group) {
                bool goes_on = open && (!Delivery::BY_ARC || lane_of_warp() / NOTED_ROWS == group);
                if (!__any_sync(ALL, goes_on)) continue;
                most = Delivery::BY_ARC ? min(32 / NOTED_ROWS * round, T::PIECE) : round;
                do {
                    deal(v, begin, j, end, goes_on ? (int)min(end - j, most) : 0, want, received);
                    goes_on = goes_on && j < end && (!T::EARLY_EXIT || want.without(received).any());
                    most = min(2 * most, (i64)T::PIECE);
                    // Rows too long for rounds: the warp continues with some, up to `spare` arcs, and defers the
                    // others.
                    const bool is_long = goes_on && end - j > T::PIECE;
                    if (!__any_sync(ALL, is_long)) continue;
                    const WarpScan scan(is_long ? (int)min(end - j, (i64)SPARE + 1) : 0);
                    const bool put_off = is_long && scan.through > spare;
                    const u32 stays = __ballot_sync(ALL, is_long && !put_off);
                    if (stays) spare -= __shfl_sync(ALL, scan.through, 31 - __clz(stays));
                    append_pieces<T>((Index)v, put_off ? end - begin : 0, list, tail);
                    if (is_long) most = end - j;
                    if (put_off) goes_on = false;
                } while (__any_sync(ALL, goes_on));
                if constexpr (Delivery::BY_ARC) hand_out(group, v, begin, end, received);
            }
            if (!Delivery::BY_ARC && exists && (looks || band == 0)) store_bits(next, v, received);
            if constexpr (Team::TOGETHER)
                if (exists && band + 1 == bands.count)
                    team.send_row(v, looks || band == 0 ? received : load_bits<W>(next, v));
        }
    }

    // The deferred rows, after a barrier.
    __device__ void pieces_put_off(u64 pieces) {
        for (u64 p = blockIdx.x + gridDim.x * (threadIdx.x >> 5); p < pieces; p += gridDim.x * WARPS) {
            const Piece<Index> piece = list[p];
            const i64 v = piece.vertex, begin = in.indptr[v] + (i64)piece.number * T::PIECE;
            Bits<W> want = wanted(load_shared_bits<W>(reached, v)), received{};
            if constexpr (T::EARLY_EXIT && !Delivery::BY_ARC) want = want.without(load_shared_bits<W>(next, v));
            if (!__any_sync(ALL, want.any())) continue;
            search(v, begin, min(begin + T::PIECE, in.indptr[v + 1]), want, received);
            if (Delivery::BY_ARC || lane_of_warp() != 0) continue;
#pragma unroll
            for (int w = 0; w < W; ++w)
                if (received.word[w]) atomicOr(next + v * W + w, received.word[w]);
        }
    }

private:
    __device__ Bits<W> wanted(const Bits<W>& known) const {
        Bits<W> want;
#pragma unroll
        for (int w = 0; w < W; ++w) want.word[w] = live[w] & ~known.word[w];
        return want;
    }

    __device__ static Bits<W> from_lane(const Bits<W>& bits, int lane) {
        Bits<W> got;
#pragma unroll
        for (int w = 0; w < W; ++w) got.word[w] = __shfl_sync(ALL, bits.word[w], lane);
        return got;
    }

    // OR over the warp.
    __device__ static void join(Bits<W>& bits) {
#pragma unroll
        for (int w = 0; w < W; ++w) bits.word[w] = warp_or(bits.word[w]);
    }

    // OR over the lanes of the warp from `first` up to this one.
    __device__ static void join_from(Bits<W>& bits, int first) {
#pragma unroll
        for (int d = 1; d < 32; d <<= 1) {
            Bits<W> below;
#pragma unroll
            for (int w = 0; w < W; ++w) below.word[w] = __shfl_up_sync(ALL, bits.word[w], d);
            if (lane_of_warp() - d >= first) bits.add(below);
        }
    }

    // If early exits are rare, a row that fills all loads of the warp is searched by the whole warp: its bits are
    // combined once, and not after every 32 arcs.
    __device__ void search_full_rows(i64 v, i64 j, i64 end, const Bits<W>& want, Bits<W>& received, bool& open) {
        const bool fills = open && end - j >= 32 * SIZE && end - j <= T::PIECE;
        for (u32 rest = __ballot_sync(ALL, fills); rest; rest &= rest - 1) {
            const int owner = __ffs(rest) - 1;
            Bits<W> found = from_lane(received, owner);
            search(__shfl_sync(ALL, v, owner), __shfl_sync(ALL, j, owner), __shfl_sync(ALL, end, owner),
                   from_lane(want, owner), found);
            if (lane_of_warp() == owner) received = found, open = false;
        }
    }

    // Keep the bits that pass `edge_cond` of an arc.
    __device__ void let_through(Index u, i64 arc, i64 v, Bits<W>& bits) const {
        if constexpr (Delivery::CHOOSES) {
#pragma unroll
            for (int w = 0; w < W; ++w)
                if (bits.word[w]) bits.word[w] = delivery.passing(u, in.weight(arc), v, w, bits.word[w]);
        }
    }

    // Claim bits and deliver their messages; those that change the vertex go to `next`.
    __device__ void deliver(Index u, i64 arc, i64 v, const Bits<W>& bits) {
#pragma unroll
        for (int w = 0; w < W; ++w) {
            const u64 fresh = bits.word[w] ? bits.word[w] & ~atomicOr(reached + v * W + w, bits.word[w]) : 0;
            if (!fresh) continue;
            sums.pairs += __popcll(fresh);
            const u64 changed = delivery.deliver(u, in.weight(arc), v, w, fresh, step);
            if (changed) atomicOr(next + v * W + w, changed);
        }
    }

    // For each source, the index of the arc that brings its bit of a row of the group.
    __device__ unsigned char* notes(int row) const {
        constexpr int STRIDE = 64 * W + 4;  // neighbouring rows in different banks
        static_assert(sizeof(block.slots) >= WARPS * NOTED_ROWS * STRIDE, "eight rows a warp");
        return (unsigned char*)block.slots + ((threadIdx.x >> 5) * NOTED_ROWS + row) * STRIDE;
    }
    __device__ void note(unsigned char* notes, int arc, const Bits<W>& bits) const {
#pragma unroll
        for (int w = 0; w < W; ++w)
            for (u64 rest = bits.word[w]; rest; rest &= rest - 1) notes[64 * w + __ffsll(rest) - 1] = arc;
    }

    // Deliver the recorded arcs of a group of rows; warp-collective.
    __device__ void hand_out(int group, i64 v, i64 begin, i64 end, const Bits<W>& received) {
        const bool owns = lane_of_warp() / NOTED_ROWS == group && end - begin <= NOTED;
        Bits<W> fresh{}, refused{};
#pragma unroll
        for (int w = 0; w < W; ++w)
            if (owns && received.word[w])
                fresh.word[w] = received.word[w] & ~atomicOr(reached + v * W + w, received.word[w]);
        __syncwarp();
        const int row = lane_of_warp() % NOTED_ROWS, owner = group * NOTED_ROWS + row;
        const Bits<W> bits = from_lane(fresh, owner);
        const i64 target = __shfl_sync(ALL, v, owner), first = __shfl_sync(ALL, begin, owner);
#pragma unroll
        for (int w = 0; w < W; ++w) {
            sums.pairs += __popcll(fresh.word[w]);
            for (int bit = lane_of_warp() / NOTED_ROWS; bit < 64; bit += 32 / NOTED_ROWS) {
                if (!(bits.word[w] >> bit & 1)) continue;
                const i64 arc = first + notes(row)[64 * w + bit];
                if (!delivery.receive(in.indices[arc], in.weight(arc), target, 64 * w + bit, step))
                    refused.word[w] |= 1ull << bit;
            }
            for (int d = NOTED_ROWS; d < 32; d <<= 1) refused.word[w] |= __shfl_xor_sync(ALL, refused.word[w], d);
            const u64 changed = fresh.word[w] & ~refused.word[w];
            if (changed) atomicOr(next + v * W + w, changed);
        }
        __syncwarp();
    }

    // Examine the next `take` neighbours of each lane's row, and advance j; warp-collective.
    __device__ void deal(i64 v, i64 begins, i64& j, i64 end, int take, const Bits<W>& want, Bits<W>& received) {
        const WarpScan scan(take);
        const int first = scan.through - take;
        const i64 offset = j - first;
        j += take;
        for (int begin = 0; begin < scan.total; begin += 32 * SIZE) {
            Index u[SIZE];
            i64 arc[SIZE];
            int owner[SIZE];
            Bits<W> bits[SIZE];
#pragma unroll
            for (int k = 0; k < SIZE; ++k) {
                const int t = begin + 32 * k + lane_of_warp();
                owner[k] = scan.owner(t), arc[k] = __shfl_sync(ALL, offset, owner[k]) + t;
                u[k] = t < scan.total ? in.indices[arc[k]] : 0;
            }
#pragma unroll
            for (int k = 0; k < SIZE; ++k) {
                const bool mine = begin + 32 * k + lane_of_warp() < scan.total;
                bits[k] = mine ? load_bits<W>(front, u[k]) : Bits<W>{};
                sums.looked += mine;
            }
#pragma unroll
            for (int k = 0; k < SIZE; ++k) {
                const int at = begin + 32 * k;
                if (at >= scan.total) break;
                const int first_owner = __shfl_sync(ALL, owner[k], 0), from = __shfl_sync(ALL, first, owner[k]) - at;
                if constexpr (Delivery::BY_ARC) {
                    bits[k].keep(from_lane(want, owner[k]).without(from_lane(received, owner[k])));
                    const i64 target = __shfl_sync(ALL, v, owner[k]), row = __shfl_sync(ALL, begins, owner[k]);
                    const bool is_noted = __shfl_sync(ALL, end, owner[k]) - row <= NOTED;
                    let_through(u[k], arc[k], target, bits[k]);
                    // The first arc of a row with a bit delivers it.
                    Bits<W> own = bits[k];
                    join_from(bits[k], from);
                    const Bits<W> before = from_lane(bits[k], max(lane_of_warp() - 1, 0));
                    if (lane_of_warp() > max(from, 0)) own = own.without(before);
                    if (is_noted) note(notes(owner[k] % NOTED_ROWS), (int)(arc[k] - row), own);
                    else deliver(u[k], arc[k], target, own);
                } else if (__all_sync(ALL, owner[k] == first_owner)) {
                    join(bits[k]);
                } else {
                    join_from(bits[k], from);
                }
                // The last lane of each row has all bits of the row.
                const int last = min(scan.through - at, 32) - 1;
                Bits<W> brought = from_lane(bits[k], max(last, 0));
                brought.keep(want);
                if (max(first - at, 0) <= last) received.add(brought);
            }
        }
    }

    // Search one row; warp-collective.
    __device__ void search(i64 v, i64 j, i64 end, const Bits<W>& want, Bits<W>& received) {
        for (j += lane_of_warp(); __any_sync(ALL, j < end); j += 32 * SIZE) {
            Index u[SIZE];
            Bits<W> bits[SIZE];
#pragma unroll
            for (int k = 0; k < SIZE; ++k) u[k] = j + 32 * k < end ? in.indices[j + 32 * k] : 0;
#pragma unroll
            for (int k = 0; k < SIZE; ++k) {
                bits[k] = j + 32 * k < end ? load_bits<W>(front, u[k]) : Bits<W>{};
                sums.looked += j + 32 * k < end;
            }
#pragma unroll
            for (int k = 0; k < SIZE; ++k) {
                bits[k].keep(want);
                bits[k] = bits[k].without(received);
                if constexpr (Delivery::BY_ARC) {
                    let_through(u[k], j + 32 * k, v, bits[k]);
                    deliver(u[k], j + 32 * k, v, bits[k]);
                }
                received.add(bits[k]);
            }
            join(received);
            if (T::EARLY_EXIT && !__any_sync(ALL, want.without(received).any())) return;
        }
    }
};

}  // namespace hpgraph
