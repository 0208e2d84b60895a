// SPDX-License-Identifier: Apache-2.0
// softmax: a row of up to 1024 floats a warp, in registers; four rows a block.
extern "C" __global__ void __launch_bounds__(128) softmax(const float *x, float *y, int rows, int n) {
  int row = blockIdx.x * 4 + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (row >= rows) return;
  float v[32];
  float m = -__int_as_float(0x7F800000);
#pragma unroll
  for (int j = 0; j < 32; j++) {
    int c = j * 32 + lane;
    v[j] = c < n ? x[(long long)row * n + c] : -__int_as_float(0x7F800000);
    m = fmaxf(m, v[j]);
  }
  for (int d = 16; d; d >>= 1) m = fmaxf(m, __shfl_xor_sync(0xFFFFFFFFu, m, d));
  float s = 0;
#pragma unroll
  for (int j = 0; j < 32; j++) {
    v[j] = exp2f((v[j] - m) * 1.44269504f);
    s += v[j];
  }
  for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(0xFFFFFFFFu, s, d);
  float r = 1.0f / s;
#pragma unroll
  for (int j = 0; j < 32; j++) {
    int c = j * 32 + lane;
    if (c < n) y[(long long)row * n + c] = v[j] * r;
  }
}
