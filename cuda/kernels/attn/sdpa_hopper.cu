// SPDX-License-Identifier: Apache-2.0
// sdpa_hopper: o = softmax(scale * q k^T) v over the keys that are allowed, and lse = ln of the sum of exponentials, as
// sdpa has it, by the copy engine and the warpgroups of sm_90a. One warpgroup copies, WG multiply for 64 queries each.
// Scores and p stay in registers; the scores of a tile are computed beside p v of the tile before.
//   F        1 bf16, 2 f16
//   D        head dimension: 64, 128
//   BN       keys of a tile: 128, 176
//   WG       2, 3
//   CAUSAL   1: key j is allowed for query i where j <= i + diagonal
// q, k and v have the axes batch, heads, rows and D, in boxes of 64 values by 64 * WG or BN rows, 128-byte swizzle.
// Query head h reads head h / group of k and v. Rows of o lie as those of sdpa. There are no masks and no lengths. A
// NaN or Inf of v reaches all queries of a block that reads its tile, also those that may not see its key.
//   threads: 128 * WG + 128
//   shared: max((64 * WG + 4 * BN) * D * 2 + 1024 + 72, 64 * WG * (2 * D + 16))
//   blocks: 1
//   regs: WG == 3 ? 128 : 168
//   archs: sm_90a
//   sass: UTMALDG.4D, HGMMA, SYNCS, USETMAXREG, STG.128, MUFU.EX2
//   uses: hopper.cuh, attn/flash.cuh, attn/mask.cuh
template <int F, int D, int BN, int WG, int CAUSAL>
__device__ __forceinline__ void sdpa_hopper(const tensor_map& q, const tensor_map& k, const tensor_map& v, u16* o,
                                            f32* lse, u32 heads, u32 group, i32 queries, i32 keys, i32 diagonal,
                                            f32 scale, i64 o_b, i64 o_h, i64 o_s) {
  const int BM = 64 * WG, TILE = BN * D * 2;
  const flash_place at = flash_block<BM, CAUSAL>(queries, heads);
  const i32 last = CAUSAL ? min(keys, min(at.first + BM, queries) + diagonal) : keys;
  const i32 tiles = last <= 0 ? 0 : (last + BN - 1) / BN;
  const u32 at_q = (shared_addr(smem) + 1023) & ~1023u, at_k = at_q + BM * D * 2, at_v = at_k + 2 * TILE;
  const u32 q_full = at_v + 2 * TILE, k_full = q_full + 8, v_full = k_full + 16, k_empty = v_full + 16;
  const u32 v_empty = k_empty + 16;
  if (threadIdx.x == 0) {
    mbar_init(q_full, 1);
#pragma unroll
    for (int s = 0; s < 32; s += 8) mbar_init(k_full + s, 1), mbar_init(k_empty + s, 4 * WG);
    fence_async();
  }
  barrier();
  ring<2> rk = {0, 0}, rv = {0, 0};
  if (threadIdx.x >= 128 * WG) {
    registers_down<(WG == 3 ? 24 : 40)>();
    if (threadIdx.x == 128 * WG && tiles > 0) {
      auto load = [&](u32 to, const tensor_map& from, int rows, i32 first, i32 h, u32 bar) {
        mbar_expect(bar, rows * D * 2);
#pragma unroll
        for (int d = 0; d < D / 64; ++d) copy_box(to + d * rows * 128, from, d * 64, first, h, at.b, bar);
      };
      load(at_q, q, BM, at.first, at.h, q_full);
#pragma unroll 1
      for (i32 j = 0; j < tiles; ++j, rk.next()) {
        const u32 stage = rk.at * TILE, bar = rk.at * 8;
        mbar_wait(k_empty + bar, rk.parity ^ 1);
        load(at_k + stage, k, BN, j * BN, at.h / group, k_full + bar);
        mbar_wait(v_empty + bar, rk.parity ^ 1);
        load(at_v + stage, v, BN, j * BN, at.h / group, v_full + bar);
      }
    }
    barrier();  // that of flash_finish
    return;
  }
  registers_up<(WG == 3 ? 160 : 232)>();
  const i32 mine = at.first + threadIdx.x / 32 * 16;
  const flash_view view = {0, 0, 0, mine, queries, keys, diagonal};
  const f32 c = mul_rn(scale, 1.44269504f);
  const u64 left = operand(at_q + threadIdx.x / 128 * 8192);
  f32 s[1][BN / 8][4], out[1][D / 8][4], top[1][2], sum[1][2];
  u32 p[1][BN / 16][4];
  flash_start<D, 1>(out, top, sum);
  auto scores = [&]() {
    mbar_wait(k_full + rk.at * 8, rk.parity);
    const u64 right = operand(at_k + rk.at * TILE);
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < D / 16; ++i) {
      wgmma<F>(s[0], left + i / 4 * (BM * 8) + i % 4 * 2, right + i / 4 * (BN * 8) + i % 4 * 2, i > 0);
    }
    wgmma_commit();
  };
  auto values = [&]() {
    mbar_wait(v_full + rv.at * 8, rv.parity);
    const u64 right = operand(at_v + rv.at * TILE, BN * 128);
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < BN / 16; ++i) wgmma<F, 1>(out[0], p[0][i], right + i * 128, 1);
    wgmma_commit();
  };
  // p of the scores of tile j; returns what sums before are kept by, in two rows.
  auto weigh = [&](i32 j, f32 (&keep)[1][1][4]) {
    const i32 from = j * BN;
    if (lane() == 0) mbar_arrive(k_empty + rk.at * 8);
    if (from + BN > keys || (CAUSAL && from + BN > mine + diagonal + 1))
      flash_mask<F, BN, 1, CAUSAL, 0>(s, view, from, scale);
    keep[0][0][0] = keep[0][0][1] = keep[0][0][2] = keep[0][0][3] = 1;
    flash_softmax<8, BN, 1, 0>(s, top, sum, keep, c);
  };
  if (tiles > 0) {
    f32 keep[1][1][4];
    mbar_wait(q_full, 0);
    scores();
    wgmma_wait<0>();
    held(s[0]);
    weigh(0, keep);
    flash_round<F, BN, 1>(p, s);
#pragma unroll 1
    for (i32 j = 1; j < tiles; ++j) {
      rk.next();
      scores();
      values();
      wgmma_wait<1>();
      held(s[0]);
      weigh(j, keep);
      wgmma_wait<0>();
      held(out[0]);
      if (lane() == 0) mbar_arrive(v_empty + rv.at * 8);
      rv.next();
#pragma unroll
      for (int i = 0; i < D / 2; ++i) out[0][i / 4][i % 4] = mul_rn(out[0][i / 4][i % 4], keep[0][0][i % 4]);
      flash_round<F, BN, 1>(p, s);
    }
    values();
    wgmma_wait<0>();
    held(out[0]);
  }
  flash_finish<F, D, 1, BM, CAUSAL>(out, top, sum, c, o, o_b, o_h, o_s, lse, heads, queries);
}
