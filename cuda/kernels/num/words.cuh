// SPDX-License-Identifier: Apache-2.0
// words: V neighbouring words of memory in registers, V * sizeof(T) a multiple of 4 bytes. Where `whole` all of them
// are there and aligned to their common size, up to 16 bytes; otherwise one by one, and only the first `left`.
template <int V, class T> DEV void load_words(T (&w)[V], const T* p, bool whole, i64 left) {
  const int N = V * sizeof(T) / 4;
  if (!whole) {
#pragma unroll
    for (int j = 0; j < V; ++j) w[j] = j < left ? p[j] : 0;
    return;
  }
  u32 r[N];
  if (N >= 4) {
#pragma unroll
    for (int k = 0; k + 3 < N; k += 4) {
      const w128 v = ld128((const u32*)p + k);
      r[k] = v.x, r[k + 1] = v.y, r[k + 2] = v.z, r[k + 3] = v.w;
    }
  } else if (N == 2) {
    const w64 v = ld64(p);
    r[0] = v.x, r[1] = v.y;
  } else {
    r[0] = *(const u32*)p;
  }
#pragma unroll
  for (int j = 0; j < V; ++j) {
    const int at = j * sizeof(T);
    w[j] = sizeof(T) == 8 ? (T)(r[at / 4] | (u64)r[(at / 4 + 1) % N] << 32) : (T)(r[at / 4] >> at % 4 * 8);
  }
}

template <int V, class T> DEV void store_words(T* p, const T (&w)[V], bool whole, i64 left) {
  const int N = V * sizeof(T) / 4;
  if (!whole) {
#pragma unroll
    for (int j = 0; j < V; ++j) {
      if (j < left) p[j] = w[j];
    }
    return;
  }
  u32 r[N];
#pragma unroll
  for (int k = 0; k < N; ++k) {
    if (sizeof(T) == 8) r[k] = (u32)((u64)w[k / 2] >> k % 2 * 32);
    if (sizeof(T) == 4) r[k] = (u32)w[k];
    if (sizeof(T) == 2) r[k] = (u32)(u16)w[2 * k % V] | (u32)(u16)w[(2 * k + 1) % V] << 16;
    if (sizeof(T) == 1) {
      r[k] = prmt((u32)(u8)w[4 * k % V] | (u32)(u8)w[(4 * k + 1) % V] << 8,
                  (u32)(u8)w[(4 * k + 2) % V] | (u32)(u8)w[(4 * k + 3) % V] << 8, 0x5410);
    }
  }
  if (N >= 4) {
#pragma unroll
    for (int k = 0; k + 3 < N; k += 4) st128((u32*)p + k, w128{r[k], r[k + 1], r[k + 2], r[k + 3]});
  } else if (N == 2) {
    st64(p, w64{r[0], r[1 % N]});
  } else {
    *(u32*)p = r[0];
  }
}
