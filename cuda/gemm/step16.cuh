// SPDX-License-Identifier: Apache-2.0
// step16: a step of a product whose operands are both bf16 (F 1) or both f16 (F 2).

template <int F> DEV void mma_16(f32 (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {  // m16n8k16
  if (F == 1) mma_bf16(d, a, b0, b1);
  else mma_f16(d, a, b0, b1);
}

// acc += the 64 k of a stage. at: of lane_fragment in the rows of this warp; words: of this lane in the packed weights
// of its first group of 16 columns.
template <int F, int MT, int N8> DEV void multiply_16(f32 (&acc)[MT][N8][4], u32 at, u32 words) {
#pragma unroll
  for (int h = 0; h < 4; ++h) {
    u32 a[MT][4];
#pragma unroll
    for (int i = 0; i < MT; ++i) left_fragment_at(a[i], at, i, h);
#pragma unroll
    for (int g = 0; g < N8 / 2; ++g) {
      const w128 b = *(const w128*)(smem + words + (g * 4 + h) * 512);
#pragma unroll
      for (int i = 0; i < MT; ++i) {
        mma_16<F>(acc[i][2 * g], a[i], b.x, b.y);
        mma_16<F>(acc[i][2 * g + 1], a[i], b.z, b.w);
      }
    }
  }
}
