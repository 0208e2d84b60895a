// SPDX-License-Identifier: Apache-2.0
// sdpa_decode: o = softmax(scale * q k^T) v for one query a head, at a position that is read when the kernel runs: it
// sees the keys up to there. The query heads that share keys are rows of one tile of 16. Each warp takes 16 keys of a
// tile with sums of its own, and each block `chunk` keys; sums are joined in the order of warps, and those of blocks by
// sdpa_join in their order, so that bits depend on the row, its keys and chunk alone.
//   F        1 bf16, 2 f16
//   D        head dimension: a multiple of 8, 256 at most
//   WARPS    warps of a block
//   SPLIT    0: a block sees all keys and writes o; 1: it writes its sums to parts
// Query head h reads head h / group of k and v. position[b / rows] is that of batch b; positions below 0 see no key,
// and give 0. Keys are below `keys`, the room of the caches; others are never read. The rows of batch b and head h
// start at b * _b + h * _h values, and lie _s values apart; the last axis is dense, rows begin at multiples of 16
// bytes. parts are [batch][heads][splits] times decode_part<D>. scale is more than 0. The grid is one-dimensional:
// splits, tiles of heads, heads of keys, batch, the splits innermost.
//   threads: 32 * WARPS
//   shared: (16 + 64 * WARPS) * (2 * max(D, 16) + 16)
//   blocks: D <= 128 ? 3 : 1
//   regs: 255
//   sass: HMMA.16816.F32, LDSM.16.M88.4, LDSM.16.MT88.4, LDGSTS, MUFU.EX2
//   uses: attn/flash.cuh, attn/decode.cuh
template <int F, int D, int WARPS, int SPLIT>
__device__ __forceinline__ void sdpa_decode(const u16* q, const u16* k, const u16* v, const i32* position, u16* o,
                                            f32* parts, u32 rows, u32 kv, u32 group, i32 keys, i32 chunk,
                                            u32 splits, f32 scale, i64 q_b, i64 q_h, i64 k_b, i64 k_h, i64 k_s,
                                            i64 v_b, i64 v_h, i64 v_s, i64 o_b, i64 o_h) {
  const int BN = 16 * WARPS, T = 32 * WARPS, S = flash_row<D>::bytes, W = flash_width<D>::columns;
  const decode_place at = decode_block(position, rows, kv, group, keys, chunk, splits);
  const i32 count = at.to - at.from, tiles = count > 0 ? (count + BN - 1) / BN : 0;
  if (SPLIT && at.split > 0 && tiles == 0) return;  // sdpa_join does not read it
  k += at.b * k_b + at.shared * k_h + at.from * k_s;
  v += at.b * v_b + at.shared * v_h + at.from * v_s;
  const u32 warp = threadIdx.x / 32, at_q = shared_addr(smem), at_kv = at_q + 16 * S;
  const f32 c = mul_rn(scale, 1.44269504f);

  flash_load<D, 16, T>(at_q, q + at.b * q_b + at.head * q_h, q_h, at.valid);
  if (tiles > 0) {
    flash_load<D, BN, T>(at_kv, k, k_s, count);
    flash_load<D, BN, T>(at_kv + BN * S, v, v_s, count);
  }
  cp_async_commit();
  f32 o_sum[1][W / 8][4], top[1][2], sum[1][2];
  flash_start<W, 1>(o_sum, top, sum);
#pragma unroll 1
  for (i32 j = 0; j < tiles; ++j) {
    cp_async_wait<0>();
    barrier();  // the tile is there, and nobody reads the one before
    const i32 next = (j + 1) * BN;
    if (j + 1 < tiles) {
      const u32 stage = at_kv + ((j + 1) & 1) * (2 * BN * S);
      flash_load<D, BN, T>(stage, k + next * k_s, k_s, count - next);
      flash_load<D, BN, T>(stage + BN * S, v + next * v_s, v_s, count - next);
    }
    cp_async_commit();
    const u32 mine = at_kv + (j & 1) * (2 * BN * S) + warp * 16 * S;
    f32 s[1][2][4];
    flash_scores<F, W, 16, 1>(s, at_q + flash_lane_a<W>(), mine + flash_lane_b<W>());
    decode_mask(s, count - j * BN - (i32)warp * 16);
    flash_softmax<W, 16, 1, 0>(s, top, sum, o_sum, c);
    u32 p[1][1][4];
    flash_round<F, 16, 1>(p, s);
    flash_values<F, W, 16, 1>(o_sum, p, mine + BN * S + flash_lane_a<W>());
  }
  cp_async_wait<0>();
  barrier();  // nobody reads queries and keys any more
  decode_finish<F, D, WARPS, SPLIT>(o_sum, top, sum, c, at, kv * group, splits, o, o_b, o_h, parts);
}
