// SPDX-License-Identifier: Apache-2.0
// w8a16: y = act(x*transpose(w) + bias) + residual, x bf16 [M][K], w MXINT8, on tensor cores. Weights become bf16 in
// registers, exactly; sums are fp32, k ascending, so a row's bits depend on K and `splits` alone.
//   BM BN    rows and columns of a block's tile; 64 k a step, STAGES of them in flight
//   WM WN    warps along the rows and along the columns
//   VEC      1 where K is a multiple of 8
//   ACT GATE T   as epilogue.cuh has them
// w is packed (16 rows x 32 k), K padded to 64 with zeros; ws are its scales, 16 a tile. splits > 1: part i of the k
// range goes to y + i*M*ldy as bare sums (T f32), which split_sum adds. N counts rows of w. The grid is
// one-dimensional: tiles times splits.
//   threads: 32 * WM * WN
//   shared: STAGES * (BM * 128 + BN * 66)
//   blocks: BM == 32 ? 3 : 0
//   regs: BM == 32 || BM * BN / (WM * WN) > 1024 ? 168 : 128
//   sass: LDGSTS.E.BYPASS.128, LDSM.16.M88.4, HMMA.16816.F32.BF16, LDS.128
//   loop: BM == 128 && VEC: 345 for 64 HMMA.16816, BM == 16 && VEC: 264 for 16 HMMA.16816
//   uses: num/words.cuh, num/mxint8.cuh, gemm/tile.cuh, gemm/epilogue.cuh
template <int BM, int BN, int WM, int WN, int STAGES, int VEC, int ACT, int GATE, class T>
__device__ __forceinline__ void w8a16(const bf16* x, const u8* w, const u8* ws, const f32* bias, const void* residual,
                                      void* y, u8* scales, i64 ldy, i64 scale_block, i64 scale_row, i32 M, i32 N,
                                      i32 K, i32 splits) {
  const int NT = 32 * WM * WN, MT = BM / WM / 16, NG = BN / WN / 16, LEFT = BM * 128, SCALES = LEFT + BN * 64;
  const int STAGE = SCALES + BN * 2, XC = BM * 8 / NT, WC = BN * 4 / NT;  // C: chunks that a thread copies a step
  const u32 tiles = gridDim.x / splits, split = blockIdx.x / tiles;
  const i32 steps = (K + 63) / 64, groups = (N + 15) / 16;
  i32 m0, n0, from, to;
  tile_place<BM, BN>(blockIdx.x % tiles, M, N, m0, n0);
  split_range(steps, splits, split, from, to);
  const u32 base = shared_addr(smem), warp = threadIdx.x >> 5, l = lane();
  const u32 wm = warp / WN * (BM / WM), wg = warp % WN * NG;  // rows and groups of 16 columns of this warp

  const u8 *left[XC], *right[WC], *exps[1];
  rows_start<XC, NT>(left, (const u8*)x, m0, M, (i64)K * 2, (i64)from * 128);
  groups_start<WC, NT, 1024>(right, w, n0, groups, steps, from);
  groups_start<1, NT, 32>(exps, ws, n0, groups, steps, from);
  auto load = [&](i32 k, u32 stage) {
    if (k < to) {
      if constexpr (VEC) rows_next<XC, NT>(base + stage, left, k * 64 + threadIdx.x % 8 * 8 < K);
      else load_rows<BM, NT, 0, 2>(stage, (const u8*)x, m0, M, (i64)K * 2, (i64)k * 128);
      groups_next<WC, NT, 1024>(base + stage + LEFT, right);
      if (threadIdx.x < BN / 8) groups_next<1, NT, 32>(base + stage + SCALES, exps);
    }
    cp_async_commit();
  };

  const u32 lane_a = base + lane_fragment(wm), lane_w = LEFT + wg * 1024 + l * 16;
  const u32 lane_x = SCALES + wg * 32 + l / 4 * 2;
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
#pragma unroll
    for (int b = 0; b < 2; ++b) {
      u32 q[NG][4], scale[NG][2];
#pragma unroll
      for (int g = 0; g < NG; ++g) {
        const w128 v = *(const w128*)(smem + at + lane_w + (g * 2 + b) * 512);
        q[g][0] = v.x, q[g][1] = v.y, q[g][2] = v.z, q[g][3] = v.w;
        const u32 s = mxint8_factors_bf16(*(const u16*)(smem + at + lane_x + (g * 2 + b) * 16), 0x4140);
        scale[g][0] = prmt(s, 0, 0x1010), scale[g][1] = prmt(s, 0, 0x3232);
      }
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        u32 a[MT][4];
#pragma unroll
        for (int i = 0; i < MT; ++i) left_fragment_at(a[i], at + lane_a, i, b * 2 + h);
#pragma unroll
        for (int j = 0; j < NG * 2; ++j) {
          const u32 word = q[j / 2][j % 2 * 2 + h], s = scale[j / 2][j % 2];
          const u32 b0 = mxint8_pair_bf16(word, 0x4140, s), b1 = mxint8_pair_bf16(word, 0x4342, s);
#pragma unroll
          for (int i = 0; i < MT; ++i) mma_bf16(acc[i][j], a[i], b0, b1);
        }
      }
    }
    next = at;
    at = at == (STAGES - 1) * STAGE ? 0 : at + STAGE;
  }
  barrier();
  const i64 part = (i64)split * M * ldy * sizeof(f32);  // 0 without splits
  const Sink sink = {bias, residual, (u8*)y + part, scales, ldy, scale_block, scale_row, M, GATE ? N / 2 : N};
  store_sums<BM, BN, WM, WN, ACT, GATE, T>(sink, acc, m0, n0);
}
