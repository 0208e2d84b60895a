// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"testing"

	"lathe/emit/verilog"
	"lathe/golden"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/column"
	"lathe/ir/ref"
)

// TestRefuse: formats that an operation does not compute with are refused by the graph's check, as argument, as result
// and as both, and no engine panics on them.
func TestRefuse(t *testing.T) {
	channels := format.Affine{W: 8, Signed: true} // int(8)*[0]
	for _, f := range []format.Format{format.NewMXInt(8, 32), channels, format.Fixed{W: 64, Signed: true}} {
		for _, o := range Ops() {
			for i := range 9 {
				g, _ := Case(o, i)
				if g.Stage == ir.StageFloat || i%3 == 1 && f.Width() == 64 { // a result may have 64 bits
					continue
				}
				in, out := g.In[0], g.Out[0].Node
				if i%3 != 1 {
					in.Type = put(in.Type, f)
				}
				if i%3 != 0 {
					out.Type = put(out.Type, f)
				}
				_, blocks := f.(format.MXInt)
				if err := g.Check(); err == nil && !(blocks && column.TakesBlocks(out)) {
					t.Errorf("%s with %s is accepted\n%s", o.Name, f, Describe(g))
				}
				if p, err := ref.New(g); err == nil {
					_, _ = p.Run(t.Context(), Samples(Rand("refuse", i), g, 3))
				}
				_, _ = golden.Print(g, 1, false)
				if o.RTL != nil {
					Schedule(Rand("refuse", i), g)
					_, _ = verilog.Emit(g, verilog.Options{})
				}
			}
		}
	}
}

// put gives t the format f, with scales along the first axis where it has them.
func put(t ir.Type, f format.Format) ir.Type {
	t.Format, t.Scales = f, nil
	if a, ok := f.(format.Affine); ok && a.Axis >= 0 && len(t.Shape) > 0 {
		t.Scales = make([]float32, t.Shape[0])
		for k := range t.Scales {
			t.Scales[k] = 0.5
		}
	}
	return t
}
