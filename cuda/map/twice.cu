// SPDX-License-Identifier: Apache-2.0
// twice: y[i] = 2 * x[i], words of fp32. Exact, but for what becomes an infinity.
//   EACH     elements of a thread
// x and y have n words each. The grid is one-dimensional.
//   threads: 256
//   regs: 32
//   sass: LDG, STG
template <int EACH>
__device__ __forceinline__ void twice(const f32* x, f32* y, i64 n) {
#pragma unroll
  for (int k = 0; k < EACH; ++k) {
    const i64 i = ((i64)blockIdx.x * EACH + k) * 256 + threadIdx.x;
    if (i < n) y[i] = add_rn(x[i], x[i]);
  }
}
