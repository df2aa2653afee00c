// Binary searches.
#pragma once

namespace hpgraph {

// The row of a CSR matrix that holds entry p, given that it is in low..high: the last row that begins at or before p.
__device__ __forceinline__ long long row_of(const long long* indptr, long long low, long long high, long long p) {
    while (low < high) {
        const long long middle = low + (high - low + 1) / 2;
        if (indptr[middle] <= p) low = middle;
        else high = middle - 1;
    }
    return low;
}

// A read-only array during a kernel.
template <class T>
struct ReadOnly {
    const T* values;
    __device__ T operator[](long long i) const { return __ldg(values + i); }
};

// The first position in [begin, end) whose value is not less than x.
template <class Place, class Values, class X>
__device__ Place lower_bound(Values values, Place begin, Place end, X x) {
    while (begin < end) {
        const Place middle = begin + (end - begin) / 2;
        if (values[middle] < x) begin = middle + 1;
        else end = middle;
    }
    return begin;
}

}  // namespace hpgraph
