// SPDX-License-Identifier: Apache-2.0
// row: rows of a matrix in the registers of a team of T = 32 * WARPS threads, and sums over them in one fixed order.
// Formats are numbers here, since bf16 and f16 are one C++ type: 0 is f32, 1 bf16, 2 f16.
// A thread holds N values, in chunks of V neighbours that one access moves: value i of thread t is column
// ((i / V) * T + t) * V + i % V. V is 1 where rows do not start at multiples of 16 bytes.

template <int F> struct row_word { static const int bytes = F ? 2 : 4; };

template <int F> DEV f32 row_widen(u32 w) {  // the format's word in the low bits
  return F == 0 ? word_f32(w) : F == 1 ? word_f32(w << 16) : f16_f32((u16)w);
}
template <int F> DEV u32 row_narrow(f32 x) { return F == 0 ? f32_word(x) : F == 1 ? f32_bf16(x) : f32_f16(x); }
template <int F> DEV u32 row_narrow2(f32 lo, f32 hi) { return F == 1 ? f32x2_bf16x2(lo, hi) : f32x2_f16x2(lo, hi); }
template <int F> DEV f32 row_round(f32 x) { return F == 0 ? x : row_widen<F>(row_narrow<F>(x)); }

// The V values of 16 bytes, and back, each rounded once.
template <int F, int V> DEV void widen_chunk(f32* v, w128 w) {
  const u32 words[4] = {w.x, w.y, w.z, w.w};
#pragma unroll
  for (int i = 0; i < V; ++i) v[i] = row_widen<F>(F == 0 ? words[i % 4] : words[i / 2 % 4] >> 16 * (i % 2) & 0xFFFF);
}
template <int F, int V> DEV w128 narrow_chunk(const f32* v) {
  u32 w[4];
#pragma unroll
  for (int h = 0; h < 4; ++h) w[h] = F == 0 ? f32_word(v[h % V]) : row_narrow2<F>(v[2 * h % V], v[(2 * h + 1) % V]);
  return w128{w[0], w[1], w[2], w[3]};
}

// V values from column `at`.
template <int F, int V> DEV void load_chunk(f32* v, const void* row, u32 at) {
  const u8* p = (const u8*)row + (u64)at * row_word<F>::bytes;
  if (V == 1) {
    v[0] = row_widen<F>(F ? *(const u16*)p : *(const u32*)p);
  } else if (F == 0) {
#pragma unroll
    for (int h = 0; h < V / 4; ++h) {
      const w128 w = ld128(p + 16 * h);
      v[4 * h] = word_f32(w.x), v[4 * h + 1] = word_f32(w.y);
      v[4 * h + 2] = word_f32(w.z), v[4 * h + 3] = word_f32(w.w);
    }
  } else {
    u32 w[4];
    if (V == 8) {
      const w128 q = ld128(p);
      w[0] = q.x, w[1] = q.y, w[2] = q.z, w[3] = q.w;
    } else {
      const w64 q = ld64(p);
      w[0] = q.x, w[1] = q.y;
    }
#pragma unroll
    for (int h = 0; h < V / 2; ++h) v[2 * h] = row_widen<F>(w[h] & 0xFFFF), v[2 * h + 1] = row_widen<F>(w[h] >> 16);
  }
}

// V values to column `at`, each rounded once.
template <int F, int V> DEV void store_chunk(void* row, u32 at, const f32* v) {
  u8* p = (u8*)row + (u64)at * row_word<F>::bytes;
  if (V == 1) {
    if (F) *(u16*)p = (u16)row_narrow<F>(v[0]);
    else *(f32*)p = v[0];
  } else if (F == 0) {
#pragma unroll
    for (int h = 0; h < V / 4; ++h)
      st128(p + 16 * h,
            w128{f32_word(v[4 * h]), f32_word(v[4 * h + 1]), f32_word(v[4 * h + 2]), f32_word(v[4 * h + 3])});
  } else if (V == 4) {
    st64(p, w64{row_narrow2<F>(v[0], v[1]), row_narrow2<F>(v[2], v[3])});
  } else {
    u32 w[4];
#pragma unroll
    for (int h = 0; h < 4; ++h) w[h] = row_narrow2<F>(v[2 * h], v[2 * h + 1]);
    st128(p, w128{w[0], w[1], w[2], w[3]});
  }
}

// Column of the first value of chunk c.
template <int V, int T> DEV u32 row_column(int c, u32 t) { return ((u32)c * T + t) * V; }

// Values of a thread in a tile of a row that does not fit into registers.
template <int V> struct row_tile { static const int values = V == 1 ? 8 : 4 * V; };

// n columns of a row, `fill` beyond them. n is a multiple of V.
template <int F, int V, int N, int T> DEV void load_row(f32 (&v)[N], const void* row, u32 t, u32 n, f32 fill) {
#pragma unroll
  for (int c = 0; c < N / V; ++c) {
    const u32 at = row_column<V, T>(c, t);
    if (at < n) {
      load_chunk<F, V>(v + c * V, row, at);
    } else {
#pragma unroll
      for (int i = 0; i < V; ++i) v[c * V + i] = fill;
    }
  }
}

// A long row, of which the first KEEP bytes stay in shared memory from byte `at` on: every thread copies its own chunks
// there, a few tiles before it reads them, and reads them there again. What lies behind is read from memory each time.
// Of rows that do not start at multiples of 16 bytes, V being 1, nothing is kept.
template <int F, int V, int N, int T, int KEEP> struct long_row {
  static_assert(KEEP == 0 || V * row_word<F>::bytes == 16 && KEEP % (T * N * row_word<F>::bytes) == 0, "whole tiles");
  static const int ahead = 4, width = T * N;  // tiles, columns of one
  const u8* row;
  u32 at, t, n;

  DEV u32 place(u32 from, int c) const { return (from + row_column<V, T>(c, t)) * row_word<F>::bytes; }
  DEV bool keeps(u32 from) const { return KEEP > 0 && from < KEEP / row_word<F>::bytes; }
  DEV void fetch(u32 from) const {
#pragma unroll
    for (int c = 0; c < N / V; ++c) {
      const u32 byte = place(from, c);
      if (keeps(from) && byte < n * row_word<F>::bytes) cp_async16(shared_addr(smem) + at + byte, row + byte, 16);
    }
    cp_async_commit();
  }
  DEV void start() const {
    if (KEEP > 0) {
#pragma unroll
      for (int i = 0; i < ahead; ++i) fetch(i * width);
    }
  }
  // The tile of column `from`, in ascending order; `fill` beyond the row.
  DEV void first(f32 (&v)[N], u32 from, f32 fill) const {
    if (KEEP > 0) {
      fetch(from + ahead * width);
      cp_async_wait<ahead>();
    }
    again(v, from, fill);
  }
  // The same once more, in any order.
  DEV void again(f32 (&v)[N], u32 from, f32 fill) const {
    if (!keeps(from)) {
      load_row<F, V, N, T>(v, row + (u64)from * row_word<F>::bytes, t, n - from, fill);
      return;
    }
#pragma unroll
    for (int c = 0; c < N / V; ++c) {
      const u32 byte = place(from, c);
      const bool there = byte < n * row_word<F>::bytes;
      const w128 w = there ? *(const w128*)(smem + at + byte) : w128{0, 0, 0, 0};
      widen_chunk<F, V>(v + c * V, w);
#pragma unroll
      for (int i = 0; i < V; ++i) v[c * V + i] = there ? v[c * V + i] : fill;
    }
  }
  // Other values in place of those of a tile that is kept.
  DEV void put(const f32 (&v)[N], u32 from) const {
#pragma unroll
    for (int c = 0; c < N / V; ++c) {
      const u32 byte = place(from, c);
      if (keeps(from) && byte < n * row_word<F>::bytes) *(w128*)(smem + at + byte) = narrow_chunk<F, V>(v + c * V);
    }
  }
};

// Of all threads of the team; every one gets the same bits. place: WARPS words of shared memory, used once.
template <int WARPS> DEV f32 team_sum(f32 x, f32* place) {
#pragma unroll
  for (int m = 16; m > 0; m /= 2) x = add_rn(x, shfl_xor(x, m));
  if (WARPS == 1) return x;
  if (lane() == 0) place[threadIdx.x / 32] = x;
  barrier();
  f32 all = place[0];
#pragma unroll
  for (int w = 1; w < WARPS; ++w) all = add_rn(all, place[w]);
  return all;
}
template <int WARPS> DEV f32 team_max(f32 x, f32* place) {  // NaN counts for nothing
#pragma unroll
  for (int m = 16; m > 0; m /= 2) x = fmaxf(x, shfl_xor(x, m));
  if (WARPS == 1) return x;
  if (lane() == 0) place[threadIdx.x / 32] = x;
  barrier();
  f32 all = place[0];
#pragma unroll
  for (int w = 1; w < WARPS; ++w) all = fmaxf(all, place[w]);
  return all;
}

// The sum of a thread's values, N a power of two, in pairs: rounding grows with the logarithm of N.
template <int N> struct row_pairs {
  static DEV f32 sum(const f32* v) { return add_rn(row_pairs<N / 2>::sum(v), row_pairs<N / 2>::sum(v + N / 2)); }
};
template <> struct row_pairs<1> {
  static DEV f32 sum(const f32* v) { return v[0]; }
};
template <int N> DEV f32 row_tree(const f32 (&v)[N]) { return row_pairs<N>::sum(v); }
