// SPDX-License-Identifier: Apache-2.0
// decode: attention of one query a head, whose keys are split over warps and blocks: which ones a block has, parts of
// the sums, and how they are joined, in one order.

// Keys that are seen: those up to the position of the query, of which there may be none.
DEV i32 decode_limit(const i32* position, u64 batch, u32 rows, i32 keys) {
  return min(max(position[batch / rows], -1), keys - 1) + 1;
}

// What a block computes: `valid` query heads of batch b from `head` on, which share keys of head `shared`, over the
// keys from `from` to below `to` of part `split`, of which there may be none.
struct decode_place { u64 b; u32 split, shared, head, valid; i32 from, to; };

DEV decode_place decode_block(const i32* position, u32 rows, u32 kv, u32 group, i32 keys, i32 chunk, u32 splits) {
  const u32 tiles = (group + 15) / 16, tile = blockIdx.x / splits % tiles;
  decode_place at;
  at.split = blockIdx.x % splits, at.shared = blockIdx.x / splits / tiles % kv;
  at.b = blockIdx.x / splits / tiles / kv;
  at.head = at.shared * group + tile * 16, at.valid = min(group - tile * 16, 16u);
  at.from = at.split * chunk, at.to = min(decode_limit(position, at.b, rows, keys), at.from + chunk);
  return at;
}

// -Inf to the scores of a warp's 16 keys of which `left` are seen, of none where that is not more than 0.
DEV void decode_mask(f32 (&s)[1][2][4], i32 left) {
  left -= lane() % 4 * 2;  // keys from this lane's first on
#pragma unroll
  for (int n = 0; n < 2; ++n)
#pragma unroll
    for (int e = 0; e < 4; ++e)
      if (n * 8 + e % 2 >= left) s[0][n][e] = word_f32(0xFF800000u);
}

// A part in memory: D sums, their top and their total, in multiples of 16 bytes.
template <int D> struct decode_part { static const int size = D + 4; };

// Eight sums of values relative to a top, with the total of their weights.
struct decode_sum { f32 top, total, y[8]; };

DEV void decode_start(decode_sum& s, f32 top) {
  s.top = top, s.total = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) s.y[i] = 0;
}

// Adds a part, whose top is at most that of s. A part without a key has the top -Inf, and the share 0. Its sums are at
// a multiple of 16 bytes.
DEV void decode_add(decode_sum& s, f32 top, f32 total, const f32* y, f32 c) {
  const f32 share = top == word_f32(0xFF800000u) ? 0.0f : ex2(mul_rn(add_rn(top, -s.top), c));
  s.total = fma_rn(total, share, s.total);
  const w128 lo = *(const w128*)y, hi = *(const w128*)(y + 4);
  s.y[0] = fma_rn(word_f32(lo.x), share, s.y[0]), s.y[1] = fma_rn(word_f32(lo.y), share, s.y[1]);
  s.y[2] = fma_rn(word_f32(lo.z), share, s.y[2]), s.y[3] = fma_rn(word_f32(lo.w), share, s.y[3]);
  s.y[4] = fma_rn(word_f32(hi.x), share, s.y[4]), s.y[5] = fma_rn(word_f32(hi.y), share, s.y[5]);
  s.y[6] = fma_rn(word_f32(hi.z), share, s.y[6]), s.y[7] = fma_rn(word_f32(hi.w), share, s.y[7]);
}

// Writes columns d to d+7 of a part of D.
DEV void decode_keep(f32* part, u32 d, const decode_sum& s, u32 D) {
  st128(part + d, w128{f32_word(s.y[0]), f32_word(s.y[1]), f32_word(s.y[2]), f32_word(s.y[3])});
  st128(part + d + 4, w128{f32_word(s.y[4]), f32_word(s.y[5]), f32_word(s.y[6]), f32_word(s.y[7])});
  if (d == 0) part[D] = s.top, part[D + 1] = s.total;
}

// Eight elements of a result, divided by the total; zeros without a key.
template <int F> DEV void decode_store(u16* o, const decode_sum& s) {
  const f32 inverse = s.total == 0 ? 0 : rcp(s.total);
  u32 w[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) w[i] = flash_pack<F>(mul_rn(s.y[2 * i], inverse), mul_rn(s.y[2 * i + 1], inverse));
  st128(o, w128{w[0], w[1], w[2], w[3]});
}

// The end of a block: joins the sums of its warps in their order, through shared memory that nobody else uses any more,
// and writes o or a part. Rows of o lie o_h values apart; heads are those of a batch.
template <int F, int D, int WARPS, int SPLIT>
DEV void decode_finish(const f32 (&o_sum)[1][flash_width<D>::columns / 8][4], const f32 (&top)[1][2],
                       const f32 (&sum)[1][2], f32 c, const decode_place& at, u32 heads, u32 splits, u16* o, i64 o_b,
                       i64 o_h, f32* parts) {
  const int W = flash_width<D>::columns, BN = 16 * WARPS, P = W + 8;  // of a row of sums; 16 lanes write to all banks
  const u32 warp = threadIdx.x / 32;
  f32 *tops = (f32*)smem, *totals = tops + BN, *sums = totals + BN;  // [WARPS][16], with sums rows of P
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    f32 all = add_rn(sum[0][h], shfl_xor(sum[0][h], 1));
    all = add_rn(all, shfl_xor(all, 2));
    const u32 r = warp * 16 + h * 8 + lane() / 4;
    if (lane() % 4 == 0) tops[r] = top[0][h], totals[r] = all;
#pragma unroll
    for (int d = 0; d < W / 8; ++d) {
      const w64 pair = {f32_word(o_sum[0][d][2 * h]), f32_word(o_sum[0][d][2 * h + 1])};
      *(w64*)(sums + r * P + d * 8 + lane() % 4 * 2) = pair;
    }
  }
  barrier();
#pragma unroll 1
  for (u32 item = threadIdx.x; item < at.valid * (D / 8); item += 32 * WARPS) {
    const u32 r = item / (D / 8), d = item % (D / 8) * 8;
    decode_sum y;
    decode_start(y, tops[r]);
#pragma unroll
    for (int w = 1; w < WARPS; ++w) y.top = fmaxf(y.top, tops[w * 16 + r]);
#pragma unroll
    for (int w = 0; w < WARPS; ++w) {
      const u32 row = w * 16 + r;
      decode_add(y, tops[row], totals[row], sums + row * P + d, c);
    }
    const u64 row = at.b * heads + at.head + r;
    if (SPLIT) decode_keep(parts + (row * splits + at.split) * decode_part<D>::size, d, y, D);
    else decode_store<F>(o + at.b * o_b + (at.head + r) * o_h + d, y);
  }
}
