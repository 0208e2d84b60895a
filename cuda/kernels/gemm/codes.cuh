// SPDX-License-Identifier: Apache-2.0
// codes: from staged sums of bytes to the codes of a result.

// Eight codes as memory has them.
template <class T> DEV void store_codes(T* y, const i32 (&v)[8], i32 count, bool whole) {
  if (!whole) {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      if (j < count) y[j] = (T)v[j];
    }
  } else if (sizeof(T) == 4) {
    st128(y, w128{(u32)v[0], (u32)v[1], (u32)v[2], (u32)v[3]});
    st128(y + 4, w128{(u32)v[4], (u32)v[5], (u32)v[6], (u32)v[7]});
  } else {
    const int PER = 4 / sizeof(T);
    u32 w[8 / PER];
#pragma unroll
    for (int i = 0; i < 8 / PER; ++i) {
      w[i] = 0;
#pragma unroll
      for (int j = 0; j < PER; ++j) {
        w[i] |= ((u32)v[i * PER + j] & (0xFFFFFFFFu >> (32 - 8 * sizeof(T)))) << (8 * sizeof(T) * j);
      }
    }
    if constexpr (sizeof(T) == 1) st64(y, w64{w[0], w[1]});
    else st128(y, w128{w[0], w[1], w[2], w[3]});
  }
}

// Codes r of i8 (SUM 1) or u8 (2), laid out as a result, that are added to its codes: q becomes
// over(zero + RS(q * mul + r * factor + bias, shift)), clamped to lo..hi. SUM 0: nothing is added.
template <int R, int SUM> struct Added {
  const u8* r;
  i64 bias, mul, factor;
  i32 shift, zero, lo, hi;
  // To eight codes at `at`, of which so many are there.
  DEV void to(i32 (&code)[8], i64 at, i32 count) const {
    if constexpr (SUM > 0) {
      u32 w[2] = {0, 0};
      if (count >= 8 && at % 8 == 0) {
        const w64 v = ld64(r + at);
        w[0] = v.x, w[1] = v.y;
      } else {
#pragma unroll
        for (int j = 0; j < 8; ++j) w[j / 4] |= j < count ? r[at + j] << j % 4 * 8 : 0;
      }
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const u32 v = w[j / 4] >> j % 4 * 8;
        const i64 t = code[j] * mul + (SUM == 1 ? (i32)(i8)v : (i32)(u8)v) * factor + bias;
        code[j] = code_of<R, 0>(t, shift, zero, lo, hi);
      }
    }
  }
};

// Stores a tile of BM rows and COLS columns of codes from row m0, column n0 on by NT threads, with what is added. The
// sums of channels are staged as epilogue.cuh has it, as words of 32 bits; RAW 1 stores them as they are.
template <int BM, int COLS, int NT, int R, int WRAP, int RAW, class T, int SUM>
DEV void store_coded(const void* channels, T* y, i64 ldy, i32 M, i32 N, i32 zero, i32 lo, i32 hi, i32 m0, i32 n0,
                     const Added<R, SUM>& added) {
#pragma unroll 1
  for (int i = 0; i < BM * COLS / 8 / NT; ++i) {
    const u32 c = threadIdx.x + i * NT, row = c / (COLS / 8), chunk = c % (COLS / 8);
    const i32 m = m0 + row, n = n0 + chunk * 8;
    f32 v[8];
    staged<COLS, 0>(v, row, chunk);
    if (m >= M || n >= N) continue;
    i32 code[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      code[j] = (i32)f32_word(v[j]);
      if constexpr (!RAW) {
        const w128 u = ld128((const u8*)channels + (i64)min(n + j, N - 1) * 16);
        const Channel ch = {(i64)((u64)u.y << 32 | u.x), (i32)u.z, (i16)u.w, (i16)(u.w >> 16)};
        code[j] = requantize<R, WRAP>(code[j], ch, zero, lo, hi);
      }
    }
    added.to(code, m * ldy + n, N - n);
    store_codes(y + m * ldy + n, code, N - n, ldy % (16 / sizeof(T)) == 0 && ldy % 8 == 0 && n + 8 <= N);
  }
}

// Stages and stores the sums of warps that hold BM/WM rows and BN/WN columns each as fragments of mma.
template <int BM, int BN, int WM, int WN, int R, int WRAP, int RAW, class T, int SUM, int MT, int J>
DEV void store_coded_sums(const i32 (&acc)[MT][J][4], const void* channels, T* y, i64 ldy, i32 M, i32 N, i32 zero,
                          i32 lo, i32 hi, i32 m0, i32 n0, const Added<R, SUM>& added) {
  f32 sum[MT][J][4];  // the same words
#pragma unroll
  for (int i = 0; i < MT * J * 4; ++i) {
    sum[i / (J * 4)][i / 4 % J][i % 4] = word_f32(acc[i / (J * 4)][i / 4 % J][i % 4]);
  }
  stage_sums<BM, BN, WM, WN, 0, 0>(Sink{}, sum, n0);
  barrier();
  store_coded<BM, BN, 32 * WM * WN, R, WRAP, RAW>(channels, y, ldy, M, N, zero, lo, hi, m0, n0, added);
}
