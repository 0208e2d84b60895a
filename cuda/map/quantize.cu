// SPDX-License-Identifier: Apache-2.0
// quantize: rows of floats to MXINT8: X is the exponent of the largest magnitude of a block, q = x * 2^(133-X) rounded
// to even, at most 127. Every bit is defined. A block of zeros has X = 0; one with NaN or an infinity has X = 255 and
// q = 0.
//   FORMAT   fp32_code, bf16_code or fp16_code: the words of x
//   WIDE     1 where there are 2^31 elements or more
// x is [rows][cols], q is [rows][q_row] of which cols bytes of a row are written. The last block of a row may be short.
// The scale of block b of row r goes to X[r * x_row + b * x_block]: x_row = 1 writes the transposed image.
// A thread takes half a block. The grid is one-dimensional.
//   threads: 256
//   regs: 48
//   sass: LDG.128, STG.128, SHFL
//   uses: num/exact.cuh, num/float.cuh, num/words.cuh
template <class FORMAT, int WIDE>
__device__ __forceinline__ void quantize(const void* x, u8* q, u8* X, i64 rows, i64 cols, i64 q_row, i64 x_row,
                                         i64 x_block) {
  typedef typename pick<WIDE, u64, u32>::type index;
  typedef typename FORMAT::word in;
  const index blocks = (index)((cols + 31) / 32), block = ((index)blockIdx.x * 256 + threadIdx.x) / 2;
  const index row = block / blocks, b = block % blocks, at = b * 32 + threadIdx.x % 2 * 16;
  const i64 left = row < (index)rows ? cols - (i64)at : 0;  // elements from here on; the shuffle below needs all lanes
  const in* from = (const in*)x + (i64)row * cols + at;
  in c[16];
  load_words(c, from, left >= 16 && ((u64)from & 15) == 0, left);
  f32 v[16];
  u32 top = 0;
#pragma unroll
  for (int j = 0; j < 16; ++j) {
    v[j] = widen<FORMAT>(c[j]);
    top = max(top, f32_word(v[j]) & 0x7FFFFFFF);
  }
  top = max(top, shfl_xor(top, 1));
  const bool special = top >= 0x7F800000;  // its exponent is 255
  // The factor 2^(133-X) in two parts, both normal numbers; products that underflow are below one half.
  const u32 scale = top >> 23, large = max(scale, 7u);
  const f32 s0 = word_f32((260 - large) << 23), s1 = word_f32((127 + large - scale) << 23);
  i8 out[16];
#pragma unroll
  for (int j = 0; j < 16; ++j) {
    out[j] = special ? 0 : max(f32_s8(mul_rn(mul_rn(v[j], s0), s1)), -127);
  }
  if (left <= 0) return;
  i8* to = (i8*)q + (i64)row * q_row + at;
  store_words(to, out, left >= 16 && ((u64)to & 15) == 0, left);
  if (threadIdx.x % 2 == 0) X[(i64)row * x_row + (i64)b * x_block] = scale;
}
