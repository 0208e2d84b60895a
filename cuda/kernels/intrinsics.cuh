// SPDX-License-Identifier: Apache-2.0
// intrinsics: word types, and one line of PTX for each instruction that C++ has no name for. Stands before every
// kernel; nothing is included. Everything here assembles for sm_80 and later and is executed by cuda/ptx.
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef float f32;
typedef u16 bf16;  // the word of a bfloat16; arithmetic by the functions below
typedef u16 f16;   // the word of a binary16
struct __align__(16) w128 { u32 x, y, z, w; };
struct __align__(8) w64 { u32 x, y; };

extern __shared__ __align__(128) u8 smem[];  // dynamic shared memory, as many bytes as the header line `shared` says

#define DEV __device__ __forceinline__

// pick<C, A, B>::type is A where C is true, else B.
template <bool C, class A, class B> struct pick { typedef A type; };
template <class A, class B> struct pick<false, A, B> { typedef B type; };

// Words of floats.
DEV u32 f32_word(f32 x) { u32 r; asm("mov.b32 %0, %1;" : "=r"(r) : "f"(x)); return r; }
DEV f32 word_f32(u32 x) { f32 r; asm("mov.b32 %0, %1;" : "=f"(r) : "r"(x)); return r; }
DEV f32 bf16_f32(bf16 x) { return word_f32((u32)x << 16); }
DEV bf16 f32_bf16(f32 x) { u16 r; asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r) : "f"(x)); return r; }
DEV u32 f32x2_bf16x2(f32 lo, f32 hi) {
  u32 r; asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo)); return r;
}
DEV f32 f16_f32(f16 x) { f32 r; asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(x)); return r; }
DEV f16 f32_f16(f32 x) { u16 r; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(x)); return r; }
DEV u32 f32x2_f16x2(f32 lo, f32 hi) {
  u32 r; asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo)); return r;
}
DEV void store_f32(bf16* p, f32 x) { *p = f32_bf16(x); }
DEV void store_f32(f32* p, f32 x) { *p = x; }
// To nearest even, clamped to [-128, 127]; NaN becomes 0.
DEV i32 f32_s8(f32 x) { i32 r; asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(r) : "f"(x)); return r; }

// Arithmetic. The packed forms are spelled as fma, which sm_80 has; later targets get HADD2 and HMUL2 by themselves.
DEV u32 prmt(u32 a, u32 b, u32 sel) {
  u32 r; asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(sel)); return r;
}
DEV u32 fma_bf16x2(u32 a, u32 b, u32 c) {
  u32 r; asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r;
}
DEV u32 max_bf16x2(u32 a, u32 b) { u32 r; asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); return r; }
DEV f32 max_nan(f32 a, f32 b) {  // keeps NaN
  f32 r; asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r;
}
DEV f32 min_nan(f32 a, f32 b) { f32 r; asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
DEV f32 fma_rn(f32 a, f32 b, f32 c) {
  f32 r; asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(r) : "f"(a), "f"(b), "f"(c)); return r;
}
DEV f32 mul_rn(f32 a, f32 b) {  // never fused
  f32 r; asm("mul.rn.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r;
}
DEV f32 add_rn(f32 a, f32 b) {  // never fused
  f32 r; asm("add.rn.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r;
}
DEV i32 dp4a(u32 a, u32 b, i32 c) {
  i32 r; asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r;
}
// Approximate functions: off by ulps between GPUs and the interpreter; never in an exact kernel.
DEV f32 ex2(f32 x) { f32 r; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }
DEV f32 lg2(f32 x) { f32 r; asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }
DEV f32 rcp(f32 x) { f32 r; asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }
DEV f32 rsqrt(f32 x) { f32 r; asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }
DEV f32 tanh_approx(f32 x) { f32 r; asm("tanh.approx.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }

// Global memory. ld_* read what nothing writes during the kernel and leave L1 alone; addresses aligned to the size.
DEV w128 ld128(const void* p) {
  w128 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.b32 {%0,%1,%2,%3}, [%4];"
      : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  return v;
}
DEV w64 ld64(const void* p) {
  w64 v; asm volatile("ld.global.nc.L1::no_allocate.v2.b32 {%0,%1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(p)); return v;
}
DEV void st128(void* p, w128 v) {
  asm volatile("st.global.v4.b32 [%0], {%1,%2,%3,%4};" :: "l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}
DEV void st64(void* p, w64 v) {
  asm volatile("st.global.v2.b32 [%0], {%1,%2};" :: "l"(p), "r"(v.x), "r"(v.y) : "memory");
}
DEV u32 ld_acquire(const u32* p) {
  u32 r; asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(r) : "l"(p) : "memory"); return r;
}
DEV void red_release_add(u32* p, u32 v) {
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" :: "l"(p), "r"(v) : "memory");
}

// Shared memory by its 32-bit address, and asynchronous copies of 16 bytes into it; those past `bytes` become 0.
DEV u32 shared_addr(const void* p) {
  u32 r; asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(r) : "l"(p)); return r;
}
DEV void cp_async16(u32 to, const void* from, u32 bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(to), "l"(from), "r"(bytes) : "memory");
}
DEV void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> DEV void cp_async_wait() { asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory"); }
DEV void ldmatrix_x4(u32 (&d)[4], u32 at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(at) : "memory");
}
DEV void ldmatrix_x2(u32 (&d)[2], u32 at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(d[0]), "=r"(d[1]) : "r"(at) : "memory");
}
DEV void ldmatrix_x4_trans(u32 (&d)[4], u32 at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(at) : "memory");
}
DEV void barrier() { __syncthreads(); }

// Tensor cores: d += a * b, fp32 or s32 sums; fragments as the PTX ISA lays them out.
DEV void mma_bf16(f32 (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {  // m16n8k16
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
DEV void mma_f16(f32 (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {  // m16n8k16
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
DEV void mma_s8(i32 (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {  // m16n8k32: K is one block of MXINT8
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Between the 32 lanes of a warp; all of them take part.
DEV u32 lane() { return threadIdx.x & 31; }
DEV u32 shfl_xor(u32 x, u32 mask) {
  u32 r; asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(r) : "r"(x), "r"(mask)); return r;
}
DEV u32 shfl_idx(u32 x, u32 from) {
  u32 r; asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(r) : "r"(x), "r"(from)); return r;
}
// Whether any lane says so: how a loop asks for what is rare, since budgets do not count what stands behind a vote.
DEV bool rare(bool x) { return __any_sync(0xFFFFFFFFu, x); }
DEV f32 shfl_xor(f32 x, u32 mask) { return word_f32(shfl_xor(f32_word(x), mask)); }
DEV f32 shfl_idx(f32 x, u32 from) { return word_f32(shfl_idx(f32_word(x), from)); }
DEV i32 redux_add(i32 x) {
  i32 r; asm volatile("redux.sync.add.s32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(x)); return r;
}
DEV u32 redux_max(u32 x) {
  u32 r; asm volatile("redux.sync.max.u32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(x)); return r;
}
