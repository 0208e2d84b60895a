// SPDX-License-Identifier: Apache-2.0
// pipeline: y[t] = weighted sum of words of x[tiles * 16 rows][16 words], copied through three stages of shared memory by
// 64 threads; n <= 64 results are stored. One kernel is sound, and each of the others has one planted fault.
typedef unsigned int u32;
typedef unsigned long long u64;

enum Fault { SOUND, NO_WAIT, SHORT_WAIT, NO_BARRIER, EARLY_LOAD, WRONG_STAGE, WRONG_SWIZZLE, NO_TAIL };

__shared__ __align__(128) u32 stage[3][16 * 16];

__device__ __forceinline__ int chunk(int row, int c) { return row * 4 + (c ^ (row >> 1 & 3)); }

template <int F> __device__ __forceinline__ void load(const u32 *x, int kt) {
  int row = threadIdx.x / 4, c = threadIdx.x % 4;
  u32 to = (u32)__cvta_generic_to_shared(&stage[kt % 3][chunk(row, c) * 4]);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(x + kt * 256 + row * 16 + c * 4) : "memory");
}

template <int F> __device__ __forceinline__ void pipeline(const u32 *x, u32 *y, int tiles, int n) {
  int t = threadIdx.x;
  u32 sum = 0;
  for (int s = 0; s < 2; s++) {
    if (s < tiles) load<F>(x, s);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
#pragma unroll 1
  for (int kt = 0; kt < tiles; kt++) {
    if (F == SHORT_WAIT) asm volatile("cp.async.wait_group 2;" ::: "memory");
    else if (F != NO_WAIT) asm volatile("cp.async.wait_group 1;" ::: "memory");
    if (F == EARLY_LOAD && kt + 2 < tiles) load<F>(x, kt + 2);
    if (F != NO_BARRIER) __syncthreads();
    if (F != EARLY_LOAD && kt + 2 < tiles) load<F>(x, kt + 2);
    asm volatile("cp.async.commit_group;" ::: "memory");
    const u32 *from = stage[(F == WRONG_STAGE ? kt + 1 : kt) % 3];
#pragma unroll
    for (int r = 0; r < 4; r++) {
      int row = (3 - t / 16) * 4 + r, c = t % 16 / 4;  // what the other warp copied
      int at = F == WRONG_SWIZZLE ? row * 4 + (c ^ (row & 3)) : chunk(row, c);
      sum = sum * 3 + from[at * 4 + t % 4];
    }
  }
  if (F == NO_TAIL || t < n) y[t] = sum;
}

#define KERNEL(NAME, F)                                                                                          \
  extern "C" __global__ void __launch_bounds__(64) NAME(const u32 *x, u32 *y, int tiles, int n) {               \
    pipeline<F>(x, y, tiles, n);                                                                                 \
  }

KERNEL(sound, SOUND)
KERNEL(no_wait, NO_WAIT)
KERNEL(short_wait, SHORT_WAIT)
KERNEL(no_barrier, NO_BARRIER)
KERNEL(early_load, EARLY_LOAD)
KERNEL(wrong_stage, WRONG_STAGE)
KERNEL(wrong_swizzle, WRONG_SWIZZLE)
KERNEL(no_tail, NO_TAIL)
