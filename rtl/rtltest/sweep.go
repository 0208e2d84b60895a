// SPDX-License-Identifier: Apache-2.0

package rtltest

import (
	"math/big"
	"sort"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/sim"
)

// Params lists the values to try per parameter; their cross product is run.
type Params map[string][]int

// Sweep benches a module with one input and one output at every combination of parameters, on whole beats. A frame is
// one input beat, or as many as the optional expression in the parameters says ("N"); model maps the beats of a
// frame.
func Sweep(t *testing.T, module string, params Params, model func(in []sim.Beat) []sim.Beat, frame ...string) {
	t.Helper()
	SweepModel(t, module, params, func(_ map[string]int, in []sim.Beat) []sim.Beat { return model(in) }, frame...)
}

// SweepModel is Sweep for a model that depends on the parameters: it is given the value of each, defaults included.
func SweepModel(t *testing.T, module string, params Params, model func(p map[string]int, in []sim.Beat) []sim.Beat,
	frame ...string) {
	t.Helper()
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	h, err := rtl.Lookup(module)
	if err != nil {
		t.Fatal(err)
	}
	for _, point := range params.points() {
		values, err := h.Values(point)
		if err != nil {
			t.Fatal(err)
		}
		b := Bench{Module: module, Params: point}
		b.findPorts(h)
		for _, text := range frame {
			beats, err := rtl.ParseExpr(text)
			if err != nil {
				t.Fatal(err)
			}
			if b.In[0].Beats, err = beats.Eval(values); err != nil {
				t.Fatal(err)
			}
		}
		b.BigModel = func(in [][]*big.Int) [][]*big.Int { return [][]*big.Int{model(values, in[0])} }
		Run(t, b)
	}
}

// points is the cross product, in order of the parameters' names.
func (p Params) points() [][]rtl.Param {
	var names []string
	for name := range p {
		names = append(names, name)
	}
	sort.Strings(names)
	points := [][]rtl.Param{nil}
	for _, name := range names {
		var next [][]rtl.Param
		for _, point := range points {
			for _, v := range p[name] {
				next = append(next, append(append([]rtl.Param(nil), point...), P(name, v)))
			}
		}
		points = next
	}
	return points
}
