// SPDX-License-Identifier: Apache-2.0
// integer: codes that are integers: fixed point, affine with a real scale and a zero point, and elements of MXINT
// blocks.

// The low W bits of a code as an integer.
template <int W, int SIGNED> DEV i64 low_bits(i64 c) {
  return SIGNED ? (i64)((u64)c << (64 - W)) >> (64 - W) : (i64)((u64)c << (64 - W) >> (64 - W));
}
DEV exact exact_int(i64 v, i32 exp) {
  exact e = {(u64)(v < 0 ? 0 - (u64)v : (u64)v), exp, v < 0, false, false};
  return e;
}

// fixed(W,F), ufixed(W,F), int(W), uint(W): q * 2^-F.
template <int W, int F, int SIGNED, int ROUND, int OVER> struct fixed_code {
  typedef typename word_for<W, SIGNED>::type word;
  static const bool blocks = false;
  DEV static exact decode(word c, const code_args&) { return exact_int(low_bits<W, SIGNED>((i64)c), -F); }
  DEV static word encode(const exact& v, const code_args& a) {
    if (v.nan) return 0;
    if (v.inf) return (word)infinite_integer<W, SIGNED, OVER>(v.neg);
    split_mag s = split(v.mag, -F - v.exp);
    round_mag<ROUND>(s, v.neg, a.word);
    return (word)fit_integer<W, SIGNED, OVER>(s.whole, s.big, v.neg);
  }
};

// int(W,z=Z)*S and uint(W,z=Z)*S: (q - Z) * S. F32: the quotient is rounded to fp32 before it is rounded to a code.
template <int W, int SIGNED, int ROUND, int OVER, int F32> struct affine_code {
  typedef typename word_for<W, SIGNED>::type word;
  static const bool blocks = false;
  DEV static exact decode(word c, const code_args& a) {
    exact q = exact_int(low_bits<W, SIGNED>((i64)c) - a.zero, 0), s = exact_f32(a.scale);
    if (q.mag == 0) return q;
    q.mag *= s.mag;  // 34 + 24 bits
    q.exp = s.exp;
    q.neg ^= s.neg;
    q.inf = s.inf;
    q.nan = s.nan;
    return q;
  }
  DEV static word encode(exact v, const code_args& a) {
    exact s = exact_f32(a.scale);
    const exact one = {1, 0, false, false, false};
    if (v.nan || s.inf || s.nan || s.mag == 0) {  // counts as 0
      v = exact_int(0, 0);
      s = one;
    }
    if (F32 && !v.inf) {
      const f32 q = f32_of_exact(quotient_odd(v, s));
      v = exact_f32(q);
      s = one;
    }
    const bool neg = v.neg != s.neg;
    if (v.inf) return (word)infinite_integer<W, SIGNED, OVER>(neg);
    split_mag p = quotient(v, s);
    round_mag<ROUND>(p, neg, a.word);
    if (OVER != WRAP && (p.big || p.whole >> 62)) return (word)infinite_integer<W, SIGNED, OVER>(neg);
    const i64 sum = (i64)(neg ? 0 - p.whole : p.whole) + a.zero;
    return (word)fit_integer<W, SIGNED, OVER>(sum < 0 ? 0 - (u64)sum : (u64)sum, false, sum < 0);
  }
};

// Elements of mxint(W,k): q * 2^-(W-2) * 2^(X-127), NaN where X = 255. encode is at scale 1: the block divides first.
template <int W, int ROUND> struct mxint_code {
  typedef typename word_for<W, 1>::type word;
  static const bool blocks = true;
  typedef fixed_code<W, W - 2, 1, ROUND, SYM> element;
  DEV static exact decode(word c, const code_args& a) {
    exact v = element::decode(c, a);
    v.exp += (i32)a.block - 127;
    v.nan = a.block == 255;
    return v;
  }
  DEV static word encode(const exact& v, const code_args& a) { return element::encode(v, a); }
};
