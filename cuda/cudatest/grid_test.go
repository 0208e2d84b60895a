// SPDX-License-Identifier: Apache-2.0

package cudatest

import (
	"encoding/binary"
	"strings"
	"testing"

	"lathe/cuda"
	"lathe/cuda/ptx"
)

// gridKernels communicate between blocks: the sound ones by atomic accesses and fences, the others not.
const gridKernels = `
typedef unsigned u32;
extern "C" __global__ void histogram(const u32* x, u32* y) {  // y: 8 counters
  atomicAdd(&y[x[blockIdx.x * 32 + threadIdx.x] % 8], 1);
}
extern "C" __global__ void plain_histogram(const u32* x, u32* y) {
  if (threadIdx.x == 0) y[x[blockIdx.x * 32] % 8] += 1;
}
// scan: y[32 + b] is the sum of x over the first b + 1 blocks by the order in which they drew their tickets, y[8] the
// next ticket, y[96 + b] 1 where that sum is there.
template <int FENCE> __device__ void scan_of(const u32* x, u32* y) {
  __shared__ u32 ticket;
  if (threadIdx.x == 0) ticket = atomicAdd(&y[8], 1);
  __syncthreads();
  u32 sum = __reduce_add_sync(0xFFFFFFFFu, x[ticket * 32 + threadIdx.x]);
  if (threadIdx.x != 0) return;
  if (ticket > 0) {
    while (*(volatile u32*)&y[96 + ticket - 1] == 0) {}
    if (FENCE != 2) __threadfence();
    sum += y[32 + ticket - 1];
  }
  y[32 + ticket] = sum;
  if (FENCE != 1) __threadfence();
  *(volatile u32*)&y[96 + ticket] = 1;
}
extern "C" __global__ void scan(const u32* x, u32* y) { scan_of<0>(x, y); }
extern "C" __global__ void scan_unsaid(const u32* x, u32* y) { scan_of<1>(x, y); }
extern "C" __global__ void scan_unheard(const u32* x, u32* y) { scan_of<2>(x, y); }
// last: the block that comes last adds what the others have left, warp 0 speaking and hearing for all.
extern "C" __global__ void last(const u32* x, u32* y) {
  __shared__ u32 mine;
  y[32 + blockIdx.x * 64 + threadIdx.x] = x[blockIdx.x] + threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    mine = atomicAdd(&y[8], 1);
    __threadfence();
  }
  __syncthreads();
  if (mine != gridDim.x - 1) return;
  u32 sum = 0;
  for (u32 b = 0; b < gridDim.x; ++b) sum += y[32 + b * 64 + (63 - threadIdx.x)];
  if (threadIdx.x < 8) y[threadIdx.x] = sum;
}
extern "C" __global__ void stale(const u32* x, u32* y) {
  y[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  u32 v;
  asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(v) : "l"(y + threadIdx.x) : "memory");
  y[64 + threadIdx.x] = v;
}
extern "C" __global__ void warps(const u32* x, u32* y) {  // the second warp reads what the first writes
  if (threadIdx.x < 32) y[threadIdx.x] = x[threadIdx.x];
  else y[threadIdx.x] = y[threadIdx.x - 32];
}
extern "C" __global__ void same(const u32* x, u32* y) { y[0] = 7; }  // whoever comes last
`

// TestGrid demands that sound communication between blocks passes in every order of blocks, with the same result, and
// that what nothing orders is found.
func TestGrid(t *testing.T) {
	unit, err := Compiler(t).Compile(t.Context(), "grid.cu", gridKernels, cuda.PortablePTX)
	if err != nil {
		t.Fatal(err)
	}
	mod, err := ptx.Parse("grid.ptx", unit.PTX)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kernel        string
		blocks, warps uint32
		says          string
	}{
		{"histogram", 9, 1, ""}, {"scan", 9, 1, ""}, {"last", 5, 2, ""}, {"same", 3, 1, ""},
		{"plain_histogram", 9, 1, "no fence with atomic accesses"}, {"scan_unsaid", 9, 1, "no fence with atomic accesses"},
		{"scan_unheard", 9, 1, "no fence with atomic accesses"}, {"stale", 1, 2, "reads by .nc"},
		{"warps", 1, 2, "warp 0 of block 0 wrote"},
	} {
		var first []byte
		found := 0
		for _, o := range []ptx.Options{{Schedule: ptx.RunAhead}, {Schedule: ptx.Reverse, Blocks: ptx.Descending},
			{Schedule: ptx.Random, Blocks: ptx.Shuffled, Seed: 5}} {
			o.Grid = true
			y, err := onGrid(t, mod.Kernel(c.kernel), c.blocks, c.warps, o)
			switch {
			case err != nil && c.says != "" && strings.Contains(err.Error(), c.says):
				found++
			case err != nil:
				t.Errorf("%s: %v, want %q", c.kernel, err, c.says)
			case c.says == "" && first != nil && string(y) != string(first):
				t.Errorf("%s: %s", c.kernel, FirstDifference(y, first, 4))
			default:
				first = y
			}
		}
		if c.says != "" && found == 0 {
			t.Errorf("%s is not found", c.kernel)
		}
		if _, err := onGrid(t, mod.Kernel(c.kernel), c.blocks, c.warps, ptx.Options{}); err != nil {
			t.Errorf("%s without checks: %v", c.kernel, err)
		}
	}
}

// onGrid runs a kernel on 512 words of x and y, which begins as zeros.
func onGrid(t *testing.T, k *ptx.Kernel, blocks, warps uint32, o ptx.Options) ([]byte, error) {
	t.Helper()
	m, params := ptx.NewMachine(o), []byte(nil)
	x, y := make([]byte, 2048), make([]byte, 2048)
	for i := range 512 {
		binary.LittleEndian.PutUint32(x[4*i:], uint32(i*i))
	}
	var at uint64
	for _, data := range [][]byte{x, y} {
		var err error
		if at, err = m.Alloc(int64(len(data)), ptx.AllocOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := m.Write(at, data); err != nil {
			t.Fatal(err)
		}
		params = binary.LittleEndian.AppendUint64(params, at)
	}
	_, err := m.Launch(k, [3]uint32{blocks, 1, 1}, [3]uint32{32 * warps, 1, 1}, 0, params)
	if err == nil {
		err = m.Read(at, y)
	}
	return y, err
}
