// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lathe/frontend/recurrent"
	"lathe/frontend/source"
	engines "lathe/golden"
	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/ref"
)

// turned is [a,b,...] of rows of n elements as [b,a,...].
func turned[F any](v []F, a, b, n int) []F {
	if v == nil {
		return nil
	}
	var out []F
	for j := range b {
		for i := range a {
			out = append(out, v[(i*b+j)*n:][:n]...)
		}
	}
	return out
}

// draw makes a random sequence.
func drawSequence(r *rand.Rand, op string, c int) *recurrence {
	s := &recurrence{op: op, steps: 1 + r.IntN(4), batch: 1 + r.IntN(2), inputs: 1 + r.IntN(3), hidden: 1 + r.IntN(3),
		dirs: [][]string{{"forward"}, {"reverse"}, {"forward", "reverse"}}[c%3], layout: c%2 == 1, before: r.IntN(2) == 0,
		coupled: r.IntN(4) == 0, fixedStates: r.IntN(2) == 0}
	gates, per := map[string]int{"LSTM": 4, "GRU": 3, "RNN": 1}[op], map[string]int{"LSTM": 3, "GRU": 2, "RNN": 1}[op]
	d := len(s.dirs)
	some := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(r.IntN(65)-32) / 32
		}
		return v
	}
	s.x, s.w = some(s.steps*s.batch*s.inputs), some(d*gates*s.hidden*s.inputs)
	s.r, s.b = some(d*gates*s.hidden*s.hidden), make([]float32, 2*d*gates*s.hidden)
	if r.IntN(4) > 0 {
		s.b = some(len(s.b))
	}
	if r.IntN(2) == 0 {
		s.h0 = some(d * s.batch * s.hidden)
	}
	if op == "LSTM" && r.IntN(2) == 0 {
		s.c0 = some(d * s.batch * s.hidden)
	}
	if op == "LSTM" && r.IntN(2) == 0 {
		s.p = some(3 * d * s.hidden)
	}
	if r.IntN(2) == 0 {
		for range s.batch {
			s.lengths = append(s.lengths, int64(1+r.IntN(s.steps)))
		}
	}
	if r.IntN(2) == 0 {
		s.clip = 0.75
	}
	s.functions = slices.Repeat(map[string][]string{"LSTM": {"Sigmoid", "Tanh", "Tanh"}, "GRU": {"Sigmoid", "Tanh"},
		"RNN": {"Tanh"}}[op], d)
	for i := range s.functions { // all of one group, so that parameter i is that of function i
		switch c % 4 {
		case 1:
			s.functions[i] = []string{"Elu", "LeakyRelu", "ThresholdedRelu"}[r.IntN(3)]
		case 2:
			s.functions[i] = []string{"Relu", "Softsign", "Softplus"}[r.IntN(3)]
		case 3:
			s.functions[i] = []string{"Affine", "ScaledTanh", "HardSigmoid"}[r.IntN(3)]
		}
	}
	if c%4 == 1 || c%4 == 3 {
		s.alphas = some(d * per)
	}
	if c%4 == 3 {
		s.betas = some(d * per)
	}
	return s
}

// attrs are the attributes of the node, but for the layout.
func (s *recurrence) attrs() []pb {
	dir := s.dirs[0]
	if len(s.dirs) == 2 {
		dir = "bidirectional"
	}
	attrs := []pb{aInt("hidden_size", int64(s.hidden)), aStr("direction", dir)}
	acts := pb(nil).str(1, "activations").int(20, 8)
	for _, n := range s.functions {
		acts = acts.str(9, n)
	}
	attrs = append(attrs, acts)
	list := func(name string, v []float32) {
		a := pb(nil).str(1, name).int(20, 6)
		for _, x := range v {
			a = a.f32(7, x)
		}
		attrs = append(attrs, a)
	}
	list("activation_alpha", s.alphas)
	list("activation_beta", s.betas)
	if s.clip > 0 {
		attrs = append(attrs, aFlt("clip", float32(s.clip)))
	}
	if s.before && s.op == "GRU" {
		attrs = append(attrs, aInt("linear_before_reset", 1))
	}
	if s.coupled && s.op == "LSTM" {
		attrs = append(attrs, aInt("input_forget", 1))
	}
	return attrs
}

// model is the node, its results under the names y, h and c.
func (s *recurrence) model() testModel {
	gates, d, h := int64(len(s.w)/(len(s.dirs)*s.hidden*s.inputs)), int64(len(s.dirs)), int64(s.hidden)
	attrs := s.attrs()
	x, state := []any{s.steps, s.batch, s.inputs}, []any{int(d), s.batch, s.hidden}
	turn := func(v []float32, _, _, _ int) []float32 { return v }
	if s.layout {
		attrs, turn = append(attrs, aInt("layout", 1)), turned[float32]
		x[0], x[1], state[0], state[1] = x[1], x[0], state[1], state[0]
	}
	sizes := func(v []any) []int64 { return []int64{int64(v[0].(int)), int64(v[1].(int)), int64(v[2].(int))} }
	m := testModel{opset: 14, inputs: []pb{vi("x", x...)}, outputs: []pb{vi("y"), vi("h")}}
	ins := []string{"x", "w", "r", "b", "_", "_", "_", "_"}
	m.inits = []pb{ft("w", []int64{d, gates * h, int64(s.inputs)}, s.w...), ft("r", []int64{d, gates * h, h}, s.r...),
		ft("b", []int64{d, 2 * gates * h}, s.b...)}
	if s.lengths != nil {
		l := head("l", 6, int64(s.batch))
		raw := ""
		for _, v := range s.lengths {
			raw += string([]byte{byte(v), 0, 0, 0})
		}
		ins[4], m.inits = "l", append(m.inits, l.str(9, raw))
	}
	for i, v := range [][]float32{s.h0, s.c0} {
		name := []string{"h0", "c0"}[i]
		switch v := turn(v, int(d), s.batch, s.hidden); {
		case v == nil:
		case s.fixedStates:
			ins[5+i], m.inits = name, append(m.inits, ft(name, sizes(state), v...))
		default:
			ins[5+i], m.inputs = name, append(m.inputs, vi(name, state...))
		}
	}
	if s.p != nil {
		ins[7], m.inits = "p", append(m.inits, ft("p", []int64{d, 3 * h}, s.p...))
	}
	outs, most := "y h", 6
	if s.op == "LSTM" {
		outs, most, m.outputs = "y h c", 8, append(m.outputs, vi("c"))
	}
	m.nodes = []pb{nd(s.op, strings.Join(ins[:most], " "), outs, attrs...)}
	return m
}

// TestRecurrent compares random layers with the equations of the standard, and PJRT with the reference.
func TestRecurrent(t *testing.T) {
	for _, op := range []string{"LSTM", "GRU", "RNN"} {
		t.Run(op, func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, uint64(len(op))))
			for c := range 48 {
				s := drawSequence(r, op, c)
				g, err := Parse("m.onnx", s.model().bytes(), source.Options{})
				if err != nil {
					t.Fatalf("case %d: %v\n%+v", c, err, s)
				}
				in := s.inputsOf(g)
				got := evaluate(t, g, in...)
				y, yh, yc := s.slow()
				for i, want := range [][]float64{y, yh, yc}[:len(g.Out)] {
					if s.layout {
						want = turned(want, len(want)/(s.batch*s.hidden), s.batch, s.hidden)
					}
					for k, w := range want {
						if math.Abs(float64(got[i].Floats[k])-w) > 1e-5*(1+math.Abs(w)) {
							t.Fatalf("case %d, %s[%d]: %g, want %g\n%+v", c, g.Out[i].Name, k, got[i].Floats[k], w, s)
						}
					}
				}
				if c%16 == 2 {
					samePJRT(t, g, in, got)
				}
			}
		})
	}
}

// inputsOf are the values of the inputs of the graph.
func (s *recurrence) inputsOf(g *ir.Graph) (in [][]float32) {
	for _, n := range g.In {
		v, a, width := s.x, s.steps, s.inputs
		if n.Name != "x" {
			v, a, width = map[string][]float32{"h0": s.h0, "c0": s.c0}[n.Name], len(s.dirs), s.hidden
		}
		if s.layout {
			v = turned(v, a, s.batch, width)
		}
		in = append(in, v)
	}
	return in
}

func samePJRT(t *testing.T, g *ir.Graph, in [][]float32, want []*ir.Tensor) {
	t.Helper()
	var sample ref.Sample
	for i, n := range g.In {
		sample = append(sample, &ir.Tensor{Type: n.Type, Floats: in[i]})
	}
	out, err := engines.RunPJRT(t.Context(), pjrttest.Engine(t), g, []ref.Sample{sample}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		compareWith(t, out[0][i], w.Floats)
	}
}

// TestRecurrentRefused demands the cause where a layer is not what the standard says, or too long.
func TestRecurrentRefused(t *testing.T) {
	w, rw := ft("w", d(1, 2, 3)), ft("r", d(1, 2, 2))
	rnn := func(x pb, ins string, inits []pb, attrs ...pb) testModel {
		return chain(14, x, append([]pb{w, rw}, inits...), nd("RNN", "x w r"+ins, "y", attrs...))
	}
	x := vi("x", 4, 1, 3)
	for _, c := range []badCase{
		{"direction", diag.BadAttribute, "bidirectional", rnn(x, "", nil, aStr("direction", "backward"))},
		{"hidden size", diag.OperandShapes, "hidden_size is 3", rnn(x, "", nil, aInt("hidden_size", 3))},
		{"weights", diag.OperandShapes, "1x2x5 is needed", rnn(vi("x", 4, 1, 5), "", nil)},
		{"bias", diag.OperandShapes, "B has shape 1x2", rnn(x, " b", []pb{ft("b", d(1, 2))})},
		{"axes", diag.OperandShapes, "three axes", rnn(vi("x", 4, 3), "", nil)},
		{"length", diag.BadAttribute, "1 to 4", rnn(x, " _ l", []pb{head("l", 6, 1).str(9, "\x05\x00\x00\x00")})},
		{"lengths", diag.DataDependent, "sequence_lens", chain(14, x, []pb{w, rw}, nd("ReduceSum", "x", "s", aInt("keepdims",
			0)), nd("Cast", "s", "i", aInt("to", 6)), nd("Reshape", "i o", "l"), nd("RNN", "x w r _ l", "y")).with(it("o", 1))},
		{"layout", diag.BadAttribute, "operator set 14", single(7, x, nd("RNN", "x w r", "y", aInt("layout", 1)), w, rw)},
		{"steps", diag.ModelLimit, fmt.Sprint(recurrent.MaxSteps), rnn(vi("x", recurrent.MaxSteps+1, 2, 3), "", nil)},
		{"activation", diag.BadAttribute, "Softsign", rnn(x, "", nil, pb(nil).str(1, "activations").int(20, 8).str(9,
			"Gelu"))},
		{"activations", diag.BadAttribute, "need 1", rnn(x, "", nil, pb(nil).str(1, "activations").int(20, 8).str(9,
			"Tanh").str(9, "Tanh"))},
	} {
		_, err := Parse("m.onnx", c.model.bytes(), source.Options{})
		if diag.CodeOf(err) != c.code || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: want %s %q, got %v", c.name, c.code, c.want, err)
		}
	}
}

// TestRecurrentNotes demands that a layer which is written out is named, with the cause, and that none is else.
func TestRecurrentNotes(t *testing.T) {
	w, rw := ft("w", d(1, 6, 3)), ft("r", d(1, 6, 2))
	gru := func(steps, batch int, ins string, inits []pb, attrs ...pb) testModel {
		n := nd("GRU", "x w r"+ins, "y", attrs...).str(3, "layer")
		return chain(14, vi("x", steps, batch, 3), append([]pb{w, rw}, inits...), n)
	}
	behind, state := aInt("linear_before_reset", 1), ft("h", d(1, 1, 2), 0.5, -0.5)
	for _, c := range []struct {
		model testModel
		why   string
	}{
		{gru(4, 1, " _ _ h", []pb{state}), "its reset gate stands before the product, and its first state is not zero"},
		{gru(4, 2, "", nil, behind), "it goes over several sequences at once"},
		{gru(4, 1, "", nil, behind, aFlt("clip", 2)), "it clips what functions read"},
		{gru(4, 1, " _ l", []pb{head("l", 6, 1).str(9, "\x02\x00\x00\x00")}, behind), "its sequences have lengths"},
		{gru(1, 1, " _ _ h", []pb{state}), ""}, {gru(4, 1, "", nil), ""},
		{gru(4, 1, "", nil, behind), ""}, {gru(4, 1, " _ _ h", []pb{state}, behind), ""},
	} {
		g, err := Parse("m.onnx", c.model.bytes(), source.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		if c.why != "" {
			want = []string{`layer "layer" is written out in time, as 4 steps with hardware of their own, since ` + c.why +
				"; PJRT takes minutes for a hundred such steps"}
		}
		if !slices.Equal(g.Origin.Notes, want) {
			t.Errorf("%q, want %q", g.Origin.Notes, want)
		}
	}
}

// TestRecurrentSteps demands that a layer reads the parts that were joined before it as its steps, where they are that,
// and that the values are the same in any case.
func TestRecurrentSteps(t *testing.T) {
	const steps, inputs = 3, 6
	for _, batch := range []int{1, 2} {
		for _, layout := range []int64{0, 1} {
			shape := []int{steps, batch, inputs}
			if layout == 1 {
				shape = []int{batch, steps, inputs}
			}
			x := vi("x", shape[0], shape[1], shape[2])
			inits := []pb{ft("w", d(1, 2, inputs)), ft("r", d(1, 2, 2)), it("flat", 1, -1), it("shape", int64(shape[0]),
				int64(shape[1]), inputs)}
			run := func(in string, nodes ...pb) (*ir.Graph, []float32) {
				rnn := nd("RNN", in+" w r", "y", aInt("layout", layout)).str(3, "rnn")
				g, err := Parse("m.onnx", chain(18, x, inits, append(nodes, rnn)...).bytes(), source.Options{})
				if err != nil {
					t.Fatal(err)
				}
				return g, evaluate(t, g, ramp(steps*batch*inputs, 3))[0].Floats
			}
			_, want := run("x")
			for parts, names := range map[int64]string{3: "a b c", 6: "a b c d e f"} {
				joined := nd("Concat", names, "j", aInt("axis", 1))
				g, got := run("z", nd("Reshape", "x flat", "q"), nd("Split", "q", names, aInt("axis", 1), aInt("num_outputs",
					parts)), joined, nd("Reshape", "j shape", "z"))
				if !slices.Equal(got, want) {
					t.Errorf("batch %d, layout %d, %d parts: %v, want %v", batch, layout, parts, got, want)
				}
				direct := !slices.ContainsFunc(g.Nodes, func(n *ir.Node) bool { return strings.HasSuffix(n.Name, ".x_cut") })
				if could := (layout == 0 || batch == 1) && (batch == 1 || parts == steps); direct != could {
					t.Errorf("batch %d, layout %d, %d parts: read as they are: %v", batch, layout, parts, direct)
				}
			}
			for axis := range int64(3) {
				names := strings.Join(strings.Fields("a b c d e f")[:shape[axis]], " ")
				_, got := run("z", nd("Split", "x", names, aInt("axis", axis), aInt("num_outputs", int64(shape[axis]))),
					nd("Concat", names, "z", aInt("axis", axis)))
				if !slices.Equal(got, want) {
					t.Errorf("batch %d, layout %d, axis %d: %v, want %v", batch, layout, axis, got, want)
				}
			}
		}
	}
}
