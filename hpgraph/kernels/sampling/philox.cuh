// Counter-based random numbers, as in hpgraph.semiring.counter_random: Philox4x32 with ten rounds (J. K. Salmon, M. A.
// Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11); and draws from them.
#pragma once
#include "warp.cuh"

namespace hpgraph {

__device__ __forceinline__ u64 random_bits(u64 seed, u64 one, u64 two) {
    u32 a = (u32)one, b = (u32)(one >> 32), c = (u32)two, d = (u32)(two >> 32);
    u32 first = (u32)seed, second = (u32)(seed >> 32);
#pragma unroll
    for (int round = 0; round < 10; ++round) {
        const u64 left = (u64)0xD2511F53u * a, right = (u64)0xCD9E8D57u * c;
        a = (u32)(right >> 32) ^ b ^ first;
        b = (u32)right;
        c = (u32)(left >> 32) ^ d ^ second;
        d = (u32)left;
        first += 0x9E3779B9u;
        second += 0xBB67AE85u;
    }
    return a | (u64)b << 32;
}

// A uniform integer in 0, ..., count - 1.
__device__ __forceinline__ i64 below(u64 word, i64 count) { return (i64)__umul64hi(word, (u64)count); }

// A uniform multiple of 2^-53 in [0, 1).
__device__ __forceinline__ double unit(u64 word) { return (double)(word >> 11) * 0x1p-53; }

// Inverse transform: the position in begin..end whose interval of the running sums contains random bits; its weight is
// positive. Galloping search from the position that equal weights would give.
__device__ __forceinline__ i64 by_weight(const double* __restrict__ running, i64 begin, i64 end, u64 word) {
    const double total = running[end - 1], share = unit(word), x = share * total;
    i64 low = begin, high = end, step = 1, guess = begin + (i64)(share * (double)(end - begin));
    if (guess >= end) guess = end - 1;
    if (running[guess] > x) {
        high = guess;
        for (; high - step >= low && running[high - step] > x; step *= 2) high -= step;
        if (low < high - step + 1) low = high - step + 1;
    } else {
        low = guess + 1;
        for (; low + step <= high && !(running[low + step - 1] > x); step *= 2) low += step;
        if (high > low + step - 1) high = low + step - 1;
    }
    while (low < high) {
        const i64 middle = (low + high) >> 1;
        if (running[middle] > x) high = middle;
        else low = middle + 1;
    }
    if (low < end) return low;
    // The product was rounded up to the total: take the last entry of positive weight.
    low = begin, high = end - 1;
    while (low < high) {
        const i64 middle = (low + high) >> 1;
        if (running[middle] >= total) high = middle;
        else low = middle + 1;
    }
    return low;
}

}  // namespace hpgraph
