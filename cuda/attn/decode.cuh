// SPDX-License-Identifier: Apache-2.0
// decode: attention of one query a head, whose keys are split over warps and blocks: parts of the sums, and how they
// are joined, in one order.

// Keys that are seen: those up to the position of the query, of which there may be none.
DEV i32 decode_limit(const i32* position, u64 batch, u32 rows, i32 keys) {
  return min(max(position[batch / rows], -1), keys - 1) + 1;
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
