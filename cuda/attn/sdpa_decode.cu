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
  const u32 tiles_h = (group + 15) / 16, warp = threadIdx.x / 32;
  const u32 split = blockIdx.x % splits, tile = blockIdx.x / splits % tiles_h;
  const u32 shared_head = blockIdx.x / splits / tiles_h % kv;
  const u64 b = blockIdx.x / splits / tiles_h / kv;
  const u32 head = shared_head * group + tile * 16, valid = min(group - tile * 16, 16u);
  const i32 from = split * chunk, to = min(decode_limit(position, b, rows, keys), from + chunk);
  const i32 tiles = to > from ? (to - from + BN - 1) / BN : 0;
  if (SPLIT && split > 0 && tiles == 0) return;  // sdpa_join does not read it
  k += b * k_b + shared_head * k_h + from * k_s;
  v += b * v_b + shared_head * v_h + from * v_s;
  const u32 at_q = shared_addr(smem), at_kv = at_q + 16 * S;
  const f32 c = mul_rn(scale, 1.44269504f);

  flash_load<D, 16, T>(at_q, q + b * q_b + head * q_h, q_h, valid);
  if (tiles > 0) {
    flash_load<D, BN, T>(at_kv, k, k_s, to - from);
    flash_load<D, BN, T>(at_kv + BN * S, v, v_s, to - from);
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
      flash_load<D, BN, T>(stage, k + next * k_s, k_s, to - from - next);
      flash_load<D, BN, T>(stage + BN * S, v + next * v_s, v_s, to - from - next);
    }
    cp_async_commit();
    const u32 mine = at_kv + (j & 1) * (2 * BN * S) + warp * 16 * S;
    f32 s[1][2][4];
    flash_scores<F, W, 16, 1>(s, at_q + flash_lane_a<W>(), mine + flash_lane_b<W>());
    const i32 left = to - from - j * BN - (i32)warp * 16 - lane() % 4 * 2;  // keys from this lane's first on
#pragma unroll
    for (int n = 0; n < 2; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        if (n * 8 + e % 2 >= left) s[0][n][e] = word_f32(0xFF800000u);
    flash_softmax<W, 16, 1, 0>(s, top, sum, o_sum, c);
    u32 p[1][1][4];
    flash_round<F, 16, 1>(p, s);
    flash_values<F, W, 16, 1>(o_sum, p, mine + BN * S + flash_lane_a<W>());
  }
  cp_async_wait<0>();
  barrier();  // nobody reads queries and keys any more

  f32 *tops = (f32*)smem, *totals = tops + BN, *sums = totals + BN;  // [WARPS][16], with sums rows of P
  const int P = W + 8;                                               // of which 16 lanes write to all banks
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
  for (u32 item = threadIdx.x; item < valid * (D / 8); item += T) {
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
    if (SPLIT) decode_keep(parts + ((b * kv * group + head + r) * splits + split) * decode_part<D>::size, d, y, D);
    else decode_store<F>(o + b * o_b + (head + r) * o_h + d, y);
  }
}
