// SPDX-License-Identifier: Apache-2.0
// softmax_long: softmax of rows of any length, a block of WARPS warps a row. The first pass keeps a maximum and the sum
// below it for each thread, rescaled where the maximum grows; the second writes.
//   IN, OUT, V, WARPS, MASK  as for softmax
//   KEEP     bytes of the row that stay in shared memory; the second pass reads the others again
// Tiles of 32 * WARPS * row_tile<V>::values columns, ascending; what a row gives depends on nothing but the row.
//   threads: 32 * WARPS
//   shared: 8 * WARPS + KEEP
//   blocks: 2
//   regs: 96
//   sass: V > 1: LDG.128, V > 1: STG.128|STG.64, KEEP > 0: LDGSTS.E.BYPASS.128, KEEP > 0: LDS.128, MUFU.EX2
//   uses: reduce/row.cuh, reduce/exp.cuh
template <int IN, int OUT, int V, int WARPS, int KEEP, int MASK>
__device__ __forceinline__ void softmax_long(const void* x, const u8* mask, void* y, i64 rows, u32 n,
                                             u64 ma, u64 mb, u64 mc) {
  const int T = 32 * WARPS, N = row_tile<V>::values;
  const u32 t = threadIdx.x;
  const i64 row = blockIdx.x;
  f32* place = (f32*)smem;
  const f32 none = word_f32(0xFF800000u);
  const u8* in = (const u8*)x + row * n * row_word<IN>::bytes;
  const u8* keep = MASK ? mask + ((u64)row / ma * mb + (u64)row % mc) * n : mask;
  const long_row<IN, V, N, T, KEEP> values = {in, 8 * WARPS, t, n};
  values.start();
  f32 top = none, base = 0, sum = 0;
#pragma unroll 1
  for (u32 from = 0; from < n; from += T * N) {
    f32 v[N];
    values.first(v, from, none);
    if (MASK) {
#pragma unroll
      for (int c = 0; c < N / V; ++c) apply_mask<V>(v + c * V, keep + from, row_column<V, T>(c, t), n - from);
    }
#pragma unroll
    for (int i = 0; i < N; ++i) top = fmaxf(top, v[i]);
    const f32 next = top == none ? 0 : top;
#pragma unroll
    for (int i = 0; i < N; ++i) v[i] = exp_below(v[i], next);
    // While nothing was seen sum is 0, whatever the factor: exp(0 - next) may be Inf, and 0 * Inf would be NaN.
    sum = sum == 0 ? row_tree(v) : fma_rn(sum, exp_below(base, next), row_tree(v));
    base = next;
  }
  top = team_max<WARPS>(top, place);
  if (top == none) top = 0;
  sum = team_sum<WARPS>(sum == 0 ? 0 : mul_rn(sum, exp_below(base, top)), place + WARPS);
  const f32 inverse = sum == 0 ? 0 : rcp(sum);
  u8* out = (u8*)y + row * n * row_word<OUT>::bytes;
#pragma unroll 1
  for (u32 from = 0; from < n; from += T * N) {
    f32 v[N];
    values.again(v, from, none);
#pragma unroll
    for (int c = 0; c < N / V; ++c) {
      const u32 at = row_column<V, T>(c, t);
      if (MASK) apply_mask<V>(v + c * V, keep + from, at, n - from);
#pragma unroll
      for (int i = 0; i < V; ++i) v[c * V + i] = mul_rn(exp_below(v[c * V + i], top), inverse);
      if (at < n - from) store_chunk<OUT, V>(out + (u64)from * row_word<OUT>::bytes, at, v + c * V);
    }
  }
}
