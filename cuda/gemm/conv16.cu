// SPDX-License-Identifier: Apache-2.0
// conv16: y = act(conv(x, w) + bias) + residual as the product of windows with weights, x and w both bf16 or both f16,
// on tensor cores; windows are never stored. Sums are fp32, k ascending: rows of the window, columns, channels.
//   BM BN    pixels and channels of a block's tile; 64 k a step, STAGES of them in flight
//   WM WN    warps along the pixels and along the channels
//   VEC      1 where channels follow each other and are a multiple of 8
//   F        1 bf16, 2 f16
//   ACT T    as epilogue.cuh has them
// x has the strides xn, xc, xh, xw; y and the residual are [pixels][N]. w is packed as for w16a16, its rows in the
// order of k. M counts the pixels of the result, N its channels, K the products of one.
//   threads: 32 * WM * WN
//   shared: STAGES * (BM + BN) * 128
//   blocks: 1
//   regs: 176
//   sass: LDGSTS.E.BYPASS.128, LDSM.16.M88.4, F == 1: HMMA.16816.F32.BF16, F == 2: HMMA.16816.F32, LDS.128
//   loop: BM == 128 && VEC: 220 for 64 HMMA.16816
//   uses: num/words.cuh, num/mxint8.cuh, gemm/tile.cuh, gemm/step16.cuh, gemm/epilogue.cuh

// A place within the windows, channel c of row ky and column kx; or how far one lies behind another.
struct Tap {
  i32 c, ky, kx;
  DEV void skip(const Tap& by, i32 C, i32 KW) {
    c += by.c;
    kx += by.kx;
    ky += by.ky;
    if (c >= C) c -= C, ++kx;
    if (kx >= KW) kx -= KW, ++ky;
  }
};
DEV Tap tap_of(i32 k, i32 C, i32 KW) { return Tap{k % C, k / C / KW, k / C % KW}; }

template <int BM, int BN, int WM, int WN, int STAGES, int VEC, int F, int ACT, class T>
__device__ __forceinline__ void conv16(const u16* x, const u8* w, const f32* bias, const void* residual, void* y,
                                       u8* scales, i64 ldy, i64 scale_block, i64 scale_row, i32 M, i32 N, i32 K,
                                       i64 xn, i64 xc, i64 xh, i64 xw, i32 H, i32 W, i32 C, i32 OH, i32 OW, i32 KW,
                                       i32 SH, i32 SW, i32 DH, i32 DW, i32 PT, i32 PL) {
  const int NT = 32 * WM * WN, MT = BM / WM / 16, NG = BN / WN / 16, LEFT = BM * 128, STAGE = LEFT + BN * 128;
  const int XC = BM * 8 / NT, WC = BN * 8 / NT;  // chunks of 16 bytes that a thread copies a step
  static_assert(NT % 128 == 0, "the chunks of a thread have one place in their rows and groups");
  const i32 steps = (K + 63) / 64, groups = (N + 15) / 16;
  i32 m0, n0;
  tile_place<BM, BN>(blockIdx.x, M, N, m0, n0);
  const u32 base = shared_addr(smem), warp = threadIdx.x >> 5;
  const u32 wm = warp / WN * (BM / WM), wg = warp % WN * NG;  // rows and groups of 16 columns of this warp

  // Behind the last pixel and the last group stand copies of them, whose sums are not stored.
  const i32 row = threadIdx.x >> 3, chunk = threadIdx.x & 7;
  i32 top[XC], left[XC];  // of the windows
  const u16* origin[XC];  // their first pixels, which may lie outside of x
  const u8* right[WC];
#pragma unroll
  for (int i = 0; i < XC; ++i) {
    const i32 m = min(m0 + row + i * (NT / 8), M - 1), line = m / OW;
    top[i] = line % OH * SH - PT;
    left[i] = m % OW * SW - PL;
    origin[i] = x + line / OH * xn + top[i] * xh + left[i] * xw;
  }
  groups_start<WC, NT, 2048>(right, w, n0, groups, steps, 0);
  Tap tap = tap_of(chunk * 8, C, KW);
  const Tap step = tap_of(64, C, KW), one = tap_of(1, C, KW);
  auto load = [&](i32 k, u32 stage) {
    if (k < steps) {
      if constexpr (VEC) {
        const i32 dy = tap.ky * DH, dx = tap.kx * DW;
        const bool there = k * 64 + chunk * 8 < K;
        i64 offset = dy * xh + dx * xw + tap.c;
        asm volatile("" : "+l"(offset));  // once, and not for each chunk that is inside
#pragma unroll
        for (int i = 0; i < XC; ++i) {
          const i32 iy = top[i] + dy, ix = left[i] + dx;
          const bool inside = there && (u32)iy < (u32)H && (u32)ix < (u32)W;
          cp_async16(base + stage + row_chunk(row, chunk) + i * (NT * 16), inside ? origin[i] + offset : x,
                     inside ? 16 : 0);
        }
        tap.skip(step, C, KW);
      } else {
        u32 words[XC][4];
        Tap at = tap;
#pragma unroll
        for (int e = 0; e < 8; ++e) {
          const i32 dy = at.ky * DH, dx = at.kx * DW;
          const bool there = k * 64 + chunk * 8 + e < K;
          i64 offset = dy * xh + dx * xw + at.c * xc;
          asm volatile("" : "+l"(offset));
#pragma unroll
          for (int i = 0; i < XC; ++i) {
            const i32 iy = top[i] + dy, ix = left[i] + dx;
            const bool inside = there && (u32)iy < (u32)H && (u32)ix < (u32)W;
            const u32 v = inside ? origin[i][offset] : 0;
            words[i][e / 2] = e % 2 ? words[i][e / 2] | v << 16 : v;
          }
          at.skip(one, C, KW);
        }
        tap.skip(step, C, KW);
#pragma unroll
        for (int i = 0; i < XC; ++i) {
          *(w128*)(smem + stage + row_chunk(row, chunk) + i * (NT * 16)) =
              w128{words[i][0], words[i][1], words[i][2], words[i][3]};
        }
      }
      groups_next<WC, NT, 2048>(base + stage + LEFT, right);
    }
    cp_async_commit();
  };

  const u32 lane_a = base + lane_fragment(wm), lane_w = LEFT + wg * 2048 + lane() * 16;
  f32 acc[MT][NG * 2][4];
#pragma unroll
  for (int i = 0; i < MT * NG * 8; ++i) acc[i / (NG * 8)][i / 4 % (NG * 2)][i % 4] = 0;
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) load(s, s * STAGE);
  u32 at = 0, next = (STAGES - 1) * STAGE;
#pragma unroll 1
  for (i32 k = 0; k < steps; ++k) {
    cp_async_wait<STAGES - 2>();
    barrier();
    load(k + STAGES - 1, next);
    multiply_16<F>(acc, at + lane_a, at + lane_w);
    next = at;
    at = at == (STAGES - 1) * STAGE ? 0 : at + STAGE;
  }
  barrier();
  const Sink sink = {bias, residual, y, scales, ldy, scale_block, scale_row, M, N};
  store_sums<BM, BN, WM, WN, ACT, 0, T>(sink, acc, m0, n0);
}
