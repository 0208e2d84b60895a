// SPDX-License-Identifier: Apache-2.0
// epilogue: from the sums of a tile to what is stored: y = act(sum + bias) + residual, or act(g)*u + residual where
// rows of g and u alternate (gate). Computed in fp32, rounded once. A thread holds eight columns of a row, four lanes
// a block of MXINT8.

// f16 by a type of its own: its word is that of bf16.
struct half { f16 word; };
DEV void store_f32(half* p, f32 x) { p->word = f32_f16(x); }

// What becomes of the sums. T of the functions below: f32, bf16, half, or i8 for MXINT8.
struct Sink {
  const f32* bias;   // a number a column of sums; 0: none
  const void* r;     // residual, laid out as y: f32 or f16 where y is, else bf16; 0: none
  void* y;           // M rows of N elements, ldy apart
  u8* scales;        // of MXINT8: block b of row m at b*scale_block + m*scale_row
  i64 ldy, scale_block, scale_row;
  i32 M, N;
};

// 0 none, 1 relu (keeps NaN), 2 gelu by erf, 3 gelu by tanh, 4 silu, 5 relu of all, behind the residual.
template <int ACT> DEV f32 activate(f32 x) {
  if (ACT == 1) return x < 0 ? 0.0f : x;
  if (ACT == 2) return 0.5f * x * erfcf(x * -0.70710678118654752f);  // 1 + erf would cancel for negative x
  if (ACT == 3) return x * rcp(1.0f + ex2(-2.3022081987f * (x + 0.044715f * x * x * x)));
  if (ACT == 4) return x * rcp(1.0f + ex2(-1.4426950408889634f * x));
  return x;
}

// Words of 16 bits, as T has them: bf16 where it is no half.
template <class T> struct halves {
  DEV static f32 value(u32 w) { return word_f32(w << 16); }
  DEV static u32 pair(f32 lo, f32 hi) { return f32x2_bf16x2(lo, hi); }
};
template <> struct halves<half> {
  DEV static f32 value(u32 w) { return f16_f32((f16)w); }
  DEV static u32 pair(f32 lo, f32 hi) { return f32x2_f16x2(lo, hi); }
};

template <class T> DEV f32 load_f32(const void* p, i64 at) {
  return sizeof(T) == 4 ? ((const f32*)p)[at] : halves<T>::value(((const u16*)p)[at]);
}

// Adds the residual to eight columns from n on of row m.
template <class T> DEV void add_residual(const Sink& s, f32 (&v)[8], i32 m, i32 n) {
  if (s.r == 0 || m >= s.M) return;
  const i64 at = m * s.ldy + n;
  if (s.ldy % 8 == 0 && n + 8 <= s.N) {
    if (sizeof(T) == 4) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const w128 u = ld128((const f32*)s.r + at + 4 * h);
        v[4 * h] += word_f32(u.x), v[4 * h + 1] += word_f32(u.y);
        v[4 * h + 2] += word_f32(u.z), v[4 * h + 3] += word_f32(u.w);
      }
      return;
    }
    const w128 u = ld128((const bf16*)s.r + at);
    const u32 w[4] = {u.x, u.y, u.z, u.w};
#pragma unroll
    for (int j = 0; j < 8; ++j) v[j] += halves<T>::value(w[j / 2] >> j % 2 * 16);
    return;
  }
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    if (n + j < s.N) v[j] += load_f32<T>(s.r, at + j);
  }
}

template <int ACT> DEV void activate_last(f32 (&v)[8]) {
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    if (ACT == 5) v[j] = v[j] < 0 ? 0.0f : v[j];
  }
}

// Stores columns n .. n+7 of row m. All lanes of a warp come here, lane 4i to 4i+3 with the columns of one block.
template <class T> DEV void store_columns(const Sink& s, const f32 (&v)[8], i32 m, i32 n) {
  const bool whole = s.ldy % 8 == 0 && n + 8 <= s.N;
  const i64 at = m * s.ldy + n;
  if constexpr (sizeof(T) == 1) {
    f32 w[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) w[j] = n + j < s.N ? v[j] : 0;
    const u32 X = store_mxint8((u8*)s.y + at, w, whole && m < s.M, m < s.M ? s.N - n : 0);
    if (m < s.M && n < s.N && n % 32 == 0) s.scales[n / 32 * s.scale_block + m * s.scale_row] = X;
  } else {
    if (m >= s.M) return;
    if (!whole) {
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        if (n + j < s.N) store_f32((T*)s.y + at + j, v[j]);
      }
    } else if (sizeof(T) == 4) {
      st128((f32*)s.y + at, w128{f32_word(v[0]), f32_word(v[1]), f32_word(v[2]), f32_word(v[3])});
      st128((f32*)s.y + at + 4, w128{f32_word(v[4]), f32_word(v[5]), f32_word(v[6]), f32_word(v[7])});
    } else {
      st128((u16*)s.y + at, w128{halves<T>::pair(v[0], v[1]), halves<T>::pair(v[2], v[3]),
                                 halves<T>::pair(v[4], v[5]), halves<T>::pair(v[6], v[7])});
    }
  }
}

// Sums pass through shared memory: from the lanes that hold them to those that store 16 bytes of a row. COLS columns
// of the result in rows of pitch words, chosen so that no bank is met twice.
template <int COLS, int GATE> struct Staging { static const int pitch = COLS + (GATE ? 4 : 8); };

// Puts two neighbouring sums of column n0+col into row `row`; gated, they become one.
template <int COLS, int ACT, int GATE>
DEV void stage_pair(const Sink& s, u32 row, u32 col, i32 n0, f32 v0, f32 v1) {
  f32* tile = (f32*)smem + row * Staging<COLS, GATE>::pitch;
  if (GATE) {
    const bool bias = s.bias != 0 && (n0 + col) / 2 < s.N;
    const f32 g = v0 + (bias ? s.bias[n0 + col] : 0.0f), u = v1 + (bias ? s.bias[n0 + col + 1] : 0.0f);
    tile[col / 2] = activate<ACT>(g) * u;
  } else {
    *(w64*)(tile + col) = w64{f32_word(v0), f32_word(v1)};
  }
}

// Eight staged columns, without bank conflicts.
template <int COLS, int GATE> DEV void staged(f32 (&v)[8], u32 row, u32 chunk) {
  const f32* at = (const f32*)smem + row * Staging<COLS, GATE>::pitch + chunk * 8;
  const u32 swap = chunk >> 2 & 1;
  const w128 a = *(const w128*)(at + 4 * swap), b = *(const w128*)(at + 4 - 4 * swap);
  const u32 lo[4] = {a.x, a.y, a.z, a.w}, hi[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
  for (int j = 0; j < 4; ++j) v[j] = word_f32(swap ? hi[j] : lo[j]), v[4 + j] = word_f32(swap ? lo[j] : hi[j]);
}

// Adds the bias to eight columns from n on, a multiple of 8.
DEV void add_bias(const Sink& s, f32 (&v)[8], i32 n) {
  if (n + 8 <= s.N) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const w128 u = ld128(s.bias + n + 4 * h);
      v[4 * h] += word_f32(u.x), v[4 * h + 1] += word_f32(u.y);
      v[4 * h + 2] += word_f32(u.z), v[4 * h + 3] += word_f32(u.w);
    }
    return;
  }
#pragma unroll
  for (int j = 0; j < 8; ++j) v[j] += n + j < s.N ? s.bias[n + j] : 0.0f;
}

// Stores a tile of BM rows and COLS columns of the result from row m0, column n0 on.
template <int BM, int COLS, int NT, int ACT, int GATE, class T>
DEV void store_tile(const Sink& s, i32 m0, i32 n0) {
#pragma unroll 2
  for (int i = 0; i < (BM * COLS / 8 + NT - 1) / NT; ++i) {
    const u32 c = threadIdx.x + i * NT, row = c / (COLS / 8), chunk = c % (COLS / 8);
    if (BM * COLS / 8 % NT != 0 && c >= BM * COLS / 8) break;
    f32 v[8];
    staged<COLS, GATE>(v, row, chunk);
    const i32 n = n0 + chunk * 8;
    if (!GATE) {
      if (s.bias != 0) add_bias(s, v, n);
#pragma unroll
      for (int j = 0; j < 8; ++j) v[j] = activate<ACT>(v[j]);
    }
    add_residual<T>(s, v, m0 + row, n);
    activate_last<ACT>(v);
    store_columns<T>(s, v, m0 + row, n);
  }
}

// Stages the sums of warps that hold BM/WM rows and BN/WN columns each as fragments of mma; shared memory is free.
template <int BM, int BN, int WM, int WN, int ACT, int GATE, int MT, int J>
DEV void stage_sums(const Sink& s, const f32 (&acc)[MT][J][4], i32 n0) {
  const int COLS = GATE ? BN / 2 : BN;
  const u32 warp = threadIdx.x >> 5, l = lane();
#pragma unroll
  for (int i = 0; i < MT; ++i) {
#pragma unroll
    for (int j = 0; j < J; ++j) {
      const u32 row = warp / WN * (BM / WM) + i * 16 + (l >> 2), col = warp % WN * (BN / WN) + j * 8 + (l & 3) * 2;
      stage_pair<COLS, ACT, GATE>(s, row, col, n0, acc[i][j][0], acc[i][j][1]);
      stage_pair<COLS, ACT, GATE>(s, row + 8, col, n0, acc[i][j][2], acc[i][j][3]);
    }
  }
}

// Stages and stores them.
template <int BM, int BN, int WM, int WN, int ACT, int GATE, class T, int MT, int J>
DEV void store_sums(const Sink& s, const f32 (&acc)[MT][J][4], i32 m0, i32 n0) {
  stage_sums<BM, BN, WM, WN, ACT, GATE>(s, acc, n0);
  barrier();
  store_tile<BM, GATE ? BN / 2 : BN, 32 * WM * WN, ACT, GATE, T>(s, m0, GATE ? n0 / 2 : n0);
}
