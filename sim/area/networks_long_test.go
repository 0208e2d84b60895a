// SPDX-License-Identifier: Apache-2.0

//go:build long

package area_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/emit/verilog"
	"lathe/internal/driver"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/text"
	"lathe/rtl/cmvm/cmvmtest"
)

// A network of linear layers is unrolled from a model and a plan, as a user has it.
type network struct {
	name             string
	model, calibrate string // paths; no model: one of constant matrices and of activations of bits
	bits             int
	plan             string
}

const unrolled = "[fold]\nmode = \"unroll\"\n"

// sizes are those of jets-mlp, and of networks of constant matrices.
var sizes = []int{16, 64, 32, 32, 5}

// shifts are by how many bits the sums of each hidden layer are cut.
var shifts = []int{8, 9, 9}

// source writes model and plan into a folder.
func (n *network) source(t *testing.T) driver.Source {
	dir := t.TempDir()
	s := driver.Source{Model: n.model, Calibrate: n.calibrate, Plan: filepath.Join(dir, "plan.toml")}
	plan := unrolled + n.plan
	if n.model == "" {
		src, formats := constantNetwork(n.bits)
		g, err := text.Parse("network", src, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.Model, plan = filepath.Join(dir, "network.lathe"), plan+formats
		if err := text.Save(s.Model, g); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(s.Plan, []byte(plan), 0o644); err != nil {
		t.Fatal(err)
	}
	return s
}

// constantNetwork is a float graph whose layers have the matrices of cmvmtest as weights, and rules of a plan: inputs
// of so many bits, hidden results of as many without a sign, whose sums are cut and saturate, and exact outputs.
func constantNetwork(width int) (graph, plan string) {
	var g, p strings.Builder
	fmt.Fprintf(&g, "lathe 1\ngraph %%network float(%%x) {\n  %%x = input : 1x%d fp32\n", sizes[0])
	rule := func(name, form string) {
		fmt.Fprintf(&p, "[[quantize.rule]]\nregex = %q\nweight = \"fixed(8,0)\"\ndata_out = %q\n", name, form)
	}
	rule("^x$", fmt.Sprintf("fixed(%d,0)", width))
	from, fraction := "x", 0
	for l, out := range sizes[1:] {
		var weights []string
		for _, row := range cmvmtest.Matrix(sizes[l], out, 8) {
			for _, w := range row {
				weights = append(weights, fmt.Sprint(w))
			}
		}
		fmt.Fprintf(&g, "  %%w%d = const {data = f32 [%s]} : %dx%d fp32\n  %%sum%d = linear(%%%s, %%w%d) : 1x%d fp32\n", l,
			strings.Join(weights, ", "), out, sizes[l], l, from, l, out)
		if l == len(shifts) {
			rule(fmt.Sprintf("^sum%d$", l), fmt.Sprintf("fixed(%d,%d)", width+14, fraction))
			fmt.Fprintf(&g, "  return y = %%sum%d\n}\n", l)
			break
		}
		from, fraction = fmt.Sprintf("relu%d", l), fraction-shifts[l]
		fmt.Fprintf(&g, "  %%%s = relu(%%sum%d) : 1x%d fp32\n", from, l, out)
		rule(fmt.Sprintf("^(sum|relu)%d$", l), fmt.Sprintf("ufixed(%d,%d,round=floor)", width, fraction))
	}
	return g.String(), p.String()
}

// hardware is what `lathe emit-verilog` makes of a source.
func hardware(t *testing.T, s driver.Source) *driver.Hardware {
	g, err := s.Import()
	if err != nil {
		t.Fatal(err)
	}
	q, err := s.Quantize(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	hw, err := q.Emit(t.Context(), verilog.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return hw
}

// described is a quantized network as testdata/network.py takes it.
type described struct {
	Input  coded            `json:"input"`
	Layers []describedLayer `json:"layers"`
	// Samples are codes of the input.
	Samples [][]int64 `json:"samples"`
}

type coded struct {
	Bits     int  `json:"bits"`
	Signed   bool `json:"signed"`
	Fraction int  `json:"fraction"`
}

type describedLayer struct {
	coded
	Round         string    `json:"round"`
	Weights       [][]int64 `json:"weights"`
	Fractions     []int     `json:"fractions"`
	Bias          []int64   `json:"bias"`
	BiasFractions []int     `json:"bias_fractions"`
}

// describe holds a graph to be linear layers one behind the other, which saturate.
func describe(t *testing.T, g *ir.Graph) (d described) {
	for _, n := range g.Nodes {
		f, ok := format.AsFixed(n.Type.Format)
		c := coded{Bits: f.W, Signed: f.Signed, Fraction: f.F}
		switch n.Op.Name {
		case "const":
		case "input":
			d.Input = c
		case "linear":
			if !ok || f.Over != format.Sat || n.LastOf() != nil {
				t.Fatalf("%s: %s", n.Name, n.Type.Format)
			}
			l := describedLayer{coded: c, Round: f.Round.String()}
			weights, out, in := lattice(t, n.Args[1]), n.Args[1].Type.Shape[0], n.Args[1].Type.Shape[1]
			for o := range out {
				l.Weights = append(l.Weights, weights.Ints[o*in:(o+1)*in])
				l.Fractions = append(l.Fractions, -weights.Exp(min(o, len(weights.Exps)-1)))
			}
			if len(n.Args) > 2 {
				bias := lattice(t, n.Args[2])
				l.Bias = bias.Ints
				for o := range out {
					l.BiasFractions = append(l.BiasFractions, -bias.Exp(min(o, len(bias.Exps)-1)))
				}
			}
			d.Layers = append(d.Layers, l)
		default:
			t.Fatalf("%s: an operation that alkaid is not given: %s", n.Name, n.Op.Name)
		}
	}
	return d
}

func lattice(t *testing.T, n *ir.Node) *ir.Lattice {
	v, err := n.Value()
	if err != nil {
		t.Fatal(err)
	}
	l, err := v.Lattice()
	if err != nil {
		t.Fatal(err)
	}
	return l
}
