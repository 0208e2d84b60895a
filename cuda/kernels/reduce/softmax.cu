// SPDX-License-Identifier: Apache-2.0
// softmax: y = exp(x - max x) / sum of them along each row, rows of at most 32 * WARPS * N columns held in registers.
//   IN, OUT  formats: 0 f32, 1 bf16, 2 f16
//   V        values of an access: 16 bytes of IN, or 1
//   N        values of a thread
//   WARPS    warps of a row
//   ROWS     rows of a block; 1 unless WARPS is 1
//   MASK     1: mask holds a byte for each column, 0 leaves the column out
// Row r of x reads row r / ma * mb + r % mc of the mask. A row without a column left, or of -Inf only, becomes zeros; a
// row with NaN or +Inf in a column that is left becomes NaN. What is left out is 0 else, be it NaN. One read and one
// write.
//   threads: 32 * WARPS * ROWS
//   shared: WARPS > 1 ? 8 * WARPS : 0
//   regs: N > 16 ? 96 : MASK && V == 1 && SM >= 100 ? 80 : 64
//   sass: V > 1: LDG.128, V > 1: STG.128|STG.64, MUFU.EX2
//   uses: reduce/row.cuh, reduce/exp.cuh
template <int IN, int OUT, int V, int N, int WARPS, int ROWS, int MASK>
__device__ __forceinline__ void softmax(const void* x, const u8* mask, void* y, i64 rows, u32 n,
                                        u64 ma, u64 mb, u64 mc) {
  const int T = 32 * WARPS;
  const u32 t = threadIdx.x % T;
  const i64 row = (i64)blockIdx.x * ROWS + threadIdx.x / T;
  if (row >= rows) return;
  f32* place = (f32*)smem;
  const f32 none = word_f32(0xFF800000u);
  f32 v[N];
  load_row<IN, V, N, T>(v, (const u8*)x + row * n * row_word<IN>::bytes, t, n, none);
  if (MASK) {
    const u8* keep = mask + ((u64)row / ma * mb + (u64)row % mc) * n;
#pragma unroll
    for (int c = 0; c < N / V; ++c) apply_mask<V>(v + c * V, keep, row_column<V, T>(c, t), n);
  }
  f32 top = v[0];
#pragma unroll
  for (int i = 1; i < N; ++i) top = fmaxf(top, v[i]);
  top = team_max<WARPS>(top, place);
  if (top == none) top = 0;
#pragma unroll
  for (int i = 0; i < N; ++i) v[i] = exp_below(v[i], top);
  const f32 sum = team_sum<WARPS>(row_tree(v), place + WARPS);
  const f32 inverse = sum == 0 ? 0 : rcp(sum);
  u8* out = (u8*)y + row * n * row_word<OUT>::bytes;
#pragma unroll
  for (int c = 0; c < N / V; ++c) {
    const u32 at = row_column<V, T>(c, t);
#pragma unroll
    for (int i = 0; i < V; ++i) v[c * V + i] = mul_rn(v[c * V + i], inverse);
    if (at < n) store_chunk<OUT, V>(out, at, v + c * V);
  }
}
