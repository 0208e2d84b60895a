// SPDX-License-Identifier: Apache-2.0
// flash_mxint8: tiles of MXINT8 rows on their way to bfloat16 in shared memory. A thread copies chunks of 16 elements,
// and decodes those that it copied itself, so that nothing waits for another thread in between. `thread` counts those T
// that share a tile.

// Chunks of a thread in a tile of R rows; `even` where they have one place in their rows.
template <int D, int R, int T> struct flash_chunks {
  static const int count = (R * D / 16 + T - 1) / T;
  static const bool even = T % (D / 16) == 0 && R * D / 16 % T == 0;
};

// Starts copies of R rows of D elements, `step` bytes apart, to raw, and loads the scales of their blocks of 32, rows
// x_step bytes apart. Rows from `valid` on repeat another one, with a scale of 0: nobody sees them, but they must be
// finite, since 0 times infinity is NaN. valid is not 0.
template <int D, int R, int T>
DEV void flash_fetch(u32 raw, u32 (&scale)[flash_chunks<D, R, T>::count], const u8* q, const u8* X, i64 step,
                     i64 x_step, u32 valid, u32 thread = threadIdx.x) {
  const int C = D / 16;
  if constexpr (flash_chunks<D, R, T>::even) {
    const u32 first = thread / C, row = first < valid ? first : 0;
    q += row * step + thread % C * 16, X += row * x_step + thread % C / 2;
#pragma unroll
    for (int i = 0; i < flash_chunks<D, R, T>::count; ++i) {
      cp_async16(raw + (i * T + thread) * 16, q, 16);
      scale[i] = first + i * (T / C) < valid ? *X : 0;
      if (first + (i + 1) * (T / C) < valid) q += T / C * step, X += T / C * x_step;
    }
  } else {
#pragma unroll
    for (int i = 0; i < flash_chunks<D, R, T>::count; ++i) {
      const u32 item = i * T + thread, r = item / C, c = item % C;
      const bool there = r < valid;
      if (R * C % T != 0 && item >= R * C) break;
      cp_async16(raw + item * 16, q + (there ? r : 0) * step + c * 16, 16);
      scale[i] = there ? X[r * x_step + c / 2] : 0;
    }
  }
}

// Decodes what flash_fetch brought, exactly, into rows as flash_load leaves them. Says whether NaN may be among it,
// or -2^128, which bfloat16 has not: whether a scale is that large.
template <int D, int R, int T>
DEV bool flash_decode(u8* to, const u8* raw, const u32 (&scale)[flash_chunks<D, R, T>::count],
                      u32 thread = threadIdx.x) {
  const int C = D / 16, S = flash_row<D>::bytes;
  bool large = false;
#pragma unroll
  for (int i = 0; i < flash_chunks<D, R, T>::count; ++i) {
    const u32 item = i * T + thread;
    const u32 at = flash_chunks<D, R, T>::even ? thread / C * S + thread % C * 32 + i * (T / C * S)
                                               : item / C * S + item % C * 32;
    if (R * C % T != 0 && item >= R * C) break;
    large |= scale[i] >= 254;
    const w128 w = *(const w128*)(raw + item * 16);
    const u32 s = mxint8_factor_bf16(scale[i]);
    w128* row = (w128*)(to + at);
    row[0] = w128{mxint8_pair_bf16(w.x, 0x4140, s), mxint8_pair_bf16(w.x, 0x4342, s),
                  mxint8_pair_bf16(w.y, 0x4140, s), mxint8_pair_bf16(w.y, 0x4342, s)};
    row[1] = w128{mxint8_pair_bf16(w.z, 0x4140, s), mxint8_pair_bf16(w.z, 0x4342, s),
                  mxint8_pair_bf16(w.w, 0x4140, s), mxint8_pair_bf16(w.w, 0x4342, s)};
  }
  return large;
}
