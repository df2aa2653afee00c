// The built-in unary operators: arithmetic.py's, as types with a static apply.
#pragma once
#include "numbers.cuh"

namespace hpgraph {
namespace op {

struct identity {
    template <class T> __device__ static T apply(T a) { return a; }
};

struct ainv {
    template <class T> __device__ static T apply(T a) {
        if constexpr (is_bool<T>) return a;
        else if constexpr (is_inexact<T>) return -a;
        else return T(-Wide<T>(a));
    }
};

struct minv {
    template <class T> __device__ static T apply(T a) { return T(1) / a; }
};

struct abs {
    template <class T> __device__ static Real<T> apply(T a) {
        if constexpr (is_complex<T> && sizeof(T) == 8) return ::hypotf(a.re, a.im);
        else if constexpr (is_complex<T>) return ::hypot(a.re, a.im);
        else if constexpr (is_float<T>) return bits_as<T>(Unsigned<T>(bits_as<Unsigned<T>>(a) & (Unsigned<T>(~0ULL) >> 1)));
        else return a < T(0) ? ainv::apply(a) : a;
    }
};

struct conj {
    template <class T> __device__ static T apply(T a) {
        if constexpr (is_complex<T>) return {a.re, -a.im};
        else return a;
    }
};

struct real {
    template <class T> __device__ static Real<T> apply(T a) {
        if constexpr (is_complex<T>) return a.re;
        else return a;
    }
};

struct imag {
    template <class T> __device__ static Real<T> apply(T a) {
        if constexpr (is_complex<T>) return a.im;
        else return T(0);
    }
};

struct sign {
    template <class T> __device__ static T apply(T a) { return a != a ? a : T(int(a > T(0)) - int(a < T(0))); }
};

struct one {
    template <class T> __device__ static T apply(T) { return T(1); }
};

struct lnot {
    template <class T> __device__ static T apply(T a) { return T(a == T(0)); }
};

struct bnot {
    template <class T> __device__ static T apply(T a) {
        if constexpr (is_bool<T>) return !a;
        else return T(~a);
    }
};

struct isnan {
    template <class T> __device__ static bool apply(T a) { return a != a; }
};

struct isinf {
    template <class T> __device__ static bool apply(T a) {
        if constexpr (is_complex<T>) return apply(a.re) || apply(a.im);
        else if constexpr (is_float<T>) return a == largest<T>() || a == smallest<T>();
        else return false;
    }
};

struct isfinite {
    template <class T> __device__ static bool apply(T a) { return !isnan::apply(a) && !isinf::apply(a); }
};

// C's functions of a double, which end in f for a float. Roundings, for numbers, leave integers as they are.
#define HPGRAPH_FUNCTION_OF_FLOATS(name)                    \
    struct name {                                           \
        template <class T> __device__ static T apply(T a) { \
            if constexpr (!is_float<T>) return a;           \
            else if constexpr (sizeof(T) == 4) return ::name##f(a); \
            else return ::name(a);                          \
        }                                                   \
    };
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

}  // namespace op
}  // namespace hpgraph
