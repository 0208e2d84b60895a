// SPDX-License-Identifier: Apache-2.0
// mx_window: sums over blocks of 32 into a window of fixed point: y = clamp(bias + sum of term(p_b * 2^s_b)), with p_b
// the integer sum of a block, s_b = X + W + shift by the scale bytes of both, and a term cut to an integer (floor) and
// clamped to the window, which is least..most.
//   BM BN WM WN STAGES VEC   as those of mx_block
//   XS       1: x has scales; else X is 0
//   EXACT    1: no block but those of zeros has s_b < 0, and no term leaves the window
//   T        i8, i16, i32 or i64: what holds a sum
// x is [M][K], its scales are [M][blocks]; w and ws are packed for bytes, K padded to 128. The grid is one-dimensional.
//   threads: 32 * WM * WN
//   shared: STAGES * (BM + BN) * 128
//   blocks: WM * WN <= 4 ? 2 : 1
//   regs: 232
//   sass: LDGSTS.E.BYPASS.128, LDSM.16.M88.4, IMMA.16832.S8.S8
//   loop: BM == 128 && VEC && EXACT: 840 for 32 IMMA.16832
//   uses: gemm/tile.cuh, gemm/tile_s8.cuh
//
// Scales come through L1: a word of 32 of them serves as many steps.

DEV i64 clamp64(i64 v, i64 least, i64 most) { return v < least ? least : v > most ? most : v; }

// d * 2^s, floor, in the window. |d| < 2^31, most < 2^47.
DEV i64 window_term(i32 d, i32 s, i64 least, i64 most) {
  if (s <= 0) return clamp64((i64)d >> (s < -31 ? 31 : -s), least, most);
  const i32 up = s < 47 ? s : 47;  // from there on every bit leaves the window
  if (d > most >> up) return most;
  if (d < least >> up) return least;
  const i64 v = (i64)d << up;
  return v < least ? least : v;  // -1 may pass, since least >> up is never 0
}

// 2^s for s of 0..31; 0 for a negative s, which only zeros have.
DEV i32 window_power(i32 s) {
  i32 r;
  asm("shl.b32 %0, 1, %1;" : "=r"(r) : "r"(s));
  return r;
}

template <int BM, int BN, int WM, int WN, int STAGES, int VEC, int XS, int EXACT, class T>
__device__ __forceinline__ void mx_window(const u8* x, const u8* xs, const u8* w, const u8* ws, const i64* bias, T* y,
                                          i64 ldy, i32 M, i32 N, i32 K, i32 shift, i64 least, i64 most) {
  const int NT = 32 * WM * WN, MT = BM / WM / 16, NG = BN / WN / 16;
  i32 m0, n0;
  tile_place<BM, BN>(blockIdx.x, M, N, m0, n0);
  const u32 base = shared_addr(smem), warp = threadIdx.x >> 5, l = lane();
  const u32 wm = warp / WN * (BM / WM), wg = warp % WN * NG;
  const i32 real = (K + 31) / 32, blocks = (K + 127) / 128 * 4, groups = (N + 15) / 16;
  i64 acc[MT][NG * 2][4];
#pragma unroll
  for (int i = 0; i < MT * NG * 8; ++i) acc[i / (NG * 8)][i / 4 % (NG * 2)][i % 4] = 0;
  // Behind the last row and the last group stand the scales of those, for sums that are not stored.
  const u8 *left[MT][2], *right[NG];
#pragma unroll
  for (int i = 0; i < MT * 2; ++i)
    left[i / 2][i % 2] = xs + (i64)min(m0 + (i32)(wm + i * 8 + l / 4), M - 1) * real;
#pragma unroll
  for (int g = 0; g < NG; ++g) right[g] = ws + (i64)min(n0 / 16 + (i32)wg + g, groups - 1) * blocks * 16 + l % 4 * 2;

  const InputS8 in = {x, w, M, N, K};
  steps_s8<BM, BN, NT, STAGES, VEC, 0>(in, m0, n0, [&](u32 at, i32 block) {
    const i32 turns = min(real - block, 4);
#pragma unroll 1
    for (i32 b = 0; b < turns; ++b) {
      u32 a[MT][4];
      i32 row[MT][2], high = shift;
#pragma unroll
      for (int i = 0; i < MT; ++i) {
        left_fragment(a[i], base + at, wm + i * 16, b);
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          row[i][h] = shift + (XS ? *left[i][h]++ : 0);
          high = max(high, row[i][h]);
        }
      }
#pragma unroll
      for (int j = 0; j < NG * 2; ++j) {
        const w128 v = right_words(at + BM * 128, wg + j / 2, b);
        const u32 W = *(const u16*)(right[j / 2] + j % 2 * 8);
        if (j % 2) right[j / 2] += 16;
        i32 p[MT][4] = {}, s[MT][4];
#pragma unroll
        for (int i = 0; i < MT; ++i) {
          mma_s8(p[i], a[i], j % 2 ? v.z : v.x, j % 2 ? v.w : v.y);
#pragma unroll
          for (int c = 0; c < 4; ++c) s[i][c] = row[i][c / 2] + (i32)(c % 2 ? W >> 8 : W & 255);
        }
        // A product beyond 2^30 that stays in the window has room for the rest of its shift.
        if (EXACT && rare(high + (i32)max(W >> 8, W & 255) > 30)) {
#pragma unroll
          for (int e = 0; e < MT * 4; ++e) {
            p[e / 4][e % 4] <<= min(max(s[e / 4][e % 4] - 30, 0), 31);
            s[e / 4][e % 4] = min(s[e / 4][e % 4], 30);
          }
        }
#pragma unroll
        for (int e = 0; e < MT * 4; ++e) {
          const i32 d = p[e / 4][e % 4], up = s[e / 4][e % 4];
          acc[e / 4][j][e % 4] += EXACT ? (i64)d * window_power(up) : window_term(d, up, least, most);
        }
      }
    }
  });
#pragma unroll
  for (int i = 0; i < MT; ++i) {
#pragma unroll
    for (int j = 0; j < NG * 2; ++j) {
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const i32 m = m0 + wm + i * 16 + c / 2 * 8 + (l >> 2);
        const i32 n = n0 + (wg + j / 2) * 16 + j % 2 * 8 + (l & 3) * 2 + c % 2;
        if (m < M && n < N) y[m * ldy + n] = (T)clamp64(acc[i][j][c] + bias[n], least, most);
      }
    }
  }
}
