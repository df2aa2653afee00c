// Complex numbers: two adjacent floats, as in NumPy and CuPy. No header is included, so that NVRTC needs none.
//
// Shuffles and streaming loads have overloads here, found by the argument's namespace: kernels call them for any type.
#pragma once

namespace hpgraph {
namespace op {

template <class R>
struct alignas(2 * sizeof(R)) complex {
    R re, im;

    complex() = default;
    __device__ complex(R re, R im = R(0)) : re(re), im(im) {}
    template <class S> __device__ explicit complex(complex<S> a) : re(R(a.re)), im(R(a.im)) {}
    __device__ explicit operator bool() const { return re != R(0) || im != R(0); }
};

template <class T> constexpr bool is_complex = false;
template <class R> constexpr bool is_complex<complex<R>> = true;

// The type of a complex number's parts; for other types, the type itself.
template <class T> struct Parts { typedef T Real; };
template <class R> struct Parts<complex<R>> { typedef R Real; };
template <class T> using Real = typename Parts<T>::Real;

template <class R> __device__ complex<R> operator+(complex<R> a, complex<R> b) { return {a.re + b.re, a.im + b.im}; }
template <class R> __device__ complex<R> operator-(complex<R> a, complex<R> b) { return {a.re - b.re, a.im - b.im}; }
template <class R> __device__ complex<R> operator-(complex<R> a) { return {-a.re, -a.im}; }
template <class R> __device__ complex<R> operator*(complex<R> a, complex<R> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class R> __device__ bool operator==(complex<R> a, complex<R> b) { return a.re == b.re && a.im == b.im; }
template <class R> __device__ bool operator!=(complex<R> a, complex<R> b) { return !(a == b); }

// R. Smith, "Algorithm 116: complex division", 1962, as in NumPy: scaled by the larger part of the divisor.
template <class R> __device__ complex<R> operator/(complex<R> a, complex<R> b) {
    const R re = b.re < 0 ? -b.re : b.re, im = b.im < 0 ? -b.im : b.im;
    if (re >= im) {
        if (re == R(0) && im == R(0)) return {a.re / re, a.im / re};
        const R ratio = b.im / b.re, scale = R(1) / (b.re + b.im * ratio);
        return {(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
    }
    const R ratio = b.re / b.im, scale = R(1) / (b.im + b.re * ratio);
    return {(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
}

template <class R> __device__ complex<R> __shfl_sync(unsigned int lanes, complex<R> value, int lane, int width = 32) {
    return {::__shfl_sync(lanes, value.re, lane, width), ::__shfl_sync(lanes, value.im, lane, width)};
}
template <class R> __device__ complex<R> __shfl_up_sync(unsigned int lanes, complex<R> value, int by, int width = 32) {
    return {::__shfl_up_sync(lanes, value.re, by, width), ::__shfl_up_sync(lanes, value.im, by, width)};
}
template <class R> __device__ complex<R> __shfl_down_sync(unsigned int lanes, complex<R> value, int by, int width = 32) {
    return {::__shfl_down_sync(lanes, value.re, by, width), ::__shfl_down_sync(lanes, value.im, by, width)};
}
template <class R> __device__ complex<R> __shfl_xor_sync(unsigned int lanes, complex<R> value, int by, int width = 32) {
    return {::__shfl_xor_sync(lanes, value.re, by, width), ::__shfl_xor_sync(lanes, value.im, by, width)};
}

__device__ inline complex<float> __ldcs(const complex<float>* p) {
    const float2 raw = ::__ldcs(reinterpret_cast<const float2*>(p));
    return {raw.x, raw.y};
}
__device__ inline complex<double> __ldcs(const complex<double>* p) {
    const double2 raw = ::__ldcs(reinterpret_cast<const double2*>(p));
    return {raw.x, raw.y};
}

}  // namespace op
}  // namespace hpgraph
