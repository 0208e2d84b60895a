// SPDX-License-Identifier: Apache-2.0
// sdpa_mxint8: sdpa with keys and values in MXINT8, blocks of 32 along the head dimension, the last one short where 32
// does not divide it. Both are decoded exactly to bfloat16 on their way through registers, so the outputs are those of
// sdpa on the decoded tensors, bit for bit, where tiles have as many keys.
//   D, BN, WM, WARPS, CAUSAL  as for sdpa, with D a multiple of 16; q and o are bf16
// k and v have bytes with rows k_s apart, and scales kx and vx, a byte a block, with rows x_s apart; both share their
// strides. Rows of bytes begin at multiples of 16. Everything else is as for sdpa, without a mask.
//   threads: 32 * WARPS
//   shared: (16 * WM * WARPS + 2 * BN) * (2 * D + 16) + 2 * BN * D
//   blocks: D == 16 ? 3 : 0
//   regs: 255
//   sass: HMMA.16816.F32.BF16, LDSM.16.M88.4, LDSM.16.MT88.4, LDGSTS, STG.128, MUFU.EX2
//   uses: num/words.cuh, num/mxint8.cuh, attn/flash.cuh, attn/flash_mxint8.cuh, attn/mask.cuh
template <int D, int BN, int WM, int WARPS, int CAUSAL>
__device__ __forceinline__ void sdpa_mxint8(const u16* q, const u8* k, const u8* kx, const u8* v, const u8* vx,
                                            const i32* lengths, u16* o, f32* lse, u32 heads, u32 group, i32 queries,
                                            i32 keys, i32 diagonal, f32 scale, i64 q_b, i64 q_h, i64 q_s, i64 k_b,
                                            i64 k_h, i64 k_s, i64 x_b, i64 x_h, i64 x_s, i64 o_b, i64 o_h, i64 o_s) {
  const int BM = 16 * WM * WARPS, T = 32 * WARPS, S = flash_row<D>::bytes, N = flash_chunks<D, BN, T>::count;
  const flash_place at = flash_block<BM, CAUSAL>(queries, heads);
  const i32 first = at.first, mine = first + threadIdx.x / 32 * 16 * WM;
  const i32 limit = lengths ? max(min(lengths[at.b], keys), 0) : keys;
  const i32 last = CAUSAL ? min(limit, min(first + BM, queries) + diagonal) : limit;
  const i32 tiles = last <= 0 ? 0 : (last + BN - 1) / BN;
  const i64 rows = at.b * k_b + at.h / group * k_h, blocks = at.b * x_b + at.h / group * x_h;
  k += rows, v += rows, kx += blocks, vx += blocks;
  u8 *tile_k = smem + BM * S, *tile_v = tile_k + BN * S, *raw_k = tile_v + BN * S, *raw_v = raw_k + BN * D;
  const u32 lane_q = shared_addr(smem) + (threadIdx.x / 32) * 16 * WM * S + flash_lane_a<D>();
  const u32 lane_k = shared_addr(tile_k) + flash_lane_b<D>(), lane_v = shared_addr(tile_v) + flash_lane_a<D>();
  const u32 at_k = shared_addr(raw_k), at_v = shared_addr(raw_v);
  const f32 c = mul_rn(scale, 1.44269504f);

  u32 scale_k[N], scale_v[N];
  flash_load<D, BM, T>(shared_addr(smem), q + at.b * q_b + at.h * q_h + first * q_s, q_s, queries - first);
  cp_async_commit();
  if (tiles > 0) flash_fetch<D, BN, T>(at_k, scale_k, k, kx, k_s, x_s, limit);
  cp_async_commit();
  if (tiles > 0) flash_fetch<D, BN, T>(at_v, scale_v, v, vx, k_s, x_s, limit);
  cp_async_commit();

  f32 o_sum[WM][D / 8][4], top[WM][2], sum[WM][2];
  flash_start<D, WM>(o_sum, top, sum);
#pragma unroll 1
  for (i32 j = 0; j < tiles; ++j) {
    const i32 from = j * BN, next = from + BN;
    cp_async_wait<1>();
    flash_decode<D, BN, T>(tile_k, raw_k, scale_k);
    if (j + 1 < tiles) flash_fetch<D, BN, T>(at_k, scale_k, k + next * k_s, kx + next * x_s, k_s, x_s, limit - next);
    cp_async_commit();
    barrier();  // the keys are there, and nobody reads the values of the tile before
    f32 s[WM][BN / 8][4];
    flash_scores<1, D, BN, WM>(s, lane_q, lane_k);
    const flash_view view = {0, 0, 0, mine, queries, limit, diagonal};
    if (rare(next > limit || (CAUSAL && next > mine + diagonal + 1)))
      flash_mask<1, BN, WM, CAUSAL, 0>(s, view, from, scale);
    flash_softmax<D, BN, WM, 0>(s, top, sum, o_sum, c);
    u32 p[WM][BN / 16][4];
    flash_round<1, BN, WM>(p, s);
    cp_async_wait<1>();
    const bool large = flash_decode<D, BN, T>(tile_v, raw_v, scale_v);
    if (j + 1 < tiles) flash_fetch<D, BN, T>(at_v, scale_v, v + next * k_s, vx + next * x_s, k_s, x_s, limit - next);
    cp_async_commit();
    // The values are there, and nobody reads the keys any more.
    if (CAUSAL && next > first + diagonal + 1)
      flash_part<1, D, BN, WM, T, CAUSAL, 0>(o_sum, tile_v, view, from, large);
    else barrier();
    flash_values<1, D, BN, WM>(o_sum, p, lane_v);
  }
  flash_finish<1, D, WM, BM, CAUSAL>(o_sum, top, sum, c, o, o_b, o_h, o_s, lse, heads, queries);
}
