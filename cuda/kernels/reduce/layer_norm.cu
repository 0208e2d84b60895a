// SPDX-License-Identifier: Apache-2.0
// layer_norm: y = (x - mean) / sqrt(variance + eps) * gain + bias along each row, held in registers: the mean first,
// then the mean of the squared differences (population variance). One read, one write.
//   IN, OUT, GAIN  formats of x, y, gain and bias: 0 f32, 1 bf16, 2 f16
//   V, N, WARPS, ROWS  as for softmax
//   ADD      1: x + add takes the place of x, rounded to IN and stored to sum
//   QUANT    1: y are the bytes and scales the block scales of MXINT8, of the values rounded to OUT
// gain and bias may be null. Row r of y starts at r * ys values, its scales at r * srow, one every sblock bytes.
// inv_n is 1/n.
//   threads: 32 * WARPS * ROWS
//   shared: WARPS > 1 ? 8 * WARPS : 0
//   regs: N > 16 ? 128 : 80
//   sass: V > 1: LDG.128, V > 1 && QUANT == 0: STG.128|STG.64, MUFU.RSQ
//   uses: num/words.cuh, num/mxint8.cuh, reduce/row.cuh, reduce/norm.cuh
template <int IN, int OUT, int GAIN, int V, int N, int WARPS, int ROWS, int ADD, int QUANT>
__device__ __forceinline__ void layer_norm(const void* x, const void* add, void* sum, const void* gain,
                                           const void* bias, void* y, u8* scales, i64 rows, u32 n, i64 ys, i64 srow,
                                           i64 sblock, f32 inv_n, f32 eps) {
  const int T = 32 * WARPS;
  const u32 t = threadIdx.x % T;
  const i64 row = (i64)blockIdx.x * ROWS + threadIdx.x / T;
  if (row >= rows) return;
  f32* place = (f32*)smem;
  const i64 from = row * n * row_word<IN>::bytes;
  f32 v[N], d[N];
  load_sum<IN, V, N, T, ADD>(v, (const u8*)x + from, (const u8*)add + from, (u8*)sum + from, t, n);
  const f32 mean = mul_rn(team_sum<WARPS>(row_tree(v), place), inv_n);
#pragma unroll
  for (int i = 0; i < N; ++i) {
    v[i] = row_column<V, T>(i / V, t) < n ? add_rn(v[i], -mean) : 0;
    d[i] = mul_rn(v[i], v[i]);
  }
  const f32 scale = rsqrt(fma_rn(team_sum<WARPS>(row_tree(d), place + WARPS), inv_n, eps));
  u8* out = (u8*)y + row * ys * (QUANT ? 1 : row_word<OUT>::bytes);
  const layer_norm_end<GAIN, V> end = {gain, bias, scale};
  store_row<OUT, V, N, T, QUANT>(end, v, out, scales + row * srow, sblock, t, 0, n);
}
