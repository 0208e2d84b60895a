// SPDX-License-Identifier: Apache-2.0
// norm: what the kernels of normalization share: the residual sum before them, gain and bias, and the two sinks, words
// and MXINT8 blocks. Every operation is spelled out, so that fused and separate kernels give the same bits.

// v + add, rounded to format F.
template <int F, int V, int N, int T> DEV void add_row(f32 (&v)[N], const void* add, u32 t, u32 n) {
  f32 w[N];
  load_row<F, V, N, T>(w, add, t, n, 0);
#pragma unroll
  for (int i = 0; i < N; ++i) v[i] = row_round<F>(add_rn(v[i], w[i]));
}

// The same, and to sum.
template <int F, int V, int N, int T> DEV void add_store(f32 (&v)[N], const void* add, void* sum, u32 t, u32 n) {
  add_row<F, V, N, T>(v, add, t, n);
#pragma unroll
  for (int c = 0; c < N / V; ++c) {
    const u32 at = row_column<V, T>(c, t);
    if (at < n) store_chunk<F, V>(sum, at, v + c * V);
  }
}

// N values of x, or of x + add rounded to the format of x, which is stored to sum.
template <int F, int V, int N, int T, int ADD>
DEV void load_sum(f32 (&v)[N], const void* x, const void* add, void* sum, u32 t, u32 n) {
  load_row<F, V, N, T>(v, x, t, n, 0);
  if (ADD) add_store<F, V, N, T>(v, add, sum, t, n);
}

// Values of a tile of a long row become sums, which are kept in their place.
template <int F, int V, int N, int T, int KEEP>
DEV void add_long(f32 (&v)[N], const long_row<F, V, N, T, KEEP>& row, u32 from, const void* add, void* sum) {
  add_store<F, V, N, T>(v, add, sum, row.t, row.n - from);
  row.put(v, from);
}

// V values to the sink: words of format F, or MXINT8 of the values rounded to F, in blocks of 32 columns whose scales
// are `step` bytes apart. All 32 lanes of a warp come here; columns from n on are not written.
template <int F, int V, int QUANT> DEV void store_norm(void* y, u8* scales, i64 step, u32 at, u32 n, f32 (&v)[V]) {
  if (QUANT) {
#pragma unroll
    for (int i = 0; i < V; ++i) v[i] = at < n ? row_round<F>(v[i]) : 0;
    const u32 X = store_mxint8((u8*)y + at, v, at < n, at < n ? V : 0);
    if (at < n && at % 32 == 0) scales[at / 32 * step] = (u8)X;
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

// The second pass over a long row: its values less `center`, in tiles, to the sink.
template <int IN, int OUT, int V, int N, int T, int KEEP, int ADD, int QUANT, class END>
DEV void store_long(const END& end, const long_row<IN, V, N, T, KEEP>& row, const void* add, f32 center, void* y,
                    u8* scales, i64 step) {
#pragma unroll 1
  for (u32 from = 0; from < row.n; from += T * N) {
    f32 v[N];
    row.again(v, from, 0);
    if (ADD && !row.keeps(from)) {
      add_row<IN, V, N, T>(v, (const u8*)add + (u64)from * row_word<IN>::bytes, row.t, row.n - from);
    }
#pragma unroll
    for (int i = 0; i < N; ++i) v[i] = add_rn(v[i], -center);
    store_row<OUT, V, N, T, QUANT>(end, v, y, scales, step, row.t, from, row.n);
  }
}
