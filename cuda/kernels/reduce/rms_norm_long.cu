// SPDX-License-Identifier: Apache-2.0
// rms_norm_long: rms_norm of rows of any length, a block of WARPS warps a row: one pass sums squares, a second
// writes.
//   IN, OUT, GAIN, V, WARPS, ADD, QUANT, UNIT, EARLY  as for rms_norm
//   KEEP  as for softmax_long, of x or of the sum
// Tiles of 32 * WARPS * row_tile<V>::values columns, ascending.
//   threads: 32 * WARPS
//   shared: 4 * WARPS + KEEP
//   blocks: 2
//   regs: 128
//   sass: V > 1: LDG.128, V > 1 && QUANT == 0: STG.128|STG.64, KEEP > 0: LDGSTS.E.BYPASS.128,
//   sass: KEEP > 0: LDS.128, MUFU.RSQ
//   uses: num/words.cuh, num/mxint8.cuh, reduce/row.cuh, reduce/norm.cuh
template <int IN, int OUT, int GAIN, int V, int WARPS, int KEEP, int ADD, int QUANT, int UNIT, int EARLY>
__device__ __forceinline__ void rms_norm_long(const void* x, const void* add, void* sum, const void* gain, void* y,
                                              u8* scales, i64 rows, u32 n, i64 ys, i64 srow, i64 sblock, f32 inv_n,
                                              f32 eps) {
  const int T = 32 * WARPS, N = row_tile<V>::values;
  const u32 t = threadIdx.x;
  const i64 row = blockIdx.x;
  const i64 first = row * n * row_word<IN>::bytes;
  const u8* in = (const u8*)x + first;
  const u8* other = (const u8*)add + first;
  f32 squares = 0;
  const long_row<IN, V, N, T, KEEP> values = {in, 4 * WARPS, t, n};
  values.start();
#pragma unroll 1
  for (u32 from = 0; from < n; from += T * N) {
    const u64 skip = (u64)from * row_word<IN>::bytes;
    f32 v[N];
    values.first(v, from, 0);
    if (ADD) add_long(v, values, from, other + skip, (u8*)sum + first + skip);
#pragma unroll
    for (int i = 0; i < N; ++i) v[i] = mul_rn(v[i], v[i]);
    squares = add_rn(squares, row_tree(v));
  }
  const f32 scale = rsqrt(fma_rn(team_sum<WARPS>(squares, (f32*)smem), inv_n, eps));
  u8* out = (u8*)y + row * ys * (QUANT ? 1 : row_word<OUT>::bytes);
  const rms_norm_end<IN, GAIN, V, UNIT, EARLY> end = {gain, scale};
  store_long<IN, OUT, V, N, T, KEEP, ADD, QUANT>(end, values, other, 0, out, scales + row * srow, sblock);
}
