// SPDX-License-Identifier: Apache-2.0
// sdpa_decode_mxint8: sdpa_decode with keys and values in MXINT8, blocks of 32 along the head dimension, the last one
// short where 32 does not divide it. Both are decoded exactly to bfloat16 on their way through registers, so outputs
// are those of sdpa_decode on the decoded caches, bit for bit, where chunks are as large. A warp copies and decodes the
// keys that it takes itself, so that it waits for no other, and copies the next ones while it computes.
//   D, WARPS, SPLIT  as for sdpa_decode, with D a multiple of 16; q and o are bf16
// k and v have bytes with rows k_s apart, and scales kx and vx, a byte a block, with rows x_s apart; both share their
// strides. Rows of bytes begin at multiples of 16. Everything else is as for sdpa_decode.
//   threads: 32 * WARPS
//   shared: (16 + 32 * WARPS) * (2 * D + 16) + 32 * WARPS * D
//   blocks: D <= 128 ? 3 : 1
//   regs: 255
//   sass: HMMA.16816.F32.BF16, LDSM.16.M88.4, LDSM.16.MT88.4, LDGSTS, MUFU.EX2
//   loop: D == 128: 700 for 32 HMMA.16816
//   uses: num/words.cuh, num/mxint8.cuh, attn/flash.cuh, attn/flash_mxint8.cuh, attn/decode.cuh
template <int D, int WARPS, int SPLIT>
__device__ __forceinline__ void sdpa_decode_mxint8(const u16* q, const u8* k, const u8* kx, const u8* v, const u8* vx,
                                                   const i32* position, u16* o, f32* parts, u32 rows, u32 kv,
                                                   u32 group, i32 keys, i32 chunk, u32 splits, f32 scale, i64 q_b,
                                                   i64 q_h, i64 k_b, i64 k_h, i64 k_s, i64 x_b, i64 x_h, i64 x_s,
                                                   i64 o_b, i64 o_h) {
  const int BN = 16 * WARPS, S = flash_row<D>::bytes, N = flash_chunks<D, 16, 32>::count;
  const decode_place at = decode_block(position, rows, kv, group, keys, chunk, splits);
  if (SPLIT && at.split > 0 && at.to <= at.from) return;  // sdpa_join does not read it
  const u32 warp = threadIdx.x / 32;
  const i32 mine = at.from + warp * 16, count = at.to - mine;  // keys from the warp's first on
  const i64 row = at.b * k_b + at.shared * k_h + mine * k_s, block = at.b * x_b + at.shared * x_h + mine * x_s;
  k += row, v += row, kx += block, vx += block;
  u8 *tile_k = smem + (16 + warp * 32) * S, *tile_v = tile_k + 16 * S;
  u8 *raw_k = smem + (16 + WARPS * 32) * S + warp * 32 * D, *raw_v = raw_k + 16 * D;
  const u32 lane_q = shared_addr(smem) + flash_lane_a<D>();
  const u32 lane_k = shared_addr(tile_k) + flash_lane_b<D>(), lane_v = shared_addr(tile_v) + flash_lane_a<D>();
  const u32 at_k = shared_addr(raw_k), at_v = shared_addr(raw_v);
  const f32 c = mul_rn(scale, 1.44269504f);

  u32 scale_k[N], scale_v[N];
  flash_load<D, 16, 32 * WARPS>(shared_addr(smem), q + at.b * q_b + at.head * q_h, q_h, at.valid);
  cp_async_commit();
  if (count > 0) {
    flash_fetch<D, 16, 32>(at_k, scale_k, k, kx, k_s, x_s, count, lane());
    flash_fetch<D, 16, 32>(at_v, scale_v, v, vx, k_s, x_s, count, lane());
  }
  cp_async_commit();
  cp_async_wait<1>();
  barrier();  // the queries are there

  f32 o_sum[1][D / 8][4], top[1][2], sum[1][2];
  flash_start<D, 1>(o_sum, top, sum);
#pragma unroll 1
  for (i32 left = count; left > 0; left -= BN) {
    cp_async_wait<0>();
    __syncwarp();  // no lane reads the tile before
    flash_decode<D, 16, 32>(tile_k, raw_k, scale_k, lane());
    flash_decode<D, 16, 32>(tile_v, raw_v, scale_v, lane());
    k += BN * k_s, v += BN * k_s, kx += BN * x_s, vx += BN * x_s;
    if (left > BN) {
      flash_fetch<D, 16, 32>(at_k, scale_k, k, kx, k_s, x_s, left - BN, lane());
      flash_fetch<D, 16, 32>(at_v, scale_v, v, vx, k_s, x_s, left - BN, lane());
    }
    cp_async_commit();
    __syncwarp();  // the tile is there
    f32 s[1][2][4];
    flash_scores<1, D, 16, 1, (D > 128 ? 1 : 8)>(s, lane_q, lane_k);
    decode_mask(s, left);
    flash_softmax<D, 16, 1, 0>(s, top, sum, o_sum, c);
    u32 p[1][1][4];
    flash_round<1, 16, 1>(p, s);
    flash_values<1, D, 16, 1>(o_sum, p, lane_v);
  }
  cp_async_wait<0>();
  barrier();  // nobody reads queries and keys any more
  decode_finish<1, D, WARPS, SPLIT>(o_sum, top, sum, c, at, kv * group, splits, o, o_b, o_h, parts);
}
