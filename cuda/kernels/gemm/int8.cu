// SPDX-License-Identifier: Apache-2.0
// int8: y = requantize(x*transpose(w)), integers throughout: x [M][K] of A (i8 or u8), w i8, sums of 32 bits, an output
// channel a row of w with its bias, factor and shift (requant.cuh).
//   BM BN WM WN STAGES VEC   as those of mx_block
//   R WRAP   rounding mode and overflow of requantize
//   A        i8 or u8
//   T        i8, u8, i16 or i32. RAW 1 stores the sums themselves, T i32, without channels
// w is packed for bytes; |x|*|w| summed over K must stay below 2^31. The grid is one-dimensional.
//   threads: 32 * WM * WN
//   shared: max(STAGES * (BM + BN) * 128, BM * (BN + 8) * 4)
//   blocks: WM * WN <= 4 ? 3 : 1
//   regs: 200
//   sass: LDGSTS.E.BYPASS.128, LDSM.16.M88.4, IMMA.16832.S8.S8|IMMA.16832.U8.S8
//   uses: num/words.cuh, num/mxint8.cuh, gemm/tile.cuh, gemm/tile_s8.cuh, gemm/step.cuh, gemm/epilogue.cuh,
//   uses: gemm/requant.cuh, gemm/codes.cuh
template <int BM, int BN, int WM, int WN, int STAGES, int VEC, int R, int WRAP, int RAW, class A, class T>
__device__ __forceinline__ void int8(const A* x, const u8* w, const void* channels, T* y, i64 ldy, i32 M, i32 N, i32 K,
                                     i32 zero, i32 lo, i32 hi) {
  const int NT = 32 * WM * WN, MT = BM / WM / 16, NG = BN / WN / 16;
  i32 m0, n0;
  tile_place<BM, BN>(blockIdx.x, M, N, m0, n0);
  const u32 warp = threadIdx.x >> 5, wm = warp / WN * (BM / WM), wg = warp % WN * NG;
  const u32 lane_a = shared_addr(smem) + lane_fragment(wm), lane_w = BM * 128 + wg * 2048 + lane() * 16;
  i32 acc[MT][NG * 2][4] = {};
  const InputS8 in = {(const u8*)x, w, M, N, K};
  steps_s8<BM, BN, NT, STAGES, VEC, 0>(
      in, m0, n0, [&](u32 at, i32) { multiply_step<bytes_of<A>::F>(acc, at + lane_a, at + lane_w); });
  store_coded_sums<BM, BN, WM, WN, R, WRAP, RAW>(acc, channels, y, ldy, M, N, zero, lo, hi, m0, n0,
                                                 Added<R, 0>{});
}
