// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"testing"

	"lathe/emit/verilog"
	"lathe/golden"
	"lathe/golden/ref"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op"
)

// TestRefuse: formats that no operation computes with are refused by the graph's check, and no engine panics on them.
func TestRefuse(t *testing.T) {
	channels := format.Affine{W: 8, Signed: true} // int(8)*[0]
	for _, f := range []format.Format{format.MXInt{W: 8, K: 32}, channels, format.Fixed{W: 64, Signed: true}} {
		for _, o := range Ops() {
			for i := range 8 {
				g, _ := Case(o, i)
				if g.Stage == ir.StageFloat {
					continue
				}
				n := g.Out[0].Node
				put := n
				if arg := i%2 == 0; arg {
					put = g.In[0]
				} else if f.Width() == 64 {
					continue // a result may have it
				}
				put.Type.Format, put.Type.Scales = f, nil
				for range put.Type.Shape[:min(1, len(put.Type.Shape))] {
					if f == channels {
						put.Type.Scales = make([]float32, put.Type.Shape[0])
						for k := range put.Type.Scales {
							put.Type.Scales[k] = 0.5
						}
					}
				}
				if same := n.Type; i%4 < 2 && g.In[0].Type.Elems() == n.Type.Elems() && n.Op.Arity[1] == 1 {
					same.Format, same.Scales = f, put.Type.Scales
					n.Type.Format, n.Type.Scales = f, put.Type.Scales
					g.In[0].Type.Format, g.In[0].Type.Scales = f, put.Type.Scales
				}
				if err := g.Check(); err == nil {
					t.Errorf("%s with %s is accepted\n%s", o.Name, f, Describe(g))
				}
				if p, err := ref.New(g); err == nil {
					_, _ = p.Run(t.Context(), Samples(Rand("refuse", i), g, 3))
				}
				_, _ = golden.Print(g, 1, false)
				if o.RTL != nil && o != op.Widen && o != op.Narrow {
					Schedule(Rand("refuse", i), g)
					_, _ = verilog.Emit(g, verilog.Options{})
				}
			}
		}
	}
}
