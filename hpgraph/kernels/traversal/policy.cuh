// The direction of a traversal's next superstep.
#pragma once
#include "one_block.cuh"

namespace hpgraph {

constexpr int PUSH = 0, PULL = 1;
// A pull skips this many settled vertices in the time of one arc of a push.
constexpr int PULL_COST = 16;

struct Policy {
    i64 alpha;   // switch to pull above this number of out-arcs
    i64 beta;    // switch back to push when a shrinking frontier has fewer vertices
    int forced;  // PUSH, PULL, or -1 to choose by these
    i64 limit;   // maximum number of supersteps
    i64 arcs;    // arcs of the graph
    LocalLimits local;

    // Whether a frontier's out-arcs exceed alpha.
    template <class AnyTally>
    __device__ bool dense(const AnyTally& now) const {
        return (i64)now.arcs > alpha;
    }

    // Next direction, from the sizes of this and the last frontier; `unseen` is the out-arcs of vertices not yet
    // reached.
    template <class AnyTally>
    __device__ int turn(int direction, const AnyTally& now, i64 previous, i64 unseen, i64 n) const {
        if (forced >= 0) return forced;
        if (direction == PUSH && dense(now)) return PULL;
        // The frontier shrinks below beta, or the last pull examined twice the arcs that a push would send now; and the
        // push would not send more arcs than a pull could examine.
        if (direction == PULL && (i64)now.arcs <= unseen + n / PULL_COST &&
            (((i64)now.count < beta && (i64)now.count < previous) || (2 * now.arcs < now.looked && !dense(now))))
            return PUSH;
        return direction;
    }
};

}  // namespace hpgraph
