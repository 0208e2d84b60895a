// SPDX-License-Identifier: Apache-2.0
// warpgroups: what products of sm_90a share. The threads are two warpgroups that multiply and one that copies. Shared
// memory begins with what the epilogue stages, then come the stages, then their barriers: `full` ones, which await the
// bytes of a stage, and `empty` ones, at which the eight multiplying warps arrive.

// The first stage, at a multiple of 1024 bytes as the swizzle wants it; 20480 bytes before it are staged sums.
DEV u32 stages_start() { return (shared_addr(smem) + 20480 + 1023) & ~1023u; }

template <int STAGES> DEV void stages_init(u32 barriers) {
  if (threadIdx.x == 0) {
#pragma unroll
    for (int s = 0; s < STAGES; ++s) {
      mbar_init(barriers + 8 * s, 1);
      mbar_init(barriers + 8 * (STAGES + s), 8);
    }
    fence_async();
  }
  barrier();
}

// What the copying warpgroup does: for each step of each of the block's tiles copies(to, bar, k, m0, n0) starts the
// copies of BYTES into a stage of STAGE bytes that is empty.
template <int BM, int BN, int STAGES, int STAGE, int BYTES, class F>
DEV void produce(u32 base, u32 barriers, i32 M, i32 N, i32 steps, F copies) {
  registers_down<40>();
  if (threadIdx.x % 128 != 0) return;
  ring<STAGES> r = {0, 0};
  const u32 tiles = (M + BM - 1) / BM * ((N + BN - 1) / BN);
  for (u32 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    i32 m0, n0;
    tile_place<BM, BN>(tile, M, N, m0, n0);
    for (i32 k = 0; k < steps; ++k, r.next()) {
      const u32 bar = barriers + 8 * r.at;
      mbar_wait(bar + 8 * STAGES, r.parity ^ 1);
      mbar_expect(bar, BYTES);
      copies(base + r.at * STAGE, bar, k, m0, n0);
    }
  }
}

// What a multiplying warpgroup does for a tile: multiply(at, more) starts the products of a stage, `at` being its place
// in descriptors, and adds them to the sums from the second step on. Two steps are in flight.
template <int STAGES, int STAGE, class V, int N, class F>
DEV void consume(ring<STAGES>& r, u32 barriers, V (&sum)[N][4], i32 steps, F multiply) {
  u32 before = 0;
#pragma unroll 1
  for (i32 k = 0; k < steps; ++k, r.next()) {
    mbar_wait(barriers + 8 * r.at, r.parity);
    wgmma_fence();
    multiply(r.at * (STAGE >> 4), k > 0);
    wgmma_commit();
    wgmma_wait<1>();  // the step before has read its stage
    if (k > 0 && lane() == 0) mbar_arrive(before);
    before = barriers + 8 * (STAGES + r.at);
  }
  wgmma_wait<0>();
  held(sum);
  if (lane() == 0) mbar_arrive(before);
}

// act(gate) * value, the sums of rows n0+col and n0+col+1 of the weights, to where the column of the result is staged.
// The bias is loaded here and no earlier: registers are scarce.
template <int ACT> DEV void stage_gated(const Sink& s, f32* at, u32 col, i32 n0, f32 gate, f32 value) {
  if (s.bias != 0 && (i32)(n0 + col) / 2 < s.N) {
    const w64 bias = ld64(s.bias + n0 + col);
    gate += word_f32(bias.x), value += word_f32(bias.y);
  }
  at[col / 2] = activate<ACT>(gate) * value;
}

// Part c of the sums, by constant indices: registers have no others.
template <int P, int N> DEV void slice(f32 (&v)[P][4], const f32 (&sum)[N][4], int c) {
#pragma unroll
  for (int i = 0; i < N * 4; ++i) {
    if (i / (4 * P) == c) v[i / 4 % P][i % 4] = sum[i / 4][i % 4];
  }
}

// Stores sums of 128 rows from m0 on, those of a warpgroup being 64: 32 columns of the result at a time pass through
// shared memory.
template <int ACT, int GATE, class T, int N>
DEV void store_slices(const Sink& s, const f32 (&sum)[N][4], i32 m0, i32 n0) {
  const int WIDE = GATE ? 64 : 32, PITCH = Staging<32, GATE>::pitch;
  f32* at = (f32*)smem + (threadIdx.x / 32 * 16 + lane() / 4) * PITCH;
#pragma unroll 1
  for (int c = 0; c < N * 8 / WIDE; ++c) {
    f32 v[WIDE / 8][4];
    slice(v, sum, c);
#pragma unroll
    for (int i = 0; i < WIDE / 4; ++i) {
      const f32 x = v[i / 2][i % 2 * 2], z = v[i / 2][i % 2 * 2 + 1];
      f32* to = at + i % 2 * 8 * PITCH;
      const u32 col = i / 2 * 8 + lane() % 4 * 2;
      if (GATE) stage_gated<ACT>(s, to, col, n0 + c * WIDE, x, z);
      else *(w64*)(to + col) = w64{f32_word(x), f32_word(z)};
    }
    barrier_of<1, 256>();
    store_tile<128, 32, 256, ACT, GATE, T>(s, m0, (GATE ? n0 / 2 : n0) + c * 32);
    barrier_of<1, 256>();
  }
}

// The same of a transposed product: rows of sums are 128 columns of the result from n0 on, columns are its rows, of
// which 32 pass at a time.
template <int ACT, int GATE, class T, int N>
DEV void store_turned(const Sink& s, const f32 (&sum)[N][4], i32 m0, i32 n0) {
  const int COLS = GATE ? 64 : 128, PITCH = Staging<COLS, GATE>::pitch;
  const u32 row = threadIdx.x / 32 * 16 + lane() / 4, odd = lane() / 4 % 2;
  f32* at = (f32*)smem + lane() % 4 * 2 * PITCH;
#pragma unroll 1
  for (int c = 0; c < N / 4; ++c) {
    f32 v[4][4];
    slice(v, sum, c);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const f32 x = v[i / 2][i % 2 * 2], z = v[i / 2][i % 2 * 2 + 1];
      f32* to = at + i / 2 * 8 * PITCH;
      const u32 col = row + i % 2 * 8;
      if (GATE) {  // neighbouring columns are in lanes 4 apart; each takes one of their two rows
        const f32 other = shfl_xor(odd ? x : z, 4);
        stage_gated<ACT>(s, to + odd * PITCH, col - odd, n0, odd ? other : x, odd ? z : other);
      } else {
        to[col] = x;
        to[PITCH + col] = z;
      }
    }
    barrier_of<1, 256>();
    store_tile<32, COLS, 256, ACT, GATE, T>(s, m0 + c * 32, GATE ? n0 / 2 : n0);
    barrier_of<1, 256>();
  }
}
