// SPDX-License-Identifier: Apache-2.0
// conv8: y = requantize(conv(x, w)) as the product of windows with weights, integers throughout, on tensor cores;
// windows are never stored. x of A (i8 or u8), w i8, sums of 32 bits, an output channel a row of w.
//   BM BN WM WN STAGES   as those of mx_block
//   VEC      where channels follow each other and are a multiple of it, 4, 8 or 16; else 1
//   R WRAP RAW A T       as those of int8; T is that of y, also where something is added
//   SUM      1 or 2 where codes r, i8 or u8, are added to the result, laid out as y (codes.cuh); else 0
// x has the strides xn, xc, xh, xw; y is [pixels][N]. w is packed for bytes, its rows in the order of k: rows of the
// window, columns, channels; behind it stands 16 times the code that x has beyond the image. M counts the pixels of
// the result, N its channels, K the products of one; |x|*|w| summed over K must stay below 2^31.
//   threads: 32 * WM * WN
//   shared: max(STAGES * (BM + BN) * 128, BM * (BN + 8) * 4)
//   blocks: WM * WN > 4 ? 1 : BM == 128 ? 2 : 3
//   regs: 230
//   sass: LDGSTS.E.BYPASS.128, LDSM.16.M88.4, IMMA.16832.S8.S8|IMMA.16832.U8.S8
//   loop: VEC == 16 && BM == 128 && BN > 32: BN == 128 ? 214 : 260 for 64 IMMA.16832,
//   loop: VEC == 1: BM * BN / WM / WN / 16 + 668 + 68 * BM / WM / WN for BM * BN / WM / WN / 32 IMMA.16832
//   uses: num/words.cuh, num/mxint8.cuh, gemm/tile.cuh, gemm/step.cuh, gemm/epilogue.cuh, gemm/requant.cuh,
//   uses: gemm/codes.cuh, gemm/windows.cuh
template <int BM, int BN, int WM, int WN, int STAGES, int VEC, int R, int WRAP, int RAW, class A, class T, int SUM>
__device__ __forceinline__ void conv8(const A* x, const u8* w, const void* channels, T* y, i64 ldy, i32 M, i32 N, i32 K,
                                      i32 zero, i32 lo, i32 hi, const void* r, i64 bias, i64 mul, i64 factor, i32 shift,
                                      i32 zero_r, i32 lo_r, i32 hi_r, i64 xn, i64 xc, i64 xh, i64 xw, i32 H, i32 W,
                                      i32 C, i32 OH, i32 OW, i32 KW, i32 SH, i32 SW, i32 DH, i32 DW, i32 PT, i32 PL) {
  const int NT = 32 * WM * WN, MT = BM / WM / 16, NG = BN / WN / 16;
  i32 m0, n0;
  tile_place<BM, BN>(blockIdx.x, M, N, m0, n0);
  const u32 warp = threadIdx.x >> 5, wm = warp / WN * (BM / WM), wg = warp % WN * NG;  // rows and groups of this warp
  const u32 lane_a = shared_addr(smem) + lane_fragment(wm), lane_w = BM * 128 + wg * 2048 + lane() * 16;
  i32 acc[MT][NG * 2][4] = {};
  const u8* outside = w + (i64)((N + 15) / 16) * ((K + 127) / 128) * 2048;
  const Images<u8> images = {(const u8*)x, outside, xn, xc, xh, xw, H, W, C, OH, OW, KW, SH, SW, DH, DW, PT, PL};
  over_windows<BM, BN, NT, STAGES, VEC, true>(images, w, M, N, K, m0, n0, [&](u32 at, int h) {
    multiply_quarter<bytes_of<A>::F>(acc, at + lane_a, at + lane_w, h);
  });
  const Added<R, SUM> added = {(const u8*)r, bias, mul, factor, shift, zero_r, lo_r, hi_r};
  store_coded_sums<BM, BN, WM, WN, R, WRAP, RAW>(acc, channels, y, ldy, M, N, zero, lo, hi, m0, n0, added);
}
