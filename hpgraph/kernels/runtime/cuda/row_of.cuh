// Which row of a CSR matrix an entry belongs to.
#pragma once

namespace hpgraph {

// The row that holds entry p, known to lie in low..high: the last one that begins at or before p.
__device__ inline long long row_of(const long long* indptr, long long low, long long high, long long p) {
    while (low < high) {
        const long long middle = low + (high - low + 1) / 2;
        if (indptr[middle] <= p) low = middle;
        else high = middle - 1;
    }
    return low;
}

}  // namespace hpgraph
