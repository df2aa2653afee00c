// The direction of a traversal's next superstep.
#pragma once
#include "one_block.cuh"

namespace hpgraph {

constexpr int PUSH = 0, PULL = 1;
// Costs on an H200, in arcs that a push sends, some 11 ps each. In a push: of a vertex that it reaches or, in two
// passes, of one that it reaches and one that the second pass scans. In a pull: of an unsettled vertex and of an arc
// that it examines.
constexpr float QUEUED = 13, REACHED = 4.5f, SCANNED = 0.6f, WAITING = 1.6f, EXAMINED = 0.75f;
// Vertices that the second pass scans in the time that it saves for one that it reaches.
constexpr int PASS_COST = 8;

// Vertices that are not yet settled (one at least), their out-arcs, and vertices reached by each arc of the last
// superstep.
struct Outlook {
    float waiting, unseen, rate;

    // Vertices that a superstep is expected to reach: at most those that arcs to random targets would, and no more by
    // each arc than the last one, as most neighbours of neighbours are settled in a lattice.
    __device__ float reach(float sent, float arcs) const {
        const float mean = __fdividef(sent * __fdividef(unseen, arcs), waiting);
        return fminf(rate * sent, waiting * (1 - __expf(-mean)));
    }
};

struct Policy {
    i64 alpha;      // consider a pull above this number of out-arcs
    i64 beta;       // switch back to push when a shrinking frontier has fewer vertices
    int forced;     // PUSH, PULL, or -1 to choose by these
    i64 limit;      // maximum number of supersteps
    i64 arcs;       // arcs of the graph
    i64 receivers;  // vertices with in-arcs
    LocalLimits local;

    // Whether a frontier's out-arcs exceed alpha.
    template <class AnyTally>
    __device__ bool dense(const AnyTally& now) const {
        return (i64)now.arcs > alpha;
    }

    // Whether a push that is expected to reach so many vertices should have two passes.
    template <class AnyTally>
    __device__ bool reaches_many(const AnyTally& now, const Outlook& outlook, i64 n) const {
        const i64 enough = n / PASS_COST + (i64)gridDim.x * THREADS;
        return (i64)now.arcs > enough && outlook.reach((float)now.arcs, (float)arcs) > (float)enough;
    }

    // Whether a pull takes less time than a push. A vertex that is reached examines half of its arcs, or as many as
    // there are to one of the frontier's; any other examines all.
    template <class AnyTally>
    __device__ bool pulls(const AnyTally& now, const Outlook& outlook, i64 n) const {
        const float sent = (float)now.arcs, all = (float)arcs, found = outlook.reach(sent, all);
        const float each = __fdividef(outlook.unseen, outlook.waiting);
        const float looked = (outlook.waiting - found) * each + found * fminf(__fdividef(all, sent), each / 2);
        return WAITING * outlook.waiting + EXAMINED * looked <
               sent + fminf(QUEUED * found, REACHED * found + SCANNED * (float)n);
    }

    // Next direction, from the sizes of this and the last frontier.
    template <class AnyTally>
    __device__ int turn(int direction, const AnyTally& now, i64 previous, const Outlook& outlook, i64 n) const {
        if (forced >= 0) return forced;
        if (direction == PUSH && dense(now) && pulls(now, outlook, n)) return PULL;
        // The frontier shrinks below beta, or the last pull examined twice the arcs that a push would send now; and the
        // push would not send more arcs than a pull could examine.
        if (direction == PULL && (float)now.arcs <= outlook.unseen &&
            (((i64)now.count < beta && (i64)now.count < previous) || (2 * now.arcs < now.looked && !dense(now))))
            return PUSH;
        return direction;
    }
};

}  // namespace hpgraph
