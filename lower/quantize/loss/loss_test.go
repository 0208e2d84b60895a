// SPDX-License-Identifier: Apache-2.0

package loss_test

import (
	"math"
	"testing"

	"lathe/ir"
	"lathe/ir/ref"
	"lathe/ir/text"
	"lathe/lower/quantize/loss"
)

// The quantized form has weight 3 in place of 2, which only the linear itself is to blame for, a cast that has no
// counterpart, and an output format that is too coarse.
const (
	floatText = `lathe 1
graph %g float(%x) {
  %x = input : 1x2 fp32
  %w = const {data = f32 [2, 0, 0, 2]} : 2x2 fp32
  %a = linear(%x, %w) : 1x2 fp32
  %b = relu(%a) : 1x2 fp32
  %c = relu(%b) : 1x2 fp32
  return y = %c
}
`
	quantText = `lathe 1
graph %g quantized(%x) {
  %x = input : 1x2 fixed(8,2)
  %w = const {data = i8 [3, 0, 0, 3]} : 2x2 fixed(8,0)
  %a = linear(%x, %w) : 1x2 fixed(12,4)
  %a.cast = cast(%a) : 1x2 fixed(16,8)
  %b = relu(%a.cast) : 1x2 fixed(16,8)
  %c = relu(%b) : 1x2 fixed(16,-1)
  return y = %c
}
`
)

func parse(t *testing.T, source string) *ir.Graph {
	t.Helper()
	g, err := text.Parse("test", source, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// enter encodes by hand: x holds values that fixed(8,2) has, but for one.
func enter(g *ir.Graph, s ref.Sample) ref.Sample {
	if g.Stage == ir.StageFloat {
		return s
	}
	t := ir.NewTensor(g.In[0].Type)
	for i, v := range s[0].Floats {
		t.Codes[i] = int64(math.RoundToEven(float64(v) * 4))
	}
	return ref.Sample{t}
}

func TestAloneAndAccumulated(t *testing.T) {
	m, err := loss.New(parse(t, floatText), parse(t, quantText), loss.Nodes{}, true)
	if err != nil {
		t.Fatal(err)
	}
	var samples []ref.Sample
	for i := range 20 { // more than are held at once
		v := ir.NewTensor(ir.Float(1, 2))
		v.Floats[0], v.Floats[1] = 1.5, 2.125 // 2.125 becomes 2
		if i%2 > 0 {
			v.Floats[0], v.Floats[1] = -1.5, -2.125
		}
		samples = append(samples, ref.Sample{v})
	}
	if err := m.Add(t.Context(), samples, enter); err != nil {
		t.Fatal(err)
	}
	nodes, outputs := m.Values()
	db := func(signal, noise float64) float64 { return 10 * math.Log10(signal/noise) }
	exact := math.Inf(1)
	// float: x 1.5 2.125; a, b, c 3 4.25. quantized: x 1.5 2; a, b 4.5 6; c 4 6. Half of the samples are negative, which
	// leaves 0 of b and c, and a distance of 1.5 and 2.125 from their means.
	few := 20. / 19
	want := []loss.Value{
		{Name: "x", SQNR: db(few*6.765625, 1./64), MaxErr: 0.125, Peak: 2.125,
			Alone: &loss.Error{SQNR: db(few*6.765625, 1./64), MaxErr: 0.125}},
		{Name: "a", SQNR: db(few*27.0625, 5.3125), MaxErr: 1.75, Peak: 4.25,
			Alone: &loss.Error{SQNR: db(few*27.0625, 5.3125), MaxErr: 1.75}},
		{Name: "b", SQNR: db(few*6.765625, 5.3125/2), MaxErr: 1.75, Peak: 4.25, Alone: &loss.Error{SQNR: exact}},
		{Name: "c", SQNR: db(few*6.765625, 4.0625/2), MaxErr: 1.75, Peak: 4.25,
			Alone: &loss.Error{SQNR: db(few*6.765625, 1.0625/2), MaxErr: 1}},
	}
	same(t, nodes, want)
	y := want[3]
	y.Name = "y"
	same(t, outputs, []loss.Value{y})
	for exp, want := range map[int]int{-1: 0, 0: 20, 1: 20, 2: 0} { // 1.5 and 2.125
		if got := nodes[0].Sizes[1+exp-loss.LeastExp]; got != want {
			t.Errorf("%d values of x from 2^%d on, want %d", got, exp, want)
		}
	}
}

func same(t *testing.T, got, want []loss.Value) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d values, want %d", len(got), len(want))
	}
	for i, g := range got {
		w := want[i]
		if g.Name != w.Name || !near(g.SQNR, w.SQNR) || g.MaxErr != w.MaxErr || g.Peak != w.Peak {
			t.Errorf("got %+v, want %+v", g, w)
		}
		if g.Alone == nil || !near(g.Alone.SQNR, w.Alone.SQNR) || g.Alone.MaxErr != w.Alone.MaxErr {
			t.Errorf("%s alone: got %+v, want %+v", w.Name, g.Alone, w.Alone)
		}
	}
}

func near(a, b float64) bool { return a == b || math.Abs(a-b) < 1e-9 }

func TestAloneOnRequestOnly(t *testing.T) {
	m, err := loss.New(parse(t, floatText), parse(t, quantText), loss.Nodes{}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range first(m.Values()) {
		if v.Alone != nil || v.Sizes != nil {
			t.Errorf("%s was measured alone, or its values were counted", v.Name)
		}
	}
}

func first(nodes, _ []loss.Value) []loss.Value { return nodes }
