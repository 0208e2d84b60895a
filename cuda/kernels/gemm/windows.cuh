// SPDX-License-Identifier: Apache-2.0
// windows: the pipeline of products whose rows are the windows of images, read where the images lie and never stored.
// k runs over the rows of a window, its columns, its channels: 128 bytes a step.

// A place within the windows, channel c of row ky and column kx; or how far one lies behind another.
struct Tap {
  i32 c, ky, kx;
  DEV void skip(const Tap& by, i32 C, i32 KW) {
    c += by.c;
    kx += by.kx;
    ky += by.ky;
    if (c >= C) c -= C, ++kx;
    if (kx >= KW) kx -= KW, ++ky;
  }
};
DEV Tap tap_of(i32 k, i32 C, i32 KW) { return Tap{k % C, k / C / KW, k / C % KW}; }

// Images x of elements T with the strides xn, xc, xh, xw, and the windows over them; outside: 16 bytes that stand
// beyond the images, or an address of which nothing is read, for zeros.
template <class T> struct Images {
  const T *x, *outside;
  i64 xn, xc, xh, xw;
  i32 H, W, C, OH, OW, KW, SH, SW, DH, DW, PT, PL;
};

// Copies N bytes, or zeros where they are not there.
template <int N> DEV void copy_async(u32 to, const void* from, bool there) {
  if constexpr (N == 16) {
    cp_async16(to, from, there ? 16 : 0);
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
        :: "r"(to), "l"(from), "n"(N), "r"(there ? N : 0) : "memory");
  }
}

// Runs body(stage, h) for every step of k and its quarters h: BM windows from m0 on lie there, as tile.cuh has rows,
// then BN rows of the packed weights w from n0 on. Of M windows and N rows, K elements each; behind the last ones stand
// copies of them, whose sums are not stored. VEC is how many elements are copied at once: where channels follow each
// other, as many of 4, 8 or 16 bytes as divide them, else 1. CODED: im.outside is read. At the end shared memory is
// free.
template <int BM, int BN, int NT, int STAGES, int VEC, bool CODED, class T, class B>
DEV void over_windows(const Images<T>& im, const u8* w, i32 M, i32 N, i32 K, i32 m0, i32 n0, B body) {
  const int LEFT = BM * 128, STAGE = LEFT + BN * 128, S = 128 / sizeof(T), E = 16 / sizeof(T), P = 4 / sizeof(T);
  const int XC = BM * 8 / NT, WC = BN * 8 / NT;  // chunks of 16 bytes that a thread copies a step
  static_assert(NT % 128 == 0, "the chunks of a thread have one place in their rows and groups");
  const i32 steps = (K + S - 1) / S, groups = (N + 15) / 16;
  const i32 row = threadIdx.x >> 3, chunk = threadIdx.x & 7;
  const u32 base = shared_addr(smem);
  i32 top[XC], left[XC];  // of the windows
  const T* origin[XC];    // their first pixels, which may lie outside of x
  const u8* right[WC];
#pragma unroll
  for (int i = 0; i < XC; ++i) {
    const i32 m = min(m0 + row + i * (NT / 8), M - 1), line = m / im.OW;
    top[i] = line % im.OH * im.SH - im.PT;
    left[i] = m % im.OW * im.SW - im.PL;
    origin[i] = im.x + line / im.OH * im.xn + top[i] * im.xh + left[i] * im.xw;
  }
  groups_start<WC, NT, 2048>(right, w, n0, groups, steps, 0);
  Tap tap = tap_of(chunk * E, im.C, im.KW);
  const Tap step = tap_of(S, im.C, im.KW), unit = tap_of(VEC, im.C, im.KW);
  const u32 outside = CODED ? *im.outside : 0;
  Tap at_tap = tap;  // of the next element
  auto each = [&](i32 k, i32 e, auto&& take) {  // what every row has at that element and place
    const i32 dy = at_tap.ky * im.DH, dx = at_tap.kx * im.DW;
    const bool there = k * S + chunk * E + e < K;
    i64 offset = dy * im.xh + dx * im.xw + (VEC > 1 ? at_tap.c : at_tap.c * im.xc);
    asm volatile("" : "+l"(offset));  // once, and not for each row that is inside
#pragma unroll
    for (int i = 0; i < XC; ++i) {
      const i32 iy = top[i] + dy, ix = left[i] + dx;
      take(i, there && (u32)iy < (u32)im.H && (u32)ix < (u32)im.W, origin[i] + offset);
    }
    at_tap.skip(unit, im.C, im.KW);
  };
  auto quarter = [&](i32 k, u32 stage, int h) {  // of the chunks of a step: 4 bytes of each
    const u32 to = stage + row_chunk(row, chunk) + h * 4;
    if constexpr (VEC > 1) {
      if (h * 4 % (VEC * sizeof(T)) == 0) {
        each(k, h * P, [&](int i, bool inside, const T* p) {
          copy_async<VEC * sizeof(T)>(base + to + i * (NT * 16), inside ? p : im.outside, inside || CODED);
        });
      }
    } else {
      u32 words[XC];
#pragma unroll
      for (int b = 0; b < P; ++b) {
        each(k, h * P + b, [&](int i, bool inside, const T* p) {
          const u32 v = inside ? (u32)*p : outside;
          words[i] = b ? words[i] | v << (b * 8 * sizeof(T)) : v;
        });
      }
#pragma unroll
      for (int i = 0; i < XC; ++i) *(u32*)(smem + to + i * (NT * 16)) = words[i];
    }
  };
  auto rest = [&](u32 stage) {  // of a step, behind its quarters
    tap.skip(step, im.C, im.KW);
    at_tap = tap;
    groups_next<WC, NT, 2048>(base + stage + LEFT, right);
  };
  for (int s = 0; s < STAGES - 1; ++s) {
    if (s < steps) {
#pragma unroll (VEC > 1 ? 4 : 1)
      for (int h = 0; h < 4; ++h) quarter(s, s * STAGE, h);
      rest(s * STAGE);
    }
    cp_async_commit();
  }
  u32 at = 0, next = (STAGES - 1) * STAGE;
#pragma unroll 1
  for (i32 k = 0; k < steps; ++k) {
    cp_async_wait<STAGES - 2>();
    barrier();
    const bool more = k + STAGES - 1 < steps;
    if constexpr (VEC > 1) {
      if (more) {
#pragma unroll
        for (int h = 0; h < 4; ++h) quarter(k + STAGES - 1, next, h);
        rest(next);
      }
      cp_async_commit();
#pragma unroll
      for (int h = 0; h < 4; ++h) body(at, h);
    } else {
#pragma unroll 1
      for (int h = 0; h < 4; ++h) {  // elements take registers, products hide how long they are on their way
        if (more) quarter(k + STAGES - 1, next, h);
        body(at, h);
      }
      if (more) rest(next);
      cp_async_commit();
    }
    next = at;
    at = at == (STAGES - 1) * STAGE ? 0 : at + STAGE;
  }
  barrier();
}
