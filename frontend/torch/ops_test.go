// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"archive/zip"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/frontend/source"
	"lathe/internal/npz"
	"lathe/ir"
	"lathe/ir/ref"
)

// leastPrograms are how many programs testdata/ops.zip holds at least.
const leastPrograms = 150

// TestOps computes the programs of testdata/ops.zip: what PyTorch exports of each operation, as it is and after
// run_decompositions (NAME_dec), with the inputs and outputs of PyTorch itself. testdata/ops.py made them.
func TestOps(t *testing.T) {
	if n := computeAll(t, opMembers(t)); n < leastPrograms {
		t.Errorf("%d programs", n)
	}
}

// TestRecurrent does the same with recurrent modules, of testdata/recurrent.zip, which testdata/recurrent.py made.
func TestRecurrent(t *testing.T) {
	if n := computeAll(t, membersOf(t, "testdata/recurrent.zip")); n != 10 {
		t.Errorf("%d programs", n)
	}
}

// TestAten does the same with operations that sort, write at positions or are made of others, of testdata/aten.zip,
// which testdata/aten.py made.
func TestAten(t *testing.T) {
	if n := computeAll(t, membersOf(t, "testdata/aten.zip")); n != 43 {
		t.Errorf("%d programs", n)
	}
}

// computeAll computes all programs of an archive, and counts them.
func computeAll(t *testing.T, members map[string][]byte) (programs int) {
	t.Helper()
	for name, data := range members {
		name, ok := strings.CutSuffix(name, ".pt2")
		if !ok {
			continue
		}
		programs++
		t.Run(name, func(t *testing.T) {
			g, err := Parse(name+".pt2", data, source.Options{})
			if err != nil {
				t.Fatal(err)
			}
			base := strings.TrimSuffix(name, "_dec")
			in := readArrays(t, base+".in.npz", members[base+".in.npz"])
			want := readArrays(t, base+".out.npz", members[base+".out.npz"])
			if len(want.Arrays) != len(g.Out) {
				t.Fatalf("%d outputs, want %d", len(g.Out), len(want.Arrays))
			}
			for i, v := range compute(t, g, in) {
				sameValues(t, g.Out[i].Name, v, &want.Arrays[i])
			}
		})
	}
	return programs
}

// opMembers reads testdata/ops.zip.
func opMembers(t testing.TB) map[string][]byte { return membersOf(t, "testdata/ops.zip") }

// membersOf reads an archive.
func membersOf(t testing.TB, path string) map[string][]byte {
	t.Helper()
	r, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	members := map[string][]byte{}
	for _, f := range r.File {
		m, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(m)
		if err != nil {
			t.Fatal(err)
		}
		members[f.Name] = data
	}
	return members
}

func readArrays(t *testing.T, name string, data []byte) *npz.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := npz.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// compute evaluates a graph on one sample.
func compute(t *testing.T, g *ir.Graph, in *npz.File) ref.Sample {
	t.Helper()
	var sample ref.Sample
	for _, n := range g.In {
		a, err := in.Get(n.Name)
		if err != nil {
			t.Fatal(err)
		}
		v := ir.NewTensor(n.Type)
		if n.Type.IsFloat() {
			copy(v.Floats, a.Float32s())
		} else if v.Codes, err = a.Int64s(); err != nil {
			t.Fatal(err)
		}
		sample = append(sample, v)
	}
	p, err := ref.New(g)
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Run(t.Context(), []ref.Sample{sample})
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

// sameValues compares with PyTorch: whole numbers exactly, floats within 1e-4 relative and 1e-5 absolute.
func sameValues(t *testing.T, name string, got *ir.Tensor, want *npz.Array) {
	t.Helper()
	have, err := got.Decode()
	if err != nil {
		t.Fatal(err)
	}
	wanted := want.Float64s()
	if len(have) != len(wanted) {
		t.Fatalf("%s has %d elements, want %d", name, len(have), len(wanted))
	}
	for i, w := range wanted {
		d := math.Abs(have[i] - w)
		if have[i] == w || math.IsNaN(w) && math.IsNaN(have[i]) || got.Type.IsFloat() && d <= 1e-5+1e-4*math.Abs(w) {
			continue
		}
		t.Fatalf("%s: element %d is %g, want %g", name, i, have[i], w)
	}
}
