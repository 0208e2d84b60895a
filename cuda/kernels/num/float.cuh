// SPDX-License-Identifier: Apache-2.0
// float: codes with a sign, a field of exponent and a field of mantissa: IEEE 754, the 8-bit floats of machine
// learning, minifloats with and without hidden bit, and powers of two.
enum { FINITE, IEEE, FN, FNUZ };  // what the top of the range means: numbers; infinities and NaN; one NaN; -0 is NaN

// float(E,M): hidden bit, subnormals, bias BIAS. OVER: SAT, TO_INF (KIND IEEE), TO_NAN (IEEE, FN, FNUZ).
template <int E, int M, int BIAS, int KIND, int ROUND, int OVER> struct float_code {
  typedef typename word_for<1 + E + M, 0>::type word;
  static const bool blocks = false;
  static const u32 TOP = (1u << E) - 1, SIGN = 1u << (E + M), MASK = (1u << M) - 1;
  static const u32 LARGEST = KIND == IEEE ? (TOP << M) - 1 : KIND == FN ? (TOP << M) + MASK - 1 : (TOP << M) + MASK;
  static const u32 NAN_CODE = KIND == IEEE ? TOP << M | 1u << (M - 1) : KIND == FN ? TOP << M | MASK : SIGN;
  DEV static exact decode(word c, const code_args&) {
    const u32 f = (u32)c >> M & TOP, m = (u32)c & MASK;
    exact v = {f ? m | 1ull << M : m, (i32)(f ? f : 1) - BIAS - M, ((u32)c & SIGN) != 0, false, false};
    if (KIND == IEEE && f == TOP) (m ? v.nan : v.inf) = true;
    if (KIND == FN && f == TOP && m == MASK) v.nan = true;
    if (KIND == FNUZ && (u32)c == SIGN) v.nan = true;
    return v;
  }
  DEV static word encode(const exact& v, const code_args& a) {
    if (v.nan) return (word)(KIND == FINITE ? 0 : NAN_CODE);
    const u32 sign = v.neg ? SIGN : 0;
    if (v.inf) return (word)beyond(sign);
    if (v.mag == 0) return (word)(KIND == FNUZ ? 0 : sign);
    i32 e = v.exp + bit_length(v.mag) - 1;
    if (e < 1 - BIAS) e = 1 - BIAS;
    split_mag s = split(v.mag, e - M - v.exp);
    round_mag<ROUND>(s, v.neg, a.word);
    const u64 code = ((u64)(u32)(e + BIAS - 1) << M) + s.whole;  // a carry moves to the next exponent
    if (code > LARGEST) return (word)beyond(sign);
    return (word)(KIND == FNUZ && code == 0 ? 0 : sign | (u32)code);
  }
  DEV static u32 beyond(u32 sign) {
    if (OVER == TO_INF) return sign | TOP << M;
    return OVER == TO_NAN ? NAN_CODE : sign | LARGEST;
  }
};
typedef float_code<8, 23, 127, IEEE, EVEN, TO_INF> fp32_code;
typedef float_code<8, 7, 127, IEEE, EVEN, TO_INF> bf16_code;
typedef float_code<5, 10, 15, IEEE, EVEN, TO_INF> fp16_code;
typedef float_code<5, 10, 15, IEEE, EVEN, SAT> fp16_sat_code;  // the largest finite number in place of an infinity
DEV f32 f32_of_exact(const exact& v) { return word_f32(fp32_code::encode(v, code_args())); }

// The code as a float: exact for fp32, bfloat16 and binary16, by the GPU's own conversion.
template <class FORMAT> DEV f32 widen(typename FORMAT::word c);
template <> DEV f32 widen<fp32_code>(u32 c) { return word_f32(c); }
template <> DEV f32 widen<bf16_code>(u16 c) { return bf16_f32(c); }
template <> DEV f32 widen<fp16_code>(u16 c) { return f16_f32(c); }

// The nearest code, ties to even, by the GPU's own conversion.
template <class FORMAT> DEV typename FORMAT::word narrow(f32 x);
template <> DEV u32 narrow<fp32_code>(f32 x) { return f32_word(x); }
template <> DEV u16 narrow<bf16_code>(f32 x) { return f32_bf16(x); }
template <> DEV u16 narrow<fp16_code>(f32 x) { return f32_f16(x); }

// dfloat(E,M): no hidden bit, k * 2^(f-BIAS-M). Of the codes of one value encode takes that with the smallest f.
template <int E, int M, int BIAS, int ROUND> struct dfloat_code {
  typedef typename word_for<1 + E + M, 0>::type word;
  static const bool blocks = false;
  static const u32 TOP = (1u << E) - 1, SIGN = 1u << (E + M), MASK = (1u << M) - 1;
  DEV static exact decode(word c, const code_args&) {
    exact v = {(u32)c & MASK, (i32)((u32)c >> M & TOP) - BIAS - M, ((u32)c & SIGN) != 0, false, false};
    return v;
  }
  DEV static word encode(const exact& v, const code_args& a) {
    if (v.nan) return 0;
    const u32 sign = v.neg ? SIGN : 0;
    if (v.inf) return (word)(sign | TOP << M | MASK);
    if (v.mag == 0) return (word)sign;
    i32 f = v.exp + bit_length(v.mag) + BIAS;
    if (f < 0) f = 0;
    split_mag s = split(v.mag, f - BIAS - M - v.exp);
    round_mag<ROUND>(s, v.neg, a.word);
    if (s.whole >> M) {
      s.whole >>= 1;
      ++f;
    }
    return (word)(sign | (f > (i32)TOP ? TOP << M | MASK : (u32)f << M | (u32)s.whole));
  }
};

// log(W): a sign and a field f of W-1 bits: 0 where f = 0, else 2^(f-BIAS). Ties and thresholds are those of the value,
// not of its logarithm, but for ROUND = GEOMETRIC: up from the square root of two on.
template <int W, int BIAS, int ROUND> struct log_code {
  typedef typename word_for<W, 0>::type word;
  static const bool blocks = false;
  static const u32 TOP = (1u << (W - 1)) - 1, SIGN = 1u << (W - 1);
  DEV static exact decode(word c, const code_args&) {
    const u32 f = (u32)c & TOP;
    exact v = {f != 0, (i32)f - BIAS, f != 0 && ((u32)c & SIGN), false, false};
    return v;
  }
  DEV static word encode(const exact& v, const code_args& a) {
    if (v.nan || (v.mag == 0 && !v.inf)) return 0;
    const u32 sign = v.neg ? SIGN : 0;
    if (v.inf) return (word)(sign | TOP);
    const i32 e = v.exp + bit_length(v.mag) - 1;
    split_mag s;
    bool up;
    if (e + BIAS >= 1) {  // the field, and how far towards the next power of two
      s = split(v.mag, e - v.exp);
      const u64 normal = v.mag << (64 - bit_length(v.mag));
      s.whole = (u64)(e + BIAS);
      up = ROUND == GEOMETRIC ? __umul64hi(normal, normal) >> 63
                              : goes_up<ROUND>(s.whole & 1, v.neg, s.frac, s.rest, a.word);
    } else {  // the fraction of the smallest power of two
      s = split(v.mag, 1 - BIAS - v.exp);
      up = goes_up<ROUND == GEOMETRIC ? EVEN : ROUND>(false, v.neg, s.frac, s.rest, a.word);
    }
    const u64 f = s.whole + up;
    return f == 0 ? 0 : (word)(sign | (f > TOP ? TOP : (u32)f));
  }
};
