// SPDX-License-Identifier: Apache-2.0
// dequant: y[i] = q[i] * 2^(X[i/32]-133), MXINT8 to words of T. Exact: every bit is defined.
//   T        bf16 or f32
//   WIDE     1 where there are 2^31 elements or more
// q has n bytes, X one byte a block of 32, the last block may be short; all addresses are multiples of 16 bytes.
// A thread takes 16 elements. The grid is one-dimensional.
//   threads: 256
//   regs: 40
//   sass: LDG.128, STG.128
//   uses: num/mxint8.cuh
template <class T, int WIDE>
__device__ __forceinline__ void dequant(const u8* q, const u8* X, T* y, i64 n) {
  typedef typename pick<WIDE, i64, u32>::type index;
  const index i = ((index)blockIdx.x * 256 + threadIdx.x) * 16;
  if ((i64)i >= n) return;
  const u32 scale = X[i / 32];
  if ((i64)i + 16 > n) {  // the last elements one by one
    const f32 s = mxint8_scale_f32(scale);
    for (index j = i; (i64)j < n; ++j) store_f32(y + j, mul_rn((f32)(i8)q[j], s));
    return;
  }
  const w128 v = ld128(q + i);
  const u32 w[4] = {v.x, v.y, v.z, v.w};
  if (sizeof(T) == 2) {
    const u32 s = mxint8_factor_bf16(scale);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      st128(y + i + 8 * h, w128{mxint8_pair_bf16(w[2 * h], 0x4140, s), mxint8_pair_bf16(w[2 * h], 0x4342, s),
                                mxint8_pair_bf16(w[2 * h + 1], 0x4140, s), mxint8_pair_bf16(w[2 * h + 1], 0x4342, s)});
    }
  } else {
    const f32 s = mxint8_scale_f32(scale);
#pragma unroll
    for (int h = 0; h < 4; ++h) {
      st128(y + i + 4 * h, w128{f32_word(mxint8_f32(w[h], 0, s)), f32_word(mxint8_f32(w[h], 1, s)),
                                f32_word(mxint8_f32(w[h], 2, s)), f32_word(mxint8_f32(w[h], 3, s))});
    }
  }
}
