// SPDX-License-Identifier: Apache-2.0
// sdpa_join: joins the sums of sdpa_decode over the parts of the keys, in their order, and divides. Only parts with
// keys up to the position are read, the first in any case. A thread makes eight elements of a result; the grid is
// one-dimensional.
//   F        1 bf16, 2 f16
//   D        head dimension, a multiple of 8
// Arguments are those of sdpa_decode; all counts batches times heads.
//   threads: 128
//   blocks: 8
//   regs: 64
//   sass: LDG.E.128, STG.128, MUFU.EX2
//   uses: attn/flash.cuh, attn/decode.cuh
template <int F, int D>
__device__ __forceinline__ void sdpa_join(const f32* parts, const i32* position, u16* o, i64 all, u32 rows, u32 heads,
                                          i32 keys, i32 chunk, u32 splits, f32 scale, i64 o_b, i64 o_h) {
  const u64 item = (u64)blockIdx.x * 128 + threadIdx.x, row = item / (D / 8);
  const u32 d = item % (D / 8) * 8;
  if (row >= all) return;
  const u64 b = row / heads;
  const f32 c = mul_rn(scale, 1.44269504f);
  const i32 count = max((decode_limit(position, b, rows, keys) + chunk - 1) / chunk, 1);
  const int P = decode_part<D>::size;
  const f32* part = parts + row * splits * P;
  decode_sum y;
  decode_start(y, part[D]);
#pragma unroll 1
  for (i32 s = 1; s < count; ++s) y.top = fmaxf(y.top, part[s * P + D]);
#pragma unroll 1
  for (i32 s = 0; s < count; ++s, part += P) decode_add(y, part[D], part[D + 1], part + d, c);
  decode_store<F>(o + b * o_b + row % heads * o_h + d, y);
}
