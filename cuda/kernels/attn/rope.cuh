// SPDX-License-Identifier: Apache-2.0
// rope: pairs of elements turned by the angle of their position (Su et al., RoFormer, 2021).

// Elements i to i + 7 of a row of D, lo, and those D / 2 behind them, hi: (a, b) becomes (a cos - b sin,
// a sin + b cos), in fp32.
template <int F, int D>
DEV void rope_pairs(f32 (&lo)[8], f32 (&hi)[8], const void* row, const f32* cos, const f32* sin, u32 i) {
  f32 cosine[8], sine[8];
  load_chunk<F, 8>(lo, row, i);
  load_chunk<F, 8>(hi, row, i + D / 2);
  load_chunk<0, 8>(cosine, cos, i);
  load_chunk<0, 8>(sine, sin, i);
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const f32 a = lo[j];
    lo[j] = fma_rn(a, cosine[j], -mul_rn(hi[j], sine[j]));
    hi[j] = fma_rn(a, sine[j], mul_rn(hi[j], cosine[j]));
  }
}
