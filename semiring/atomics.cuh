// *where = op(*where, value), atomically; each returns whether *where changed.
//
// Uses the hardware's instruction if there is one, else compare-and-swap, which returns at once if nothing would
// change. A min or max of floats is one of integers: floats without sign bit are ordered as their bits, floats with it
// in reverse, and as signed integers the latter are all below the former.
#pragma once
#include "numbers.cuh"

namespace hpgraph {
namespace op {

// The aligned word that contains a value of one or two bytes; for wider types the value itself.
template <class T>
__device__ Wide<T>* word_around(T* where) {
    return (Wide<T>*)((size_t)where & ~(sizeof(Wide<T>) - 1));
}
template <class T>
__device__ Wide<T> read_around(T* where) {
    return *(volatile Wide<T>*)word_around(where);
}

// Op::apply(T, T) -> T. Types of one and two bytes are swapped within the aligned word around them, whose expected
// value is `seen`.
template <class Op, class T>
__device__ bool combine_by_cas(T* where, T value, Wide<T> seen) {
    typedef Wide<T> Word;
    Word* const word = word_around(where);
    const int shift = sizeof(T) < sizeof(Word) ? 8 * (int)((size_t)where % sizeof(Word)) : 0;
    const Word mask = (Word)(Unsigned<T>)~0ULL << shift;
    while (true) {
        const T old = bits_as<T>((Unsigned<T>)(seen >> shift));
        const T now = Op::apply(old, value);
        const Word put = (seen & ~mask) | ((Word)bits_as<Unsigned<T>>(now) << shift);
        if (put == seen) return false;
        const Word found = atomicCAS(word, seen, put);
        if (found == seen) return true;
        seen = found;
    }
}

template <class Op, class T>
__device__ bool combine_by_cas(T* where, T value) {
    return combine_by_cas<Op>(where, value, read_around(where));
}

// A program's monoid, as such an Op.
template <class Program>
struct Meet {
    template <class T>
    __device__ static T apply(T a, T b) { return Program::join(a, b); }
};

template <class T> constexpr bool has_word_atomics = sizeof(T) >= 4 && !is_float<T>;

template <class Op, class T>
__device__ bool combine_plus(T* where, T value) {
    if constexpr (is_float<T>) {
        // Rounding makes the sum depend on the order of the threads: only for callers that accept it.
        atomicAdd(where, value);
        return value != T(0);
    } else if constexpr (has_word_atomics<T>) {
        atomicAdd((Unsigned<T>*)where, (Unsigned<T>)value);
        return value != T(0);
    } else {
        return combine_by_cas<Op>(where, value);
    }
}

// The minimum or maximum of two numbers; `around` is the expected value of the aligned word around *where.
template <class Op, bool is_min, class T>
__device__ bool combine_extreme(T* where, T value, Wide<T> around) {
    if constexpr (sizeof(T) < sizeof(Wide<T>)) {
        return combine_by_cas<Op>(where, value, around);
    } else {
        const T seen = bits_as<T>((Unsigned<T>)around);
        if constexpr (is_float<T>) {
            if (value != value) return false;
            if (seen != seen) return combine_by_cas<Op>(where, value);  // a NaN's bits are in neither order
        }
        const bool better = is_min ? value < seen : value > seen;
        // Zeros of both signs are equal, but the result must not depend on the order of the threads.
        const bool zeros = is_float<T> && value == T(0) && seen == T(0);
        if (!better && !zeros) return false;
        if constexpr (has_word_atomics<T>) {
            const T old = is_min ? atomicMin(where, value) : atomicMax(where, value);
            return is_min ? value < old : value > old;
        } else {
            const Signed<T> bits = bits_as<Signed<T>>(value);
            Unsigned<T> old;
            if ((bits >= 0) == is_min)
                old = is_min ? (Unsigned<T>)atomicMin((Signed<T>*)where, bits) : atomicMin((Unsigned<T>*)where, (Unsigned<T>)bits);
            else
                old = is_min ? atomicMax((Unsigned<T>*)where, (Unsigned<T>)bits) : (Unsigned<T>)atomicMax((Signed<T>*)where, bits);
            const T before = bits_as<T>(old);
            return is_min ? value < before : value > before;
        }
    }
}

template <class Op, bool is_min, class T>
__device__ bool combine_extreme(T* where, T value) {
    if constexpr (has_word_atomics<T>) {
        const T old = is_min ? atomicMin(where, value) : atomicMax(where, value);
        return is_min ? value < old : value > old;
    } else {
        return combine_extreme<Op, is_min>(where, value, read_around(where));
    }
}

template <class Op, class T>
__device__ bool combine_or(T* where, T value) {
    if constexpr (has_word_atomics<T>) return (value & ~atomicOr((Unsigned<T>*)where, (Unsigned<T>)value)) != 0;
    else return combine_by_cas<Op>(where, value);
}

template <class Op, class T>
__device__ bool combine_and(T* where, T value) {
    if constexpr (has_word_atomics<T>) return (~value & atomicAnd((Unsigned<T>*)where, (Unsigned<T>)value)) != 0;
    else return combine_by_cas<Op>(where, value);
}

template <class Op, class T>
__device__ bool combine_xor(T* where, T value) {
    if constexpr (has_word_atomics<T>) {
        atomicXor((Unsigned<T>*)where, (Unsigned<T>)value);
        return value != 0;
    } else {
        return combine_by_cas<Op>(where, value);
    }
}

}  // namespace op
}  // namespace hpgraph
