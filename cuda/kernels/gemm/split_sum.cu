// SPDX-License-Identifier: Apache-2.0
// split_sum: adds the parts of a product whose k range was split, in their order, and ends it as epilogue.cuh says.
// parts are bare sums, `stride` apart, rows of `pitch`, a multiple of 16. A thread takes eight columns of the result,
// N of them a row; gated, sixteen sums make eight results. The grid is one-dimensional.
//   ACT GATE T   as epilogue.cuh has them
//   threads: 256
//   blocks: 4
//   regs: 80
//   sass: LDG.128
//   uses: num/words.cuh, num/mxint8.cuh, gemm/epilogue.cuh
template <int ACT, int GATE, class T>
__device__ __forceinline__ void split_sum(const f32* parts, i64 stride, i64 pitch, const f32* bias,
                                          const void* residual, void* y, u8* scales, i64 ldy, i64 scale_block,
                                          i64 scale_row, i32 M, i32 N, i32 splits) {
  const i32 chunks = (N + 31) / 32 * 4;  // whole blocks, so that four lanes stay together
  const i64 i = (i64)blockIdx.x * 256 + threadIdx.x;
  const i32 m = i / chunks, n = i % chunks * 8;
  const int WIDTH = GATE ? 16 : 8;
  f32 v[WIDTH];
#pragma unroll
  for (int j = 0; j < WIDTH; ++j) v[j] = 0;
  if (m < M && n < N) {
    const f32* at = parts + m * pitch + (i64)n * (WIDTH / 8);
#pragma unroll 2
    for (i32 s = 0; s < splits; ++s, at += stride) {  // four at a time spill on sm_100
#pragma unroll
      for (int j = 0; j < WIDTH; j += 4) {
        const w128 u = ld128(at + j);
        v[j] += word_f32(u.x), v[j + 1] += word_f32(u.y), v[j + 2] += word_f32(u.z), v[j + 3] += word_f32(u.w);
      }
    }
    if (bias != 0) {
#pragma unroll
      for (int j = 0; j < WIDTH; ++j) v[j] += n + j * 8 / WIDTH < N ? bias[n * (WIDTH / 8) + j] : 0.0f;
    }
  }
  const Sink sink = {bias, residual, y, scales, ldy, scale_block, scale_row, M, N};
  f32 out[8];
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    out[j] = GATE ? activate<ACT>(v[2 * j % WIDTH]) * v[(2 * j + 1) % WIDTH] : activate<ACT>(v[j]);
  }
  add_residual<T>(sink, out, m, n);
  activate_last<ACT>(out);
  store_columns<T>(sink, out, m, n);
}
