// SPDX-License-Identifier: Apache-2.0
// norm: what the kernels of normalization share: the residual sum before them, gain and bias, and the two sinks, words
// and MXINT8 blocks. Every operation is spelled out, so that fused and separate kernels give the same bits.

// N values of x, or of x + add rounded to the format of x.
template <int F, int V, int N, int T, int ADD>
DEV void load_again(f32 (&v)[N], const void* x, const void* add, u32 t, u32 n) {
  load_row<F, V, N, T>(v, x, t, n, 0);
  if (ADD) {
    f32 w[N];
    load_row<F, V, N, T>(w, add, t, n, 0);
#pragma unroll
    for (int i = 0; i < N; ++i) v[i] = row_round<F>(add_rn(v[i], w[i]));
  }
}

// The same, and stored to sum where there is an addend.
template <int F, int V, int N, int T, int ADD>
DEV void load_sum(f32 (&v)[N], const void* x, const void* add, void* sum, u32 t, u32 n) {
  load_again<F, V, N, T, ADD>(v, x, add, t, n);
  if (ADD) {
#pragma unroll
    for (int c = 0; c < N / V; ++c) {
      const u32 at = row_column<V, T>(c, t);
      if (at < n) store_chunk<F, V>(sum, at, v + c * V);
    }
  }
}

// V values as bytes of MXINT8 blocks of 32 columns, block scales `step` bytes apart. The 32 / V threads of a block are
// neighbours; all 32 lanes of a warp come here. Columns from n on count as 0 and are not written.
template <int V> DEV void store_mxint8(u8* q, u8* scales, i64 step, u32 at, u32 n, const f32* v) {
  u32 top = 0;
#pragma unroll
  for (int i = 0; i < V; ++i) top = max(top, at < n ? f32_word(v[i]) & 0x7FFFFFFFu : 0);
#pragma unroll
  for (int m = 1; m < 32 / V; m *= 2) top = max(top, shfl_xor(top, m));
  if (at >= n) return;
  const u32 X = top >> 23;  // floor(log2) + 127, 0 for subnormals, 255 for NaN and Inf
  // 2^(127 - X), 0 for 255: then NaN and Inf times 0 are NaN, whose byte is 0.
  const f32 f = word_f32(X == 255 ? 0 : X == 254 ? 0x00400000u : (254 - X) << 23);
  u32 w[2] = {0, 0};
#pragma unroll
  for (int i = 0; i < V; ++i) {
    const i32 b = max(f32_s8(mul_rn(mul_rn(v[i], f), 64.0f)), -127);
    w[i / 4] |= ((u32)b & 0xFF) << (i % 4 * 8);
  }
  if (V == 8) st64(q + at, w64{w[0], w[1]});
  else if (V == 4) *(u32*)(q + at) = w[0];
  else q[at] = (u8)w[0];
  if (at % 32 == 0) scales[at / 32 * step] = (u8)X;
}

// V values to the sink: words of format F, or MXINT8 of the values rounded to F.
template <int F, int V, int QUANT> DEV void store_norm(void* y, u8* scales, i64 step, u32 at, u32 n, f32* v) {
  if (QUANT) {
#pragma unroll
    for (int i = 0; i < V; ++i) v[i] = row_round<F>(v[i]);
    store_mxint8<V>((u8*)y, scales, step, at, n, v);
  } else if (at < n) {
    store_chunk<F, V>(y, at, v);
  }
}

// V gains or biases from column `at`; `absent` where there is no such operand or no such column.
template <int F, int V> DEV void load_operand(f32* g, const void* p, u32 at, u32 n, f32 absent) {
#pragma unroll
  for (int i = 0; i < V; ++i) g[i] = absent;
  if (p && at < n) load_chunk<F, V>(g, p, at);
}

// What LayerNorm makes of values about the mean: v * scale * gain + bias. V values from column `at` of the row.
template <int GAIN, int V> struct layer_norm_end {
  const void *gain, *bias;
  f32 scale;
  DEV void apply(f32* y, const f32* v, u32 at, u32 n) const {
    f32 b[V];
    load_operand<GAIN, V>(y, gain, at, n, 1);
    load_operand<GAIN, V>(b, bias, at, n, 0);
#pragma unroll
    for (int i = 0; i < V; ++i) y[i] = fma_rn(mul_rn(v[i], scale), y[i], b[i]);
  }
};

// What RMSNorm makes of values: v * scale * gain, or times 1 + gain (UNIT), the first product rounded to F (EARLY).
template <int F, int GAIN, int V, int UNIT, int EARLY> struct rms_norm_end {
  const void* gain;
  f32 scale;
  DEV void apply(f32* y, const f32* v, u32 at, u32 n) const {
    load_operand<GAIN, V>(y, gain, at, n, UNIT ? 0 : 1);
#pragma unroll
    for (int i = 0; i < V; ++i) {
      const f32 x = mul_rn(v[i], scale);
      y[i] = mul_rn(EARLY ? row_round<F>(x) : x, UNIT ? add_rn(y[i], 1) : y[i]);
    }
  }
};

// Columns `from` and later of a row of n, as load_row brings them, to the sink.
template <int OUT, int V, int N, int T, int QUANT, class END>
DEV void store_row(const END& end, const f32 (&v)[N], void* y, u8* scales, i64 step, u32 t, u32 from, u32 n) {
#pragma unroll
  for (int c = 0; c < N / V; ++c) {
    const u32 at = from + row_column<V, T>(c, t);
    f32 g[V];
    end.apply(g, v + c * V, at, n);
    store_norm<OUT, V, QUANT>(y, scales, step, at, n, g);
  }
}

// The second pass over a long row: its values less `center`, in tiles of T * N columns, to the sink.
template <int IN, int OUT, int V, int N, int T, int ADD, int QUANT, class END>
DEV void store_long(const END& end, const void* x, const void* add, f32 center, void* y, u8* scales, i64 step, u32 t,
                    u32 n) {
#pragma unroll 1
  for (u32 from = 0; from < n; from += T * N) {
    const u64 skip = (u64)from * row_word<IN>::bytes;
    f32 v[N];
    load_again<IN, V, N, T, ADD>(v, (const u8*)x + skip, (const u8*)add + skip, t, n - from);
#pragma unroll
    for (int i = 0; i < N; ++i) v[i] = add_rn(v[i], -center);
    store_row<OUT, V, N, T, QUANT>(end, v, y, scales, step, t, from, n);
  }
}
