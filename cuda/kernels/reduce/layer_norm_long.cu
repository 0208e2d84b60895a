// SPDX-License-Identifier: Apache-2.0
// layer_norm_long: layer_norm of rows of any length, a block of WARPS warps a row. The first pass merges mean and
// squared differences of each thread's values tile by tile (Chan, Golub, LeVeque 1983, equations 1.5); the second
// writes.
//   IN, OUT, GAIN, V, WARPS, ADD, QUANT  as for layer_norm
//   KEEP  as for softmax_long, of x or of the sum
// Tiles of 32 * WARPS * row_tile<V>::values columns, ascending.
//   threads: 32 * WARPS
//   shared: 8 * WARPS + KEEP
//   blocks: 2
//   regs: 128
//   sass: V > 1: LDG.128, V > 1 && QUANT == 0: STG.128|STG.64, KEEP > 0: LDGSTS.E.BYPASS.128,
//   sass: KEEP > 0: LDS.128, MUFU.RSQ
//   uses: num/words.cuh, num/mxint8.cuh, reduce/row.cuh, reduce/norm.cuh
template <int IN, int OUT, int GAIN, int V, int WARPS, int KEEP, int ADD, int QUANT>
__device__ __forceinline__ void layer_norm_long(const void* x, const void* add, void* sum, const void* gain,
                                                const void* bias, void* y, u8* scales, i64 rows, u32 n, i64 ys,
                                                i64 srow, i64 sblock, f32 inv_n, f32 eps) {
  const int T = 32 * WARPS, N = row_tile<V>::values;
  const u32 t = threadIdx.x;
  const i64 row = blockIdx.x;
  f32* place = (f32*)smem;
  const i64 first = row * n * row_word<IN>::bytes;
  const u8* in = (const u8*)x + first;
  const u8* other = (const u8*)add + first;
  f32 count = 0, mean = 0, squares = 0;
  const long_row<IN, V, N, T, KEEP> values = {in, 8 * WARPS, t, n};
  values.start();
#pragma unroll 1
  for (u32 from = 0; from < n; from += T * N) {
    const u64 skip = (u64)from * row_word<IN>::bytes;
    f32 v[N], d[N];
    values.first(v, from, 0);
    if (ADD) add_long(v, values, from, other + skip, (u8*)sum + first + skip);
    f32 here = 0;
#pragma unroll
    for (int c = 0; c < N / V; ++c) here += row_column<V, T>(c, t) < n - from ? V : 0;
    if (here == 0) break;
    const f32 local = mul_rn(row_tree(v), rcp(here));
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const f32 e = row_column<V, T>(i / V, t) < n - from ? add_rn(v[i], -local) : 0;
      d[i] = mul_rn(e, e);
    }
    const f32 all = add_rn(count, here), part = mul_rn(here, rcp(all)), delta = add_rn(local, -mean);
    squares = add_rn(squares, fma_rn(mul_rn(delta, delta), mul_rn(count, part), row_tree(d)));
    mean = fma_rn(delta, part, mean);
    count = all;
  }
  const f32 center = mul_rn(team_sum<WARPS>(mul_rn(count, mean), place), inv_n);
  const f32 off = add_rn(mean, -center);
  const f32 total = team_sum<WARPS>(fma_rn(mul_rn(off, off), count, squares), place + WARPS);
  const f32 scale = rsqrt(fma_rn(total, inv_n, eps));
  u8* out = (u8*)y + row * ys * (QUANT ? 1 : row_word<OUT>::bytes);
  const layer_norm_end<GAIN, V> end = {gain, bias, scale};
  store_long<IN, OUT, V, N, T, KEEP, ADD, QUANT>(end, values, other, center, out, scales + row * srow, sblock);
}
