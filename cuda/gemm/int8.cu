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
//   uses: num/words.cuh, num/mxint8.cuh, gemm/tile.cuh, gemm/tile_s8.cuh, gemm/epilogue.cuh, gemm/requant.cuh,
//   uses: gemm/codes.cuh
DEV void mma_u8s8(i32 (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {  // m16n8k32
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

template <int BM, int BN, int WM, int WN, int STAGES, int VEC, int R, int WRAP, int RAW, class A, class T>
__device__ __forceinline__ void int8(const A* x, const u8* w, const void* channels, T* y, i64 ldy, i32 M, i32 N, i32 K,
                                     i32 zero, i32 lo, i32 hi) {
  const int NT = 32 * WM * WN, MT = BM / WM / 16, NG = BN / WN / 16;
  i32 m0, n0;
  tile_place<BM, BN>(blockIdx.x, M, N, m0, n0);
  const u32 base = shared_addr(smem), warp = threadIdx.x >> 5;
  const u32 wm = warp / WN * (BM / WM), wg = warp % WN * NG;
  i32 acc[MT][NG * 2][4];
#pragma unroll
  for (int i = 0; i < MT * NG * 8; ++i) acc[i / (NG * 8)][i / 4 % (NG * 2)][i % 4] = 0;
  const InputS8 in = {(const u8*)x, w, M, N, K};
  steps_s8<BM, BN, NT, STAGES, VEC, 0>(in, m0, n0, [&](u32 at, i32) {
#pragma unroll
    for (int b = 0; b < 4; ++b) {
      u32 a[MT][4];
#pragma unroll
      for (int i = 0; i < MT; ++i) left_fragment(a[i], base + at, wm + i * 16, b);
#pragma unroll
      for (int j = 0; j < NG * 2; ++j) {
        const w128 v = right_words(at + BM * 128, wg + j / 2, b);
        const u32 b0 = j % 2 ? v.z : v.x, b1 = j % 2 ? v.w : v.y;
#pragma unroll
        for (int i = 0; i < MT; ++i) {
          if constexpr ((A)-1 < 0) mma_s8(acc[i][j], a[i], b0, b1);
          else mma_u8s8(acc[i][j], a[i], b0, b1);
        }
      }
    }
  });
  f32 sum[MT][NG * 2][4];  // the same words
#pragma unroll
  for (int i = 0; i < MT * NG * 8; ++i) {
    sum[i / (NG * 8)][i / 4 % (NG * 2)][i % 4] = word_f32(acc[i / (NG * 8)][i / 4 % (NG * 2)][i % 4]);
  }
  stage_sums<BM, BN, WM, WN, 0, 0>(Sink{}, sum, n0);
  barrier();
  store_coded<BM, BN, NT, R, WRAP, RAW>(channels, y, ldy, M, N, zero, lo, hi, m0, n0);
}
