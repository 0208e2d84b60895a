// SPDX-License-Identifier: Apache-2.0
// dequant: y[i] = q[i] * 2^(X[i/32]-133), MXINT8 to words of T. Exact: every bit is defined.
//   T        bf16 or f32
//   WIDE     1 where there are 2^31 elements or more
// q has n bytes, X one byte a block of 32, the last block may be short; all addresses are multiples of 16 bytes.
// A thread takes 16 elements, in chunks that are 16 bytes of y; those of a warp follow each other, so that every sector
// is touched once. The grid is one-dimensional.
//   threads: 256
//   regs: 40
//   sass: sizeof(T) == 2: LDG.64, STG.128
//   sectors: 105
//   uses: num/mxint8.cuh
template <class T, int WIDE>
__device__ __forceinline__ void dequant(const u8* q, const u8* X, T* y, i64 n) {
  typedef typename pick<WIDE, i64, u32>::type index;
  const int V = 16 / sizeof(T), C = 16 / V;  // elements of a chunk, chunks
  const index first = ((index)blockIdx.x * 256 + threadIdx.x / 32 * 32) * 16 + lane() * V;
  u32 w[C][2], scale[C];
#pragma unroll
  for (int c = 0; c < C; ++c) {
    const index i = first + c * (32 * V);
    if ((i64)i + V > n) continue;
    scale[c] = X[i / 32];
    if (V == 8) {
      const w64 v = ld64(q + i);
      w[c][0] = v.x, w[c][1] = v.y;
    } else {
      w[c][0] = *(const u32*)(q + i);
    }
  }
#pragma unroll
  for (int c = 0; c < C; ++c) {
    const index i = first + c * (32 * V);
    if ((i64)i + V > n) {  // the last elements one by one
      for (index j = i; (i64)j < n; ++j) store_f32(y + j, mul_rn((f32)(i8)q[j], mxint8_scale_f32(X[j / 32])));
      return;
    }
    if (V == 8) {
      const u32 s = mxint8_factor_bf16(scale[c]);
      st128(y + i, w128{mxint8_pair_bf16(w[c][0], 0x4140, s), mxint8_pair_bf16(w[c][0], 0x4342, s),
                        mxint8_pair_bf16(w[c][1], 0x4140, s), mxint8_pair_bf16(w[c][1], 0x4342, s)});
    } else {
      const f32 s = mxint8_scale_f32(scale[c]);
      st128(y + i, w128{f32_word(mxint8_f32(w[c][0], 0, s)), f32_word(mxint8_f32(w[c][0], 1, s)),
                        f32_word(mxint8_f32(w[c][0], 2, s)), f32_word(mxint8_f32(w[c][0], 3, s))});
    }
  }
}
