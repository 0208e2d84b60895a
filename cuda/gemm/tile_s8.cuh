// SPDX-License-Identifier: Apache-2.0
// tile_s8: the pipeline of products of bytes: 128 k a step, of which an mma takes 32, one block of MXINT8. Rows and
// packed weights lie in shared memory as tile.cuh has them; with SCALES, four rows of scales of each follow.

// Where the parts of a stage begin, in bytes.
template <int BM, int BN, int SCALES> struct StageS8 {
  static const int weights = BM * 128, left_scales = weights + BN * 128, right_scales = left_scales + 4 * BM,
                   bytes = left_scales + (SCALES ? 4 * (BM + BN) : 0);
};

// What a product of bytes reads.
struct InputS8 {
  const u8 *x, *w;
  i32 M, N, K;
  const u8 *xs, *ws;  // xs: scales of x, [blocks of 32 k][xs_pitch]; ws: packed
  i64 xs_pitch;
};

// Runs body(stage, first block of 32 k, fragments...) for every step of k.
template <int BM, int BN, int NT, int STAGES, int VEC, int SCALES, class F>
DEV void steps_s8(const InputS8& in, i32 m0, i32 n0, F body) {
  typedef StageS8<BM, BN, SCALES> Stage;
  const i32 steps = (in.K + 127) / 128, blocks = steps * 4, real = (in.K + 31) / 32, groups = (in.N + 15) / 16;
  const u32 base = shared_addr(smem);
  auto load = [&](i32 k) {
    if (k < steps) {
      const u32 at = k % STAGES * Stage::bytes, to = base + at;
      load_rows<BM, NT, VEC, 1>(VEC ? to : at, in.x, m0, in.M, in.K, (i64)k * 128);
      load_groups<BN, NT, 4, 512>(to + Stage::weights, in.w, n0, groups, blocks, k * 4);
      if constexpr (SCALES) {
        load_groups<BN, NT, 4, 16>(to + Stage::right_scales, in.ws, n0, groups, blocks, k * 4);
        const i32 c = threadIdx.x, block = c / (BM / 16), row = c % (BM / 16) * 16;
        if (c < BM / 4) {
          copy_inside(to + Stage::left_scales + block * BM + row, in.xs, (k * 4 + block) * in.xs_pitch + m0 + row,
                      k * 4 + block < real && m0 + row < in.M);
        }
      }
    }
    cp_async_commit();
  };
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) load(s);
  for (i32 k = 0; k < steps; ++k) {
    cp_async_wait<STAGES - 2>();
    barrier();
    load(k + STAGES - 1);
    body((u32)(k % STAGES * Stage::bytes), k * 4);
  }
  barrier();
}

// Words of the packed weights of a group of 16 columns: block b of four in a step.
DEV w128 right_words(u32 stage_weights, u32 group, u32 b) {
  return *(const w128*)(smem + stage_weights + ((group * 4 + b) * 32 + lane()) * 16);
}
