// SPDX-License-Identifier: Apache-2.0
// dequant: MXINT8 to bf16, 16 elements a thread: y[i] = q[i] * 2^(x[i/32]-133); n is a multiple of 16.
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

__device__ __forceinline__ u32 fma2(u32 a, u32 b, u32 c) {
  u32 d;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}

__device__ __forceinline__ u32 prmt(u32 a, u32 b, u32 s) {
  u32 d;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(s));
  return d;
}

__device__ __forceinline__ uint4 load16(const void *p) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  return v;
}

// pair is two of the bytes of q, chosen by sel, times the scale in both halves.
__device__ __forceinline__ u32 pair(u32 q, u32 sel, u32 scale) {
  u32 h = prmt(q, 0, sel);
  u32 a = (h & 0x007F007Fu) | 0x43004300u;
  u32 c = (h & 0x00800080u) | 0xC300C300u;
  return fma2(fma2(a, 0x3F803F80u, c), scale, 0x80008000u);
}

__device__ __forceinline__ u32 scale_of(u32 x) {
  u32 s = x >= 7 ? (x - 6) << 7 : 1u << (x & 7);
  if (x == 255) s = 0x7FC0;
  return s | s << 16;
}

extern "C" __global__ void __launch_bounds__(256) dequant(const u8 *q, const u8 *x, u16 *y, u64 n) {
  u64 i = ((u64)blockIdx.x * 256 + threadIdx.x) * 16;
  if (i >= n) return;
  uint4 v = load16(q + i);
  u32 s = scale_of(x[i / 32]);
  uint4 *out = reinterpret_cast<uint4 *>(y + i);
  out[0] = make_uint4(pair(v.x, 0x4140, s), pair(v.x, 0x4342, s), pair(v.y, 0x4140, s), pair(v.y, 0x4342, s));
  out[1] = make_uint4(pair(v.z, 0x4140, s), pair(v.z, 0x4342, s), pair(v.w, 0x4140, s), pair(v.w, 0x4342, s));
}
