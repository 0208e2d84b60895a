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

// Runs body(stage, first block of 32 k) for every step of k. Rows and groups that do not exist are zeros.
template <int BM, int BN, int NT, int STAGES, int VEC, int SCALES, class F>
DEV void steps_s8(const InputS8& in, i32 m0, i32 n0, F body) {
  typedef StageS8<BM, BN, SCALES> Stage;
  const int XC = BM * 8 / NT, WC = BN * 8 / NT;  // chunks of 16 bytes that a thread copies a step
  const i32 steps = (in.K + 127) / 128, real = (in.K + 31) / 32, groups = (in.N + 15) / 16 - n0 / 16;
  const u32 base = shared_addr(smem), t = threadIdx.x;
  const i32 rows = in.M - m0 - t / 8;
  const u8 *left[XC], *right[WC];
  rows_start<XC, NT>(left, in.x, m0, in.M, in.K, 0);
  groups_start<WC, NT, 2048>(right, in.w, n0, groups + n0 / 16, steps, 0);
  // Of the scales a thread copies one chunk of each side: 16 rows of a block, or a group's part of four.
  const i32 block = t / (BM / 16), row = t % (BM / 16) * 16;
  const u8 *left_scales = in.xs, *right_scales = in.ws;
  if constexpr (SCALES) {
    if (t < BM / 4 && m0 + row < in.M) left_scales += block * in.xs_pitch + m0 + row;
    if ((i32)t / 4 < groups) right_scales += ((i64)(n0 / 16 + t / 4) * steps * 4 + t % 4) * 16;
  }
  auto load = [&](i32 k, u32 at) {
    if (k < steps) {
      const u32 to = base + at;
      if constexpr (VEC) {
        const i32 valid = k * 128 + (i32)t % 8 * 16 < in.K ? rows : 0;
#pragma unroll
        for (int i = 0; i < XC; ++i) {
          cp_async16(to + row_chunk(t / 8, t % 8) + i * (NT * 16), left[i], i * (NT / 8) < valid ? 16 : 0);
          left[i] += 128;
        }
      } else {
        load_rows<BM, NT, 0, 1>(at, in.x, m0, in.M, in.K, (i64)k * 128);
      }
#pragma unroll
      for (int i = 0; i < WC; ++i) {
        const bool there = ((i32)t + i * NT) / 128 < groups;
        cp_async16(to + Stage::weights + (t + i * NT) * 16, right[i], there ? 16 : 0);
        right[i] += 2048;
      }
      if constexpr (SCALES) {
        if (t < BM / 4) {
          const bool there = k * 4 + block < real && m0 + row < in.M;
          cp_async16(to + Stage::left_scales + block * BM + row, there ? left_scales : in.xs, there ? 16 : 0);
          left_scales += 4 * in.xs_pitch;
        }
        if (t < BN / 4) {
          cp_async16(to + Stage::right_scales + t * 16, right_scales, (i32)t / 4 < groups ? 16 : 0);
          right_scales += 64;
        }
      }
    }
    cp_async_commit();
  };
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) load(s, s * Stage::bytes);
  u32 at = 0, next = (STAGES - 1) * Stage::bytes;
#pragma unroll 1
  for (i32 k = 0; k < steps; ++k) {
    cp_async_wait<STAGES - 2>();
    barrier();
    load(k + STAGES - 1, next);
    body(at, k * 4);
    next = at;
    at = at == (STAGES - 1) * Stage::bytes ? 0 : at + Stage::bytes;
  }
  barrier();
}

// Words of the packed weights of a group of 16 columns: block b of four in a step.
DEV w128 right_words(u32 stage_weights, u32 group, u32 b) {
  return *(const w128*)(smem + stage_weights + ((group * 4 + b) * 32 + lane()) * 16);
}
