// SPDX-License-Identifier: Apache-2.0
// mask: which keys a query may see, for scores and for values that are NaN or infinite.

// What the queries of a warp may see: the first of them, and where their rows of the mask start: that of query i at
// at + i * step values.
struct flash_view {
  const void* mask;
  i64 at, step;
  i32 row, queries, limit, diagonal;
};

// Query i sees none of the keys from here on.
template <int CAUSAL, int MASK> DEV i32 flash_end(const flash_view& view, i32 i) {
  if (MASK && i >= view.queries) return 0;  // the mask has no such row
  return CAUSAL ? min(view.limit, i + view.diagonal + 1) : view.limit;
}

// An element of a mask. Volatile, so that the loads of a tile are not all in flight at once: registers are scarce.
template <int F, int MASK> DEV u32 flash_mask_word(const u8* p) {
  u32 r;
  if (MASK == 1) asm volatile("ld.global.nc.u8 %0, [%1];" : "=r"(r) : "l"(p));
  else if (MASK == 2) asm volatile("ld.global.nc.b32 %0, [%1];" : "=r"(r) : "l"(p));
  else asm volatile("{ .reg .b16 t; ld.global.nc.b16 t, [%1]; cvt.u32.u16 %0, t; }" : "=r"(r) : "l"(p));
  return r;
}
template <int F, int MASK> DEV f32 flash_bias(u32 w) {
  return MASK == 2 ? word_f32(w) : F == 1 ? bf16_f32(w) : f16_f32(w);
}
template <int F, int MASK> DEV bool flash_allows(u32 w) {
  return MASK < 2 ? w != 0 : flash_bias<F, MASK>(w) != word_f32(0xFF800000u);
}

// -Inf to the scores of keys that are not allowed; with MASK 2 or 3 the others become score * scale + bias. s as in
// flash.cuh; its first column is key `from`. Returns whether the mask forbids one of this thread's keys.
template <int F, int BN, int WM, int CAUSAL, int MASK>
DEV bool flash_mask(f32 (&s)[WM][BN / 8][4], const flash_view& view, i32 from, f32 scale) {
  const int bytes = MASK == 1 ? 1 : MASK == 2 ? 4 : 2;
  const i32 mine = from + lane() % 4 * 2;
  bool forbids = false;
#pragma unroll
  for (int m = 0; m < WM; ++m) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const i32 i = view.row + m * 16 + h * 8 + lane() / 4, end = flash_end<CAUSAL, MASK>(view, i) - mine;
      const u8* line = (const u8*)view.mask + (view.at + i * view.step + mine) * bytes;
#pragma unroll
      for (int n = 0; n < BN / 8; ++n) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          f32& x = s[m][n][2 * h + e];
          f32 y = word_f32(0xFF800000u);
          if (n * 8 + e < end) {
            const u32 w = MASK ? flash_mask_word<F, MASK>(line + (n * 8 + e) * bytes) : 1;
            const bool allowed = flash_allows<F, MASK>(w);
            if (allowed) y = MASK < 2 ? x : fma_rn(x, scale, flash_bias<F, MASK>(w));
            forbids |= !allowed;
          }
          x = y;
        }
      }
    }
  }
  return forbids;
}

// The top bit of each half of w that is NaN or infinite.
template <int F> DEV u32 flash_special(u32 w) {
  return ((w & (F == 1 ? 0x7F807F80u : 0x7C007C00u)) + (F == 1 ? 0x00800080u : 0x04000400u)) & 0x80008000u;
}

// Whether this thread's part of a tile, as flash_load brought it, holds NaN or infinities.
template <int F, int D, int R, int T> DEV bool flash_finds(const u8* tile) {
  const int C = D / 8;
  u32 found = 0;
#pragma unroll 1
  for (u32 item = threadIdx.x; item < R * C; item += T) {
    const w128 w = *(const w128*)(tile + item / C * flash_row<D>::bytes + item % C * 16);
    found |= flash_special<F>(w.x) | flash_special<F>(w.y) | flash_special<F>(w.z) | flash_special<F>(w.w);
  }
  return found != 0;
}

// Adds the values of a tile that are NaN or infinite to the outputs of those queries that see their key.
template <int F, int D, int BN, int WM, int CAUSAL, int MASK>
DEV void flash_carry(f32 (&o)[WM][D / 8][4], const u8* tile, const flash_view& view, i32 from) {
  const int bytes = MASK == 1 ? 1 : MASK == 2 ? 4 : 2;
  u32 thread;
  asm volatile("mov.u32 %0, %tid.x;" : "=r"(thread));  // anew, so that no register holds what flash_mask has computed
  const i32 row = view.row + thread % 32 / 4;
#pragma unroll 1
  for (i32 j = 0; j < min(BN, view.limit - from); ++j) {
    u32 sees = 0;  // bit 2 * m + h
#pragma unroll 1
    for (int r = 0; r < 2 * WM; ++r) {
      const i32 i = row + r * 8;
      if (from + j >= flash_end<CAUSAL, MASK>(view, i)) continue;
      const u8* at = (const u8*)view.mask + (view.at + i * view.step + from + j) * bytes;
      const u32 w = MASK ? flash_mask_word<F, MASK>(at) : 1;
      sees |= (u32)flash_allows<F, MASK>(w) << r;
    }
#pragma unroll
    for (int d = 0; d < D / 8; ++d) {
      const u32 w = *(const u32*)(tile + j * flash_row<D>::bytes + d * 16 + thread % 4 * 4);
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        if (((flash_special<F>(w) >> (16 * e)) & 0x8000) == 0) continue;
        const u16 word = (u16)(w >> (16 * e));
        const f32 x = F == 1 ? bf16_f32(word) : f16_f32(word);
#pragma unroll
        for (int m = 0; m < WM; ++m)
#pragma unroll
          for (int h = 0; h < 2; ++h)
            if (sees >> (2 * m + h) & 1) o[m][d][2 * h + e] = add_rn(o[m][d][2 * h + e], x);
      }
    }
  }
}

// A barrier behind which the tile of values is there. 0 times NaN is NaN, so where some query may not see a key whose
// value is NaN or infinite, such values go to the outputs by themselves, and become 0 before the products. found: this
// thread's part of the tile holds one.
template <int F, int D, int BN, int WM, int T, int CAUSAL, int MASK>
DEV void flash_part(f32 (&o)[WM][D / 8][4], u8* tile, const flash_view& view, i32 from, bool found) {
  if (!__syncthreads_or(found)) return;
  flash_carry<F, D, BN, WM, CAUSAL, MASK>(o, tile, view, from);
  barrier();  // nobody reads the tile any more
#pragma unroll 1
  for (u32 item = threadIdx.x; item < BN * D / 2; item += T) {
    u32* word = (u32*)(tile + item / (D / 2) * flash_row<D>::bytes + item % (D / 2) * 4);
    const u32 special = flash_special<F>(*word) >> 15;
    *word &= ~(special * 0xFFFFu);
  }
  barrier();
}
