// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"fmt"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/lower/lowertest"
	"lathe/lower/plan"
)

type normFormat struct {
	name, plan string
	gain, bias []float32
	want       string // formats of the argument, the gain, the bias and the result
	cause      string // an error
}

// normFormats are norms of gains and biases of all sizes, reading and making formats of all kinds.
var normFormats = []normFormat{
	{"defaults", "", []float32{1, -1.5}, []float32{0.25, 0.5},
		"ufixed(15,14) fixed(16,14) fixed(16,15) fixed(8,5)", ""},
	{"a plan of small weights is not about gains", "[quantize]\nweight = \"fixed(3)\"", []float32{1, -1.5}, nil,
		"ufixed(15,14) fixed(16,14) fixed(8,6)", ""},
	{"a rule is", "[[quantize.rule]]\nop = \"layer_norm\"\nweight = \"fixed(6)\"\nbias = \"fixed(9)\"",
		[]float32{1, -1.5}, []float32{0.25, 0.5}, "ufixed(15,14) fixed(6,4) fixed(9,8) fixed(8,5)", ""},
	{"a bias of next to nothing", "", []float32{100, -1}, []float32{1e-7, 0},
		"ufixed(15,14) fixed(16,8) fixed(16,24) int(8)", ""},
	{"a gain of next to nothing", "", []float32{1e-9, 0}, []float32{1000, -1000},
		"ufixed(15,14) fixed(16,35) fixed(16,5) fixed(8,-3)", ""},
	{"wide data", "[quantize]\ndata = \"fixed(20)\"", nil, nil, "fixed(16,14) fixed(20,19)", ""},
	{"no sign bit to spare", "[[quantize.rule]]\nname = \"r\"\ndata_out = \"ufixed(16)\"", nil, nil,
		"fixed(16,14) fixed(8,6)", ""},
	{"a real scale", "[quantize]\ndata = \"int(8)*0.0101\"", nil, nil, "int(8)*0.0101 fixed(24,23)", ""},
	{"floats", "[quantize]\ndata = \"float(4,3)\"", nil, nil, "fixed(16,14) fixed(24,23)", ""},
	{"a gain of a real scale", "[[quantize.rule]]\nop = \"layer_norm\"\nweight = \"int(8)*0.3\"", []float32{1, -1.5}, nil,
		"", "takes a gain and a bias in fixed formats of up to 16 bits, sign included, not int(8)*0.3"},
	{"too many bits", "[[quantize.rule]]\nop = \"layer_norm\"\ndata_in = \"fixed(17)\"", nil, nil, "",
		"layer_norm takes integers of up to 16 bits, sign included and zero point subtracted, not fixed(17,15)"},
}

func TestQuantizeNorms(t *testing.T) {
	for _, c := range normFormats {
		t.Run(c.name, func(t *testing.T) {
			b := lowertest.New(t, 1)
			r := b.Add(pointwise.Relu, "r", nil, b.Input("x", 1, 2))
			args := []*ir.Node{r}
			for _, v := range [][]float32{c.gain, c.bias} {
				if v != nil {
					args = append(args, b.Const([]int{2}, v...))
				}
			}
			g := b.Done(b.Add(norm.LayerNorm, "n", &norm.Attrs{Axis: -1, Eps: 1e-5}, args...))
			p, err := plan.Parse("plan.toml", []byte(c.plan))
			if err != nil {
				t.Fatal(err)
			}
			var samples []*ir.Tensor
			for _, v := range [][]float32{{0, 0.9}, {0.9, 0.1}, {1.5, 1}} {
				x := ir.NewTensor(g.In[0].Type)
				copy(x.Floats, v)
				samples = append(samples, x)
			}
			q, _, err := Run(t.Context(), g, p, Calibration{Samples: map[string][]*ir.Tensor{"x": samples}}, Options{})
			if c.cause != "" {
				if diag.CodeOf(err) != "L0407" || !strings.Contains(err.Error(), c.cause) {
					t.Error(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			n := q.Find("n")
			var formats []string
			for _, a := range n.Args {
				formats = append(formats, a.Type.Format.String())
			}
			if got := strings.Join(append(formats, n.Type.Format.String()), " "); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestNormOfValues: a gain that is computed has no place in hardware.
func TestNormOfValues(t *testing.T) {
	b := lowertest.New(t, 1)
	gain := b.Add(pointwise.Relu, "gain", nil, b.Input("w", 4))
	y := b.Add(norm.RMSNorm, "n", &norm.Attrs{Axis: -1, Eps: 1e-5}, b.Input("x", 1, 4), gain)
	_, _, err := Run(t.Context(), b.Done(y), plan.Default(), Calibration{}, Options{})
	if diag.CodeOf(err) != "L0315" || !strings.Contains(fmt.Sprint(err), `computed from inputs ("gain")`) {
		t.Error(err)
	}
}

// TestGroupNorm: norms of groups, and of channels alone, keep what those of rows keep.
func TestGroupNorm(t *testing.T) {
	for _, groups := range []int{1, 2, 4} {
		b := lowertest.New(t, uint64(groups))
		x := b.Conv("conv", b.Input("x", 1, 2, 6, 6), 4, 3, 1, 0, 1, true)
		y := b.Add(norm.GroupNorm, "n", &norm.GroupNormAttrs{Groups: groups, Eps: 1e-5}, x, b.Random(1, 4), b.Random(1, 4))
		g := b.Done(y)
		q, r := mustQuantize(t, g, "", samples(g, -1, 1, 20))
		if got := r.Outputs[0].SQNR; got < 30 {
			t.Errorf("%d groups: %.1f dB", groups, got)
		}
		if n := q.Find("n"); n == nil || n.Op == norm.GroupNorm {
			t.Errorf("%d groups: the norm stays whole", groups)
		}
	}
}
