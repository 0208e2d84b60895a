// SPDX-License-Identifier: Apache-2.0
// mx_block: y = act(x*transpose(w) + bias) + residual, both MXINT8, exact in each block of 32 k: acc = fma(p, 2^E, acc)
// with p the integer sum of a block and E the sum of its exponents, blocks ascending. NaN where a scale is 255.
//   BM BN WM WN STAGES ACT GATE T   as those of w8a16
//   VEC      1 where K is a multiple of 16
// x is [M][K], its scales are transposed, [blocks][xs_pitch], xs_pitch a multiple of 16; w and ws are packed for bytes,
// K padded to 128. The grid is one-dimensional.
//   threads: 32 * WM * WN
//   shared: max(STAGES * (BM * 132 + BN * 132), BM * (BN + 8) * 4)
//   blocks: WM * WN <= 4 ? 3 : 1
//   regs: 176
//   sass: LDGSTS.E.BYPASS.128, LDSM.16.M88.4, IMMA.16832.S8.S8
//   loop: BM == 128 && VEC: 830 for 32 IMMA.16832
//   uses: num/words.cuh, num/mxint8.cuh, gemm/tile.cuh, gemm/tile_s8.cuh, gemm/epilogue.cuh
//
// p comes out of the tensor core as 3*2^22 + p in the words of a float: the accumulator starts there. The factor 2^E
// leaves fp32, so it is taken as a row's times a column's, 2^(X-139) and 2^(X-127). To keep the first product finite,
// rows with scales from 240 on lend their columns 2^24; columns beyond 230 then overflow in any case. Few steps have
// such rows, so they have code of their own.

// 2^(X-127) of X << 23: a word of that power but for 0, where it is subnormal, and for 255, where it is infinite. A row
// makes that NaN as it takes 3*2^22 away.
DEV f32 block_scale(u32 word) { return fmaxf(word_f32(word), 0x1p-127f); }

// One block of 32 k of a warp's tile: block b of the stage at `at`.
template <int BM, int BN, int MT, int NG, int LEND>
DEV void block_turn(f32 (&acc)[MT][NG * 2][4], u32 base, u32 at, u32 wm, u32 wg, u32 b) {
  typedef StageS8<BM, BN, 1> Stage;
  const u32 l = lane();
  u32 a[MT][4];
  bool big[MT][2];
  f32 row[MT][2], offset[MT][2];
#pragma unroll
  for (int i = 0; i < MT; ++i) {
    left_fragment(a[i], base + at, wm + i * 16, b);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const u32 X = smem[at + Stage::left_scales + b * BM + wm + i * 16 + h * 8 + (l >> 2)];
      const f32 s = block_scale(X << 23);
      big[i][h] = LEND && X >= 240;
      row[i][h] = mul_rn(s, big[i][h] ? 0x1p-36f : 0x1p-12f);
      offset[i][h] = mul_rn(-12582912.0f, row[i][h]);
    }
  }
#pragma unroll
  for (int j = 0; j < NG * 2; ++j) {
    const w128 v = right_words(at + Stage::weights, wg + j / 2, b);
    const u32 scales = at + Stage::right_scales + ((wg + j / 2) * 4 + b) * 16 + j % 2 * 8 + (l & 3) * 2;
    const u32 X = *(const u16*)(smem + scales);
    f32 col[2], lent[2];
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const f32 s = block_scale((c ? X << 15 : X << 23) & 0x7F800000u);
      col[c] = fma_rn(s, 0.0f, s);  // NaN for infinity
      lent[c] = min_nan(mul_rn(col[c], 0x1p24f), 0x1p127f);
    }
#pragma unroll
    for (int i = 0; i < MT; ++i) {
      i32 p[4] = {0x4B400000, 0x4B400000, 0x4B400000, 0x4B400000};
      mma_s8(p, a[i], j % 2 ? v.z : v.x, j % 2 ? v.w : v.y);
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const f32 scaled = fma_rn(word_f32(p[c]), row[i][c / 2], offset[i][c / 2]);
        acc[i][j][c] = fma_rn(scaled, big[i][c / 2] ? lent[c % 2] : col[c % 2], acc[i][j][c]);
      }
    }
  }
}

template <int BM, int BN, int WM, int WN, int STAGES, int VEC, int ACT, int GATE, class T>
__device__ __forceinline__ void mx_block(const u8* x, const u8* xs, const u8* w, const u8* ws, i64 xs_pitch,
                                         const f32* bias, const void* residual, void* y, u8* scales, i64 ldy,
                                         i64 scale_block, i64 scale_row, i32 M, i32 N, i32 K) {
  const int NT = 32 * WM * WN, MT = BM / WM / 16, NG = BN / WN / 16;
  i32 m0, n0;
  tile_place<BM, BN>(blockIdx.x, M, N, m0, n0);
  const u32 base = shared_addr(smem), warp = threadIdx.x >> 5;
  const u32 wm = warp / WN * (BM / WM), wg = warp % WN * NG;
  const i32 real = (K + 31) / 32;
  f32 acc[MT][NG * 2][4];
#pragma unroll
  for (int i = 0; i < MT * NG * 8; ++i) acc[i / (NG * 8)][i / 4 % (NG * 2)][i % 4] = 0;

  const InputS8 in = {x, w, M, N, K, xs, ws, xs_pitch};
  steps_s8<BM, BN, NT, STAGES, VEC, 1>(in, m0, n0, [&](u32 at, i32 block) {
    u32 high = 0;  // the top bit of scales of the step's rows from 240 on
#pragma unroll
    for (int i = 0; i < (BM + 31) / 32; ++i) {
      const u32 word = (i * 32 + lane()) % BM * 4;
      const u32 X = *(const u32*)(smem + at + StageS8<BM, BN, 1>::left_scales + word), two = X & X << 1;
      high |= two & two << 2;
    }
    const i32 blocks = min(real - block, 4);  // adding +0 for more would change -0
    if (rare((high & 0x80808080u) != 0)) {
#pragma unroll 1
      for (i32 b = 0; b < blocks; ++b) block_turn<BM, BN, MT, NG, 1>(acc, base, at, wm, wg, b);
    } else {
#pragma unroll 1
      for (i32 b = 0; b < blocks; ++b) block_turn<BM, BN, MT, NG, 0>(acc, base, at, wm, wg, b);
    }
  });
  const Sink sink = {bias, residual, y, scales, ldy, scale_block, scale_row, M, GATE ? N / 2 : N};
  store_sums<BM, BN, WM, WN, ACT, GATE, T>(sink, acc, m0, n0);
}
