// SPDX-License-Identifier: Apache-2.0

package pointwise_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	"lathe/cuda/map"
	"lathe/internal/diag"
)

// TestTwice demands every bit, at the ends of threads and blocks.
func TestTwice(t *testing.T) {
	for _, n := range []int64{1, 1023, 1024, 1025, 5000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(n), 3))
			var x, want []byte
			for range n {
				v := math.Float32frombits(r.Uint32()&^(1<<23) | 1<<24) // neither NaN nor Inf
				x = binary.LittleEndian.AppendUint32(x, math.Float32bits(v))
				want = binary.LittleEndian.AppendUint32(want, math.Float32bits(2*v))
			}
			job := cudatest.Job{Buffers: []cudatest.Buffer{{Name: "x", Data: x}, {Name: "y", Bytes: 4 * n, Out: true}}}
			cudatest.Add(t, &job, pointwise.Twice{N: n}, plain(cuda.Buffer(0), cuda.Buffer(1)))
			y := cudatest.Run(t, job)[0]
			cudatest.Equal(t, "y", y, want, 4)
		})
	}
	if err := (pointwise.Twice{N: -1}).Valid(); diag.CodeOf(err) != "L0990" {
		t.Error(err)
	}
}

func TestTwiceGates(t *testing.T) {
	cudatest.Gates(t, cudatest.Plan(t, pointwise.Twice{N: 1}).Instances...)
}
