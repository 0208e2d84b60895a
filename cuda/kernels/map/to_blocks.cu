// SPDX-License-Identifier: Apache-2.0
// to_blocks: values of any format to mxint(W,k): e is the exponent of the largest magnitude of a block, between -127
// and 127, X = e + 127, and each element x * 2^-e rounded once. Every bit is defined. A block of zeros has X = 0; one
// with NaN or an infinity has X = 255 and codes 0. For MXINT8 of floats along rows, quantize is faster.
//   FROM     a codec of cuda/num that is no block format
//   TO       mxint_code<W, ROUND>
//   WIDE     1 where there are 2^31 elements or more
// x and q form [outer][length][inner] and the blocks of k cut the middle axis, the last one short; X is
// [outer][blocks][inner]. scale and zero are those of an affine FROM, seed that of stochastic rounding, already mixed.
// A warp takes a block. The grid is one-dimensional.
//   threads: 256
//   regs: 64
//   sass: REDUX | CREDUX
//   uses: num/exact.cuh, num/float.cuh, num/integer.cuh
template <class FROM, class TO, int WIDE>
__device__ __forceinline__ void to_blocks(const void* x, void* q, u8* X, i64 outer, i64 length, i64 inner, i64 k,
                                          f32 scale, i64 zero, u32 seed) {
  typedef typename pick<WIDE, u64, u32>::type index;
  const index in_row = (index)((length + k - 1) / k), id = ((index)blockIdx.x * 256 + threadIdx.x) / 32;
  const index column = id % (index)inner, b = id / (index)inner % in_row, o = id / (index)inner / in_row;
  const index start = b * (index)k, left = (index)length - start;
  const index count = o >= (index)outer ? 0 : left < (index)k ? left : (index)k;  // redux needs all lanes
  const index first = (o * (index)length + start) * (index)inner + column;
  u32 top = 0;  // of a value other than 0 its exponent and 2^16; all ones for NaN and infinities
  for (index j = lane(); j < count; j += 32) {
    const code_args a = {scale, 127, zero};
    const exact v = FROM::decode(((const typename FROM::word*)x)[first + j * (index)inner], a);
    if (v.nan || v.inf) top = 0xFFFFFFFF;
    if (v.mag) top = max(top, (u32)(v.exp + bit_length(v.mag) - 1 + 65536));
  }
  top = redux_max(top);
  const bool special = top == 0xFFFFFFFF;
  const i32 e = min(max((i32)top - 65536, -127), 127);
  for (index j = lane(); j < count; j += 32) {
    const index at = first + j * (index)inner;
    const code_args a = {scale, 127, zero, stochastic_word(seed, (u32)at)};
    exact v = FROM::decode(((const typename FROM::word*)x)[at], a);
    v.exp -= e;
    ((typename TO::word*)q)[at] = special ? 0 : TO::encode(v, a);
  }
  if (count > 0 && lane() == 0) X[(o * in_row + b) * (index)inner + column] = special ? 255 : e + 127;
}
