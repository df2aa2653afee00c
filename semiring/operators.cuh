// The built-in binary operators, as types with a static apply; the values are those of arithmetic.py.
//
// An operator that makes a monoid also has atomic_combine(T*, T). Operands are already converted to the type of the
// computation; op::div is never called for integers.
#pragma once
#include "atomics.cuh"
#include "numbers.cuh"
#include "unary.cuh"

namespace hpgraph {
namespace op {

// By compare-and-swap; operators for which the hardware has an instruction override it.
template <class Op>
struct Combines {
    template <class T> __device__ static bool atomic_combine(T* where, T value) { return combine_by_cas<Op>(where, value); }
    // The same for a caller that has already read the aligned word around it.
    template <class T> __device__ static bool atomic_combine_seen(T* where, T value, Wide<T>) {
        return Op::atomic_combine(where, value);
    }
};

#define HPGRAPH_COMBINED(name, combine, ...)                                    \
    struct name : Combines<name> {                                              \
        template <class T> __device__ static T apply(T a, T b) { __VA_ARGS__ }  \
        template <class T> __device__ static bool atomic_combine(T* where, T value) { return combine<name>(where, value); } \
    };
HPGRAPH_COMBINED(plus, combine_plus,
    if constexpr (is_bool<T>) return a | b;
    else if constexpr (is_inexact<T>) return a + b;
    else return T(Wide<T>(a) + Wide<T>(b));)
HPGRAPH_COMBINED(bor, combine_or, return T(a | b);)
HPGRAPH_COMBINED(band, combine_and, return T(a & b);)
HPGRAPH_COMBINED(bxor, combine_xor, return T(a ^ b);)
#undef HPGRAPH_COMBINED

#define HPGRAPH_EXTREME(name, sign, is_min)                                     \
    struct name : Combines<name> {                                              \
        template <class T> __device__ static T apply(T a, T b) {                \
            if constexpr (sizeof(T) == 4 && is_float<T>) return ::f##name##f(a, b); \
            else if constexpr (is_float<T>) return ::f##name(a, b);             \
            else return a sign b ? a : b;                                       \
        }                                                                       \
        template <class T> __device__ static bool atomic_combine(T* where, T value) { \
            return combine_extreme<name, is_min>(where, value);                 \
        }                                                                       \
        template <class T> __device__ static bool atomic_combine_seen(T* where, T value, Wide<T> seen) { \
            return combine_extreme<name, is_min>(where, value, seen);           \
        }                                                                       \
    };
HPGRAPH_EXTREME(min, <, true)
HPGRAPH_EXTREME(max, >, false)
#undef HPGRAPH_EXTREME

#define HPGRAPH_OPERATOR(name, R, ...)                                          \
    struct name : Combines<name> {                                              \
        template <class T> __device__ static R apply(T a, T b) { __VA_ARGS__ }  \
    };
HPGRAPH_OPERATOR(times, T,
    if constexpr (is_bool<T>) return a & b;
    else if constexpr (is_inexact<T>) return a * b;
    else return T(Wide<T>(a) * Wide<T>(b));)
// The first value that is not the identity.
HPGRAPH_OPERATOR(any, T, return a != T(0) ? a : b;)
HPGRAPH_OPERATOR(any_index, T, return a == T(-1) ? b : a;)
HPGRAPH_OPERATOR(lor, T, return T(a != T(0) || b != T(0));)
HPGRAPH_OPERATOR(land, T, return T(a != T(0) && b != T(0));)
HPGRAPH_OPERATOR(lxor, T, return T((a != T(0)) != (b != T(0)));)
HPGRAPH_OPERATOR(lxnor, T, return T((a != T(0)) == (b != T(0)));)
HPGRAPH_OPERATOR(bxnor, T,
    if constexpr (is_bool<T>) return a == b;
    else return T(~(a ^ b));)
HPGRAPH_OPERATOR(minus, T,
    if constexpr (is_bool<T>) return a != b;
    else if constexpr (is_inexact<T>) return a - b;
    else return T(Wide<T>(a) - Wide<T>(b));)
HPGRAPH_OPERATOR(rminus, T, return minus::apply(b, a);)
HPGRAPH_OPERATOR(div, T, return a / b;)
HPGRAPH_OPERATOR(rdiv, T, return b / a;)
HPGRAPH_OPERATOR(first, T, return a;)
HPGRAPH_OPERATOR(second, T, return b;)
HPGRAPH_OPERATOR(pair, T, return T(1);)
HPGRAPH_OPERATOR(eq, bool, return a == b;)
HPGRAPH_OPERATOR(ne, bool, return a != b;)
HPGRAPH_OPERATOR(lt, bool, return a < b;)
HPGRAPH_OPERATOR(le, bool, return a <= b;)
HPGRAPH_OPERATOR(gt, bool, return a > b;)
HPGRAPH_OPERATOR(ge, bool, return a >= b;)
HPGRAPH_OPERATOR(hypot, T, if constexpr (sizeof(T) == 4) return ::hypotf(a, b); else return ::hypot(a, b);)
HPGRAPH_OPERATOR(atan2, T, if constexpr (sizeof(T) == 4) return ::atan2f(a, b); else return ::atan2(a, b);)
// Saturating sums and differences of integers.
HPGRAPH_OPERATOR(saturated_plus, T,
    const T total = plus::apply(a, b);
    if constexpr (is_bool<T> || is_float<T>) return total;
    else if constexpr (is_signed<T>)
        return T((a ^ total) & (b ^ total)) < T(0) ? (a < T(0) ? smallest<T>() : largest<T>()) : total;
    else return total < a ? largest<T>() : total;)
HPGRAPH_OPERATOR(saturated_minus, T,
    const T rest = minus::apply(a, b);
    if constexpr (is_bool<T> || is_float<T>) return rest;
    else if constexpr (is_signed<T>)
        return T((a ^ b) & (a ^ rest)) < T(0) ? (a < T(0) ? smallest<T>() : largest<T>()) : rest;
    else return a > b ? rest : T(0);)
HPGRAPH_OPERATOR(saturated_rminus, T, return saturated_minus::apply(b, a);)
#undef HPGRAPH_OPERATOR

// Rounds down, as Python and NumPy do; C++ rounds toward zero.
struct floordiv {
    template <class T> __device__ static T apply(T a, T b) {
        if constexpr (is_float<T>) {
            return floats(a, b);
        } else if constexpr (is_signed<T>) {
            if (b == T(0)) return T(0);
            if (b == T(-1)) return T(-Wide<T>(a));  // the smallest integer has no counterpart and wraps around
            const T quotient = T(a / b);
            return T(quotient - T(quotient * b != a && (a < T(0)) != (b < T(0))));
        } else {
            return b == T(0) ? T(0) : T(a / b);
        }
    }

    // As in NumPy: from the exact remainder, so that the quotient is not rounded up to the next integer.
    template <class T> __device__ static T floats(T a, T b) {
        if (b == T(0)) return a / b;
        T remainder;
        if constexpr (sizeof(T) == 4) remainder = ::fmodf(a, b);
        else remainder = ::fmod(a, b);
        T quotient = (a - remainder) / b;
        if (remainder != T(0) && (b < T(0)) != (remainder < T(0))) quotient -= T(1);
        if (quotient == T(0)) {
            if constexpr (sizeof(T) == 4) return ::copysignf(T(0), a / b);
            else return ::copysign(T(0), a / b);
        }
        const T whole = floor::apply(quotient);
        return quotient - whole > T(0.5) ? whole + T(1) : whole;
    }
};

// Index-unary operators: of row, column and thunk.
#define HPGRAPH_FUNCTION_OF_PLACE(name, R, value) \
    struct name {                                 \
        __device__ static R apply(long long i, long long j, long long thunk) { return value; } \
    };
HPGRAPH_FUNCTION_OF_PLACE(rowindex, long long, i + thunk)
HPGRAPH_FUNCTION_OF_PLACE(colindex, long long, j + thunk)
HPGRAPH_FUNCTION_OF_PLACE(diagindex, long long, j - i - thunk)
HPGRAPH_FUNCTION_OF_PLACE(tril, bool, j - i <= thunk)
HPGRAPH_FUNCTION_OF_PLACE(triu, bool, j - i >= thunk)
HPGRAPH_FUNCTION_OF_PLACE(diag, bool, j - i == thunk)
HPGRAPH_FUNCTION_OF_PLACE(offdiag, bool, j - i != thunk)
HPGRAPH_FUNCTION_OF_PLACE(rowle, bool, i <= thunk)
HPGRAPH_FUNCTION_OF_PLACE(rowgt, bool, i > thunk)
HPGRAPH_FUNCTION_OF_PLACE(colle, bool, j <= thunk)
HPGRAPH_FUNCTION_OF_PLACE(colgt, bool, j > thunk)
#undef HPGRAPH_FUNCTION_OF_PLACE

}  // namespace op
}  // namespace hpgraph
