// The built-in unary operators, as types with a static apply; the values are those of arithmetic.py.
#pragma once
#include "numbers.cuh"

namespace hpgraph {
namespace op {

#define HPGRAPH_FUNCTION(name, R, ...) \
    struct name {                      \
        template <class T> __device__ static R apply(T a) { __VA_ARGS__ } \
    };
HPGRAPH_FUNCTION(identity, T, return a;)
HPGRAPH_FUNCTION(ainv, T,
    if constexpr (is_bool<T>) return a;
    else if constexpr (is_inexact<T>) return -a;
    else return T(-Wide<T>(a));)
HPGRAPH_FUNCTION(minv, T, return T(1) / a;)
HPGRAPH_FUNCTION(abs, Real<T>,
    if constexpr (is_complex<T> && sizeof(T) == 8) return ::hypotf(a.re, a.im);
    else if constexpr (is_complex<T>) return ::hypot(a.re, a.im);
    else if constexpr (is_float<T>) return bits_as<T>(Unsigned<T>(bits_as<Unsigned<T>>(a) & (Unsigned<T>(~0ULL) >> 1)));
    else return a < T(0) ? ainv::apply(a) : a;)
HPGRAPH_FUNCTION(conj, T, if constexpr (is_complex<T>) return {a.re, -a.im}; else return a;)
HPGRAPH_FUNCTION(real, Real<T>, if constexpr (is_complex<T>) return a.re; else return a;)
HPGRAPH_FUNCTION(imag, Real<T>, if constexpr (is_complex<T>) return a.im; else return T(0);)
HPGRAPH_FUNCTION(sign, T, return a != a ? a : T(int(a > T(0)) - int(a < T(0)));)
HPGRAPH_FUNCTION(one, T, return T(1);)
HPGRAPH_FUNCTION(lnot, T, return T(a == T(0));)
HPGRAPH_FUNCTION(bnot, T, if constexpr (is_bool<T>) return !a; else return T(~a);)
HPGRAPH_FUNCTION(isnan, bool, return a != a;)
HPGRAPH_FUNCTION(isinf, bool,
    if constexpr (is_complex<T>) return apply(a.re) || apply(a.im);
    else if constexpr (is_float<T>) return a == largest<T>() || a == smallest<T>();
    else return false;)
HPGRAPH_FUNCTION(isfinite, bool, return !isnan::apply(a) && !isinf::apply(a);)

// C functions of a double, with suffix f for float. For integers they are the identity.
#define HPGRAPH_FUNCTION_OF_FLOATS(name)                  \
    HPGRAPH_FUNCTION(name, T,                             \
        if constexpr (!is_float<T>) return a;             \
        else if constexpr (sizeof(T) == 4) return ::name##f(a); \
        else return ::name(a);)
HPGRAPH_FUNCTION_OF_FLOATS(floor)
HPGRAPH_FUNCTION_OF_FLOATS(ceil)
HPGRAPH_FUNCTION_OF_FLOATS(trunc)
HPGRAPH_FUNCTION_OF_FLOATS(sqrt)
HPGRAPH_FUNCTION_OF_FLOATS(exp)
HPGRAPH_FUNCTION_OF_FLOATS(exp2)
HPGRAPH_FUNCTION_OF_FLOATS(expm1)
HPGRAPH_FUNCTION_OF_FLOATS(log)
HPGRAPH_FUNCTION_OF_FLOATS(log2)
HPGRAPH_FUNCTION_OF_FLOATS(log10)
HPGRAPH_FUNCTION_OF_FLOATS(log1p)
HPGRAPH_FUNCTION_OF_FLOATS(sin)
HPGRAPH_FUNCTION_OF_FLOATS(cos)
HPGRAPH_FUNCTION_OF_FLOATS(tan)
HPGRAPH_FUNCTION_OF_FLOATS(tanh)
#undef HPGRAPH_FUNCTION_OF_FLOATS
#undef HPGRAPH_FUNCTION

}  // namespace op
}  // namespace hpgraph
