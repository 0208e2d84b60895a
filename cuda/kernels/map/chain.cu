// SPDX-License-Identifier: Apache-2.0
// chain: y[i] = E(x0[i], x1[i], ...): functions and sums element by element in fp32, rounded once at the end.
//   E        an expression of map/functions.cuh: apply2<fn_add, apply<fn_silu, arg<0>>, arg<1>>
//   IN, OUT  fp32_code, bf16_code or fp16_code: the words of all inputs, and of y
//   INPUTS   0..4: how many of x0..x3 are read
//   SHAPES   two bits an input: 0 as y, 1 a row of `cols` values for every row, 2 one value for each row of y
//   WIDE     1 where there are 2^31 elements or more
// y has n elements in rows of cols. Any alignment of the pointers to their words will do; 16 bytes are fastest.
// A thread takes 8 elements. The grid is one-dimensional.
//   threads: 256
//   regs: 128
//   uses: num/exact.cuh, num/float.cuh, num/words.cuh, map/functions.cuh
template <class E, class IN, class OUT, int INPUTS, int SHAPES, int WIDE>
__device__ __forceinline__ void chain(const void* x0, const void* x1, const void* x2, const void* x3, void* y, i64 n,
                                      i64 cols, f32 s0, f32 s1, f32 s2, f32 s3) {
  typedef typename pick<WIDE, u64, u32>::type index;
  typedef typename IN::word in;
  typedef typename OUT::word out;
  const index i = ((index)blockIdx.x * 256 + threadIdx.x) * 8;
  if (i >= (index)n) return;
  const i64 left = n - (i64)i;
  const void* const x[4] = {x0, x1, x2, x3};
  f32 v[4][8];
#pragma unroll
  for (int k = 0; k < INPUTS; ++k) {
    const int shape = SHAPES >> 2 * k & 3;
    const in* p = (const in*)x[k];
    in w[8];
    if (shape == 0) {
      load_words(w, p + i, left >= 8 && ((u64)p & 15) == 0, left);
    } else {
      index row = i / (index)cols, column = i % (index)cols;
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        w[j] = j < left ? p[shape == 1 ? column : row] : 0;
        if (++column == (index)cols) column = 0, ++row;
      }
    }
#pragma unroll
    for (int j = 0; j < 8; ++j) v[k][j] = widen<IN>(w[j]);
  }
  out d[8];
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    chain_values at = {{}, {s0, s1, s2, s3}};
#pragma unroll
    for (int k = 0; k < INPUTS; ++k) at.x[k] = v[k][j];
    d[j] = narrow<OUT>(E::of(at));
  }
  store_words((out*)y + i, d, left >= 8 && ((u64)y & 15) == 0, left);
}
