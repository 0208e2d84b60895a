// SPDX-License-Identifier: Apache-2.0
// Integer operations as StableHLO defines them: sums, differences and products wrap, a shift by the width or more loses
// all bits, a division by 0 gives -1. Signed overflow and long shifts are undefined in C++, hence the functions.
typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;
typedef unsigned short bf16;  // floats of 16 bits, which are converted where they are read and written
typedef unsigned short f16;

template <class T> struct bits_of { typedef u32 type; };
template <> struct bits_of<i8> { typedef u8 type; };
template <> struct bits_of<u8> { typedef u8 type; };
template <> struct bits_of<i64> { typedef u64 type; };
template <> struct bits_of<u64> { typedef u64 type; };

#define LATHE_FN template <class T> __device__ __forceinline__ T
#define LATHE_U typedef typename bits_of<T>::type U

LATHE_FN add(T x, T y) { LATHE_U; return (T)((U)x + (U)y); }
LATHE_FN sub(T x, T y) { LATHE_U; return (T)((U)x - (U)y); }
LATHE_FN mul(T x, T y) { LATHE_U; return (T)((U)x * (U)y); }
LATHE_FN neg(T x) { LATHE_U; return (T)((U)0 - (U)x); }
LATHE_FN shl(T x, T y) {
  LATHE_U;
  return (U)y < 8 * sizeof(T) ? (T)((U)x << ((U)y & (8 * sizeof(T) - 1))) : (T)0;
}
LATHE_FN sar(T x, T y) {  // of signed types: the sign fills
  LATHE_U;
  return x >> ((U)y < 8 * sizeof(T) ? (U)y : (U)(8 * sizeof(T) - 1));
}
LATHE_FN shr(T x, T y) {  // zeros fill
  LATHE_U;
  return (U)y < 8 * sizeof(T) ? (T)((U)x >> ((U)y & (8 * sizeof(T) - 1))) : (T)0;
}
LATHE_FN quotient(T x, T y) { return y == (T)0 ? (T)-1 : y == (T)-1 && (T)-1 < (T)0 ? neg(x) : (T)(x / y); }
LATHE_FN remainder_of(T x, T y) { return y == (T)0 ? x : y == (T)-1 && (T)-1 < (T)0 ? (T)0 : (T)(x % y); }
LATHE_FN least(T x, T y) { return x < y ? x : y; }
LATHE_FN greatest(T x, T y) { return x > y ? x : y; }
LATHE_FN magnitude(T x) { return x < (T)0 ? neg(x) : x; }
LATHE_FN sign_of(T x) { return (T)((x > (T)0) - (x < (T)0)); }

// A NaN on either side is the result, unlike in fminf and fmaxf.
LATHE_FN float_least(T x, T y) { return x != x || x < y ? x : y; }
LATHE_FN float_greatest(T x, T y) { return x != x || x > y ? x : y; }

__device__ __forceinline__ f32 logistic(f32 x) { return 1.0f / (1.0f + expf(-x)); }
__device__ __forceinline__ f64 logistic(f64 x) { return 1.0 / (1.0 + exp(-x)); }

__device__ __forceinline__ f32 from_bf16(bf16 x) { return __int_as_float((int)x << 16); }
__device__ __forceinline__ f32 from_f16(f16 x) { f32 r; asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(x)); return r; }
__device__ __forceinline__ bf16 to_bf16(f32 x) { u16 r; asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r) : "f"(x)); return r; }
__device__ __forceinline__ f16 to_f16(f32 x) { u16 r; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(x)); return r; }
