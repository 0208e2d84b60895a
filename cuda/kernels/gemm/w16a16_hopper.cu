// SPDX-License-Identifier: Apache-2.0
// w16a16_hopper: y = act(x*transpose(w) + bias) + residual as w16a16 has it, by the copy engine and the warpgroups of
// sm_90a. One warpgroup copies boxes of both operands into a ring of stages, two multiply 64 rows each, and store.
//   BN       columns of a block's tile of 128 rows: 128, 256; 64 k a step, STAGES of them in flight
//   F        1 bf16, 2 f16
//   ACT GATE T   as epilogue.cuh has them
// x is [M][K], K a multiple of 8 and not 0, w [N][K], both in boxes of 64 words by 128 and BN rows, 128-byte swizzle. N
// counts rows of w. The grid is one-dimensional; where it has fewer blocks than there are tiles, each takes several.
//   threads: 384
//   shared: STAGES * (128 + BN) * 128 + 16 * STAGES + 20480 + 1024
//   blocks: 1
//   regs: 168
//   archs: sm_90a
//   sass: UTMALDG.2D, HGMMA, SYNCS, USETMAXREG
//   uses: num/words.cuh, num/mxint8.cuh, hopper.cuh, gemm/tile.cuh, gemm/epilogue.cuh, gemm/warpgroups.cuh
template <int BN, int STAGES, int F, int ACT, int GATE, class T>
__device__ __forceinline__ void w16a16_hopper(const tensor_map& x, const tensor_map& w, const f32* bias,
                                              const void* residual, void* y, u8* scales, i64 ldy, i64 scale_block,
                                              i64 scale_row, i32 M, i32 N, i32 K) {
  const int BM = 128, LEFT = BM * 128, STAGE = LEFT + BN * 128;
  const u32 base = stages_start(), barriers = base + STAGES * STAGE;
  const u32 tiles = (M + BM - 1) / BM * ((N + BN - 1) / BN);
  const i32 steps = (K + 63) / 64;
  stages_init<STAGES>(barriers);
  if (threadIdx.x >= 256) {
    produce<BM, BN, STAGES, STAGE, STAGE>(base, barriers, M, N, steps, [&](u32 to, u32 bar, i32 k, i32 m, i32 n) {
      copy_box(to, x, k * 64, m, bar);
      copy_box(to + LEFT, w, k * 64, n, bar);
    });
    return;
  }
  registers_up<232>();
  i32 m0, n0;
  ring<STAGES> r = {0, 0};
  const Sink sink = {bias, residual, y, scales, ldy, scale_block, scale_row, M, GATE ? N / 2 : N};
  const u64 left = operand(base + threadIdx.x / 128 * 8192), right = operand(base + LEFT);
  f32 sum[BN / 8][4];
  for (u32 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    tile_place<BM, BN>(tile, M, N, m0, n0);
    consume<STAGES, STAGE>(r, barriers, sum, steps, [&](u64 at, bool more) {
#pragma unroll
      for (int h = 0; h < 4; ++h) wgmma<F>(sum, left + at + 2 * h, right + at + 2 * h, h > 0 || more);
    });
    store_slices<ACT, GATE, T>(sink, sum, m0, n0);
  }
}
