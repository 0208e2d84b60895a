// SPDX-License-Identifier: Apache-2.0
// rms_norm: y = x / sqrt(mean of x^2 + eps) * gain along each row, held in registers. One read, one write.
//   IN, OUT, GAIN, V, N, WARPS, ROWS, ADD, QUANT  as for layer_norm
//   UNIT     1: the gain is 1 + gain
//   EARLY    1: x / sqrt(...) is rounded to IN before the gain
//   threads: 32 * WARPS * ROWS
//   shared: WARPS > 1 ? 4 * WARPS : 0
//   blocks: N > 8 ? 0 : 8
//   regs: N > 16 ? 128 : 80
//   sass: V > 1: LDG.128, V > 1 && QUANT == 0: STG.128|STG.64, MUFU.RSQ
//   uses: num/words.cuh, num/mxint8.cuh, reduce/row.cuh, reduce/norm.cuh
template <int IN, int OUT, int GAIN, int V, int N, int WARPS, int ROWS, int ADD, int QUANT, int UNIT, int EARLY>
__device__ __forceinline__ void rms_norm(const void* x, const void* add, void* sum, const void* gain, void* y,
                                         u8* scales, i64 rows, u32 n, i64 ys, i64 srow, i64 sblock, f32 inv_n,
                                         f32 eps) {
  const int T = 32 * WARPS;
  const u32 t = threadIdx.x % T;
  const i64 row = (i64)blockIdx.x * ROWS + threadIdx.x / T;
  if (row >= rows) return;
  const i64 from = row * n * row_word<IN>::bytes;
  f32 v[N], d[N];
  load_sum<IN, V, N, T, ADD>(v, (const u8*)x + from, (const u8*)add + from, (u8*)sum + from, t, n);
#pragma unroll
  for (int i = 0; i < N; ++i) d[i] = mul_rn(v[i], v[i]);
  const f32 scale = rsqrt(fma_rn(team_sum<WARPS>(row_tree(d), (f32*)smem), inv_n, eps));
  u8* out = (u8*)y + row * ys * (QUANT ? 1 : row_word<OUT>::bytes);
  const rms_norm_end<IN, GAIN, V, UNIT, EARLY> end = {gain, scale};
  store_row<OUT, V, N, T, QUANT>(end, v, out, scales + row * srow, sblock, t, 0, n);
}
