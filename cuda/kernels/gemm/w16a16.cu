// SPDX-License-Identifier: Apache-2.0
// w16a16: y = act(x*transpose(w) + bias) + residual, x [M][K] and w [N][K] both bf16 or both f16, on tensor cores. Sums
// are fp32, k ascending, so a row's bits depend on K and `splits` alone.
//   BM BN    rows and columns of a block's tile; 64 k a step, STAGES of them in flight
//   WM WN    warps along the rows and along the columns
//   VEC      1 where K is a multiple of 8
//   F        1 bf16, 2 f16
//   ACT GATE T   as epilogue.cuh has them
// w is packed (16 rows x 16 k), K padded to 64 with zeros. splits > 1: part i of the k range goes to y + i*M*ldy as
// bare sums (T f32), which split_sum adds. N counts rows of w. The grid is one-dimensional: tiles times splits.
//   threads: 32 * WM * WN
//   shared: STAGES * (BM + BN) * 128
//   blocks: 2
//   regs: 128
//   sass: LDGSTS.E.BYPASS.128, LDSM.16.M88.4, F == 1: HMMA.16816.F32.BF16, F == 2: HMMA.16816.F32, LDS.128
//   loop: BM == 128 && VEC: 140 for 64 HMMA.16816
//   uses: num/words.cuh, num/mxint8.cuh, gemm/tile.cuh, gemm/step.cuh, gemm/epilogue.cuh
template <int BM, int BN, int WM, int WN, int STAGES, int VEC, int F, int ACT, int GATE, class T>
__device__ __forceinline__ void w16a16(const u16* x, const u8* w, const f32* bias, const void* residual, void* y,
                                       u8* scales, i64 ldy, i64 scale_block, i64 scale_row, i32 M, i32 N, i32 K,
                                       i32 splits) {
  const int NT = 32 * WM * WN, MT = BM / WM / 16, NG = BN / WN / 16, LEFT = BM * 128, STAGE = LEFT + BN * 128;
  const int XC = BM * 8 / NT, WC = BN * 8 / NT;  // chunks of 16 bytes that a thread copies a step
  const u32 tiles = gridDim.x / splits, split = blockIdx.x / tiles;
  const i32 steps = (K + 63) / 64, groups = (N + 15) / 16;
  i32 m0, n0, from, to;
  tile_place<BM, BN>(blockIdx.x % tiles, M, N, m0, n0);
  split_range(steps, splits, split, from, to);
  const u32 base = shared_addr(smem), warp = threadIdx.x >> 5, l = lane();
  const u32 wm = warp / WN * (BM / WM), wg = warp % WN * NG;  // rows and groups of 16 columns of this warp

  const u8 *left[XC], *right[WC];
  rows_start<XC, NT>(left, (const u8*)x, m0, M, (i64)K * 2, (i64)from * 128);
  groups_start<WC, NT, 2048>(right, w, n0, groups, steps, from);
  auto load = [&](i32 k, u32 stage) {
    if (k < to) {
      if constexpr (VEC) rows_next<XC, NT>(base + stage, left, k * 64 + threadIdx.x % 8 * 8 < K);
      else load_rows<BM, NT, 0, 2>(stage, (const u8*)x, m0, M, (i64)K * 2, (i64)k * 128);
      groups_next<WC, NT, 2048>(base + stage + LEFT, right);
    }
    cp_async_commit();
  };

  const u32 lane_a = base + lane_fragment(wm), lane_w = LEFT + wg * 2048 + l * 16;
  f32 acc[MT][NG * 2][4];
#pragma unroll
  for (int i = 0; i < MT * NG * 8; ++i) acc[i / (NG * 8)][i / 4 % (NG * 2)][i % 4] = 0;
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) load(from + s, s * STAGE);
  u32 at = 0, next = (STAGES - 1) * STAGE;
#pragma unroll 1
  for (i32 k = from; k < to; ++k) {
    cp_async_wait<STAGES - 2>();
    barrier();
    load(k + STAGES - 1, next);
    multiply_step<F>(acc, at + lane_a, at + lane_w);
    next = at;
    at = at == (STAGES - 1) * STAGE ? 0 : at + STAGE;
  }
  barrier();
  const i64 part = (i64)split * M * ldy * sizeof(f32);  // 0 without splits
  const Sink sink = {bias, residual, (u8*)y + part, scales, ldy, scale_block, scale_row, M, GATE ? N / 2 : N};
  store_sums<BM, BN, WM, WN, ACT, GATE, T>(sink, acc, m0, n0);
}
