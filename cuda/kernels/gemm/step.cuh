// SPDX-License-Identifier: Apache-2.0
// step: what a step of a product multiplies, 128 bytes of each row along k. F says of what: both operands bf16 (1) or
// both f16 (2), sums of fp32; rows of i8 (3) or u8 (4) with weights of i8, sums of 32 bits.

template <int F> DEV void mma_step(f32 (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {  // m16n8k16
  if (F == 1) mma_bf16(d, a, b0, b1);
  else mma_f16(d, a, b0, b1);
}

// F of the bytes of rows.
template <class A> struct bytes_of { static const int F = 3; };
template <> struct bytes_of<u8> { static const int F = 4; };

DEV void mma_u8s8(i32 (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {  // m16n8k32
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
template <int F> DEV void mma_step(i32 (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  if (F == 3) mma_s8(d, a, b0, b1);
  else mma_u8s8(d, a, b0, b1);
}

// acc += quarter h of the k of a stage. at: of lane_fragment in the rows of this warp; words: of this lane in the
// packed weights of its first group of 16 columns.
template <int F, class S, int MT, int N8> DEV void multiply_quarter(S (&acc)[MT][N8][4], u32 at, u32 words, int h) {
  u32 a[MT][4];
#pragma unroll
  for (int i = 0; i < MT; ++i) left_fragment_at(a[i], at, i, h);
#pragma unroll
  for (int g = 0; g < N8 / 2; ++g) {
    const w128 b = *(const w128*)(smem + words + (g * 4 + h) * 512);
#pragma unroll
    for (int i = 0; i < MT; ++i) {
      mma_step<F>(acc[i][2 * g], a[i], b.x, b.y);
      mma_step<F>(acc[i][2 * g + 1], a[i], b.z, b.w);
    }
  }
}
template <int F, class S, int MT, int N8> DEV void multiply_step(S (&acc)[MT][N8][4], u32 at, u32 words) {
#pragma unroll
  for (int h = 0; h < 4; ++h) multiply_quarter<F>(acc, at, words, h);
}
