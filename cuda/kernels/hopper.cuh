// SPDX-License-Identifier: Apache-2.0
// hopper: instructions of sm_90a: barriers in shared memory that count bytes, copies of boxes of tensors by the copy
// engine (TMA), and products by warpgroups, four warps that begin at a multiple of four.

// A tensor as the copy engine sees it: an argument of a kernel, encoded by the host (cuTensorMapEncodeTiled).
struct __align__(64) tensor_map { u64 words[16]; };

// A barrier is eight bytes of shared memory. A phase of it ends when `count` arrivals and all expected bytes are there;
// phases have parity 0, 1, 0, ...
DEV void mbar_init(u32 bar, u32 count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(bar), "r"(count) : "memory");
}
DEV void mbar_expect(u32 bar, u32 bytes) {  // arrives, and expects so many bytes in this phase
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(bar), "r"(bytes) : "memory");
}
DEV void mbar_arrive(u32 bar) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(bar) : "memory"); }
DEV void mbar_wait(u32 bar, u32 parity) {  // until the phase of this parity has ended
  u32 done;
  do {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(done) : "r"(bar), "r"(parity) : "memory");
  } while (done == 0);
}
// What this thread has written to shared memory, barriers included, is seen by the copy engine and the tensor cores.
DEV void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// A ring of N buffers: the next one and the parity of its phase.
template <int N> struct ring {
  u32 at, parity;
  DEV void next() {
    const bool last = at == N - 1;
    at = last ? 0 : at + 1;
    parity ^= last;
  }
};

// Copies the box of a tensor that begins at the given coordinates, innermost first, to shared memory; what is outside
// of the tensor becomes 0. All bytes of the box arrive at `bar`.
DEV void copy_box(u32 to, const tensor_map& t, i32 x, i32 y, u32 bar) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
      :: "r"(to), "l"(&t), "r"(x), "r"(y), "r"(bar) : "memory");
}
DEV void copy_box(u32 to, const tensor_map& t, i32 x, i32 y, i32 z, i32 w, u32 bar) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4, %5}], [%6];" :: "r"(to), "l"(&t), "r"(x), "r"(y), "r"(z), "r"(w), "r"(bar) : "memory");
}

// Fewer or more registers for each thread of a warpgroup, from here on.
template <int N> DEV void registers_down() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" :: "n"(N)); }
template <int N> DEV void registers_up() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(N)); }

// A barrier of COUNT threads; 0 is that of the whole block.
template <int ID, int COUNT> DEV void barrier_of() {
  asm volatile("bar.sync %0, %1;" :: "n"(ID), "n"(COUNT) : "memory");
}

// How a product finds an operand in shared memory: rows of 128 bytes, chunks of 16 permuted by the row (128-byte
// swizzle), groups of eight rows 1024 bytes apart; blocks of 64 columns `wide` bytes apart where columns are summed
// over no axis. An address of a tile is a multiple of 1024; 32 bytes more along a row are 2 more in the word.
DEV u64 operand(u32 at, u32 wide = 16) {
  return (u64)((at & 0x3FFFF) >> 4) | (u64)(wide >> 4) << 16 | (u64)(1024 >> 4) << 32 | 1ull << 62;
}

// Products run beside the threads: a fence before the first that reads registers which threads have written, a commit
// behind the last of a group, and a wait until at most N groups run. Sums may be touched only then; held() keeps the
// compiler from doing it earlier.
DEV void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DEV void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> DEV void wgmma_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(N) : "memory"); }
template <int N> DEV void held(f32 (&d)[N][4]) {
#pragma unroll
  for (int i = 0; i < N * 4; ++i) asm volatile("" : "+f"(d[i / 4][i % 4]) :: "memory");
}
template <int N> DEV void held(i32 (&d)[N][4]) {
#pragma unroll
  for (int i = 0; i < N * 4; ++i) asm volatile("" : "+r"(d[i / 4][i % 4]) :: "memory");
}
template <int N> DEV void held(u32 (&a)[N][4]) {
#pragma unroll
  for (int i = 0; i < N * 4; ++i) asm volatile("" : "+r"(a[i / 4][i % 4]) :: "memory");
}

// The operands of an instruction: numbers of registers, and the registers of sums, 16 and 64 at a time.
#define WG_R0 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
#define WG_R1 "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define WG_R2 "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47"
#define WG_R3 "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define WG_R4 "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79"
#define WG_R5 "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"
#define WG_R6 "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111"
#define WG_R7 "%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
#define WG_R88 "%80,%81,%82,%83,%84,%85,%86,%87"
#define WG_R64 WG_R0 "," WG_R1 "," WG_R2 "," WG_R3
#define WG_R128 WG_R64 "," WG_R4 "," WG_R5 "," WG_R6 "," WG_R7
#define WG_D4(C, i) C(d[i][0]), C(d[i][1]), C(d[i][2]), C(d[i][3])
#define WG_D16(C, i) WG_D4(C, i), WG_D4(C, i + 1), WG_D4(C, i + 2), WG_D4(C, i + 3)
#define WG_D32(C) WG_D16(C, 0), WG_D16(C, 4)
#define WG_D64(C) WG_D32(C), WG_D16(C, 8), WG_D16(C, 12)
#define WG_D88(C) WG_D64(C), WG_D16(C, 16), WG_D4(C, 20), WG_D4(C, 21)
#define WG_D128(C) WG_D64(C), WG_D16(C, 16), WG_D16(C, 20), WG_D16(C, 24), WG_D16(C, 28)
#define WG_ASM(SHAPE, R, A, B, KEEP, MORE, ...)                                                          \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, " KEEP ", 0; wgmma.mma_async.sync.aligned.m64" SHAPE      \
               " {" R "}, " A ", " B ", p" MORE "; }" : __VA_ARGS__)

// d = keep * d + a * b, 64 rows of a by N columns of b, keep 0 or 1. F is 1 for bf16, 2 for f16. Both operands lie in
// shared memory, or a in registers, as a fragment of m16n8k16 in each warp; rows of b are its columns, or, TRANS, rows
// are what is summed over. d lies as fragments of m16n8k16 do, 16 rows a warp.
#define WGMMA(N8, N, R, D, I0, I1, I2, I3, I4, I5, I6)                                                       \
  template <int F> DEV void wgmma(f32 (&d)[N8][4], u64 a, u64 b, u32 keep) {                                 \
    if constexpr (F == 1) WG_ASM("n" N "k16.f32.bf16.bf16", R, I0, I1, I2, ", 1, 1, 0, 0",                   \
                                 D("+f") : "l"(a), "l"(b), "r"(keep));                                       \
    else WG_ASM("n" N "k16.f32.f16.f16", R, I0, I1, I2, ", 1, 1, 0, 0", D("+f") : "l"(a), "l"(b), "r"(keep)); \
  }                                                                                                          \
  template <int F, int TRANS> DEV void wgmma(f32 (&d)[N8][4], const u32 (&a)[4], u64 b, u32 keep) {          \
    if constexpr (F == 1)                                                                                    \
      WG_ASM("n" N "k16.f32.bf16.bf16", R, "{" I0 "," I1 "," I2 "," I3 "}", I4, I5, ", 1, 1, " I6, D("+f")   \
             : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(keep), "n"(TRANS));                   \
    else                                                                                                     \
      WG_ASM("n" N "k16.f32.f16.f16", R, "{" I0 "," I1 "," I2 "," I3 "}", I4, I5, ", 1, 1, " I6, D("+f")     \
             : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(keep), "n"(TRANS));                   \
  }
WGMMA(32, "256", WG_R128, WG_D128, "%128", "%129", "%130", "%131", "%132", "%133", "%134")
WGMMA(22, "176", WG_R64 "," WG_R4 "," WG_R88, WG_D88, "%88", "%89", "%90", "%91", "%92", "%93", "%94")
WGMMA(16, "128", WG_R64, WG_D64, "%64", "%65", "%66", "%67", "%68", "%69", "%70")
WGMMA(8, "64", WG_R0 "," WG_R1, WG_D32, "%32", "%33", "%34", "%35", "%36", "%37", "%38")

// The same for bytes, 32 of each row, both operands in shared memory: b is signed, a unsigned where U is 1.
#define WGMMA_S8(N8, N, R, D, I0, I1, I2)                                                                  \
  template <int U> DEV void wgmma_s8(i32 (&d)[N8][4], u64 a, u64 b, u32 keep) {                            \
    if constexpr (U) WG_ASM("n" N "k32.s32.u8.s8", R, I0, I1, I2, "", D("+r") : "l"(a), "l"(b), "r"(keep)); \
    else WG_ASM("n" N "k32.s32.s8.s8", R, I0, I1, I2, "", D("+r") : "l"(a), "l"(b), "r"(keep));            \
  }
WGMMA_S8(32, "256", WG_R128, WG_D128, "%128", "%129", "%130")
WGMMA_S8(16, "128", WG_R64, WG_D64, "%64", "%65", "%66")
