// SPDX-License-Identifier: Apache-2.0
// linear: y[m,n] = sum over k of a[m,k] * b[n,k] in bf16 with fp32 sums; tiles of 64x64x64, three stages of cp.async,
// swizzled rows of 128 bytes. n is a multiple of 64, k of 64; m is free.
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned char u8;

extern __shared__ __align__(128) u8 smem[];

__device__ __forceinline__ void copy16(u32 to, const void *from, u32 bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

__device__ __forceinline__ void load4(u32 (&d)[4], u32 at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(at) : "memory");
}

__device__ __forceinline__ void mma(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// at is the address of 16 bytes of a tile with rows of 128 bytes.
__device__ __forceinline__ u32 at(u32 base, int row, int chunk) { return base + row * 128 + ((chunk ^ (row & 7)) << 4); }

extern "C" __global__ void __launch_bounds__(128) linear(const u16 *a, const u16 *b, u16 *y, int m, int n, int k) {
  const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
  const int row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
  u32 base;
  asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(base) : "l"(smem));
  auto stage = [&](int s, int kt) {
    u32 to = base + s * 16384;
#pragma unroll
    for (int j = 0; j < 4; j++) {
      int i = j * 128 + tid, r = i >> 3, c = i & 7;
      int row = row0 + r;
      u32 bytes = row < m ? 16 : 0;
      copy16(at(to, r, c), a + (u64)(row < m ? row : 0) * k + kt * 64 + c * 8, bytes);
      copy16(at(to + 8192, r, c), b + (u64)(col0 + r) * k + kt * 64 + c * 8, 16);
    }
  };
  float acc[2][4][4] = {};
  const int tiles = k / 64;
#pragma unroll
  for (int s = 0; s < 2; s++) {
    if (s < tiles) stage(s, s);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  const int wr = (warp & 1) * 32, wc = (warp >> 1) * 32;
  for (int kt = 0; kt < tiles; kt++) {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    if (kt + 2 < tiles) stage((kt + 2) % 3, kt + 2);
    asm volatile("cp.async.commit_group;" ::: "memory");
    u32 from = base + (kt % 3) * 16384;
#pragma unroll
    for (int ks = 0; ks < 4; ks++) {
      u32 fa[2][4], fb[2][4];
#pragma unroll
      for (int i = 0; i < 2; i++) {
        load4(fa[i], at(from, wr + i * 16 + (lane & 15), ks * 2 + (lane >> 4)));
        load4(fb[i], at(from + 8192, wc + i * 16 + (lane & 7) + ((lane >> 4) << 3), ks * 2 + ((lane >> 3) & 1)));
      }
#pragma unroll
      for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) mma(acc[i][j], fa[i], fb[j >> 1][(j & 1) * 2], fb[j >> 1][(j & 1) * 2 + 1]);
    }
  }
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
      for (int h = 0; h < 2; h++) {
        int row = row0 + wr + i * 16 + (lane >> 2) + h * 8, col = col0 + wc + j * 8 + (lane & 3) * 2;
        u32 v;
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(v) : "f"(acc[i][j][h * 2 + 1]), "f"(acc[i][j][h * 2]));
        if (row < m) *(u32 *)(y + (u64)row * n + col) = v;
      }
}
