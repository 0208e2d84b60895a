// SPDX-License-Identifier: Apache-2.0
// rope_append: turns pairs of elements of heads by the angles of their positions, and writes rows into caches in place.
// Heads 0 to heads-1 of x are queries, which go to q; the kv behind them keys, which go to k. Rows of v go to v_cache
// as values, and those of x where ROPE is 0 and none is turned. Element i of a head and i + D/2 are a pair: (a, b)
// becomes (a cos - b sin, a sin + b cos), in fp32, rounded once to F.
//   F        0 fp32, 1 bf16, 2 f16
//   D        head dimension, a multiple of 16
//   ROPE     1: turns; 2: and MXINT8 is made of keys in fp32, not of what is rounded to F
//   KV       0: caches of F; 1: of MXINT8, encoded from F as quantize does, in blocks of 32 along a row, the last one
//            short where 32 does not divide it
// Token t of batch b has position p + t, p = position[b / rows], moved to the nearest of 0 to room - tokens; no
// position is 0. Row p of the tables of cosines and sines has D / 2 values. Caches are [batch][kv][room][D], dense, the
// scales kx and vx of MXINT8 [batch][kv][room][blocks]; the rows of batch b, head h and token t of x, v and q start at
// b * _b + h * _h + t * _s values, multiples of 16 bytes. Of copied heads there are `copied` in v, kv or 0. A thread
// makes sixteen elements: eight pairs where it turns and caches are of F, else neighbours; the grid is one-dimensional.
//   threads: 256
//   blocks: 4
//   regs: 64
//   sass: LDG.128, STG.128
//   uses: num/words.cuh, num/mxint8.cuh, reduce/row.cuh, attn/rope.cuh
template <int F, int D, int ROPE, int KV>
__device__ __forceinline__ void rope_append(const void* x, const void* v, const f32* cos, const f32* sin,
                                            const i32* position, void* q, u8* k, u8* kx, u8* v_cache, u8* vx,
                                            i64 tokens_all, u32 rows, u32 tokens, u32 heads, u32 kv, u32 copied,
                                            i32 room, i64 x_b, i64 x_h, i64 x_s, i64 v_b, i64 v_h, i64 v_s, i64 q_b,
                                            i64 q_h, i64 q_s) {
  const u32 C = KV ? (D + 31) / 32 * 2 : D / 16, all = heads + kv + copied;
  const u64 item = (u64)blockIdx.x * 256 + threadIdx.x, number = item / ((u64)C * all);
  const u32 c = item % C, h = item / C % all;
  const bool there = number < (u64)tokens_all, turns = ROPE && h < heads + kv, cached = h >= heads;
  if (!KV && !there) return;  // the threads of a block of MXINT8 meet
  const u64 token = there ? number : 0, b = token / tokens;
  const u32 t = token % tokens;
  const i32 from = position ? position[b / rows] : 0;
  const u64 at = max(min(from, room - (i32)tokens), 0) + t;
  const u8* source = (const u8*)(h < heads + kv ? x : v);
  source += (h < heads + kv ? b * x_b + h * x_h + t * x_s : b * v_b + (h - heads - kv) * v_h + t * v_s) *
            row_word<F>::bytes;
  const u64 row = (b * kv + (h < heads + kv ? h - heads : h - heads - kv)) * room + at;  // of a cache
  u8* cache = h < heads + kv ? k : v_cache;
  u8* to = cached ? cache + row * D * row_word<F>::bytes : (u8*)q + (b * q_b + h * q_h + t * q_s) * row_word<F>::bytes;
  cos += at * (D / 2), sin += at * (D / 2);
  if constexpr (!KV) {
    f32 lo[8], hi[8];
    const u32 first = turns ? c * 8 : c * 16, second = turns ? first + D / 2 : first + 8;
    if (turns) {
      rope_pairs<F, D>(lo, hi, source, cos, sin, first);
    } else {
      load_chunk<F, 8>(lo, source, first);
      load_chunk<F, 8>(hi, source, second);
    }
    store_chunk<F, 8>(to, first, lo);
    store_chunk<F, 8>(to, second, hi);
  } else {
    f32 y[16];
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      const u32 e = c * 2 + n;  // eights of the row
      f32 lo[8] = {}, hi[8] = {};
      if (e * 8 < D && turns) rope_pairs<F, D>(lo, hi, source, cos, sin, e % (D / 16) * 8);
      else if (e * 8 < D) load_chunk<F, 8>(lo, source, e * 8);
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const f32 z = turns && e >= D / 16 ? hi[j] : lo[j];
        y[n * 8 + j] = ROPE == 2 ? z : row_round<F>(z);
      }
    }
    const bool mine = there && c * 16 < D;
    if (mine && !cached) {
      store_chunk<F, 8>(to, c * 16, y);
      store_chunk<F, 8>(to, c * 16 + 8, y + 8);
    }
    const u32 X = store_mxint8<16>(cache + row * D + c * 16, y, mine && cached, 0);
    if (mine && cached && c % 2 == 0) (h < heads + kv ? kx : vx)[row * ((D + 31) / 32) + c / 2] = X;
  }
}
