// SPDX-License-Identifier: Apache-2.0
// conv16: y = act(conv(x, w) + bias) + residual as the product of windows with weights, x and w both bf16 or both f16,
// on tensor cores; windows are never stored. Sums are fp32, k ascending: rows of the window, columns, channels.
//   BM BN    pixels and channels of a block's tile; 64 k a step, STAGES of them in flight
//   WM WN    warps along the pixels and along the channels
//   VEC      where channels follow each other and are a multiple of it, 2, 4 or 8; else 1
//   F        1 bf16, 2 f16
//   ACT T    as epilogue.cuh has them
// x has the strides xn, xc, xh, xw; y and the residual are [pixels][N]. w is packed as for w16a16, its rows in the
// order of k. M counts the pixels of the result, N its channels, K the products of one.
//   threads: 32 * WM * WN
//   shared: STAGES * (BM + BN) * 128
//   blocks: 1
//   regs: 200
//   sass: LDGSTS.E.BYPASS.128, LDSM.16.M88.4, F == 1: HMMA.16816.F32.BF16, F == 2: HMMA.16816.F32, LDS.128
//   loop: VEC == 8 && BM == 128 && BN > 32: BN == 128 ? 214 : 260 for 64 HMMA.16816,
//   loop: VEC == 1: BM * BN / WM / WN / 16 + 364 + 34 * BM / WM / WN for BM * BN / WM / WN / 32 HMMA.16816
//   uses: num/words.cuh, num/mxint8.cuh, gemm/tile.cuh, gemm/step.cuh, gemm/epilogue.cuh, gemm/windows.cuh
template <int BM, int BN, int WM, int WN, int STAGES, int VEC, int F, int ACT, class T>
__device__ __forceinline__ void conv16(const u16* x, const u8* w, const f32* bias, const void* residual, void* y,
                                       u8* scales, i64 ldy, i64 scale_block, i64 scale_row, i32 M, i32 N, i32 K,
                                       i64 xn, i64 xc, i64 xh, i64 xw, i32 H, i32 W, i32 C, i32 OH, i32 OW, i32 KW,
                                       i32 SH, i32 SW, i32 DH, i32 DW, i32 PT, i32 PL) {
  const int NT = 32 * WM * WN, MT = BM / WM / 16, NG = BN / WN / 16;
  i32 m0, n0;
  tile_place<BM, BN>(blockIdx.x, M, N, m0, n0);
  const u32 warp = threadIdx.x >> 5, wm = warp / WN * (BM / WM), wg = warp % WN * NG;  // rows and groups of this warp
  const u32 lane_a = shared_addr(smem) + lane_fragment(wm), lane_w = BM * 128 + wg * 2048 + lane() * 16;
  f32 acc[MT][NG * 2][4] = {};
  const Images<u16> images = {x, x, xn, xc, xh, xw, H, W, C, OH, OW, KW, SH, SW, DH, DW, PT, PL};
  over_windows<BM, BN, NT, STAGES, VEC, false>(images, w, M, N, K, m0, n0, [&](u32 at, int h) {
    multiply_quarter<F>(acc, at + lane_a, at + lane_w, h);
  });
  const Sink sink = {bias, residual, y, scales, ldy, scale_block, scale_row, M, N};
  store_sums<BM, BN, WM, WN, ACT, 0, T>(sink, acc, m0, n0);
}
