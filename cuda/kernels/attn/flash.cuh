// SPDX-License-Identifier: Apache-2.0
// flash: the parts of attention whose scores never leave registers (Dao 2023, FlashAttention-2, algorithm 1). A warp
// owns WM * 16 queries; tiles of BN keys pass by in ascending order. Scores and outputs lie as m16n8k16 leaves them:
// value e of s[m][n] is row m * 16 + lane / 4 + e / 2 * 8, column n * 8 + lane % 4 * 2 + e % 2. F is 1 for bf16, 2 for
// f16. D is the head dimension, a multiple of 8. Rows of shared memory and of sums have flash_width<D>::columns, a
// multiple of 16: those from D on are zeros.
template <int D> struct flash_width { static const int columns = (D + 15) / 16 * 16; };

// Bytes from row to row in shared memory: an odd number of 16-byte chunks, so that the eight rows that ldmatrix takes
// at once lie in different banks, and so that every address is a constant away from that of the lane.
template <int D> struct flash_row { static const int bytes = 2 * flash_width<D>::columns + 16; };

template <int F> DEV void flash_mma(f32 (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  if (F == 1) mma_bf16(d, a, b0, b1);
  else mma_f16(d, a, b0, b1);
}
template <int F> DEV u32 flash_pack(f32 lo, f32 hi) { return F == 1 ? f32x2_bf16x2(lo, hi) : f32x2_f16x2(lo, hi); }

// The queries of a block: the first one, their head and batch. Read anew at the end of a kernel, where registers are
// free again, hence volatile. Where later queries see more keys, the longest tiles come first.
struct flash_place { u32 b, h; i32 first; };
template <int BM, int LAST> DEV flash_place flash_block(u32 queries, u32 heads) {
  u32 block;
  asm volatile("mov.u32 %0, %ctaid.x;" : "=r"(block));
  const u32 tiles = (queries + BM - 1) / BM, head = block / tiles, tile = block % tiles;
  return flash_place{head / heads, head % heads, (i32)((LAST ? tiles - 1 - tile : tile) * BM)};
}

// Starts copies of R rows, `step` values apart, by T threads; rows from `valid` on and columns from D on become zeros.
// valid is not 0.
template <int D, int R, int T> DEV void flash_load(u32 to, const u16* from, i64 step, u32 valid) {
  const int C = flash_width<D>::columns / 8;
  if constexpr (T % C == 0 && R * C % T == 0 && D >= 64) {  // the chunks of a thread have one place in their rows
    const u32 first = threadIdx.x / C;
    to += first * flash_row<D>::bytes + threadIdx.x % C * 16;
    const u16* at = from + (first < valid ? first : 0) * step + threadIdx.x % C * 8;
#pragma unroll
    for (int i = 0; i < R * C / T; ++i) {
      const bool there = first + i * (T / C) < valid;
      cp_async16(to + i * (T / C * flash_row<D>::bytes), at, there ? 16 : 0);
      if (first + (i + 1) * (T / C) < valid) at += T / C * step;
    }
  } else {
#pragma unroll
    for (int i = 0; i < (R * C + T - 1) / T; ++i) {
      const u32 item = i * T + threadIdx.x, r = item / C, c = item % C;
      const bool there = r < valid && c < D / 8;
      if (R * C % T != 0 && item >= R * C) break;
      cp_async16(to + r * flash_row<D>::bytes + c * 16, from + (there ? r : 0) * step + (c < D / 8 ? c * 8 : 0),
                 there ? 16 : 0);
    }
  }
}

// Sums before the first key.
template <int D, int WM> DEV void flash_start(f32 (&o)[WM][D / 8][4], f32 (&top)[WM][2], f32 (&sum)[WM][2]) {
#pragma unroll
  for (int m = 0; m < WM; ++m) {
    top[m][0] = top[m][1] = word_f32(0xFF800000u);
    sum[m][0] = sum[m][1] = 0;
#pragma unroll
    for (int d = 0; d < D / 8; ++d) o[m][d][0] = o[m][d][1] = o[m][d][2] = o[m][d][3] = 0;
  }
}

// Where a lane points for 16x16 values: as rows of a (and of keys for values), and as columns of b.
template <int D> DEV u32 flash_lane_a() { return lane() % 16 * flash_row<D>::bytes + lane() / 16 * 16; }
template <int D> DEV u32 flash_lane_b() {
  return (lane() % 8 + lane() / 16 * 8) * flash_row<D>::bytes + lane() / 8 % 2 * 16;
}

// s = q * k^T. at_q: flash_lane_a of the first query of the warp, at_k: flash_lane_b of the tile of keys.
template <int F, int D, int BN, int WM, int STEPS = (D > 128 ? 1 : D > 64 ? 2 : 4)>
DEV void flash_scores(f32 (&s)[WM][BN / 8][4], u32 at_q, u32 at_k) {
#pragma unroll
  for (int m = 0; m < WM; ++m)
#pragma unroll
    for (int n = 0; n < BN / 8; ++n) s[m][n][0] = s[m][n][1] = s[m][n][2] = s[m][n][3] = 0;
#pragma unroll STEPS
  for (int k = 0; k < D / 16; ++k) {
    u32 a[WM][4];
#pragma unroll
    for (int m = 0; m < WM; ++m) ldmatrix_x4(a[m], at_q + m * 16 * flash_row<D>::bytes + k * 32);
#pragma unroll
    for (int n = 0; n < BN / 16; ++n) {
      u32 b[4];
      ldmatrix_x4(b, at_k + n * 16 * flash_row<D>::bytes + k * 32);
#pragma unroll
      for (int m = 0; m < WM; ++m) {
        flash_mma<F>(s[m][2 * n], a[m], b[0], b[1]);
        flash_mma<F>(s[m][2 * n + 1], a[m], b[2], b[3]);
      }
    }
  }
}

// Whether a row's greatest score lies so far above its top that the top moves there.
template <int FAR> DEV bool flash_above(f32 next, f32 top, f32 c) {
  return (FAR ? mul_rn(add_rn(next, -top), c) : fma_rn(next, c, -mul_rn(top, c))) > 8.0f;
}

// Moves the tops of rows to `next`, in a tile where some row of the warp wants that; the sums so far are rescaled, by
// exactly 1 in rows whose top stays, so that a row's bits do not depend on its neighbours.
template <int D, int WM, int FAR>
DEV void flash_move(f32 (&top)[WM][2], f32 (&sum)[WM][2], f32 (&o)[WM][D / 8][4], const f32 (&next)[WM][2], f32 c) {
#pragma unroll
  for (int m = 0; m < WM; ++m) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      if (!flash_above<FAR>(next[m][h], top[m][h], c)) continue;
      const f32 by = FAR ? mul_rn(add_rn(top[m][h], -next[m][h]), c)
                         : add_rn(mul_rn(top[m][h], c), -mul_rn(next[m][h], c));
      const f32 keep = ex2(by);
      top[m][h] = next[m][h];
      sum[m][h] = mul_rn(sum[m][h], keep);
#pragma unroll
      for (int d = 0; d < D / 8; ++d) {
        o[m][d][2 * h] = mul_rn(o[m][d][2 * h], keep);
        o[m][d][2 * h + 1] = mul_rn(o[m][d][2 * h + 1], keep);
      }
    }
  }
}

// One tile of the online softmax: s becomes exp2((s - top) * c), sum follows. A sum is that of a lane's own columns
// until flash_finish. top is a score that lies at most 8 / c below the row's greatest, so that exponentials are 2^8 at
// most: it moves rarely, and o is left alone where it stays. While nothing was allowed top is -Inf, and 0 is subtracted
// instead. With FAR the difference is taken first, since s * c overflows for masks like -FLT_MAX; else s * c - top * c
// is one instruction.
template <int D, int BN, int WM, int FAR>
DEV void flash_softmax(f32 (&s)[WM][BN / 8][4], f32 (&top)[WM][2], f32 (&sum)[WM][2], f32 (&o)[WM][D / 8][4], f32 c) {
  f32 next[WM][2];
  bool moves = false;
#pragma unroll
  for (int m = 0; m < WM; ++m) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      f32& most = next[m][h];
      most = s[m][0][2 * h];
#pragma unroll
      for (int n = 0; n < BN / 8; ++n) most = fmaxf(most, fmaxf(s[m][n][2 * h], s[m][n][2 * h + 1]));
      most = fmaxf(most, shfl_xor(most, 1));
      most = fmaxf(most, shfl_xor(most, 2));
      moves |= flash_above<FAR>(most, top[m][h], c);
    }
  }
  if (rare(moves)) flash_move<D, WM, FAR>(top, sum, o, next, c);
#pragma unroll
  for (int m = 0; m < WM; ++m) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const f32 shift = top[m][h] == word_f32(0xFF800000u) ? 0 : top[m][h], far = mul_rn(shift, c);
      f32 all = 0;
#pragma unroll
      for (int n = 0; n < BN / 8; ++n) {
        f32 &x = s[m][n][2 * h], &y = s[m][n][2 * h + 1];
        x = ex2(FAR ? mul_rn(add_rn(x, -shift), c) : fma_rn(x, c, -far));
        y = ex2(FAR ? mul_rn(add_rn(y, -shift), c) : fma_rn(y, c, -far));
        all = add_rn(all, add_rn(x, y));
      }
      sum[m][h] = add_rn(sum[m][h], all);
    }
  }
}

// p in the format of v, as fragments of a.
template <int F, int BN, int WM> DEV void flash_round(u32 (&a)[WM][BN / 16][4], const f32 (&p)[WM][BN / 8][4]) {
#pragma unroll
  for (int m = 0; m < WM; ++m)
#pragma unroll
    for (int k = 0; k < BN / 16; ++k)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        a[m][k][e] = flash_pack<F>(p[m][2 * k + e / 2][e % 2 * 2], p[m][2 * k + e / 2][e % 2 * 2 + 1]);
}

// o += p * v. at: flash_lane_a of the tile of values.
template <int F, int D, int BN, int WM>
DEV void flash_values(f32 (&o)[WM][D / 8][4], const u32 (&p)[WM][BN / 16][4], u32 at) {
#pragma unroll
  for (int k = 0; k < BN / 16; ++k) {
#pragma unroll
    for (int d = 0; d < D / 16; ++d) {
      u32 b[4];
      ldmatrix_x4_trans(b, at + k * 16 * flash_row<D>::bytes + d * 32);
#pragma unroll
      for (int m = 0; m < WM; ++m) {
        flash_mma<F>(o[m][2 * d], p[m][k], b[0], b[1]);
        flash_mma<F>(o[m][2 * d + 1], p[m][k], b[2], b[3]);
      }
    }
  }
}

// The end of a kernel: divides by the sums and writes the outputs of the block, rows to_s values apart, through shared
// memory in place of the queries, and lse = ln(sum of exp) with c as for flash_softmax; lse may be null. Rows without a
// key: 0 and -Inf.
template <int F, int D, int WM, int BM, int LAST, int N>
DEV void flash_finish(f32 (&o)[WM][N][4], f32 (&top)[WM][2], f32 (&sum)[WM][2], f32 c, u16* to, i64 to_b, i64 to_h,
                      i64 to_s, f32* lse, u32 heads, u32 queries) {
  cp_async_wait<0>();
  barrier();  // the queries are not read any more
  const flash_place at = flash_block<BM, LAST>(queries, heads);
  const u32 warp = threadIdx.x / 32 * 16 * WM, first = at.first + warp;
  const i32 valid = queries - first;
  u8* part = smem + warp * flash_row<D>::bytes;
  to += at.b * to_b + at.h * to_h + first * to_s;
  if (lse) lse += ((u64)at.b * heads + at.h) * queries + first;
  const int C = D / 8;
#pragma unroll
  for (int m = 0; m < WM; ++m) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      f32 all = add_rn(sum[m][h], shfl_xor(sum[m][h], 1));
      all = add_rn(all, shfl_xor(all, 2));
      const f32 inverse = all == 0 ? 0 : rcp(all);
      const i32 r = m * 16 + h * 8 + lane() / 4;
      u8* row = part + r * flash_row<D>::bytes + lane() % 4 * 4;
#pragma unroll
      for (int d = 0; d < C; ++d)
        *(u32*)(row + d * 16) = flash_pack<F>(mul_rn(o[m][d][2 * h], inverse), mul_rn(o[m][d][2 * h + 1], inverse));
      if (lse && lane() % 4 == 0 && r < valid) {
        const f32 log = fma_rn(top[m][h], mul_rn(c, 0.693147181f), mul_rn(lg2(all), 0.693147181f));
        lse[r] = all == 0 ? word_f32(0xFF800000u) : log;
      }
    }
  }
  __syncwarp();
#pragma unroll
  for (int i = 0; i < (WM * C + 1) / 2; ++i) {
    const u32 item = i * 32 + lane(), r = item / C, k = item % C;
    if (WM * C % 2 != 0 && r >= 16 * WM) break;
    const w128 w = *(const w128*)(part + r * flash_row<D>::bytes + k * 16);
    if ((i32)r < valid) st128(to + r * to_s + k * 8, w);
  }
}
