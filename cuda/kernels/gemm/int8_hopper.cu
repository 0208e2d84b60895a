// SPDX-License-Identifier: Apache-2.0
// int8_hopper: y = requantize(x*transpose(w)) as int8 has it, by the copy engine and the warpgroups of sm_90a. One
// warpgroup copies boxes of both operands into a ring of stages, two multiply 64 rows each, and store.
//   BN       columns of a block's tile of 128 rows: 128, 256; 128 k a step, STAGES of them in flight
//   R WRAP RAW A T   as those of int8
// x is [M][K], K a multiple of 16 and not 0, w [N][K], both in boxes of 128 bytes by 128 and BN rows, 128-byte swizzle.
// The grid is one-dimensional; where it has fewer blocks than there are tiles, each takes several.
//   threads: 384
//   shared: STAGES * (128 + BN) * 128 + 16 * STAGES + 20480 + 1024
//   blocks: 1
//   regs: 168
//   archs: sm_90a
//   sass: UTMALDG.2D, IGMMA, SYNCS, USETMAXREG
//   uses: num/words.cuh, num/mxint8.cuh, hopper.cuh, gemm/tile.cuh, gemm/epilogue.cuh, gemm/warpgroups.cuh,
//   uses: gemm/requant.cuh, gemm/codes.cuh
template <int BN, int STAGES, int R, int WRAP, int RAW, class A, class T>
__device__ __forceinline__ void int8_hopper(const tensor_map& x, const tensor_map& w, const void* channels, T* y,
                                            i64 ldy, i32 M, i32 N, i32 K, i32 zero, i32 lo, i32 hi) {
  const int BM = 128, LEFT = BM * 128, STAGE = LEFT + BN * 128;
  const u32 base = stages_start(), barriers = base + STAGES * STAGE;
  const u32 tiles = (M + BM - 1) / BM * ((N + BN - 1) / BN);
  const i32 steps = (K + 127) / 128;
  stages_init<STAGES>(barriers);
  if (threadIdx.x >= 256) {
    produce<BM, BN, STAGES, STAGE, STAGE>(base, barriers, M, N, steps, [&](u32 to, u32 bar, i32 k, i32 m, i32 n) {
      copy_box(to, x, k * 128, m, bar);
      copy_box(to + LEFT, w, k * 128, n, bar);
    });
    return;
  }
  registers_up<232>();
  i32 m0, n0;
  ring<STAGES> r = {0, 0};
  const u64 left = operand(base + threadIdx.x / 128 * 8192), right = operand(base + LEFT);
  i32 sum[BN / 8][4];
  for (u32 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    tile_place<BM, BN>(tile, M, N, m0, n0);
    consume<STAGES, STAGE>(r, barriers, sum, steps, [&](u64 at, bool more) {
#pragma unroll
      for (int h = 0; h < 4; ++h) wgmma_s8<((A)-1 > 0)>(sum, left + at + 2 * h, right + at + 2 * h, h > 0 || more);
    });
    f32 word[BN / 8][4];  // the same words
#pragma unroll
    for (int i = 0; i < BN / 2; ++i) word[i / 4][i % 4] = word_f32(sum[i / 4][i % 4]);
#pragma unroll 1
    for (int c = 0; c < BN / 32; ++c) {
      f32 v[4][4];
      slice(v, word, c);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const u32 row = threadIdx.x / 32 * 16 + lane() / 4 + i % 2 * 8;
        stage_pair<32, 0, 0>(Sink{}, row, i / 2 * 8 + lane() % 4 * 2, 0, v[i / 2][i % 2 * 2], v[i / 2][i % 2 * 2 + 1]);
      }
      barrier_of<1, 256>();
      store_coded<BM, 32, 256, R, WRAP, RAW>(channels, y, ldy, M, N, zero, lo, hi, m0, n0 + c * 32,
                                                Added<R, 0>{});
      barrier_of<1, 256>();
    }
  }
}
