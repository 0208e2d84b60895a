// SPDX-License-Identifier: Apache-2.0
// w8a16_hopper: y = act(x*transpose(w) + bias) + residual as w8a16 has it, by the copy engine and the warpgroups of
// sm_90a. The product is transposed: weights become bf16 in registers, the left operand; rows of x are the right one.
// One warpgroup copies, two multiply 64 rows of w each.
//   BM       rows of a block's tile of 128 columns: 128, 256; 64 k a step, STAGES of them in flight
//   ACT GATE T   as epilogue.cuh has them
// x is [M][K], K a multiple of 8 and not 0, in boxes of BM rows by 64 words, 128-byte swizzle; w and ws as w8a16 has
// them, in boxes of eight groups by 1024 and 32 bytes. N counts rows of w. The grid is one-dimensional; where it has
// fewer blocks than there are tiles, each takes several.
//   threads: 384
//   shared: STAGES * (BM * 128 + 9216) + 16 * STAGES + 20480 + 1024
//   blocks: 1
//   regs: 168
//   archs: sm_90a
//   sass: UTMALDG.2D, HGMMA, SYNCS, USETMAXREG
//   uses: num/words.cuh, num/mxint8.cuh, hopper.cuh, gemm/tile.cuh, gemm/epilogue.cuh, gemm/warpgroups.cuh
template <int BM, int STAGES, int ACT, int GATE, class T>
__device__ __forceinline__ void w8a16_hopper(const tensor_map& x, const tensor_map& w, const tensor_map& ws,
                                             const f32* bias, const void* residual, void* y, u8* scales, i64 ldy,
                                             i64 scale_block, i64 scale_row, i32 M, i32 N, i32 K) {
  const int BN = 128, WEIGHTS = BM * 128, SCALES = WEIGHTS + BN * 64, STAGE = SCALES + 1024;
  const u32 base = stages_start(), barriers = base + STAGES * STAGE;
  const u32 tiles = (M + BM - 1) / BM * ((N + BN - 1) / BN);
  const i32 steps = (K + 63) / 64;
  stages_init<STAGES>(barriers);
  if (threadIdx.x >= 256) {
    auto copies = [&](u32 to, u32 bar, i32 k, i32 m, i32 n) {
      copy_box(to, x, k * 64, m, bar);
      copy_box(to + WEIGHTS, w, k * 256, n / 16, bar);
      copy_box(to + SCALES, ws, k * 32, n / 16, bar);
    };
    produce<BM, BN, STAGES, STAGE, SCALES + BN * 2>(base, barriers, M, N, steps, copies);
    return;
  }
  registers_up<232>();
  i32 m0, n0;
  ring<STAGES> r = {0, 0};
  const Sink sink = {bias, residual, y, scales, ldy, scale_block, scale_row, M, GATE ? N / 2 : N};
  const u64 right = operand(base);
  const u8* mine = smem + (base - shared_addr(smem)) + WEIGHTS + threadIdx.x / 32 * 1024 + lane() * 16;
  const u8* exps = smem + (base - shared_addr(smem)) + SCALES + threadIdx.x / 32 * 32 + lane() / 4 * 2;
  f32 sum[BM / 8][4];
  for (u32 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    tile_place<BM, BN>(tile, M, N, m0, n0);
#pragma unroll 1
    for (i32 k = 0; k < steps; ++k, r.next()) {
      const u32 at = r.at * STAGE;
      mbar_wait(barriers + 8 * r.at, r.parity);
      u32 a[4][4];
#pragma unroll
      for (int b = 0; b < 2; ++b) {
        const w128 v = *(const w128*)(mine + at + b * 512);
        const u32 q[4] = {v.x, v.y, v.z, v.w}, s = mxint8_factors_bf16(*(const u16*)(exps + at + b * 16), 0x4140);
#pragma unroll
        for (int e = 0; e < 8; ++e) {
          const int h = e / 4, row = e % 2, sel = e / 2 % 2;
          const u32 factor = prmt(s, 0, row ? 0x3232 : 0x1010);
          a[b * 2 + h][e % 4] = mxint8_pair_bf16(q[row * 2 + h], sel ? 0x4342 : 0x4140, factor);
        }
      }
      held(a);
      wgmma_fence();
#pragma unroll
      for (int h = 0; h < 4; ++h) wgmma<1, 0>(sum, a[h], right + (at >> 4) + 2 * h, h > 0 || k > 0);
      wgmma_commit();
      wgmma_wait<0>();
      if (lane() == 0) mbar_arrive(barriers + 8 * (STAGES + r.at));
    }
    held(sum);
    store_turned<ACT, GATE, T>(sink, sum, m0, n0);
  }
}
