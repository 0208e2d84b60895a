// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestShare: in random designs no kernel writes a buffer that holds a value somebody still reads.
func TestShare(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	saved := 0
	for range 500 {
		n := 3 + r.IntN(12)
		d := &Design{Buffers: make([]Buffer, n+2)}
		for i := range d.Buffers {
			d.Buffers[i].Bytes = 1 + r.Int64N(40)
		}
		d.Inputs = []Port{{Codes: 1, Scales: -1}}
		d.Outputs = []Port{{Codes: n + 1, Scales: -1}}
		for i := 2; i < n+2; i++ { // unit i-2 writes buffer i
			u := Unit{}
			for range 1 + r.IntN(3) {
				u.Args = append(u.Args, Arg{Buffer: 1 + r.IntN(i-1)})
			}
			d.Units = append(d.Units, Unit{Args: append(u.Args, Arg{Buffer: i})})
		}
		old := &Design{Buffers: slices.Clone(d.Buffers)}
		for _, u := range d.Units {
			old.Units = append(old.Units, Unit{Args: slices.Clone(u.Args)})
		}
		d.share()
		holds := make([]int, len(d.Buffers)) // the old buffer whose value lies in each
		holds[d.Inputs[0].Codes] = 1
		for i, u := range d.Units {
			out := len(u.Args) - 1
			for k, a := range u.Args {
				was := old.Units[i].Args[k].Buffer
				if d.Buffers[a.Buffer].Bytes < old.Buffers[was].Bytes {
					t.Fatalf("buffer %d of %d bytes for %d bytes", a.Buffer, d.Buffers[a.Buffer].Bytes, old.Buffers[was].Bytes)
				}
				if k < out && holds[a.Buffer] != was {
					t.Fatalf("unit %d reads value %d where %d lies", i, was, holds[a.Buffer])
				}
				if k < out && a.Buffer == u.Args[out].Buffer {
					t.Fatalf("unit %d writes what it reads", i)
				}
			}
			holds[u.Args[out].Buffer] = old.Units[i].Args[out].Buffer
		}
		if holds[d.Outputs[0].Codes] != n+1 || holds[d.Inputs[0].Codes] != 1 {
			t.Fatal("the output or the input is overwritten")
		}
		saved += len(old.Buffers) - len(d.Buffers)
	}
	if saved == 0 {
		t.Error("nothing was shared")
	}
}
