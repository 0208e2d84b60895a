// SPDX-License-Identifier: Apache-2.0
// cast: y[i] = encode(decode(x[i])): codes of one format to codes of another, rounded once, every bit defined.
//   FROM, TO  codecs of cuda/num; TO is not a block format
//   AXIS      1 where scales lie in memory: see below
//   WIDE      1 where there are 2^31 elements or more
// Scales: per tensor in xscale, yscale. With AXIS the elements form [outer][length][inner]; an affine format takes
// xs[index / xgroup], a block format the byte xs[outer][index / xgroup][inner]; a null pointer means per tensor. Zero
// points are per tensor. `seed` is that of stochastic rounding, already mixed.
// A thread takes 16 bytes of the wider words, at least 4 elements. Any alignment of x and y to their words will do; 16
// bytes are fastest. The grid is one-dimensional.
//   threads: 256
//   regs: 128
//   uses: num/exact.cuh, num/float.cuh, num/integer.cuh, num/words.cuh
template <class FROM, class TO, int AXIS, int WIDE>
__device__ __forceinline__ void cast(const void* x, void* y, const void* xs, const void* ys, i64 n, i64 length,
                                     i64 inner, i64 xgroup, i64 ygroup, f32 xscale, f32 yscale, i64 xzero, i64 yzero,
                                     u32 seed) {
  typedef typename pick<WIDE, u64, u32>::type index;
  typedef typename FROM::word in;
  typedef typename TO::word out;
  const int widest = sizeof(in) > sizeof(out) ? sizeof(in) : sizeof(out), V = widest > 4 ? 4 : 16 / widest;
  const index i = ((index)blockIdx.x * 256 + threadIdx.x) * V;
  if (i >= (index)n) return;
  const bool whole = i + V <= (index)n && (((u64)x | (u64)y) & 15) == 0;
  in c[V];
  out d[V];
  load_words(c, (const in*)x + i, whole, n - (i64)i);
#pragma unroll
  for (int j = 0; j < V; ++j) {
    code_args a = {xscale, 127, xzero}, b = {yscale, 127, yzero, stochastic_word(seed, (u32)(i + j))};
    if (AXIS && i + j < (index)n) {
      const index at = (i + j) / (index)inner, outer = at / (index)length, k = at % (index)length;
      const index column = (i + j) % (index)inner, in_row = ((index)length + (index)xgroup - 1) / (index)xgroup;
      if (xs && FROM::blocks) a.block = ((const u8*)xs)[(outer * in_row + k / (index)xgroup) * (index)inner + column];
      if (xs && !FROM::blocks) a.scale = ((const f32*)xs)[k / (index)xgroup];
      if (ys) b.scale = ((const f32*)ys)[k / (index)ygroup];
    }
    d[j] = TO::encode(FROM::decode(c[j], a), b);
  }
  store_words((out*)y + i, d, whole, n - (i64)i);
}
