// SPDX-License-Identifier: Apache-2.0
// functions: what the compiler makes of calls, tables, local arrays, switches and the functions of the C library. Thread
// t computes the functions of x[t] into y[t * 16 + i].
__constant__ float table[8] = {1, 2, 4, 8, 16, 32, 64, -1};
__device__ int counter = 7;

__device__ __noinline__ float poly(float x, int n) {
  float s = 0;
  for (int i = 0; i < n; i++) s = s * x + i;
  return s;
}

extern "C" __global__ void functions(const float *x, float *y) {
  int t = threadIdx.x;
  float v = x[t];
  float *out = y + t * 16;
  out[0] = sinf(v);
  out[1] = expf(v);
  out[2] = logf(fabsf(v) + 1);
  out[3] = tanhf(v);
  out[4] = erff(v);
  out[5] = powf(fabsf(v), 1.7f);
  out[6] = v / 3.0f;
  out[7] = sqrtf(fabsf(v));
  out[8] = (float)(1.0 / (double)(v + 100.0f));
  out[9] = poly(v, t & 7);
  float local[8];
  for (int i = 0; i < 8; i++) local[(i * 3 + t) & 7] = i + v;
  out[10] = local[t & 7] + table[t & 7];
  switch (t & 7) {
  case 0: out[11] = 5; break;
  case 1: out[11] = v; break;
  case 2: out[11] = v * v; break;
  case 3: out[11] = v - 1; break;
  case 4: out[11] = sinf(v); break;
  case 5: out[11] = 1 / (v * v + 1); break;
  default: out[11] = -1;
  }
  long long big = (long long)(v * 1e9f);
  out[12] = (float)(big / (t + 3));
  out[13] = (float)((unsigned long long)(big * big) % 1000003ull);
  out[14] = fmodf(v, 1.5f);
  out[15] = (float)atomicAdd(&counter, 0) + (float)__popcll(big);
}
