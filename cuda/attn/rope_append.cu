// SPDX-License-Identifier: Apache-2.0
// rope_append: turns pairs of elements of heads by the angles of their positions, and writes rows into caches in place.
// Heads 0 to heads-1 of x are queries, which go to q; the kv behind them keys, which go to k. Rows of v go to v_cache
// as values, and those of x where ROPE is 0 and none is turned. Element i of a head and i + D/2 are a pair: (a, b)
// becomes (a cos - b sin, a sin + b cos), in fp32, rounded once.
//   F        0 fp32, 1 bf16, 2 f16
//   D        head dimension, a multiple of 16
//   ROPE     1: turns
// Token t of batch b has position p + t, p = position[b / rows], moved to the nearest of 0 to room - tokens; no
// position is 0. Row p of the tables of cosines and sines has D / 2 values. Caches are [batch][kv][room][D], dense; the
// rows of batch b, head h and token t of x, v and q start at b * _b + h * _h + t * _s values, multiples of 16 bytes.
// Of copied heads there are `copied` in v, kv or 0. A thread turns eight pairs or copies sixteen elements; the grid is
// one-dimensional.
//   threads: 256
//   blocks: 4
//   regs: 64
//   sass: LDG.128, STG.128
//   uses: reduce/row.cuh
template <int F, int D, int ROPE>
__device__ __forceinline__ void rope_append(const void* x, const void* v, const f32* cos, const f32* sin,
                                            const i32* position, void* q, void* k, void* v_cache, i64 tokens_all,
                                            u32 rows, u32 tokens, u32 heads, u32 kv, u32 copied, i32 room, i64 x_b,
                                            i64 x_h, i64 x_s, i64 v_b, i64 v_h, i64 v_s, i64 q_b, i64 q_h, i64 q_s) {
  const u32 C = D / 16, all = heads + kv + copied;
  const u64 item = (u64)blockIdx.x * 256 + threadIdx.x;
  const u32 c = item % C, h = item / C % all;
  const u64 token = item / ((u64)C * all);
  if (token >= tokens_all) return;
  const u64 b = token / tokens;
  const u32 t = token % tokens;
  const i32 from = position ? position[b / rows] : 0;
  const u64 at = max(min(from, room - (i32)tokens), 0) + t;
  const u8 *source, *base = (const u8*)(h < heads + kv ? x : v);
  source = base + (h < heads + kv ? b * x_b + h * x_h + t * x_s : b * v_b + (h - heads - kv) * v_h + t * v_s) *
                      row_word<F>::bytes;
  u8* to = (u8*)(h < heads ? q : h < heads + kv ? k : v_cache);
  const u64 place = h < heads ? b * q_b + h * q_h + t * q_s
                              : ((b * kv + (h < heads + kv ? h - heads : h - heads - kv)) * room + at) * D;
  to += place * row_word<F>::bytes;
  f32 lo[8], hi[8];
  if (!ROPE || h >= heads + kv) {
    load_chunk<F, 8>(lo, source, c * 16);
    load_chunk<F, 8>(hi, source, c * 16 + 8);
    store_chunk<F, 8>(to, c * 16, lo);
    store_chunk<F, 8>(to, c * 16 + 8, hi);
    return;
  }
  f32 cosine[8], sine[8];
  load_chunk<F, 8>(lo, source, c * 8);
  load_chunk<F, 8>(hi, source, c * 8 + D / 2);
  load_chunk<0, 8>(cosine, cos + at * (D / 2), c * 8);
  load_chunk<0, 8>(sine, sin + at * (D / 2), c * 8);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const f32 a = lo[i];
    lo[i] = fma_rn(a, cosine[i], -mul_rn(hi[i], sine[i]));
    hi[i] = fma_rn(a, sine[i], mul_rn(hi[i], cosine[i]));
  }
  store_chunk<F, 8>(to, c * 8, lo);
  store_chunk<F, 8>(to, c * 8 + D / 2, hi);
}
