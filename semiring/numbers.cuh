// Traits of number types for operators. No header is included, so that NVRTC needs none.
#pragma once
#include "complex.cuh"

namespace hpgraph {
namespace op {

template <class T> constexpr bool is_float = false;
template <> constexpr bool is_float<float> = true;
template <> constexpr bool is_float<double> = true;

// Numbers with their own + - * /; integers are computed as unsigned ones instead.
template <class T> constexpr bool is_inexact = is_float<T> || is_complex<T>;

template <class T> constexpr bool is_bool = false;
template <> constexpr bool is_bool<bool> = true;

template <class T> constexpr bool is_signed = T(-1) < T(0);

template <int size> struct Integers;
template <> struct Integers<1> {
    typedef signed char Signed;
    typedef unsigned char Unsigned;
};
template <> struct Integers<2> {
    typedef short Signed;
    typedef unsigned short Unsigned;
};
template <> struct Integers<4> {
    typedef int Signed;
    typedef unsigned int Unsigned;
};
template <> struct Integers<8> {
    typedef long long Signed;
    typedef unsigned long long Unsigned;
};

template <class T> using Signed = typename Integers<sizeof(T)>::Signed;
template <class T> using Unsigned = typename Integers<sizeof(T)>::Unsigned;

// The type in which integers are computed: unsigned, because it wraps around, and not narrower than int, because C++
// would promote it to signed int first.
template <class T> using Wide = typename Integers<(sizeof(T) < 4 ? 4 : sizeof(T))>::Unsigned;

template <class To, class From>
__device__ To bits_as(From from) {
    static_assert(sizeof(To) == sizeof(From), "the same bits, read as another type");
    To to;
    memcpy(&to, &from, sizeof(To));
    return to;
}

// Bounds of a type's range; infinities for floats.
template <class T>
__device__ T largest() {
    if constexpr (is_bool<T>) return true;
    else if constexpr (sizeof(T) == 4 && is_float<T>) return __int_as_float(0x7f800000);
    else if constexpr (is_float<T>) return __longlong_as_double(0x7ff0000000000000LL);
    else if constexpr (is_signed<T>) return T(~(1ULL << (8 * sizeof(T) - 1)));
    else return T(~0ULL);
}

template <class T>
__device__ T smallest() {
    if constexpr (is_float<T>) return -largest<T>();
    else if constexpr (is_signed<T>) return T(1ULL << (8 * sizeof(T) - 1));
    else return T(0);
}

}  // namespace op
}  // namespace hpgraph
