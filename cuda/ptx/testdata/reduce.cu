// SPDX-License-Identifier: Apache-2.0
// block_sum: sums of 256 integers a block by shared memory and barriers, added up with an atomic.
extern "C" __global__ void __launch_bounds__(256) block_sum(const int *x, int *total, int n) {
  __shared__ int part[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  part[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (int d = 128; d; d >>= 1) {
    if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(total, part[0]);
}
