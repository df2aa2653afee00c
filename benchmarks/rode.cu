// RoDe's SpMM of floats as a function of C, for `python -m benchmarks torch --rode`. Compile beside RoDe's source:
//   nvcc -O3 --use_fast_math -std=c++17 -arch=sm_90 --shared -Xcompiler -fPIC -I RoDe -I RoDe/utils -I RoDe/RoDe_SpMM
//        -o librode.so benchmarks/rode.cu
#include "RoDeSpmm.cu"

extern "C" void rode_spmm(int segments, int remainders, int columns, int width, const int* offsets, const int* indices,
                          const float* values, const int* segment_rows, const int* remainder_rows,
                          const int* segment_begins, const float* x, float* out, cudaStream_t stream) {
    if (width % 64)
        RoDeSpmm_n32(segments, remainders, columns, width, values, indices, offsets, segment_rows, remainder_rows,
                     segment_begins, x, out, stream, stream);
    else
        RoDeSpmm_n128(segments, remainders, columns, width, values, indices, offsets, segment_rows, remainder_rows,
                      segment_begins, x, out, stream, stream);
}
