// SPDX-License-Identifier: Apache-2.0
// tile: what all matrix products share: the place of a block's tile, copies into shared memory, fragments.
// Rows of the left operand lie 128 bytes apart, their 16-byte chunks permuted so that ldmatrix meets no bank twice.
// Weights are packed (Go: Pack): 16 rows x 32 columns are 512 bytes in the order in which the lanes of a warp want
// them, 16 bytes each; such tiles follow each other along k, then along n. No swizzle is needed for them.

// The tile of block `tile`: eight tiles of rows together walk along the columns, so that both operands stay in L2.
template <int BM, int BN> DEV void tile_place(u32 tile, i32 M, i32 N, i32& m0, i32& n0) {
  const u32 rows = (M + BM - 1) / BM, cols = (N + BN - 1) / BN, group = tile / (8 * cols);
  const u32 first = group * 8, size = min(rows - first, 8u), at = tile - group * 8 * cols;
  m0 = (first + at % size) * BM;
  n0 = (at / size) * BN;
}

DEV u32 row_chunk(u32 row, u32 chunk) { return row * 128 + ((chunk ^ (row & 7)) << 4); }

// Copies 16 bytes from x + at on; zeros where that is not inside of x.
DEV void copy_inside(u32 to, const u8* x, i64 at, bool inside) {
  cp_async16(to, x + (inside ? at : 0), inside ? 16 : 0);
}

// Copies bytes k0 .. k0+127 of rows m0 .. m0+BM-1 of x, `pitch` bytes a row, to shared memory; what lies beyond the
// last row or the end of a row becomes 0. VEC: rows begin at multiples of 16 bytes; else elements of SIZE bytes.
template <int BM, int NT, int VEC, int SIZE>
DEV void load_rows(u32 to, const u8* x, i32 m0, i32 M, i64 pitch, i64 k0) {
  static_assert(BM * 8 % NT == 0, "every thread takes as many chunks");
  const i32 last = M - 1 - m0;
  if constexpr (VEC) {
#pragma unroll
    for (int i = 0; i < BM * 8 / NT; ++i) {
      const i32 c = threadIdx.x + i * NT, row = c >> 3, chunk = c & 7;
      const i64 k = k0 + chunk * 16;
      copy_inside(to + row_chunk(row, chunk), x, (m0 + row) * pitch + k, row <= last && k < pitch);
    }
  } else {
#pragma unroll 4
    for (int i = 0; i < BM * 32 / NT; ++i) {
      const i32 c = threadIdx.x + i * NT, row = c >> 5, at = (c & 31) * 4;
      u32 word = 0;
      const u8* p = x + (i64)(m0 + row) * pitch + k0 + at;
#pragma unroll
      for (int b = 0; b < 4; b += SIZE) {
        if (row <= last && k0 + at + b < pitch) {
          word |= (SIZE == 2 ? (u32) * (const u16*)(p + b) : (u32)p[b]) << (8 * b);
        }
      }
      *(u32*)(smem + to + row_chunk(row, at >> 4) + (at & 15)) = word;
    }
  }
}

// The pointers of a thread to its N chunks of 16 bytes in the first step, and the copies of a step, which advance them.
// NT threads copy N * NT / 8 rows of 128 bytes of a left operand, or N * NT chunks of groups of 16 packed rows that
// have STEP bytes a step, `steps` of them along k. Behind the last row and the last group stand copies of them, whose
// sums are not stored. NT is a multiple of 64, so that the chunks of a thread have one place in their rows.
template <int N, int NT> DEV void rows_start(const u8* (&p)[N], const u8* x, i32 m0, i32 M, i64 pitch, i64 k0) {
#pragma unroll
  for (int i = 0; i < N; ++i) {
    p[i] = x + min(m0 + (i32)threadIdx.x / 8 + i * (NT / 8), M - 1) * pitch + k0 + threadIdx.x % 8 * 16;
  }
}
template <int N, int NT> DEV void rows_next(u32 to, const u8* (&p)[N], bool inside) {
#pragma unroll
  for (int i = 0; i < N; ++i) {
    cp_async16(to + row_chunk(threadIdx.x / 8, threadIdx.x % 8) + i * (NT * 16), p[i], inside ? 16 : 0);
    p[i] += 128;
  }
}
template <int N, int NT, int STEP>
DEV void groups_start(const u8* (&p)[N], const u8* w, i32 n0, i32 groups, i32 steps, i32 from) {
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const i32 c = threadIdx.x + i * NT, group = min(n0 / 16 + c / (STEP / 16), groups - 1);
    p[i] = w + ((i64)group * steps + from) * STEP + c % (STEP / 16) * 16;
  }
}
template <int N, int NT, int STEP> DEV void groups_next(u32 to, const u8* (&p)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) {
    cp_async16(to + (threadIdx.x + i * NT) * 16, p[i], 16);
    p[i] += STEP;
  }
}

// The fragment of the left operand of rows r0 .. r0+15 and bytes 32*step .. 32*step+31 of a tile's rows.
DEV void left_fragment(u32 (&a)[4], u32 tile, u32 r0, u32 step) {
  const u32 l = lane();
  ldmatrix_x4(a, tile + row_chunk(r0 + (l & 15), 2 * step + (l >> 4)));
}

// The same, i * 16 rows further down, by the address of a lane: lane_fragment of rows r0 .. r0+15 beyond the start of
// the tile, a multiple of 128.
DEV u32 lane_fragment(u32 r0) {
  const u32 l = lane();
  return row_chunk(r0 + l % 16, l / 16);
}
DEV void left_fragment_at(u32 (&a)[4], u32 at, int i, int step) { ldmatrix_x4(a, (at ^ (step * 32)) + i * 2048); }

// The k tiles [from, to) of part `split` of `splits`.
DEV void split_range(i32 tiles, i32 splits, i32 split, i32& from, i32& to) {
  const i32 each = (tiles + splits - 1) / splits;
  from = min(split * each, tiles);
  to = min(from + each, tiles);
}
