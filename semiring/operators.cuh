// The built-in binary operators: arithmetic.py's, value for value, as types with a static apply.
//
// An operator that makes a monoid also has identity<T>(), its terminal (a value that ends a reduction), and
// atomic_combine(T*, T). Operands have been converted to the type computed in: op::div is never asked for integers.
#pragma once
#include "atomics.cuh"
#include "index_unary.cuh"
#include "numbers.cuh"
#include "unary.cuh"

namespace hpgraph {
namespace op {

// A monoid without hardware atomics and terminal; others override these.
template <class Op>
struct Combines {
    template <class T> __device__ static bool atomic_combine(T* where, T value) { return combine_by_cas<Op>(where, value); }
    // The same for a caller that has read the aligned word around it.
    template <class T> __device__ static bool atomic_combine_seen(T* where, T value, Wide<T>) {
        return Op::atomic_combine(where, value);
    }
    template <class T> __device__ static constexpr bool has_terminal() { return false; }
    template <class T> __device__ static bool is_terminal(T) { return false; }
};

struct plus : Combines<plus> {
    template <class T> __device__ static T apply(T a, T b) {
        if constexpr (is_bool<T>) return a | b;
        else if constexpr (is_inexact<T>) return a + b;
        else return T(Wide<T>(a) + Wide<T>(b));
    }
    template <class T> __device__ static T identity() { return T(0); }
    template <class T> __device__ static constexpr bool has_terminal() { return is_bool<T>; }
    template <class T> __device__ static bool is_terminal(T a) { return is_bool<T> && a == T(1); }
    template <class T> __device__ static bool atomic_combine(T* where, T value) { return combine_plus<plus>(where, value); }
};

struct times : Combines<times> {
    template <class T> __device__ static T apply(T a, T b) {
        if constexpr (is_bool<T>) return a & b;
        else if constexpr (is_inexact<T>) return a * b;
        else return T(Wide<T>(a) * Wide<T>(b));
    }
    template <class T> __device__ static T identity() { return T(1); }
    // A float zero does not end a product: zero times infinity is NaN.
    template <class T> __device__ static constexpr bool has_terminal() { return !is_inexact<T>; }
    template <class T> __device__ static bool is_terminal(T a) { return !is_inexact<T> && a == T(0); }
};

struct min : Combines<min> {
    template <class T> __device__ static T apply(T a, T b) {
        if constexpr (sizeof(T) == 4 && is_float<T>) return ::fminf(a, b);
        else if constexpr (is_float<T>) return ::fmin(a, b);
        else return a < b ? a : b;
    }
    template <class T> __device__ static T identity() { return largest<T>(); }
    template <class T> __device__ static constexpr bool has_terminal() { return true; }
    template <class T> __device__ static bool is_terminal(T a) { return a == smallest<T>(); }
    template <class T> __device__ static bool atomic_combine(T* where, T value) {
        return combine_extreme<min, true>(where, value);
    }
    template <class T> __device__ static bool atomic_combine_seen(T* where, T value, Wide<T> seen) {
        return combine_extreme<min, true>(where, value, seen);
    }
};

struct max : Combines<max> {
    template <class T> __device__ static T apply(T a, T b) {
        if constexpr (sizeof(T) == 4 && is_float<T>) return ::fmaxf(a, b);
        else if constexpr (is_float<T>) return ::fmax(a, b);
        else return a > b ? a : b;
    }
    template <class T> __device__ static T identity() { return smallest<T>(); }
    template <class T> __device__ static constexpr bool has_terminal() { return true; }
    template <class T> __device__ static bool is_terminal(T a) { return a == largest<T>(); }
    template <class T> __device__ static bool atomic_combine(T* where, T value) {
        return combine_extreme<max, false>(where, value);
    }
    template <class T> __device__ static bool atomic_combine_seen(T* where, T value, Wide<T> seen) {
        return combine_extreme<max, false>(where, value, seen);
    }
};

// The first value that is not the identity.
struct any : Combines<any> {
    template <class T> __device__ static T apply(T a, T b) { return a != T(0) ? a : b; }
    template <class T> __device__ static T identity() { return T(0); }
    template <class T> __device__ static constexpr bool has_terminal() { return true; }
    template <class T> __device__ static bool is_terminal(T a) { return a != T(0); }
};

struct any_index : Combines<any_index> {
    template <class T> __device__ static T apply(T a, T b) { return a == T(-1) ? b : a; }
    template <class T> __device__ static T identity() { return T(-1); }
    template <class T> __device__ static constexpr bool has_terminal() { return true; }
    template <class T> __device__ static bool is_terminal(T a) { return a != T(-1); }
};

struct lor : Combines<lor> {
    template <class T> __device__ static T apply(T a, T b) { return T(a != T(0) || b != T(0)); }
    template <class T> __device__ static T identity() { return T(0); }
    template <class T> __device__ static constexpr bool has_terminal() { return true; }
    template <class T> __device__ static bool is_terminal(T a) { return a == T(1); }
};

struct land : Combines<land> {
    template <class T> __device__ static T apply(T a, T b) { return T(a != T(0) && b != T(0)); }
    template <class T> __device__ static T identity() { return T(1); }
    template <class T> __device__ static constexpr bool has_terminal() { return true; }
    template <class T> __device__ static bool is_terminal(T a) { return a == T(0); }
};

struct lxor : Combines<lxor> {
    template <class T> __device__ static T apply(T a, T b) { return T((a != T(0)) != (b != T(0))); }
    template <class T> __device__ static T identity() { return T(0); }
};

struct lxnor : Combines<lxnor> {
    template <class T> __device__ static T apply(T a, T b) { return T((a != T(0)) == (b != T(0))); }
    template <class T> __device__ static T identity() { return T(1); }
};

struct bor : Combines<bor> {
    template <class T> __device__ static T apply(T a, T b) { return T(a | b); }
    template <class T> __device__ static T identity() { return T(0); }
    template <class T> __device__ static constexpr bool has_terminal() { return true; }
    template <class T> __device__ static bool is_terminal(T a) { return a == T(~0ULL); }
    template <class T> __device__ static bool atomic_combine(T* where, T value) { return combine_or<bor>(where, value); }
};

struct band : Combines<band> {
    template <class T> __device__ static T apply(T a, T b) { return T(a & b); }
    template <class T> __device__ static T identity() { return T(~0ULL); }
    template <class T> __device__ static constexpr bool has_terminal() { return true; }
    template <class T> __device__ static bool is_terminal(T a) { return a == T(0); }
    template <class T> __device__ static bool atomic_combine(T* where, T value) { return combine_and<band>(where, value); }
};

struct bxor : Combines<bxor> {
    template <class T> __device__ static T apply(T a, T b) { return T(a ^ b); }
    template <class T> __device__ static T identity() { return T(0); }
    template <class T> __device__ static bool atomic_combine(T* where, T value) { return combine_xor<bxor>(where, value); }
};

struct bxnor : Combines<bxnor> {
    template <class T> __device__ static T apply(T a, T b) {
        if constexpr (is_bool<T>) return a == b;
        else return T(~(a ^ b));
    }
    template <class T> __device__ static T identity() { return T(~0ULL); }
};

struct minus {
    template <class T> __device__ static T apply(T a, T b) {
        if constexpr (is_bool<T>) return a != b;
        else if constexpr (is_inexact<T>) return a - b;
        else return T(Wide<T>(a) - Wide<T>(b));
    }
};

// Sums and differences that stop at the ends of an integer type.
struct saturated_plus {
    template <class T> __device__ static T apply(T a, T b) {
        if constexpr (is_bool<T> || is_float<T>) {
            return plus::apply(a, b);
        } else if constexpr (is_signed<T>) {
            const T total = plus::apply(a, b);
            return T((a ^ total) & (b ^ total)) < T(0) ? (a < T(0) ? smallest<T>() : largest<T>()) : total;
        } else {
            const T total = plus::apply(a, b);
            return total < a ? largest<T>() : total;
        }
    }
};

struct saturated_minus {
    template <class T> __device__ static T apply(T a, T b) {
        if constexpr (is_bool<T> || is_float<T>) {
            return minus::apply(a, b);
        } else if constexpr (is_signed<T>) {
            const T rest = minus::apply(a, b);
            return T((a ^ b) & (a ^ rest)) < T(0) ? (a < T(0) ? smallest<T>() : largest<T>()) : rest;
        } else {
            return a > b ? minus::apply(a, b) : T(0);
        }
    }
};

struct saturated_rminus {
    template <class T> __device__ static T apply(T a, T b) { return saturated_minus::apply(b, a); }
};

struct rminus {
    template <class T> __device__ static T apply(T a, T b) { return minus::apply(b, a); }
};

struct div {
    template <class T> __device__ static T apply(T a, T b) { return a / b; }
};

struct rdiv {
    template <class T> __device__ static T apply(T a, T b) { return b / a; }
};

// Rounds down, as Python and NumPy do, where C++ rounds toward zero.
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

    // NumPy's way: from the exact remainder, so that the quotient is not rounded up to the next integer.
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

struct first {
    template <class T> __device__ static T apply(T a, T) { return a; }
};

struct second {
    template <class T> __device__ static T apply(T, T b) { return b; }
};

struct pair {
    template <class T> __device__ static T apply(T, T) { return T(1); }
};

struct eq {
    template <class T> __device__ static bool apply(T a, T b) { return a == b; }
};

struct ne {
    template <class T> __device__ static bool apply(T a, T b) { return a != b; }
};

struct lt {
    template <class T> __device__ static bool apply(T a, T b) { return a < b; }
};

struct le {
    template <class T> __device__ static bool apply(T a, T b) { return a <= b; }
};

struct gt {
    template <class T> __device__ static bool apply(T a, T b) { return a > b; }
};

struct ge {
    template <class T> __device__ static bool apply(T a, T b) { return a >= b; }
};

struct hypot {
    template <class T> __device__ static T apply(T a, T b) {
        if constexpr (sizeof(T) == 4) return ::hypotf(a, b);
        else return ::hypot(a, b);
    }
};

struct atan2 {
    template <class T> __device__ static T apply(T a, T b) {
        if constexpr (sizeof(T) == 4) return ::atan2f(a, b);
        else return ::atan2(a, b);
    }
};

}  // namespace op
}  // namespace hpgraph
