// SPDX-License-Identifier: Apache-2.0
// sdpa: o = softmax(scale * q k^T + bias) v over the keys that are allowed, and lse = ln of the sum of exponentials.
// Scores stay in registers; the products are those of tensor cores, statistics fp32, p is rounded to the format for p v
// while the sum takes it unrounded. Tiles of keys ascend, so a row's bits depend on nothing but the row and its keys.
//   F        1 bf16, 2 f16
//   D        head dimension: 8, 16, 32, 64, 80, 96, 128, 256
//   BN       keys of a tile
//   WM       queries of a warp, in 16s
//   WARPS    warps of a block
//   CAUSAL   1: key j is allowed for query i where j <= i + diagonal
//   MASK     1: a byte for query and key, 0 forbids; 2: fp32 words that are added; 3: words of F that are added
// Query head h reads head h / group of k and v. Key j is allowed where j < lengths[b], if there are lengths. The rows
// of batch b and head h start at b * _b + h * _h values, and lie _s values apart; the last axis is dense, rows of q, k,
// v and o begin at multiples of 16 bytes. lse is [batch][heads][queries] or null. A NaN or Inf of k or v reaches the
// queries that may see its key, and no others; a bias of -Inf forbids, and keys beyond the length are never read. A
// score with a bias is rounded to fp32, as any other: where all biases of a query are -FLT_MAX, its scores are equal.
// scale is more than 0. The grid is one-dimensional: tiles of queries, heads, batch, the tiles innermost.
//   threads: 32 * WARPS
//   shared: (16 * WM * WARPS + 2 * BN) * (2 * max(D, 16) + 16)
//   blocks: D <= 16 || D == 64 && WM == 1 && MASK >= 2 ? 3 : D == 80 && MASK != 0 ? 2 : 0
//   regs: 255
//   sass: HMMA.16816.F32, LDSM.16.M88.4, LDSM.16.MT88.4, LDGSTS, STG.128, MUFU.EX2
//   loop: D == 128 && WM == 2 && CAUSAL + MASK == 0: 660 for 192 HMMA.16816
//   uses: attn/flash.cuh, attn/mask.cuh
template <int F, int D, int BN, int WM, int WARPS, int CAUSAL, int MASK>
__device__ __forceinline__ void sdpa(const u16* q, const u16* k, const u16* v, const void* mask, const i32* lengths,
                                     u16* o, f32* lse, u32 heads, u32 group, i32 queries, i32 keys, i32 diagonal,
                                     f32 scale, i64 q_b, i64 q_h, i64 q_s, i64 k_b, i64 k_h, i64 k_s, i64 v_b, i64 v_h,
                                     i64 v_s, i64 o_b, i64 o_h, i64 o_s, i64 m_b, i64 m_h, i64 m_s) {
  const int BM = 16 * WM * WARPS, T = 32 * WARPS, S = flash_row<D>::bytes, W = flash_width<D>::columns;
  const flash_place at = flash_block<BM, CAUSAL>(queries, heads);
  const u32 b = at.b, h = at.h;
  const i32 first = at.first, mine = first + threadIdx.x / 32 * 16 * WM;
  const i32 limit = lengths ? max(min(lengths[b], keys), 0) : keys;
  const i32 last = CAUSAL ? min(limit, min(first + BM, queries) + diagonal) : limit;
  const i32 tiles = last <= 0 ? 0 : (last + BN - 1) / BN;
  k += b * k_b + h / group * k_h;
  v += b * v_b + h / group * v_h;
  u8* tile_v = smem + (BM + BN) * S;
  const u32 at_q = shared_addr(smem), at_k = at_q + BM * S, at_v = at_k + BN * S;
  const u32 lane_q = at_q + (threadIdx.x / 32) * 16 * WM * S + flash_lane_a<W>();
  const u32 lane_k = at_k + flash_lane_b<W>(), lane_v = at_v + flash_lane_a<W>();

  const f32 c = MASK >= 2 ? 1.44269504f : mul_rn(scale, 1.44269504f);

  flash_load<D, BM, T>(at_q, q + b * q_b + h * q_h + first * q_s, q_s, queries - first);
  if (tiles > 0) flash_load<D, BN, T>(at_k, k, k_s, limit);
  cp_async_commit();

  f32 o_sum[WM][W / 8][4], top[WM][2], sum[WM][2];
  flash_start<W, WM>(o_sum, top, sum);
#pragma unroll 1
  for (i32 j = 0; j < tiles; ++j) {
    const i32 from = j * BN;
    cp_async_wait<0>();
    barrier();  // the keys are there, and nobody reads the values of the tile before
    flash_load<D, BN, T>(at_v, v + from * v_s, v_s, limit - from);
    cp_async_commit();
    f32 s[WM][BN / 8][4];
    flash_scores<F, W, BN, WM, (W > 128 ? 1 : CAUSAL + MASK == 0 ? 8 : W > 64 ? 2 : 4)>(s, lane_q, lane_k);
    const flash_view view = {mask, b * m_b + h * m_h, m_s, mine, queries, limit, diagonal};
    bool forbids = CAUSAL && from + BN > first + diagonal + 1;
    if (MASK || rare(from + BN > limit || (CAUSAL && from + BN > mine + diagonal + 1)))
      forbids |= flash_mask<F, BN, WM, CAUSAL, MASK>(s, view, from, scale);
    flash_softmax<W, BN, WM, MASK >= 2>(s, top, sum, o_sum, c);
    u32 p[WM][BN / 16][4];
    flash_round<F, BN, WM>(p, s);
    cp_async_wait<0>();
    // The values are there, and nobody reads the keys any more.
    if (MASK ? __syncthreads_or(forbids) : forbids)
      flash_part<F, W, BN, WM, T, CAUSAL, MASK>(o_sum, tile_v, view, from, flash_finds<F, W, BN, T>(tile_v));
    else if (MASK == 0) barrier();
    if (j + 1 < tiles) flash_load<D, BN, T>(at_k, k + (from + BN) * k_s, k_s, limit - from - BN);
    cp_async_commit();
    flash_values<F, W, BN, WM>(o_sum, p, lane_v);
  }
  flash_finish<F, D, WM, BM, CAUSAL>(o_sum, top, sum, c, o, o_b, o_h, o_s, lse, heads, queries);
}
