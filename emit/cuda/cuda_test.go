// SPDX-License-Identifier: Apache-2.0

package cuda_test

import (
	"strings"
	"testing"

	"lathe/emit/cuda"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/column"
	"lathe/ir/op/leaf"
	"lathe/ir/op/move"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sequence"
	"lathe/ir/op/sum"
	"lathe/ir/op/whole"
)

// network is linear, relu, reshape on fixed point, and softmax on floats beside it.
func network() *ir.Graph {
	fx := func(w, f int, shape ...int) ir.Type {
		return ir.Type{Shape: shape, Format: format.Fixed{W: w, F: f, Signed: true}}
	}
	weights := make([]int64, 18)
	for i := range weights {
		weights[i] = int64(i - 9)
	}
	x := &ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{}, Type: fx(8, 4, 1, 6)}
	w := &ir.Node{Name: "w", Op: leaf.Const, Type: fx(8, 6, 3, 6), Attrs: &ir.Const{Data: ir.CodeBlob(weights)}}
	y := &ir.Node{Name: "fc \\1*/", Op: sum.Linear, Args: []*ir.Node{x, w}, Type: fx(8, 3, 1, 3),
		Pos: "m.onnx:\nfc (Gemm)"}
	r := &ir.Node{Name: "relu", Op: pointwise.Relu, Args: []*ir.Node{y}, Type: fx(8, 3, 1, 3)}
	s := &ir.Node{Name: "flat", Op: move.Reshape, Args: []*ir.Node{r}, Type: fx(8, 3, 3),
		Attrs: &move.ReshapeAttrs{Shape: []int{3}}}
	f := &ir.Node{Name: "f", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Float(4, 300)}
	p := &ir.Node{Name: "p", Op: norm.Softmax, Args: []*ir.Node{f}, Type: f.Type, Attrs: &column.AxisAttrs{Axis: 1}}
	dead := &ir.Node{Name: "dead", Op: pointwise.Relu, Args: []*ir.Node{f}, Type: f.Type}
	return &ir.Graph{Name: "net", Stage: ir.StageQuantized, In: []*ir.Node{x, f},
		Nodes: []*ir.Node{x, w, y, r, s, f, p, dead}, Out: []ir.Output{{Name: "s", Node: s}, {Name: "p", Node: p}}}
}

func TestEmit(t *testing.T) {
	d, err := cuda.Emit(network(), cuda.Options{Version: "1", Generic: true})
	if err != nil {
		t.Fatal(err)
	}
	again, err := cuda.Emit(network(), cuda.Options{Version: "1", Generic: true})
	if err != nil || again.Source != d.Source {
		t.Errorf("another text the second time, %v", err)
	}
	names := ""
	for _, u := range d.Units {
		names += u.Kernel + " "
	}
	// a reshape is the buffer of its argument
	if want := "k0_fc__1__ k1_relu k2_p "; names != want {
		t.Errorf("kernels %q, want %q", names, want)
	}
	if d.Outputs[0].Codes != d.Units[1].Args[1].Buffer {
		t.Errorf("output s is buffer %d, relu writes %d", d.Outputs[0].Codes, d.Units[1].Args[1].Buffer)
	}
	if u := d.Units[0]; u.Flops != 2*18 || u.Bytes != 6+18+3 {
		t.Errorf("%s: %d flops, %d bytes", u.Kernel, u.Flops, u.Bytes)
	}
	notes := strings.Join(d.Units[2].Notes, "\n")
	if !strings.Contains(notes, "reshape tensor<1x4xf32> is computed once") {
		t.Errorf("notes of softmax: %s", notes)
	}
	for _, want := range []string{
		"// fc \\1*/ 1x3 fixed(8,3) = linear\n// m.onnx:?fc (Gemm)\n",
		"const i8* __restrict__ x0,  // x 1x6 fixed(8,4)",
		"const i8* __restrict__ w0,  // constants 3x6\n", "__launch_bounds__(128)"} {
		if !strings.Contains(d.Source, want) {
			t.Errorf("no %q in\n%s", want, d.Source)
		}
	}
	if strings.Contains(d.Source, "#include") {
		t.Error("the text includes a header")
	}
}

// TestLibrary: a linear node runs a kernel of the library, whose arguments depend on the number of samples.
func TestLibrary(t *testing.T) {
	d, err := cuda.Emit(network(), cuda.Options{})
	if err != nil {
		t.Fatal(err)
	}
	u := d.Units[0]
	if !strings.HasPrefix(u.Template, "int8<64, 64, ") || d.Units[1].Template != "" {
		t.Fatalf("%q and %q", u.Template, d.Units[1].Template)
	}
	comment := "// fc \\1*/ 1x3 fixed(8,3) = linear: " + u.Kernel + "\n//     m.onnx:?fc (Gemm)\n"
	for _, want := range []string{comment, "\n" + u.Kernel + "(const i8* x"} {
		if !strings.Contains(d.Source, want) {
			t.Errorf("the source does not hold %q", want)
		}
	}
	if u.Flops != 2*18 || u.Bytes != 6+18+3*16+3 {
		t.Errorf("%d flops, %d bytes", u.Flops, u.Bytes)
	}
	l := d.Launches(129)[0]
	if l.Grid != [3]uint32{3, 1, 1} || l.Block[0] != uint32(u.Threads) || l.Shared != uint32(u.Shared) || u.Shared == 0 {
		t.Errorf("%+v of %+v", l, u)
	}
	if rows := l.Args[5]; rows.Size != 4 || rows.Bits != 129 || rows.PerSample != 0 {
		t.Errorf("129 samples have %+v rows", rows)
	}
}

// TestLibraryLaunches: what does not fit one launch takes several, each with its rows and at its part of the buffers.
func TestLibraryLaunches(t *testing.T) {
	d, err := cuda.Emit(network(), cuda.Options{})
	if err != nil {
		t.Fatal(err)
	}
	u := &d.Units[0]
	if u.MaxSamples != 1<<30 {
		t.Errorf("%d samples a launch", u.MaxSamples)
	}
	u.MaxSamples = 100
	list := d.Launches(250)
	for i, rows := range []uint64{100, 100, 50} {
		l := list[i]
		if l.Kernel != u.Kernel || l.Args[5].Bits != rows || l.Grid[0] != uint32(rows+63)/64 {
			t.Errorf("launch %d: %+v", i, l)
		}
		if at := l.Args[0].Offset; at != int64(i)*100*6 || l.Args[1].Offset != u.Args[1].Offset {
			t.Errorf("launch %d begins at %d, its weights at %d", i, at, l.Args[1].Offset)
		}
	}
	if list[3].Kernel == u.Kernel {
		t.Error("a fourth launch")
	}
}

// TestConfigurations: the number of samples guides the choice, unless a sample's bits must not depend on it.
func TestConfigurations(t *testing.T) {
	fx := format.Fixed{W: 8, F: 4, Signed: true}
	x := &ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Type{Shape: []int{1, 512}, Format: fx}}
	w := &ir.Node{Name: "w", Op: leaf.Const, Type: ir.Type{Shape: []int{512, 512}, Format: fx},
		Attrs: &ir.Const{Data: ir.CodeBlob(make([]int64, 512*512))}}
	y := &ir.Node{Name: "y", Op: sum.Linear, Args: []*ir.Node{x, w}, Type: x.Type}
	g := &ir.Graph{Name: "net", Stage: ir.StageQuantized, In: []*ir.Node{x}, Nodes: []*ir.Node{x, w, y},
		Out: []ir.Output{{Name: "y", Node: y}}}
	for _, c := range []struct {
		o    cuda.Options
		tile int64
		note string
	}{
		{cuda.Options{}, 64, "for 1 rows"},
		{cuda.Options{Samples: 4096}, 128, "for 4096 rows"},
		{cuda.Options{Samples: 4096, BatchInvariant: true}, 64, "for 1 rows"},
	} {
		d, err := cuda.Emit(g, c.o)
		if err != nil {
			t.Fatal(err)
		}
		if u := d.Units[0]; u.Tile != c.tile || !strings.Contains(u.Notes[0], c.note) {
			t.Errorf("%+v: tiles of %d rows, want %d; %s", c.o, u.Tile, c.tile, u.Notes[0])
		}
	}
	if _, err := cuda.Emit(g, cuda.Options{Arch: "sm_42"}); diag.CodeOf(err) != "L0934" {
		t.Errorf("an unknown architecture: %v", err)
	}
}

// TestLaunches: sample counts beyond the grid become several launches, each at its part of the buffers.
func TestLaunches(t *testing.T) {
	d, err := cuda.Emit(network(), cuda.Options{Generic: true})
	if err != nil {
		t.Fatal(err)
	}
	list := d.Launches(70000)
	if len(list) != 2*len(d.Units) {
		t.Fatalf("%d launches of %d kernels", len(list), len(d.Units))
	}
	first, second := list[0], list[1]
	if first.Grid != [3]uint32{1, 65535, 1} || second.Grid != [3]uint32{1, 4465, 1} {
		t.Errorf("grids %v and %v", first.Grid, second.Grid)
	}
	for i, a := range second.Args {
		want := first.Args[i].Offset
		if a.Buffer != 0 { // samples are as long as the kernel counts them, however long the buffer has room for
			want = 65535 * d.Units[0].Args[i].Each
		}
		if a.Offset != want {
			t.Errorf("argument %d begins at %d, want %d", i, a.Offset, want)
		}
	}
	results := int64(1) // codes of a byte
	for _, n := range d.Units[0].Shape {
		results *= int64(n)
	}
	if last := d.Units[0].Args[len(d.Units[0].Args)-1]; last.Each != results {
		t.Errorf("%d bytes a sample, want %d", last.Each, results)
	}
	if d.Total(2)-d.Total(1) != d.Total(3)-d.Total(2) || d.Size(0, 5) != int64(len(d.Tables)) {
		t.Errorf("%d, %d, %d bytes for 1 to 3 samples", d.Total(1), d.Total(2), d.Total(3))
	}
}

// TestPorts: values survive the way into buffers and back.
func TestPorts(t *testing.T) {
	d, err := cuda.Emit(network(), cuda.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in := ir.NewTensor(d.Inputs[0].Node.Type)
	for i := range in.Codes {
		in.Codes[i] = int64(i*50 - 128)
	}
	codes, scales := d.Inputs[0].Encode([]*ir.Tensor{in, in})
	if len(codes) != 12 || scales != nil {
		t.Fatalf("%d bytes, %d of scales", len(codes), len(scales))
	}
	out := d.Inputs[0].Decode(codes, nil, 2)
	for i, c := range out[1].Codes {
		if c != in.Codes[i] {
			t.Errorf("code %d comes back as %d", in.Codes[i], c)
		}
	}
}

// TestHasKernels: the table of operations asks what can be emitted, not whether a column is there.
func TestHasKernels(t *testing.T) {
	for _, o := range []*ir.Op{whole.TopKValues, whole.ScatterND, sequence.Attention, sum.Linear} {
		if !cuda.HasKernels(o) {
			t.Errorf("%s has no kernels", o.Name)
		}
	}
	odd := *pointwise.Relu
	odd.CUDA = nil
	odd.HLO = func(b *hlo.Builder, _ *ir.Node, args []hlo.Value) (hlo.Value, error) {
		truth := b.Convert(args[0], hlo.I1)
		return b.ShiftLeft(truth, truth), b.Err()
	}
	if cuda.HasKernels(&odd) || cuda.HasKernels(leaf.Input) {
		t.Error("an operation without a kernel form has kernels")
	}
}
