// SPDX-License-Identifier: Apache-2.0

package cudatest

import (
	"fmt"
	"testing"

	"lathe/cuda"
)

// Place says where a buffer of a small job lies in one of a large job: in runs of Run bytes, Step apart, the first one
// At bytes from the start. Where Run is 0 the whole buffer is one run.
type Place struct{ At, Run, Step int64 }

// Far runs the last blocks of a job that no memory would hold on the data of a small one, and demands its results bit
// for bit. Of far only the kernels, launches and sizes of buffers are used, one launch a job; places are those of its
// buffers, and a buffer without one is as large as that of near. It returns the results.
func Far(t testing.TB, near, far Job, places map[string]Place) [][]byte {
	t.Helper()
	want := Run(t, near)
	far.Quick, far.First = near.Quick, blocks(far)-blocks(near)
	if far.First <= 0 {
		t.Fatalf("no block of the large job comes before the %d of the small one", blocks(near))
	}
	var names []string
	for i, b := range near.Buffers {
		if far.Buffers[i].Name != b.Name {
			t.Fatalf("buffer %d is %s in one job and %s in the other", i, b.Name, far.Buffers[i].Name)
		}
		size := far.Buffers[i].size()
		if far.Buffers[i] = b; b.Out {
			names = append(names, b.Name)
		}
		if place, ok := places[b.Name]; ok {
			far.Buffers[i] = b.moved(place, size)
		} else if size != b.size() {
			t.Fatalf("%s has %d bytes, %d in the small job, and no place", b.Name, size, b.size())
		}
	}
	got := Run(t, far)
	for i := range want {
		Equal(t, fmt.Sprintf("%s at the end of %d blocks", names[i], blocks(far)), got[i], want[i], 1)
	}
	return want
}

func blocks(j Job) int64 {
	g := j.Launches[0].Grid
	return int64(g[0]) * int64(g[1]) * int64(g[2])
}

// moved is the buffer in pieces of one of that size.
func (b Buffer) moved(p Place, size int64) Buffer {
	if p.Run == 0 {
		p.Run = b.size()
	}
	out := Buffer{Name: b.Name, Bytes: size, Out: b.Out, Sparse: true}
	for at := int64(0); at < b.size(); at += p.Run {
		piece := Piece{At: p.At + at/p.Run*p.Step, Bytes: p.Run}
		if end := min(at+p.Run, int64(len(b.Data))); at < end {
			piece.Data = b.Data[at:end]
		}
		out.Pieces = append(out.Pieces, piece)
	}
	return out
}

// Bare is JobOf without data: the large job of Far.
func Bare(c cuda.Case) Job {
	j := Job{Kernels: c.Instances, Launches: c.Launches}
	for _, b := range c.Buffers {
		j.Buffers = append(j.Buffers, Buffer{Name: b.Name, Bytes: b.Bytes, Out: b.Output})
	}
	return j
}
