// SPDX-License-Identifier: Apache-2.0
// exact: a value as sign, 64-bit significand and power of two, and the one rounding by which it enters a set of codes.
// Every format decodes to it and encodes from it, so that a cast between any two formats rounds once.
// Rounding modes and overflow rules have the numbers of ir/format.
struct exact {  // (-1)^neg * mag * 2^exp, or an infinity, or NaN
  u64 mag;
  i32 exp;
  bool neg, inf, nan;
};
struct code_args {  // what travels beside a code
  f32 scale;        // of an affine format, or of binary and ternary
  u32 block;        // scale field of the block
  i64 zero;         // zero point
  u32 word;         // random word of stochastic rounding
};
enum { EVEN, AWAY, UP, DOWN, HALFZERO, FLOOR, CEIL, ZERO, OUTWARD, STOCHASTIC, GEOMETRIC };
enum { SAT, SYM, WRAP, TO_INF, TO_NAN };

// word_for<W, SIGNED>::type is how a code of W bits lies in memory: the smallest integer that holds it, sign-extended
// where signed.
template <int BYTES, int SIGNED> struct word_of {};
template <> struct word_of<1, 0> { typedef u8 type; };
template <> struct word_of<1, 1> { typedef i8 type; };
template <> struct word_of<2, 0> { typedef u16 type; };
template <> struct word_of<2, 1> { typedef i16 type; };
template <> struct word_of<4, 0> { typedef u32 type; };
template <> struct word_of<4, 1> { typedef i32 type; };
template <> struct word_of<8, 0> { typedef u64 type; };
template <> struct word_of<8, 1> { typedef i64 type; };
template <int W, int SIGNED> struct word_for {
  typedef typename word_of<W <= 8 ? 1 : W <= 16 ? 2 : W <= 32 ? 4 : 8, SIGNED>::type type;
};

DEV i32 bit_length(u64 v) { return 64 - __clzll(v); }

// mag * 2^-n as integer part, 32 bits of fraction and whether anything follows them. `big`: the integer part has more
// than 64 bits, of which `whole` holds the lowest.
struct split_mag {
  u64 whole;
  u32 frac;
  bool rest, big;
};
DEV split_mag split(u64 mag, i32 n) {
  split_mag s = {0, 0, false, false};
  if (n <= 0) {
    const i32 k = -n;
    if (k < 64) s.whole = mag << k;
    s.big = mag != 0 && bit_length(mag) + k > 64;
    return s;
  }
  if (n < 64) s.whole = mag >> n;
  if (n <= 32) {
    s.frac = (u32)(mag << (32 - n));
  } else if (n < 96) {
    s.frac = (u32)(mag >> (n - 32));
    s.rest = (mag << (96 - n)) != 0;
  } else {
    s.rest = mag != 0;
  }
  return s;
}

// The random word of element i, for a seed that is mixed already.
DEV u32 mix(u32 x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}
DEV u32 stochastic_word(u32 seed, u32 i) { return mix(seed ^ i); }

// Whether the magnitude of a value with this sign and fraction goes up by one.
template <int ROUND> DEV bool goes_up(bool odd, bool neg, u32 frac, bool rest, u32 word) {
  const u32 half = 0x80000000u;
  const bool over = frac > half || (frac == half && rest), tie = frac == half && !rest, some = frac != 0 || rest;
  switch (ROUND) {
    case EVEN: return over || (tie && odd);
    case AWAY: return over || tie;
    case UP: return over || (tie && !neg);
    case DOWN: return over || (tie && neg);
    case HALFZERO: return over;
    case FLOOR: return some && neg;
    case CEIL: return some && !neg;
    case OUTWARD: return some;
    case STOCHASTIC:  // floor(value + word / 2^32)
      return neg ? frac > word || (frac == word && rest) : (u64)frac + word >> 32 != 0;
  }
  return false;
}
template <int ROUND> DEV void round_mag(split_mag& s, bool neg, u32 word) {
  if (goes_up<ROUND>(s.whole & 1, neg, s.frac, s.rest, word) && ++s.whole == 0) s.big = true;
}

// The integer (-1)^neg * mag as a code of W bits, sign-extended where SIGNED; OVER beyond WRAP: WRAP + 1 + 2 * h
// saturates at 0 and h, one more at -h and h. An infinity is `big` with OVER = SAT.
template <int W, int SIGNED, int OVER> DEV u64 fit_integer(u64 mag, bool big, bool neg) {
  const u64 full = SIGNED ? (1ull << (W - 1)) - 1 : (1ull << (W & 63)) - (OVER == SYM ? 2 : 1);
  const u64 limits = OVER > WRAP ? (u64)(OVER - WRAP - 1) : 0;
  const u64 top = OVER > WRAP ? limits >> 1 : full;
  const u64 low = OVER > WRAP ? (limits & 1) * top : SIGNED ? top + (OVER != SYM) : 0;
  if (OVER == WRAP) {
    const u64 v = neg ? 0 - mag : mag;
    return SIGNED ? (u64)((i64)(v << (64 - W)) >> (64 - W)) : v << (64 - W) >> (64 - W);
  }
  const u64 limit = neg ? low : top;
  if (big || mag > limit) mag = limit;
  return neg ? 0 - mag : mag;
}
// The code of an infinity, which saturates also where finite values wrap.
template <int W, int SIGNED, int OVER> DEV u64 infinite_integer(bool neg) {
  return fit_integer<W, SIGNED, OVER == WRAP ? SAT : OVER>(0, true, neg);
}

// fp32 as an exact value and back, to nearest even.
DEV exact exact_f32(f32 x) {
  const u32 w = f32_word(x), f = w >> 23 & 255, m = w & 0x7FFFFF;
  exact v = {f ? m | 0x800000 : m, (i32)(f ? f : 1) - 150, w >> 31 != 0, f == 255 && m == 0, f == 255 && m != 0};
  return v;
}

// a / b as a value with a last bit that says whether anything follows: enough for one later rounding to 37 bits. Finite
// a, finite b other than 0.
DEV exact quotient_odd(exact a, exact b) {
  exact q = {0, 0, a.neg != b.neg, false, false};
  if (a.mag == 0) return q;
  const i32 up = 64 - bit_length(a.mag), down = __ffs((u32)b.mag) - 1;
  const u64 num = a.mag << up, den = b.mag >> down;
  q.mag = num / den;
  q.exp = a.exp - up - b.exp - down;
  if (num % den) {  // den >= 3, so that the quotient has 63 bits at most
    q.mag = q.mag << 1 | 1;
    --q.exp;
  }
  return q;
}

// a / b at the weight of integers, for b of up to 24 bits: exact in all that rounding looks at, and in the lowest 64
// bits of an integer part of any size.
DEV split_mag quotient(exact a, exact b) {
  split_mag s = {0, 0, false, false};
  const u64 den = b.mag;
  u64 whole = a.mag / den, rem = a.mag % den;
  const i32 d = a.exp - b.exp;
  if (d < 0) {  // (whole + rem / den) / 2^-d
    s = split(whole, -d);
    const i32 k = 32 + d;  // bits of the fraction that whole leaves open
    if (k > 0) {
      s.frac |= (u32)((rem << k) / den);
      s.rest = (rem << k) % den != 0;
    } else {
      s.rest |= rem != 0;
    }
    return s;
  }
  for (i32 left = d; left > 0; left -= 32) {  // long division, 32 bits a step
    const i32 k = left < 32 ? left : 32;
    s.big |= whole >> (64 - k) != 0;
    whole = (whole << k) + (rem << k) / den;
    rem = (rem << k) % den;
  }
  s.whole = whole;
  s.frac = (u32)((rem << 32) / den);
  s.rest = (rem << 32) % den != 0;
  return s;
}
