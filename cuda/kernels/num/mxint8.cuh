// SPDX-License-Identifier: Apache-2.0
// mxint8: scales and elements of MXINT8 blocks (OCP MX v1.0): 32 signed bytes q, one byte X, value q * 2^(X-133).
// Every pair is exact in bfloat16 and in fp32, except X = 255, which is NaN, and q = -128 with X = 254: -Inf.
// Encoding is at the end; it stores by words.cuh.

// 2^(X-133) as the word of a bfloat16, subnormal below X = 7; NaN for 255.
DEV u32 mxint8_scale_bf16(u32 X) {
  u32 s = X >= 7 ? (X - 6) << 7 : 1u << (X & 7);
  return X == 255 ? 0x7FC0u : s;
}
DEV f32 mxint8_scale_f32(u32 X) { return word_f32(mxint8_scale_bf16(X) << 16); }

// For mxint8_pair_bf16: 2^(X-127) as bfloat16 for the bytes of X that sel puts into the low bytes of the halves. X << 7
// is that number but for X = 0, which is subnormal, and for 255, infinity, of which 0 times it makes NaN.
DEV u32 mxint8_factors_bf16(u32 X, u32 sel) {
  const u32 s = prmt(X, 0, sel) << 7;
  return max_bf16x2(fma_bf16x2(s, 0, s), 0x00400040u);
}
DEV u32 mxint8_factor_bf16(u32 X) { return mxint8_factors_bf16(X, 0x4040); }

// (x & mask) | bits in one instruction.
DEV u32 mxint8_bits(u32 x, u32 mask, u32 bits) {
  u32 r; asm("lop3.b32 %0, %1, %2, %3, 0xEA;" : "=r"(r) : "r"(x), "r"(mask), "r"(bits)); return r;
}

// Two bytes of w, at the places that sel puts into the low bytes of the halves, times 2^-6 and the factor s of their
// block. 128 + low bits, over 64, then minus 2 or 4: both steps are exact, and so is the product, subnormal results
// included.
DEV u32 mxint8_pair_bf16(u32 w, u32 sel, u32 s) {
  const u32 x = prmt(w, 0, sel);
  const u32 low = mxint8_bits(x, 0x007F007Fu, 0x43004300u), sign = mxint8_bits(x, 0x00800080u, 0xC000C000u);
  return fma_bf16x2(fma_bf16x2(low, 0x3C803C80u, sign), s, 0x80008000u);
}
// Byte `at` of w times the scale s.
DEV f32 mxint8_f32(u32 w, u32 at, f32 s) {
  u32 x = prmt(w ^ 0x80808080u, 0x4B000000u, 0x7440 + at);
  return mul_rn(add_rn(word_f32(x), -8388736.0f), s);
}

// How a block is encoded: X, and the factor 2^(133-X) in two parts, both normal numbers; products that underflow are
// below one half. X is the field of the exponent of the largest magnitude, `top` its word: floor(log2) + 127, 0 for
// subnormal numbers, 255 for NaN and infinities; times 0 those are NaN, whose byte is 0.
struct mxint8_encoder {
  u32 X;
  f32 s0, s1;
};
DEV mxint8_encoder mxint8_encode(u32 top) {
  const u32 X = top >> 23, large = max(X, 7u);
  const mxint8_encoder e = {X, X == 255 ? 0.0f : word_f32((260 - large) << 23), word_f32((127 + large - X) << 23)};
  return e;
}
// x * 2^(133-X) rounded to even, at most 127.
DEV i8 mxint8_element(const mxint8_encoder& e, f32 x) { return max(f32_s8(mul_rn(mul_rn(x, e.s0), e.s1)), -127); }

// Stores V neighbouring elements, of which the first `left` are there and the others 0, and returns X of their block,
// whose 32 / V threads are neighbours; all lanes of a warp come here. Where `whole` all are there, at a multiple of V
// bytes.
template <int V> DEV u32 store_mxint8(u8* q, const f32 (&v)[V], bool whole, i64 left) {
  u32 top = 0;
#pragma unroll
  for (int j = 0; j < V; ++j) top = max(top, f32_word(v[j]) & 0x7FFFFFFFu);
#pragma unroll
  for (int m = 1; m < 32 / V; m *= 2) top = max(top, shfl_xor(top, m));
  const mxint8_encoder e = mxint8_encode(top);
  i8 w[V];
#pragma unroll
  for (int j = 0; j < V; ++j) w[j] = mxint8_element(e, v[j]);
  if constexpr (V >= 4) store_words((i8*)q, w, whole, left);
  else if (left > 0) *q = w[0];
  return e.X;
}
