// SPDX-License-Identifier: Apache-2.0
// requant: from an exact sum to the code of an output format, in integers.

// v * 2^-n rounded to an integer, n >= 1, |v| < 2^63. R is the number of a rounding mode in ir/format: 0 even, 1 away,
// 2 up, 3 down, 4 halfzero, 5 floor, 6 ceil, 7 zero, 8 outward.
template <int R> DEV i64 round_right(i64 v, i32 n) {
  n = min(n, 64);  // from there on the magnitude is below one half
  const i64 q = v >> min(n, 63);
  const u64 rest = (u64)v & ~0ull >> (64 - n), half = 1ull << (n - 1);
  const bool negative = v < 0, above = rest > half, tie = rest == half, none = rest == 0;
  bool more = false;
  if (R == 0) more = above || (tie && (q & 1));
  if (R == 1) more = above || (tie && !negative);
  if (R == 2) more = above || tie;
  if (R == 3) more = above;
  if (R == 4) more = above || (tie && negative);
  if (R == 6) more = !none;
  if (R == 7) more = !none && negative;
  if (R == 8) more = !none && !negative;
  return q + more;
}

// v * 2^n; beyond 64 bits +-2^62, or exact mod 2^64 where WRAP.
template <int WRAP> DEV i64 shift_left(i64 v, i32 n) {
  const i64 most = 1ll << 62;
  if (n > 63) return WRAP || v == 0 ? 0 : v > 0 ? most : -most;
  const i64 w = (i64)((u64)v << n);
  if (WRAP) return w;
  return (w >> n) == v ? w : v > 0 ? most : -most;
}

// What becomes of the sums of an output channel: t = (sum << up) + bias; code = over(zero + RS(t * mul, shift)). The
// product has 63 bits with its sign aside. shift <= 0 shifts left.
struct Channel {
  i64 bias;
  i32 mul;  // 1 where the step is a power of two
  i16 shift, up;
};

// over(zero + RS(t, shift)): R rounds; WRAP 0 clamps to lo..hi, else its number of low bits is kept, as a signed number
// where lo < 0.
template <int R, int WRAP> DEV i32 code_of(i64 t, i32 shift, i32 zero, i32 lo, i32 hi) {
  const i64 q = shift > 0 ? round_right<R>(t, shift) : shift_left<WRAP>(t, -shift);
  if constexpr (WRAP) {
    const u64 low = (u64)(q + zero) << (64 - WRAP);
    return lo < 0 ? (i32)((i64)low >> (64 - WRAP)) : (i32)(low >> (64 - WRAP));
  } else {
    return (i32)(min(max(q, (i64)lo - zero), (i64)hi - zero) + zero);
  }
}

// The code of the sum of a channel.
template <int R, int WRAP> DEV i32 requantize(i32 sum, const Channel& c, i32 zero, i32 lo, i32 hi) {
  return code_of<R, WRAP>((((i64)sum << c.up) + c.bias) * c.mul, c.shift, zero, lo, hi);
}
