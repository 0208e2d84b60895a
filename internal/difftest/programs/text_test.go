// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"lathe/frontend/source"
	"lathe/frontend/stablehlo"
	"lathe/golden"
	"lathe/golden/pjrt"
	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/diag"
	"lathe/internal/difftest"
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/hlo/text"
	"lathe/ir/ref"
)

// TestText reads back the StableHLO text that every operation prints, and compares the values of both graphs: the
// programs of codes code by code, those of floats within the rounding of their sums.
func TestText(t *testing.T) {
	for _, o := range difftest.Ops() {
		t.Run(o.Name, func(t *testing.T) {
			t.Parallel()
			done := 0
			for i := 0; done < textCases && i < 8*textCases; i++ {
				g, r := difftest.Case(o, i)
				graphs := []*ir.Graph{g}
				if g.Stage != ir.StageFloat {
					f, err := difftest.Float(r, g)
					if err != nil {
						t.Fatal(err)
					}
					graphs = append(graphs, f)
				}
				for _, g := range graphs {
					p, err := golden.Print(g, 1, false)
					if err != nil && slices.Contains(Refused, diag.CodeOf(err)) ||
						slices.ContainsFunc(unread, func(name string) bool { return strings.Contains(text.Print(p), name) }) {
						continue
					}
					done++
					t.Run(fmt.Sprint(i, g.Stage), func(t *testing.T) { readBack(t, g, difftest.Samples(r, g, 7)) })
				}
			}
			if done == 0 {
				t.Error("no case was read")
			}
		})
	}
}

// unread are the operations in what is printed that the reader refuses by their names: the graph has no numbers that
// are the bits of others.
var unread = []string{`"stablehlo.bitcast_convert"`}

// textCases is the number of graphs of each operation.
const textCases = 6

// readBack prints g for some samples at once, reads the text, and compares.
func readBack(t *testing.T, g *ir.Graph, samples []ref.Sample) {
	t.Helper()
	want, err := difftest.Evaluate(t.Context(), g, samples)
	if err != nil {
		t.Fatalf("%v\n%s", err, difftest.Describe(g))
	}
	p, err := golden.Print(g, len(samples), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*hlo.Program{p, p.Expand()} {
		if err := p.Verify(); err != nil {
			t.Fatalf("%v\n%s\n%s", err, difftest.Describe(g), text.Print(p))
		}
	}
	p = p.Expand()
	read, err := stablehlo.Parse("text.mlir", []byte(text.Print(p)), source.Options{Unroll: 4})
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, difftest.Describe(g), text.Print(p))
	}
	var in ref.Sample
	for i, n := range read.In {
		v := ir.NewTensor(n.Type)
		if i >= len(g.In) {
			v = tensorOf(n.Type, p.Weights[i-len(g.In)].Data)
		} else {
			v.Floats, v.Codes = nil, nil
			for _, s := range samples {
				v.Floats, v.Codes = append(v.Floats, s[i].Floats...), append(v.Codes, s[i].Codes...)
			}
		}
		in = append(in, v)
	}
	out, err := difftest.Evaluate(t.Context(), read, []ref.Sample{in})
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, difftest.Describe(g), text.Print(p))
	}
	for s := range samples {
		var got ref.Sample
		for k, v := range out[0] {
			part := ir.NewTensor(want[s][k].Type)
			size := part.Type.Elems()
			if v.Codes != nil {
				copy(part.Codes, v.Codes[s*size:])
			} else {
				copy(part.Floats, v.Floats[s*size:])
			}
			got = append(got, part)
		}
		if d := difftest.Differ(g, want[s], got, 1e-5); d != "" {
			t.Log(text.Print(p))
			difftest.Report(t, g, d, s, samples[s])
		}
	}
}

// tensorOf is the value of a weight.
func tensorOf(t ir.Type, a hlo.Array) *ir.Tensor {
	v := ir.NewTensor(t)
	for i, x := range a.Float64s() {
		if v.Codes == nil {
			v.Floats[i] = float32(x)
		}
	}
	if v.Codes != nil {
		copy(v.Codes, a.Int64s())
	}
	return v
}

// TestPrograms runs programs of all supported operations as they stand on PJRT, and by the graphs that they become.
func TestPrograms(t *testing.T) {
	archive, err := txtar.ParseFile("../../../frontend/stablehlo/testdata/ops.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			g, err := stablehlo.Parse(f.Name, f.Data, source.Options{Unroll: 10})
			if err != nil {
				t.Fatal(err)
			}
			p, err := pjrttest.Engine(t).CompileText(t.Context(), string(f.Data))
			if err != nil {
				t.Fatal(err)
			}
			r := difftest.Rand(f.Name, 0)
			for s := range 20 {
				runProgram(t, g, p, r, s)
			}
		})
	}
}

// runProgram compares one sample.
func runProgram(t *testing.T, g *ir.Graph, p *pjrt.Program, r *rand.Rand, s int) {
	t.Helper()
	var in ref.Sample
	var args []hlo.Array
	for _, n := range g.In {
		v := ir.NewTensor(n.Type)
		if v.Codes == nil {
			difftest.FillFloats(r, v.Floats, s)
			args = append(args, hlo.FromFloat32s(n.Type.Shape, v.Floats))
		} else {
			for i := range v.Codes {
				v.Codes[i] = r.Int64N(14) - 4
				if n.Type.Format == ir.Bool {
					v.Codes[i] &= 1
				}
			}
			args = append(args, hlo.FromInt64s(carrier(n.Type), n.Type.Shape, v.Codes))
		}
		in = append(in, v)
	}
	want, err := p.Run(t.Context(), args)
	if err != nil {
		t.Fatal(err)
	}
	out, err := difftest.Evaluate(t.Context(), g, []ref.Sample{in})
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range out[0] {
		w := ref.Sample{tensorOf(v.Type, want[k])}
		one := &ir.Graph{Out: g.Out[k : k+1]}
		if d := difftest.Differ(one, w, ref.Sample{v}, 2e-6); d != "" {
			t.Fatalf("sample %d: %s\ninputs %v", s, d, in[0].Floats)
		}
	}
}

// carrier is the element type of a value of whole numbers in the programs.
func carrier(t ir.Type) hlo.DType {
	switch ir.StoredAs(t.Format) {
	case ir.B1:
		return hlo.I1
	case ir.I64:
		return hlo.I64
	}
	return hlo.I32
}
