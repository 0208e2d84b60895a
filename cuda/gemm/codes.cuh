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

// Stores a tile of BM rows and COLS columns of codes from row m0, column n0 on by NT threads. The sums of channels are
// staged as epilogue.cuh has it, as words of 32 bits; RAW 1 stores them as they are.
template <int BM, int COLS, int NT, int R, int WRAP, int RAW, class T>
DEV void store_coded(const void* channels, T* y, i64 ldy, i32 M, i32 N, i32 zero, i32 lo, i32 hi, i32 m0, i32 n0) {
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
    store_codes(y + m * ldy + n, code, N - n, ldy % (16 / sizeof(T)) == 0 && ldy % 8 == 0 && n + 8 <= N);
  }
}

// Stages and stores the sums of warps that hold BM/WM rows and BN/WN columns each as fragments of mma.
template <int BM, int BN, int WM, int WN, int R, int WRAP, int RAW, class T, int MT, int J>
DEV void store_coded_sums(const i32 (&acc)[MT][J][4], const void* channels, T* y, i64 ldy, i32 M, i32 N, i32 zero,
                          i32 lo, i32 hi, i32 m0, i32 n0) {
  f32 sum[MT][J][4];  // the same words
#pragma unroll
  for (int i = 0; i < MT * J * 4; ++i) {
    sum[i / (J * 4)][i / 4 % J][i % 4] = word_f32(acc[i / (J * 4)][i / 4 % J][i % 4]);
  }
  stage_sums<BM, BN, WM, WN, 0, 0>(Sink{}, sum, n0);
  barrier();
  store_coded<BM, BN, 32 * WM * WN, R, WRAP, RAW>(channels, y, ldy, M, N, zero, lo, hi, m0, n0);
}
