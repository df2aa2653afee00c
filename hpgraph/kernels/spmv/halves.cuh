// 16-bit floating-point numbers: stored as such, computed as float.
#pragma once

namespace hpgraph {

struct bfloat { unsigned short bits; };
struct half { unsigned short bits; };

template <class T> struct Wide { typedef T type; };
template <> struct Wide<bfloat> { typedef float type; };
template <> struct Wide<half> { typedef float type; };

template <class T> __device__ T widened(T x) { return x; }
__device__ inline float widened(bfloat x) { return __uint_as_float((unsigned)x.bits << 16); }
__device__ inline float widened(half x) {
    float made;
    asm("cvt.f32.f16 %0, %1;" : "=f"(made) : "h"(x.bits));
    return made;
}

// Rounded to the nearest, ties to even.
template <class T> __device__ void narrow(T x, T& to) { to = x; }
__device__ inline void narrow(float x, bfloat& to) {
    const unsigned bits = __float_as_uint(x);
    to.bits = x == x ? (bits + 0x7fff + (bits >> 16 & 1)) >> 16 : 0x7fff;
}
__device__ inline void narrow(float x, half& to) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(to.bits) : "f"(x)); }

}  // namespace hpgraph
