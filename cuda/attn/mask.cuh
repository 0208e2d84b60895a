// SPDX-License-Identifier: Apache-2.0
// mask: which keys a query may see.

// An element of a mask. Volatile, so that the loads of a tile are not all in flight at once: registers are scarce.
template <int F, int MASK> DEV u32 flash_mask_word(const u8* p) {
  u32 r;
  if (MASK == 1) asm volatile("ld.global.nc.u8 %0, [%1];" : "=r"(r) : "l"(p));
  else if (MASK == 2) asm volatile("ld.global.nc.b32 %0, [%1];" : "=r"(r) : "l"(p));
  else asm volatile("{ .reg .b16 t; ld.global.nc.b16 t, [%1]; cvt.u32.u16 %0, t; }" : "=r"(r) : "l"(p));
  return r;
}

// -Inf to the scores of keys that are not allowed; with MASK 2 or 3 the others become score * scale + bias. s as in
// flash.cuh: its first row is query `row`, its first column key `from`. The row of a query in the mask starts at
// at + query * step values.
template <int F, int BN, int WM, int CAUSAL, int MASK>
DEV void flash_mask(f32 (&s)[WM][BN / 8][4], const void* mask, i64 at, i64 step, i32 row, i32 from, i32 queries,
                    i32 limit, i32 diagonal, f32 scale) {
  const int bytes = MASK == 1 ? 1 : MASK == 2 ? 4 : 2;
  const i32 mine = from + lane() % 4 * 2;
#pragma unroll
  for (int m = 0; m < WM; ++m) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const i32 i = row + m * 16 + h * 8 + lane() / 4;
      i32 end = CAUSAL ? min(limit, i + diagonal + 1) : limit;
      if (MASK && i >= queries) end = 0;  // the mask has no such row
      end -= mine;
      const u8* line = (const u8*)mask + (at + i * step + mine) * bytes;
#pragma unroll
      for (int n = 0; n < BN / 8; ++n) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          f32& x = s[m][n][2 * h + e];
          f32 y = word_f32(0xFF800000u);
          if (n * 8 + e < end) {
            const u32 w = MASK ? flash_mask_word<F, MASK>(line + (n * 8 + e) * bytes) : 0;
            if (MASK == 0) y = x;
            else if (MASK == 1) y = w ? x : y;
            else y = fma_rn(x, scale, MASK == 2 ? word_f32(w) : F == 1 ? bf16_f32(w) : f16_f32(w));
          }
          x = y;
        }
      }
    }
  }
}
