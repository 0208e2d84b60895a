// SPDX-License-Identifier: Apache-2.0
// functions: fp32 functions of one and two values, and expressions made of them. NaN comes out as NaN everywhere; the
// activations have their limits at the infinities.

// Expressions: E::of(v) is the value at one element, v.x the inputs and v.s the scalars of the call.
struct chain_values { f32 x[4], s[4]; };
template <int I> struct arg { DEV static f32 of(const chain_values& v) { return v.x[I]; } };
template <int I> struct scalar { DEV static f32 of(const chain_values& v) { return v.s[I]; } };
template <class F, class A> struct apply { DEV static f32 of(const chain_values& v) { return F::of(A::of(v)); } };
template <class F, class A, class B> struct apply2 {
  DEV static f32 of(const chain_values& v) { return F::of(A::of(v), B::of(v)); }
};

struct fn_add { DEV static f32 of(f32 a, f32 b) { return add_rn(a, b); } };
struct fn_sub { DEV static f32 of(f32 a, f32 b) { return add_rn(a, -b); } };
struct fn_mul { DEV static f32 of(f32 a, f32 b) { return mul_rn(a, b); } };
struct fn_div { DEV static f32 of(f32 a, f32 b) { return __fdiv_rn(a, b); } };
struct fn_max { DEV static f32 of(f32 a, f32 b) { return max_nan(a, b); } };
struct fn_min { DEV static f32 of(f32 a, f32 b) { return min_nan(a, b); } };

struct fn_neg { DEV static f32 of(f32 x) { return -x; } };
struct fn_abs { DEV static f32 of(f32 x) { return fabsf(x); } };
struct fn_relu { DEV static f32 of(f32 x) { return max_nan(x, 0.0f); } };  // plain max would turn NaN into 0
struct fn_square { DEV static f32 of(f32 x) { return mul_rn(x, x); } };
struct fn_sqrt { DEV static f32 of(f32 x) { return __fsqrt_rn(x); } };
struct fn_exp { DEV static f32 of(f32 x) { return expf(x); } };
struct fn_tanh { DEV static f32 of(f32 x) { return tanhf(x); } };
struct fn_erf { DEV static f32 of(f32 x) { return erff(x); } };
struct fn_sigmoid {  // exp(-|x|) does not overflow, and keeps small results exact to the last bits
  DEV static f32 of(f32 x) {
    const f32 e = expf(-fabsf(x));
    return __fdiv_rn(x < 0.0f ? e : 1.0f, add_rn(1.0f, e));
  }
};
// max(x, 0) + log(1 + exp(-|x|)): no overflow, no cancellation. The maximum gives way to NaN in the other term.
struct fn_softplus { DEV static f32 of(f32 x) { return add_rn(fmaxf(x, 0.0f), log1pf(expf(-fabsf(x)))); } };
// x times a weight in [0, 1], -0 where the weight has vanished: -Inf times 0 would be NaN.
DEV f32 gated(f32 x, f32 weight) { return weight == 0.0f ? -0.0f : mul_rn(x, weight); }
struct fn_silu { DEV static f32 of(f32 x) { return gated(x, fn_sigmoid::of(x)); } };
struct fn_gelu_erf {  // x * (1 + erf(x / sqrt 2)) / 2, by the complement: 1 + erf cancels for negative x
  DEV static f32 of(f32 x) { return gated(x, mul_rn(0.5f, erfcf(mul_rn(x, -0.70710678f)))); }
};
struct fn_gelu_tanh {  // x * (1 + tanh u) / 2 = x * sigmoid(2u), u = sqrt(2/pi) * (x + 0.044715 x^3)
  DEV static f32 of(f32 x) {
    const f32 u2 = mul_rn(mul_rn(1.5957691f, x), fma_rn(mul_rn(0.044715f, x), x, 1.0f));
    return gated(x, fn_sigmoid::of(u2));
  }
};
struct fn_hardsigmoid {  // clamp(x / 6 + 1/2, 0, 1)
  DEV static f32 of(f32 x) { return min_nan(max_nan(fma_rn(x, 0.16666667f, 0.5f), 0.0f), 1.0f); }
};
struct fn_hardswish { DEV static f32 of(f32 x) { return gated(x, fn_hardsigmoid::of(x)); } };
