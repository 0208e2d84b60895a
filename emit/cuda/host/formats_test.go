// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"lathe/cuda"
	emit "lathe/emit/cuda"
	"lathe/emit/cuda/host"
	"lathe/internal/driver"
	"lathe/internal/npz"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/leaf"
	"lathe/sim/gpu/gputest"
)

// converted are formats that Python converts, with all rules of rounding and overflow.
func converted() []string {
	list := []string{"fixed(8,4)", "ufixed(8,8)", "fixed(6,2,over=wrap)", "ufixed(7,3,over=wrap)", "fixed(8,4,over=sym)",
		"fixed(8,5,over=0..96)", "fixed(16,10)", "fixed(24,12)", "fixed(30,20)", "ufixed(20,-2)", "int(8,z=-3)*0.05",
		"uint(8,z=128)*0.0123", "int(8,div=f32)*0.007874016", "uint(8,z=7,div=f32)*0.3", "float(4,3)", "float(2,1)",
		"dfloat(3,2)", "log(5)", "mxint8", "mxint(4,16)"}
	for _, r := range []string{"away", "up", "down", "halfzero", "floor", "ceil", "zero", "outward"} {
		list = append(list, "fixed(8,3,round="+r+")", "int(8,z=5,round="+r+")*0.05")
	}
	return list
}

// ports is a graph whose outputs are its inputs, of which some have channels in units of their own.
func ports(types []ir.Type, stage ir.Stage) *ir.Graph {
	g := &ir.Graph{Name: "model", Stage: stage}
	for i, t := range types {
		in, out := &ir.Input{}, []int(nil)
		if len(t.Shape) == 4 { // the caller has the last axis in front
			in.Perm, out = []int{0, 2, 3, 1}, []int{0, 3, 1, 2}
		}
		if i%3 == 1 {
			in.Exponents = make([]int, t.Shape[len(t.Shape)-1])
			for c := range in.Exponents {
				in.Exponents[c] = c%7 - 3
			}
		}
		n := &ir.Node{Name: fmt.Sprintf("x%d", i), Op: leaf.Input, Attrs: in, Type: t}
		g.In, g.Nodes = append(g.In, n), append(g.Nodes, n)
		g.Out = append(g.Out, ir.Output{Name: n.Name, Node: n, Perm: out})
	}
	return g
}

// numbers are n values: middles between codes, zeros, numbers beyond all codes, and random ones of many sizes.
func numbers(r *rand.Rand, n int) []float32 {
	out := []float32{0, float32(math.Copysign(0, -1)), 1e9, -1e9, 0.5, -0.5, 0.75, -0.75, 1 + 0x1p-8, 1 + 0x3p-8,
		1 + 0x1p-11, 1 + 0x3p-11}
	for len(out) < n {
		switch len(out) % 3 {
		case 0:
			out = append(out, float32(r.IntN(129)-64)/32)
		case 1:
			out = append(out, float32(r.NormFloat64()))
		default:
			out = append(out, float32(math.Ldexp(r.NormFloat64(), r.IntN(24)-16)))
		}
	}
	return out
}

// TestFormats: Python makes the codes of values that the reference makes, and reads them as it does; and inputs that
// are outputs as they are come back.
func TestFormats(t *testing.T) {
	tools.Need(t, "gcc", "make")
	python := tools.NeedNumPy(t)
	var types []ir.Type
	for _, text := range converted() {
		f, err := format.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		types = append(types, ir.Type{Shape: []int{1, 100}, Format: f})
	}
	b := &built{emulated: gputest.Emulated(t, drivers)}
	r := rand.New(rand.NewPCG(1, 2))
	t.Run("quantized", func(t *testing.T) { b.convert(t, python, ports(types, ir.StageQuantized), r) })
	types = nil
	for _, f := range []format.Format{format.FP32, format.BF16, format.F16} {
		types = append(types, ir.Type{Shape: []int{1, 100}, Format: f}, ir.Type{Shape: []int{1, 5, 4, 3}, Format: f})
	}
	t.Run("float", func(t *testing.T) { b.convert(t, python, ports(types, ir.StageFloat), r) })
}

// convert runs numbers through a model of ports.
func (b *built) convert(t *testing.T, python string, g *ir.Graph, r *rand.Rand) {
	d, err := emit.Emit(g, emit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b.dir = filepath.Join(t.TempDir(), "out")
	none := []emit.Binary{{Arch: cuda.PortablePTX, File: emit.PTXFile, Data: []byte("// no kernels\n")}}
	var arrays []npz.Array
	for _, n := range g.In {
		shape := n.Type.Shape
		if len(shape) == 4 {
			shape = []int{1, shape[3], shape[1], shape[2]}
		}
		arrays = append(arrays, npz.Float32Array(n.Name, shape, numbers(r, n.Type.Elems())))
	}
	given := filepath.Join(t.TempDir(), "in.npz")
	if err := npz.Write(given, arrays); err != nil {
		t.Fatal(err)
	}
	file, err := npz.Read(given)
	if err != nil {
		t.Fatal(err)
	}
	samples, batch, err := driver.Samples(g, file)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range samples[0] {
		samples[0][i] = v.Entered(g.In[i].Type)
	}
	demo := host.Samples{Inputs: samples, Outputs: samples}
	if err := driver.WriteCUDA(d, none, "", demo, b.dir); err != nil {
		t.Fatal(err)
	}
	b.run(t, "make", "CC=gcc", "CFLAGS="+strict)
	b.run(t, "./demo")
	want, err := driver.Arrays(g, samples, batch, false)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range samples[0] {
		if !v.Type.IsFloat() {
			want = append(want, npz.Int64Array(g.In[i].Name+"_codes", v.Type.Shape, v.Codes))
		}
	}
	b.want = filepath.Join(filepath.Dir(given), "want.npz")
	if err := npz.Write(b.want, want); err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs(filepath.Join("testdata", "formats.py"))
	if err != nil {
		t.Fatal(err)
	}
	b.run(t, python, "-B", script, given, b.want)
}
