// SPDX-License-Identifier: Apache-2.0
// mxint8: scales and elements of MXINT8 blocks (OCP MX v1.0): 32 signed bytes q, one byte X, value q * 2^(X-133).
// Every pair is exact in bfloat16 and in fp32, except X = 255, which is NaN, and q = -128 with X = 254: -Inf.

// 2^(X-133) as the word of a bfloat16, subnormal below X = 7; NaN for 255.
DEV u32 mxint8_scale_bf16(u32 X) {
  u32 s = X >= 7 ? (X - 6) << 7 : 1u << (X & 7);
  return X == 255 ? 0x7FC0u : s;
}
DEV f32 mxint8_scale_f32(u32 X) { return word_f32(mxint8_scale_bf16(X) << 16); }

// Two bytes of w, at the places that sel puts into the low bytes of the halves, times the scale in both halves of s.
// 128 + low bits, then minus 128 or 256: both steps are exact, and so is the product, subnormal results included.
DEV u32 mxint8_pair_bf16(u32 w, u32 sel, u32 s) {
  u32 x = prmt(w, 0, sel);
  u32 low = (x & 0x007F007Fu) | 0x43004300u;
  u32 sign = (x & 0x00800080u) | 0xC300C300u;
  return fma_bf16x2(fma_bf16x2(low, 0x3F803F80u, sign), s, 0x80008000u);
}
// Byte `at` of w times the scale s.
DEV f32 mxint8_f32(u32 w, u32 at, f32 s) {
  u32 x = prmt(w ^ 0x80808080u, 0x4B000000u, 0x7440 + at);
  return mul_rn(add_rn(word_f32(x), -8388736.0f), s);
}
