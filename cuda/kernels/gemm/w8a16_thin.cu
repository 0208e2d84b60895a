// SPDX-License-Identifier: Apache-2.0
// w8a16_thin: the product of w8a16 for at most 8 rows of x, bound by the bytes of w. Weights go from memory to
// registers, 16 bytes a lane, and are the left operand of the tensor cores; x is the right one and lies in shared
// memory. A row's bits do not depend on M.
//   R        groups of 16 columns of a warp
//   WN WK    warps along the columns; warps that share a k range, whose sums are added in a fixed order
//   KR       most k of a block, a multiple of 32
//   VEC      1 where K is a multiple of 8
//   ACT GATE T   as epilogue.cuh has them; T i8 needs 32 columns of the result a block
// Operands are those of w8a16. splits > 1: parts for split_sum. The grid is one-dimensional: column tiles times splits.
//   threads: 32 * WN * WK
//   shared: max(8 * (KR * 2 + 16), (WK * (16 * R * WN + 4) + 16 * R * WN + 8) * 32)
//   regs: 128
//   sass: LDG.128, LDSM.16.M88.4, HMMA.16816.F32.BF16
//   loop: 260 * R for 8 * R HMMA.16816
//   uses: num/words.cuh, num/mxint8.cuh, gemm/tile.cuh, gemm/epilogue.cuh
template <int R, int WN, int WK, int KR, int VEC, int ACT, int GATE, class T>
__device__ __forceinline__ void w8a16_thin(const bf16* x, const u8* w, const u8* ws, const f32* bias,
                                           const void* residual, void* y, u8* scales, i64 ldy, i64 scale_block,
                                           i64 scale_row, i32 M, i32 N, i32 K, i32 splits) {
  const int NT = 32 * WN * WK, COLS = 16 * R * WN, UNROLL = 4, PITCH = KR * 2 + 16, RP = COLS + 4;
  const u32 tiles = gridDim.x / splits, split = blockIdx.x / tiles, l = lane();
  const i32 blocks = (K + 63) / 64 * 2, groups = (N + 15) / 16, n0 = blockIdx.x % tiles * COLS;
  i32 from, to;
  split_range(blocks, splits, split, from, to);
  const u32 base = shared_addr(smem), warp = threadIdx.x >> 5, wn = warp % WN, wk = warp / WN;
  const i32 g0 = n0 / 16 + wn * R;

  // x[0..M-1][from*32 .. to*32-1]; what lies beyond K is 0.
  if constexpr (VEC) {
    const i32 chunks = (to - from) * 4;
    for (i32 c = threadIdx.x; c < chunks * M; c += NT) {
      const i32 m = c / chunks, at = c % chunks, k = from * 32 + at * 8;
      copy_inside(base + m * PITCH + at * 16, (const u8*)x, ((i64)m * K + k) * 2, k < K);
    }
  } else {
    const i32 cols = (to - from) * 32;
    for (i32 c = threadIdx.x; c < cols * M; c += NT) {
      const i32 m = c / cols, at = c % cols, k = from * 32 + at;
      ((u16*)(smem + m * PITCH))[at] = k < K ? x[(i64)m * K + k] : 0;
    }
  }
  cp_async_commit();

  // Tiles of the groups of this warp, and their scales. Behind the last group stand copies of it, whose sums are not
  // stored.
  const u8 *tiles_at[R], *scales_at[R];
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const i64 tile = (i64)min(g0 + r, groups - 1) * blocks + from + wk * UNROLL;
    tiles_at[r] = w + (tile * 32 + l) * 16, scales_at[r] = ws + tile * 16 + l / 4 * 2;
  }
  w128 q[R][UNROLL];
  u32 X[R][UNROLL];
  auto fetch = [&](i32 b, int u) {
    if (b + u >= to) return;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      q[r][u] = ld128(tiles_at[r] + u * 512), X[r][u] = *(const u16*)(scales_at[r] + u * 16);
    }
  };
  f32 acc[R][4];
#pragma unroll
  for (int r = 0; r < R * 4; ++r) acc[r / 4][r % 4] = 0;
#pragma unroll
  for (int u = 0; u < UNROLL; ++u) fetch(from + wk * UNROLL, u);
  cp_async_wait<0>();
  barrier();
  u32 row = base + min((i32)l & 7, M - 1) * PITCH + (l >> 3) * 16 + wk * (UNROLL * 64);
#pragma unroll 1
  for (i32 b = from + wk * UNROLL; b < to; b += WK * UNROLL) {
#pragma unroll
    for (int r = 0; r < R; ++r) tiles_at[r] += WK * UNROLL * 512, scales_at[r] += WK * UNROLL * 16;
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
      if (b + u >= to) break;
      u32 v[4];
      ldmatrix_x4(v, row + u * 64);
#pragma unroll
      for (int r = 0; r < R; ++r) {
        const u32 s = mxint8_factors_bf16(X[r][u], 0x4140), s0 = prmt(s, 0, 0x1010), s1 = prmt(s, 0, 0x3232);
        const w128 words = q[r][u];
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const u32 w0 = h ? words.y : words.x, w1 = h ? words.w : words.z;
          const u32 a[4] = {mxint8_pair_bf16(w0, 0x4140, s0), mxint8_pair_bf16(w1, 0x4140, s1),
                            mxint8_pair_bf16(w0, 0x4342, s0), mxint8_pair_bf16(w1, 0x4342, s1)};
          mma_bf16(acc[r], a, v[2 * h], v[2 * h + 1]);
        }
      }
      fetch(b + WK * UNROLL, u);
    }
    row += WK * UNROLL * 64;
  }
  barrier();  // x is no longer read
  f32* sums = (f32*)smem + 8 * (COLS + 8);
#pragma unroll
  for (int r = 0; r < R; ++r) {
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const u32 m = (l & 3) * 2 + c % 2, n = (wn * R + r) * 16 + (l >> 2) + c / 2 * 8;
      sums[(wk * 8 + m) * RP + n] = acc[r][c];
    }
  }
  barrier();
  const i64 part = (i64)split * M * ldy * sizeof(f32);  // 0 without splits
  const Sink sink = {bias, residual, (u8*)y + part, scales, ldy, scale_block, scale_row, M, GATE ? N / 2 : N};
  const int OUT = GATE ? COLS / 2 : COLS;
#pragma unroll
  for (int i = 0; i < (COLS * 4 + NT - 1) / NT; ++i) {
    const u32 c = threadIdx.x + i * NT, m = c / (COLS / 2), n = c % (COLS / 2) * 2;
    if (COLS * 4 % NT != 0 && c >= COLS * 4) break;
    f32 v0 = 0, v1 = 0;
#pragma unroll
    for (int k = 0; k < WK; ++k) {
      const w64 pair = *(const w64*)(sums + (k * 8 + m) * RP + n);
      v0 += word_f32(pair.x), v1 += word_f32(pair.y);
    }
    stage_pair<OUT, ACT, GATE>(sink, m, n, n0, v0, v1);
  }
  barrier();
  store_tile<8, OUT, NT, ACT, GATE, T>(sink, 0, GATE ? n0 / 2 : n0);
}
