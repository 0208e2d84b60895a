// SPDX-License-Identifier: Apache-2.0
// mx_wide: y = act(x*transpose(w) + bias) + residual, both MXINT8, the sum exact and rounded once: to fp32, or to T
// where nothing follows it. NaN where a scale is 255. Sums are 64-bit integers at the least exponent of their row and
// column; a tile with a block whose shift is not below limit is computed again with longer accumulators, and *exceeded
// becomes 1.
//   BM BN WM WN STAGES VEC ACT GATE T   as those of mx_block, with its operands
// Scales of 0, which blocks of zeros have, do not count for the least exponent. limit <= 44 - ceil(log2(B)) for B
// blocks along k, of which there may be 8191. exceeded may be 0.
//   threads: 32 * WM * WN
//   shared: max(STAGES * (BM * 132 + BN * 132), BM * (BN + 8) * 4 + 4096 * WM * WN) + 8 * (BM + BN) + 16
//   blocks: WM * WN <= 4 ? 2 : 1
//   regs: 232
//   sass: LDGSTS.E.BYPASS.128, LDSM.16.M88.4, IMMA.16832.S8.S8, IDP.4A.S8.S8
//   uses: num/words.cuh, num/mxint8.cuh, gemm/tile.cuh, gemm/tile_s8.cuh, gemm/wide.cuh, gemm/epilogue.cuh

// Least scales of 1..254 and whether there is a 255, for COUNT rows in words of four: word c of block b is
// at + b*block + c*4 for the rows below `inside`.
template <int COUNT, int NT>
DEV void least_scales(u32* least, u32* bad, const u8* at, i64 block, i32 group, i32 inside, i32 blocks) {
  for (i32 i = threadIdx.x; i < COUNT / 4 * (NT * 4 / COUNT); i += NT) {
    const i32 c = i % (COUNT / 4), row = c * 4;
    if (row >= inside) continue;
    u32 low[4] = {255, 255, 255, 255}, nan = 0;
    for (i32 b = i / (COUNT / 4); b < blocks; b += NT * 4 / COUNT) {
      const u32 word = *(const u32*)(at + b * block + (i64)(row / 16) * group + row % 16);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const u32 X = word >> (8 * j) & 255;
        if (X != 0 && X < low[j]) low[j] = X;
        if (X == 255) nan |= 1u << j;
      }
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      atomicMin(least + row + j, low[j]);
      if (nan >> j & 1) atomicOr(bad + row + j, 1);
    }
  }
}

// The exact sum of one row and column, in 16 words of shared memory, `stride` apart.
template <int VEC> DEV f32 wide_sum(const InputS8& in, i32 m, i32 n, i64* word, u32 stride, bool odd) {
  if (m >= in.M || n >= in.N) return 0;
  const i32 blocks = (in.K + 127) / 128 * 4, real = (in.K + 31) / 32;
  const u8* row = in.x + (i64)m * in.K;
  for (int i = 0; i < 16; ++i) word[i * stride] = 0;
  bool nan = false;
  for (i32 b = 0; b < real; ++b) {
    const i64 tile = (i64)(n / 16) * blocks + b;
    const u32 X = in.xs[b * in.xs_pitch + m], Y = in.ws[tile * 16 + n % 16];
    nan |= X == 255 || Y == 255;
    i32 p = 0;
    for (int q = 0; q < 8; ++q) {  // four products each: half q/4 of the block, lane quarter q%4
      const u32 v = *(const u32*)(in.w + (tile * 32 + n % 8 * 4 + q % 4) * 16 + (n % 16 / 8 * 2 + q / 4) * 4);
      const i32 k = b * 32 + q * 4;
      u32 u = 0;
      if constexpr (VEC) {
        if (k < in.K) u = *(const u32*)(row + k);
      } else {
        for (int j = 0; j < 4; ++j) u |= k + j < in.K ? (u32)row[k + j] << (8 * j) : 0;
      }
      p = dp4a(u, v, p);
    }
    const u32 s = X + Y;  // below 512
    word[s / 32 * stride] += (i64)p << s % 32;
  }
  return nan ? word_f32(0x7FC00000u) : words_f32<16>(word, stride, odd);
}

template <int BM, int BN, int WM, int WN, int STAGES, int VEC, int ACT, int GATE, class T>
__device__ __forceinline__ void mx_wide(const u8* x, const u8* xs, const u8* w, const u8* ws, i64 xs_pitch,
                                        const f32* bias, const void* residual, void* y, u8* scales, i64 ldy,
                                        i64 scale_block, i64 scale_row, i32 M, i32 N, i32 K, u32 limit, u32* exceeded) {
  const int NT = 32 * WM * WN, MT = BM / WM / 16, NG = BN / WN / 16;
  typedef StageS8<BM, BN, 1> Stage;
  const int TILES = STAGES * Stage::bytes, STAGED = BM * (BN + 8) * 4, WORDS = STAGED + NT * 128;
  i32 m0, n0;
  tile_place<BM, BN>(blockIdx.x, M, N, m0, n0);
  const u32 base = shared_addr(smem), warp = threadIdx.x >> 5, l = lane();
  const u32 wm = warp / WN * (BM / WM), wg = warp % WN * NG;
  const i32 real = (K + 31) / 32, blocks = (K + 127) / 128 * 4;

  u32* least = (u32*)(smem + max(TILES, WORDS));  // of BM rows, then of BN columns
  u32 *bad = least + BM + BN, *again = bad + BM + BN;
  if (threadIdx.x == 0) *again = 0;
  for (i32 i = threadIdx.x; i < BM + BN; i += NT) least[i] = 255, bad[i] = 0;
  barrier();
  least_scales<BM, NT>(least, bad, xs + m0, xs_pitch, 16, M - m0, real);
  least_scales<BN, NT>(least + BM, bad + BM, ws + (i64)(n0 / 16) * blocks * 16, 16, blocks * 16,
                       (N + 15) / 16 * 16 - n0, real);  // steps_s8 begins with a barrier

  i64 acc[MT][NG * 2][4];
  bool void_result = false;
#pragma unroll
  for (int i = 0; i < MT * NG * 8; ++i) acc[i / (NG * 8)][i / 4 % (NG * 2)][i % 4] = 0;
  const InputS8 in = {x, w, M, N, K, xs, ws, xs_pitch};
  steps_s8<BM, BN, NT, STAGES, VEC, 1>(in, m0, n0, [&](u32 at, i32 block) {
#pragma unroll 1
    for (int b = 0; b < 4; ++b) {
      if (block + b >= real) break;
      u32 a[MT][4];
      i32 row[MT][2];
#pragma unroll
      for (int i = 0; i < MT; ++i) {
        left_fragment(a[i], base + at, wm + i * 16, b);
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const u32 r = wm + i * 16 + h * 8 + (l >> 2);
          row[i][h] = (i32)smem[at + Stage::left_scales + b * BM + r] - (i32)least[r];
        }
      }
#pragma unroll
      for (int j = 0; j < NG * 2; ++j) {
        const w128 v = right_words(at + Stage::weights, wg + j / 2, b);
        const u32 n = (wg + j / 2) * 16 + j % 2 * 8 + (l & 3) * 2;
        const u32 X = *(const u16*)(smem + at + Stage::right_scales + ((wg + j / 2) * 4 + b) * 16 + n % 16);
        const w64 low = *(const w64*)(least + BM + n);
        const i32 col[2] = {(i32)(X & 255) - (i32)low.x, (i32)(X >> 8) - (i32)low.y};
#pragma unroll
        for (int i = 0; i < MT; ++i) {
          i32 p[4] = {0, 0, 0, 0};
          mma_s8(p, a[i], j % 2 ? v.z : v.x, j % 2 ? v.w : v.y);
#pragma unroll
          for (int c = 0; c < 4; ++c) {
            const u32 shift = row[i][c / 2] + col[c % 2];
            if (shift >= limit) void_result |= p[c] != 0;
            acc[i][j][c] += (i64)p[c] << (shift & 63);
          }
        }
      }
    }
  });
  if (void_result) atomicOr(again, 1);
  barrier();
  const Sink sink = {bias, residual, y, scales, ldy, scale_block, scale_row, M, GATE ? N / 2 : N};
  const bool odd = sizeof(T) == 2 && ACT == 0 && GATE == 0 && bias == 0 && residual == 0;
  if (*again) {
    if (threadIdx.x == 0 && exceeded != 0) *exceeded = 1;
    for (i32 i = threadIdx.x; i < BM * BN / 2; i += NT) {
      const i32 r = i / (BN / 2), c = i % (BN / 2) * 2;
      i64* word = (i64*)(smem + STAGED) + threadIdx.x;
      const f32 v0 = wide_sum<VEC>(in, m0 + r, n0 + c, word, NT, odd);
      const f32 v1 = wide_sum<VEC>(in, m0 + r, n0 + c + 1, word, NT, odd);
      stage_pair<GATE ? BN / 2 : BN, ACT, GATE>(sink, r, c, n0, v0, v1);
    }
    barrier();
    store_tile<BM, GATE ? BN / 2 : BN, NT, ACT, GATE, T>(sink, m0, GATE ? n0 / 2 : n0);
    return;
  }
  f32 sum[MT][NG * 2][4];
#pragma unroll
  for (int i = 0; i < MT; ++i) {
#pragma unroll
    for (int j = 0; j < NG * 2; ++j) {
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const u32 r = wm + i * 16 + c / 2 * 8 + (l >> 2), n = BM + wg * 16 + j * 8 + (l & 3) * 2 + c % 2;
        const bool nan = bad[r] | bad[n];
        sum[i][j][c] = nan ? word_f32(0x7FC00000u) : wide_f32(acc[i][j][c], (i32)(least[r] + least[n]) - 266, odd);
      }
    }
  }
  store_sums<BM, BN, WM, WN, ACT, GATE, T>(sink, sum, m0, n0);
}
