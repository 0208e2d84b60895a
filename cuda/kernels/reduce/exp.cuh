// SPDX-License-Identifier: Apache-2.0
// exp: what both softmax kernels share: powers below the maximum, and masks.

// exp(x - top): the difference first, so that large x lose nothing.
DEV f32 exp_below(f32 x, f32 top) { return ex2(mul_rn(add_rn(x, -top), 1.44269504f)); }

// -Inf to the V values from column `at` whose byte of the mask is 0.
template <int V> DEV void apply_mask(f32* v, const u8* keep, u32 at, u32 n) {
  if (at >= n) return;
  u32 w[2];
  if (V == 8) {
    const w64 q = ld64(keep + at);
    w[0] = q.x, w[1] = q.y;
  } else {
    w[0] = V == 4 ? *(const u32*)(keep + at) : keep[at];
  }
#pragma unroll
  for (int i = 0; i < V; ++i)
    if (((w[i / 4] >> (i % 4 * 8)) & 0xFF) == 0) v[i] = word_f32(0xFF800000u);
}
