// SPDX-License-Identifier: Apache-2.0
// wide: integers times powers of two, rounded once to fp32.

// The fp32 word of v * 2^e, v not negative: the nearest, ties to even; or with `odd`, where inexact, the neighbour
// whose last bit is 1, from which a shorter float rounds correctly. Beyond fp32: infinity. e <= 300.
DEV u32 wide_word(u64 v, i32 e, bool odd) {
  if (v == 0) return 0;
  const i32 top = 63 - (i32)__clzll(v);
  const i32 drop = max(top - 23, -149 - e);  // bits below the last one of the result
  u64 m;
  if (drop <= 0) {
    m = v << -drop;
  } else if (drop > 63) {  // v < 2^63 is below half of the smallest number
    m = odd;
  } else {
    const u64 rest = v & ((1ull << drop) - 1), half = 1ull << (drop - 1);
    m = v >> drop;
    m = odd ? m | (rest != 0) : m + (rest > half || (rest == half && (m & 1)));
  }
  // The leading one adds 1 to the exponent field, which has room up to 511.
  return min((u32)(e + drop + 149) * 0x00800000u + (u32)m, 0x7F800000u);
}
DEV f32 wide_f32(i64 v, i32 e, bool odd) {
  return word_f32(v < 0 ? wide_word(-v, e, odd) | 0x80000000u : wide_word(v, e, odd));
}

// The value of the words, `stride` apart: the sum of word[i] * 2^(32*i - 266). The words are lost.
template <int WORDS> DEV f32 words_f32(i64* word, u32 stride, bool odd) {
  i64 carry = 0;
  for (int i = 0; i < WORDS; ++i) {
    carry += word[i * stride];
    word[i * stride] = (u32)carry;
    carry >>= 32;
  }
  const bool negative = carry < 0;
  u64 high = carry;
  if (negative) {  // the magnitude: all digits inverted, plus 1
    u64 one = 1;
    for (int i = 0; i < WORDS; ++i) {
      one += (u32)~word[i * stride];
      word[i * stride] = (u32)one;
      one >>= 32;
    }
    high = ~high + one;
  }
  // The leading two digits, and whether anything lies below them.
  u32 a = high >> 32, b = (u32)high, rest = 0;
  i32 at = WORDS;
  for (int i = WORDS - 1; i >= 0; --i) {
    const u32 digit = word[i * stride];
    if (a == 0) {
      a = b, b = digit, at = i;
    } else {
      rest |= digit;
    }
  }
  const u32 bits = wide_word((u64)a << 32 | b | (rest != 0), at * 32 - 266, odd);
  return word_f32(negative ? bits | 0x80000000u : bits);
}
