// SPDX-License-Identifier: Apache-2.0
// quantize: rows of floats to MXINT8: X is the exponent of the largest magnitude of a block, q = x * 2^(133-X) rounded
// to even, at most 127. Every bit is defined. A block of zeros has X = 0; one with NaN or an infinity has X = 255 and
// q = 0.
//   FORMAT   fp32_code, bf16_code or fp16_code: the words of x
//   WIDE     1 where there are 2^31 elements or more
// x is [rows][cols], q is [rows][q_row] of which cols bytes of a row are written. The last block of a row may be short.
// The scale of block b of row r goes to X[r * x_row + b * x_block]: x_row = 1 writes the transposed image.
// A thread takes 16 bytes of x. The grid is one-dimensional.
//   threads: 256
//   regs: 48
//   sass: LDG.128, STG, SHFL
//   sectors: 105
//   uses: num/exact.cuh, num/float.cuh, num/words.cuh, num/mxint8.cuh
template <class FORMAT, int WIDE>
__device__ __forceinline__ void quantize(const void* x, u8* q, u8* X, i64 rows, i64 cols, i64 q_row, i64 x_row,
                                         i64 x_block) {
  typedef typename pick<WIDE, u64, u32>::type index;
  typedef typename FORMAT::word in;
  const int V = 16 / sizeof(in), T = 32 / V;  // elements of a thread, threads of a block
  const index blocks = (index)((cols + 31) / 32), block = ((index)blockIdx.x * 256 + threadIdx.x) / T;
  const index row = block / blocks, b = block % blocks, at = b * 32 + threadIdx.x % T * V;
  const i64 left = row < (index)rows ? cols - (i64)at : 0;  // elements from here on; the shuffle below needs all lanes
  const in* from = (const in*)x + (i64)row * cols + at;
  in c[V];
  load_words(c, from, left >= V && ((u64)from & 15) == 0, left);
  f32 v[V];
#pragma unroll
  for (int j = 0; j < V; ++j) v[j] = widen<FORMAT>(c[j]);
  u8* to = q + (i64)row * q_row + at;
  const u32 scale = store_mxint8(to, v, left >= V && (u64)to % V == 0, left);
  if (left > 0 && threadIdx.x % T == 0) X[(i64)row * x_row + (i64)b * x_block] = scale;
}
